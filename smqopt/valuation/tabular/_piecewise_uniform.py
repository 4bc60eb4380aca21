"""The law of a histogram: uniform on each of a few pieces."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats, nearest_double
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.ironing._quadratic_hull import QuadraticPieces
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._columns import checked_table
from smqopt.valuation.law._parameters import LARGEST, NARROWEST, check_keys
from smqopt.valuation.law._verdict import Hazard, Irregular, Regular, Undecided, Verdict
from smqopt.valuation.tabular._histogram_table import Histograms
from smqopt.valuation.tabular._piecewise_uniform_by_owner import PiecewiseUniformByOwner


@final
class PiecewiseUniform(Valuation):
    """Mass p_k spread evenly over [e_k, e_{k+1}].

    J(θ) = 2θ − e_k + Q_k (e_{k+1} − e_k)/p_k there, with Q_k the mass below e_k.

    One law common to all owners; `ByOwner` gathers several in one table.

    At an edge the density is that of the piece above, at high that of the last piece. Within a
    piece without mass, J is infinite. The support runs from the first piece with mass to the last.

    Parameters
    ----------
    edges
        Ends of the pieces, rising, in currency; shape (m + 1,); 0 ≤ edges[0].
    masses
        The pieces' masses or counts, ≥ 0, not all 0; shape (m,). They are divided by their sum.

    Raises
    ------
    InputError
        If the shapes do not fit, the edges do not rise or are negative, or a mass is negative or
        not finite.

    Examples
    --------
    >>> F = PiecewiseUniform([0, 1, 2], [3, 1])
    >>> F.cdf([0.5, 1.0, 2.0]).tolist(), F.virtual_cost([0.5, 1.5]).tolist()
    ([0.375, 0.75, 1.0], [1.0, 5.0])
    """

    name = "piecewise-uniform"
    table_pays = False
    answers_on_hull = True

    edges: Floats
    masses: Floats
    table: Histograms
    """The pieces with mass."""

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
        narrow = np.flatnonzero(np.diff(self.edges) < NARROWEST)
        if narrow.size:
            raise InputError(
                f"{where}: parameter 'edges'",
                "is too close to the one before for a density in doubles",
                value=float(self.edges[narrow[0] + 1]),
                remedy="use a smaller unit of currency",
            )
        filled = np.flatnonzero(self.masses > 0)
        first, last = int(filled[0]), int(filled[-1])
        e, p = self.edges[first : last + 2], self.masses[first : last + 1]
        self._edges = [Fraction(x) for x in e.tolist()]
        self._exact = [Fraction(x) for x in p.tolist()]
        self._cumulative = list(itertools.accumulate(self._exact, initial=Fraction(0)))
        with np.errstate(over="ignore", divide="ignore"):
            thin = np.flatnonzero(
                (p > 0) & ~(np.diff(e) * (float(nearest_double(self._cumulative[-1])) / p) <= LARGEST)
            )
        if thin.size:
            raise InputError(
                f"{where}: parameter 'masses', entry {first + thin[0] + 1}",
                "is too little for the width of its piece: virtual costs would be beyond doubles",
                value=float(p[thin[0]]),
                remedy="use a larger unit of currency",
            )
        self.low, self.high = float(e[0]), float(e[-1])
        self._rises = self._edges_where_the_cost_rises()
        self.table = self._table(e, p)

    def _cdf(self, theta: Floats) -> Floats:
        return self.table.cdf(None, theta)

    def _log_cdf(self, theta: Floats) -> Floats:
        return self.table.log_cdf(None, theta)

    def _log_survival(self, theta: Floats) -> Floats:
        return self.table.log_survival(None, theta)

    def _pdf(self, theta: Floats) -> Floats:
        return self.table.pdf(None, theta)

    def _ppf(self, q: Floats) -> Floats:
        return self.table.ppf(None, q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return self.table.virtual_cost(None, theta)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self.table.inverse_virtual_cost(None, v)

    def flat_pieces(self) -> FlatPieces:
        """Return the flat pieces of the convex hull of C, in closed form."""
        return self.table.hulls.pieces

    def hull_segments(self) -> HullSegments:
        """Return the convex hull of C, segment by segment.

        C itself where the law is regular.
        """
        return self.table.hulls.segments

    def cost_pieces(self) -> tuple[Floats, Floats, Floats]:
        """Return the pieces of the cost curve C(q) = q F⁻¹(q), each a parabola in q.

        Returns
        -------
        acceptance
            Shape (m + 1,): the ends 0 = q_0 < … < q_m = 1 of the pieces with mass.
        first, last
            Shape (m,), in currency: on piece k, F⁻¹ runs straight from `first[k]` just above q_k to
            `last[k]` at q_{k+1}.
        """
        quadratics = self.table.quadratics
        return np.append(quadratics.low_acceptance, 1.0), quadratics.low.copy(), quadratics.high.copy()

    def _rescale(self, factor: float) -> PiecewiseUniform:
        return PiecewiseUniform(factor * self.edges, self.masses)

    def _family(self) -> Hashable:
        return type(self)

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        """Gather histograms into one law with a histogram an owner.

        Equal ones stay common.
        """
        histograms = [law for law in laws if isinstance(law, PiecewiseUniform)]
        found: dict[tuple[bytes, bytes], int] = {}
        which = [found.setdefault((law.edges.tobytes(), law.masses.tobytes()), len(found)) for law in histograms]
        if len(found) == 1:
            return histograms[0]
        _, first = np.unique(which, return_index=True)
        return PiecewiseUniformByOwner([histograms[k] for k in first.tolist()], which)

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "edges": self.edges, "masses": self.masses}

    def __repr__(self) -> str:
        return f"PiecewiseUniform({self.masses.size} pieces on [{self.low!r}, {self.high!r}])"

    # --- inside -----------------------------------------------------------------------------------

    def _table(self, e: Floats, p: Floats) -> Histograms:
        total = self._cumulative[-1]
        below = np.array([float(mass / total) for mass in self._cumulative])
        above = np.array([float(1 - mass / total) for mass in self._cumulative])
        filled = np.flatnonzero(p > 0)
        with np.errstate(over="ignore", invalid="ignore"):  # F/f at the low end of each piece
            rent = np.array([float(self._cumulative[k]) for k in filled.tolist()]) * (np.diff(e)[filled] / p[filled])
        rent = np.where(below[filled] == 0, 0.0, rent)
        quadratics = QuadraticPieces(
            start=np.array([0, filled.size]),
            low=e[filled],
            high=e[filled + 1],
            low_acceptance=below[filled],
            high_acceptance=below[filled + 1],
            share=np.array([float(self._exact[k] / total) for k in filled.tolist()]),
            low_cost=e[filled] + rent,
            rises=np.array([k in self._rises for k in filled.tolist()]),
        )
        return Histograms(quadratics, above[filled + 1])

    def _edges_where_the_cost_rises(self) -> set[int]:
        """Return the pieces at whose low end J does not fall nor C jump."""
        return {
            k
            for k in range(1, len(self._exact))
            if self._exact[k] > 0 and self._exact[k - 1] > 0 and self._jump(k) >= 0
        }

    def _regularity(self) -> Verdict:
        """Compare neighbouring densities: J jumps by F (1/f₂ − 1/f₁) at an edge."""
        gaps = [k for k in range(1, len(self._exact)) if self._exact[k] > 0 and self._exact[k - 1] == 0]
        if gaps:
            return self._gap(gaps[0])
        if len(self._rises) == len(self._exact) - 1:
            return Regular(
                "the density is non-increasing from piece to piece, so J has slope 2 and jumps up (exact comparison)"
            )
        reason = "the density rises from one piece to the next, where J falls by F (1/f₁ − 1/f₂) (exact comparison)"
        k = min(range(1, len(self._exact)), key=self._jump)
        witness = math.nextafter(float(self._edges[k]), -math.inf), float(self._edges[k])
        costs = tuple(self._exact_cost(Fraction(t)) for t in witness)
        if costs[0] <= costs[1]:
            from smqopt.valuation.monotonicity._on_pieces import decide_in_pieces  # noqa: PLC0415 (loads sympy)

            as_printed = decide_in_pieces(self)  # edges and masses as decimals may have equal densities
            return as_printed if isinstance(as_printed, Regular) else Undecided(f"{reason}, but no two doubles show it")
        return Irregular(reason, witness, (nearest_double(costs[0]), nearest_double(costs[1])))

    def _has_falling_density(self) -> bool:
        return bool(np.all(np.diff(self.masses / np.diff(self.edges)) <= 0))

    def _monotone_hazard(self) -> Hazard:
        """On a piece h = f/(1 − F) rises as F does; at an edge it jumps as f does."""
        e, p = self._edges, self._exact
        density = [mass / (b - a) for mass, (a, b) in zip(p, itertools.pairwise(e), strict=True)]
        k = next((k for k in range(1, len(density)) if density[k] < density[k - 1]), None)
        if k is None:
            return Hazard(True, "the density is non-decreasing from piece to piece (exact comparison)")
        first, above = math.nextafter(float(e[k]), -math.inf), sum(p[k:], Fraction(0))
        hazards = density[k - 1] / (above + density[k - 1] * (e[k] - Fraction(first))), density[k] / above
        reason = "the density falls from one piece to the next (exact comparison)"
        if not hazards[0] > hazards[1]:
            return Hazard(None, f"{reason}, but no two doubles show it")
        return Hazard(False, reason, (first, float(e[k])), (float(hazards[0]), float(hazards[1])))

    def _gap(self, k: int) -> Irregular:
        """Return a witness for a piece without mass before piece k: there J is infinite."""
        first, second = 0.5 * float(self._edges[k - 1] + self._edges[k]), float(self._edges[k])
        reason = "the density is 0 between two pieces, where a higher price buys nothing more: J is infinite there"
        return Irregular(reason, (first, second), (math.inf, nearest_double(self._exact_cost(self._edges[k]))))

    def _jump(self, k: int) -> Fraction:
        """Return by how much J rises at the low end of piece k.

        Both pieces there have mass.
        """
        e, p = self._edges, self._exact
        return self._cumulative[k] * ((e[k + 1] - e[k]) / p[k] - (e[k] - e[k - 1]) / p[k - 1])

    def _exact_cost(self, theta: Fraction) -> Fraction:
        e = self._edges
        k = max(i for i in range(len(self._exact)) if e[i] <= theta)
        return 2 * theta - e[k] + self._cumulative[k] * (e[k + 1] - e[k]) / self._exact[k]


def histograms_from_dict(table: Mapping[str, Any], where: str) -> PiecewiseUniformByOwner:
    """Read `{"law": "piecewise-uniform-by-owner", "histograms".

    [...], "histogram_of_owner": [...]}`.

    Raises
    ------
    InputError
        If a key is unknown or missing, or a histogram or a number is bad.
    """
    check_keys(table, ("histograms", "histogram_of_owner"), "the histograms by owner", where)
    for key in ("histograms", "histogram_of_owner"):
        if not isinstance(table[key], list):
            raise InputError(f"{where}: key {key!r}", "must be an array", remedy=f"give {key}")
    rows = table["histograms"]
    if not all(isinstance(row, Mapping) and set(row) == {"edges", "masses"} for row in rows):
        raise InputError(f"{where}: key 'histograms'", "must hold tables of edges and masses", remedy="give both")
    return PiecewiseUniformByOwner([PiecewiseUniform(**row) for row in rows], table["histogram_of_owner"])
