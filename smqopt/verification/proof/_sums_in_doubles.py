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
from dataclasses import dataclass, field

import numpy as np
from flint import arb

from smqopt.market import Lottery, Market, Solution
from smqopt.numeric import Ball, Floats, Indices, exact_sum, precision, rounded_up, sum_with_error
from smqopt.valuation import Index
from smqopt.verification.checks._seen import Seen
from smqopt.verification.checks._weak_duality import offers_at_price
from smqopt.verification.enclosures._line_protocol import UNIT, Lines, SupportLines
from smqopt.verification.enclosures._support_lines import support_lines
from smqopt.verification.proof._owner_groups import Regularity, unproved_laws
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
LEAST = 2.0**-300
"""Prices and requirements beyond this, or its inverse, are left to balls."""
UNDERFLOW = 2.0**-1060
"""More than the products of a term lose by underflow."""
UP = 1.0 + 2.0**-40
"""More than the roundings of a positive term and of the sum of a block of them."""


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


@dataclass(eq=False)
class _Total:
    """A sum of nonnegative terms that are known between doubles."""

    parts: list[float] = field(default_factory=list)
    error: float = 0.0

    def add(self, low: Floats, high: Floats, x: Floats, m: Floats | None) -> None:
        """Add Σ m q x for q between two doubles."""
        middle, half = 0.5 * (low + high), high - low
        middle *= x
        half *= x
        if m is not None:
            middle *= m
            half *= m
        total, missed = sum_with_error(middle)
        self.parts.append(total)
        self.error += (missed + 4 * UNIT * total + float(np.add.reduce(half))) * UP
        if total > 0:
            self.error += x.size * UNDERFLOW

    def ball(self) -> Ball:
        """Return the sum."""
        if not all(math.isfinite(part) for part in self.parts):
            return arb("nan")
        total = math.fsum(self.parts)
        return arb(total, self.error * UP + 2 * UNIT * abs(total))


def sums_in_doubles(
    solution: Solution, parts: Sequence[LinedPart], *, at_price: bool = False, seen: Seen | None = None
) -> Sums:
    """Enclose purchased privacy, spend and bound of a solution of OP2.

    Parameters
    ----------
    solution
        Without side constraints, its thresholds in their supports, its price in [0, ∞].
    parts
        Its owners.
    at_price
        Whether the lines touch at what owners answer to the price, where that is not the offer.
    seen
        Where to note what checks ask of the offers.
    """
    market, price = solution.market, solution.budget_price
    offers = _lower_prices(solution)
    touched = offers_at_price(market, price) if at_price and 0 < price < math.inf else offers
    privacy, spend, worth, paid = (_Total() for _ in range(4))
    rests: list[float] = []
    m = None if market.multiplicity is None else market.weights
    with np.errstate(all="ignore"):
        for part in parts:
            for block in part.blocks():
                rows = part.rows(block)
                e, own = market.epsilon[rows], None if m is None else m[rows]
                lines = lines_at_offers(part, offers, rows, block)
                if seen is not None:
                    _see(seen, lines, market.low[rows], e, price, offers[0][rows], offers[1][rows])
                for total, x in ((privacy, e), (spend, offers[0][rows])):
                    total.add(lines.low, lines.high, x, own)
                if touched is not offers:
                    lines = lines_at_offers(part, touched, rows, block)
                    for total, x in ((worth, e), (paid, touched[0][rows])):
                        total.add(lines.low, lines.high, x, own)
                if 0 < price < math.inf:
                    rest = rests_of_lines(part.lines, lines, e, price, touched[0][rows], block, together=True)
                    rests.append(float(np.add.reduce(rest if own is None else rest * own)))
    with precision(BITS):
        bought, spent = privacy.ball(), spend.ball()
        of_lines = (bought, spent) if touched is offers else (worth.ball(), paid.ball())
        most = _bound(solution, parts, *of_lines, rests)
        if solution.lottery is not None:
            more = _lotteries(solution, solution.lottery, parts)
            bought, spent = bought + more[0], spent + more[1]
        if seen is not None:
            seen.spend = rounded_up(spent)
        return Sums(bought, bought, spent, most, contradict=bool(bought > most))


def _bound(solution: Solution, parts: Sequence[LinedPart], bought: Ball, paid: Ball, rests: list[float]) -> Ball:
    """Bound what any mechanism buys, from what offers that lines touch buy and spend."""
    market, price = solution.market, solution.budget_price
    if price == math.inf:
        return _free(market, parts)
    if price == 0:
        every = market.epsilon if market.multiplicity is None else market.epsilon * market.weights
        return arb(exact_sum(every)) * (1 + arb(4 * UNIT))
    rest = math.fsum(rests) if all(map(math.isfinite, rests)) else math.inf
    return arb(price) * arb(solution.budget) + bought - arb(price) * paid + arb(rest) * UP + market.n * arb(UNDERFLOW)


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
    first = theta * (1.0 - 2 * UNIT) if math.isnan(part.lines.first_slope) else part.lines.first_slope
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
    price: float,
    theta: Floats,
    block: slice,
    *,
    together: bool = False,
) -> Floats:
    """Bound what Lagrangians exceed the worth of the touched thresholds by.

    `together` says that the rests of a block may be judged by their sum.
    """
    rise = np.maximum(e - price * lines.slope_above, 0.0) * (1.0 - lines.low)
    fall = np.where(lines.high > 0, np.maximum(price * lines.slope_below - e, 0.0) * lines.high, 0.0)
    rest = rise + fall
    value = e * lines.low
    if not (together and float(np.add.reduce(rest)) <= SMALL * float(np.add.reduce(value))):
        loose = np.flatnonzero(~(rest <= SMALL * value))
        loose = loose[~(rest[loose] == 0)]
        rest[loose] = _cut_off(known, lines, e, price, theta, rest, block, loose)
    if known.slack or known.jumps:
        rest += price * known.slack + e * known.jumps
    return rest


def _cut_off(
    known: SupportLines,
    lines: Lines,
    e: Floats,
    price: float,
    theta: Floats,
    rest: Floats,
    block: slice,
    loose: Indices,
) -> Floats:
    """Cut rests off by two lines on either side of the thresholds, ever farther away."""
    ends = known.ends(block)
    low, high = (np.broadcast_to(end, theta.shape)[loose] for end in ends)
    e, theta = e[loose], theta[loose]
    F = np.where(e >= price * theta, lines.low[loose], lines.high[loose])
    found = np.where(np.isnan(rest[loose]), np.inf, rest[loose])
    place = np.arange(block.start, block.start + rest.size)[loose]
    step = np.spacing(theta)
    active = np.arange(loose.size)
    for _ in range(DOUBLINGS):
        t, own_e = theta[active], e[active]
        before, after = np.maximum(t - step[active], low[active]), np.minimum(t + step[active], high[active])
        left, right = known.at(before, place[active]), known.at(after, place[active])
        at_low, at_high = before <= low[active], after >= high[active]
        rises = at_low | (price * left.slope_below <= own_e)
        falls = at_high | (price * right.slope_above >= own_e)
        q = np.where(at_low, 0.0, left.low)
        slope = own_e - price * np.where(at_low, before * (1.0 - 2 * UNIT), left.slope_above)
        height = np.where(at_low, 0.0, left.high * np.maximum(own_e - price * before, 0.0))
        top = height + np.maximum(slope, 0.0) * (np.where(at_high, 1.0, right.high) - q)
        cut = top - F[active] * (own_e - price * t) + 32 * UNIT * own_e * np.where(at_high, 1.0, right.high)
        done = rises & falls
        found[active[done]] = np.fmin(found[active[done]], np.maximum(cut[done], 0.0))
        active = active[~(done | (at_low & at_high))]
        if not active.size:
            break
        step *= 2
    return found


def _lotteries(solution: Solution, drawn: Lottery, parts: Sequence[LinedPart]) -> tuple[Ball, Ball]:
    """Enclose what lotteries buy and spend beyond their lower prices."""
    market = solution.market
    number = np.full(market.n, -1, dtype=np.intp)
    number[drawn.owner] = np.arange(drawn.owner.size)
    rest, miss = drawn.likeliest, 2 * UNIT * drawn.prices.shape[1]
    others = drawn.probabilities.copy()
    np.put_along_axis(others, rest[:, np.newaxis], 0.0, axis=1)
    left = 1.0 - others.sum(axis=1)
    more, instead = (_Total(), _Total()), (_Total(), _Total())
    for part in parts:
        rows = np.arange(market.n)[part.owners]
        place = np.flatnonzero(number[rows] >= 0)
        k, e, m = number[rows[place]], market.epsilon[rows[place]], market.weights[rows[place]]
        for column in range(drawn.prices.shape[1]):
            theta, sold = drawn.prices[k, column], drawn.acceptances[k, column] > 0
            lines = part.lines.at(np.minimum(theta, market.high[rows[place]]), place)
            low, high = np.where(sold, lines.low, 0.0), np.where(sold, lines.high, 0.0)
            if column == 0:
                instead[0].add(low, high, e, m)
                instead[1].add(low, high, theta, m)
            is_rest, share = rest[k] == column, others[k, column]
            least = np.where(is_rest, np.maximum(left[k] - miss, 0.0), share)
            most = np.where(is_rest, np.minimum(left[k] + miss, 1.0), share)
            for total, x in zip(more, (e, theta), strict=True):
                total.add(low * least * (1.0 - 2 * UNIT), high * most * (1.0 + 2 * UNIT), x, m)
    return more[0].ball() - instead[0].ball(), more[1].ball() - instead[1].ball()


def _free(market: Market, parts: Sequence[LinedPart]) -> Ball:
    """Bound what sells for nothing."""
    total = _Total()
    for part in parts:
        for block in part.blocks():
            rows = part.rows(block)
            low = market.low[rows]
            F = np.where(low == 0, part.lines.at(low, block).high, 0.0)
            m = None if market.multiplicity is None else market.weights[rows]
            total.add(np.zeros_like(F), F, market.epsilon[rows], m)
    return total.ball()
