"""Indices of different laws who must get one price.

Each group acts as one pooled owner.

Her curve, spend against privacy bought as the common price rises, need not be convex, and is
ironed: on a flat piece of its hull the whole group draws between two common prices. Weak duality
needs no hull: for every λ ≥ 0

    D(λ) = λB + Σ_alike m max_q {ε q − λC̄(q)} + Σ_pooled max_p {V(p) − λS(p)}

bounds what any common prices, drawn or not, buy within the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._common_price import CommonPrice
from smqopt.market.constraints._constraint_record import ConstraintRecord, check_records
from smqopt.market.constraints._price_menu import PriceMenu
from smqopt.market.pooling._curves import PooledCurves, curves_of
from smqopt.market.statement._allowed_prices import allowed_prices
from smqopt.market.statement._same_price import has_law_of, one_row_a_group, same_price_rows
from smqopt.numeric import Floats, Indices


@dataclass(frozen=True, eq=False)
class Pooled:
    """A market whose owners share prices, some with others of another law."""

    market: Market
    records: tuple[ConstraintRecord, ...]
    row_of_owner: Indices
    """The group of each owner, shape (n,); R groups in order of appearance."""
    pooled: Indices
    """The groups that are pooled, shape (G,)."""
    curves: PooledCurves
    """Theirs."""
    alike: Indices
    """The other groups: of one law, and without a price list."""
    alike_market: Market | None
    """One row for each of them; None where there are none."""

    @property
    def groups(self) -> int:
        """R, how many prices there are to find."""
        return self.pooled.size + self.alike.size

    def ceilings(self) -> Floats:
        """Return the highest price that each owner may get, in currency, shape (n,).

        That of her group, where it exceeds her support.
        """
        highest = np.full(self.groups, -np.inf)
        highest[self.pooled] = self.curves.highest()
        return np.asarray(np.maximum(self.market.high, highest[self.row_of_owner]))

    def words_of_ironing(self) -> str:
        """Say what was ironed."""
        return (
            f"{self.pooled.size} groups of owners with different laws, each as one pooled owner whose curve was ironed"
        )


def pool(market: Market, records: Sequence[ConstraintRecord]) -> Pooled | None:
    """Return the pooled groups; None where no owners of different laws share a price.

    Raises
    ------
    InputError
        If they do, and there are records beside common prices and price lists, or their price lists
        differ, or a group is too large.
    """
    check_records(records)
    row_of_owner = same_price_rows(market, records)
    if row_of_owner is None:
        return None
    first = np.unique(row_of_owner, return_index=True)[1].astype(np.intp)
    alike = has_law_of(market.valuation, first[row_of_owner], market.n)
    if alike.all():
        return None
    common = next(record for record in records if isinstance(record, CommonPrice))
    where = f"constraint {common.words!r}"
    for record in records:
        if not isinstance(record, CommonPrice | PriceMenu):
            raise InputError(
                where,
                "pools owners of different laws, and then goes with other common prices and price lists alone",
                value=record.words,
                remedy="drop the other constraint, split the group, or give its owners one law, say a Mixture",
            )
    allowed = allowed_prices(market, records)
    number, lists = allowed.number, allowed.lists
    strange = np.flatnonzero(number != number[first][row_of_owner])
    if strange.size:
        raise InputError(
            where,
            "needs one price list for all owners who share a price",
            value=f"owner {market.owner_ids[int(strange[0])]!r} on another list than her group",
            remedy="give PriceMenu for the whole group",
        )
    differs = np.bincount(row_of_owner, weights=~alike, minlength=first.size) > 0
    own = differs | (number[first] >= 0)
    pooled, rest = np.flatnonzero(own), np.flatnonzero(~own)
    order = np.argsort(row_of_owner, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(row_of_owner))[:-1])
    groups = [members[row] for row in pooled.tolist()]
    on_list = [lists[k] if k >= 0 else None for k in number[first][pooled].tolist()]
    return Pooled(
        market=market,
        records=tuple(records),
        row_of_owner=row_of_owner,
        pooled=pooled,
        curves=curves_of(market, groups, on_list, common.words),
        alike=rest,
        alike_market=one_row_a_group(market, row_of_owner, rest) if rest.size else None,
    )
