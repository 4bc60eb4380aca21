"""A band round an empirical law that holds the true one with a stated confidence.

P(sup |F_n − F| > h) ≤ 2 exp(−2 n h²) (Dvoretzky, Kiefer & Wolfowitz 1956, with the constant of
Massart 1990). F rises, so that what F_n − h ≤ F ≤ F_n + h says at some prices bounds it between
them, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation.doubt._in_doubt import InDoubt
from smqopt.valuation.law._parameters import check_keys
from smqopt.valuation.tabular._discrete import Discrete

_OUTWARD = 1.0 + 2.0**-40
"""By what the band is made wider, for roundings."""
_INWARD = 1.0 - 2.0**-40
"""By what counts are lowered, so that a rounded one is not above the whole number it stands for."""


@final
class ConfidenceBand(InDoubt):
    """All laws between two edges; made by `from_samples(..., band=)`.

    The edges are steps: at each price on a list the least and the greatest F that the band holds.
    For a posted price expected spend and acceptance rise with F. So what must not be exceeded is
    held at the upper edge, and what must be reached at the lower one, and then both hold for all
    laws between. The objective is what the lower edge guarantees.
    """

    name = "band"
    between: ClassVar[bool] = True

    def __init__(self, prices: Floats, lower: Floats, upper: Floats, n: int, confidence: float) -> None:
        """Take two edges as they are.

        Parameters
        ----------
        prices
            Increasing, in currency; shape (k,).
        lower, upper
            F of the edges at the prices, not falling, the last ones 1; shape (k,) each.
        n
            The number of valuations.
        confidence
            With what probability the band holds the true law.
        """
        self.prices, self.lower, self.upper = prices, lower, upper
        self.n, self.confidence = n, confidence
        self.laws, self.weights = (_steps(prices, lower), _steps(prices, upper)), None
        self._set_ends()
        for column in (prices, lower, upper):
            column.flags.writeable = False

    def _rescale(self, factor: float) -> ConfidenceBand:
        return ConfidenceBand(factor * self.prices, self.lower.copy(), self.upper.copy(), self.n, self.confidence)

    def _to_dict(self) -> dict[str, Any]:
        columns = {"prices": self.prices, "lower": self.lower, "upper": self.upper}
        return {"law": self.name, **{key: column.tolist() for key, column in columns.items()}} | {
            "n": self.n,
            "confidence": self.confidence,
        }

    def __repr__(self) -> str:
        return (
            f"from_samples(<{self.n} values>, band={self.confidence:g}: {self.prices.size} prices on "
            f"[{self.low!r}, {self.high!r}])"
        )


def _steps(prices: Floats, F: Floats) -> Discrete:
    masses = np.diff(F, prepend=0.0)
    jumps = masses > 0
    return Discrete(prices[jumps], masses[jumps])


def band_of(atoms: Floats, counts: Floats, ends: tuple[float, float], confidence: float, pieces: int) -> ConfidenceBand:
    """Make the band round an empirical law.

    Parameters
    ----------
    atoms, counts
        The different valuations, increasing, and how often each was seen.
    ends
        The support, in currency.
    confidence
        In (0, 1), of this law alone.
    pieces
        At how many prices, at most, the edges step.
    """
    n = float(counts.sum())
    h = math.sqrt(math.log(2.0 / (1.0 - confidence)) / (2.0 * n)) * _OUTWARD
    low, high = ends
    upto = np.cumsum(counts)
    wanted = np.unique(np.searchsorted(upto, np.arange(1, pieces + 1) * (n / pieces) * _INWARD))
    chosen = np.minimum(wanted, atoms.size - 1)
    prices = np.unique(np.concatenate([[low], atoms[chosen], [high]]))
    # F is between F_n(p) − h and F_n(next p −) + h at prices from p up to the next one
    seen = np.append(0.0, upto)[np.searchsorted(atoms, prices, side="right")] / n
    below_next = np.append(np.append(0.0, upto)[np.searchsorted(atoms, prices[1:], side="left")] / n, 1.0)
    lower, upper = np.clip(seen - h, 0.0, 1.0), np.clip(below_next + h, 0.0, 1.0)
    lower[-1] = upper[-1] = 1.0
    return ConfidenceBand(prices, lower, upper, int(n), confidence)


def band_from_dict(table: Mapping[str, Any], where: str) -> ConfidenceBand:
    """Make the law that `ConfidenceBand.to_dict` described.

    Raises
    ------
    InputError
        If a key is missing, unknown or bad.
    """
    check_keys(table, ("prices", "lower", "upper", "n", "confidence"), "a band", where)
    columns = []
    for key in ("prices", "lower", "upper"):
        try:
            column = np.array(table[key], dtype=np.float64)
        except (TypeError, ValueError):
            column = np.zeros((0, 0))
        if column.ndim != 1 or not column.size or not np.isfinite(column).all() or column[0] < 0:
            raise InputError(f"{where}: key {key!r}", "must be an array of numbers ≥ 0", remedy="estimate it again")
        columns.append(column)
    prices, lower, upper = columns
    good = prices.size == lower.size == upper.size and bool(np.all(np.diff(prices) > 0))
    good = good and all(np.all(np.diff(edge) >= 0) and edge[-1] == 1 for edge in (lower, upper))
    if not good or np.any(lower > upper):
        raise InputError(where, "must be two edges that rise to 1, one above the other", remedy="estimate it again")
    n, confidence = table["n"], table["confidence"]
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"{where}: key 'n'", "must be a whole number ≥ 1", value=n, remedy="estimate it again")
    return ConfidenceBand(prices, lower, upper, n, checked_confidence(confidence, f"{where}: key 'confidence'"))


def checked_confidence(confidence: object, where: str) -> float:
    """Check a confidence: a number in (0, 1).

    Raises
    ------
    InputError
        If it is anything else.
    """
    number = isinstance(confidence, (int, float, np.floating)) and not isinstance(confidence, bool)
    if not number or not 0 < float(confidence) < 1:  # type: ignore[arg-type]
        raise InputError(where, "must lie in (0, 1)", value=confidence, remedy="use, say, 0.95")
    return float(confidence)  # type: ignore[arg-type]
