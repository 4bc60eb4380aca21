"""The law of valuations, its virtual cost, and the threshold rule that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smqopt.derivation.equation import Equation, Relation
from smqopt.derivation.letters import THRESHOLD, F, J, X
from smqopt.derivation.typeset import latex_of_equation
from smqopt.program.solution import Solution
from smqopt.report.figures import virtual_cost_figure
from smqopt.report.sections.derivation import verdict_in_words
from smqopt.report.sections.program import law_in_words
from smqopt.report.sections.section import Section

if TYPE_CHECKING:
    from smqopt.derivation.derive import Derivation

__all__ = ["law_section"]


def law_section(solution: Solution, derivation: Derivation | None) -> Section:
    """Name the law, draw its virtual cost, and give what the derivation finds for each family of laws."""
    families = () if derivation is None else tuple(part.derivation for part in derivation.parts) or (derivation,)
    return Section(
        "law",
        "The law and its virtual cost",
        "law.html",
        {
            "law": law_in_words(solution.market.valuation),
            "figure": virtual_cost_figure(solution),
            "families": [
                (
                    f"family{k}",
                    law_in_words(family.law),
                    _findings(family),
                    family.threshold is not None,
                    verdict_in_words(family),
                )
                for k, family in enumerate(families, start=1)
            ],
        },
    )


def _findings(derivation: Derivation) -> list[tuple[str, str]]:
    """Give F, J and the threshold rule inside the support, each by a name and in LaTeX; what was not found is left out."""
    argument = derivation.argument
    if argument is None:
        return []
    theta = argument.theta
    found = [
        ("cdf", F(theta), argument.law.cdf),
        ("cost", J(theta), derivation.virtual_cost),
        ("threshold", THRESHOLD(X), derivation.threshold),
    ]
    return [
        (name, latex_of_equation(Equation(left, Relation.EQUAL, right)))
        for name, left, right in found
        if right is not None
    ]
