"""What acceptance is worth to the buyer, owner by owner.

Concave functions φ_i, all asked at once.

Everything is said in the direction of maximising; an objective that is minimised is worth its
negative.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats, increasing_root
from smqopt.valuation import Index


class Utility(abc.ABC):
    """φ_i for the n rows of a market, for one owner of each row.

    Concave and non-decreasing on [0, 1].
    """

    @abc.abstractmethod
    def value(self, q: Floats) -> Floats:
        """Return φ_i(q_i), −∞ where an objective has no value; shape (n,)."""

    @abc.abstractmethod
    def slope(self, q: Floats) -> Floats:
        """Return φ_i′(q_i), which may be +∞ at 0; shape (n,)."""

    @abc.abstractmethod
    def curvature(self, q: Floats) -> Floats:
        """Return −φ_i″(q_i) ≥ 0; shape (n,)."""

    @abc.abstractmethod
    def where_slope_is(self, e: Floats) -> Floats:
        """Return the acceptance in [0, 1] at which φ_i(q) − e_i q is largest.

        E of any sign, shape (n,).
        """

    @abc.abstractmethod
    def take(self, index: Index) -> Utility:
        """Select some of the rows."""

    def after_each_other(self, others: Sequence[Utility], shares: Sequence[float], rest: int) -> Utility:  # noqa: ARG002
        """Put the φ of several laws one after the other, times shares, and 0 for the rest.

        Raises
        ------
        InputError
            If its kind of φ is not made for that.
        """
        raise InputError("objective", "takes no laws in doubt", value=type(self).__name__, remedy="give one law")

    @property
    @abc.abstractmethod
    def wanted(self) -> NDArray[np.bool_]:
        """Whose acceptance is worth anything; shape (n,)."""

    @property
    def needed(self) -> NDArray[np.bool_]:
        """Without whose acceptance there is no value at all: φ_i(0) = −∞; shape (n,)."""
        return ~np.isfinite(self.value(np.zeros(self.wanted.size)))

    @property
    def straight(self) -> NDArray[np.bool_]:
        """Whose φ_i is a straight line; shape (n,)."""
        return ~self.wanted

    def tangent(self, e: Floats) -> tuple[Floats, Floats]:
        """Return max {φ_i(q) − e_i q: 0 ≤ q ≤ 1}, and the size of its terms.

        Shape (n,) each.

        φ_i lies below the line of slope e_i at this height, whatever e_i is: the Fenchel conjugate
        (Rockafellar 1970, section 12).
        """
        q = self.where_slope_is(e)
        value = self.value(q)
        taken = np.multiply(e, q, out=np.zeros(q.size), where=q > 0)
        return value - taken, np.abs(value) + np.abs(taken)


@dataclass(frozen=True, eq=False)
class Linear(Utility):
    """φ_i(q) = e_i q."""

    each: Floats
    """e ≥ 0, shape (n,)."""

    def value(self, q: Floats) -> Floats:
        """Return e q."""
        return self.each * q

    def slope(self, q: Floats) -> Floats:  # noqa: ARG002 -- the same everywhere
        """Return e."""
        return self.each

    def curvature(self, q: Floats) -> Floats:
        """Return 0."""
        return np.zeros(q.size)

    def where_slope_is(self, e: Floats) -> Floats:
        """Return 1 where more is worth more than e, else 0."""
        return (self.each > e).astype(np.float64)

    def take(self, index: Index) -> Linear:
        """Select some of the rows."""
        return Linear(self.each[index])

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """Where e > 0."""
        return self.each > 0

    @property
    def straight(self) -> NDArray[np.bool_]:
        """All."""
        return np.ones(self.each.size, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Shared(Utility):
    """The mean utility of owners who must accept alike.

    Φ_k(q) = Σ_{i in k} m_i φ_i(q) / Σ_{i in k} m_i.
    """

    each: Utility
    """Of the owners, n of them."""
    row: NDArray[np.intp]
    """Which row each owner is in; shape (n,)."""
    weight: Floats
    """m_i over the sum of the row's; shape (n,)."""
    rows: int

    def value(self, q: Floats) -> Floats:
        """Return Φ."""
        return self._mean(self.each.value(q[self.row]))

    def slope(self, q: Floats) -> Floats:
        """Return Φ′."""
        return self._mean(self.each.slope(q[self.row]))

    def curvature(self, q: Floats) -> Floats:
        """Return −Φ″."""
        return self._mean(self.each.curvature(q[self.row]))

    def where_slope_is(self, e: Floats) -> Floats:
        """Find where Φ′ is e."""
        nothing, all_of_it = np.zeros(self.rows), np.ones(self.rows)
        at_nothing, at_all = self.slope(nothing), self.slope(all_of_it)
        root = increasing_root(lambda q, k: self._excess(q, k, e), nothing, all_of_it)
        return np.where(at_nothing <= e, 0.0, np.where(at_all >= e, 1.0, root))

    def take(self, index: Index) -> Shared:
        """Select some of the rows, some of them repeatedly."""
        chosen, order = np.arange(self.rows, dtype=np.intp)[index], np.argsort(self.row, kind="stable")
        first, last = (np.searchsorted(self.row[order], chosen, side=side) for side in ("left", "right"))
        count = last - first
        place = np.repeat(np.arange(chosen.size, dtype=np.intp), count)
        mine = order[np.arange(place.size) + np.repeat(first - np.cumsum(count) + count, count)]
        return Shared(self.each.take(mine), place, self.weight[mine], chosen.size)

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """Where any owner's is."""
        return self._any(self.each.wanted)

    @property
    def needed(self) -> NDArray[np.bool_]:
        """Where any owner's is."""
        return self._any(self.each.needed)

    @property
    def straight(self) -> NDArray[np.bool_]:
        """Where all owners' are."""
        return ~self._any(~self.each.straight)

    def _any(self, of_owners: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(self.row, weights=of_owners, minlength=self.rows) > 0

    def _mean(self, of_owners: Floats) -> Floats:
        return np.bincount(self.row, weights=self.weight * of_owners, minlength=self.rows).astype(np.float64)

    def _excess(self, q: Floats, k: NDArray[np.intp], e: Floats) -> Floats:
        every = np.full(self.rows, 0.5)
        every[k] = q
        return (e - self.slope(every))[k]
