"""What the explorer shows of each knot: what is certified, and what is predicted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smqopt.market import under_each_law
from smqopt.numeric import Floats
from smqopt.questions import realised_payments, reserve
from smqopt.report._of_op2 import is_in_doubt
from smqopt.report._thinning import thin

if TYPE_CHECKING:
    from smqopt.market import Solution
    from smqopt.query import Prediction
    from smqopt.questions import CertifiedGrid
    from smqopt.verification import Certificate

CHANCE = 0.05
"""The amount held against payments is exceeded with at most this probability."""
_OWNERS, _OWNERS_IN_TWO = 60, 40
"""So many owners are drawn, evenly by rank of ε; fewer where two sliders make many knots."""


@dataclass(frozen=True, eq=False)
class Explored:
    """A certified grid, and the model's own place on it."""

    title: str
    grid: CertifiedGrid
    own: int
    """Which budget of the grid is the model's."""
    predictions: tuple[Prediction | None, ...] = ()
    """At each limit, a prediction at the budgets that have a certificate; empty where no query is
    asked."""

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the market that are drawn, increasing in ε."""
        epsilon = self._any.solution.market.epsilon
        return thin(epsilon, _OWNERS if self.grid.limit is None else _OWNERS_IN_TWO)

    @property
    def epsilon(self) -> Floats:
        """The requirements that are drawn, shape (k,)."""
        return self._any.solution.market.epsilon[self.rows]

    @property
    def highest(self) -> float:
        """The largest valuation there is, or threshold that is drawn."""
        every = self.of_owners(lambda found: found.solution.thresholds)
        return float(np.nanmax([self._any.solution.market.high.max(), np.nanmax(every)]))

    @property
    def _any(self) -> Certificate:
        return next(one for row in self.grid.certificates for one in row if one is not None)

    def of_owners(self, value: Callable[[Certificate], Floats]) -> Floats:
        """Return what drawn owners have at each knot, (m, p, k); NaN where nothing."""
        rows, none = self.rows, np.full(self.rows.size, math.nan)
        return np.array([[none if one is None else value(one)[rows] for one in row] for row in self.grid.certificates])

    def of_knots(self, value: Callable[[Certificate], float]) -> Floats:
        """Return a number of each knot, shape (m, p); NaN where nothing is known."""
        return np.array([[math.nan if one is None else value(one) for one in row] for row in self.grid.certificates])

    @cached_property
    def payments(self) -> tuple[Floats, Floats, Floats]:
        """Return the mean, standard deviation and held amount of payments, (m, p) each.

        Where laws are in doubt each is the largest under any of them.
        """
        return (
            self.of_knots(lambda found: _largest(found, lambda one: one.total_spend)),
            self.of_knots(lambda found: _largest(found, lambda one: realised_payments(one).standard_deviation)),
            self.of_knots(lambda found: _largest(found, lambda one: reserve(one, CHANCE).amount)),
        )

    @property
    def in_doubt(self) -> bool:
        """Whether one of several laws is true, and nobody knows which."""
        return is_in_doubt(self._any.solution)

    def errors(self) -> Sequence[Floats]:
        """Return predicted RMSE, sampling and noise, (m, p) each; NaN where nothing is."""
        found = np.full((3, *np.shape(self.grid.status)), math.nan)
        for k, prediction in enumerate(self.predictions):
            if prediction is not None:
                at = np.searchsorted(self.grid.budgets, prediction.budgets)
                found[:, k, at] = prediction.total, prediction.sampling, prediction.noise
        return list(np.where(np.isfinite(found), found, math.nan))


def _largest(found: Certificate, value: Callable[[Solution], float]) -> float:
    return max(value(one.solution) for one in under_each_law(found.solution))
