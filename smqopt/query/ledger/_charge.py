"""A charge that is on disk."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class Charge:
    """A charge that is on disk: what may now be released."""

    number: str
    """Its name in the ledger."""
    share: Fraction
    """The part of every requirement that it spends."""
    epsilon: Floats
    """What a release on it may use: at most share · ε_i, shape (k,)."""
    head: str
    """The hash of the ledger's last line after it: kept elsewhere, it shows if the ledger is ever
    cut short."""
