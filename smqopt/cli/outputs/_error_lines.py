"""The error of a solution that was made for it, and the expected one."""

from __future__ import annotations

from typing import Any

from smqopt.document import shown
from smqopt.files import to_json_number
from smqopt.market import MeanSquaredError, Solution
from smqopt.questions import expected_error


def errors_of(solution: Solution) -> tuple[dict[str, Any], list[str]]:
    """Return the error for machines, and in lines; nothing of other objectives."""
    if not isinstance(solution.objective, MeanSquaredError):
        return {}, []
    found = expected_error(solution)
    record = {
        "error": to_json_number(found.at_expected_sums),
        "expected_error": [to_json_number(found.lower), to_json_number(found.upper)],
    }
    at = shown(found.at_expected_sums, 6)
    return record, [f"root mean squared error {at} at the expected sums; {found.over_sellers} over who sells"]
