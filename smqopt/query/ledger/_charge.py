"""A charge that is on disk."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class Charge:
    """A charge that is on disk: what may now be released.

    Examples
    --------
    >>> import smqopt as smq
    >>> import tempfile
    >>> from pathlib import Path
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> outcome = smq.procure(smq.verify(smq.solve(market, 0.5)), [0.1, 0.2, 0.3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = smq.Ledger(Path(folder) / "ledger.txt")
    ...     answer = smq.answer(smq.Count(), [1, 0, 1], outcome, ledger=ledger, share="1/2")
    >>> if answer.charge is not None:  # as it is without a ledger
    ...     str(answer.charge.share)
    '1/2'
    """

    number: str
    """Its name in the ledger."""
    share: Fraction
    """The part of every requirement that it spends."""
    epsilon: Floats
    """What a release on it may use: at most share · ε_i, shape (k,)."""
    head: str
    """The hash of the ledger's last line after it: kept elsewhere, it shows if the ledger is ever
    cut short."""
