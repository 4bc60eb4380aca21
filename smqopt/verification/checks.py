"""Residuals of a solution, each as a check with its value, tolerance and norm. NaN passes nothing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from smqopt.derivation.proved_rule import proved_threshold_rule
from smqopt.numeric.sums import exact_dot, exact_sum
from smqopt.numeric.tolerances import ACCEPTANCE, BUDGET_MARGIN, BUDGET_SHORTFALL, PRICE, STATIONARITY, THRESHOLD
from smqopt.program.classify import status_of
from smqopt.program.lottery import Lottery
from smqopt.program.solution import Solution
from smqopt.program.status import Status
from smqopt.valuation.base import Valuation
from smqopt.valuation.regularity import Regular
from smqopt.verification.bound import expected_spend, offers_at_price, spend_at_price, weights, widths
from smqopt.verification.check import Check

__all__ = [
    "agreement_checks",
    "checks_of_claim",
    "checks_of_optimality",
    "grain",
    "lottery_grain",
    "solution_spend",
    "well_formed",
]

Floats = NDArray[np.float64]


def well_formed(solution: Solution) -> Check:
    """Check that there is one finite threshold and one acceptance in [0, 1] for each row; all other checks need it."""
    n = solution.market.n
    columns = (np.asarray(solution.thresholds), np.asarray(solution.acceptance))
    good = all(column.shape == (n,) and column.dtype == np.float64 for column in columns)
    bad = n if not good else int(np.count_nonzero(~(np.isfinite(columns[0]) & (columns[1] >= 0) & (columns[1] <= 1))))
    good = good and bad == 0 and 0 <= solution.budget < math.inf and not math.isnan(solution.budget_price)
    good = good and _well_formed_lottery(solution.lottery, n)
    return Check("well formed", good, float(bad), 0.0, "rows without a finite threshold and an acceptance in [0, 1]")


def _well_formed_lottery(drawn: Lottery | None, n: int) -> bool:
    """Say whether each lottery is of an owner of her own, between finite thresholds, with shares in [0, 1]."""
    if drawn is None:
        return True
    owner = np.asarray(drawn.owner)
    prices = (drawn.low, drawn.high)
    shares = (drawn.low_acceptance, drawn.high_acceptance, drawn.probability_of_low)
    if not all(np.shape(column) == owner.shape and owner.ndim == 1 for column in (*prices, *shares)):
        return False
    owners = bool(np.all((owner >= 0) & (owner < n)) and np.all(np.diff(owner) > 0))
    return owners and bool(np.isfinite(prices).all() and np.all([(share >= 0) & (share <= 1) for share in shares]))


def checks_of_claim(solution: Solution, ceilings: Floats | None = None) -> list[Check]:
    """Check what the solution claims to be: of this market, in the supports, within the budget, of this status.

    `ceilings` are the highest prices that owners may be offered, shape (n,), where these are not θ̄.
    """
    market, theta = solution.market, solution.thresholds
    law = market.valuation
    most = market.high if ceilings is None else ceilings
    outside = float(np.max(np.maximum(market.low - theta, theta - most) / widths(market)))
    drift, probable = reliable_acceptance(solution)
    over = solution_spend(solution, probable) - solution.budget
    hashed = market.content_hash()
    status = status_of(market, solution.budget, solution.objective)
    by_price = bool(solution.records) or not solution.objective.separable
    agrees = status_with_constraints(solution) if by_price else solution.status is status is not Status.INFEASIBLE
    unrecorded = max(len(solution.constraints) - len(solution.records), 0)
    verdict = law.regularity()
    return [
        Check(
            "fingerprint",
            solution.market_fingerprint == hashed == market.fingerprint,
            0.0 if solution.market_fingerprint == hashed else 1.0,
            0.0,
            "hashes of the market that differ",
        ),
        Check(
            "support",
            outside <= 0,
            max(outside, 0.0),
            0.0,
            "largest distance of a threshold from its support, in widths",
        ),
        Check("acceptance", drift <= ACCEPTANCE.value, drift, ACCEPTANCE.value, ACCEPTANCE.norm),
        Check("budget", over <= 0, over, 0.0, "expected spend minus budget, in currency"),
        Check(
            "status",
            agrees,
            0.0 if agrees else 1.0,
            0.0,
            "statuses that differ",
            note=f"{solution.status.name}: {solution.status}" if by_price else f"{status.name}: {status}",
        ),
        Check(
            "regularity",
            True if isinstance(verdict, Regular) else None,
            0.0 if isinstance(verdict, Regular) else 1.0,
            0.0,
            "laws not proved regular; such cost curves are ironed",
            note=verdict.method,
            required=False,
        ),
        Check(
            "side constraints",
            unrecorded == 0,
            float(unrecorded),
            0.0,
            "constraints that the bound does not cover",
            note="; ".join(solution.constraints),
        ),
    ]


def status_with_constraints(solution: Solution) -> bool:
    """Say whether the status agrees with budget and price; that nothing more can be bought is what the gap shows."""
    price, budget = solution.budget_price, solution.budget
    agree = {
        Status.ZERO_BUDGET: budget == 0,
        Status.SLACK: budget > 0 and price == 0,
        Status.BINDING: budget > 0 and price > 0,
    }
    return agree.get(solution.status, False)


def checks_of_optimality(solution: Solution) -> list[Check]:
    """Check the thresholds against the optimality conditions at the price λ: in θ, in acceptance, in spend, and in closed form."""
    if solution.status is Status.ZERO_BUDGET:
        left = float(np.max(solution.thresholds, where=solution.acceptance > 0, initial=0.0))
        return [Check("threshold", left == 0, left, 0.0, "largest threshold of an offer at a zero budget, in currency")]
    dual = solution.solver == "dual"
    checks = [_threshold(solution, required=dual), _price(solution, required=dual), _spent(solution, required=dual)]
    if isinstance(solution.market.valuation.regularity(), Regular):
        checks += [_stationarity(solution), _closed_form(solution, required=dual)]
    return checks


def agreement_checks(solution: Solution, against: Solution | None) -> list[Check]:
    """Report how far a polished answer is from the raw one, and how far either route's answer, before any polishing, is from the other's."""
    checks = []
    if solution.raw is not None:
        checks.append(_agreement(solution, solution.raw, f"{solution.raw.solver} before polishing"))
    if against is not None:
        checks.append(_agreement(solution.raw or solution, against.raw or against, against.solver))
    return checks


def _agreement(solution: Solution, other: Solution, name: str) -> Check:
    """Report the largest distance in θ to another answer, over owners to whom either makes an offer."""
    norm = f"largest |θ − θ({name})|, relative to the width of the support"
    if other.market.fingerprint != solution.market.fingerprint or other.budget != solution.budget:
        return Check(
            f"agreement with {name}",
            False,
            math.inf,
            math.inf,
            norm,
            note="another market or budget",
            required=False,
        )
    market = solution.market
    distance = np.abs(solution.thresholds - other.thresholds) / widths(market)
    matters = solution.objective.worth(market).wanted & ((solution.acceptance > 0) | (other.acceptance > 0))
    largest = float(np.max(distance, where=matters, initial=0.0))
    if other.objective != solution.objective:
        note = "another objective"
        return Check(f"agreement with {name}", False, math.inf, math.inf, norm, note=note, required=False)
    privacy = other.purchased_privacy - solution.purchased_privacy
    return Check(
        f"agreement with {name}",
        None,
        largest,
        math.inf,
        norm,
        note=f"purchased privacy differs by {privacy:.3g}",
        required=False,
    )


def _widths(solution: Solution, other: Floats) -> float:
    """Give the largest distance in θ, in widths of the support."""
    market = solution.market
    return float(np.max(np.abs(solution.thresholds - other) / widths(market)))


def _threshold(solution: Solution, *, required: bool) -> Check:
    """|θ − θ(λ)|; where the virtual cost is flat, θ(λ) is the interval between the answers at two neighbouring prices."""
    price = solution.budget_price
    if not 0 <= price < math.inf:
        return Check("threshold", False, math.inf, THRESHOLD.value, THRESHOLD.norm, note="no price", required=required)
    lower, _ = offers_at_price(solution.market, price * (1.0 + BUDGET_MARGIN.value))
    upper, _ = offers_at_price(solution.market, price * (1.0 - BUDGET_MARGIN.value))
    distance = _widths(solution, np.clip(solution.thresholds, lower, upper))
    if solution.lottery is not None:
        rows = solution.lottery.owner
        ends = np.maximum(np.abs(solution.lottery.low - lower[rows]), np.abs(solution.lottery.high - upper[rows]))
        distance = max(distance, float(np.max(ends / widths(solution.market)[rows], initial=0.0)))
    return Check("threshold", distance <= THRESHOLD.value, distance, THRESHOLD.value, THRESHOLD.norm, required=required)


def _price(solution: Solution, *, required: bool) -> Check:
    """Spend falls as the price rises: the spend at two prices around λ must enclose the budget."""
    price, B = solution.budget_price, solution.budget
    if solution.status is Status.SLACK:
        return Check("price", price == 0, price, 0.0, "budget price where the budget is slack", required=required)
    if not (0 < price < math.inf and B > 0):
        return Check("price", False, math.inf, PRICE.value, PRICE.norm, note="no price", required=required)
    dear = spend_at_price(solution.market, price * (1.0 + PRICE.value))
    cheap = spend_at_price(solution.market, price * (1.0 - PRICE.value))
    enclosed = dear <= B and B * (1.0 - 4 * BUDGET_MARGIN.value) <= cheap
    miss = 0.0 if enclosed else max(dear - B, B - cheap) / B
    return Check(
        "price",
        enclosed,
        miss,
        PRICE.value,
        PRICE.norm,
        note="value: what the spend misses the budget by",
        required=required,
    )


def _spent(solution: Solution, *, required: bool) -> Check:
    """A binding budget is spent, but for a share of it and one unit in the last place of each threshold."""
    B = solution.budget
    norm = f"{BUDGET_SHORTFALL.norm}; in currency"
    if solution.status is not Status.BINDING:
        return Check("budget spent", None, 0.0, math.inf, norm, note="the budget does not bind", required=False)
    allowed = BUDGET_SHORTFALL.value * B + grain(solution) + _largest_jump(solution) + lottery_grain(solution)
    short = B - solution_spend(solution, solution.acceptance)
    return Check("budget spent", short <= allowed, short, allowed, norm, required=required)


def grain(solution: Solution, wanted: NDArray[np.bool_] | None = None) -> float:
    """Give Σ m_i ulp(θ_i)(F_i + θ_i f_i) over owners who are wanted, by default those with ε_i > 0.

    It is what one unit in the last place of every threshold costs, in currency.

    The density is taken as the difference of F over that unit, so that an infinite f(θ̲) does no harm.
    """
    market, theta = solution.market, solution.thresholds
    above = np.minimum(np.nextafter(theta, np.inf), market.high)
    q, q_above = market.valuation.cdf(theta), market.valuation.cdf(above)
    steps = np.where(market.epsilon > 0 if wanted is None else wanted, (above - theta) * q + above * (q_above - q), 0.0)
    return exact_sum(steps * weights(market))


def lottery_grain(solution: Solution) -> float:
    """Give what a few units in the last place of every chance, next to 1, cost, in currency."""
    drawn = solution.lottery
    if drawn is None:
        return 0.0
    jumps = drawn.high * drawn.high_acceptance - drawn.low * drawn.low_acceptance
    counts = np.broadcast_to(weights(solution.market), (solution.market.n,))[drawn.owner]
    return exact_sum(counts * jumps) * 4 * float(np.finfo(np.float64).eps)


def reliable_acceptance(solution: Solution) -> tuple[float, Floats]:
    """Give the largest |q − F(θ)|, and the probabilities that can be relied upon: the larger of the two.

    No offer has acceptance 0, at the low end of the support, also where F has an atom there.
    """
    market, theta, q = solution.market, solution.thresholds, solution.acceptance
    law = market.valuation
    expected = np.where((q == 0) & (theta == market.low), 0.0, law.cdf(theta))
    drift = np.abs(q - expected)
    drawn = solution.lottery
    if drawn is not None:
        rows = drawn.owner
        low = np.where(
            (drawn.low_acceptance == 0) & (drawn.low == market.low[rows]), 0.0, expected_at(law, rows, drawn.low)
        )
        high = expected_at(law, rows, drawn.high)
        mixed = drawn.probability_of_low * low + (1.0 - drawn.probability_of_low) * high
        off = np.abs([low - drawn.low_acceptance, high - drawn.high_acceptance, mixed - q[rows]])
        drift[rows] = np.max(off, axis=0)
        expected[rows] = mixed
    return float(np.max(drift)), np.maximum(q, expected)


def expected_at(law: Valuation, rows: NDArray[np.intp], theta: Floats) -> Floats:
    """Give F at one threshold for each of some rows."""
    return law.take(rows).cdf(theta)


def solution_spend(solution: Solution, acceptance: Floats) -> float:
    """Give the expected spend at these acceptances, in currency; lotteries by their own ends."""
    market, drawn = solution.market, solution.lottery
    if drawn is None:
        return expected_spend(market, solution.thresholds, acceptance)
    alone = acceptance.copy()
    alone[drawn.owner] = 0.0
    counts = np.broadcast_to(weights(market), (market.n,))[drawn.owner]
    return math.fsum([expected_spend(market, solution.thresholds, alone), exact_dot(drawn.spend, counts)])


def _largest_jump(solution: Solution) -> float:
    """Give what one owner on a flat piece adds to spend from end to end, where lotteries are not drawn; else 0; in currency."""
    if solution.lottery is not None:
        return 0.0
    market, price = solution.market, solution.budget_price
    if not 0 < price < math.inf or isinstance(market.valuation.regularity(), Regular):
        return 0.0
    lower, low_q = offers_at_price(market, price * (1.0 + BUDGET_MARGIN.value))
    upper, high_q = offers_at_price(market, price * (1.0 - BUDGET_MARGIN.value))
    return float(np.max(weights(market) * (upper * high_q - lower * low_q)))


def _stationarity(solution: Solution) -> Check:
    """The optimality condition in acceptance, never in θ, where it is vacuous at f = 0 (errata E15)."""
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
    """Agreement with the threshold rule θ*(ε/λ) that the derivation proves, where it finds one."""
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
