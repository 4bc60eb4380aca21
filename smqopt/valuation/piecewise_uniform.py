"""The law of a histogram: uniform on each of a few pieces."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.valuation.base import Floats, Valuation
from smqopt.valuation.regularity import Irregular, Regular, Undecided, Verdict
from smqopt.valuation.tables import checked_table

__all__ = ["PiecewiseUniform"]


@final
class PiecewiseUniform(Valuation):
    """Mass p_k spread evenly over [e_k, e_{k+1}], so J(θ) = 2θ − e_k + Q_k (e_{k+1} − e_k)/p_k there, Q_k the mass below e_k.

    One law common to all owners; `ByOwner` mixes several. At an edge the density is that of the piece above, at high that of the last piece. Within
    a piece without mass, J is infinite. The support runs from the first piece with mass to the last.

    Parameters
    ----------
    edges
        Ends of the pieces, rising, in currency; shape (m + 1,); 0 ≤ edges[0].
    masses
        The pieces' masses or counts, ≥ 0, not all 0; shape (m,). They are divided by their sum.

    Raises
    ------
    InputError
        If the shapes do not fit, the edges do not rise or are negative, or a mass is negative or not finite.

    Examples
    --------
    >>> F = PiecewiseUniform([0, 1, 2], [3, 1])
    >>> F.cdf([0.5, 1.0, 2.0]).tolist(), F.virtual_cost([0.5, 1.5]).tolist()
    ([0.375, 0.75, 1.0], [1.0, 5.0])
    """

    name = "piecewise-uniform"

    edges: Floats
    masses: Floats

    def __init__(self, edges: ArrayLike, masses: ArrayLike) -> None:
        where = "piecewise-uniform"
        self.edges, self.masses = checked_table(where, edges=edges, masses=masses)
        if self.edges.size != self.masses.size + 1:
            raise InputError(
                f"{where}: parameter 'edges'",
                f"must have {self.masses.size + 1} values, one more than the masses",
                value=self.edges.size,
                remedy="give both ends of every piece",
            )
        flat = np.flatnonzero(np.diff(self.edges) <= 0)
        if flat.size:
            raise InputError(
                f"{where}: parameter 'edges'",
                "must rise",
                value=float(self.edges[flat[0] + 1]),
                remedy="sort the edges and drop repeated ones",
            )
        filled = np.flatnonzero(self.masses > 0)
        first, last = int(filled[0]), int(filled[-1])
        e, p = self.edges[first : last + 2], self.masses[first : last + 1]
        self._exact = [Fraction(x) for x in p.tolist()]
        self._total = sum(self._exact, Fraction(0))
        heaped = [Fraction(0)]
        for mass in self._exact:
            heaped.append(heaped[-1] + mass)
        self._e, self._widths = e, np.diff(e)
        self._share = np.array([float(mass / self._total) for mass in self._exact])
        self._below = np.array([float(mass / self._total) for mass in heaped])
        self._above = np.array([float(1 - mass / self._total) for mass in heaped])
        self.low, self.high = float(e[0]), float(e[-1])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            rent = np.array([float(mass) for mass in heaped[:-1]]) * (
                self._widths / p
            )  # F/f at the low end of each piece
        self._rent = np.where(p > 0, np.where(self._below[:-1] == 0, 0.0, rent), np.inf)
        self._verdict = self._decided()

    def cdf(self, t: ArrayLike) -> Floats:
        theta, k = self._located(t)
        return np.asarray(self._below[k] + self._share[k] * ((theta - self._e[k]) / self._widths[k]))

    def log_cdf(self, t: ArrayLike) -> Floats:
        F = self.cdf(t)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log(F), np.log1p(-self._survival(t)))

    def log_survival(self, t: ArrayLike) -> Floats:
        F = self.cdf(t)
        with np.errstate(divide="ignore"):
            return np.where(F < 0.5, np.log1p(-F), np.log(self._survival(t)))

    def pdf(self, t: ArrayLike) -> Floats:
        _, k = self._located(t)
        given = np.asarray(t, dtype=np.float64)
        return np.where((given >= self.low) & (given <= self.high), self._share[k] / self._widths[k], 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        p = np.where(good, u, 0.0)
        # the piece with below < u ≤ next below, so that a level at which F is flat goes to the lower end of the flat
        k = np.clip(np.searchsorted(self._below, p, side="left") - 1, 0, self._share.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            up = self._widths[k] * ((p - self._below[k]) / self._share[k])
            down = self._widths[k] * (((1.0 - p) - self._above[k + 1]) / self._share[k])
        theta = np.where(p < 0.5, self._e[k] + up, self._e[k + 1] - down)
        theta = np.clip(theta, self._e[k], self._e[k + 1])
        return np.where(good, np.where(p <= 0, self.low, np.where(p >= 1, self.high, theta)), np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta, k = self._located(t)
        given = np.asarray(t, dtype=np.float64)
        return np.where(
            (given >= self.low) & (given <= self.high), theta + (theta - self._e[k]) + self._rent[k], np.nan
        )

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        price = np.asarray(v, dtype=np.float64)
        at_low_ends = self._e[:-1] + self._rent
        k = np.clip(np.searchsorted(at_low_ends, price, side="right") - 1, 0, self._share.size - 1)
        with np.errstate(invalid="ignore"):
            theta = self._e[k] + 0.5 * (price - at_low_ends[k])
        theta = np.clip(theta, self._e[k], self._e[k + 1])
        return np.where(np.isnan(price), np.nan, np.where(np.isposinf(price), self.high, theta))

    def cost_pieces(self) -> tuple[Floats, Floats, Floats]:
        """Give the pieces of the cost curve C(q) = q F⁻¹(q), each a parabola in q.

        Returns
        -------
        acceptance
            Shape (m + 1,): the ends 0 = q_0 < … < q_m = 1 of the pieces with mass.
        first, last
            Shape (m,), in currency: on piece k, F⁻¹ runs straight from `first[k]` just above q_k to `last[k]` at q_{k+1}.
        """
        filled = self._share > 0
        acceptance = np.append(self._below[:-1][filled], 1.0)
        return acceptance, self._e[:-1][filled], self._e[1:][filled]

    def scaled(self, factor: float) -> PiecewiseUniform:
        return PiecewiseUniform(factor * self.edges, self.masses)

    def regularity(self) -> Verdict:
        """Compare the densities of neighbouring pieces, exactly: J jumps by F (1/f₂ − 1/f₁) at an edge."""
        return self._verdict

    @property
    def family(self) -> Hashable:
        """Only equal histograms can be stacked."""
        return (type(self), self.edges.tobytes(), self.masses.tobytes())

    def stacked(self, laws: Sequence[Valuation]) -> Valuation:
        """Give the one law that all of them are."""
        return laws[0]

    def to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "edges": self.edges.tolist(), "masses": self.masses.tolist()}

    def __repr__(self) -> str:
        return f"PiecewiseUniform({self.masses.size} pieces on [{self.low!r}, {self.high!r}])"

    # --- inside ------------------------------------------------------------------------------------------------

    def _located(self, t: ArrayLike) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.intp]]]:
        """Give θ clipped to the support, and its piece: the upper one at an edge."""
        theta = np.asarray(np.clip(np.asarray(t, dtype=np.float64), self.low, self.high))
        k = np.searchsorted(self._e, theta, side="right") - 1
        return theta, np.clip(k, 0, self._share.size - 1)

    def _survival(self, t: ArrayLike) -> Floats:
        theta, k = self._located(t)
        return np.asarray(self._above[k + 1] + self._share[k] * ((self._e[k + 1] - theta) / self._widths[k]))

    def _decided(self) -> Verdict:
        edges = [Fraction(x) for x in self._e.tolist()]
        below = Fraction(0)
        falls: list[tuple[Fraction, int]] = []
        for k in range(1, len(self._exact)):
            below += self._exact[k - 1]
            before, after = self._exact[k - 1], self._exact[k]
            if before == 0 and after > 0:
                return self._gap(k, edges, below)
            if after > 0:
                falls.append((self._jump(k, edges, below), k))
        if all(jump >= 0 for jump, _ in falls):
            return Regular(
                "the density is non-increasing from piece to piece, so J has slope 2 and jumps up (exact comparison)"
            )
        reason = "the density rises from one piece to the next, where J falls by F (1/f₁ − 1/f₂) (exact comparison)"
        _, k = min(falls)
        witness = math.nextafter(float(edges[k]), -math.inf), float(edges[k])
        costs = tuple(self._exact_cost(Fraction(t), edges) for t in witness)
        if costs[0] <= costs[1]:
            return Undecided(f"{reason}, but no two doubles show it")
        return Irregular(reason, witness, (float(costs[0]), float(costs[1])))

    def _gap(self, k: int, edges: list[Fraction], below: Fraction) -> Irregular:
        """Give a witness for a piece without mass before piece k: there J is infinite."""
        first, second = 0.5 * (float(self._e[k - 1]) + float(self._e[k])), float(self._e[k])
        cost = edges[k] + below * (edges[k + 1] - edges[k]) / self._exact[k]
        reason = "the density is 0 between two pieces, where a higher price buys nothing more: J is infinite there"
        return Irregular(reason, (first, second), (math.inf, float(cost)))

    def _jump(self, k: int, edges: list[Fraction], below: Fraction) -> Fraction:
        """Give by how much J rises at the low end of piece k."""
        return below * ((edges[k + 1] - edges[k]) / self._exact[k] - (edges[k] - edges[k - 1]) / self._exact[k - 1])

    def _exact_cost(self, theta: Fraction, edges: list[Fraction]) -> Fraction:
        k = max(i for i in range(len(self._exact)) if edges[i] <= theta)
        below = sum(self._exact[:k], Fraction(0))
        return 2 * theta - edges[k] + below * (edges[k + 1] - edges[k]) / self._exact[k]
