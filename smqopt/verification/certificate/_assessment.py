"""Checks of a solution, and bounds on the optimum from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass

from smqopt.errors import InputError
from smqopt.market import InCvxpy, Pooled, PurchasedPrivacy, Solution, Stated, Statement, state_or_pool
from smqopt.numeric import GAP, ROUNDING
from smqopt.verification.checks._agreement import agreement_checks
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._concave import (
    checks_of_concave_optimality,
    concave_bound,
    concave_side_bound,
    plane_bound,
)
from smqopt.verification.checks._feasibility import check_shape, checks_of_claim
from smqopt.verification.checks._optimality import checks_of_optimality
from smqopt.verification.checks._pooled_owners import checks_of_pooling, pooled_bound
from smqopt.verification.checks._rounding_resolution import lottery_resolution, threshold_resolution
from smqopt.verification.checks._side_constraints import checks_of_constraints, side_bound
from smqopt.verification.checks._weak_duality import purchased_privacy, upper_bound
from smqopt.verification.proof._proof import Proof, prove


@dataclass(frozen=True)
class Assessment:
    """Checks and bounds, as they were found."""

    checks: tuple[Check, ...]
    lower_bound: float
    upper_bound: float
    gap: float
    proof: Proof | None = None
    """What ball arithmetic found; None where it was not asked, or something else fails already."""

    @property
    def valid(self) -> bool:
        """Whether every required check passed."""
        return bool(self.checks) and not any(check.fails for check in self.checks)


def assess(
    solution: Solution,
    against: Solution | None,
    gap_tolerance: float,
    proving: bool | None = None,
    form: Stated | None = None,
) -> Assessment:
    """Check a solution from its own numbers; never raise on a wrong one.

    Parameters
    ----------
    solution
        What to verify.
    against
        Another route's solution of the same program, whose distance in θ is reported.
    gap_tolerance
        The largest gap that passes, relative to the upper bound.
    proving
        Whether to enclose the sums in ball arithmetic too: always, never, or (None) where that
        takes no longer than a moment.
    form
        What `stated` gives for the solution's market and records, where the caller has it; it is
        stated here otherwise.
    """
    shape = check_shape(solution)
    if shape.fails:
        return Assessment((shape,), 0.0, math.inf, math.inf)
    try:
        solution.objective.utility(solution.market)
        form = form or state_or_pool(solution.market, solution.records)
    except InputError as error:
        return Assessment((shape, _statement_check(error)), 0.0, math.inf, math.inf)
    claims = checks_of_claim(solution, None if form is None else form.ceilings())
    sides = checks_of_constraints(solution, form) if isinstance(form, Statement) else []
    if isinstance(form, Pooled):
        sides = checks_of_pooling(solution, form)
    feasibility = [check for check in claims if check.name in ("support", "acceptance", "budget")]
    keeps = not any(check.fails for check in [*feasibility, *sides])
    lower, upper = bounds(solution, form, keeps=keeps)
    gap = _relative_gap(lower, upper)
    checks = [
        shape,
        *claims,
        *sides,
        Check(
            "gap",
            0 <= gap <= gap_tolerance,
            gap,
            gap_tolerance,
            _gap_norm(solution),
            note=_gap_note(solution, upper, keeps=keeps),
        ),
        *([] if solution.records and solution.objective.separable else _optimality(solution)),
    ]
    proof = None
    if proving is not False and not any(check.fails for check in checks):
        proof = prove(solution, gap_tolerance, limited=proving is None, form=form)
        checks.append(_proof_check(proof, gap_tolerance))
    checks += agreement_checks(solution, against)
    if proof is not None and proof.holds:
        return Assessment(tuple(checks), proof.lower_bound, proof.upper_bound, proof.gap, proof)
    return Assessment(tuple(checks), lower, upper, gap, proof)


def _proof_check(proof: Proof, gap_tolerance: float) -> Check:
    """State as a check what a proof adds: it decides only where it refutes."""
    passed = True if proof.holds else False if proof.refuted else None
    norm = (
        "gap between balls that hold purchased privacy and its bound; spend, supports and regularity are proved with it"
    )
    return Check(
        "proof", passed, proof.gap, gap_tolerance, norm, note="; ".join(proof.unproved), required=passed is False
    )


def bounds(solution: Solution, form: Stated | None, *, keeps: bool) -> tuple[float, float]:
    """Bound the optimum from below by the thresholds, from above by duality.

    Parameters
    ----------
    solution
        A well-formed solution.
    form
        What `stated` gives for its market and records.
    keeps
        Whether the thresholds keep budget and constraints.

    Returns
    -------
    lower, upper
        In the unit of the objective.
    """
    market, objective = solution.market, solution.objective
    budget, price, prices = solution.budget, solution.budget_price, solution.constraint_prices
    if isinstance(form, Pooled):
        covered = isinstance(objective, PurchasedPrivacy)
        upper = pooled_bound(form, budget, price) if covered else math.inf
        return (purchased_privacy(market, solution.acceptance) * (1.0 - ROUNDING.value) if keeps else 0.0), upper
    if isinstance(objective, PurchasedPrivacy):
        upper = upper_bound(market, budget, price) if form is None else side_bound(form, budget, price, prices)
        return (purchased_privacy(market, solution.acceptance) * (1.0 - ROUNDING.value) if keeps else 0.0), upper
    if isinstance(objective, InCvxpy):
        beyond = plane_bound(solution, objective, form)
    elif form is None:
        beyond = concave_bound(market, objective.utility(market), budget, price)
    else:
        beyond = concave_side_bound(form, form.utility(objective), budget, price, prices)
    value = objective.value(market, solution.acceptance)
    against_us = value + ROUNDING.value * abs(value) * (1.0 if objective.smallest else -1.0)
    if objective.smallest:
        return -beyond, against_us if keeps else math.inf
    return against_us if keeps else -math.inf, beyond


def _optimality(solution: Solution) -> list[Check]:
    """Check the conditions at the price λ."""
    if isinstance(solution.objective, PurchasedPrivacy):
        return checks_of_optimality(solution)
    if isinstance(solution.objective, InCvxpy):
        norm = "the objective's value and a plane above it are the conic solver's word; the rest of the bound is from the instance"
        return [Check("objective", None, 0.0, math.inf, norm, note=solution.objective.words, required=False)]
    return checks_of_concave_optimality(solution, solution.objective.utility(solution.market))


def _statement_check(error: InputError) -> Check:
    norm = "constraints or objectives that do not fit the market"
    return Check("side constraints stated", False, 1.0, 0.0, norm, note=str(error))


def _gap_note(solution: Solution, upper: float, *, keeps: bool) -> str:
    """Name what keeps the gap open: feasibility, or the spacing of doubles."""
    if not keeps:
        return "the thresholds are not feasible"
    if not (0 < upper < math.inf and solution.budget_price < math.inf):
        return ""
    if isinstance(solution.objective, PurchasedPrivacy):
        coarse, of_what = threshold_resolution(solution), "threshold"
    else:
        coarse = threshold_resolution(
            solution, solution.objective.utility(solution.market).wanted
        ) + lottery_resolution(solution)
        of_what = "threshold and chance"
    moves = solution.budget_price * coarse / abs(upper)
    return f"one unit in the last place of every {of_what} is worth {moves:.2g}" if moves > GAP.value else ""


def _gap_norm(solution: Solution) -> str:
    if isinstance(solution.objective, PurchasedPrivacy):
        return GAP.norm
    return f"upper minus lower bound on the objective ({solution.objective.words}), relative to the upper bound"


def _relative_gap(lower: float, upper: float) -> float:
    if not math.isfinite(upper) or not math.isfinite(lower):
        return math.inf
    return (upper - lower) / upper if upper > 0 else 0.0 if lower == 0 else -math.inf
