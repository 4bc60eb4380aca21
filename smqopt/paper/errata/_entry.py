"""A statement that fails, the one that holds, and a trial between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True)
class Finding:
    """What a trial found of one claim."""

    holds: bool
    """The claim held wherever it was tried."""
    detail: str
    """The numbers or the algebra, in a line."""


@dataclass(frozen=True)
class Claim(Generic[R]):
    """A statement twice: in words, and as something that can be tried."""

    words: str
    rule: R
    """The executable form; each entry says what kind of thing it is."""


@dataclass(frozen=True)
class Trial:
    """What the trial found of both claims."""

    refuted: Finding
    held: Finding

    @property
    def stands(self) -> bool:
        """Whether the trial refutes what is to be refuted, and bears out the other."""
        return self.held.holds and not self.refuted.holds


@dataclass(frozen=True)
class Entry(Generic[R]):
    """A statement of the paper that fails as printed, or a fact with its rival.

    One trial checks both claims. So whatever is put in the place of `held` is checked by the same
    measure, and the printed statement put there fails.
    """

    key: str
    """E1, E2, … for an erratum, F1, F2, … for a fact."""
    where: str
    """The paper's equation label or section; for a fact, where this project relies on it."""
    refuted: Claim[R]
    """The printed statement, or the tempting one."""
    held: Claim[R]
    """The corrected statement, or the fact."""
    trial: Callable[[R], Finding]
    """Tries a claim's rule against cases whose answer is found by other means.

    Raises `DataMissingError` where it needs a data set that is not there.
    """

    def check(self) -> Trial:
        """Try both claims.

        Examples
        --------
        >>> from smqopt.paper.errata._table import ERRATA
        >>> evidence = ERRATA[1].check()
        >>> evidence.stands, evidence.refuted.detail
        (True, '∂L/∂θ minus the condition is 2*gamma - 2*mu')
        """
        return Trial(self.trial(self.refuted.rule), self.trial(self.held.rule))
