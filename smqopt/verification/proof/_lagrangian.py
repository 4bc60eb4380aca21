"""The weak-duality bound of a case, in balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np
from flint import arb

from smqopt.numeric import Ball, Indices, Mask
from smqopt.valuation import PieceLaw, SmoothPiece, piece_law, step_law
from smqopt.verification.enclosures._block_terms import BlockTerm, top_of_list, top_of_range
from smqopt.verification.enclosures._curve import Curve, Numbers, Rows
from smqopt.verification.proof._bounds import Limits
from smqopt.verification.proof._case import Case, Constraints
from smqopt.verification.proof._constraint_rows import charge_of_excess, charges
from smqopt.verification.proof._offer_enclosures import OfferEnclosures

_BELOW_SURE = (46, 40, 36)
"""Bits of the distance from a price that is accepted for sure to one that is not, relative to
it."""
_DERIVATIVES = 3
"""Of F, with F itself, that bound what blocks add."""
_MOST_POSTED = 8


def bound(case: Case, curves: Sequence[Curve], known: Mapping[int, Ball], of_rows: dict[int, Limits]) -> Ball:
    """Return a ball above what any feasible offers achieve beyond λB, at λ < ∞.

    Parameters
    ----------
    case
        What is to be proved.
    curves
        The curves of its parts, at the precision of the context.
    known
        F at the threshold of each owner.
    of_rows
        Bounds of acceptance.
    """
    solution, market, chosen = case.solution, case.solution.market, case.tangent_points
    total = arb(0)
    for part in case.parts:
        m, slopes = counts(case, part.owner, part.copies).tolist(), chosen.slope[part.owner].tolist()
        if not case.is_plain:
            total += sum(
                (
                    arb(n) * case.utility.height(i, arb(e))
                    for i, n, e in zip(part.owner.tolist(), m, slopes, strict=True)
                ),
                arb(0),
            )
    if case.constraints is None:
        requirement, price = chosen.slope, np.full(market.n, solution.budget_price)
    else:
        requirement, price, weight = _prices_of_rows(case, case.constraints)
        y = solution.constraint_prices.tolist()
        total += sum((arb(u) * arb(row.at_most) for u, row in zip(y, case.constraints.rows, strict=True)), arb(0))
        for k in np.flatnonzero(chosen.shift).tolist():
            shift, ends = float(chosen.shift[k]), of_rows[k]
            total -= weight[k] * arb(shift) * (ends.lowest if shift > 0 else ends.highest)
    in_block = None
    if case.constraints is not None and (blocks := case.constraints.statement.blocks) is not None:
        in_block = blocks.of_row >= 0
        total += _block_tops(case, curves, (requirement, price, weight))
    for part, curve in zip(case.parts, curves, strict=True):
        for every in part.terms:
            terms = every if in_block is None else every.take(~in_block[every.row])
            if not terms.row.size:
                continue
            rows, owner = terms.row, case.first[terms.row]
            tangent = chosen.threshold[rows]
            there = (tangent == solution.thresholds[owner]).tolist()
            F = [known[i] if at else None for i, at in zip(owner.tolist(), there, strict=True)]
            count = counts(case, owner, part.copies) if case.constraints is None else weight[rows]
            low, high = market.low[owner], market.high[owner]
            asked = Rows(terms.place, requirement[rows], price[rows], count, tangent, low, high)
            own = curve if terms.curve is None or terms.curve is part.curve else terms.curve()
            if case.constraints is not None and np.any(case.constraints.bounds.least[rows] >= 1):
                sure, least_paid = _sure_prices(case.constraints, own, asked, rows)
                for k, paid in zip(sure.tolist(), least_paid, strict=True):
                    total += arb(asked.count[k]) * (arb(asked.requirement[k]) - arb(asked.price[k]) * paid)
                left = np.setdiff1d(np.arange(rows.size), sure)
                asked, F = asked.take(left), [F[k] for k in left.tolist()]
            total += own.tops(asked, F)
    return total


def _block_tops(case: Case, curves: Sequence[Curve], rows: tuple[Numbers, Numbers, Numbers]) -> Ball:
    """Return a number above what all blocks add to the bound together.

    Parameters
    ----------
    case
        What is to be proved.
    curves
        The curves of its parts, at the precision of the context.
    rows
        Requirement, price and count of each row of the statement, in balls.
    """
    assert case.constraints is not None  # noqa: S101
    blocks, market = case.constraints.statement.blocks, case.solution.market
    if blocks is None:
        return arb(0)
    of_block = list[list[BlockTerm]]([[] for _ in range(blocks.count)])
    for part, curve in zip(case.parts, curves, strict=True):
        pieces, finer = piece_law(part.law, _DERIVATIVES), cache(partial(piece_law, part.law))
        place_of = dict(zip(part.owner.tolist(), part.place.tolist(), strict=True))
        for terms in part.terms:
            for k in terms.row[blocks.of_row[terms.row] >= 0].tolist():
                g, owner = int(blocks.of_row[k]), int(case.first[k])
                place = place_of[owner]
                needed = blocks.lists[g] is None and not isinstance(pieces, str)
                requirement, price, count = (arb(column[k]) for column in rows)
                of_block[g].append(
                    BlockTerm(
                        requirement * count,
                        price * count,
                        float(market.low[owner]),
                        float(market.high[owner]),
                        _pieces_at(pieces, place) if needed else (),
                        curve,
                        place,
                        finer,
                    )
                )
    total = arb(0)
    for g, own in enumerate(of_block):
        listed, floor, ceiling = blocks.lists[g], float(blocks.floor[g]), float(blocks.ceiling[g])
        if listed is not None:
            total += top_of_list(own, listed[(listed >= floor) & (listed <= ceiling)])
        else:
            total += arb(top_of_range(own, max(floor, 0.0), ceiling, _prices_of_block(case, blocks.of_row == g)))
    return total


def _prices_of_block(case: Case, rows: Mask) -> list[float]:
    """Return prices that are posted to the owners of a block, increasing."""
    solution, owner = case.solution, case.first[rows]
    prices = solution.thresholds[owner]
    if solution.lottery is not None:
        prices = np.append(prices, solution.lottery.prices[np.isin(solution.lottery.owner, owner)])
    return [float(price) for price in np.unique(prices)[-_MOST_POSTED:]]


def _pieces_at(pieces: PieceLaw | str, place: int) -> tuple[SmoothPiece, ...]:
    return () if isinstance(pieces, str) else pieces(place)


def excess(case: Case, offers: OfferEnclosures, of_rows: dict[int, Limits]) -> Ball:
    """Return how far offers may lie above the bound as they break constraints.

    The bound is on offers that keep all constraints exactly; what breaks them by a rounding may lie
    above it by the multipliers times that. Infinite where an owner who must sell for sure may not.
    """
    constraints, chosen, zero = case.constraints, case.tangent_points, arb(0)
    if constraints is None:
        return zero
    if case.budget_is_zero:
        total, row = zero, constraints.statement.expand(np.arange(case.first.size)).tolist()
        m = case.multiplicity(np.arange(len(row), dtype=np.intp)).tolist()
        for i, k in enumerate(row):
            if k in of_rows:
                q = offers.acceptance[i]
                total += arb(m[i]) * (case.utility.value(i, q) - case.utility.value(i, q.min(of_rows[k].highest))).max(
                    zero
                )
        return total
    y = case.solution.constraint_prices.tolist()
    total = charge_of_excess(constraints.rows, y, offers.acceptance, offers.spend)
    weight = _prices_of_rows(case, constraints)[2]
    for k, owner in enumerate(case.first.tolist()):
        q, shift = offers.acceptance[owner], float(chosen.shift[k])
        if constraints.bounds.least[k] >= 1 and not q >= 1:
            return arb("inf")
        if shift != 0:
            outside = of_rows[k].lowest - q if shift > 0 else q - of_rows[k].highest
            total += weight[k] * arb(abs(shift)) * outside.max(zero)
    return total


def _sure_prices(constraints: Constraints, curve: Curve, asked: Rows, rows: Indices) -> tuple[Indices, list[float]]:
    """Return which of some rows must sell for sure, and a price for each.

    It is one that she is not sure to accept, just below the one she is; of a table that one itself:
    between doubles F has no step.
    """
    found: dict[int, float] = {}
    reduced, least = constraints.statement.reduced, constraints.bounds.least[rows] >= 1
    for bits in _BELOW_SURE:
        at = np.array([k for k in np.flatnonzero(least).tolist() if k not in found], dtype=np.intp)
        if at.size:
            top = reduced.valuation.take(rows[at]).ppf(np.ones(at.size))
            below = top - (top - np.minimum(asked.low[at], 0.5 * top)) * 2.0**-bits
            F = curve.acceptances(asked.place[at], np.minimum(below, asked.high[at]), asked.low[at], asked.high[at])
            found |= {k: price for k, price, q in zip(at.tolist(), below.tolist(), F, strict=True) if q < 1}
    for law, index in reduced.valuation.take(rows).parts():
        at = np.intersect1d(np.arange(rows.size)[index], list(found)).astype(np.intp)
        if step_law(law) is not None and at.size:
            top = np.minimum(reduced.valuation.take(rows[at]).ppf(np.ones(at.size)), asked.high[at])
            below = np.maximum(np.nextafter(top, 0.0), asked.low[at])
            F = curve.acceptances(asked.place[at], below, asked.low[at], asked.high[at])
            alone = (asked.low == asked.high)[at]
            found |= {k: p for k, p, q, one in zip(at.tolist(), top.tolist(), F, alone, strict=True) if one or q < 1}
    sure = np.array(sorted(found), dtype=np.intp)
    return sure, [found[k] for k in sure.tolist()]


def counts(case: Case, owner: Indices, copies: Numbers) -> Numbers:
    """Return how many owners some rows and their copies stand for, exact."""
    m = case.multiplicity(owner)
    if np.all(m == 1) or np.all(copies == 1):
        return m * copies
    return _array([arb(a) * arb(b) for a, b in zip(m.tolist(), copies.tolist(), strict=True)])


def free_acceptance(case: Case, curves: Sequence[Curve], of_rows: dict[int, Limits]) -> dict[int, Ball]:
    """Enclose the most that each owner sells at a price of 0."""
    market = case.solution.market
    given = np.ones(market.n, dtype=np.bool_)
    if case.constraints is not None:
        bounds, expanded = case.constraints.bounds, case.constraints.statement.expand
        dear = [bool(prices.size == 0 or prices[0] > 0) for prices in bounds.lists]
        given = ~expanded(np.array([k >= 0 and dear[k] for k in bounds.listed.tolist()]))
        row = expanded(np.arange(case.first.size)).tolist()
    found: dict[int, Ball] = {}
    for part, curve in zip(case.parts, curves, strict=True):
        owner = part.owner
        low, high = market.low[owner], market.high[owner]
        F = curve.acceptances(part.place, low, low, high)
        free = ((low == 0) & given[owner]).tolist()
        found |= {i: q if at else arb(0) for i, q, at in zip(owner.tolist(), F, free, strict=True)}
    return {i: q.min(of_rows[row[i]].highest) if of_rows and row[i] in of_rows else q for i, q in found.items()}


def _prices_of_rows(case: Case, constraints: Constraints) -> tuple[Numbers, Numbers, Numbers]:
    """Return requirement ē − a + σ, price p and count M of each row."""
    solution, chosen = case.solution, case.tangent_points
    n, y = solution.market.n, solution.constraint_prices.tolist()
    taken_of_utility, added_to_price = charges(constraints.rows, y, n)
    m = case.multiplicity(np.arange(n, dtype=np.intp)).tolist()
    shared, slopes = constraints.statement.row_of_owner, chosen.slope.tolist()
    lam, shift = arb(solution.budget_price), [arb(s) for s in chosen.shift.tolist()]
    if shared is None:
        requirement = [arb(e) - a / c + s for e, a, c, s in zip(slopes, taken_of_utility, m, shift, strict=True)]
        price = [lam + s / c for s, c in zip(added_to_price, m, strict=True)]
        return _array(requirement), _array(price), _array([arb(c) for c in m])
    utility, cost, weight = ([arb(0)] * case.first.size for _ in range(3))
    for i, k in enumerate(shared.tolist()):
        utility[k] += m[i] * arb(slopes[i]) - taken_of_utility[i]
        cost[k] += added_to_price[i]
        weight[k] += arb(m[i])
    requirement = [total / c + s for total, c, s in zip(utility, weight, shift, strict=True)]
    return _array(requirement), _array([lam + total / c for total, c in zip(cost, weight, strict=True)]), _array(weight)


def _array(values: Sequence[Ball]) -> Numbers:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
