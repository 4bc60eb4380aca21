"""What else a solution comes to: its error, and each of its laws in doubt."""

from __future__ import annotations

from typing import Any

from smqopt.cli.outputs._error_lines import errors_of
from smqopt.files import to_json_number
from smqopt.market import Solution, under_each_law
from smqopt.numeric import exact_dot
from smqopt.valuation import possible_laws


def facts_of(solution: Solution) -> tuple[dict[str, Any], list[str]]:
    """Return error and laws for machines, and in lines; nothing where there are none."""
    errors, error_lines = errors_of(solution)
    if possible_laws(solution.market.valuation) is None:
        return errors, error_lines
    records, lines = [], []
    for one in under_each_law(solution):
        found = one.solution
        owners = exact_dot(found.acceptance, found.market.weights)
        records.append(
            {
                "law": one.name,
                "expected_owners": owners,
                "spend": found.total_spend,
                "objective": to_json_number(found.objective_value),
            }
        )
        lines.append(
            f"{one.name}: {found.objective.kind.replace('-', ' ')} {found.objective_value:.12g}, "
            f"spend {found.total_spend:.12g} of {found.budget:.12g}, {owners:.6g} owners expected"
        )
    return {**errors, "laws": records}, [*error_lines, *lines]
