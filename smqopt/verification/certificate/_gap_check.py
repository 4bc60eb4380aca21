"""The gap as a check: what it asks, and what keeps it open."""

from __future__ import annotations

import math

from smqopt.market import (
    PurchasedPrivacy,
    Solution,
)
from smqopt.numeric import GAP
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._rounding_resolution import lottery_resolution, threshold_resolution

NEARLY = 1e-6
"""Bounds that roundings in doubles may leave so far apart, relatively, are tried in balls."""


def gap_check(solution: Solution, lower: float, upper: float, tolerance: float, *, keeps: bool) -> Check:
    gap = _relative_gap(lower, upper)
    note = _gap_note(solution, upper, keeps=keeps)
    return Check("gap", 0 <= gap <= tolerance, gap, tolerance, gap_norm(solution), note=note)


def _gap_note(solution: Solution, upper: float, *, keeps: bool) -> str:
    """Name what keeps the gap open: feasibility, or the spacing of doubles."""
    if not keeps:
        return "the thresholds are not feasible"
    moves = spacing_moves(solution, upper)
    of_what = "threshold" if isinstance(solution.objective, PurchasedPrivacy) else "threshold and chance"
    return f"one unit in the last place of every {of_what} moves the bounds by {moves:.2g}" if moves > GAP.value else ""


def spacing_moves(solution: Solution, upper: float) -> float:
    """Return by how much the spacing of doubles moves the bounds, relative to them."""
    if not (0 < upper < math.inf and solution.budget_price < math.inf):
        return 0.0
    if isinstance(solution.objective, PurchasedPrivacy):
        coarse = threshold_resolution(solution)
    else:
        coarse = threshold_resolution(
            solution, solution.objective.utility(solution.market).wanted
        ) + lottery_resolution(solution)
    return solution.budget_price * coarse / abs(upper)


def gap_norm(solution: Solution) -> str:
    if isinstance(solution.objective, PurchasedPrivacy):
        return GAP.norm
    return f"upper minus lower bound on the objective ({solution.objective.words}), relative to the upper bound"


def _relative_gap(lower: float, upper: float) -> float:
    if not math.isfinite(upper) or not math.isfinite(lower):
        return math.inf
    return (upper - lower) / upper if upper > 0 else 0.0 if lower == 0 else -math.inf
