"""Bounds and conditions for a separable concave objective.

For every slope e_i, φ_i lies below its tangent of that slope, φ_i(q) ≤ e_i q + φ_i*(e_i) with
φ_i*(e) = max {φ_i(q) − e q}. So for every λ ≥ 0, all multipliers y and whatever e,

    λB + y·r + Σ m_i [φ_i*(e_i) + max {(e_i − a_i) q − p_i C̄_i(q): lowest ≤ q ≤ highest}]

bounds the objective from above, with a = Aᵀy/m and p = λ + Sᵀy/m (0 and λ without side
constraints): Fenchel's duality, owner by owner. At the e_i that meet the price it is λB + y·r + Σ
m_i max {φ_i(q) − a_i q − p_i C̄_i(q)}. It comes from the instance alone.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.derivation import proved_threshold_rule
from smqopt.market import (
    Choices,
    InCvxpy,
    Market,
    Solution,
    Statement,
    Status,
    Utility,
    choices,
    tie_slopes,
    without_money,
)
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL, PRICE, ROUNDING, STATIONARITY, THRESHOLD, Floats, exact_sum
from smqopt.valuation import Regular
from smqopt.verification.checks._block_slopes import lower_slopes, slopes_at_lotteries
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._feasibility import solution_spend
from smqopt.verification.checks._rounding_resolution import lottery_resolution, threshold_resolution
from smqopt.verification.checks._side_constraints import block_tops, multipliers_of, rounding_of_prices
from smqopt.verification.checks._weak_duality import Tops, tops, weights, widths

_SELDOM = 2.0**-40
"""A price that is drawn no more often, and no offer, need not be as good as the others."""
_BELOW = 2.0**-50
"""So far below the price, relative to its terms, a line is taken whose slope is to meet it."""


def concave_bound(market: Market, utility: Utility, budget: float, price: float, tops_of: Tops = tops) -> float:
    """Bound Σ m_i φ_i(q_i) from above by weak duality, rounded up.

    Parameters
    ----------
    market, utility
        n rows.
    budget
        B ≥ 0, in currency.
    price
        λ ≥ 0.

    Returns
    -------
    float
        The bound; +∞ where λ is no price at all.
    """
    if budget == 0:
        free = np.where(market.low == 0, market.valuation.cdf(market.low), 0.0)
        return _without_budget(market, utility, free)
    if not 0 <= price < math.inf:
        return math.inf
    n = market.n
    nobody, everybody = np.zeros(n), np.ones(n)
    fixed = np.array([price * budget])
    return _sum_bound(market, utility, nobody, np.full(n, price), (nobody, everybody), fixed, tops_of)


def concave_side_bound(
    statement: Statement,
    utility: Utility,
    budget: float,
    price: float,
    multipliers: Floats,
    solution: Solution,
    tops_of: Tops = tops,
) -> float:
    """Bound Σ m_i φ_i(q_i) with side constraints by weak duality, rounded up.

    Parameters
    ----------
    statement
        The market and its constraints.
    utility
        φ of its n′ rows.
    budget, price
        B ≥ 0 and λ ≥ 0.
    multipliers
        y, shape (k,), one a linear row.
    solution
        Where slopes of the lines above φ are taken for rows in blocks; any will do.

    Returns
    -------
    float
        The bound; +∞ where the multipliers are none.
    """
    if budget == 0:
        statement, price = without_money(statement), 0.0
        if not np.isfinite(utility.value(statement.highest)).all():
            return -math.inf
    y = multipliers_of(statement, budget, multipliers)
    if y.shape != statement.at_most.shape or not np.isfinite(y).all() or not 0 <= price < math.inf:
        return math.inf
    if np.any(y[~statement.equal] < 0):
        return math.inf
    taken, p = statement.charge(price, y)
    p = p - rounding_of_prices(statement, price, y)
    fixed = np.append(y * statement.at_most, price * budget)
    bounds = statement.lowest, statement.highest
    if statement.blocks is None:
        return _sum_bound(statement.reduced, utility, taken, p, bounds, fixed, tops_of)
    rows = statement.blocks.rows
    alone = np.ones(statement.reduced.n)
    alone[rows] = 0.0
    others = _sum_bound(statement.reduced, utility, taken, p, bounds, fixed, tops_of, alone)
    e = np.zeros(statement.reduced.n)
    e[rows] = slopes_of_blocks(statement, utility, solution, taken, p)
    if not np.isfinite(e).all():
        return math.inf
    height, size = utility.take(rows).tangent(e[rows])
    m = statement.weights()[rows]
    others += exact_sum(m * height) + ROUNDING.value * exact_sum(m * size)
    net = e - taken + ROUNDING.value * (np.abs(e) + np.abs(taken))
    return others + block_tops(statement, others, net, p)


def plane_bound(solution: Solution, objective: InCvxpy, statement: Statement | None) -> float:
    """Bound an objective stated in cvxpy by the plane above it, rounded up.

    Parameters
    ----------
    solution
        What is verified.
    objective
        Its objective.
    statement
        Its side constraints, or None.
    """
    market, budget, price = solution.market, solution.budget, solution.budget_price
    if budget == 0:
        return objective.height
    if statement is None:
        straight = concave_bound(market, objective.utility(market), budget, price)
    else:
        straight = concave_side_bound(
            statement, statement.utility(objective), budget, price, solution.constraint_prices, solution
        )
    return straight + objective.height + ROUNDING.value * (abs(straight) + abs(objective.height))


def slopes_of_blocks(statement: Statement, utility: Utility, solution: Solution, taken: Floats, p: Floats) -> Floats:
    """Return slopes e of lines above φ of rows in blocks, at which draws are ties."""
    blocks, drawn, first = statement.blocks, solution.lottery, statement.first_owner
    assert blocks is not None  # noqa: S101
    group, price, idle = list[int](), list[Floats](), np.zeros(blocks.count, dtype=np.bool_)
    if drawn is not None:
        place = np.full(solution.market.n, -1, dtype=np.intp)
        place[drawn.owner] = np.arange(len(drawn))
        lot = place[first[blocks.rows]]
        for g in np.unique(blocks.of_row[blocks.rows[lot >= 0]]).tolist():
            lots = lot[(blocks.of_row[blocks.rows] == g) & (lot >= 0)]
            posted = drawn.probabilities[lots] > _SELDOM
            sells = posted & (drawn.acceptances[lots] > 0)
            k = int(np.argmax(np.sum(sells, axis=1)))  # prices below her own support are not told by an owner's lottery
            price.append(drawn.prices[lots[k]][sells[k]])
            group += [g] * price[-1].size
            idle[g] = np.any(posted[k] & (drawn.acceptances[lots[k]] == 0))
    every = np.array(group, dtype=np.intp), np.concatenate([np.zeros(0), *price])
    e = tie_slopes(statement, utility, solution.acceptance[first], every, idle, (taken, p))
    if drawn is not None:  # what is drawn by rounding alone is no tie
        with np.errstate(over="ignore"):  # of a first acceptance, where no offer has no value
            answered = utility.slope(solution.acceptance[first])[blocks.rows]
        return lower_slopes(statement, utility, (e, answered), (taken, p))
    own = first[blocks.rows]
    posted = np.where(solution.acceptance[own] > 0, solution.thresholds[own], np.nan)
    return slopes_at_lotteries(statement, utility, e, (taken, p), posted)


def _without_budget(market: Market, utility: Utility, free: Floats) -> float:
    """Return what can be had for nothing, rounded up: an atom at 0 sells for nothing."""
    values = utility.value(free)
    if not np.isfinite(values).all():
        return -math.inf
    terms = values * weights(market)
    return exact_sum(terms) + ROUNDING.value * exact_sum(np.abs(terms))


def _sum_bound(
    market: Market,
    utility: Utility,
    taken: Floats,
    p: Floats,
    bounds: tuple[Floats, Floats],
    fixed: Floats,
    tops_of: Tops,
    share: Floats | float = 1.0,
) -> float:
    m = np.broadcast_to(weights(market), (market.n,)) * share
    _, best, sizes = _best_slopes(market, utility, taken, p, bounds, tops_of)
    allowance = exact_sum(np.append(sizes * m, np.abs(fixed))) * ROUNDING.value
    return exact_sum(np.append(best * m, fixed)) + allowance


def slopes_above(market: Market, utility: Utility, taken: Floats, p: Floats, bounds: tuple[Floats, Floats]) -> Floats:
    """Return slopes e of the lines above φ that bound best; shape (n,).

    Parameters
    ----------
    market, utility
        n rows and their φ.
    taken, p
        a and p, shape (n,) each.
    bounds
        Lowest and highest acceptance, shape (n,) each.
    """
    return _best_slopes(market, utility, taken, p, bounds, tops)[0]


def _best_slopes(
    market: Market, utility: Utility, taken: Floats, p: Floats, bounds: tuple[Floats, Floats], tops_of: Tops
) -> tuple[Floats, Floats, Floats]:
    """Return the better of two slopes, what it bounds by, and the size added."""
    lowest, highest = bounds
    answer = choices(market, utility, p, taken)
    priced = np.multiply(p, answer.slope, out=np.zeros(market.n), where=p > 0)
    below = _BELOW * (np.abs(priced) + np.abs(taken))  # at a jump, rounding the other way has a price
    candidates = utility.slope(np.clip(answer.acceptance, lowest, highest)), priced + taken - below
    slopes, best, sizes = np.full(market.n, math.nan), np.full(market.n, math.inf), np.zeros(market.n)
    for e in candidates:
        good = np.isfinite(e)
        term, size = _terms(market, utility, np.where(good, e, 0.0), taken, p, bounds, tops_of)
        better = good & (term + ROUNDING.value * size < best + ROUNDING.value * sizes)
        slopes, best, sizes = np.where(better, e, slopes), np.where(better, term, best), np.where(better, size, sizes)
    return slopes, best, sizes


def _terms(
    market: Market, utility: Utility, e: Floats, taken: Floats, p: Floats, bounds: tuple[Floats, Floats], tops_of: Tops
) -> tuple[Floats, Floats]:
    """Return φ*(e) + max {(e − a) q − p C̄(q)} of each row, and the size added."""
    height, height_size = utility.tangent(e)
    # what was rounded is taken at its upper end, for q ≥ 0: that costs its share of q alone
    net = e - taken + np.where(taken == 0, 0.0, ROUNDING.value * (np.abs(e) + np.abs(taken)))
    terms, sizes = np.empty(market.n), np.empty(market.n)
    for law, owners in market.valuation.parts():
        lowest, highest = bounds[0][owners], bounds[1][owners]
        free = p[owners] <= 0
        terms[owners], sizes[owners] = tops_of(law, net[owners], np.where(free, 1.0, p[owners]), lowest, highest)
        for_nothing = np.where(net[owners] > 0, highest, lowest) * net[owners]
        terms[owners] = np.where(free, for_nothing, terms[owners])
        sizes[owners] = np.where(free, np.abs(for_nothing), sizes[owners])
    return height + terms, height_size + sizes


def checks_of_concave_optimality(solution: Solution, utility: Utility) -> list[Check]:
    """Check the conditions at λ, with φ′(q) in place of ε."""
    if solution.status is Status.ZERO_BUDGET:
        left = float(np.max(solution.thresholds, where=solution.acceptance > 0, initial=0.0))
        return [Check("threshold", left == 0, left, 0.0, "largest threshold of an offer at a zero budget, in currency")]
    claimed = solution.claims_response
    if not 0 <= solution.budget_price < math.inf:
        return [Check("threshold", False, math.inf, THRESHOLD.value, THRESHOLD.norm, note="no price", required=claimed)]
    answers = choices(solution.market, utility, solution.budget_price)
    checks = [
        _threshold(solution, utility, answers, required=claimed),
        _price(solution, utility, required=claimed),
        _spent(solution, utility, answers, required=claimed),
    ]
    if isinstance(solution.market.valuation.regularity(), Regular):
        checks += [_stationarity(solution, utility), _closed_form(solution, utility, required=claimed)]
    return checks


def _threshold(solution: Solution, utility: Utility, answers: Choices, *, required: bool) -> Check:
    """|θ − θ(λ)|; inside a flat piece, the distance from its ends."""
    market, price = solution.market, solution.budget_price
    lower = choices(market, utility, price * (1.0 + BUDGET_MARGIN.value), start=answers.slope).thresholds
    upper = choices(market, utility, price * (1.0 - BUDGET_MARGIN.value), start=answers.slope).thresholds
    distance = np.abs(solution.thresholds - np.clip(solution.thresholds, lower, upper))
    on, drawn = answers.inside, solution.lottery
    theta = solution.thresholds[on.owner]
    distance[on.owner] = np.minimum(np.abs(theta - on.low), np.abs(theta - on.high))
    if drawn is not None:
        high = answers.thresholds.copy()
        high[on.owner] = on.high
        ends = np.abs(drawn.low - answers.thresholds[drawn.owner]), np.abs(drawn.high - high[drawn.owner])
        inside = np.isin(drawn.owner, on.owner)  # a draw that is all but sure is an end of a piece
        distance[drawn.owner[inside]] = np.maximum(*ends)[inside]
    largest = float(np.max(distance / widths(market)))
    return Check("threshold", largest <= THRESHOLD.value, largest, THRESHOLD.value, THRESHOLD.norm, required=required)


def _price(solution: Solution, utility: Utility, *, required: bool) -> Check:
    """Check that the spend at two prices around λ encloses the budget."""
    price, B = solution.budget_price, solution.budget
    if solution.status is Status.SLACK:
        return Check("price", price == 0, price, 0.0, "budget price where the budget is slack", required=required)
    if not price > 0:
        return Check("price", False, math.inf, PRICE.value, PRICE.norm, note="no price", required=required)
    m = weights(solution.market)
    dear, cheap = (
        exact_sum(m * choices(solution.market, utility, price * (1.0 + move)).spend)
        for move in (PRICE.value, -PRICE.value)
    )
    enclose = dear <= B and B * (1.0 - 4 * BUDGET_MARGIN.value) <= cheap
    miss = 0.0 if enclose else max(dear - B, B - cheap) / B
    note = "value: what the spend misses the budget by"
    return Check("price", enclose, miss, PRICE.value, PRICE.norm, note=note, required=required)


def _spent(solution: Solution, utility: Utility, answers: Choices, *, required: bool) -> Check:
    """Check that a binding budget is spent, but for rounding and one jump."""
    B = solution.budget
    norm = f"{BUDGET_SHORTFALL.norm}; in currency"
    if solution.status is not Status.BINDING:
        return Check("budget spent", None, 0.0, math.inf, norm, note="the budget does not bind", required=False)
    allowed = BUDGET_SHORTFALL.value * B + threshold_resolution(solution, utility.wanted) + lottery_resolution(solution)
    on = answers.inside
    if solution.lottery is None and len(on):
        m = np.broadcast_to(weights(solution.market), (solution.market.n,))[on.owner]
        allowed += float(np.max(m * (on.high * on.high_acceptance - on.low * on.low_acceptance)))
    short = B - solution_spend(solution, solution.acceptance)
    return Check("budget spent", short <= allowed, short, allowed, norm, required=required)


def _stationarity(solution: Solution, utility: Utility) -> Check:
    """Check φ′(q) against λJ(θ), in acceptance."""
    q, price = solution.acceptance, solution.budget_price
    slope, cost = utility.slope(q), solution.market.valuation.virtual_cost(solution.thresholds)
    with np.errstate(invalid="ignore", over="ignore"):
        gain = slope - np.where(price > 0, price * cost, 0.0)
    violation = np.where(q <= 0, np.maximum(gain, 0.0), np.where(q >= 1, np.maximum(-gain, 0.0), np.abs(gain)))
    largest = float(np.max(violation)) / (float(np.max(slope)) or 1.0)
    norm = "largest |φ′(q) − λJ(θ) + lower − upper| over owners, relative to the largest φ′ (errata E15)"
    return Check("stationarity", largest <= STATIONARITY.value, largest, STATIONARITY.value, norm, required=False)


def _closed_form(solution: Solution, utility: Utility, *, required: bool) -> Check:
    """Compare with the derived threshold rule, where there is one."""
    norm = f"closed form: {THRESHOLD.norm}"
    market, price = solution.market, solution.budget_price
    spelt = all(law.formula and law.has_closed_form for law, _ in market.valuation.parts())
    rule = proved_threshold_rule(market.valuation) if spelt else None
    if rule is None:
        return Check("closed form", None, 0.0, THRESHOLD.value, norm, note="the law has no closed form", required=False)
    slope = utility.slope(solution.acceptance)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        x = np.where(slope > 0, slope / price, 0.0)
    distance = float(np.max(np.abs(solution.thresholds - rule(x, market.valuation)) / widths(market)))
    return Check("closed form", distance <= THRESHOLD.value, distance, THRESHOLD.value, norm, required=required)
