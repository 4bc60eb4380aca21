"""Weighted sums of entries with public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats, exact_sum
from smqopt.query._entries import bounded_entries
from smqopt.query._public_numbers import checked_clamp, checked_number, checked_range, checked_weights, clamp_parameter
from smqopt.query._purchase import Purchase
from smqopt.query.exponential._candidates import Grid, fine_step, grid
from smqopt.query.exponential._cost_of_distance import (
    ROUNDING_OF_COST,
    CostOfDistance,
    KnapsackCost,
    RelaxedCost,
)
from smqopt.query.exponential._exponential_law import VANISHED
from smqopt.query.exponential._integer_units import WholeUnits, whole_units
from smqopt.query.exponential._release import lower_to_grid
from smqopt.query.exponential._score import Score
from smqopt.query.queries._query import Query

_MOST_CANDIDATES = 1 << 22
"""The most candidates whose costs may have to be told apart."""


@final
@dataclass(frozen=True, eq=False, init=False)
class LinearPredictor(Query):
    """The weighted sum Σ w_i d_i of the bought entries (errata E9, F4).

    To move the sum from φ(d) to r, a set of entries must change that has the room for it: a
    min-knapsack. By default its linear relaxation is the score, which is ε_i-PDP as well and costs
    O(k log k). The sum is kept in whole numbers (`WholeUnits`); candidates are the multiples of a
    public step, and each stands for the sums nearest to it. So the mechanism is P-E for the sum
    rounded to the step, and `rounding` says what that costs.

    Parameters
    ----------
    weights
        w_i of the bought entries, shape (k,), of either sign; 0 leaves an entry out. Public.
    low, high
        The public range of entries, low < high. It must be known without looking at the data.
    total_weight
        Σ w_i over the population: scales the answer by Σ w/Σ w_c, as the paper does. Only where the
        signs agree: else the ratio says nothing. None leaves the sum of the bought entries as it
        is.
    step
        The distance of candidates: a power of two to be exact, else it is rounded to one of the
        units. 1 makes the paper's discrete range, whole numbers. None takes the `fine_step` of the
        purchase.
    exact
        Score by the min-knapsack itself: for at most 20 entries.
    clamp
        Whether entries out of the range are taken for the nearest end of it, instead of refused.

    Raises
    ------
    InputError
        If weights or bounds are not finite or out of scale, signs do not agree with `total_weight`,
        or the step is not positive.

    Examples
    --------
    >>> query = LinearPredictor([1.0, 2.0], 0, 1, step=1.0)
    >>> score = query.score(query.entries([1.0, 1.0], ["ann", "bo"]), np.array([0.5, 2.0]))
    >>> query.values(score.results, 2, 2).tolist(), np.repeat(score.cost, score.length).round(6).tolist()
    ([0.0, 1.0, 2.0, 3.0], [2.0, 1.0, 0.25, 0.0])
    """

    weights: Floats = field(repr=False)
    low: float
    high: float
    total_weight: float | None = field(default=None, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    exact: bool = field(default=False, kw_only=True)
    clamp: bool = field(default=False, kw_only=True)

    name = "linear-predictor"
    noise_unit = "units of the answer"
    rounding_of_cost = ROUNDING_OF_COST

    def __init__(
        self,
        weights: ArrayLike,
        low: float,
        high: float,
        *,
        total_weight: float | None = None,
        step: float | None = None,
        exact: bool = False,
        clamp: bool = False,
    ) -> None:
        low, high = checked_range(self.name, low, high)
        checked = {
            "weights": checked_weights(self.name, weights),
            "low": low,
            "high": high,
            "total_weight": None if total_weight is None else checked_number(self.name, "total_weight", total_weight),
            "step": None if step is None else checked_number(self.name, "step", step),
            "exact": bool(exact),
            "clamp": checked_clamp(self.name, clamp),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if self.exact and self.weights.size > KnapsackCost.LARGEST:
            raise InputError(
                "linear-predictor: argument 'exact'",
                f"is for at most {KnapsackCost.LARGEST} entries",
                value=self.weights.size,
                remedy="take the relaxed score, which is as private",
            )
        if self.step is not None and self.step <= 0:
            raise InputError(
                "linear-predictor: argument 'step'", "must be positive", value=self.step, remedy="give, say, 1"
            )
        if self.total_weight is not None:
            _check_signs(self.weights, self.total_weight)

    @cached_property
    def units(self) -> WholeUnits:
        """The sum in whole numbers. Public."""
        return whole_units(self.weights, self.low, self.high)

    @cached_property
    def grid(self) -> Grid:
        """The candidates for the sum of the bought entries. Public.

        Raises
        ------
        InputError
            If there is no step yet, or it is wider than the range of sums.
        """
        if self.step is None:
            raise InputError("linear-predictor: argument 'step'", "is missing", remedy="give it, or use `asked_of`")
        width = max(1, self.units.most - self.units.least) * self.units.unit
        if self.step > width:
            raise InputError(
                "linear-predictor: argument 'step'",
                f"must be at most the width {width:g} of the range of sums",
                value=self.step,
                remedy="give a smaller one, or none",
            )
        return grid(self.units, self.step)

    @property
    def scale(self) -> float:
        """From the sum of the bought entries to the answer: Σ w/Σ w_c, or 1."""
        return 1.0 if self.total_weight is None else self.total_weight / exact_sum(self.weights)

    @property
    def rounding(self) -> float:
        """The most that rounding to candidates moves the answer, in its units. Public."""
        return abs(self.scale) * ((self.grid.step + self.units.unit) / 2 + self.units.rounding)

    def asked_of(self, purchase: Purchase) -> LinearPredictor:
        """Choose the step by the requirements bought, if it is not given."""
        epsilon = purchase.bought_epsilon
        if epsilon.size != self.weights.size:
            raise InputError(
                "linear-predictor: argument 'weights'",
                f"must hold one weight for each of the {epsilon.size} bought entries",
                value=self.weights.size,
                remedy="give the weights of the selected owners, in their order",
            )
        least_cost = RelaxedCost.over(self.units.room, np.minimum(epsilon, VANISHED), VANISHED)
        fitted = replace(self, step=fine_step(self.units, least_cost) if self.step is None else self.step)
        if least_cost.far // fitted.grid.cell > _MOST_CANDIDATES:
            raise InputError(
                "linear-predictor: argument 'step'",
                f"must be coarser: at most {_MOST_CANDIDATES} candidates can be told apart",
                value=self.step,
                remedy=f"give at least {least_cost.far * self.units.unit / _MOST_CANDIDATES:.3g}, or none",
            )
        return fitted

    def parameters(self) -> dict[str, Any]:
        """Return weights, range, scaling and step."""
        found: dict[str, Any] = {"weights": self.weights.tolist(), "low": self.low, "high": self.high}
        if self.total_weight is not None:
            found["total_weight"] = self.total_weight
        if self.step is not None:
            found["step"] = self.step
        return found | ({"exact": True} if self.exact else {}) | clamp_parameter(self.clamp)

    def facts(self) -> dict[str, Any]:
        """Return what rounding to the candidates costs."""
        return {"rounding": self.rounding}

    def entries(self, data: ArrayLike, owner_ids: Sequence[str]) -> NDArray[np.int64]:
        """Check the entries' range; return them as whole numbers δ_i of `units`."""
        return self.units.convert(bounded_entries(data, owner_ids, self.low, self.high, clamp=self.clamp))

    def score(self, entries: NDArray[np.int64], epsilon: Floats, ceiling: float = np.inf) -> Score:
        """Return the cost of each candidate: that of the nearest sum in its cell.

        An entry of positive weight has room ω(width − δ) upwards and ωδ downwards, one of negative
        weight the reverse.
        """
        units, candidates = self.units, self.grid
        place = int(units.weights @ entries) - units.least
        above = np.abs(units.weights) * np.where(units.weights > 0, units.width - entries, entries)
        up = self._cost(above, epsilon, ceiling)
        down = self._cost(np.subtract(units.room, above, out=above), epsilon, ceiling)
        return candidates.score(place, up, down, ceiling)

    def _cost(self, room: NDArray[np.int64], epsilon: Floats, ceiling: float) -> CostOfDistance:
        return (KnapsackCost if self.exact else RelaxedCost).over(room, epsilon, ceiling)

    def values(self, results: NDArray[np.int64], bought: int, population: int) -> Floats:  # noqa: ARG002
        """Return the candidates, scaled to the population by `total_weight`."""
        return self.grid.values(results) * self.scale

    def half_width(self, epsilon: Floats, level: float, population: int) -> float:  # noqa: ARG002
        r"""Return t: the answer is off by at most t with probability at least `level`.

        Let c(t) be the cost of the distance t if each entry could move over its whole range: no
        data set lets it be covered for less. With T sums to a cell, a candidate s ≥ 1 cells away
        costs at least c_{s−1}, where c_j = c(jT + 1). Up and down together, entries have at least
        the room of c: what a cost buys upwards and what it buys downwards add up to at least what
        it buys in c. So at least as many candidates as there are j ≥ 0 with c_j ≤ x cost x or less,
        the own cell among them, the weights sum to at least 1 + Σ_{j≥1} exp(−c_j/2), and

            P(s cells away or more) ≤ 2 Σ_{j≥s−1} exp(−c_j/2) / (1 + Σ_{j≥1} exp(−c_j/2)).

        With the smallest s at which the right side is at most 1 − level, the answer's candidate is
        at most s − 1 cells off, and the exact answer at most `rounding` from its own candidate.
        """
        used, ceiling = lower_to_grid(epsilon, self.rounding_of_cost)
        room, cell = self.units.room, self.grid.cell
        cells = (int(room.sum()) - 1) // cell + 1 if self.units.width and np.any(room) else 0
        cheap, dear = self._cost(room, used, ceiling), self._cost(room, np.minimum(epsilon, VANISHED), ceiling)
        listed = min(cells, -((1 - cheap.far) // cell) + 1)
        distance = np.arange(listed, dtype=np.int64) * cell + 1
        least = np.exp(-0.5 * cheap(distance))
        rest = (cells - listed) * np.exp(-0.5 * ceiling)
        all_weights = 1.0 + float(np.exp(-0.5 * dear(distance[1:])).sum())
        allowance = 1.0 + 2.0 * self.rounding_of_cost + 2.0 * listed * np.finfo(np.float64).eps
        tail = 2.0 * allowance * (np.cumsum(least[::-1])[::-1] + rest) / all_weights
        enough = np.flatnonzero(tail <= 1.0 - level)
        steps = int(enough[0]) if enough.size else cells
        return steps * abs(self.scale) * self.grid.step + self.rounding


def _check_signs(weights: Floats, total: float) -> None:
    sign = np.sign(total)
    if sign == 0 or np.any(sign * weights < 0) or not np.any(weights):
        raise InputError(
            "linear-predictor: argument 'total_weight'",
            "scales by Σ w/Σ w_c, which needs weights of one sign, not all 0, and a total of that sign",
            value=total,
            remedy="leave it out, or use inverse-probability weights",
        )
