"""Stretches of prices on which what a group buys and costs is nearly known.

At a common price p a group buys V(p) = Σ m_i ε_i F_i(p) and is paid S(p) = p N(p), N(p) = Σ m_i
F_i(p). On the cell p = p₀ + w t, 0 ≤ t < 1, V lies no more than e_V above V₀ + V′t, and N no more
than e_N below N₀ + N′t, so that

    V − λS ≤ V₀ + V′t − λ (p₀ + w t)(N₀ + N′t) + e_V + λ (p₀ + w) e_N,

whose first part is concave in t, for V′, N′ ≥ 0. Where every F_i runs straight or is constant the
errors are 0. V and N rise, so that V₁ − λp₀N₀ is a bound too, V₁ = V₀ + V′.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import ROUNDING, TERM_ROUNDING, Floats

Index = NDArray[np.intp] | NDArray[np.bool_] | slice


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells, each of one group; arrays of one length."""

    group: NDArray[np.intp]
    terms: NDArray[np.intp]
    """How many terms the sums have."""
    price: Floats
    """p₀, in currency; −∞ for no offer."""
    end: Floats
    """p₀ + w, in currency; p₀ where a price stands alone."""
    exact: NDArray[np.bool_]
    """Whether V and N run straight."""
    privacy: Floats
    more_privacy: Floats
    """V₀ and V′, in units of ε."""
    count: Floats
    more_count: Floats
    """N₀ and N′, in owners."""
    privacy_error: Floats
    count_error: Floats
    """e_V and e_N; for one λ also some e_V and 0 with the same sum e_V + λ(p₀ + w)e_N, or less."""
    most_privacy: Floats
    least_count: Floats
    """V₁ and N₀, in units of ε and in owners: V − λpN ≤ V₁ − λp₀N₀ on the whole cell; for one λ
    also others of which that holds."""

    def take(self, index: Index) -> Cells:
        """Return some of the cells."""
        return Cells(*(getattr(self, column.name)[index] for column in fields(self)))

    def join(self, other: Cells) -> Cells:
        """Return both, in order of group and price."""
        both = [np.concatenate([getattr(self, column.name), getattr(other, column.name)]) for column in fields(self)]
        return Cells(*both).take(np.lexsort((both[2], both[0])))

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """The first cell of each group, shape (G,); cells are in order of group."""
        return np.flatnonzero(np.diff(self.group, prepend=-1)).astype(np.intp)

    def largest(self, height: Floats) -> Floats:
        """Return each cell the largest height of its group."""
        return np.asarray(np.maximum.reduceat(height, self.start)[self.group])

    def first_of_largest(self, height: Floats) -> NDArray[np.intp]:
        """Return the first cell of each group at which a height is largest; shape (G,)."""
        at = np.flatnonzero(height == self.largest(height))
        return at[np.unique(self.group[at], return_index=True)[1]].astype(np.intp)

    @cached_property
    def width(self) -> Floats:
        """w, in currency."""
        wide = self.end > self.price
        return np.where(wide, np.where(wide, self.end, 0.0) - self.base, 0.0)

    @cached_property
    def base(self) -> Floats:
        """p₀, or 0 where there is no offer."""
        return np.where(self.price >= 0, self.price, 0.0)

    def height(self, budget_price: float, t: Floats | float) -> tuple[Floats, Floats]:
        """Return V − λS at t, and the sum of its absolute terms.

        V and N run straight there, or t is 0 or 1.
        """
        bought, sold = self.privacy + self.more_privacy * t, self.count + self.more_count * t
        paid = budget_price * (self.base + self.width * t) * sold
        return bought - paid, bought + paid

    def tops(self, budget_price: float) -> Floats:
        """Return the t of each cell at which V − λS is largest if V and N run straight."""
        slope, bend = self._slope(budget_price), 2.0 * budget_price * self.width * self.more_count
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(slope <= 0, 0.0, np.where(slope >= bend, 1.0, slope / bend))

    def ceilings(self, budget_price: float) -> tuple[Floats, Floats]:
        """Bound V − λS on each cell from above, for 0 ≤ λ < ∞, but for roundings.

        And bound these.

        Straight parts make a parabola: with slope g at t and bend c it rises from there by at most
        g₊(1 − t) or (−g)₊ t, and by at most g²/4c, whatever the accuracy of t. The rounding is 16
        units and one for each term of the sums, relative to the absolute terms.
        """
        t = self.tops(budget_price)
        height, size = self.height(budget_price, t)
        bend = budget_price * self.width * self.more_count
        g = self._slope(budget_price) - 2.0 * bend * t
        roundings = ROUNDING.value + TERM_ROUNDING.value * self.terms
        unsure = roundings * (
            self.more_privacy + budget_price * (self.width * self.count + self.base * self.more_count) + 2.0 * bend * t
        )
        up = np.where(t < 1, np.maximum(g + unsure, 0.0), 0.0)
        down = np.where(t > 0, np.maximum(unsure - g, 0.0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            by_bend = np.where(bend > 0, np.maximum(up, down) ** 2 / (4.0 * bend), np.inf)
        beyond = np.minimum(np.maximum(up * (1.0 - t), down * t), by_bend) * (1.0 + roundings)
        off = self.privacy_error + budget_price * (self.base + self.width) * self.count_error
        by_parabola, of_parabola = height + beyond + off, roundings * (size + off)
        paid = budget_price * self.base * self.least_count
        by_ends, of_ends = self.most_privacy - paid, roundings * (self.most_privacy + paid)
        nearer = by_ends + of_ends < by_parabola + of_parabola
        return np.where(nearer, by_ends, by_parabola), np.where(nearer, of_ends, of_parabola)

    def _slope(self, budget_price: float) -> Floats:
        """The slope of the parabola at t = 0."""
        return self.more_privacy - budget_price * (self.width * self.count + self.base * self.more_count)
