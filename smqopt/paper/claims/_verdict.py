"""From comparisons to a verdict: for, against, or too close to call."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass

from smqopt.paper.experiments._summary import Setup

DECIDED = 3.0
"""A difference counts from so many of its standard errors on."""
SHARE_OPEN = 0.5
"""A claim is not said to hold where more than this share of its comparisons is too close to call.
"""


class ClaimVerdict(enum.Enum):
    """What the results say of a claim; the values explain themselves."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDER = "holds only under"
    IN_PART = "holds only in part"
    OPEN = "too close to call"


@dataclass(frozen=True)
class Tally:
    """How many comparisons speak for a claim, against it, and neither."""

    favour: int
    against: int
    open: int

    @property
    def total(self) -> int:
        """All comparisons."""
        return self.favour + self.against + self.open

    @property
    def verdict(self) -> ClaimVerdict:
        """Return `HOLDS`, `FAILS` or neither, by how many speak for and against."""
        if self.against == 0:
            return ClaimVerdict.HOLDS if self.open <= SHARE_OPEN * self.total else ClaimVerdict.OPEN
        return ClaimVerdict.IN_PART if self.favour else ClaimVerdict.FAILS


@dataclass(frozen=True)
class ClaimReading:
    """One way to read a claim: what is compared, and how it came out."""

    name: str
    """Empty where there is only one."""
    tally: Tally
    detail: str = ""
    """Numbers, in a clause; empty where the tally says all."""


@dataclass(frozen=True)
class PaperClaim:
    """A statement of the paper, and the verdict on it."""

    experiment: str
    words: str
    """The claim in a sentence."""
    measure: str
    """What is compared, in a clause."""
    readings: tuple[ClaimReading, ...]

    @property
    def verdict(self) -> ClaimVerdict:
        """That of its readings, where they agree."""
        found = {reading.tally.verdict for reading in self.readings}
        if len(found) == 1:
            return found.pop()
        return ClaimVerdict.UNDER if ClaimVerdict.HOLDS in found else ClaimVerdict.IN_PART

    @property
    def holding(self) -> tuple[str, ...]:
        """The readings under which it holds."""
        return tuple(reading.name for reading in self.readings if reading.tally.verdict is ClaimVerdict.HOLDS)


def tally(signs: Iterable[int]) -> Tally:
    """Count comparisons: 1 for, −1 against, 0 too close to call."""
    found = list(signs)
    return Tally(found.count(1), found.count(-1), found.count(0))


def compare_setups(smaller: Setup, larger: Setup, factor: float = 1.0, measure: str = "rmse") -> int:
    """Compare one setup's figure times a factor with another's: 1, −1 or 0.

    Parameters
    ----------
    measure
        "rmse", or "deviation": the standard deviation of the answers. A sample of T has a deviation
        that is itself uncertain by √((κ − 1)/(4T)) of itself, with κ = 6 as for Laplace noise, the
        largest kurtosis here.
    """
    first, second = getattr(smaller, measure), getattr(larger, measure)
    if math.isnan(first) or math.isnan(second):
        return 0
    if measure == "rmse":
        errors = (smaller.rmse_error, larger.rmse_error)
    else:
        errors = (first * math.sqrt(1.25 / smaller.trials), second * math.sqrt(1.25 / larger.trials))
    error = math.hypot(factor * errors[0], errors[1])
    difference = second - factor * first
    if abs(difference) <= DECIDED * error or difference == 0:
        return 0
    return 1 if difference > 0 else -1
