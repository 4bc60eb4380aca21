"""The variance of the estimator with weights 1/q_i."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.market._market import Market
from smqopt.market.objectives._objective_record import Objective, given_weights, weights_of
from smqopt.market.objectives._utility import Utility
from smqopt.numeric import Floats, NumberList
from smqopt.valuation import Index


@dataclass(frozen=True)
class InverseProbabilityVariance(Objective):
    """The smallest Σ m_i w_i²/q_i.

    The variance of the inverse-probability estimator, but for a constant.

    The estimator of a total Σ y_i adds up y_i/q_i over the owners who sell (Horvitz and Thompson
    1952). Owners decide independently of each other, so its variance is Σ y_i²/q_i − Σ y_i²; a
    bound w_i on |y_i|, or a guess of it, makes Σ w_i²/q_i what is to be small. Chen, Immorlica,
    Lucier, Syrgkanis and Ziani (2018) buy data for this objective under the same budget in
    expectation.

    Requirements ε play no part in it: an owner with ε_i = 0 is bought like any other, one with w_i
    = 0 never. Every other owner must have a positive acceptance, so without a budget no thresholds
    do.

    Parameters
    ----------
    weights
        w, one number for each row of the market, or one for all; any finite number, in the unit of
        the data. 1 by default.

    Raises
    ------
    InputError
        If a weight is not a finite number.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 0.5, objective=InverseProbabilityVariance(weights=[1.0, 1.0, 2.0]))
    >>> solution.acceptance.round(3).tolist(), round(solution.objective_value, 3)
    ([0.333, 0.333, 0.528], 13.589)
    """

    kind: ClassVar[str] = "inverse-probability-variance"

    weights: NumberList | float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", given_weights(self, self.weights, least=-np.inf))

    @property
    def smallest(self) -> bool:
        """It is minimised."""
        return True

    @property
    def words(self) -> str:
        """The objective in words."""
        return "the variance of the inverse-probability estimator, Σ w²/q, as small as can be"

    def utility(self, market: Market) -> Inverse:
        """Return φ_i(q) = −w_i²/q."""
        return Inverse(np.abs(weights_of(self, self.weights, market)))


@dataclass(frozen=True, eq=False)
class Inverse(Utility):
    """φ_i(q) = −w_i²/q."""

    w: Floats
    """w ≥ 0, shape (n,)."""

    def value(self, q: Floats) -> Floats:
        """Return −w²/q; 0 where w = 0."""
        return -self.w * self._over(q)

    def slope(self, q: Floats) -> Floats:
        """Return (w/q)²; +∞ beyond the doubles."""
        with np.errstate(over="ignore"):
            return self._over(q) ** 2

    def curvature(self, q: Floats) -> Floats:
        """Return 2w²/q³; +∞ at 0."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(self.w > 0, 2.0 * self._over(q) ** 2 / q, 0.0)

    def where_slope_is(self, e: Floats) -> Floats:
        """Return w/√e, at most 1."""
        root = np.sqrt(np.maximum(e, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(root > 0, self.w / root, np.where((self.w > 0) | (e < 0), 1.0, 0.0))
        return np.minimum(q, 1.0)

    def after_each_other(self, others: Sequence[Utility], shares: Sequence[float], rest: int) -> Inverse:
        """Put several one after the other, with w times the roots of the shares."""
        each = [one for one in (self, *others) if isinstance(one, Inverse)]
        w = [math.sqrt(share) * one.w for share, one in zip(shares, each, strict=True)]
        return Inverse(np.concatenate([*w, np.zeros(rest)]))

    def take(self, index: Index) -> Inverse:
        """Select some of the rows."""
        return Inverse(self.w[index])

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """Where w > 0."""
        return self.w > 0

    @property
    def needed(self) -> NDArray[np.bool_]:
        """Where w > 0."""
        return self.w > 0

    def _over(self, q: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(self.w > 0, self.w / q, 0.0)
