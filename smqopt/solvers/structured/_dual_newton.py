"""The dual under linear side constraints, by Newton's method over z ≥ 0.

D(z) = r·z + Σ m_i max_q {φ_i(q) − a_i(z) q − p_i(z) C_i(q)} is convex; its gradient is what the
constraints leave over, r − usage, and its second derivative R diag(1/(m (p dv/dq − φ″))) Rᵀ with R
= A + S diag(v): work and memory grow with the entries of A and S. Row 0 is the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from smqopt.numeric import Floats
from smqopt.solvers.structured._response import Owners, Response

_MOST_STEPS = 200
_SUFFICIENT = 1e-4
"""Share of the predicted decrease that a step must bring (Armijo)."""
_SHORTEST = 2.0**-40
_MANY_HALVINGS = 6
"""After so many a step is a short one."""
_RIDGE = 2.0**-44
"""Added to the scaled second derivative, so that dependent rows do no harm."""
_ROUNDING = 2.0**-48
"""Differences of D below this share of its terms are rounding."""
_LEAST_REACH = 2.0**-900
"""Smaller multipliers would overflow when something is divided by them."""
_CLOSE = 2.0**-46
"""Residuals below this share of a row's terms are rounding."""


_MOST_EVALUATIONS = 4000
"""Of D for one statement and budget, some twenty times as many as hard programs were seen to
take."""


class WorkLimitError(Exception):
    """D was evaluated as often as is allowed."""


@dataclass(frozen=True)
class DualPoint:
    """The dual at multipliers z, and the owners' answer there."""

    z: Floats
    value: float
    """D(z), in units of ε."""
    size: float
    """The sum of the absolute terms of D."""
    left: Floats
    """r − usage, the gradient; shape (k + 1,)."""
    scale: Floats
    """The sum of the absolute terms of each row."""
    price: Floats
    """p; shape (n′,)."""
    answer: Response


def dot(left: Floats, right: Floats) -> float:
    """Return Σ left_i right_i without threads, which cost more than they bring."""
    return float(np.einsum("i,i->", left, right))


class Dual:
    """D for a statement and a budget, over k + 1 multipliers, the budget's first."""

    def __init__(self, owners: Owners, budget: float) -> None:
        self.owners = owners
        self.evaluations = 0
        statement = owners.statement
        self.m = statement.weights()
        self.A, self.S = statement.acceptance, statement.spend
        self.r = np.concatenate([[budget], statement.at_most])
        self.equal = np.concatenate([[False], statement.equal])
        """Which rows are equations, whose multipliers have any sign."""
        self._paying = self.S.nnz > 0
        self._sizes = self.A if self.A.nnz == 0 or self.A.data.min() >= 0 else abs(self.A)
        both = sparse.csr_array(sparse.hstack([self.A, self.S])) if self._paying else self.A
        self._places, self._starts, self._coefficients = both.indices % max(owners.n, 1), both.indptr, both.data
        self._of_spend = both.indices >= owners.n
        """Which coefficients are of spend; an owner may have one of either kind in a row."""
        self._apart = bool(np.bincount(self._places, minlength=owners.n).max(initial=0) <= 1)
        self._row = np.repeat(np.arange(self.r.size - 1), np.diff(self._starts)) if self._apart else self._places
        self._alone = bool(np.all(self.m == 1.0))
        self.speaks = self.equal | (self.sizes() > 0)
        """Which rows have any terms; the others hold whatever happens."""

    def at(self, z: Floats, h: float) -> DualPoint:
        """Evaluate D, its gradient and the owners' answer.

        Raises
        ------
        WorkLimitError
            If that was done too often.
        """
        self.evaluations += 1
        if self.evaluations > _MOST_EVALUATIONS:
            raise WorkLimitError
        m = self.m
        taken: Floats | float = 0.0
        p = np.broadcast_to(z[0], m.shape)
        if self.A.nnz and np.any(z[1:]):
            of_rows = self.A.T @ z[1:]
            taken = of_rows if self._alone else of_rows / m
        if self._paying:
            p = z[0] + (self.S.T @ z[1:]) / m
        answer = self.owners.answer(taken, p, h)
        q, spend = answer.acceptance, answer.spend
        gain, cost = answer.gain, spend * p
        if not self._alone:
            gain, cost = m * gain, m * cost
        value, gross = float(np.sum(gain - cost)), float(np.sum(np.abs(gain)) + np.sum(cost))
        return DualPoint(
            z=z,
            value=float(self.r @ z) + value,
            size=float(np.abs(self.r) @ np.abs(z)) + gross,
            left=self.left(q, spend),
            scale=self.terms(q, spend),
            price=p,
            answer=answer,
        )

    def sizes(self) -> Floats:
        """Return the largest terms that each row can have; shape (k + 1,)."""
        dearest = self.owners.statement.reduced.high
        used = np.concatenate([[dot(self.m, dearest)], np.asarray(abs(self.A).sum(axis=1)) + self.S @ dearest])
        sizes: Floats = np.abs(self.r) + used
        return sizes

    def left(self, q: Floats, spend: Floats) -> Floats:
        """Return r − usage, shape (k + 1,)."""
        of_rows = self.A @ q + self.S @ spend if self._paying else self.A @ q
        used: Floats = np.concatenate([[dot(self.m, spend)], of_rows])
        return self.r - used

    def terms(self, q: Floats, spend: Floats) -> Floats:
        """Return the sum of the absolute terms of each row, shape (k + 1,)."""
        of_rows = self._sizes @ q + self.S @ spend if self._paying else self._sizes @ q
        found: Floats = np.abs(self.r) + np.concatenate([[dot(self.m, spend)], of_rows])
        return found

    def rows(self, v: Floats) -> sparse.csr_array:
        """Return R = A + S diag(v), what one more unit of acceptance uses; shape (k, n′).

        Of each row but the budget; v finite.
        """
        data = self._coefficients
        if self._paying:
            data = np.where(self._of_spend, data * v[self._places], data)
        return sparse.csr_array((data, self._places, self._starts), shape=self.A.shape)

    def curvature(self, point: DualPoint) -> Floats:
        """Return dq per unit of a row's multiplier, 1/(m (p dv/dq − φ″)); shape (n′,)."""
        slope, bend = point.answer.slope, point.answer.bend
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            weight = np.where(slope < np.inf, slope / (self.m * (point.price + slope * bend)), 1.0 / (self.m * bend))
        return np.where((slope > 0) & np.isfinite(weight), weight, 0.0)

    def second_derivative(self, point: DualPoint) -> Floats:
        """Return D″, shape (k + 1, k + 1)."""
        return self.bend(point.answer.v, self.curvature(point))

    def bend(self, v: Floats, weight: Floats) -> Floats:
        """Return R diag(weight) Rᵀ with the budget's row first, shape (k + 1, k + 1)."""
        v = np.where(weight > 0, v, 0.0)
        R = self.rows(v)
        paid = self.m * v * weight
        H = np.empty((self.r.size, self.r.size))
        H[0, 0] = dot(self.m * v, paid)
        H[0, 1:] = H[1:, 0] = R @ paid
        if self._apart:
            squares = R.data * R.data * weight[self._places]
            H[1:, 1:] = np.diag(np.bincount(self._row, weights=squares, minlength=self.r.size - 1))
        else:
            H[1:, 1:] = (
                sparse.csr_array((R.data * weight[self._places], R.indices, R.indptr), shape=R.shape) @ R.T
            ).todense()
        return H


def minimise(
    dual: Dual,
    z: Floats,
    h: float,
    bounded_below: float,
    *,
    steps: int = _MOST_STEPS,
    shortest: float = _SHORTEST,
    close: float = _CLOSE,
    patience: int = _MOST_STEPS,
) -> DualPoint:
    """Minimise D over z ≥ 0, from z; stops early where D falls below `bounded_below`.

    Also after as many short steps in a row as `patience` says: D has a kink there.

    Returns
    -------
    Point
        Where all rows with a multiplier are met and no row is broken, up to rounding; or the last
        point where no step brings a decrease.
    """
    least = np.where(dual.equal, -np.inf, 0.0)
    point, short = dual.at(np.maximum(z, least), h), 0
    for _ in range(steps):
        if point.value < bounded_below or _distance(point, least) <= close or short > patience:
            return point
        before = dual.evaluations
        following = _step(dual, point, least, h, shortest)
        if following is None:
            return point
        short = short + 1 if dual.evaluations - before > _MANY_HALVINGS else 0
        point = following
    return point


def _step(dual: Dual, point: DualPoint, least: Floats, h: float, shortest: float) -> DualPoint | None:
    """Take one Newton step along the projection on z ≥ least.

    None where none brings a decrease.
    """
    free = (point.z > least) | (point.left < 0)
    H = dual.second_derivative(point)[np.ix_(free, free)]
    g = point.left[free]
    diagonal = np.sqrt(np.maximum(np.diag(H), 0.0))
    typical = float(diagonal.max(initial=0.0))
    # A row that no owner answers to has no curvature: its multiplier then grows by about its own
    # size, or by what moves an owner.
    reach = np.maximum(np.abs(point.z[free]), point.size / np.where(point.scale > 0, point.scale, 1.0)[free])
    unit = np.where(diagonal > 0, diagonal, np.sqrt(np.abs(g) / np.maximum(reach, _LEAST_REACH)))
    unit = np.where(unit > 0, unit, typical or 1.0)
    scaled = H / np.outer(unit, unit) + (_RIDGE * unit.size + (diagonal == 0)) * np.eye(unit.size)
    direction = np.zeros(point.z.size)
    direction[free] = -np.linalg.solve(scaled, g / unit) / unit
    share = 1.0
    while share > shortest:
        z = np.maximum(point.z + share * direction, least)
        if np.array_equal(z, point.z):
            return None
        new = dual.at(z, h)
        promised = float(point.left @ (z - point.z))
        if new.value <= point.value + _SUFFICIENT * promised:
            return new
        within_rounding = abs(new.value - point.value) <= _ROUNDING * point.size
        if within_rounding and _distance(new, least) < 0.5 * _distance(point, least):
            return new
        share *= 0.5
    return None


def _distance(point: DualPoint, least: Floats) -> float:
    """Return by how much the worst row misses being met, relative to its terms."""
    residual = np.where(point.z > least, np.abs(point.left), np.maximum(-point.left, 0.0))
    return float(np.max(residual / np.maximum(point.scale, np.finfo(float).tiny)))
