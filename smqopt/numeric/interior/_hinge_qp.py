"""The least value of a quadratic and hinges in a box, by interior points.

In few variables; primal and dual together.

    minimise  g·d + ½ d·H d + Σ_j max(0, b_j + a_j·d)   subject to   low ≤ d ≤ high.

A hinge is the largest λ_j (b_j + a_j·d), 0 ≤ λ_j ≤ 1. With what it is up, t⁺, and down, t⁻, and the
prices y and y′ of the box, the optimum is where

    g + H d + Aᵀλ − y + y′ = 0,   b + A d = t⁺ − t⁻,   λ t⁻ = (1 − λ) t⁺ = (d − low) y = (high − d)
    y′ = 0.

With a μ > 0 that falls in place of 0, each of Newton's steps takes one linear system in d alone,
and work grows with the entries of A (Mehrotra 1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from smqopt.numeric._arrays import Floats

_MOST_STEPS = 80
_DONE, _ROUGH = 2.0**-62, 2.0**-7
"""Complementary products that add up to less are none; or to less of what the objective has fallen
by, where that will do."""
_SHORT = 0.995
"""The share of the way to where a factor would be 0 that a step goes at most."""
_INSIDE = 2.0**-4
"""How far inside the box the search starts, and how far from its bend a hinge does: shares of the
box, and of what the box moves the hinge."""
_RIDGE = 2.0**-50
"""Added to the scaled system, so that dependent rows do no harm."""
_ENDED = 2.0**-30
"""Variables so near to an end of the box, where the end has a price, are there."""
_STUCK = 2.0**-20
"""A step so short is the last."""


@dataclass(frozen=True)
class Lowest:
    """Where the least value is."""

    d: Floats
    share: Floats
    """λ, shape (J,)."""
    value: float
    """The objective there."""


@dataclass(frozen=True, eq=False)
class HingeProgram:
    """The program, in units in which the objective and the box are of size 1 or less."""

    g: Floats
    H: Floats
    A: sparse.csr_array
    """Shape (J, k)."""
    b: Floats
    low: Floats
    high: Floats
    """low ≤ 0 < high, or both 0 where a variable cannot move."""

    def value(self, d: Floats) -> float:
        """Return the objective."""
        return float(self.g @ d + 0.5 * d @ self.H @ d + np.sum(np.maximum(self.b + self.A @ d, 0.0)))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def lowest(self, near: float = np.inf) -> Lowest:
        """Find the least value; roughly where the objective falls by more than `near`.

        Else to about the last digits, where the steps do not get stuck.
        """
        free = np.flatnonzero(self.high > self.low)
        bends = np.abs(self.b) < abs(self.A) @ np.maximum(-self.low, self.high)
        share = (self.b > 0).astype(np.float64)
        system = _System(self, free, np.flatnonzero(bends), self.g + self.A.T @ np.where(bends, 0.0, share))
        d, factors = system.start()
        for _ in range(_MOST_STEPS):
            total = float(factors[0] @ factors[1])
            if not system.prepare(d, factors) or total <= (_ROUGH * system.fall if system.fall > near else _DONE):
                break
            ahead = system.step(factors, 0.0, np.zeros_like(factors))
            after = float(np.prod(factors + _longest(factors, ahead) * ahead, axis=0).sum())
            mu = total / factors.shape[1] * (max(after, 0.0) / total) ** 3
            move = system.step(factors, mu, ahead)
            length = _longest(factors, move)
            if not np.isfinite(move).all():  # near the ends of the doubles
                break
            d, factors = d + length * system.parts(move)[0][2], factors + length * move
            if length < _STUCK:
                break
        (lam, rest, below, above), (*_, y, z) = system.parts(factors)
        d = np.where(
            (below < y) & (below < _ENDED), system.low, np.where((above < z) & (above < _ENDED), system.high, d)
        )
        found = np.zeros(self.g.size)
        found[free] = np.clip(d, self.low[free], self.high[free])
        share[bends] = lam / (lam + rest)
        return Lowest(found, share, self.value(found))


class _System:
    """Newton's equations over the variables that move and the hinges that bend.

    The others are in g. The pairs whose products are to be μ are two rows: λ, 1 − λ, d − low and
    high − d, one after the other, above t⁻, t⁺, y and y′.
    """

    def __init__(self, program: HingeProgram, free: NDArray[np.intp], bends: NDArray[np.intp], g: Floats) -> None:
        self.g, self.H, self.b = g[free], program.H[np.ix_(free, free)], program.b[bends]
        self.low, self.high = program.low[free], program.high[free]
        self.A = sparse.csr_array(program.A[bends][:, free])
        self.across = sparse.csr_array(self.A.T)
        self._ends = np.cumsum([self.b.size, self.b.size, free.size])

    def parts(self, factors: Floats) -> tuple[list[Floats], list[Floats]]:
        """Return the four parts of either row."""
        return np.split(factors[0], self._ends), np.split(factors[1], self._ends)

    def start(self) -> tuple[Floats, Floats]:
        """Return a point inside the box, and factors that are all positive."""
        width = self.high - self.low
        d = np.clip(0.0, self.low + _INSIDE * width, self.high - _INSIDE * width)
        reach, at = abs(self.A) @ width, self.b + self.A @ d
        half = np.full(self.b.size, 0.5)
        off = _INSIDE * reach
        size = np.full(d.size, float(np.max(np.abs(self.g), initial=0.0) + np.max(reach, initial=np.finfo(float).tiny)))
        inner = np.concatenate([half, half, d - self.low, self.high - d])
        outer = np.concatenate([np.maximum(-at, 0.0) + off, np.maximum(at, 0.0) + off, size, size])
        return d, np.array([inner, outer])

    def prepare(self, d: Floats, factors: Floats) -> bool:
        """Factor the system at a point; says whether it can be."""
        (lam, rest, below, above), (down, up, y, z) = self.parts(factors)
        self.slack = self.g + self.H @ d + self.across @ lam - y + z
        at = self.b + self.A @ d
        self.miss = at - up + down
        hinges = np.maximum(self.b, 0.0).sum() - np.maximum(at, 0.0).sum()
        self.fall = float(hinges - self.g @ d - 0.5 * d @ self.H @ d)
        self.w = 1.0 / (up / rest + down / lam)
        weighted = sparse.csr_array(
            (self.across.data * self.w[self.across.indices], self.across.indices, self.across.indptr), self.across.shape
        )
        M = self.H + (weighted @ self.A).toarray() + np.diag(y / below + z / above)
        self.unit = 1.0 / np.sqrt(np.diag(M))
        scaled = M * np.outer(self.unit, self.unit) + _RIDGE * np.eye(d.size)
        try:
            self.factor = cho_factor(scaled, check_finite=False)
        except np.linalg.LinAlgError:
            return False
        return bool(np.isfinite(self.factor[0]).all())

    def step(self, factors: Floats, mu: float, ahead: Floats) -> Floats:
        """Return the move to products μ, corrected by the products of a trial move."""
        lam, rest, below, above = self.parts(factors)[0]
        aims = np.split(mu - factors[0] * factors[1] - ahead[0] * ahead[1], self._ends)
        pull = self.miss - aims[1] / rest + aims[0] / lam
        right = -self.slack - self.across @ (self.w * pull) + aims[2] / below - aims[3] / above
        move = self.unit * cho_solve(self.factor, self.unit * right, check_finite=False)
        more = self.w * (self.A @ move + pull)
        inner = np.concatenate([more, -more, move, -move])
        return np.array([inner, (np.concatenate(aims) - factors[1] * inner) / factors[0]])


def _longest(factors: Floats, move: Floats) -> float:
    """Return the share of a move, at most 1, that leaves all factors positive."""
    return min(1.0, _SHORT / max(float(np.max(-move / factors, initial=0.0)), _SHORT))
