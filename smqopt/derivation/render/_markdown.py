"""A derivation as Markdown (MyST)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from smqopt.derivation.render._instance_numbers import InstanceNumbers
from smqopt.derivation.render._typeset import latex_of_equation
from smqopt.derivation.statement._law_in_words import law_in_words
from smqopt.document import with_indices

if TYPE_CHECKING:
    from smqopt.derivation.statement._derived import Derived
    from smqopt.derivation.statement._step import Step


def markdown_document(
    derivation: Derived,
    *,
    title: str = "",
    label: str = "",
    numbers: Sequence[InstanceNumbers | None] = (),
    opening: Sequence[str] = (),
    further: Sequence[str] = (),
) -> str:
    """Write a derivation as Markdown, a heading a step.

    Parameters
    ----------
    derivation
        What to show.
    title
        The heading; by default it names the law.
    label
        What the names of equations begin with, so that pages of one site do not share any; by
        default the law's name.
    numbers
        For each family of laws, an instance's numbers, given below the formulas.
    opening, further
        Blocks before and after the steps.
    """
    beside = numbers or [None] * max(len(derivation.parts), 1)
    label = label or _slug(derivation.law.name)
    blocks: list[str] = []
    if not derivation.parts:
        blocks = [
            f"# {title or f'Derivation: the {derivation.law.name} law'}",
            *opening,
            *_law(derivation, label, beside[0], "##"),
        ]
    else:
        blocks = [f"# {title or 'Derivation by family of laws'}", *opening]
        for k, (part, own) in enumerate(zip(derivation.parts, beside, strict=True), start=1):
            law = part.derivation.law
            blocks.append(f"## Derivation: the {law.name} law ({k})")
            blocks.append(f"Law of valuations: {text(law_in_words(law))}.")
            blocks += _law(part.derivation, f"{label}-{k}", own, "###")
    return "\n\n".join([*blocks, *further]) + "\n"


def text(prose: str) -> str:
    r"""Escape what Markdown would read as a mark, and set indices below the line.

    Examples
    --------
    >>> print(text("θ*(x) < θ*(y) in q_i"))
    θ\*(x) < θ\*(y) in q<sub>i</sub>
    """
    return with_indices(re.sub(r"([*`$|]|<(?=\S))", r"\\\1", prose))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table; all columns but the first are set to the right.

    Examples
    --------
    >>> print(table(["a", "b"], [["x", "1"]]))
    | a | b |
    |---|--:|
    | x | 1 |
    """
    rule = "|---|" + "--:|" * (len(header) - 1)
    return "\n".join([_row(header), rule, *(_row(row) for row in rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _law(derivation: Derived, label: str, numbers: InstanceNumbers | None, heading: str) -> list[str]:
    blocks = [f"**Verdict:** {derivation.verdict.name.lower()}, {derivation.verdict}."]
    if numbers is not None:
        values = ", ".join(f"${value}$" for value in numbers.latex())
        blocks.append(f"Below a formula it stands with the numbers of the instance: {values}.")
    for number, step in enumerate(derivation.steps, start=1):
        blocks += _step(number, step, label, numbers, heading)
    return blocks


def _step(number: int, step: Step, label: str, numbers: InstanceNumbers | None, heading: str) -> list[str]:
    blocks = [f"{heading} {number}. {text(step.title)}", text(step.claim)]
    for k, equation in enumerate(step.equations, start=1):
        blocks.append(f"$$\n{latex_of_equation(equation)}\n$$ ({label}-{step.name}-{k})")
        inserted, remark = (None, "") if numbers is None else numbers.at_numbers(equation)
        if inserted is not None:
            blocks.append(f"In numbers: ${latex_of_equation(inserted)}$")
        if remark:
            blocks.append(text(remark))
        if equation.verdict is not None:
            blocks.append(f"*{equation.verdict.name.lower()}*: {text(equation.method)}")
    blocks.append(f"**Reason.** {text(step.reason)} ({', '.join(step.labels)})")
    if step.note:
        blocks.append(f"**Note.** {text(step.note)}")
    return [*blocks, f"**Verdict:** {step.verdict.name.lower()}, {step.verdict}."]


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "law"
