"""The dual under linear side constraints, over z ≥ 0.

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

_HELD = 2.0**-40
"""A budget that cannot be broken by more, relatively, is kept whatever happens."""


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
        statement = owners.statement
        self.m = statement.weights()
        self.A, self.S = statement.acceptance, statement.spend
        self.r = np.concatenate([[budget], statement.at_most])
        self.equal = np.concatenate([[False], statement.equal])
        """Which rows are equations, whose multipliers have any sign."""
        self._paying = self.S.nnz > 0
        self._sizes = self.A if self.A.nnz == 0 or self.A.data.min() >= 0 else abs(self.A)
        both = sparse.csr_array(sparse.hstack([self.A, self.S])) if self._paying else self.A
        both.sort_indices()  # SciPy would later, in place, and data would stand beside the places of others
        self._places, self._starts, self._coefficients = both.indices % max(owners.n, 1), both.indptr, both.data
        self._of_spend = both.indices >= owners.n
        """Which coefficients are of spend; an owner may have one of either kind in a row."""
        self._apart = bool(np.bincount(self._places, minlength=owners.n).max(initial=0) <= 1)
        self._row = np.repeat(np.arange(self.r.size - 1), np.diff(self._starts)) if self._apart else self._places
        self._alone = bool(np.all(self.m == 1.0))
        most = dot(self.m, owners.statement.reduced.high)
        self.speaks = self.equal | (self.sizes() > 0)
        self.speaks[0] = most > budget * (1.0 + _HELD)
        """Which rows have any terms, and whether the budget can be broken."""

    def at(self, z: Floats) -> DualPoint:
        """Evaluate D, its gradient and the owners' answer."""
        m = self.m
        taken: Floats | float = 0.0
        p = np.broadcast_to(z[0], m.shape)
        if self.A.nnz and np.any(z[1:]):
            of_rows = self.A.T @ z[1:]
            taken = of_rows if self._alone else of_rows / m
        if self._paying:
            p = z[0] + (self.S.T @ z[1:]) / m
        answer = self.owners.answer(taken, p)
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
