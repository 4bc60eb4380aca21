r"""Checks and bounds of random prices.

What the rule pays and errs by is summed over the chords of its menus, from F at their prices. The
bound is weak duality: at a price of money λ and of bias ρ every rule's error is at least

    (R/2)² [−ρ² + 2ρ Σ w + Σ w² − λB + Σ min f] + 2b²,

f as the rule states it (`smqopt.market.random_prices._rule`), C replaced by the upper envelope of
tangents, whose heights the bound of OP2 at their slopes gives. All in doubles, with an allowance.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.market import (
    CostTable,
    Market,
    RandomPrices,
    Solution,
    Status,
    WorstCaseError,
    cdf_at,
    chord_table,
    kinds_of,
    owners_of,
    rule_at,
)
from smqopt.numeric import BUDGET_SHORTFALL, ERROR_GAP, ROUNDING, Floats, exact_dot, exact_sum
from smqopt.valuation import Valuation, bound_by_cells, lower_hull
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._hidden import may_hide
from smqopt.verification.checks._weak_duality import tops

_SHARE_OF_CELLS = 1e-9
"""By how much a height that F alone bounds may be too large, relative to it."""
_UNIT = 1e-2
"""Of (R/2)² Σ w²: an error below it is a difference of numbers so much larger."""
_STEEP = 16.0
"""Times the last slope: a tangent that touches C at acceptance 1."""
_COLUMN = 1e-9
"""Relative: columns are the rule's to so much, as another machine may round."""


def checks_of_random_prices(
    solution: Solution, objective: WorstCaseError, drawn: RandomPrices
) -> tuple[list[Check], float, float]:
    """Check the menus, what they pay, and what privacy asks; and bound the error.

    Returns
    -------
    checks, lower, upper
        The bounds are of the squared error; an upper one of +∞ where a check fails.

    Raises
    ------
    InputError
        If the objective does not fit the market.
    """
    market, budget = solution.market, solution.budget
    objective.sizes(market)
    kinds = kinds_of(market)
    prices, points = drawn.prices, np.array(drawn.points)
    good = prices.ndim == 2 and prices.shape[0] == len(kinds.laws) and np.isfinite(prices).all()
    good = good and bool(np.all(prices >= 0) and np.all(np.diff(prices, axis=1) >= 0))
    shares, dual = points[:, 0], points[:, 1:]
    good = good and bool(np.all(shares > 0) and abs(shares.sum() - 1) <= _COLUMN and np.all(dual[:, 0] > 0))
    good = good and bool(np.all(dual[:, 1] >= 0)) and (drawn.noise_scale > 0) == objective.private
    good = good and objective.noise_scale in (None, drawn.noise_scale)
    norm = "menus that rise, one a law; prices λ > 0 and ρ ≥ 0, shares that sum to 1, noise as the objective says"
    menus = Check("menus", bool(good), 0.0 if good else 1.0, 0.0, norm)
    hashed = market.content_hash()
    fits = solution.market_fingerprint == market.fingerprint == hashed
    print_check = Check("fingerprint", fits, 0.0 if fits else 1.0, 0.0, "the market is the one that was solved")
    if not good:
        return [print_check, menus], 0.0, math.inf
    end = max(abs(1.0 - float(cdf_at(law, row)[-1])) for law, row in zip(kinds.laws, prices, strict=True))
    top = Check("highest price", end == 0, end, 0.0, "1 − F of the highest price of a menu: every report has a chance")
    chances = drawn.on(market, objective)
    spend = exact_dot(chances.spend, market.weights) * (1.0 + BUDGET_SHORTFALL.value)
    over = max(spend - budget, 0.0)
    paid = Check("budget", spend <= budget, over, 0.0, "expected payments beyond the budget, in currency")
    columns = ((solution.thresholds, chances.sure_prices()), (solution.acceptance, chances.acceptance))
    apart = max(float(np.max(np.abs(one - other) / (np.abs(other) + _COLUMN))) for one, other in columns)
    shown = Check("columns", apart <= _COLUMN, apart, _COLUMN, "thresholds and acceptances against the rule, relative")
    owners = owners_of(market, objective, drawn.noise_scale)
    rows, first = np.arange(market.n), np.full(market.n, chances.table.cells - 1)
    least, s = chances.in_cell(rows, first), chances.shrinkage
    asked = np.where((s > 0) & (owners.floor > 0), s * np.where(s > 0, owners.floor, 0.0), 0.0)
    short = float(np.max(np.where(asked > 0, 1.0 - least / np.maximum(asked, np.finfo(float).tiny), 0.0)))
    kept = Check(
        "privacy", short <= _COLUMN, max(short, 0.0), _COLUMN, "least chance below s w R/(ε b), relative to it"
    )
    positive = bool(np.all((least > 0) | (s == 0) | (owners.weight == 0)))
    chance = Check("chances", positive, 0.0 if positive else 1.0, 0.0, "a chance above 0 at every report that counts")
    status = solution.status in (Status.BINDING, Status.SLACK)
    said = Check("status", status, 0.0 if status else 1.0, 0.0, "binding or slack")
    checks = [print_check, menus, top, paid, shown, kept, chance, said]
    upper = chances.error(market, objective, drawn.noise_scale) if not any(one.fails for one in checks) else math.inf
    tangents = tangent_table(solution, drawn)
    lower = max(
        dual_bound(tangents, solution, objective, drawn.noise_scale, price, bias) for _, price, bias in drawn.points
    )
    return checks, lower, upper * (1.0 + BUDGET_SHORTFALL.value)


def gap_of_error(
    market: Market, objective: WorstCaseError, lower: float, upper: float, tolerance: float | None
) -> Check:
    """Check the gap, relative to the error."""
    most = ERROR_GAP.value if tolerance is None else tolerance
    least = (
        _UNIT
        * (objective.range / 2.0) ** 2
        * exact_dot(market.weights * objective.sizes(market), objective.sizes(market))
    )
    gap = (upper - lower) / max(upper, least) if upper < math.inf else math.inf
    norm = f"upper minus lower bound on the objective ({objective.words}), relative to the upper bound, or to {_UNIT:g} of (R/2)² Σ w²"
    return Check("gap", 0 <= gap <= most, gap, most, norm)


def tangent_table(solution: Solution, drawn: RandomPrices) -> CostTable:
    """Return cells below which no cost curve lies, from its tangents."""
    kinds = kinds_of(solution.market)
    slopes = chord_table(kinds, drawn.prices).slope
    lows = np.array([float(np.ravel(law.low)[0]) for law in kinds.laws])
    beyond = 2.0 * slopes[:, -1] - slopes[:, max(slopes.shape[1] - 2, 0)]
    slopes = np.maximum(np.column_stack([lows, slopes, beyond, _STEEP * beyond]), lows[:, np.newaxis])
    reached = np.array([_breaks(law, row) for law, row in zip(kinds.laws, slopes, strict=True)])
    return CostTable.of(kinds.of_row, slopes, reached, highest=drawn.prices[:, -1] * (1.0 - ROUNDING.value))


def _breaks(law: Valuation, slopes: Floats) -> Floats:
    """Return where the tangents of an upper envelope meet.

    Acceptances 0 = v_0 ≤ … ≤ v_K = 1. The first slope is θ̲: C(q) ≥ θ̲ q. Tangents that the
    others cover have no cell.
    """
    if may_hide(law):
        slopes = slopes.copy()
        height = bound_by_cells(law, slopes, _SHARE_OF_CELLS).upper
    else:
        many = law if law.size is None else law.take(np.zeros(slopes.size, dtype=np.intp))
        nobody, everybody = np.zeros(slopes.size), np.ones(slopes.size)
        top, size = tops(many, slopes, everybody, nobody, everybody)
        height = top + ROUNDING.value * size
    height[0] = 0.0
    kept = lower_hull(np.zeros(slopes.size, dtype=np.intp), slopes, height)
    meet = np.diff(height[kept]) / np.diff(slopes[kept])
    reached = np.zeros(slopes.size + 1)
    reached[1:][kept[:-1]] = np.maximum.accumulate(np.clip(meet, 0.0, 1.0))
    reached = np.maximum.accumulate(reached)
    reached[kept[-1] + 1 :] = 1.0
    return reached


def dual_bound(
    table: CostTable, solution: Solution, objective: WorstCaseError, scale: float, price: float, bias: float
) -> float:
    """Bound the squared error of every rule at this scale of noise from below."""
    market = solution.market
    owners = owners_of(market, objective, scale)
    if price <= 0 or (bias > 0 and not owners.free):
        return -math.inf
    rule = rule_at(table, owners, price, bias)
    w, m = owners.weight, market.weights
    mine = w * w * rule.squares, price * rule.spend, -2.0 * w * (bias + w) * rule.shrinkage
    parts = [m * one for one in mine] + [2.0 * bias * m * w, m * w * w]
    fixed = np.array([-(bias**2), -price * solution.budget])
    every = np.concatenate([np.broadcast_to(part, w.shape) for part in parts] + [fixed])
    allowance = ROUNDING.value * table.cells * exact_sum(np.abs(every))
    return (objective.range / 2.0) ** 2 * (exact_sum(every) - allowance) + 2.0 * scale**2
