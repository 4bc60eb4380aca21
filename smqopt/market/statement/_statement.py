"""A market and its constraint records, brought to one form.

Rows, bounds, and owners who share a price.

What stands here is what the structured solver and the verifier both argue with:

    maximise  Σ m_i ε_i q_i   subject to   Σ m_i C_i(q_i) ≤ B,   A q + S C(q) ≤ r,   lowest ≤ q ≤
    highest,

with = in place of ≤ in some rows without S.

For multipliers λ, y ≥ 0 (of any sign for equations) the Lagrangian falls apart into owners: each
faces the requirement ε_i − (Aᵀy)_i/m_i at the price λ + (Sᵀy)_i/m_i, so that D(λ, y) = λB + y·r + Σ
m_i max_q {(ε_i − (Aᵀy)_i/m_i) q − (λ + (Sᵀy)_i/m_i) C_i(q)} bounds the optimum from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market._offers import Offers
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord, Row, check_records
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._utility import Linear, Shared, Utility
from smqopt.market.statement._allowed_prices import allowed_market, allowed_prices
from smqopt.market.statement._same_price import merged_market, same_price_rows
from smqopt.numeric import Floats, Indices
from smqopt.valuation import Ironed, PriceFloored, Valuation, iron


@dataclass(frozen=True, eq=False)
class Statement:
    """OP2 with side constraints over n′ rows.

    The market's own, or fewer where owners share a price.
    """

    market: Market
    """As the user gave it, n rows."""
    records: tuple[ConstraintRecord, ...]
    listed: Market
    """The market, n rows, where prices must be on lists with laws rounded up to the lists, and
    where a bound of prices cuts a flat piece with laws ironed between the bounds; the same market
    where there is neither."""
    reduced: Market
    """n′ rows, laws as in `listed`; owners who must get one price are one row."""
    row_of_owner: NDArray[np.intp] | None
    """The row of `reduced` for each row of `market`, shape (n,); None where they are the same."""
    names: tuple[str, ...]
    """The k linear rows in words."""
    record_of_row: tuple[int, ...]
    """Which record each linear row comes from."""
    acceptance: sparse.csr_array
    """A, shape (k, n′); multiplicities included."""
    spend: sparse.csr_array
    """S ≥ 0, shape (k, n′); multiplicities included."""
    at_most: Floats
    """r, shape (k,)."""
    equal: NDArray[np.bool_]
    """Which rows are equations, A q = r; their multipliers have any sign. Shape (k,)."""
    rigid: NDArray[np.bool_]
    """Which rows hold at one point of their acceptances alone, and with a multiplier that is not
    finite: bounds stand for them, and 0 ≤ 0 is left. Shape (k,)."""
    lowest: Floats
    highest: Floats
    """Bounds of acceptance, shape (n′,) each."""
    lowest_by: NDArray[np.intp]
    highest_by: NDArray[np.intp]
    """The record that set each bound, −1 where none did; shape (n′,)."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing is added to OP2."""
        return not self.records

    def weights(self) -> Floats:
        """Return how many owners each row stands for, shape (n′,)."""
        return self.reduced.weights

    def terms(self, budget_price: float, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return each row's requirement and price under multipliers.

        ε − Aᵀy/m and λ + Sᵀy/m, shape (n′,) each.
        """
        taken, price = self.charge(budget_price, multipliers)
        return self.reduced.epsilon - taken, price

    def charge(self, budget_price: float, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return what the rows take of each utility, and her price: Aᵀy/m and λ + Sᵀy/m.

        Shape (n′,) each.
        """
        m = self.weights()
        return (self.acceptance.T @ multipliers) / m, budget_price + (self.spend.T @ multipliers) / m

    def utility(self, objective: Objective) -> Utility:
        """Return the utility of the n′ rows under an objective.

        The mean of the owners' where they share a price.
        """
        each = objective.utility(self.market)
        if self.row_of_owner is None:
            return each
        share = self.market.weights / self.weights()[self.row_of_owner]
        if isinstance(each, Linear):
            mean = np.bincount(self.row_of_owner, weights=share * each.each, minlength=self.reduced.n)
            return Linear(mean.astype(np.float64))
        return Shared(each, self.row_of_owner, share, self.reduced.n)

    def usage(self, acceptance: Floats, spend: Floats) -> Floats:
        """Return A q + S b for one owner's q and b of each row of `reduced`; shape (k,)."""
        return np.asarray(self.acceptance @ acceptance + self.spend @ spend)

    def owner_rows(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return A and S over the rows of the user's market, shape (k, n) each.

        Multiplicities included.
        """
        rows = [row for record in self.records for row in record.rows(self.market)]
        entries = [row.acceptance for row in rows], [row.spend for row in rows]
        acceptance, spend = (_matrix(of_rows, None, self.market.n) for of_rows in entries)
        return acceptance, spend

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of rows of `reduced` to the market's owners, shape (n,)."""
        return values if self.row_of_owner is None else values[self.row_of_owner]

    def offers_to_owners(self, offers: Offers) -> Offers:
        """Return the offers of rows of `reduced` to the market's owners.

        A row's lottery goes to all who share it.
        """
        q, drawn = self.expand(offers.acceptance), offers.lottery
        thresholds = np.where(q > 0, self.expand(offers.thresholds), self.market.low)
        if drawn is None or self.row_of_owner is None:
            return Offers(thresholds, q, drawn)
        place = np.full(self.reduced.n, -1, dtype=np.intp)
        place[drawn.owner] = np.arange(len(drawn))
        rows = np.flatnonzero(place[self.row_of_owner] >= 0)
        return Offers(thresholds, q, drawn.take(place[self.row_of_owner[rows]], rows))

    def ceilings(self) -> Floats:
        """Return the highest price of use to each owner, in currency, shape (n,).

        Above her support where no lower one may be posted.
        """
        return np.maximum(self.market.high, self.listed.high)

    def conflict(self) -> tuple[int, ...] | None:
        """Return the records that leave some owner no acceptance at all.

        None where there is none.
        """
        bad = np.flatnonzero(self.lowest > self.highest)
        if bad.size == 0:
            return None
        row = int(bad[0])
        return tuple(sorted({int(self.lowest_by[row]), int(self.highest_by[row])} - {-1}))


def state(market: Market, records: Sequence[ConstraintRecord]) -> Statement:
    """Bring a market and constraint records to one form.

    Parameters
    ----------
    market
        n owners.
    records
        Constraint records, in the user's order.

    Raises
    ------
    InputError
        If an entry is no record, names a group that the market does not have, or demands what
        cannot be stated.
    """
    check_records(records)
    row_of_owner = same_price_rows(market, records)
    allowed = allowed_prices(market, records, row_of_owner)
    listed = allowed_market(market, allowed)
    reduced = listed if row_of_owner is None else merged_market(listed, row_of_owner, records)
    rows = [(number, row) for number, record in enumerate(records) for row in record.rows(market)]
    for _, row in rows:
        row.require_moderate()
    rigid = [row.leaves_nothing or _sells_at_any_cost(row, reduced, row_of_owner) for _, row in rows]
    vacuous = [one for one, fixed in zip(rows, rigid, strict=True) if fixed]
    rows = [(of, row.without_terms() if fixed else row) for (of, row), fixed in zip(rows, rigid, strict=True)]
    lowest, highest = np.zeros(reduced.n), np.ones(reduced.n)
    lowest_by, highest_by = np.full(reduced.n, -1, dtype=np.intp), np.full(reduced.n, -1, dtype=np.intp)
    for number, record in enumerate(records):
        of_prices = (
            _below_ceilings(record, reduced, row_of_owner, _off_lists(bounds, allowed.number))
            for bounds in record.price_bounds(market)
        )
        every = [*(_on_rows(row_of_owner, b) for b in record.acceptance_bounds(market)), *of_prices]
        every += _up_to_the_top(record, market, reduced, row_of_owner, allowed.number)
        every += (bound for of, row in vacuous if of == number for bound in _left_by(row, reduced, row_of_owner))
        for owners, least, most in every:
            raised, lowered = owners[least > lowest[owners]], owners[most < highest[owners]]
            lowest_by[raised], highest_by[lowered] = number, number
            np.maximum.at(lowest, owners, least)
            np.minimum.at(highest, owners, most)
    return Statement(
        market=market,
        records=tuple(records),
        listed=listed,
        reduced=reduced,
        row_of_owner=row_of_owner,
        names=tuple(row.name for _, row in rows),
        record_of_row=tuple(number for number, _ in rows),
        acceptance=_matrix([row.acceptance for _, row in rows], row_of_owner, reduced.n),
        spend=_matrix([row.spend for _, row in rows], row_of_owner, reduced.n),
        at_most=np.array([row.at_most for _, row in rows], dtype=np.float64),
        equal=np.array([row.equal for _, row in rows], dtype=np.bool_),
        rigid=np.array(rigid, dtype=np.bool_),
        lowest=lowest,
        highest=highest,
        lowest_by=lowest_by,
        highest_by=highest_by,
    )


def _matrix(
    entries: Sequence[tuple[NDArray[np.intp], Floats]], row_of_owner: NDArray[np.intp] | None, n: int
) -> sparse.csr_array:
    columns = [owners if row_of_owner is None else row_of_owner[owners] for owners, _ in entries]
    starts = np.concatenate([[0], np.cumsum([owners.size for owners in columns])]).astype(np.intp)
    values = np.concatenate([np.empty(0), *(coefficients for _, coefficients in entries)])
    places = np.concatenate([np.empty(0, dtype=np.intp), *columns])
    matrix = sparse.csr_array((values, places, starts), shape=(len(entries), n))
    matrix.sum_duplicates()
    return matrix


def _on_rows(row_of_owner: NDArray[np.intp] | None, bounds: Bounds) -> tuple[NDArray[np.intp], Floats, Floats]:
    owners = bounds.owners if row_of_owner is None else row_of_owner[bounds.owners]
    return owners, np.full(owners.size, bounds.least), np.full(owners.size, bounds.most)


def _sells_at_any_cost(row: Row, reduced: Market, row_of_owner: NDArray[np.intp] | None) -> bool:
    """Return whether somebody must sell for sure whose J(θ̄) = ∞."""
    surely = row.sells_surely
    if surely is None:
        return False
    named = surely if row_of_owner is None else np.unique(row_of_owner[surely])
    return bool(np.any(np.isinf(reduced.valuation.take(named).virtual_cost(reduced.high[named]))))


def _left_by(
    row: Row, reduced: Market, row_of_owner: NDArray[np.intp] | None
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Return the bounds of acceptance that a rigid row comes to.

    Of spend it leaves what sells for nothing.
    """
    surely = row.sells_surely
    if surely is not None:
        named = surely if row_of_owner is None else np.unique(row_of_owner[surely])
        yield named, np.ones(named.size), np.ones(named.size)
        others = np.setdiff1d(row.owners, surely)
        named = others if row_of_owner is None else np.unique(row_of_owner[others])
        yield named, np.zeros(named.size), np.zeros(named.size)
        return
    for (owners, values), free in ((row.acceptance, False), (row.spend, True)):
        named = owners[values != 0]
        named = named if row_of_owner is None else np.unique(row_of_owner[named])
        most = np.zeros(named.size)
        if free:
            low = reduced.low[named]
            most = np.where(low == 0, reduced.valuation.take(named).cdf(low), 0.0)
        yield named, np.zeros(named.size), most


def _off_lists(bounds: Bounds, number: Indices) -> Bounds:
    """Leave out owners whose bounds have shortened their list."""
    kept = np.flatnonzero(number[bounds.owners] < 0)
    least, most = (np.broadcast_to(np.asarray(end), bounds.owners.shape)[kept] for end in (bounds.least, bounds.most))
    return Bounds(bounds.name, bounds.owners[kept], least, most)


def _below_ceilings(
    record: ConstraintRecord, reduced: Market, row_of_owner: NDArray[np.intp] | None, bounds: Bounds
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Turn ceilings of prices into bounds of acceptance: q ≤ F(ceiling).

    A floor bounds none, for no offer is allowed.

    Raises
    ------
    InputError
        If a bound lies inside a flat piece of an ironed cost curve, of a law that is no histogram
        and has no atoms: the hull would be met there by lotteries with a price beyond it. If a
        floor lies in a gap of a support.
    """
    owners, floor, ceiling = _on_rows(row_of_owner, bounds)
    law, low, high = reduced.valuation.take(owners), reduced.low[owners], reduced.high[owners]
    least, most = (np.where(at >= low, law.cdf(np.clip(at, low, high)), 0.0) for at in (floor, ceiling))
    _require_no_gap(record, law, floor, least)
    for part, index in law.parts():
        answer = iron(part.law if isinstance(part, PriceFloored) else part)
        if not isinstance(answer, Ironed):
            continue
        rows = np.arange(owners.size)[index]
        for bound in (np.where(floor > low, least, 0.0), most):
            inside = answer.around(bound[rows])
            if len(inside):
                between = f"{float(inside.low[0])!r} and {float(inside.high[0])!r}"
                raise InputError(
                    f"constraint {record.words!r}",
                    f"cuts a flat piece of the ironed cost curve of law {part.name!r}, where lotteries between two prices are cheapest",
                    value=f"prices {between}",
                    remedy="move the bound to one of the two, bound acceptance instead (AcceptanceRange), or list the prices (PriceMenu)",
                )
    return owners, np.zeros(owners.size), most


def _require_no_gap(record: ConstraintRecord, law: Valuation, floor: Floats, least: Floats) -> None:
    """Refuse a floor in a gap of a support.

    Acceptance does not tell it from the lower end of the gap, where the price is less.

    Raises
    ------
    InputError
        If there is one.
    """
    inside = np.flatnonzero((least > 0) & (floor < law.high))
    own = law.take(inside)
    gap = inside[(own.pdf(floor[inside]) == 0) & (own.ppf(least[inside]) < floor[inside])]
    if gap.size:
        raise InputError(
            f"constraint {record.words!r}",
            "has a floor in a gap of a support, where a higher price is not accepted more often",
            value=float(floor[gap[0]]),
            remedy="move it to an end of the gap, or list the prices (PriceMenu)",
        )


def _up_to_the_top(
    record: ConstraintRecord, market: Market, reduced: Market, row_of_owner: NDArray[np.intp] | None, number: Indices
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Return the acceptance that the tops of price lists reach.

    The list of a floor above a support too.
    """
    listed = record.price_list(market)
    named = [bounds.owners for bounds in record.price_bounds(market)] + ([] if listed is None else [listed[0]])
    owners = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *named]))
    owners = owners[number[owners] >= 0]
    if owners.size:
        owners = owners if row_of_owner is None else np.unique(row_of_owner[owners])
        most = reduced.valuation.take(owners).cdf(reduced.high[owners])
        yield owners, np.zeros(owners.size), np.asarray(most, dtype=np.float64)
