"""The judgement of a solution: its checks, and bounds on the optimum from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

from smqopt.numeric.tolerances import GAP, ROUNDING
from smqopt.program.solution import Solution
from smqopt.verification.bound import purchased_privacy, upper_bound
from smqopt.verification.checks import Check, agreement_check, checks_of_claim, checks_of_optimality, well_formed

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True)
class Judgement:
    """Checks and bounds, as they were found."""

    checks: tuple[Check, ...]
    lower_bound: float
    upper_bound: float
    gap: float


def judge(solution: Solution, against: Solution | None = None) -> Judgement:
    """Judge a solution from its market, budget, thresholds and price; never raises on a wrong one.

    Parameters
    ----------
    solution
        What to judge.
    against
        Another route's solution of the same program, whose distance in θ is reported.
    """
    shape = well_formed(solution)
    if shape.fails:
        return Judgement((shape,), 0.0, math.inf, math.inf)
    claims = checks_of_claim(solution)
    keeps = not any(check.fails for check in claims if check.name in ("support", "acceptance", "budget"))
    market = solution.market
    lower = purchased_privacy(market, solution.acceptance) * (1.0 - ROUNDING.value) if keeps else 0.0
    upper = upper_bound(market, solution.budget, solution.budget_price)
    gap = _relative_gap(lower, upper)
    checks = [
        shape,
        *claims,
        Check("gap", 0 <= gap <= GAP.value, gap, GAP.value, GAP.norm, note="" if keeps else "the thresholds are not feasible"),
        *checks_of_optimality(solution),
    ]
    if against is not None:
        checks.append(agreement_check(solution, against))
    return Judgement(tuple(checks), lower, upper, gap)


def _relative_gap(lower: float, upper: float) -> float:
    if upper == math.inf:
        return math.inf
    return (upper - lower) / upper if upper > 0 else 0.0 if lower == 0 else -math.inf
