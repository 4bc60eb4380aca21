"""The checks of an audit. An undecided check does not pass."""

from __future__ import annotations

import math

import numpy as np

from smqopt.mechanism.audits._best_deviation import Deviations
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._sampled_rule import Runs
from smqopt.numeric import BUDGET_MARGIN, ROUNDING, Floats
from smqopt.verification import Check

MeanAndError = tuple[Floats, Floats]
"""Means over draws that chose nothing, and their errors, shape (N,) each."""

_ON_ITS_WORD = "if others and draws change nothing, as the rule says"
_SIDES = {-1: "just below ", 0: "", 1: "just above "}


def truth_check(
    rule: OutcomeRule,
    stage: str,
    found: Deviations,
    *,
    sampled: MeanAndError | None = None,
    cases: Deviations | None = None,
    drawn: bool = False,
) -> Check:
    """Check that nobody gains by misreporting (`eqn:IC`); ex post it is reported only."""
    owner, passed = found.worst, bool(np.all(found.gain <= found.gain_rounding))
    value, allowed = float(found.gain[owner]), float(found.gain_rounding[owner])
    note = _misreport(rule, found, owner)
    if sampled is not None:
        gain, error = sampled
        owner = int(np.argmax(gain - error - found.gain_rounding))
        value, allowed = float(gain[owner]), float(found.gain_rounding[owner])
        passed_or_not = False if value - error[owner] > allowed else None
        note = _misreport(rule, found, owner)
        if passed_or_not is None:
            nobody = cases is not None and bool(np.all(cases.gain <= cases.gain_rounding))
            note = "drawn: nobody gains by any report in any draw" if nobody else f"drawn: ± {error[owner]:.3g}; {note}"
        return Check(
            f"{stage} truthfulness", passed_or_not, value, allowed, "largest gain from a misreport, in currency", note
        )
    if passed:
        note = "in the cases drawn" if drawn else ""
    return Check(
        f"{stage} truthfulness",
        None if passed and drawn else passed,
        value,
        allowed,
        "largest gain from a misreport, in currency",
        note,
        required=stage == "interim",
    )


def participation_check(
    rule: OutcomeRule,
    stage: str,
    found: Deviations,
    *,
    sampled: MeanAndError | None = None,
    drawn: bool = False,
) -> Check:
    """Check that truth brings nobody less than staying away does, 0 (`eqn:IR`)."""
    owner, passed = found.poorest, bool(np.all(found.least_utility >= -found.least_rounding))
    allowed = float(found.least_rounding[owner])
    value = max(0.0, -float(found.least_utility[owner]))
    norm = "largest loss of a truthful owner, in currency"
    note = f"owner {rule.market.owner_ids[owner]!r} at θ = {found.least_at[owner]:.6g}"
    if sampled is not None:
        utility, error = sampled
        owner = int(np.argmin(utility + error))
        allowed = float(found.least_rounding[owner])
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
    """Check that the expected spend keeps the budget (`eqn:BF`)."""
    over = spend - rule.budget
    rounding = ROUNDING.value * max(abs(spend), rule.budget)
    passed = False if over > error + rounding else True if over <= 0 and error <= rounding else None
    if passed is None and over + error <= rounding:
        passed = True
    note = f"{spend:.12g} ± {error:.3g} of {rule.budget:.12g}" + (", from draws" if drawn else "")
    return Check("expected budget", passed, over, 0.0, "expected spend minus budget, in currency", note)


def realised_check(rule: OutcomeRule, drawn_runs: Runs | None, most_paid: float | None) -> tuple[Check, ...]:
    """Report the share of runs that paid more than the budget.

    It is required of rules that promise that none does. A run above refutes the promise; draws
    without one do not prove it, `most_paid` does: the most that any run can pay, in currency.
    """
    promised = rule.keeps_budget_always
    if drawn_runs is None and not promised:
        return ()
    top = max(abs(most_paid or 0.0), 0.0 if drawn_runs is None else float(np.max(np.abs(drawn_runs.total))))
    allowed = rule.budget * (1.0 + BUDGET_MARGIN.value) + ROUNDING.value * rule.n * top
    kept = None if most_paid is None else most_paid <= allowed
    word = _ON_ITS_WORD if promised and kept and not rule.depends_on_others else ""
    if drawn_runs is None:
        over = math.nan if most_paid is None else most_paid - rule.budget
        note = word if kept else "nothing proves the promise; give draws to look for a run that breaks it"
        note = f"a run can pay {most_paid:.12g} of {rule.budget:.12g}" if kept is False else note
        norm = "most that a run can pay minus budget, in currency"
        return (Check("realised budget", kept, over, 0.0, norm, note),)
    share = float(np.mean(drawn_runs.total > allowed))
    half_width = math.sqrt(math.log(2.0 / 0.05) / (2 * drawn_runs.total.size))
    mean, largest = drawn_runs.total.mean(), drawn_runs.total.max()
    note = f"± {half_width:.3g} with 95 % confidence; mean {mean:.12g}, largest {largest:.12g}"
    note += f"; {word}" if word and share == 0 else ""
    passed = (False if share > 0 else kept) if promised else None
    return (Check("realised budget", passed, share, 0.0, "share of runs above the budget", note, required=promised),)


def _misreport(rule: OutcomeRule, found: Deviations, owner: int) -> str:
    report = found.report[owner]
    said = "without bound" if math.isinf(report) else f"{_SIDES[int(found.report_side[owner])]}{report:.6g}"
    theta = f"{_SIDES[int(found.valuation_side[owner])]}{found.valuation[owner]:.6g}"
    return f"owner {rule.market.owner_ids[owner]!r}, of valuation {theta}, reports {said}"
