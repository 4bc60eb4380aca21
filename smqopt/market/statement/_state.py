"""From a market and its constraint records to the statement."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord, Row, check_records
from smqopt.market.pooling._blocks import Blocks
from smqopt.market.pooling._terms import terms_of
from smqopt.market.statement._allowed_prices import AllowedPrices, allowed_market, allowed_prices, without_hull
from smqopt.market.statement._coefficients import coefficient_matrix
from smqopt.market.statement._rigid_rows import Fixed, find_rigid, reach_of
from smqopt.market.statement._same_price import law_numbers, one_row_a_group, same_price_rows
from smqopt.market.statement._statement import Statement
from smqopt.market.statement._tied_prices import within_ties
from smqopt.numeric import Floats, Indices, Mask


def state(
    market: Market,
    records: Sequence[ConstraintRecord],
    *,
    for_nothing: bool = False,
    known: tuple[Mask, Mask] | None = None,
    ties: bool = True,
) -> Statement:
    """Bring a market and constraint records to one form.

    Parameters
    ----------
    market
        n owners.
    records
        Constraint records, in the user's order.
    for_nothing
        Whether nobody may be paid anything, as at a budget of 0.
    known
        Which owners may not, and which sell for sure; shape (n,).
    ties
        Whether prices are left out at which rows, at the limits they have, let nobody sell.

    Raises
    ------
    InputError
        If an entry is no record, names a group that the market does not have, or demands what
        cannot be stated.
    """
    check_records(records)
    shared = same_price_rows(market, records)
    allowed = allowed_prices(market, records, shared)
    in_blocks = np.zeros(market.n, dtype=np.bool_) if shared is None else _differing(market, shared)
    in_blocks |= without_hull(market, allowed)
    in_blocks[_who_is_paid_more(market, records, allowed)] = True
    for record in records:
        in_blocks[record.drawn_prices()] = True
    if shared is not None:
        in_blocks = (np.bincount(shared, weights=in_blocks) > 0)[shared]
    listed, row_of_owner = allowed_market(market, allowed, in_blocks), shared
    if shared is not None and in_blocks.any():
        laws = np.where(in_blocks, law_numbers(market.valuation, market.n), 0)
        row_of_owner = _in_order(np.unique(np.column_stack([shared, laws]), axis=0, return_inverse=True)[1].ravel())
    reduced = listed if row_of_owner is None else one_row_a_group(listed, row_of_owner)
    of_row = np.arange(market.n) if row_of_owner is None else np.unique(row_of_owner, return_index=True)[1]
    blocks = _blocks(reduced, allowed, of_row, in_blocks, shared)
    rows = [(number, row) for number, record in enumerate(records) for row in record.rows(market)]
    for _, row in rows:
        row.require_moderate()
    ends = _Ends.none(reduced.n)
    for number, record in enumerate(records):
        of_prices = (
            _below_ceilings(reduced, row_of_owner, _off_lists(bounds, allowed.number, in_blocks))
            for bounds in record.price_bounds(market)
        )
        own = [_on_rows(row_of_owner, bounds) for bounds in record.acceptance_bounds(market)]
        of_lists = _up_to_the_top(record, market, reduced, row_of_owner, np.where(in_blocks, -1, allowed.number))
        for bounds in own:
            ends.bar(bounds)
        for bounds in (*own, *of_prices, *of_lists):
            ends.tighten(bounds, number)
    lowest, highest, lowest_by, highest_by = ends.lowest, ends.highest, ends.lowest_by, ends.highest_by
    unpaid, surely = (_of_rows(each, row_of_owner, reduced.n) for each in known or (None, None))
    of_owners = (ends.barred, unpaid | for_nothing, surely | (lowest >= 1))
    fixed = find_rigid(reduced, blocks, row_of_owner, reach_of(market, allowed, of_row), of_owners, rows)
    rows = [(of, row.without_terms() if gone else row) for (of, row), gone in zip(rows, fixed.rigid, strict=True)]
    ends.fix(fixed, reduced, blocks)
    acceptance, spend = (
        coefficient_matrix([getattr(row, of) for _, row in rows], row_of_owner, reduced.n)
        @ sparse.diags_array((~without).astype(np.float64))
        for of, without in (("acceptance", fixed.unsold), ("spend", fixed.unsold | fixed.unpaid))
    )
    at_most = np.array([row.at_most for _, row in rows], dtype=np.float64)
    of_bounds = _Bounds.none(reduced.n)
    if blocks is not None:
        ceiling = blocks.ceiling.copy()
        np.minimum.at(ceiling, blocks.of_row[blocks.rows], fixed.top[blocks.rows])
        blocks = dataclasses.replace(blocks, ceiling=ceiling)
    if blocks is not None and lowest.max() <= 1 and not np.any(lowest > highest):
        of_bounds = _bounds_as_rows(blocks, (lowest, highest), (lowest_by, highest_by))
        blocks = _within_bounds(blocks, reduced, lowest, highest)
        lowest[blocks.rows], highest[blocks.rows] = 0.0, blocks.highest_acceptance()
    acceptance = sparse.csr_array(sparse.vstack([acceptance, of_bounds.matrix]))
    spend = sparse.csr_array(sparse.vstack([spend, sparse.csr_array(of_bounds.matrix.shape)]))
    at_most = np.append(at_most, of_bounds.at_most)
    equal = np.append(np.array([row.equal for _, row in rows], dtype=np.bool_), of_bounds.equal)
    if blocks is not None and ties:
        quotients = np.flatnonzero([row.rounded for _, row in rows])
        blocks = within_ties(blocks, reduced, (acceptance, spend), equal, at_most, quotients)
    names = [row.name for _, row in rows] + [records[k].words for k in of_bounds.record.tolist()]
    return Statement(
        market=market,
        records=tuple(records),
        listed=listed,
        reduced=reduced,
        row_of_owner=row_of_owner,
        names=tuple(names),
        record_of_row=(*(number for number, _ in rows), *of_bounds.record.tolist()),
        acceptance=acceptance,
        spend=spend,
        at_most=at_most,
        equal=equal,
        blocks=blocks,
        rigid=np.append(fixed.rigid, np.zeros_like(of_bounds.equal)),
        fixed=fixed,
        lowest=lowest,
        highest=highest,
        lowest_by=lowest_by,
        highest_by=highest_by,
    )


@dataclass(frozen=True, eq=False)
class _Ends:
    """Bounds of acceptance, and which record set each; shape (n′,) each."""

    lowest: Floats
    highest: Floats
    lowest_by: Indices
    highest_by: Indices
    barred: Mask
    """Whose acceptance is bounded by 0 itself."""

    @classmethod
    def none(cls, n: int) -> _Ends:
        by = np.full(n, -1, dtype=np.intp)
        return cls(np.zeros(n), np.ones(n), by, by.copy(), np.zeros(n, dtype=np.bool_))

    def bar(self, bounds: tuple[Indices, Floats, Floats]) -> None:
        self.barred[bounds[0][bounds[2] <= 0]] = True

    def tighten(self, bounds: tuple[Indices, Floats, Floats], number: int) -> None:
        owners, least, most = bounds
        raised, lowered = owners[least > self.lowest[owners]], owners[most < self.highest[owners]]
        self.lowest_by[raised], self.highest_by[lowered] = number, number
        np.maximum.at(self.lowest, owners, least)
        np.minimum.at(self.highest, owners, most)

    def fix(self, fixed: Fixed, reduced: Market, blocks: Blocks | None) -> None:
        """Take in what rigid rows leave.

        Whoever is paid nothing sells what she sells for nothing; prices of 0 bound that in blocks.
        """
        alone = fixed.unpaid if blocks is None else fixed.unpaid & (blocks.of_row < 0)
        most = np.where(fixed.unsold, 0.0, 1.0)
        free = np.where(reduced.low == 0, reduced.valuation.cdf(reduced.low), 0.0)
        most[alone] = np.minimum(most, free)[alone]
        surely, less = fixed.surely & (self.lowest < 1), most < self.highest
        self.lowest_by[surely], self.highest_by[less] = fixed.by[surely], fixed.by[less]
        self.lowest[surely], self.highest[less] = 1.0, most[less]


def without_money(statement: Statement) -> Statement:
    """Return the statement for a budget of 0: nobody is paid anything."""
    if statement.fixed.unpaid.all():
        return statement
    return state(statement.market, statement.records, for_nothing=True)


def _of_rows(owners: Mask | None, row_of_owner: Indices | None, n: int) -> Mask:
    """Say in which rows some owner is; shape (n′,)."""
    found = np.zeros(n, dtype=np.bool_)
    if owners is not None:
        found[np.flatnonzero(owners) if row_of_owner is None else row_of_owner[owners]] = True
    return found


def asks_without_end(market: Market, records: Sequence[ConstraintRecord]) -> bool:
    """Say whether rows may ask for more spend of an owner without a highest price."""
    allowed = allowed_prices(market, records, same_price_rows(market, records))
    return any(_open_ended(row, allowed).size for record in records for row in record.rows(market))


def _open_ended(row: Row, allowed: AllowedPrices) -> Indices:
    owners = row.raised
    return np.asarray(owners[(allowed.number[owners] < 0) & (allowed.ceiling[owners] == np.inf)])


def _who_is_paid_more(market: Market, records: Sequence[ConstraintRecord], allowed: AllowedPrices) -> Indices:
    """Return owners to whom rows may ask for a higher price to be posted.

    Raises
    ------
    InputError
        If one of them has no highest price.
    """
    found = [np.zeros(0, dtype=np.intp)]
    for record in records:
        for row in record.rows(market):
            open_ended = _open_ended(row, allowed)
            if open_ended.size:
                raise InputError(
                    f"constraint {row.name!r}",
                    "asks for more spend, which a higher posted price gives: the highest one must be stated",
                    value=f"owner {market.owner_ids[open_ended[0]]} has none",
                    remedy="add smq.PriceRange(at_most=...), or a PriceMenu",
                )
            found.append(row.raised)
    return np.unique(np.concatenate(found))


def _differing(market: Market, shared: Indices) -> Mask:
    """Say who shares a price with owners of another law; shape (n,)."""
    law = law_numbers(market.valuation, market.n)
    first = np.unique(shared, return_index=True)[1]
    return np.asarray((np.bincount(shared, weights=law != law[first][shared]) > 0)[shared])


def _in_order(number: Indices) -> Indices:
    """Number what is numbered alike anew, in order of appearance."""
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    place = np.empty(first.size, dtype=np.intp)
    place[np.argsort(first)] = np.arange(first.size)
    return place[inverse.ravel()]


def _blocks(
    reduced: Market, allowed: AllowedPrices, of_row: Indices, in_blocks: Mask, shared: Indices | None
) -> Blocks | None:
    """Return the blocks; `of_row` is the first owner of each row."""
    rows = np.flatnonzero(in_blocks[of_row])
    if not rows.size:
        return None
    owner = of_row[rows]
    group = _in_order(owner if shared is None else shared[owner])
    block = np.full(reduced.n, -1, dtype=np.intp)
    block[rows] = group
    order = np.argsort(group, kind="stable")
    first = owner[order][np.searchsorted(group[order], np.arange(int(group.max()) + 1))]
    return Blocks(
        block,
        terms_of(reduced.valuation, rows[order], np.searchsorted(group[order], np.arange(first.size + 1))),
        allowed.floor[first],
        allowed.ceiling[first],
        tuple(allowed.lists[k] if k >= 0 else None for k in allowed.number[first].tolist()),
    )


@dataclass(frozen=True)
class _Bounds:
    """Bounds of acceptance as rows, with the record of each."""

    matrix: sparse.csr_array
    at_most: Floats
    equal: Mask
    record: Indices

    @classmethod
    def none(cls, n: int) -> _Bounds:
        return cls(sparse.csr_array((0, n)), np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.intp))


def _bounds_as_rows(blocks: Blocks, ends: tuple[Floats, Floats], by: tuple[Indices, Indices]) -> _Bounds:
    """Return q ≤ highest and −q ≤ −lowest for rows in blocks.

    They are one equation where one record says both. Of two inequalities for it
    the multipliers have no end.
    """
    of_row, n = blocks.rows, blocks.of_row.size
    (least, most), (by_least, by_most) = ([each[of_row] for each in pair] for pair in (ends, by))
    same = (least == most) & (by_least == by_most) & (least > 0) & (least < 1)
    floor, ceiling = (least > 0) & ~same, (most > 0) & (most < 1) & ~same
    rows = np.concatenate([of_row[each] for each in (floor, ceiling, same)])
    sign = np.repeat([-1.0, 1.0, 1.0], [np.count_nonzero(each) for each in (floor, ceiling, same)])
    matrix = sparse.csr_array((sign, (np.arange(rows.size), rows)), shape=(rows.size, n))
    limits = sign * np.concatenate([least[floor], most[ceiling], most[same]])
    records = np.concatenate([by_least[floor], by_most[ceiling], by_most[same]])
    return _Bounds(matrix, limits, np.repeat([False, True], [rows.size - same.sum(), same.sum()]), records)


def _within_bounds(blocks: Blocks, reduced: Market, lowest: Floats, highest: Floats) -> Blocks:
    """Take prices out that acceptances of 0 and 1 leave no room for."""
    floor, ceiling = blocks.floor.copy(), blocks.ceiling.copy()
    nothing = blocks.rows[highest[blocks.rows] <= 0]
    low = reduced.low[nothing]
    if nothing.size:  # at the low end itself nobody sells but where F jumps there
        atoms = reduced.valuation.take(nothing).cdf(low) > 0
        np.minimum.at(ceiling, blocks.of_row[nothing], np.where(atoms, np.nextafter(low, -np.inf), low))
    for row in blocks.rows[lowest[blocks.rows] >= 1].tolist():
        floor[blocks.of_row[row]] = max(floor[blocks.of_row[row]], float(reduced.high[row]))
    return dataclasses.replace(blocks, floor=floor, ceiling=ceiling)


def _on_rows(row_of_owner: NDArray[np.intp] | None, bounds: Bounds) -> tuple[NDArray[np.intp], Floats, Floats]:
    owners = bounds.owners if row_of_owner is None else row_of_owner[bounds.owners]
    return owners, np.full(owners.size, bounds.least), np.full(owners.size, bounds.most)


def _off_lists(bounds: Bounds, number: Indices, in_blocks: Mask) -> Bounds:
    """Leave out owners whose bounds have shortened their list, or are in blocks."""
    kept = np.flatnonzero((number[bounds.owners] < 0) & ~in_blocks[bounds.owners])
    least, most = (np.broadcast_to(np.asarray(end), bounds.owners.shape)[kept] for end in (bounds.least, bounds.most))
    return Bounds(bounds.name, bounds.owners[kept], least, most)


def _below_ceilings(
    reduced: Market, row_of_owner: NDArray[np.intp] | None, bounds: Bounds
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Turn ceilings of prices into bounds of acceptance: q ≤ F(ceiling).

    A floor bounds none, for no offer is allowed.
    """
    owners, _, ceiling = _on_rows(row_of_owner, bounds)
    law, low, high = reduced.valuation.take(owners), reduced.low[owners], reduced.high[owners]
    most = np.where(ceiling >= low, law.cdf(np.clip(ceiling, low, high)), 0.0)
    return owners, np.zeros(owners.size), most


def _up_to_the_top(
    record: ConstraintRecord, market: Market, reduced: Market, row_of_owner: NDArray[np.intp] | None, number: Indices
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Return the acceptance that the tops of price lists reach.

    The list of a floor above a support too.
    """
    listed = record.price_list(market)
    named = [bounds.owners for bounds in record.price_bounds(market)] + ([] if listed is None else [listed[0]])
    bounded = np.zeros(market.n, dtype=np.bool_)
    bounded[np.concatenate([np.empty(0, dtype=np.intp), *named])] = True
    owners = np.flatnonzero(bounded & (number >= 0))
    if owners.size:
        owners = owners if row_of_owner is None else np.unique(row_of_owner[owners])
        most = reduced.valuation.take(owners).cdf(reduced.high[owners])
        yield owners, np.zeros(owners.size), np.asarray(most, dtype=np.float64)
