"""A law of atoms: valuations on a price list."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats, Indices, Mask, nearest_double
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.ironing._lower_hull import lower_hull
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._columns import checked_table
from smqopt.valuation.law._verdict import Irregular, Undecided, Verdict


@final
class Discrete(Valuation):
    """θ = v_k with probability p_k. One law common to all owners.

    `ByOwner` mixes several.

    There is no density. `pdf` is +∞ at an atom and 0 elsewhere, so that J(v_k) = v_k, and J is
    infinite between atoms, where a higher price buys nothing more. The cost curve q F⁻¹(q) rises
    straight up to each (q_k, q_k v_k) and jumps there: posted prices reach these points alone, and
    lotteries what lies on their convex hull.

    Parameters
    ----------
    values
        The atoms v_1 < v_2 < …, in currency, ≥ 0; shape (m,). One value is a point mass, with low =
        high.
    masses
        Their probabilities or counts, > 0; shape (m,). They are divided by their sum.

    Raises
    ------
    InputError
        If the shapes differ, the values do not rise or are negative, or a mass is not positive.

    Examples
    --------
    >>> F = Discrete([1, 2, 5], [0.25, 0.5, 0.25])
    >>> F.cdf([0.5, 1.0, 3.0]).tolist(), F.ppf([0.25, 0.5, 1.0]).tolist()
    ([0.0, 0.25, 0.75], [1.0, 2.0, 5.0])
    """

    name = "discrete"
    table_pays = False

    values: Floats
    masses: Floats

    def __init__(self, values: ArrayLike, masses: ArrayLike) -> None:
        self.values, self.masses = checked_table("discrete", values=values, masses=masses)
        if self.values.size != self.masses.size:
            raise InputError(
                "discrete: parameter 'masses'",
                f"must have {self.values.size} values like the atoms",
                value=self.masses.size,
                remedy="give one mass an atom",
            )
        if np.any(np.diff(self.values) <= 0):
            k = int(np.flatnonzero(np.diff(self.values) <= 0)[0]) + 1
            raise InputError(
                f"discrete: parameter 'values', entry {k + 1}",
                "must exceed the one before",
                value=float(self.values[k]),
                remedy="sort the values and add up the masses of equal ones",
            )
        if np.any(self.masses == 0):
            k = int(np.flatnonzero(self.masses == 0)[0])
            raise InputError(
                f"discrete: parameter 'masses', entry {k + 1}", "must be positive", value=0.0, remedy="drop the atom"
            )
        self._exact = [Fraction(mass) for mass in self.masses.tolist()]
        total = sum(self._exact, Fraction(0))
        cumulative = [mass / total for mass in itertools.accumulate(self._exact)]
        self._cumulative = np.array([float(share) for share in cumulative])
        self._above = np.array([1.0, *(float(1 - share) for share in cumulative)])
        self.low, self.high = float(self.values[0]), float(self.values[-1])

    def _cdf(self, theta: Floats) -> Floats:
        return np.asarray(self._cumulative[np.maximum(self._atoms_up_to(theta), 1) - 1])

    def _log_survival(self, theta: Floats) -> Floats:
        return np.asarray(np.log(self._above[self._atoms_up_to(theta)]))

    def _pdf(self, theta: Floats) -> Floats:
        return np.where(self._is_atom(theta), np.inf, 0.0)

    def _ppf(self, q: Floats) -> Floats:
        k = np.searchsorted(self._cumulative, q, side="left")
        return self.values[np.minimum(k, self.values.size - 1)]

    def _virtual_cost(self, theta: Floats) -> Floats:
        return np.where(self._is_atom(theta), theta, np.inf)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        """Find the greatest atom up to v, else the least."""
        k = np.searchsorted(self.values, v, side="right") - 1
        return self.values[np.clip(k, 0, self.values.size - 1)]

    def _offer(self, v: Floats) -> tuple[Floats, Floats]:
        theta = self.inverse_virtual_cost(v)
        return theta, np.where(v < self.low, 0.0, self.cdf(theta))  # below the least atom there is no offer

    def cost_points(self) -> tuple[Floats, Floats]:
        """Return the points (q_k, q_k v_k) of the cost curve that posted prices reach.

        Acceptance, and expected payment in currency; shape (m,).
        """
        return self._cumulative.copy(), self._cumulative * self.values

    def flat_pieces(self) -> FlatPieces:
        """Return the pieces of the convex hull of no offer and the cost points.

        Every acceptance between them is a lottery.
        """
        acceptance, values = list(itertools.accumulate(self._exact, initial=Fraction(0))), self.values.tolist()
        cost = [Fraction(0), *(q * Fraction(v) for q, v in zip(acceptance[1:], values, strict=True))]
        exact = (np.array(column, dtype=object) for column in (acceptance, cost))
        hull = lower_hull(np.zeros(len(cost), dtype=np.intp), *exact)
        slopes = [(cost[b] - cost[a]) / (acceptance[b] - acceptance[a]) for a, b in itertools.pairwise(hull.tolist())]
        at = hull - 1  # the atom of each vertex; the first is no offer, shown as low
        low, high = self.values[np.maximum(at[:-1], 0)], self.values[at[1:]]
        below = np.where(at[:-1] < 0, 0.0, self._cumulative[np.maximum(at[:-1], 0)])
        owner = np.zeros(len(slopes), dtype=np.intp)
        return FlatPieces(
            owner, low, high, below, self._cumulative[at[1:]], np.array([nearest_double(slope) for slope in slopes])
        )

    def hull_segments(self) -> HullSegments:
        """Return the convex hull of C, which is straight from piece to piece."""
        return HullSegments.straight(self.flat_pieces())

    def _knots(self) -> Floats:
        return self.values

    def _rescale(self, factor: float) -> Discrete:
        return Discrete(factor * self.values, self.masses)

    def _regularity(self) -> Verdict:
        if self.values.size == 1:
            return Undecided("a point mass has no density; its cost curve q v is one straight piece, met by lotteries")
        low, second = float(self.values[0]), float(self.values[1])
        first = 0.5 * (low + second)
        if not low < first < second:
            first = math.nextafter(second, 0.0)
        return Irregular(
            "between two atoms a higher price buys nothing more, so J is infinite there and finite at the next atom",
            (first, second),
            (math.inf, second),
        )

    def _family(self) -> Hashable:
        return (type(self), self.values.tobytes(), self.masses.tobytes())

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        return laws[0]  # the one law that all of them are

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "values": self.values, "masses": self.masses}

    def __repr__(self) -> str:
        return f"Discrete({self.values.size} atoms on [{self.low!r}, {self.high!r}])"

    def _atoms_up_to(self, theta: Floats) -> Indices:
        return np.asarray(np.searchsorted(self.values, theta, side="right"))

    def _is_atom(self, theta: Floats) -> Mask:
        k = np.minimum(np.searchsorted(self.values, theta, side="left"), self.values.size - 1)
        return np.asarray(self.values[k] == theta)
