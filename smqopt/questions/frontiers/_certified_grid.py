"""The frontier over budgets and one limit, each knot certified.

V(B, c) is concave in budget and limit together, for both are right-hand sides of one program. So
between knots it lies above every triangle of knots, and for any multipliers weak duality gives a
plane above it, whose slopes are the budget price λ and what the limit's rows are priced at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from smqopt.errors import SolverError
from smqopt.market import ConstraintRecord, Market, Status
from smqopt.numeric import ROUNDING, Floats
from smqopt.questions.frontiers._movable_limit import MovableLimit
from smqopt.solvers import solve
from smqopt.verification import Certificate, verify

_CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


@dataclass(frozen=True, eq=False)
class CertifiedGrid:
    """Certificates at budgets times limits, and what they prove between them."""

    budgets: Floats
    """Increasing, in currency, shape (p,), p ≥ 2."""
    limit: MovableLimit | None
    """What stands on the second axis; None where there is one axis alone."""
    certificates: tuple[tuple[Certificate | None, ...], ...]
    """At each limit, a certificate at each budget; None where no thresholds are known that satisfy
    all constraints."""
    status: tuple[tuple[str, ...], ...]
    """How the program ends at each knot: a status, or UNDECIDED."""

    @property
    def limits(self) -> Floats:
        """The second axis, shape (m,); one 0 where there is none."""
        return np.zeros(1) if self.limit is None else self.limit.values

    @property
    def lower(self) -> Floats:
        """V is no less at the knots, shape (m, p); −∞ where nothing is known."""
        return self._each(lambda found: found.lower_bound, -math.inf)

    @property
    def upper(self) -> Floats:
        """V is no more at the knots, shape (m, p); +∞ where nothing is known."""
        return self._each(lambda found: found.upper_bound, math.inf)

    @property
    def prices(self) -> tuple[Floats, Floats]:
        """λ and the slope of V in the limit, shape (m, p) each.

        λ is +∞ where the bound holds at the knot alone.
        """
        price = self._each(lambda found: found.solution.budget_price, math.inf)
        if self.limit is None:
            return price, np.zeros(price.shape)
        slopes = [
            [0.0 if one is None else self.limit.slope(value, one.solution.constraint_prices) for one in row]
            for value, row in zip(self.limits.tolist(), self.certificates, strict=True)
        ]
        return price, np.array(slopes)

    def bounds(self, budget: float, limit: float = 0.0) -> tuple[float, float]:
        """Bound V between the first and last knots: by triangles below, planes above."""
        upper, (price, slope) = self.upper, self.prices
        with np.errstate(invalid="ignore"):
            rise, move = price * (budget - self.budgets), slope * (limit - self.limits[:, None])
            planes = upper + rise + move + ROUNDING.value * (abs(upper) + abs(rise) + abs(move))
        here = (self.budgets == budget) & (self.limits[:, None] == limit)
        planes = np.where(here, upper, np.where(np.isfinite(price), planes, math.inf))
        lower = max((self._combine(corners) for corners in self._triangles(budget, limit)), default=-math.inf)
        return lower, max(float(planes.min()), lower)

    def _combine(self, corners: dict[tuple[int, int], float]) -> float:
        known = self.lower
        total = math.fsum(weight * known[at] for at, weight in corners.items())
        return total if len(corners) == 1 else total * (1.0 - ROUNDING.value)

    def _triangles(self, budget: float, limit: float) -> Iterator[dict[tuple[int, int], float]]:
        """Return knots and weights of the triangles that hold a point."""
        j, u = _place(self.budgets, budget)
        k, v = _place(self.limits, limit)
        for weights in triangles(u, v):
            yield {(k + b, j + a): w for (a, b), w in zip(_CORNERS, weights, strict=True) if w > 0}

    def _each(self, value: Callable[[Certificate], float], unknown: float) -> Floats:
        rows = [[unknown if one is None else value(one) for one in row] for row in self.certificates]
        return np.array(rows, dtype=np.float64)


def triangles(u: float, v: float) -> list[tuple[float, float, float, float]]:
    """Return the weights of corners (0,0), (0,1), (1,0), (1,1) that give (u, v).

    A unit square is cut into two triangles along either diagonal.
    """
    one = (1 - u, 0.0, u - v, v) if u >= v else (1 - v, v - u, 0.0, u)
    other = (1 - u - v, v, u, 0.0) if u + v <= 1 else (0.0, 1 - u, 1 - v, u + v - 1)
    return [one, other]


def certified_grid(
    market: Market, records: tuple[ConstraintRecord, ...], budgets: Floats, limit: MovableLimit | None = None
) -> CertifiedGrid:
    """Solve and certify purchased privacy at each budget, and at each limit.

    Parameters
    ----------
    market
        n owners.
    records
        Side constraints.
    budgets
        Increasing, in currency, shape (p,), p ≥ 2.
    limit
        What to move besides the budget.
    """
    found, status = [], []
    for value in (None,) if limit is None else limit.values.tolist():
        at = records if limit is None or value is None else limit.at(value)
        row = [_certify(market, budget, at) for budget in budgets.tolist()]
        found.append(tuple(certificate for certificate, _ in row))
        status.append(tuple(name for _, name in row))
    return CertifiedGrid(budgets, limit, tuple(found), tuple(status))


def _certify(market: Market, budget: float, records: tuple[ConstraintRecord, ...]) -> tuple[Certificate | None, str]:
    try:
        solution = solve(market, budget, constraints=records)
    except SolverError:
        return None, "UNDECIDED"
    if solution.status is Status.INFEASIBLE:
        return None, solution.status.name
    certificate = verify(solution)
    return (certificate, solution.status.name) if certificate.valid else (None, "UNDECIDED")


def _place(knots: Floats, value: float) -> tuple[int, float]:
    """Return the interval that holds a value, and where in it, from 0 to 1."""
    if knots.size == 1:
        return 0, 0.0
    j = min(max(int(np.searchsorted(knots, value, side="right")) - 1, 0), knots.size - 2)
    return j, float((value - knots[j]) / (knots[j + 1] - knots[j]))
