"""The checks of an audit. What the draws do not force is undecided, and an undecided check does not pass."""

from __future__ import annotations

import math

import numpy as np

from smqopt.mechanism.audits._best_deviation import Deviations
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._sampled_rule import Runs
from smqopt.numeric import BUDGET_MARGIN, INCENTIVE, ROUNDING, Floats
from smqopt.verification import Check

Judged = tuple[Floats, Floats]
"""Means over draws that chose nothing, and their errors, shape (N,) each."""

_SIDES = {-1: "just below ", 0: "", 1: "just above "}


def truth_check(
    rule: OutcomeRule,
    stage: str,
    found: Deviations,
    scale: float,
    *,
    judged: Judged | None = None,
    cases: Deviations | None = None,
    drawn: bool = False,
) -> Check:
    """Judge that nobody gains by lying (`eqn:IC`); ex post it is reported only."""
    allowed = INCENTIVE.value * scale
    value, owner, passed = float(np.max(found.gain)), found.worst, bool(np.max(found.gain) <= allowed)
    note = _lie(rule, found, owner)
    if judged is not None:
        gain, error = judged
        owner = int(np.argmax(gain - error))
        value, passed_or_not = float(gain[owner]), False if gain[owner] - error[owner] > allowed else None
        note = _lie(rule, found, owner)
        if passed_or_not is None:
            nobody = cases is not None and float(np.max(cases.gain)) <= allowed
            note = "drawn: nobody gains by any lie in any draw" if nobody else f"drawn: ± {error[owner]:.3g}; {note}"
        return Check(
            f"{stage} truthfulness", passed_or_not, value, allowed, "largest gain from a lie, in currency", note
        )
    if passed:
        note = "in the cases drawn" if drawn else ""
    return Check(
        f"{stage} truthfulness",
        None if passed and drawn else passed,
        value,
        allowed,
        "largest gain from a lie, in currency",
        note,
        required=stage == "interim",
    )


def participation_check(
    rule: OutcomeRule, stage: str, found: Deviations, scale: float, *, judged: Judged | None = None, drawn: bool = False
) -> Check:
    """Judge that truth brings nobody less than staying away does, 0 (`eqn:IR`); ex post it is reported only."""
    allowed = INCENTIVE.value * scale
    owner, passed = found.poorest, bool(np.min(found.least_utility) >= -allowed)
    value = max(0.0, -float(found.least_utility[owner]))
    norm = "largest loss of a truthful owner, in currency"
    note = f"owner {rule.market.owner_ids[owner]!r} at θ = {found.least_at[owner]:.6g}"
    if judged is not None:
        utility, error = judged
        owner = int(np.argmin(utility + error))
        lost = bool(utility[owner] + error[owner] < -allowed)
        return Check(
            f"{stage} participation",
            False if lost else None,
            max(0.0, -float(utility[owner])),
            allowed,
            norm,
            f"drawn: ± {error[owner]:.3g}; owner {rule.market.owner_ids[owner]!r} at θ = {found.least_at[owner]:.6g}",
        )
    if passed:
        note = "in the cases drawn" if drawn else ""
    return Check(
        f"{stage} participation",
        None if passed and drawn else passed,
        value,
        allowed,
        norm,
        note,
        required=stage == "interim",
    )


def budget_check(rule: OutcomeRule, spend: float, error: float, *, drawn: bool = False) -> Check:
    """Judge that the expected spend keeps the budget (`eqn:BF`); what the error leaves open is undecided."""
    over = spend - rule.budget
    rounding = ROUNDING.value * max(abs(spend), rule.budget)
    passed = False if over > error + rounding else True if over <= 0 and error <= rounding else None
    if passed is None and over + error <= rounding:
        passed = True
    note = f"{spend:.12g} ± {error:.3g} of {rule.budget:.12g}" + (", from draws" if drawn else "")
    return Check("expected budget", passed, over, 0.0, "expected spend minus budget, in currency", note)


def realised_check(rule: OutcomeRule, seen: Runs | None) -> tuple[Check, ...]:
    """Report the share of runs that paid more than the budget; required of rules that promise that none does."""
    if seen is None:
        return ()
    most = rule.budget * (1.0 + BUDGET_MARGIN.value) + ROUNDING.value * rule.n * float(np.max(np.abs(seen.total)))
    share = float(np.mean(seen.total > most))
    half_width = math.sqrt(math.log(2.0 / 0.05) / (2 * seen.total.size))
    note = f"± {half_width:.3g} with 95 % confidence; mean {seen.total.mean():.12g}, largest {seen.total.max():.12g}"
    promised = rule.keeps_budget_always
    passed = share == 0 if promised else None
    return (Check("realised budget", passed, share, 0.0, "share of runs above the budget", note, required=promised),)


def _lie(rule: OutcomeRule, found: Deviations, owner: int) -> str:
    report = found.report[owner]
    said = "without bound" if math.isinf(report) else f"{_SIDES[int(found.report_side[owner])]}{report:.6g}"
    theta = f"{_SIDES[int(found.valuation_side[owner])]}{found.valuation[owner]:.6g}"
    return f"owner {rule.market.owner_ids[owner]!r}, of valuation {theta}, reports {said}"
