"""Residuals of a solution of OP2, with value, tolerance and norm."""

from __future__ import annotations

import math

import numpy as np

from smqopt.derivation import proved_threshold_rule
from smqopt.market import Solution, Status
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL, PRICE, STATIONARITY, THRESHOLD
from smqopt.valuation import Regular
from smqopt.verification.checks._answers_at_price import Distances, Rule, answers_of, distances
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._feasibility import solution_spend
from smqopt.verification.checks._rounding_resolution import lottery_resolution, threshold_resolution
from smqopt.verification.checks._seen import Seen
from smqopt.verification.checks._weak_duality import beyond_spacing, offers_at_price, weights, widths


def checks_of_optimality(solution: Solution, seen: Seen | None = None) -> list[Check]:
    """Check thresholds against the optimality conditions at the price λ.

    Parameters
    ----------
    solution
        Of OP2 itself.
    seen
        What was seen of its offers while they were enclosed, where they were.
    """
    if solution.status is Status.ZERO_BUDGET:
        left = float(np.max(solution.thresholds, where=solution.acceptance > 0, initial=0.0))
        return [Check("threshold", left == 0, left, 0.0, "largest threshold of an offer at a zero budget, in currency")]
    claimed = solution.claims_response
    regular = isinstance(solution.market.valuation.regularity(), Regular)
    rule = _rule(solution) if regular else None
    has_price = 0 < solution.budget_price < math.inf
    found = distances(solution, rule) if has_price else None
    checks = [
        _threshold(solution, found, required=claimed),
        _price(solution, found, required=claimed),
        _spent(solution, seen, required=claimed),
    ]
    if regular:
        checks += [_stationarity(solution, seen), _closed_form(solution, rule, found, required=claimed)]
    return checks


def _threshold(solution: Solution, found: Distances | None, *, required: bool) -> Check:
    """Check |θ − θ(λ)|, an interval where the virtual cost is flat."""
    price = solution.budget_price
    if not 0 <= price < math.inf:
        return Check("threshold", False, math.inf, THRESHOLD.value, THRESHOLD.norm, note="no price", required=required)
    if found is None:  # at a price of 0 all who have something to sell are offered the top of the support
        top = np.where(solution.market.epsilon > 0, solution.market.high, solution.market.low)
        off = beyond_spacing(np.abs(solution.thresholds - top), solution.thresholds)
        distance = float(np.max(off / widths(solution.market)))
    else:
        distance = found.threshold
    if solution.lottery is not None:
        rows = solution.lottery.owner
        lower, _ = answers_of(solution.market, rows, price * (1.0 + BUDGET_MARGIN.value))
        upper, _ = answers_of(solution.market, rows, price * (1.0 - BUDGET_MARGIN.value))
        ends = np.maximum(np.abs(solution.lottery.low - lower), np.abs(solution.lottery.high - upper))
        ends = beyond_spacing(ends, solution.lottery.high)
        distance = max(distance, float(np.max(ends / widths(solution.market)[rows], initial=0.0)))
    return Check("threshold", distance <= THRESHOLD.value, distance, THRESHOLD.value, THRESHOLD.norm, required=required)


def _price(solution: Solution, found: Distances | None, *, required: bool) -> Check:
    """Check that the spend at two prices around λ encloses the budget."""
    price, B = solution.budget_price, solution.budget
    if solution.status is Status.SLACK:
        return Check("price", price == 0, price, 0.0, "budget price where the budget is slack", required=required)
    if found is None or not B > 0:
        return Check("price", False, math.inf, PRICE.value, PRICE.norm, note="no price", required=required)
    enclose = found.dear <= B and B * (1.0 - 4 * BUDGET_MARGIN.value) <= found.cheap
    miss = 0.0 if enclose else max(found.dear - B, B - found.cheap) / B
    note = "value: what the spend misses the budget by"
    return Check("price", enclose, miss, PRICE.value, PRICE.norm, note=note, required=required)


def _spent(solution: Solution, seen: Seen | None, *, required: bool) -> Check:
    """Check that a binding budget is spent, but for rounding."""
    B = solution.budget
    norm = f"{BUDGET_SHORTFALL.norm}; in currency"
    if solution.status is not Status.BINDING:
        return Check("budget spent", None, 0.0, math.inf, norm, note="the budget does not bind", required=False)
    short = B - (solution_spend(solution, solution.acceptance) if seen is None else seen.spend)
    allowed = BUDGET_SHORTFALL.value * B
    if short > allowed:  # what rounding and jumps explain takes longer to find
        allowed += threshold_resolution(solution) + _largest_jump(solution) + lottery_resolution(solution)
    return Check("budget spent", short <= allowed, short, allowed, norm, required=required)


def _largest_jump(solution: Solution) -> float:
    """Return what one owner's flat piece adds to spend where none is drawn."""
    if solution.lottery is not None:
        return 0.0
    market, price = solution.market, solution.budget_price
    if not 0 < price < math.inf or isinstance(market.valuation.regularity(), Regular):
        return 0.0
    lower, low_q = offers_at_price(market, price * (1.0 + BUDGET_MARGIN.value))
    upper, high_q = offers_at_price(market, price * (1.0 - BUDGET_MARGIN.value))
    return float(np.max(weights(market) * (upper * high_q - lower * low_q)))


def _stationarity(solution: Solution, seen: Seen | None) -> Check:
    """Check ε against λJ(θ) in acceptance, for in θ it is vacuous at f = 0 (E15)."""
    market, price = solution.market, solution.budget_price
    if not 0 <= price < math.inf:
        return Check(
            "stationarity", False, math.inf, STATIONARITY.value, STATIONARITY.norm, note="no price", required=False
        )
    violation = _violation(solution) if seen is None or price == 0 else seen.violation
    largest = violation / (float(market.epsilon.max()) or 1.0)
    return Check(
        "stationarity", largest <= STATIONARITY.value, largest, STATIONARITY.value, STATIONARITY.norm, required=False
    )


def _violation(solution: Solution) -> float:
    """Return the largest |ε − λJ(θ)| that no multiplier takes up, in units of ε."""
    market, price = solution.market, solution.budget_price
    cost = market.valuation.virtual_cost(solution.thresholds)
    with np.errstate(invalid="ignore", over="ignore"):
        gain = market.epsilon - np.where(price * cost == np.inf, np.inf, price * cost) if price > 0 else market.epsilon
    q = solution.acceptance
    each = np.where(q <= 0, np.maximum(gain, 0.0), np.where(q >= 1, np.maximum(-gain, 0.0), np.abs(gain)))
    return float(np.max(each))


def _rule(solution: Solution) -> Rule | None:
    """Return the derived threshold rule θ*(ε/λ), where there is one."""
    law = solution.market.valuation
    spelt = all(part.formula and part.has_closed_form for part, _ in law.parts())
    return proved_threshold_rule(law) if spelt else None


def _closed_form(solution: Solution, rule: Rule | None, found: Distances | None, *, required: bool) -> Check:
    """Compare with the derived threshold rule, where there is one."""
    norm = f"closed form: {THRESHOLD.norm}"
    if rule is None:
        return Check("closed form", None, 0.0, THRESHOLD.value, norm, note="the law has no closed form", required=False)
    market, price = solution.market, solution.budget_price
    if not 0 <= price < math.inf:
        return Check("closed form", False, math.inf, THRESHOLD.value, norm, note="no price", required=required)
    if found is not None:
        distance = found.closed_form
    else:
        x = np.where(market.epsilon > 0, np.inf, 0.0)
        off = beyond_spacing(np.abs(solution.thresholds - rule(x, market.valuation)), solution.thresholds)
        distance = float(np.max(off / widths(market)))
    return Check("closed form", distance <= THRESHOLD.value, distance, THRESHOLD.value, norm, required=required)
