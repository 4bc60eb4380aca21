"""The steps of a derivation as sections of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from smqopt.algebra import LAMBDA, THRESHOLD, Equation, F, J, Relation, Verdict, X
from smqopt.derivation.render._instance_numbers import InstanceNumbers
from smqopt.derivation.render._typeset import latex_of_equation
from smqopt.derivation.statement._law_in_words import law_in_words
from smqopt.document import Figure, Section

if TYPE_CHECKING:
    from smqopt.derivation.statement._derived import Derived
    from smqopt.derivation.statement._step import Step

MARKS = {
    Verdict.PROVED: ("✓", "proved", "good"),
    Verdict.UNDECIDED: ("?", "undecided", "open"),
    Verdict.REFUTED: ("✗", "refuted", "bad"),
}
"""What a verdict shows: its mark, the word, and its style."""

AllNumbers = Sequence[InstanceNumbers | None]
"""For each family of laws, the numbers that stand beside its symbols; None where there are none."""


@dataclass(frozen=True)
class ShownEquation:
    """An equation with its name on the page, and the mark of its verdict, if any."""

    key: str
    latex: str
    in_numbers: str
    """The equation with an instance's numbers; empty where there are none, or it does not hold at
    them."""
    remark: str
    """Where it holds, if not at these numbers."""
    mark: str
    word: str
    style: str
    method: str


@dataclass(frozen=True)
class ShownStep:
    """One step."""

    anchor: str
    title: str
    claim: str
    equations: tuple[ShownEquation, ...]
    reason: str
    labels: str
    note: str
    mark: str
    verdict: str
    style: str


def families_of(derivation: Derived) -> tuple[Derived, ...]:
    """Return the derivation of each family of laws; one for a common law."""
    return tuple(part.derivation for part in derivation.parts) or (derivation,)


def derivation_section(derivation: Derived, numbers: AllNumbers = ()) -> Section:
    """Show every step in one section, family of laws by family."""
    families = [
        (law_in_words(family.law), [shown_step(step, f"law{k}", own) for step in family.steps])
        for k, (family, own) in enumerate(_with_numbers(derivation, numbers), start=1)
    ]
    return Section("derivation", "The derivation, step by step", "derivation.html", {"families": families})


def step_sections(derivation: Derived, numbers: AllNumbers = ()) -> list[Section]:
    """Show every step as a section of its own."""
    families = _with_numbers(derivation, numbers)
    sections = []
    for k, (family, own) in enumerate(families, start=1):
        prefix, place = ("", "step-") if len(families) == 1 else (f"{law_in_words(family.law)}: ", f"law{k}-")
        for step in family.steps:
            shown = shown_step(step, f"law{k}", own)
            title = step.title if not prefix else prefix[:1].upper() + prefix[1:] + step.title.lower()
            sections.append(Section(f"{place}{step.name}", title, "step.html", {"step": shown}))
    return sections


def summary_section(derivation: Derived, figures: Sequence[tuple[str, Figure]], numbers: AllNumbers = ()) -> Section:
    """Show what was found, the verdict on every step, and figures."""
    families = _with_numbers(derivation, numbers)
    place = {k: "step-" if len(families) == 1 else f"law{k}-" for k in range(1, len(families) + 1)}
    return Section(
        "summary",
        "In short",
        "summary.html",
        {
            "families": [
                (
                    law_in_words(family.law),
                    findings(family, f"found{k}", own),
                    family.threshold is not None,
                    () if own is None else own.latex(),
                    [
                        (f"{place[k]}{step.name}", step.title, _labels(step), *MARKS[step.verdict])
                        for step in family.steps
                    ],
                )
                for k, (family, own) in enumerate(families, start=1)
            ],
            "figures": figures,
        },
    )


def findings(derivation: Derived, key: str, numbers: InstanceNumbers | None = None) -> list[ShownEquation]:
    """Show F, J, the threshold rule and λ, as far as they were found."""
    argument = derivation.argument
    if argument is None:
        return []
    theta, price = argument.theta, derivation.budget_price
    found: list[tuple[str, sp.Expr, sp.Expr | None]] = [
        ("cdf", F(theta), argument.law.cdf),
        ("cost", J(theta), derivation.virtual_cost),
        ("threshold", THRESHOLD(X), derivation.threshold),
        ("price", LAMBDA, None if price is None else price.expression),
    ]
    return [
        _equation(Equation(left, Relation.EQUAL, right), f"{key}.{name}", numbers)
        for name, left, right in found
        if right is not None
    ]


def verdict_in_words(derivation: Derived) -> str:
    """Count the steps by verdict, best first."""
    counts = {verdict: sum(step.verdict is verdict for step in derivation.steps) for verdict in MARKS}
    return ", ".join(f"{count} {MARKS[verdict][1]}" for verdict, count in counts.items() if count)


def shown_step(step: Step, key: str, numbers: InstanceNumbers | None = None) -> ShownStep:
    """Show a step on a page; `key` tells the laws of a page apart."""
    mark, verdict, style = MARKS[step.verdict]
    return ShownStep(
        anchor=f"{key}.{step.name}",
        title=step.title,
        claim=step.claim,
        equations=tuple(
            _equation(equation, f"{key}.{step.name}.{k}", numbers) for k, equation in enumerate(step.equations, start=1)
        ),
        reason=step.reason,
        labels=_labels(step),
        note=step.note,
        mark=mark,
        verdict=verdict,
        style=style,
    )


def _with_numbers(derivation: Derived, numbers: AllNumbers) -> list[tuple[Derived, InstanceNumbers | None]]:
    families = families_of(derivation)
    return list(zip(families, numbers or [None] * len(families), strict=True))


def _labels(step: Step) -> str:
    paper = [label for label in step.labels if not _is_erratum(label)]
    errata = [label for label in step.labels if _is_erratum(label)]
    cited = [f"the paper’s {', '.join(paper)}"] if paper else []
    cited += [f"errata {', '.join(errata)}"] if errata else []
    return "; ".join(cited)


def _equation(equation: Equation, key: str, numbers: InstanceNumbers | None) -> ShownEquation:
    mark, word, style = ("", "", "") if equation.verdict is None else MARKS[equation.verdict]
    inserted, remark = (None, "") if numbers is None else numbers.at_numbers(equation)
    return ShownEquation(
        key,
        latex_of_equation(equation),
        "" if inserted is None else latex_of_equation(inserted),
        remark,
        mark,
        word,
        style,
        equation.method,
    )


def _is_erratum(label: str) -> bool:
    return label[:1] == "E" and label[1:].isdecimal()
