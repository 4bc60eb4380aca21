"""A derivation as a LaTeX document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smqopt.derivation.render._instance_numbers import InstanceNumbers
from smqopt.derivation.render._typeset import latex_of_equation
from smqopt.document import break_lines

if TYPE_CHECKING:
    from smqopt.derivation.statement._derived import Derived
    from smqopt.derivation.statement._step import Step

_PREAMBLE = r"""\documentclass{article}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath}
\usepackage{iftex}
\ifpdftex\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\fi
"""
_TEXT = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_LETTERS = {
    "θ": r"\theta",
    "ε": r"\varepsilon",
    "λ": r"\lambda",
    "μ": r"\mu",
    "γ": r"\gamma",
    "Σ": r"\sum",
    "ℓ": r"\ell",
    "′": "'",
    "″": "''",
    "‖": r"\Vert",
    "≥": r"\ge",
    "≤": r"\le",
    "⁻¹": "^{-1}",
    "²": "^2",
    "³": "^3",
    "₊": "_+",
    "−": "-",
    "·": r"\cdot",
    "∞": r"\infty",
    "∂": r"\partial",
    "∫": r"\int",
    "√": r"\surd",
    "∈": r"\in",
    "≠": r"\ne",
    "×": r"\times",
    "φ": r"\varphi",
    "Φ": r"\Phi",
    "ψ": r"\psi",
    "Ψ": r"\Psi",
    "π": r"\pi",
    "Γ": r"\Gamma",
    "α": r"\alpha",
    "β": r"\beta",
    "δ": r"\delta",
    "η": r"\eta",
    "κ": r"\kappa",
    "τ": r"\tau",
    "Δ": r"\Delta",
    "Λ": r"\Lambda",
    "Π": r"\prod",
    "σ": r"\sigma",
    "ρ": r"\rho",
    "ω": r"\omega",
    "→": r"\to",
}
"""Characters of the prose that a plain TeX font lacks, as mathematics."""

_LONGEST_LINE = 140
"""A formula of more characters than this may not fit into a line."""


def latex_document(derivation: Derived, *, title: str = "", numbers: Sequence[InstanceNumbers | None] = ()) -> str:
    """Write a derivation as a LaTeX document, a section a step.

    Parameters
    ----------
    derivation
        What to show.
    title
        The document's title; none where empty.
    numbers
        For each family of laws, an instance's numbers, given below the formulas.
    """
    parts = [part.derivation for part in derivation.parts] or [derivation]
    beside = numbers or [None] * len(parts)
    opening = [r"\begin{document}"]
    if title:
        opening += [rf"\title{{{text(title)}}}", r"\author{}", r"\date{}", r"\maketitle"]
    laws = (_law(part, own) for part, own in zip(parts, beside, strict=True))
    return "\n".join([_PREAMBLE + "\n".join(opening), *laws, r"\end{document}", ""])


def _law(derivation: Derived, numbers: InstanceNumbers | None) -> str:
    lines = [rf"\section*{{Derivation: the {text(derivation.law.name)} law}}"]
    if numbers is not None:
        values = ", ".join(rf"\({value}\)" for value in numbers.latex())
        lines.append(f"Below a formula it stands with the numbers of the instance: {values}.")
    for step in derivation.steps:
        lines += _step(step, numbers)
    return "\n".join(lines)


def _step(step: Step, numbers: InstanceNumbers | None) -> list[str]:
    lines = [rf"\subsection*{{{text(step.title)}}}", text(step.claim)]
    for equation in step.equations:
        lines.append(_display(latex_of_equation(equation)))
        inserted, remark = (None, "") if numbers is None else numbers.at_numbers(equation)
        if inserted is not None:
            lines.append(rf"In numbers: {_display(latex_of_equation(inserted))}")
        if remark:
            lines.append(text(remark))
        if equation.verdict is not None:
            lines.append(rf"\emph{{{equation.verdict.name.lower()}}}: {text(equation.method)}")
    lines.append(rf"\paragraph{{Reason.}} {text(step.reason)} ({text(', '.join(step.labels))})")
    if step.note:
        lines.append(rf"\paragraph{{Note.}} {text(step.note)}")
    return [*lines, rf"\paragraph{{Verdict:}} {step.verdict.name.lower()}, {text(str(step.verdict))}."]


def _display(formula: str) -> str:
    """Display a formula, as a paragraph where it is long, so that lines break."""
    if len(formula) <= _LONGEST_LINE or len(break_lines(formula)) == 1:
        return rf"\[ {formula} \]"
    return "\n".join([r"\begin{center}", rf"\( \displaystyle {formula} \)", r"\end{center}"])


def text(prose: str) -> str:
    r"""Escape prose for LaTeX, and set its mathematical letters.

    Examples
    --------
    >>> text("θ & λ_i")
    '\\ensuremath{\\theta} \\& \\ensuremath{\\lambda}\\_i'
    """
    escaped = "".join(_TEXT.get(character, character) for character in prose)
    for character, command in _LETTERS.items():
        escaped = escaped.replace(character, rf"\ensuremath{{{command}}}")
    return escaped
