"""A derivation as Markdown (MyST)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from smqopt.derivation.render._general_page import general_page
from smqopt.derivation.render._instance_numbers import InstanceNumbers
from smqopt.derivation.render._room import about_laws
from smqopt.derivation.render._sections import ONCE, checks_in_words, shown_laws
from smqopt.derivation.render._shown import ShownEquation, ShownLaw, ShownStep
from smqopt.document import with_indices
from smqopt.notation import PAPER

if TYPE_CHECKING:
    from smqopt.derivation.statement._derived import Derived


def markdown_document(
    derivation: Derived,
    *,
    form: str = "short",
    title: str = "",
    label: str = "",
    numbers: Sequence[InstanceNumbers | None] = (),
    opening: Sequence[str] = (),
    figures: Sequence[str] = (),
    further: Sequence[str] = (),
) -> str:
    """Write a derivation as Markdown: the answer, then each step, folded.

    Parameters
    ----------
    derivation
        What to show.
    form
        "short" for at most a page, "summary" without the steps, "full" for every step.
    title
        The heading; by default it names the law.
    label
        What the names of equations begin with, so that pages of one site do not share any; by
        default the law's name.
    numbers
        For each family of laws, an instance's numbers, given below the formulas.
    opening, figures, further
        Blocks before the answer, after it, and after the steps.

    Raises
    ------
    InputError
        If the form is not known.
    """
    start = [f"# {title or f'Derivation: the {derivation.law.name} distribution'}", *opening]
    middle = [*figures, *further, "## The steps", text(f"{ONCE} {checks_in_words()} {PAPER.credit}")]
    beside = len(" ".join([*start, *middle]).split())
    key = label or _slug(derivation.law.name)
    laws = shown_laws(derivation, numbers, key, form=form, beside=beside)
    blocks = [*start, *filter(None, [text(about_laws(laws))])]
    for law in laws:
        blocks += [f"## {_capital(text(law.name))}", *_answer(law)]
    blocks += middle
    for law in laws:
        blocks += [f"### {_capital(text(law.again))}"] if law.again and law.steps else []
        blocks += [block for step in law.steps for block in markdown_step(step)]
    if form == "full":
        blocks += ["## For every law", *(block for step in general_page() for block in markdown_step(step))]
    return "\n\n".join(blocks) + "\n"


def markdown_summary(derivation: Derived) -> str:
    """Write the answer alone, for notebooks, with its conditions."""
    laws = shown_laws(derivation, form="summary")
    blocks = [*filter(None, [text(about_laws(laws))])]
    for law in laws:
        under = [rf"for ${law.domain}$, with $x_i = \varepsilon_i/\lambda$:"] if law.domain else []
        blocks.append(" ".join([f"**{text(law.name)}**", *under]))
        for shown in law.findings:
            blocks += [f"$${shown.latex}$$", *filter(None, [text(shown.remark)])]
        blocks.append(_closing(law))
    return "\n\n".join(blocks)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _answer(law: ShownLaw) -> Iterator[str]:
    if law.domain:
        yield rf"For ${law.domain}$, with $x_i = \varepsilon_i/\lambda$:"
    if law.numbers:
        values = ", ".join(f"${number}$" for number in law.numbers)
        yield f"Below a formula it stands with the numbers of the instance: {values}."
    for shown in law.findings:
        yield from _formula(shown)
    yield _closing(law)


def _closing(law: ShownLaw) -> str:
    return " ".join(filter(None, (law.regularity, text(law.price), f"Steps: {law.verdict}.")))


def markdown_step(step: ShownStep) -> Iterator[str]:
    """Write a step that a reader unfolds."""
    verdict = f": {step.verdict}" if step.verdict else ""
    yield f"<details><summary>{step.title}{verdict}</summary>"
    yield from map(text, step.before)
    for shown in step.equations:
        yield from _formula(shown)
    yield from map(text, step.after)
    yield "</details>"


def _formula(shown: ShownEquation) -> Iterator[str]:
    yield f"$$\n{shown.latex}\n$$ ({shown.key})"
    if shown.in_numbers:
        yield f"In numbers: ${shown.in_numbers}$"
    if shown.remark:
        yield text(shown.remark)
    if shown.method and shown.word:
        yield f"*{shown.word}*: {text(shown.method)}"


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


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "law"
