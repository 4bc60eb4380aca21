"""The sums of OP2 itself, all owners at once, between doubles.

A line of slope s that touches an owner's cost curve C at θ bounds her Lagrangian by F(ε − λθ) + max
{(ε − λs)(1 − F), (λs − ε)F}: what an offer of θ is worth, and a rest, which is small where λs is
close to ε. Where it is not small enough, two lines that touch C on either side of θ, one rising and
one falling, cut it off. The worth of all offers is what they buy less λ times what they spend, so
that no more than these two sums need care; rests are positive and are added as they come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from smqopt.market import Lottery, Market, Row, Solution, Statement
from smqopt.numeric import Ball, Floats, Indices, Mask, exact_sum, precision, rounded_up
from smqopt.valuation import Index
from smqopt.verification.checks._seen import Seen
from smqopt.verification.checks._weak_duality import offers_at_price
from smqopt.verification.enclosures._line_protocol import UNDERFLOW, UNIT, Lines, SupportLines
from smqopt.verification.enclosures._support_lines import support_lines
from smqopt.verification.enclosures._tops_in_doubles import OpenLists, rests_of_lists, tops_in_doubles
from smqopt.verification.proof._constraint_rows import kept_row
from smqopt.verification.proof._owner_groups import Regularity, unproved_laws
from smqopt.verification.proof._rows_in_doubles import LEAST, UP, Between, Charged, Total, left_side
from smqopt.verification.proof._totals import Sums

BITS = 128
"""Precision at which the sums of blocks are put together."""
BLOCK = 1 << 13
"""Owners handled at a time: what is worked out for them stays in the cache."""
MANY = 1 << 12
"""From so many owners of a law on, a table of it is made."""
SMALL = 2.0**-40
"""A rest is left as it is if it is less than this share of what the offer buys; and so are those of
a block of owners together."""
DOUBLINGS = 44
"""Two lines touch at most so many doublings of a spacing away."""


@dataclass(frozen=True, eq=False)
class LinedPart:
    """The owners of one law, with lines below its cost curve."""

    lines: SupportLines
    owners: Index
    size: int
    regularity: Regularity

    def blocks(self) -> list[slice]:
        """Return the owners of the law that are handled at a time."""
        return [slice(start, min(start + BLOCK, self.size)) for start in range(0, self.size, BLOCK)]

    def rows(self, block: slice) -> Index:
        """Return the rows of the market of some owners of the law."""
        return block if isinstance(self.owners, slice) else self.owners[block]


def lined_parts(market: Market, price: float) -> list[LinedPart] | str:
    """Return the owners of each law with lines below C; or why there are none."""
    if 0 < price < math.inf and not (LEAST <= price <= 1 / LEAST and float(np.max(market.epsilon)) >= LEAST):
        return "the price of the budget is too near the ends of the range of doubles"
    found: list[LinedPart] = []
    if reasons := unproved_laws(market):
        return reasons[0]
    for law, owners in market.valuation.parts():
        size = market.n if isinstance(owners, slice) else int(owners.size)
        lines = support_lines(law, at_any_cost=size >= MANY)
        if isinstance(lines, str):
            return lines
        found.append(LinedPart(lines, owners, size, Regularity(law.name, size, lines.rule)))
    return found


def sums_in_doubles(
    solution: Solution,
    parts: Sequence[LinedPart],
    *,
    at_price: bool = False,
    seen: Seen | None = None,
    under: Charged | None = None,
    rows: Sequence[Row] = (),
    pooled: Statement | None = None,
    lists: OpenLists | None = None,
) -> Sums:
    """Enclose purchased privacy, spend and bound of a solution of OP2.

    Parameters
    ----------
    solution
        Its thresholds in their supports, its price in [0, ∞].
    parts
        Its owners.
    at_price
        Whether the lines touch at what owners answer to the price, where that is not the offer.
    seen
        Where to note what checks ask of the offers.
    under, rows
        What linear rows charge, at a finite price, and the rows; None and none without them.
    pooled
        Where owners share prices, their laws straight; under what is charged.
    lists
        The lists of owners whose prices come from lists.
    """
    market, price = solution.market, solution.budget_price
    offers = _lower_prices(solution)
    e_of, price_of = (market.epsilon, price) if under is None else (under.requirement, under.price)
    is_priced = under is not None or 0 < price < math.inf
    touched = offers_at_price(market, price_of, e_of) if at_price and is_priced else offers
    touched, shared = _without_blocks(pooled, market, touched)
    privacy, spend, worth, paid = (Total() for _ in range(4))
    rests: list[float] = []
    q, q_touched = (None if under is None else (np.empty(market.n), np.empty(market.n)) for _ in range(2))
    m = None if market.multiplicity is None else market.weights
    with np.errstate(all="ignore"):
        for part in parts:
            for block in part.blocks():
                at = part.rows(block)
                e, own = market.epsilon[at], None if m is None else m[at]
                lines = lines_at_offers(part, offers, at, block)
                if seen is not None:
                    _see(seen, lines, market.low[at], e, price, offers[0][at], offers[1][at])
                for total, x in ((privacy, e), (spend, offers[0][at])):
                    total.add(lines.low, lines.high, x, own)
                if q is not None:
                    q[0][at], q[1][at] = lines.low, lines.high
                if touched is not offers:
                    lines = lines_at_offers(part, touched, at, block)
                    for total, x in ((worth, e), (paid, touched[0][at])):
                        total.add(lines.low, lines.high, x, own)
                if q_touched is not None:
                    q_touched[0][at], q_touched[1][at] = lines.low, lines.high
                if is_priced:
                    paid_by = price_of[at] if isinstance(price_of, np.ndarray) else price_of
                    open_to = None if lists is None else lists.take(at)
                    rest = _rests(part.lines, lines, (e_of[at], paid_by), touched[0][at], block, open_to)
                    rest[shared[at]] = 0.0
                    rest += 0.0 if under is None else under.miss[at]
                    rests.append(float(np.add.reduce(rest if own is None else rest * own)))
    with precision(BITS):
        bought, spent = privacy.ball(), spend.ball()
        of_lines = (bought, spent) if touched is offers else (worth.ball(), paid.ball())
        drawn = solution.lottery
        of_draws = None if drawn is None else _draws(solution, drawn, parts)
        if drawn is not None and of_draws is not None:
            more = _instead(solution, drawn, parts, of_draws)
            bought, spent = bought + more[0], spent + more[1]
        if seen is not None:
            seen.spend = rounded_up(spent)
        if q is not None and q_touched is not None:
            most = _most(solution, *of_lines, rests) - _charge(solution, rows, q_touched, touched[0])
            most += _tops(pooled, market.weights, under, float(bought.mid()))
            return _with_rows(solution, rows, q, offers[0], of_draws, Sums(bought, bought, spent, most))
        most = _bound(solution, parts, *of_lines, rests)
        return Sums(bought, bought, spent, most, contradict=bool(bought > most))


def _without_blocks(
    pooled: Statement | None, market: Market, offers: tuple[Floats, Floats]
) -> tuple[tuple[Floats, Floats], Mask]:
    """Leave owners in blocks out, who are bounded together; say who they are."""
    if pooled is None or pooled.blocks is None:
        return offers, np.zeros(market.n, dtype=np.bool_)
    shared = pooled.expand(pooled.blocks.of_row) >= 0
    return (np.where(shared, market.low, offers[0]), np.where(shared, 0.0, offers[1])), shared


def _rests(
    known: SupportLines,
    lines: Lines,
    charged: tuple[Floats, float | Floats],
    theta: Floats,
    block: slice,
    open_to: OpenLists | None,
) -> Floats:
    """Bound what Lagrangians exceed the worth of thresholds by, on lists and off them."""
    e, paid = charged
    if open_to is None or np.all(open_to.number < 0):
        return rests_of_lines(known, lines, e, paid, theta, block, together=True)
    listed = rests_of_lists(known, lines, (e, np.broadcast_to(paid, e.shape)), theta, block, open_to)
    if np.all(open_to.number >= 0):
        return listed
    return np.where(open_to.number >= 0, listed, rests_of_lines(known, lines, e, paid, theta, block))


def _tops(form: Statement | None, m: Floats, under: Charged | None, whole: float) -> Ball:
    """Return a number above what owners who share prices add."""
    if form is None or form.blocks is None or under is None:
        return arb(0)
    row = np.arange(m.size) if form.row_of_owner is None else form.row_of_owner
    return arb(tops_in_doubles(form.blocks, row, m * under.requirement, m * under.price, whole))


def _with_rows(
    solution: Solution,
    rows: Sequence[Row],
    q: Between,
    theta: Floats,
    of_draws: tuple[Floats, ...] | None,
    sums: Sums,
) -> Sums:
    """Say how offers keep the rows: q at lower prices θ, and what lotteries are."""
    b, drawn = _products(q, theta), solution.lottery
    if drawn is not None and of_draws is not None:
        for whole, own in zip((*q, *b), of_draws, strict=True):
            whole[drawn.owner] = own
    sides, y = [left_side(row, q, b) for row in rows], solution.constraint_prices.tolist()
    excess = sum(((arb(u) * over).max(arb(0)) for u, (over, _) in zip(y, sides, strict=True)), arb(0))
    found = tuple(kept_row(row, *side) for row, side in zip(rows, sides, strict=True))
    return replace(sums, rows=found, contradict=bool(sums.value - excess > sums.bound))


def _charge(solution: Solution, rows: Sequence[Row], q: Between, theta: Floats) -> Ball:
    """Return Σ_j y_j (A_j q + S_j b − r_j) of offers of thresholds θ."""
    b, y = _products(q, theta), solution.constraint_prices.tolist()
    return sum((arb(u) * left_side(row, q, b)[0] for u, row in zip(y, rows, strict=True) if u), arb(0))


def _products(q: Between, theta: Floats) -> Between:
    """Enclose θq."""
    lost = np.where((q[1] > 0) & (theta > 0), UNDERFLOW, 0.0)
    return np.maximum(q[0] * theta * (1.0 - 2 * UNIT) - lost, 0.0), q[1] * theta * (1.0 + 2 * UNIT) + lost


def _most(solution: Solution, bought: Ball, paid: Ball, rests: list[float]) -> Ball:
    rest = math.fsum(rests) if all(map(math.isfinite, rests)) else math.inf
    price = arb(solution.budget_price)
    return price * (arb(solution.budget) - paid) + bought + arb(rest) * UP + solution.market.population * arb(UNDERFLOW)


def _bound(solution: Solution, parts: Sequence[LinedPart], bought: Ball, paid: Ball, rests: list[float]) -> Ball:
    """Bound what any mechanism buys, from what offers that lines touch buy and spend."""
    market, price = solution.market, solution.budget_price
    if price == math.inf:
        return _free(market, parts)
    if price == 0:
        every = market.epsilon if market.multiplicity is None else market.epsilon * market.weights
        return arb(exact_sum(every)) * (1 + arb(4 * UNIT))
    return _most(solution, bought, paid, rests)


def _see(seen: Seen, lines: Lines, low: Floats, e: Floats, price: float, theta: Floats, q: Floats) -> None:
    """Note how far acceptances are from F, and virtual costs from prices."""
    off = np.max(np.maximum(q - lines.high, lines.low - q))
    if np.any((q <= 0) & (theta > low)):
        off = 1.0
    rise, fall = e - price * lines.slope_above, price * lines.slope_below - e
    away = np.maximum(np.where(q < 1, rise, 0.0), np.where(q > 0, fall, 0.0))
    seen.drift = max(seen.drift, float(off))
    seen.violation = max(seen.violation, float(np.max(away)))


def _lower_prices(solution: Solution) -> tuple[Floats, Floats]:
    """Return one price an owner, of a lottery the lower one, and acceptance."""
    drawn = solution.lottery
    if drawn is None:
        return solution.thresholds, solution.acceptance
    thresholds, acceptance = solution.thresholds.copy(), solution.acceptance.copy()
    thresholds[drawn.owner], acceptance[drawn.owner] = drawn.low, drawn.low_acceptance
    return thresholds, acceptance


def lines_at_offers(part: LinedPart, offers: tuple[Floats, Floats], rows: Index, block: Index) -> Lines:
    """Touch the cost curves at offers; no offer is acceptance 0."""
    theta = offers[0][rows]
    lines = part.lines.at(theta, block)
    none = offers[1][rows] <= 0
    if not none.any():
        return lines
    first = (
        part.lines.ends(block)[0] * (1.0 - 2 * UNIT) if math.isnan(part.lines.first_slope) else part.lines.first_slope
    )
    return Lines(
        np.where(none, 0.0, lines.low),
        np.where(none, 0.0, lines.high),
        np.where(none, first, lines.slope_above),
        np.where(none, 0.0, lines.slope_below),
    )


def rests_of_lines(
    known: SupportLines,
    lines: Lines,
    e: Floats,
    price: float | Floats,
    theta: Floats,
    block: slice,
    *,
    together: bool = False,
) -> Floats:
    """Bound what Lagrangians exceed the worth of the touched thresholds by.

    `together` says that the rests of a block may be judged by their sum.
    """
    above, below = price * lines.slope_above, price * lines.slope_below
    if isinstance(price, np.ndarray):  # what costs nothing may be bought whole, whatever its slope
        above, below = np.where(price == 0, 0.0, above), np.where(price == 0, 0.0, below)
    rise = np.maximum(e - above, 0.0) * (1.0 - lines.low)
    fall = np.where(lines.high > 0, np.maximum(below - e, 0.0) * lines.high, 0.0)
    rest = rise + fall
    value = e * lines.low
    if not (together and float(np.add.reduce(rest)) <= SMALL * float(np.add.reduce(value))):
        loose = np.flatnonzero(~(rest <= SMALL * value))
        loose = loose[~(rest[loose] == 0)]
        rest[loose] = _cut_off(known, lines, e, price, theta, rest, block, loose)
    if known.slack or known.jumps:
        rest += price * known.slack + np.abs(e) * known.jumps
    return rest


def _cut_off(
    known: SupportLines,
    lines: Lines,
    e: Floats,
    price: float | Floats,
    theta: Floats,
    rest: Floats,
    block: slice,
    loose: Indices,
) -> Floats:
    """Cut rests off by two lines on either side of the thresholds, ever farther away."""
    ends = known.ends(block)
    low, high = (np.broadcast_to(end, theta.shape)[loose] for end in ends)
    e, theta, price = e[loose], theta[loose], np.broadcast_to(price, e.shape)[loose]
    F = np.where(e >= price * theta, lines.low[loose], lines.high[loose])
    found = np.where(np.isnan(rest[loose]), np.inf, rest[loose])
    place = np.arange(block.start, block.start + rest.size)[loose]
    step = np.spacing(theta)
    active = np.arange(loose.size)
    for _ in range(DOUBLINGS):
        t, own_e, paid = theta[active], e[active], price[active]
        before, after = np.maximum(t - step[active], low[active]), np.minimum(t + step[active], high[active])
        left, right = known.at(before, place[active]), known.at(after, place[active])
        at_low, at_high = before <= low[active], after >= high[active]
        rises = at_low | (paid * left.slope_below <= own_e)
        falls = at_high | (paid * right.slope_above >= own_e)
        q = np.where(at_low, 0.0, left.low)
        slope = own_e - paid * np.where(at_low, before * (1.0 - 2 * UNIT), left.slope_above)
        height = np.where(at_low, 0.0, left.high * np.maximum(own_e - paid * before, 0.0))
        top = height + np.maximum(slope, 0.0) * (np.where(at_high, 1.0, right.high) - q)
        cut = top - F[active] * (own_e - paid * t) + 32 * UNIT * np.abs(own_e) * np.where(at_high, 1.0, right.high)
        done = rises & falls
        found[active[done]] = np.fmin(found[active[done]], np.maximum(cut[done], 0.0))
        active = active[~(done | (at_low & at_high))]
        if not active.size:
            break
        step *= 2
    return found


def _draws(solution: Solution, drawn: Lottery, parts: Sequence[LinedPart]) -> tuple[Floats, ...]:
    """Enclose acceptance and expected payment of each lottery: q, q, b, b."""
    market = solution.market
    number = np.full(market.n, -1, dtype=np.intp)
    number[drawn.owner] = np.arange(drawn.owner.size)
    columns = drawn.prices.shape[1]
    rest, miss = drawn.likeliest, 2 * UNIT * columns
    others = drawn.probabilities.copy()
    np.put_along_axis(others, rest[:, np.newaxis], 0.0, axis=1)
    left = 1.0 - others.sum(axis=1)
    down, up = 1.0 - (columns + 4) * UNIT, 1.0 + (columns + 4) * UNIT
    found = np.zeros((4, drawn.owner.size))
    for part in parts:
        rows = np.arange(market.n)[part.owners]
        place = np.flatnonzero(number[rows] >= 0)
        k = number[rows[place]]
        for column in range(columns):
            theta, sold = drawn.prices[k, column], drawn.acceptances[k, column] > 0
            lines = part.lines.at(np.minimum(theta, market.high[rows[place]]), place)
            low, high = np.where(sold, lines.low, 0.0), np.where(sold, lines.high, 0.0)
            is_rest, share = rest[k] == column, others[k, column]
            q = low * np.where(is_rest, np.maximum(left[k] - miss, 0.0), share) * down
            most = high * np.where(is_rest, np.minimum(left[k] + miss, 1.0), share) * up
            found[:, k] += q, most, *_products((q, most), theta)
    return found[0] * down, found[1] * up, found[2] * down, found[3] * up


def _instead(
    solution: Solution, drawn: Lottery, parts: Sequence[LinedPart], of_draws: tuple[Floats, ...]
) -> tuple[Ball, Ball]:
    """Enclose what lotteries buy and spend beyond their lower prices."""
    market, owner = solution.market, drawn.owner
    e, m, ones = market.epsilon[owner], market.weights[owner], np.ones(owner.size)
    more, instead = (Total(), Total()), (Total(), Total())
    more[0].add(of_draws[0], of_draws[1], e, m)
    more[1].add(of_draws[2], of_draws[3], ones, m)
    number = np.full(market.n, -1, dtype=np.intp)
    number[owner] = np.arange(owner.size)
    for part in parts:
        rows = np.arange(market.n)[part.owners]
        place = np.flatnonzero(number[rows] >= 0)
        k = number[rows[place]]
        theta = drawn.prices[k, 0]
        lines = part.lines.at(np.minimum(theta, market.high[owner[k]]), place)
        sold = drawn.acceptances[k, 0] > 0
        low, high = np.where(sold, lines.low, 0.0), np.where(sold, lines.high, 0.0)
        instead[0].add(low, high, e[k], m[k])
        instead[1].add(low, high, theta, m[k])
    return more[0].ball() - instead[0].ball(), more[1].ball() - instead[1].ball()


def _free(market: Market, parts: Sequence[LinedPart]) -> Ball:
    """Bound what sells for nothing."""
    total = Total()
    for part in parts:
        for block in part.blocks():
            rows = part.rows(block)
            low = market.low[rows]
            F = np.where(low == 0, part.lines.at(low, block).high, 0.0)
            m = None if market.multiplicity is None else market.weights[rows]
            total.add(np.zeros_like(F), F, market.epsilon[rows], m)
    return total.ball()
