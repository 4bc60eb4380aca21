"""Residuals of a solution of OP2, with value, tolerance and norm."""

from __future__ import annotations

import math

import numpy as np

from smqopt.derivation import proved_threshold_rule
from smqopt.market import Solution, Status
from smqopt.numeric import BUDGET_MARGIN, BUDGET_SHORTFALL, PRICE, STATIONARITY, THRESHOLD, Floats
from smqopt.valuation import Regular
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._feasibility import solution_spend
from smqopt.verification.checks._rounding_resolution import lottery_resolution, threshold_resolution
from smqopt.verification.checks._weak_duality import beyond_spacing, offers_at_price, spend_at_price, weights, widths


def checks_of_optimality(solution: Solution) -> list[Check]:
    """Check thresholds against the optimality conditions at the price λ."""
    if solution.status is Status.ZERO_BUDGET:
        left = float(np.max(solution.thresholds, where=solution.acceptance > 0, initial=0.0))
        return [Check("threshold", left == 0, left, 0.0, "largest threshold of an offer at a zero budget, in currency")]
    claimed = solution.claims_response
    checks = [
        _threshold(solution, required=claimed),
        _price(solution, required=claimed),
        _spent(solution, required=claimed),
    ]
    if isinstance(solution.market.valuation.regularity(), Regular):
        checks += [_stationarity(solution), _closed_form(solution, required=claimed)]
    return checks


def _widths(solution: Solution, other: Floats) -> float:
    """Return the largest distance in θ, in widths of the support."""
    market = solution.market
    distance = beyond_spacing(np.abs(solution.thresholds - other), solution.thresholds)
    return float(np.max(distance / widths(market)))


def _threshold(solution: Solution, *, required: bool) -> Check:
    """Check |θ − θ(λ)|, an interval where the virtual cost is flat."""
    price = solution.budget_price
    if not 0 <= price < math.inf:
        return Check("threshold", False, math.inf, THRESHOLD.value, THRESHOLD.norm, note="no price", required=required)
    lower, _ = offers_at_price(solution.market, price * (1.0 + BUDGET_MARGIN.value))
    upper, _ = offers_at_price(solution.market, price * (1.0 - BUDGET_MARGIN.value))
    distance = _widths(solution, np.clip(solution.thresholds, lower, upper))
    if solution.lottery is not None:
        rows = solution.lottery.owner
        ends = np.maximum(np.abs(solution.lottery.low - lower[rows]), np.abs(solution.lottery.high - upper[rows]))
        ends = beyond_spacing(ends, solution.lottery.high)
        distance = max(distance, float(np.max(ends / widths(solution.market)[rows], initial=0.0)))
    return Check("threshold", distance <= THRESHOLD.value, distance, THRESHOLD.value, THRESHOLD.norm, required=required)


def _price(solution: Solution, *, required: bool) -> Check:
    """Check that the spend at two prices around λ encloses the budget."""
    price, B = solution.budget_price, solution.budget
    if solution.status is Status.SLACK:
        return Check("price", price == 0, price, 0.0, "budget price where the budget is slack", required=required)
    if not (0 < price < math.inf and B > 0):
        return Check("price", False, math.inf, PRICE.value, PRICE.norm, note="no price", required=required)
    dear = spend_at_price(solution.market, price * (1.0 + PRICE.value))
    cheap = spend_at_price(solution.market, price * (1.0 - PRICE.value))
    enclose = dear <= B and B * (1.0 - 4 * BUDGET_MARGIN.value) <= cheap
    miss = 0.0 if enclose else max(dear - B, B - cheap) / B
    return Check(
        "price",
        enclose,
        miss,
        PRICE.value,
        PRICE.norm,
        note="value: what the spend misses the budget by",
        required=required,
    )


def _spent(solution: Solution, *, required: bool) -> Check:
    """Check that a binding budget is spent, but for rounding."""
    B = solution.budget
    norm = f"{BUDGET_SHORTFALL.norm}; in currency"
    if solution.status is not Status.BINDING:
        return Check("budget spent", None, 0.0, math.inf, norm, note="the budget does not bind", required=False)
    allowed = (
        BUDGET_SHORTFALL.value * B
        + threshold_resolution(solution)
        + _largest_jump(solution)
        + lottery_resolution(solution)
    )
    short = B - solution_spend(solution, solution.acceptance)
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


def _stationarity(solution: Solution) -> Check:
    """Check ε against λJ(θ) in acceptance, for in θ it is vacuous at f = 0 (E15)."""
    market, price = solution.market, solution.budget_price
    if not 0 <= price < math.inf:
        return Check(
            "stationarity", False, math.inf, STATIONARITY.value, STATIONARITY.norm, note="no price", required=False
        )
    cost = market.valuation.virtual_cost(solution.thresholds)
    with np.errstate(invalid="ignore", over="ignore"):
        gain = market.epsilon - np.where(price * cost == np.inf, np.inf, price * cost) if price > 0 else market.epsilon
    q = solution.acceptance
    violation = np.where(q <= 0, np.maximum(gain, 0.0), np.where(q >= 1, np.maximum(-gain, 0.0), np.abs(gain)))
    largest = float(np.max(violation)) / (float(market.epsilon.max()) or 1.0)
    return Check(
        "stationarity", largest <= STATIONARITY.value, largest, STATIONARITY.value, STATIONARITY.norm, required=False
    )


def _closed_form(solution: Solution, *, required: bool) -> Check:
    """Compare with the derived threshold rule θ*(ε/λ), where there is one."""
    norm = f"closed form: {THRESHOLD.norm}"
    market, price = solution.market, solution.budget_price
    spelt = all(law.formula and law.has_closed_form for law, _ in market.valuation.parts())
    rule = proved_threshold_rule(market.valuation) if spelt else None
    if rule is None:
        return Check("closed form", None, 0.0, THRESHOLD.value, norm, note="the law has no closed form", required=False)
    if not 0 <= price < math.inf:
        return Check("closed form", False, math.inf, THRESHOLD.value, norm, note="no price", required=required)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        x = np.where(market.epsilon > 0, market.epsilon / price, 0.0)
    distance = _widths(solution, rule(x, market.valuation))
    return Check("closed form", distance <= THRESHOLD.value, distance, THRESHOLD.value, norm, required=required)
