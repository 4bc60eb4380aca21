"""Checks and bounds of a solution for the least mean squared error.

What stands here rests on OP2 alone: the thresholds are those of OP2 with r(μ) in place of ε, and
are checked as such; the bound of weak duality at each (μ, λ) of the record is a half-plane, and the
least error over their polygon is one on every purchase's and all weights'. The error of the
thresholds themselves is the other bound.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from smqopt.errors import InputError
from smqopt.market import (
    BEND,
    LARGEST_BUDGET,
    BoundingMarket,
    Market,
    MeanSquaredError,
    PurchasedPrivacy,
    Solution,
    Statement,
    few_rows,
    least_corner,
    state,
)
from smqopt.numeric import ERROR_GAP, GAP, HIDDEN_GAP, ROUNDING, Floats
from smqopt.valuation import iron, response_table
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._hidden import hides, tops_from_cdf
from smqopt.verification.checks._weak_duality import Tops, offers_at_price, tops
from smqopt.verification.proof._proof import DOUBLES, Proof, prove, prove_in_doubles

_SHARE_OF_GAP = 0.9
"""Few rows are enough where they leave this share of the gap that passes."""

BoundsOf = Callable[[Solution, Statement | None, Tops], float]
"""The weak-duality bound of a solution of OP2."""


def as_op2(
    solution: Solution,
    objective: MeanSquaredError,
    plane: Sequence[float] | None = None,
    few: BoundingMarket | None = None,
) -> Solution:
    """Return a solution for the error as one of OP2 with r(μ) in place of ε.

    At its own μ and prices; or, as a bound needs no more, at those of a half-plane, for a market of
    few rows too.
    """
    if few is not None:
        solution = dataclasses.replace(solution, market=few.market, budget=solution.budget * few.shares)
    market = solution.market
    mu, bend = objective.shrinkage if plane is None else plane[0], 1.0 if few is None else BEND
    at = objective.market_at(market, mu, bend)
    # a bound at a half-plane looks at no fingerprint, and a million owners take long to hash
    own = plane is None and solution.market_fingerprint == market.fingerprint == market.content_hash()
    found = dataclasses.replace(
        solution,
        market=at,
        market_fingerprint=at.fingerprint if own else solution.market_fingerprint,
        objective=PurchasedPrivacy(),
    )
    if plane is None:
        return found
    price = plane[1] if solution.budget > 0 else solution.budget_price  # without money it has no end
    found = dataclasses.replace(found, budget_price=price, constraint_prices=np.array(plane[2:]))
    if solution.records or solution.budget == 0:
        return found
    # the tops are touched where the owners would answer, nearly
    table = None if few is None or plane[1] == 0 else response_table(iron(at.valuation))
    with np.errstate(over="ignore"):
        v = at.epsilon / plane[1] if plane[1] else at.epsilon
    thresholds, acceptance = offers_at_price(at, plane[1]) if table is None else table.offer(v)
    return dataclasses.replace(found, thresholds=thresholds, acceptance=acceptance, lottery=None)


def error_bounds(
    solution: Solution, objective: MeanSquaredError, bound_of: BoundsOf, wanted: float, *, keeps: bool
) -> tuple[float, float, float]:
    """Bound the least error from both sides in doubles, and say what gap may pass.

    `wanted` is the gap that is asked for.
    """
    market, population = solution.market, objective.owners(solution.market)
    hidden = hides(market)

    def height(op2: Solution) -> float:
        form = state(op2.market, op2.records) if op2.records else None
        return bound_of(op2, form, tops_from_cdf if hidden else tops)

    value = objective.value(market, solution.acceptance)
    own = height(as_op2(solution, objective, objective.half_planes[0]))
    least = _least_error(solution, objective, height, own, value, wanted)
    raised = value + population * objective.sigma2 if value < math.inf else 0.0
    allowance = ROUNDING.value * (raised + population * objective.sigma2)
    tolerance = ERROR_GAP.value
    if hidden and value < math.inf:
        tolerance += 2.0 * HIDDEN_GAP.value * raised / value
    lower = least if least == math.inf else max(least - allowance, 0.0)
    return lower, value + allowance if keeps else math.inf, tolerance


def _least_error(
    solution: Solution,
    objective: MeanSquaredError,
    height: Callable[[Solution], float],
    own: float,
    error: float,
    tolerance: float,
) -> float:
    """Bound the least error from below, by half-planes at all μ.

    Parameters
    ----------
    solution, objective
        What is verified.
    height
        Bounds OP2 at one μ.
    own
        The bound at the solution's own μ.
    error, tolerance
        Where few rows bound it near enough to this, they are all that is looked at.
    """
    first = objective.half_planes[0][0], own

    def over(few: BoundingMarket | None) -> float:
        planes = [first]
        for plane in objective.half_planes[1:]:
            found = height(as_op2(solution, objective, plane, few))
            planes.append((plane[0], found if few is None else found / few.shares))
        return least_corner(planes, objective.sigma2, objective.range, objective.owners(solution.market)).error

    few = few_rows(solution.market) if not solution.records and 0 < solution.budget <= LARGEST_BUDGET else None
    if few is not None and (least := over(few)) >= error * (1.0 - _SHARE_OF_GAP * tolerance):
        return least
    return over(None)


def error_gap(objective: MeanSquaredError, lower: float, upper: float, tolerance: float, note: str) -> Check:
    """Check the gap of the error, relative to it."""
    gap = math.inf if not upper < math.inf else (upper - lower) / upper
    if lower == upper == math.inf:  # nothing can be bought, and that is proved
        gap, note = 0.0, "nothing with any weight can be bought"
    norm = f"upper minus lower bound on the objective ({objective.words}), relative to the upper bound"
    return Check("gap", 0 <= gap <= tolerance, gap, tolerance, norm, note=note)


def prove_error(
    solution: Solution, objective: MeanSquaredError, own: Proof, tolerance: float, *, limited: bool
) -> Proof:
    """Enclose the error's bounds, where OP2 at the solution's own μ is proved.

    Parameters
    ----------
    solution, objective
        What is verified.
    own
        The proof of OP2 at its own μ.
    tolerance
        The largest gap of the error.
    limited
        As for `prove`.
    """
    market, population = solution.market, objective.owners(solution.market)
    bits = (own.bits,)

    def proof_of(op2: Solution) -> Proof:
        quick = prove_in_doubles(op2, GAP.value) if own.bits == DOUBLES else None
        return quick or prove(op2, limited=limited, precisions=bits)

    def privacy_of(epsilon: Floats) -> tuple[float, float]:
        op2 = dataclasses.replace(as_op2(solution, objective), market=_with(market, epsilon))
        quick = prove_in_doubles(dataclasses.replace(op2, budget_price=0.0), GAP.value) if own.bits == DOUBLES else None
        return (quick or prove(op2, limited=limited, precisions=bits)).purchased_privacy

    a = np.minimum(market.epsilon, objective.sums(market, solution.acceptance)[2])
    X, Y = privacy_of(a)[0], privacy_of(np.where(a > 0, np.nextafter(a * a, math.inf), 0.0))[1]
    upper = _rounded_up_error(objective, population, X, Y)
    lower = _least_error(solution, objective, lambda op2: proof_of(op2).upper_bound, own.upper_bound, upper, tolerance)
    unproved = list(own.unproved)
    if not 0 <= upper - lower <= tolerance * upper and not lower == upper == math.inf:
        unproved.append(f"{own.bits} bits do not prove that the gap of the error is at most {tolerance:g}")
    return dataclasses.replace(
        own,
        purchased_privacy=privacy_of(market.epsilon),
        lower_bound=max(lower, 0.0),
        upper_bound=upper,
        objective=objective.kind,
        unproved=tuple(unproved),
        contradict=own.contradict or upper < lower,
    )


def _with(market: Market, epsilon: Floats) -> Market:
    return Market(epsilon, market.valuation, groups=market.groups, multiplicity=market.multiplicity)


def _rounded_up_error(objective: MeanSquaredError, population: int, X: float, Y: float) -> float:
    if not X > 0 or math.isinf(Y):
        return math.inf
    s, R, N = Fraction(objective.sigma2), Fraction(objective.range), Fraction(population)
    error = N**2 * (s * Fraction(Y) + 2 * R**2) / Fraction(X) ** 2 - N * s
    if error > sys.float_info.max:
        return math.inf
    value = float(error)
    return math.nextafter(value, math.inf) if Fraction(value) < error else value


def refuse_planes(objective: MeanSquaredError, solution: Solution) -> None:
    """Refuse a record whose half-planes do not fit the solution.

    Raises
    ------
    InputError
        If there are none, one has too few prices, or the population is smaller than the market.
    """
    objective.owners(solution.market)
    length = 2 + np.size(solution.constraint_prices)
    if not objective.half_planes or any(len(plane) != length for plane in objective.half_planes):
        raise InputError(
            objective.where("half_planes"),
            f"must hold half-planes of {length} numbers: μ and the prices",
            value=len(objective.half_planes),
            remedy="solve again",
        )
