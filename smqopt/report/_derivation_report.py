"""A derivation beside an instance, as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smqopt.market import Solution
from smqopt.report._frontier_figure import DrawnFrontier
from smqopt.report._instance import instance_figures, instance_numbers
from smqopt.report.sections._budget_price_section import budget_price_section
from smqopt.report.sections._frontier_section import frontier_section
from smqopt.report.sections._program_section import program_section
from smqopt.report.sections._thresholds_section import thresholds_section

if TYPE_CHECKING:
    from smqopt.derivation import Derivation


@dataclass(frozen=True, eq=False)
class DerivationRecord:
    """A derivation, and an instance of its law that was solved."""

    title: str
    derivation: Derivation
    solution: Solution
    frontier: DrawnFrontier
    description: str
    """What the instance is, in a sentence or two."""


def derivation_report(record: DerivationRecord, *, form: str = "short") -> str:
    """Write the page: the derivation with numbers, then the instance's answer."""
    from smqopt.derivation import html_document  # noqa: PLC0415 -- comes with an extra

    derivation, solution, brief = record.derivation, record.solution, form != "full"
    return html_document(
        derivation,
        form=form,
        title=record.title,
        numbers=instance_numbers(derivation, solution),
        figures=instance_figures(derivation, solution),
        further=[
            program_section(solution, record.description, brief=brief),
            budget_price_section(solution, brief=brief),
            thresholds_section(solution),
            frontier_section(record.frontier, brief=brief),
        ],
        packages=("smqopt.report",),
    )
