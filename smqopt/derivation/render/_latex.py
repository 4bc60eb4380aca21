"""A derivation as a LaTeX document: a proposition for a paper, or every step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smqopt._version import __version__
from smqopt.algebra import Verdict
from smqopt.derivation.render._general_page import general_page
from smqopt.derivation.render._instance_numbers import InstanceNumbers
from smqopt.derivation.render._latex_text import display, prose_in_latex as text
from smqopt.derivation.render._room import fit_lines
from smqopt.derivation.render._sections import LATEX_FORMS, check_form, checks_in_words, shown_laws
from smqopt.derivation.render._shown import REGULARITY, ROUNDED, ShownEquation, ShownLaw, ShownStep
from smqopt.derivation.statement._law_in_words import name_in_words
from smqopt.notation import LEGEND, PAPER

if TYPE_CHECKING:
    from smqopt.derivation.statement._derived import Derived


_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[letterpaper,textwidth=6.5in,textheight=9in]{geometry}
\usepackage{amsmath,amssymb,amsthm,mathtools,graphicx}
\usepackage{iftex}
\ifpdftex\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{lmodern}\fi
\newtheorem{proposition}{Proposition}
\newlength{\fitwidth}
\newcommand{\fit}[1]{\setlength{\fitwidth}{\dimexpr\linewidth-3em\relax}%
  \resizebox{\ifdim\width>\fitwidth\fitwidth\else\width\fi}{!}{$\displaystyle #1$}}
\allowdisplaybreaks
\emergencystretch=4em
"""
_PROOF = (
    r"As $d(\theta F_i)/d\theta = F_i + \theta f_i = f_i J_i$, the derivative of $\varepsilon_i F_i(\theta) - \lambda \theta F_i(\theta)$, "
    r"what owner $i$ adds to the Lagrangian at a price $\lambda > 0$ of the budget, is $f_i(\theta)\,(\varepsilon_i - \lambda J_i(\theta))$. "
    r"It is positive where $J_i(\theta) < x_i$ and negative where $J_i(\theta) > x_i$."
)
_OPTIMAL = (
    r"As $J_i$ does not fall, the maximum is where $J_i = x_i$, or at the nearer end of the support, and by weak duality these thresholds are optimal at the "
    r"price at which they spend the budget."
)
_WITHOUT = (
    r"As $J_i$ is not known to rise everywhere, thresholds are optimal only where $J_i$ agrees with the slope of the convex hull of "
    r"the cost curve; elsewhere a lottery over two thresholds may do better."
)
_DENSITY = r"From the distribution function, which rises from 0 to 1 on the support, follow $J_i = \theta_i + F_i/f_i$ and the density"
_SLOPE = "The slope of the virtual cost is"
_RISES = "It is never negative"
_JOINS = ", and $J_i$ does not fall where two pieces meet"
_SOLVED = {1: "Substitution shows that", 2: "Substitution shows that threshold and price satisfy"}
_MOST_LINES = {"theorem": (14, 12), "full": (10**6, 10**6)}
"""Of formulas in a proposition, and in its proof, which takes a page at most."""
_FUNCTIONS = (
    (
        r"\mathrm{B}\left(",
        r"\mathrm{B}(a, b), \mathrm{B}(x; a, b)",
        "beta function, and the incomplete one from 0 to $x$",
    ),
    (r"\gamma\left(", r"\gamma(k, x)", "lower incomplete gamma function"),
    (r"W\left(", "W(y)", r"Lambert's function, $W(y)\,e^{W(y)} = y$"),
    (r"\operatorname{erf}", r"\operatorname{erf}", "error function"),
)
"""How special functions begin in a formula, and what the legend says of them."""
_SHOWN_IN_PROOF = ("law", "regularity", "threshold", "budget-price")


def latex_document(
    derivation: Derived, *, form: str = "full", title: str = "", numbers: Sequence[InstanceNumbers | None] = ()
) -> str:
    """Write a derivation as a LaTeX document.

    Parameters
    ----------
    derivation
        What to show.
    form
        "theorem" for a proposition with its proof and a legend; "full" for every step too.
    title
        The document's title; none where empty.
    numbers
        For each family of laws, an instance's numbers, given below the formulas.

    Raises
    ------
    InputError
        If the form is not known.
    """
    check_form(form, LATEX_FORMS)
    laws = shown_laws(derivation, numbers, "law", form="full")
    lines = [_PREAMBLE + r"\begin{document}"]
    if title:
        lines += [rf"\title{{{text(title)}}}", r"\author{}", r"\date{}", r"\maketitle"]
    for law, family in zip(laws, _names(derivation), strict=True):
        theorem = "\n".join([*_proposition(law, family, _MOST_LINES[form][0]), *_proof(law, _MOST_LINES[form][1])])
        is_rounded = any(each.is_rounded and _is_in(theorem, each) for each in law.equations)
        lines.append(theorem if form == "full" or is_rounded else theorem.replace(f" {text(ROUNDED)}", ""))
    if form == "full":
        lines += [r"\section*{The steps}", text(checks_in_words())]
        for law in laws:
            lines += [line for step in law.steps for line in _step(step, law.name if len(laws) > 1 else "")]
        lines += [r"\section*{What holds for every law}"]
        lines += [line for step in general_page() for line in _step(step, "")]
    body = "\n".join(lines)
    return "\n".join([body, *_legend(body, laws), *_bibliography(), r"\end{document}", ""])


def _is_in(document: str, shown: ShownEquation) -> bool:
    """Tell whether a formula stands in a document, as an equation or a definition."""
    return any(display(latex, shown.key) in document for latex in (shown.latex, shown.latex.replace(":=", "=", 1)))


def _names(derivation: Derived) -> list[str]:
    return [part.derivation.law.name for part in derivation.parts] or [derivation.law.name]


def _proposition(law: ShownLaw, family: str, most: int) -> Iterator[str]:
    has_threshold = any(shown.key.endswith("-threshold") for shown in law.findings)
    yield rf"\begin{{proposition}}[{text(name_in_words(family))} distribution]\label{{prop:{law.findings[0].key}}}"
    yield rf"Let owner $i$ have privacy requirement $\varepsilon_i$ and a valuation with $\displaystyle {law.domain}$,"
    yield r"and let $x_i = \varepsilon_i/\lambda$. The distribution function" + ("," if has_threshold else "")
    if has_threshold:
        yield r"the virtual cost~\cite{zhang2020} and, given the budget price $\lambda > 0$, the optimal threshold are"
    else:
        yield r"and the virtual cost~\cite{zhang2020} are"
    if law.numbers:
        values = ", ".join(f"${number}$" for number in law.numbers)
        yield f"(below each formula with the numbers of an instance: {values})"
    for shown in fit_lines(law.findings, most):
        yield display(shown.latex, shown.key)
        if shown.in_numbers:
            yield rf"In numbers: {display(shown.in_numbers)}"
        if shown.remark:
            yield text(shown.remark)
    yield f"{text(law.regularity)} {text(law.price)}"
    yield r"\end{proposition}"


def _proof(law: ShownLaw, most: int) -> Iterator[str]:
    """Show the density and J′ ≥ 0, argue for a maximum, and say what θ* and λ solve."""
    yield r"\begin{proof}"
    seen = {shown.latex for shown in law.findings}
    equations = {
        name: [each for each in step.equations if each.latex not in seen]
        for name in _SHOWN_IN_PROOF
        for step in law.steps
        if step.anchor.endswith(f"-{name}")
    }
    density = [each for each in equations.get("law", ()) if each.latex.startswith("f_i") and ":=" in each.latex][:1]
    density = [
        replace(each, latex=each.latex.replace(":=", "=", 1), head=each.head.replace(":=", "=")) for each in density
    ]
    slope, *others = equations.get("regularity", ()) or (None,)
    slopes = [slope] if slope is not None and slope.word == "proved" and slope.head.endswith("=") else []
    threshold, price = (
        [each for each in equations.get(name, ()) if each.word == "proved"] for name in ("threshold", "budget-price")
    )
    inside = [each for each in threshold if each.head == threshold[0].head]
    solved = [*inside, *price[-1:]]
    shown = fit_lines([*density, *slopes, *solved], most)
    regular = law.regularity == REGULARITY[Verdict.PROVED]
    if density:
        yield _DENSITY
        yield from _formula(next(shown))
    if slopes:
        yield _SLOPE
        yield from _formula(next(shown))
        if regular:
            yield _RISES + (_JOINS if len(others) > 1 else "") + "."
    falls = [each for each in equations.get("regularity", ()) if each.word == "refuted" and each.method]
    for each in falls[:1]:
        if r"\lim" in each.latex and "F is flat" not in each.method:
            yield text(f"Where two pieces meet J_i falls: this does not hold ({each.method}).")
            yield display(each.latex, each.key)
        else:
            said = text(f"J_i falls somewhere: {each.method}.")
            yield rf"{{\raggedright {said}\par}}"  # of long numbers, between which lines cannot be stretched
    yield _PROOF
    yield (
        _OPTIMAL
        if regular
        else _WITHOUT.replace("is not known to rise everywhere", "falls somewhere")
        if falls
        else _WITHOUT
    )
    if solved:
        yield _SOLVED[bool(inside) + len(price[-1:])]
        yield from (line for each in shown for line in _formula(each))
    yield r"\end{proof}"


def _formula(shown: ShownEquation) -> Iterator[str]:
    yield display(shown.latex, shown.key)
    if shown.remark:
        yield text(shown.remark)


def _step(step: ShownStep, of: str) -> Iterator[str]:
    beside = f" ({of})" if of else ""
    yield rf"\subsection*{{{text(step.title + beside)}}}"
    yield from map(text, step.before)
    for shown in step.equations:
        yield display(shown.latex, "" if _is_in_proof(step) else shown.key)
        if shown.method and shown.word:
            yield rf"\emph{{{shown.word}}}: {text(shown.method)}"
    yield from map(text, step.after)


def _is_in_proof(step: ShownStep) -> bool:
    return any(step.anchor.endswith(f"-{name}") for name in _SHOWN_IN_PROOF) and not step.anchor.startswith("general")


def _legend(body: str, laws: Sequence[ShownLaw]) -> Iterator[str]:
    """List the letters that the document uses, the laws' own ones last."""
    yield r"\section*{Symbols}"
    yield r"\begin{tabular}{@{}lp{4.6in}@{}}"
    for entry in LEGEND:
        if re.search(rf"(?<![A-Za-z\\_^]){re.escape(entry.latex)}(?![A-Za-z])", body):
            yield rf"${entry.latex}$ & {text(entry.meaning)} \\"
    for letter, word in dict.fromkeys(parameter for law in laws for parameter in law.parameters):
        yield rf"${letter}$ & {text(word)}, a parameter of the distribution \\"
    for mark, function, meaning in _FUNCTIONS:
        if mark in body:
            yield rf"${function}$ & {meaning} \\"
    yield r"\end{tabular}"


def _bibliography() -> Iterator[str]:
    yield r"\begin{thebibliography}{9}"
    yield rf"\bibitem{{zhang2020}} {PAPER.names}. \emph{{{PAPER.title}}}. {PAPER.venue}, {PAPER.year}."
    yield rf"\bibitem{{smqopt}} The smqopt developers. \emph{{smqopt}}, version {__version__}."
    yield r"\end{thebibliography}"
