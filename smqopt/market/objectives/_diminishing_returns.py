"""Diminishing returns.

Each more unit of an owner's privacy counts less than the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._objective_record import LARGEST_WEIGHT, Objective, given_weights, weights_of
from smqopt.market.objectives._utility import Utility
from smqopt.numeric import Floats, NumberList
from smqopt.valuation import Index


@dataclass(frozen=True)
class DiminishingReturns(Objective):
    """The largest Σ m_i w_i log(1 + ε_i q_i/s).

    Privacy bought from one owner counts less, the more of it there is.

    The first unit of ε counts w/s, and half of that once `scale` s of it has been bought. For a
    large scale the objective is that of OP2, Σ w_i ε_i q_i/s; for a small one it is Σ w_i log q_i
    but for a constant: proportional fairness (Kelly 1997). An owner without an offer counts 0, so
    the objective is finite at every budget.

    Parameters
    ----------
    scale
        s > 0, in units of ε.
    weights
        w ≥ 0, one number for each row of the market, or one for all. 1 by default.

    Raises
    ------
    InputError
        If the scale is not a finite number > 0, or a weight is not a finite number ≥ 0.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> smq.solve(market, 0.5).acceptance.round(3).tolist()
    [0.125, 0.311, 0.623]
    >>> solution = smq.solve(market, 0.5, objective=DiminishingReturns(scale=0.1))
    >>> solution.acceptance.round(3).tolist(), round(solution.objective_value, 3)
    ([0.321, 0.423, 0.466], 3.367)
    """

    kind: ClassVar[str] = "diminishing-returns"

    scale: float
    weights: NumberList | float | None = None

    def __post_init__(self) -> None:
        scale = self.scale
        number = isinstance(scale, (int, float, np.integer, np.floating)) and not isinstance(scale, bool)
        try:
            size = float(scale) if number else np.nan
        except OverflowError:  # a whole number beyond the doubles
            size = np.inf
        if not 1 / LARGEST_WEIGHT <= size <= LARGEST_WEIGHT:
            raise InputError(
                self.where("scale"),
                f"must be a finite number > 0, of {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, in units of ε",
                value=repr(scale)[:60],
                remedy="give the ε at which the utility of one more unit has halved",
            )
        object.__setattr__(self, "scale", size)
        object.__setattr__(self, "weights", given_weights(self, self.weights, least=0.0))

    @property
    def words(self) -> str:
        """The objective in words."""
        return f"diminishing returns, Σ w log(1 + ε q/{self.scale:g})"

    def utility(self, market: Market) -> Logarithm:
        """Return φ_i(q) = w_i log(1 + ε_i q/s)."""
        return Logarithm(weights_of(self, self.weights, market), market.epsilon / self.scale)

    def slope_in_requirements(self, market: Market, acceptance: Floats) -> Floats:
        """Return w (q/s)/(1 + ε q/s), shape (n,)."""
        q = acceptance / self.scale
        return weights_of(self, self.weights, market) * q / (1.0 + market.epsilon * q)


@dataclass(frozen=True, eq=False)
class Logarithm(Utility):
    """φ_i(q) = w_i log(1 + x_i q)."""

    w: Floats
    """w ≥ 0, shape (n,)."""
    x: Floats
    """x ≥ 0, shape (n,)."""

    def value(self, q: Floats) -> Floats:
        """Return w log(1 + x q)."""
        return self.w * np.log1p(self.x * q)

    def slope(self, q: Floats) -> Floats:
        """Return w x/(1 + x q)."""
        return self.w * self.x / (1.0 + self.x * q)

    def curvature(self, q: Floats) -> Floats:
        """Return w x²/(1 + x q)²."""
        return self.w * (self.x / (1.0 + self.x * q)) ** 2

    def where_slope_is(self, e: Floats) -> Floats:
        """Return (w x − e)/(e x), within [0, 1]."""
        first = self.w * self.x
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            q = (first - e) / (e * self.x)
        return np.where(e <= self.slope(np.ones(first.size)), first > e, np.where(first > e, np.clip(q, 0.0, 1.0), 0.0))

    def after_each_other(self, others: Sequence[Utility], shares: Sequence[float], rest: int) -> Logarithm:
        """Put several one after the other, with w times the shares."""
        each = [one for one in (self, *others) if isinstance(one, Logarithm)]
        w = np.concatenate([*(share * one.w for share, one in zip(shares, each, strict=True)), np.zeros(rest)])
        return Logarithm(w, np.concatenate([*(one.x for one in each), np.zeros(rest)]))

    def take(self, index: Index) -> Logarithm:
        """Select some of the rows."""
        return Logarithm(self.w[index], self.x[index])

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """Where w ε > 0."""
        return self.w * self.x > 0
