"""Lines below a cost curve that touch it at given thresholds, all owners at once.

Where C is convex in acceptance, the line that touches it at θ, of slope J(θ), lies below all of it
(Appendix D). For a law that is not proved regular, C is convex on the intervals of its cover; the
line at an end of such an interval lies below all of C but for a slack, which the cover bounds, and
then so does every line in between: to the left of the interval it lies below the one at the low
end, to the right below the one at the high end. Where C has a kink every slope between those on
either side will do. What is said holds in doubles, rounding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from smqopt.numeric import Floats
from smqopt.valuation import Index

UNIT = 2.0**-53
"""The unit roundoff of doubles."""
UNDERFLOW = 2.0**-1060
"""More than the products of a term lose by underflow."""
BELOW, ABOVE = 1.0 - 8 * UNIT, 1.0 + 8 * UNIT
"""What a positive number of a few roundings is multiplied with, to lie below or above the true
one."""
BITS = 128
"""Precision at which slack is worked out."""


@dataclass(frozen=True, eq=False)
class Lines:
    """What is known at k thresholds; shape (k,) each."""

    low: Floats
    high: Floats
    """F lies between these."""
    slope_above: Floats
    """At most the largest slope of a line below C there, in currency; NaN where none is known."""
    slope_below: Floats
    """At least the smallest."""


class SupportLines(Protocol):
    """Lines below the cost curve of the owners of one law."""

    @property
    def slack(self) -> float:
        """Return by how much a line may lie above C somewhere, in currency."""
        ...

    @property
    def jumps(self) -> float:
        """Return at least what F jumps by at the ends, where rounding has moved them."""
        ...

    @property
    def first_slope(self) -> float:
        """Return at most the slope of C at acceptance 0.

        NaN where that is the low end of the support.
        """
        ...

    @property
    def rule(self) -> str:
        """Return why the lines lie below."""
        ...

    @property
    def digest(self) -> str:
        """Return that of the table that was read; empty where there is none."""
        ...

    def at(self, theta: Floats, owners: Index) -> Lines:
        """Enclose F and slopes at one threshold of the support for each of some owners."""
        ...

    def ends(self, owners: Index) -> tuple[float | Floats, float | Floats]:
        """Return the ends of the supports of some owners."""
        ...
