"""Checks of side constraints, and the bound with their multipliers.

For every λ ≥ 0 and y (≥ 0 for inequalities), D(λ, y) = λB + y·r + Σ m_i max {e_i q − p_i C̄_i(q):
lowest ≤ q ≤ highest} bounds from above what any offers buy that keep the budget and all
constraints, with e and p of `Statement.terms`. It comes from the instance alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from smqopt.market import AllowedPrices, Solution, Statement, without_money
from smqopt.numeric import ACCEPTANCE, BLOCK_EXCESS, ROUNDING, SIDE_ROW, Floats, Indices, Mask, exact_sum
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._unverified import checks_by_word
from smqopt.verification.checks._weak_duality import Tops, tops


def side_bound(statement: Statement, budget: float, price: float, multipliers: Floats, tops_of: Tops = tops) -> float:
    """Bound the optimum with side constraints from above by weak duality, rounded up.

    Parameters
    ----------
    statement
        The market and its constraints.
    budget
        B ≥ 0, in currency.
    price
        λ ≥ 0.
    multipliers
        y, shape (k,), one a linear row.
    tops_of
        What bounds each owner's top.

    Returns
    -------
    float
        The bound, in units of ε; +∞ where the multipliers are none (wrong shape, NaN, infinite, or
        negative for an inequality).
    """
    if budget == 0:
        statement, price = without_money(statement), 0.0
    y = multipliers_of(statement, budget, multipliers)
    if y.shape != statement.at_most.shape or not np.isfinite(y).all() or not 0 <= price < math.inf:
        return math.inf
    if np.any(y[~statement.equal] < 0):
        return math.inf
    m = statement.weights()
    e, p = statement.terms(price, y)
    taken = (abs(statement.acceptance).T @ np.abs(y)) / m
    # what was rounded is taken at its upper end, for q ≥ 0: that costs its share of q alone
    e = e + np.where(taken > 0, ROUNDING.value * (statement.reduced.epsilon + taken), 0.0)
    p = p - rounding_of_prices(statement, price, y)
    alone, valuation = np.arange(m.size), statement.reduced.valuation
    if statement.blocks is not None:
        alone = np.delete(alone, statement.blocks.rows)
        valuation = valuation.take(alone)
    terms, sizes = np.empty(alone.size), np.empty(alone.size)
    for law, part in valuation.parts() if alone.size else ():
        owners = alone[part]
        lowest, highest = statement.lowest[owners], statement.highest[owners]
        free = p[owners] <= 0
        cost = np.where(free, 1.0, p[owners])
        top, size = tops_of(law, e[owners], cost, lowest, highest)
        for_nothing = np.where(e[owners] > 0, highest, lowest) * e[owners]
        terms[part] = np.where(free, for_nothing, top)
        sizes[part] = np.where(free, np.abs(for_nothing), size)
    fixed = np.append(y * statement.at_most, price * budget)
    allowance = exact_sum(np.append(sizes * m[alone], np.abs(fixed))) * ROUNDING.value
    bound = exact_sum(np.append(terms * m[alone], fixed)) + allowance
    return bound + block_tops(statement, bound, e, p)


def multipliers_of(statement: Statement, budget: float, multipliers: Floats) -> Floats:
    """Return the rows' multipliers; at a budget of 0 none need be given."""
    y = np.asarray(multipliers, dtype=np.float64)
    return np.zeros(statement.at_most.size) if budget == 0 and not y.any() else y


def rounding_of_prices(statement: Statement, price: float, multipliers: Floats) -> Floats:
    """Return what rounding may take off λ + Sᵀy/m where its terms cancel; shape (n′,)."""
    if not np.any(statement.spend.data < 0):
        return np.zeros(statement.reduced.n)
    terms = (abs(statement.spend).T @ np.abs(multipliers)) / statement.weights() + price
    return np.asarray(ROUNDING.value * terms)


def block_tops(statement: Statement, others: float, worth: Floats, price: Floats) -> float:
    """Bound what blocks add to the dual, rounded up.

    `others` is what the rest of the bound comes to: a hundredth of the gap that may pass is left to
    the blocks.
    """
    blocks, m = statement.blocks, statement.weights()
    if blocks is None:
        return 0.0
    rough = blocks.enclose(m * worth, m * price, math.inf)
    whole = abs(others + float(np.sum(rough.height)))
    found = blocks.enclose(m * worth, m * price, BLOCK_EXCESS.value * whole / blocks.count)
    return exact_sum(found.top) * (1.0 + ROUNDING.value)


def checks_of_constraints(solution: Solution, statement: Statement) -> list[Check]:
    """Check every row, bound, common price and price list."""
    first = statement.first_owner
    q, spend = solution.acceptance[first], solution.spend[first]
    checks = _rows(statement, q, spend, _of_rigid(statement, solution))
    allowed = statement.prices_of_use()
    if np.any(statement.lowest > 0) or np.any(statement.highest < 1) or np.any(allowed.floor > 0):
        outside = float(np.max(np.maximum(statement.lowest - q, q - statement.highest)))
        outside = max(outside, _posted_outside(solution, allowed))
        norm = f"largest distance of an acceptance from its bounds; {SIDE_ROW.norm}"
        checks.append(Check("bounds of acceptance", outside <= SIDE_ROW.value, max(outside, 0.0), SIDE_ROW.value, norm))
    if statement.row_of_owner is not None or statement.blocks is not None:
        differ = differing_offers(solution, statement)
        checks.append(
            Check(
                "common prices", differ == 0, float(differ), 0.0, "owners whose offer differs from that of their group"
            )
        )
    if allowed.lists:
        strangers = off_the_lists(solution, statement)
        norm = "offered prices that are not on the owner's list"
        checks.append(Check("price lists", strangers == 0, float(strangers), 0.0, norm))
    return checks + checks_by_word(solution, statement)


def _posted_outside(solution: Solution, allowed: AllowedPrices) -> float:
    """Return how far posted prices leave their floors and ceilings.

    In acceptance, and relative to the price where it is accepted: in a gap of the support and above
    it acceptance tells no price from another. No offer has no price.
    """
    market, outside = solution.market, 0.0
    for rows, price in _posted_prices(solution):
        if rows.size:
            law, low, high = market.valuation.take(rows), market.low[rows], market.high[rows]
            floor, ceiling = allowed.floor[rows], allowed.ceiling[rows]
            least = np.where(floor > low, law.cdf(np.clip(floor, low, high)), 0.0)
            most = np.where(ceiling < low, 0.0, law.cdf(np.clip(ceiling, low, high)))
            q = law.cdf(price)
            off = np.maximum(np.maximum(floor - price, price - ceiling), 0.0)
            apart = q * off / np.maximum(np.maximum(floor, price), np.finfo(float).tiny)
            outside = max(outside, float(np.max(np.maximum(np.maximum(least - q, q - most), apart))))
    return outside


def differing_offers(solution: Solution, statement: Statement) -> int:
    """Count owners whose offer differs from that of their group."""
    apart, alone = 0, np.ones(solution.market.n, dtype=np.bool_)
    if statement.blocks is not None:  # draws may be written in several ways
        apart = int(np.count_nonzero(_differing_draws(solution, statement)))
        alone = statement.expand(statement.blocks.of_row) < 0
    if statement.row_of_owner is None:
        return apart
    shown = statement.first_owner[statement.row_of_owner]
    columns = [solution.thresholds, solution.acceptance]
    if solution.lottery is not None:
        for values in (*solution.lottery.prices.T, *solution.lottery.probabilities.T):
            spread = np.full(solution.market.n, -1.0)
            spread[solution.lottery.owner] = values
            columns.append(spread)
    return apart + int(np.count_nonzero(alone & np.any([column != column[shown] for column in columns], axis=0)))


def _differing_draws(solution: Solution, statement: Statement) -> Mask:
    """Say who is not offered the draw of her block; shape (n,).

    A price that she never accepts, and no offer, are the same to her.
    """
    blocks, n = statement.blocks, solution.market.n
    assert blocks is not None  # noqa: S101
    block = statement.expand(blocks.of_row)
    owner, price, share = _posted_shares(solution)
    mine = block[owner] >= 0
    owner, price, share = owner[mine], price[mine], share[mine]
    pairs = np.column_stack([block[owner].astype(np.float64), price])
    kinds, kind = np.unique(pairs, axis=0, return_inverse=True)
    kind = kind.ravel()
    chance = np.full(len(kinds), -1.0)
    chance[kind] = share
    differs = np.zeros(n, dtype=np.bool_)
    differs[owner[share != chance[kind]]] = True
    # whoever accepts a price of her block must be offered it
    total = np.bincount(owner, weights=share * _accepts(solution, owner, price), minlength=n)
    wanted = np.zeros(n)
    for (of, posted), p in zip(kinds.tolist(), chance.tolist(), strict=True):
        members = np.flatnonzero(block == int(of))
        wanted[members] += p * _accepts(solution, members, np.full(members.size, posted))
    differs[block >= 0] |= (np.abs(wanted - total) > ACCEPTANCE.value)[block >= 0]
    return differs


def _accepts(solution: Solution, owners: Indices, price: Floats) -> Floats:
    market = solution.market
    low, high = market.low[owners], market.high[owners]
    q = market.valuation.take(owners).cdf(np.clip(price, low, high))
    return np.where(price < low, 0.0, np.where(price >= high, 1.0, q))


def _posted_shares(solution: Solution) -> tuple[Indices, Floats, Floats]:
    """Return owners, prices that they may accept, and their probabilities."""
    offered, drawn = np.flatnonzero(solution.acceptance > 0), solution.lottery
    if drawn is None:
        return offered, solution.thresholds[offered], np.ones(offered.size)
    alone, at = np.setdiff1d(offered, drawn.owner), (drawn.acceptances > 0) & (drawn.probabilities > 0)
    every = np.repeat(drawn.owner[:, np.newaxis], drawn.prices.shape[1], axis=1)
    columns = (
        (alone, every[at]),
        (solution.thresholds[alone], drawn.prices[at]),
        (np.ones(alone.size), drawn.probabilities[at]),
    )
    return tuple(np.concatenate(both) for both in columns)  # type: ignore[return-value]


def off_the_lists(solution: Solution, statement: Statement) -> int:
    """Count the offers, lotteries' all, whose price is not on the owner's list."""
    allowed = statement.prices_of_use()
    return sum(
        off_the_list(solution, np.flatnonzero(allowed.number == k), prices) for k, prices in enumerate(allowed.lists)
    )


def off_the_list(solution: Solution, owners: NDArray[np.intp], prices: Floats) -> int:
    """Count the offers to some owners, lotteries' all, whose price is not on a list."""
    mine = np.zeros(solution.market.n, dtype=np.bool_)
    mine[owners] = True
    return sum(int(np.count_nonzero(mine[rows] & ~np.isin(theta, prices))) for rows, theta in _posted_prices(solution))


def _posted_prices(solution: Solution) -> list[tuple[NDArray[np.intp], Floats]]:
    """Return the posted prices, by rows.

    Single ones, then those of lotteries.
    """
    offered, drawn = np.flatnonzero(solution.acceptance > 0), solution.lottery
    if drawn is None:
        return [(offered, solution.thresholds[offered])]
    single = solution.acceptance > 0
    single[drawn.owner] = False
    alone, found = np.flatnonzero(single), []
    for price, q in zip(drawn.prices.T, drawn.acceptances.T, strict=True):
        found.append((drawn.owner[q > 0], price[q > 0]))
    return [(alone, solution.thresholds[alone]), *found]


def _of_rigid(statement: Statement, solution: Solution) -> dict[int, tuple[float, float]]:
    """Return the excess of rows for which bounds stand, and the sum of their terms.

    An acceptance alone does not tell what was paid for it.
    """
    found, rows = {}, (row for record in statement.records for row in record.rows(statement.market))
    q, b = solution.acceptance, solution.spend
    for number, row in enumerate(rows):
        if statement.rigid[number]:
            terms = np.concatenate([x * of[rows_] for of, (rows_, x) in ((q, row.acceptance), (b, row.spend))])
            found[number] = exact_sum(np.append(terms, -row.at_most)), exact_sum(np.abs(np.append(terms, row.at_most)))
    return found


def _rows(
    statement: Statement, q: Floats, spend: Floats, rigid: Mapping[int, tuple[float, float]] | None = None
) -> list[Check]:
    used = statement.usage(q, spend)
    size = np.abs(statement.at_most) + abs(statement.acceptance) @ q + abs(statement.spend) @ spend
    over = used - statement.at_most
    for number, of_row in (rigid or {}).items():
        over[number], size[number] = of_row
    over = np.where(statement.equal, np.abs(over), over)
    share = np.where(over > 0, over / np.where(size > 0, size, 1.0), 0.0)
    return [
        Check(f"constraint: {name}", bool(value <= SIDE_ROW.value), float(value), SIDE_ROW.value, SIDE_ROW.norm)
        for name, value in zip(_told_apart(statement.names), share.tolist(), strict=True)
    ]


def _told_apart(names: tuple[str, ...]) -> list[str]:
    """Number what has the same words: a certificate is read back check by check."""
    counted: Counter[str] = Counter()
    apart = []
    for name in names:
        counted[name] += 1
        apart.append(name if counted[name] == 1 else f"{name} (once more, {counted[name]})")
    return apart
