"""The certificate: bounds, checks, verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from smqopt.document import Section, show_interval, shown
from smqopt.market import PurchasedPrivacy
from smqopt.report._of_op2 import is_in_doubt, is_of_op2

if TYPE_CHECKING:
    from smqopt.verification import Certificate, Check

GRADES = {
    "proved": "The bounds are proved: rounding errors of the computer are enclosed.",
    "numerical": "The bounds are numerical: computed in doubles with exact sums, not enclosed.",
}
RESULTS = {True: ("✓", "passed", "good"), False: ("✗", "failed", "bad"), None: ("?", "undecided", "open")}
"""What a check may say: its mark, the word, and its style."""
NO_VERDICT = ("–", "reported", "")
"""What is measured without a tolerance has no verdict."""


def certificate_section(certificate: Certificate) -> Section:
    """Show the bounds on the optimum, and every check with its tolerance."""
    objective = certificate.solution.objective
    lower, upper = show_interval(certificate.lower_bound, certificate.upper_bound)
    return Section(
        "certificate",
        "The certificate",
        "certificate.html",
        {
            "valid": certificate.valid,
            "reasons": certificate.reasons,
            "grade": certificate.grade,
            "grade_means": GRADES.get(certificate.grade, ""),
            "of_op2": is_of_op2(certificate.solution),
            "in_doubt": is_in_doubt(certificate.solution),
            "plain_objective": isinstance(objective, PurchasedPrivacy),
            "smallest": objective.smallest,
            "lower": lower,
            "upper": upper,
            "gap": shown(certificate.gap, 3),
            "checks": [_row(check) for check in certificate.checks],
            "fingerprint": certificate.fingerprint,
            "solver": certificate.solution.solver,
        },
    )


def _row(check: Check) -> tuple[str | bool, ...]:
    decided = check.passed is not None or math.isfinite(check.tolerance)
    result = RESULTS[check.passed] if decided else NO_VERDICT
    allowed = shown(check.tolerance, 3) if math.isfinite(check.tolerance) else "–"
    return (check.name, shown(check.value, 3), allowed, check.norm, check.note, check.required, *result)
