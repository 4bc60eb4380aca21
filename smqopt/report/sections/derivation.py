"""The steps of a derivation, as a page shows them: claims, equations, reasons, verdicts. It adds nothing to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smqopt.derivation.equation import Equation, Verdict
from smqopt.derivation.typeset import latex_of_equation
from smqopt.report.sections.program import law_in_words
from smqopt.report.sections.section import Section

if TYPE_CHECKING:
    from smqopt.derivation.derive import Derivation
    from smqopt.derivation.step import Step

__all__ = ["ShownDerivation", "ShownEquation", "ShownStep", "derivation_section", "verdict_in_words"]

MARKS = {
    Verdict.PROVED: ("✓", "proved", "good"),
    Verdict.UNDECIDED: ("?", "undecided", "open"),
    Verdict.REFUTED: ("✗", "refuted", "bad"),
}
"""What a verdict shows: its mark, the word, and its style."""


@dataclass(frozen=True)
class ShownEquation:
    """An equation with its name on the page, and the mark of its verdict; no mark where it claims nothing."""

    key: str
    latex: str
    mark: str
    word: str
    style: str


@dataclass(frozen=True)
class ShownStep:
    """One step."""

    title: str
    claim: str
    equations: tuple[ShownEquation, ...]
    reason: str
    labels: str
    note: str
    mark: str
    verdict: str
    style: str
    method: str


@dataclass(frozen=True)
class ShownDerivation:
    """The steps for one law."""

    law: str
    steps: tuple[ShownStep, ...]


def derivation_section(derivation: Derivation) -> Section:
    """Show every step, family of laws by family."""
    families = tuple(part.derivation for part in derivation.parts) or (derivation,)
    shown = [
        ShownDerivation(law_in_words(family.law), tuple(_step(step, f"law{k}.{step.name}") for step in family.steps))
        for k, family in enumerate(families, start=1)
    ]
    return Section("derivation", "The derivation, step by step", "derivation.html", {"derivations": shown})


def verdict_in_words(derivation: Derivation) -> str:
    """Count the steps by verdict, best first."""
    counts = {verdict: sum(step.verdict is verdict for step in derivation.steps) for verdict in MARKS}
    return ", ".join(f"{count} {MARKS[verdict][1]}" for verdict, count in counts.items() if count)


def _step(step: Step, key: str) -> ShownStep:
    mark, verdict, style = MARKS[step.verdict]
    paper = [label for label in step.labels if not _is_erratum(label)]
    errata = [label for label in step.labels if _is_erratum(label)]
    cited = [f"the paper’s {', '.join(paper)}"] if paper else []
    cited += [f"errata {', '.join(errata)}"] if errata else []
    return ShownStep(
        title=step.title,
        claim=step.claim,
        equations=tuple(_equation(equation, f"{key}.{k}") for k, equation in enumerate(step.equations, start=1)),
        reason=step.reason,
        labels="; ".join(cited),
        note=step.note,
        mark=mark,
        verdict=verdict,
        style=style,
        method=step.method,
    )


def _equation(equation: Equation, key: str) -> ShownEquation:
    mark, word, style = ("", "", "") if equation.verdict is None else MARKS[equation.verdict]
    return ShownEquation(key, latex_of_equation(equation), mark, word, style)


def _is_erratum(label: str) -> bool:
    return label[:1] == "E" and label[1:].isdecimal()
