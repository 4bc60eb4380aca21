"""One erratum: what is printed, what holds instead, and a check that fails if the correction is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Entry", "Evidence"]


@dataclass(frozen=True)
class Evidence:
    """What a check found."""

    printed_fails: bool
    """The counterexample contradicts the printed statement."""
    corrected_holds: bool
    """The corrected statement holds where it was tried."""
    detail: str
    """The numbers or the algebra, in a line."""


@dataclass(frozen=True)
class Entry:
    """One statement of Zhang, Beltran and Liu (2020) that does not hold as printed."""

    number: int
    where: str
    """The paper's equation label or section."""
    printed: str
    corrected: str
    check: Callable[[], Evidence]
