"""A derivation as Markdown (MyST)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smqopt.derivation.typeset import latex_of_equation

if TYPE_CHECKING:
    from smqopt.derivation.derive import Derivation
    from smqopt.derivation.step import Step

__all__ = ["document"]


def document(derivation: Derivation) -> str:
    """Write a derivation as Markdown: a heading a step, its formulas between dollar signs, reason and verdict."""
    if derivation.parts:
        return "\n".join(document(part.derivation) for part in derivation.parts)
    blocks = [
        f"# Derivation: the {derivation.law.name} law",
        f"**Verdict:** {derivation.verdict.name.lower()}, {derivation.verdict}.",
    ]
    for number, step in enumerate(derivation.steps, start=1):
        blocks += _step(number, step)
    return "\n\n".join(blocks) + "\n"


def _step(number: int, step: Step) -> list[str]:
    blocks = [f"## {number}. {step.title}", step.claim]
    for equation in step.equations:
        blocks.append(f"$$\n{latex_of_equation(equation)}\n$$")
        if equation.verdict is not None:
            blocks.append(f"*{equation.verdict.name.lower()}*: {equation.method}")
    blocks.append(f"**Reason.** {step.reason} ({', '.join(step.labels)})")
    if step.note:
        blocks.append(f"**Note.** {step.note}")
    return [*blocks, f"**Verdict:** {step.verdict.name.lower()}, {step.verdict}."]
