"""Checks of a solution, and bounds on the optimum from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from smqopt.errors import InputError
from smqopt.market import (
    InCvxpy,
    MeanSquaredError,
    PurchasedPrivacy,
    Solution,
    Statement,
    WorstCaseError,
    at_budget,
    needs_expansion,
    state,
)
from smqopt.numeric import CURVED_GAP, ERROR_GAP, GAP, HIDDEN_GAP, FrozenDict, OutOfWorkError, work_limit
from smqopt.verification.certificate._bounds import bounds
from smqopt.verification.certificate._error_assessment import (
    as_op2,
    error_bounds,
    error_gap,
    prove_error,
    refuse_planes,
)
from smqopt.verification.certificate._expanded_assessment import assess_expansion
from smqopt.verification.certificate._gap_check import NEARLY, gap_check, gap_norm, spacing_moves
from smqopt.verification.certificate._worst_case_assessment import checks_of_random_prices, gap_of_error
from smqopt.verification.checks._agreement import agreement_checks
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._concave import (
    checks_of_concave_optimality,
)
from smqopt.verification.checks._feasibility import check_shape, checks_of_claim
from smqopt.verification.checks._hidden import hides, tops_from_cdf
from smqopt.verification.checks._optimality import checks_of_optimality
from smqopt.verification.checks._seen import Seen
from smqopt.verification.checks._side_constraints import checks_of_constraints
from smqopt.verification.checks._unverified import rests_on_a_word
from smqopt.verification.proof._proof import Proof, prove, prove_in_doubles
from smqopt.verification.proof._sums_in_doubles import MANY

IF_CDF = "if F does not fall"
"""How claims begin that rest on a law which is not proved to be a cdf."""
_UP = 1.06
"""Enough that two digits are no less."""
_OF_F = {"acceptance", "budget", "regularity", "gap", "threshold", "price", "budget spent", "stationarity"}
"""Checks whose values are those of F."""


@dataclass(frozen=True)
class Assessment:
    """Checks and bounds, as they were found."""

    checks: tuple[Check, ...]
    lower_bound: float
    upper_bound: float
    gap: float
    gap_tolerance: float = GAP.value
    """The largest gap that passes."""
    proof: Proof | None = None
    """What ball arithmetic found; None where it was not asked, or something else fails already."""
    market_hash: str = ""
    """The market's hash, where it was worked out."""

    @property
    def valid(self) -> bool:
        """Whether every required check passed."""
        return bool(self.checks) and not any(check.fails for check in self.checks)


def assess(
    solution: Solution,
    against: Solution | None,
    gap_tolerance: float | None,
    proving: bool | None = None,
    form: Statement | None = None,
) -> Assessment:
    """Check a solution from its own numbers; never raise on a wrong one.

    Parameters
    ----------
    solution
        What to verify.
    against
        Another route's solution of the same program, whose distance in θ is reported.
    gap_tolerance
        The largest gap that passes, relative to the upper bound; by default 1e-10, 1e-7 under
        constraints or objectives in cvxpy, and what the solution states
        for one posted price each, and 1e-6 where nothing but a monotone F bounds what a law hides.
    proving
        Whether to enclose the sums in ball arithmetic too: always, never, or (None) where that
        takes no longer than a moment.
    form
        What `stated` gives for the solution's market and records, where the caller has it; it is
        stated here otherwise.
    """
    try:
        with work_limit(solution.market.n) as allowance:
            return _assess(solution, against, gap_tolerance, proving, form)
    except OutOfWorkError:
        norm = f"whether its checks take {allowance.words}"
        return Assessment((Check("work", False, 1.0, 0.0, norm),), 0.0, math.inf, math.inf)


def _assess(
    solution: Solution,
    against: Solution | None,
    gap_tolerance: float | None,
    proving: bool | None,
    form: Statement | None,
) -> Assessment:
    shape = check_shape(solution)
    if shape.fails:
        return Assessment((shape,), 0.0, math.inf, math.inf)
    if isinstance(solution.objective, WorstCaseError):
        return _assess_worst_case(solution, solution.objective, gap_tolerance, shape)
    try:
        other = _assess_as_another(solution, against, gap_tolerance, proving, shape)
        if other is not None:
            return other
        solution.objective.utility(solution.market)
        form = _form_of(solution, form)
    except InputError as error:
        return Assessment((shape, _statement_check(error)), 0.0, math.inf, math.inf)
    if proving is not False and solution.market.n >= MANY:
        quick = _assess_all_at_once(solution, against, gap_tolerance, shape)
        if quick is not None:
            return quick
    claims = checks_of_claim(solution, None if form is None else form.ceilings())
    sides = [] if form is None else checks_of_constraints(solution, form)
    feasibility = [check for check in claims if check.name in ("support", "acceptance", "budget")]
    keeps = not any(check.fails for check in [*feasibility, *sides])
    lower, upper = bounds(solution, form, keeps=keeps)
    tolerance = _default_tolerance(solution) if gap_tolerance is None else gap_tolerance
    gap = gap_check(solution, lower, upper, tolerance, keeps=keeps)
    more = [] if solution.records and solution.objective.separable else _optimality(solution)
    proof = None
    others = any(check.fails for check in [shape, *claims, *sides, *more])
    near = max(NEARLY, spacing_moves(solution, upper))
    rounded = gap.fails and keeps and abs(gap.value) <= near  # balls may close it
    if proving is not False and not others and (gap.passed or rounded):
        proof = prove(solution, tolerance, limited=proving is None, form=form)
        if rounded and not proof.holds:
            proof = None
        else:
            more.append(_proof_check(proof, tolerance))
            gap = replace(gap, passed=True, value=proof.gap, note="") if rounded else gap
    if (proof is None or not proof.holds) and gap.passed and hides(solution.market):
        tolerance = max(tolerance, HIDDEN_GAP.value) if gap_tolerance is None else gap_tolerance
        lower, upper = bounds(solution, form, keeps=keeps, tops_of=tops_from_cdf)
        gap = gap_check(solution, lower, upper, tolerance, keeps=keeps)
        gap = replace(gap, norm=f"{gap.norm}; {HIDDEN_GAP.norm}")
    checks = [shape, *claims, *sides, gap, *more]
    if not solution.market.valuation.is_proved_cdf().is_proved:
        checks = [replace(check, norm=f"{IF_CDF}: {check.norm}") if check.name in _OF_F else check for check in checks]
    checks += agreement_checks(solution, against)
    if proof is not None and proof.holds:
        return Assessment(tuple(checks), proof.lower_bound, proof.upper_bound, proof.gap, tolerance, proof)
    return Assessment(tuple(checks), lower, upper, gap.value, tolerance, proof)


def _form_of(solution: Solution, form: Statement | None) -> Statement | None:
    """State the records, if there are any, at the budget."""
    if not solution.records:
        return form
    form = form or state(solution.market, solution.records)
    return at_budget(form, solution.budget)


def _default_tolerance(solution: Solution) -> float:
    """Return the largest gap that passes where the caller names none.

    One posted price each stops at a gap of its own, in two digits here: its certificate holds for
    that bracket, and who reads it back states the gap.
    """
    claimed = solution.details.get("posted_gap", 0.0) if solution.lottery is None else 0.0
    stopped = min(float(f"{_UP * claimed:.1e}"), 1.0) if isinstance(claimed, float) and 0 < claimed <= 1 else 0.0
    by_word = rests_on_a_word(solution) or isinstance(solution.objective, InCvxpy)
    return max(stopped, CURVED_GAP.value if by_word else GAP.value)


def _assess_as_another(
    solution: Solution, against: Solution | None, gap_tolerance: float | None, proving: bool | None, shape: Check
) -> Assessment | None:
    """Check a program that is stated as another one; None where it is an ordinary one."""
    if isinstance(solution.objective, MeanSquaredError):
        return _assess_error(solution, solution.objective, against, gap_tolerance, proving)
    if not needs_expansion(solution.market, solution.objective, solution.records):
        return None
    stopped = _default_tolerance(solution) if gap_tolerance is None else gap_tolerance
    found = assess_expansion(solution, None if stopped == GAP.value else stopped, proving)
    of_proof = [] if found.proof is None else [_proof_check(found.proof, found.gap_tolerance)]
    every = (shape, *found.checks, *of_proof, *agreement_checks(solution, against))
    return Assessment(every, *found.bounds, found.gap, found.gap_tolerance, found.proof)


def _assess_error(
    solution: Solution,
    objective: MeanSquaredError,
    against: Solution | None,
    gap_tolerance: float | None,
    proving: bool | None,
) -> Assessment:
    """Check OP2 at the solution's own μ, and the gap of the error."""
    try:
        refuse_planes(objective, solution)
    except InputError as error:
        return Assessment((check_shape(solution), _statement_check(error)), 0.0, math.inf, math.inf)
    stopped = _default_tolerance(solution)
    op2 = replace(as_op2(solution, objective), details=FrozenDict())  # a file does not keep them
    own = assess(op2, None, None, proving)
    if own.gap > own.gap_tolerance:  # one posted price each leaves one, that of the error is judged
        own = assess(op2, None, 1.0, proving)
    checks = [replace(check, name="gap at μ", required=False) if check.name == "gap" else check for check in own.checks]
    keeps = not any(check.fails for check in checks)
    proof = own.proof
    wanted = tolerance = max(ERROR_GAP.value, stopped) if gap_tolerance is None else gap_tolerance
    if keeps and proof is not None and proof.holds:  # what is proved needs no bounds in doubles
        proof = prove_error(solution, objective, proof, tolerance, limited=proving is None)
        if proof.holds and proof.upper_bound < math.inf:
            gap = error_gap(objective, proof.lower_bound, proof.upper_bound, tolerance, "")
            checks = [check for check in checks if check.name != "proof"]
            every = (*checks, gap, _proof_check(proof, tolerance), *agreement_checks(solution, against))
            return Assessment(every, proof.lower_bound, proof.upper_bound, proof.gap, tolerance, proof)
    lower, upper, tolerance = error_bounds(
        solution, objective, lambda op2, form, of: bounds(op2, form, keeps=True, tops_of=of)[1], wanted, keeps=keeps
    )
    tolerance = max(tolerance, stopped) if gap_tolerance is None else gap_tolerance
    gap = error_gap(objective, lower, upper, tolerance, "" if keeps else "the thresholds are not feasible")
    checks = [*checks, gap, *agreement_checks(solution, against)]
    proof = own.proof
    if proof is not None and proof.holds and gap.passed:
        proof = prove_error(solution, objective, proof, tolerance, limited=proving is None)
        checks = [check for check in checks if check.name != "proof"] + [_proof_check(proof, tolerance)]
    if proof is not None and proof.holds and gap.passed:
        found = proof.gap if proof.upper_bound < math.inf else gap.value
        return Assessment(tuple(checks), proof.lower_bound, proof.upper_bound, found, tolerance, proof)
    return Assessment(tuple(checks), lower, upper, gap.value, tolerance, proof)


def _assess_worst_case(
    solution: Solution, objective: WorstCaseError, gap_tolerance: float | None, shape: Check
) -> Assessment:
    """Check random prices, and the gap of their error; nothing is enclosed."""
    drawn = solution.random_prices
    if drawn is None:
        none = _statement_check(InputError("solution", "holds no random prices", remedy="solve again"))
        return Assessment((shape, none), 0.0, math.inf, math.inf)
    try:
        checks, lower, upper = checks_of_random_prices(solution, objective, drawn)
    except InputError as error:
        return Assessment((shape, _statement_check(error)), 0.0, math.inf, math.inf)
    gap = gap_of_error(solution.market, objective, lower, upper, gap_tolerance)
    if not solution.market.valuation.is_proved_cdf().is_proved:
        checks = [replace(one, norm=f"{IF_CDF}: {one.norm}") if one.name in _OF_F else one for one in checks]
    return Assessment((shape, *checks, gap), max(lower, 0.0), upper, gap.value, gap.tolerance)


def _assess_all_at_once(
    solution: Solution, against: Solution | None, gap_tolerance: float | None, shape: Check
) -> Assessment | None:
    """Prove first, and read from the proof what checks would find in doubles.

    None where that proves nothing, or a check fails.
    """
    tolerance, seen = GAP.value if gap_tolerance is None else gap_tolerance, Seen()
    proof = prove_in_doubles(solution, tolerance, seen)
    if proof is None or not proof.holds:
        return None
    norm = gap_norm(solution)
    gap = Check("gap", proof.gap <= tolerance, proof.gap, tolerance, norm)
    hashed = solution.market.content_hash()
    claims = checks_of_claim(solution, seen=seen, hashed=hashed)
    checks = [shape, *claims, gap, *checks_of_optimality(solution, seen)]
    checks.append(_proof_check(proof, tolerance))
    if any(check.fails for check in checks):
        return None
    checks += agreement_checks(solution, against)
    return Assessment(tuple(checks), proof.lower_bound, proof.upper_bound, proof.gap, tolerance, proof, hashed)


def _proof_check(proof: Proof, gap_tolerance: float) -> Check:
    """State as a check what a proof adds: it decides only where it refutes."""
    passed = True if proof.holds else False if proof.refuted else None
    norm = (
        "gap between balls that hold purchased privacy and its bound; spend, supports and regularity are proved with it"
    )
    return Check(
        "proof", passed, proof.gap, gap_tolerance, norm, note="; ".join(proof.unproved), required=passed is False
    )


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
