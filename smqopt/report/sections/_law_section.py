"""The law of valuations, its virtual cost, and the threshold rule that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smqopt.derivation import InstanceNumbers, about_laws, families_of, law_in_words, shown_laws
from smqopt.document import Section
from smqopt.market import Solution
from smqopt.report._figures import virtual_cost_figure
from smqopt.report._of_op2 import is_of_op2
from smqopt.valuation import Irregular, Regular, Undecided, Verdict

if TYPE_CHECKING:
    from smqopt.derivation import Derivation


def _in_words(verdict: Verdict) -> str:
    owner = None if isinstance(verdict, Regular) else verdict.owner
    whose = "" if owner is None else f" (owner in row {owner + 1})"
    found = {
        Regular: "The distribution is regular",
        Irregular: "The distribution is irregular",
        Undecided: "Whether the distribution is regular is undecided",
    }
    return f"{found[type(verdict)]}{whose}: {verdict.method}"


def law_section(
    solution: Solution, derivation: Derivation | None, numbers: Sequence[InstanceNumbers | None] = ()
) -> Section:
    """Name the law, draw its virtual cost, and show what was derived."""
    families = () if derivation is None else families_of(derivation)
    law = solution.market.valuation
    plain = is_of_op2(solution)
    laws = [] if derivation is None else shown_laws(derivation, numbers, "family", form="summary")
    return Section(
        "law",
        "The distribution and its virtual cost",
        "law.html",
        {
            "law": law_in_words(law),
            "regularity": _in_words(law.regularity()),
            "hazard": str(law.monotone_hazard()),
            "figure": virtual_cost_figure(solution),
            "of_op2": plain,
            "families": [
                (
                    shown.name,
                    [found for found in shown.findings if plain or not found.key.endswith("-price")],
                    family.threshold is not None,
                    shown.verdict,
                )
                for family, shown in zip(families, laws, strict=False)  # the last may stand for several
            ],
            "about": about_laws(laws),
        },
    )
