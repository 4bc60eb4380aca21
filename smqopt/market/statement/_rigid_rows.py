"""Rows that hold at one point alone, and what they leave of the offers.

The least that such a row can come to is its limit, so that it fixes all whom it names; that may
leave other rows no room either. Its multiplier would be infinite, or hang on a solver's tolerance:
bounds stand for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Row
from smqopt.market.pooling._blocks import Blocks
from smqopt.market.statement._allowed_prices import AllowedPrices
from smqopt.numeric import Floats, Indices, Mask

_STEEP = 2.0**16
"""J(θ̄) above so many times θ̄ asks for multipliers that leave bounds few digits."""
_FAR = 2.0**-20
"""Sums that differ by more, relative to their terms, need not be added exactly."""


@dataclass(frozen=True, eq=False)
class Fixed:
    """What rigid rows leave; of the n′ rows of a statement but for `rigid`."""

    rigid: Mask
    """Which of the k linear rows are; shape (k,)."""
    unsold: Mask
    """Who never sells; shape (n′,)."""
    unpaid: Mask
    """Who is paid nothing."""
    surely: Mask
    """Who sells for sure."""
    by: Indices
    """The record that left her nothing else; −1 where none did, or bounds of her own."""
    top: Floats
    """The highest price that is left; +∞ where there is none."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Where prices of rows end; shape (n′,) each."""

    market: Market
    of_row: Indices
    """The first owner of each."""
    top: Floats
    """The highest price that may be posted; +∞ where there is none, −∞ where none may."""
    dear: Mask
    """Who may not be offered a price of 0."""

    @cached_property
    def low(self) -> Floats:
        """Where the supports begin."""
        return self.market.low[self.of_row]

    @cached_property
    def at_low(self) -> Floats:
        """F there, worked out where it is asked for."""
        return np.asarray(self.market.valuation.take(self.of_row).cdf(self.low))


def reach_of(market: Market, allowed: AllowedPrices, of_row: Indices) -> Reach:
    """Return where the prices of rows end; `of_row` is the first owner of each."""
    top, dear = allowed.ceiling[of_row].copy(), allowed.floor[of_row] > 0
    ends = [(prices[0], prices[-1]) if prices.size else (np.inf, -np.inf) for prices in allowed.lists]
    listed = np.flatnonzero(allowed.number[of_row] >= 0)
    first, last = np.array(ends).reshape(-1, 2)[allowed.number[of_row][listed]].T
    top[listed], dear[listed] = np.minimum(top[listed], last), first > 0
    return Reach(market, of_row, top, dear)


def find_rigid(
    reduced: Market,
    blocks: Blocks | None,
    row_of_owner: Indices | None,
    reach: Reach,
    known: tuple[Mask, Mask, Mask],
    rows: Sequence[tuple[int, Row]],
) -> Fixed:
    """Search for rigid rows and what they leave, until none is new.

    Parameters
    ----------
    reduced
        n′ rows.
    blocks
        Which of them share a posted price.
    row_of_owner
        The row of each owner; None where they are the same.
    reach
        Where their prices end.
    known
        Who never sells by bounds of her own; who may not be paid; who sells for sure.
    rows
        With their records' numbers.
    """
    return _Cascade(reduced, blocks, row_of_owner, reach, known).run(rows)


class _Cascade:
    """Offers that are fixed so far."""

    def __init__(
        self,
        reduced: Market,
        blocks: Blocks | None,
        row_of_owner: Indices | None,
        reach: Reach,
        known: tuple[Mask, Mask, Mask],
    ) -> None:
        self._reduced, self._row_of_owner, self._reach, self._top = reduced, row_of_owner, reach, reach.top.copy()
        self._block = np.full(reduced.n, -1, dtype=np.intp) if blocks is None else blocks.of_row
        self._unsold, self._unpaid, self._surely = known[0].copy(), known[1].copy(), known[2].copy()
        self._by = np.full(reduced.n, -1, dtype=np.intp)
        self._close(-1)

    def run(self, rows: Sequence[tuple[int, Row]]) -> Fixed:
        """Return what all rigid rows leave; `rows` come with their records' numbers."""
        rigid = np.zeros(len(rows), dtype=np.bool_)
        found = True
        while found:
            found = False
            for k in np.flatnonzero(~rigid).tolist():
                number, row = rows[k]
                left = self._left_by(row)
                if left is not None:
                    rigid[k] = found = True
                    for mask, named in zip((self._unsold, self._unpaid, self._surely), left, strict=True):
                        self._by[named[~mask[named]]] = number
                        mask[named] = True
                    self._close(number)
        return Fixed(rigid, self._unsold, self._unpaid, self._surely, self._by, self._top)

    def _left_by(self, row: Row) -> tuple[Indices, Indices, Indices] | None:
        """Return who never sells, is paid nothing, sells for sure by a rigid row.

        Over rows n′. Coefficients that are rounded quotients cancel only where none is left.
        """
        (at, a), (paid, s) = (self._on(row, *entries) for entries in (row.acceptance, row.spend))
        named = (a != 0) & ~self._unsold[at]
        sold, chosen = named & self._surely[at], named & ~self._surely[at]
        kept = (s != 0) & ~self._unsold[paid] & ~self._unpaid[paid]
        if np.any(s[kept] > 0) and np.any(a[chosen] < 0):
            a = np.where(self._pays_more(at, a, paid[kept], s[kept]), 1.0, a)
        if not chosen.any() and not kept.any():
            return None
        for sign in (1.0, -1.0) if row.equal else (1.0,):
            of_chosen, of_kept = sign * a[chosen], sign * s[kept]
            below = of_chosen < 0
            least = np.concatenate([of_chosen[below], sign * a[sold]])
            if np.any(of_kept < 0) or (row.rounded and least.size):
                continue
            far = abs(float(np.sum(least)) - sign * row.at_most) > _FAR * float(np.sum(np.abs(least)))
            if not far and math.fsum([*least.tolist(), -sign * row.at_most]) == 0:  # to the last bit
                sure = at[chosen][below]
                if not sure.size or self._costs_without_end(sure):
                    return at[chosen][~below], paid[kept], sure
        return None

    def _pays_more(self, at: Indices, a: Floats, paid: Indices, s: Floats) -> Mask:
        """Say whose acceptance costs the row more, wherever she sells, than it brings."""
        n, low = self._reduced.n, self._reach.low[at]
        pays, brings = (
            np.bincount(*each, minlength=n)[at] for each in ((paid, np.maximum(s, 0.0)), (at, -np.minimum(a, 0.0)))
        )
        once = (np.bincount(at, minlength=n)[at] == 1) & (np.bincount(paid, minlength=n)[at] == 1)
        near = np.flatnonzero(once & (a < 0) & (np.abs(pays * low - brings) <= _FAR * brings))
        terms = np.array([pays, low, brings])[:, near].T.tolist()
        as_much = near[[Fraction(each) * Fraction(price) >= other for each, price, other in terms]]
        more = (a < 0) & (pays * low * (1.0 - _FAR) > brings)
        if as_much.size:
            more[as_much] |= self._reach.at_low[at[as_much]] == 0
        return more

    def _on(self, row: Row, owners: Indices, values: Floats) -> tuple[Indices, Floats]:
        """Return rows n′ and coefficients.

        Of owners who share a price sums that are exact in sign, where signs differ.
        """
        if self._row_of_owner is None:
            return owners, values
        at = self._row_of_owner[owners]
        if row.rounded or not (np.any(values < 0) and np.any(values > 0)):
            return at, values
        order = np.argsort(at, kind="stable")
        named, start = np.unique(at[order], return_index=True)
        sums = [math.fsum(part.tolist()) for part in np.split(values[order], start[1:])]
        return named, np.array(sums)

    def _costs_without_end(self, rows: Indices) -> bool:
        """Return whether J(θ̄) of one of them is infinite, or far above θ̄."""
        reduced = self._reduced
        high = reduced.high[rows]
        return bool(np.any(reduced.valuation.take(rows).virtual_cost(high) > _STEEP * high))

    def _close(self, number: int) -> None:
        """Follow what is fixed into prices, and to who shares them."""
        low, before, top = self._reach.low, -1, self._top
        if not (self._unsold.any() or self._unpaid.any() or np.any(self._top <= low)):
            return
        while True:
            now = int(np.count_nonzero(self._unsold) + np.count_nonzero(self._unpaid))
            if now == before and np.array_equal(self._top, top):
                return
            before, top = now, self._top.copy()
            at_low = self._reach.at_low
            never = (self._top < low) | ((self._top == low) & (at_low == 0))
            gives = (low == 0) & (at_low > 0) & ~self._reach.dear  # at a price of 0
            never |= self._unpaid & ~gives
            self._top[self._unpaid & gives] = np.minimum(self._top, 0.0)[self._unpaid & gives]
            nothing = (self._top <= 0) & ~self._unsold
            self._by[((never & ~self._unsold) | (nothing & ~self._unpaid)) & (self._by < 0)] = number
            self._unsold, self._unpaid = self._unsold | never, self._unpaid | nothing
            shared = np.flatnonzero(self._block >= 0)
            if shared.size:
                below = np.where(at_low > 0, np.nextafter(low, -np.inf), low)
                own = np.where(self._unsold, np.minimum(self._top, below), self._top)
                least = np.full(int(self._block.max()) + 1, np.inf)
                np.minimum.at(least, self._block[shared], own[shared])
                self._top[shared] = least[self._block[shared]]
