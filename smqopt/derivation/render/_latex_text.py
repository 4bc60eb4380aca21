"""Prose and displayed formulas for LaTeX."""

from __future__ import annotations

import re

from smqopt.document import break_lines

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

_MATHEMATICS = re.compile(rf"[{re.escape(''.join(_LETTERS))}]|(?<![A-Za-z])(?:max|min|[A-Za-zℓ])_[a-z]\b|\b[A-Z]\(")
_PUNCTUATION = re.compile(r"^([(\[“]*)(.*?)([)\].,;:”]*)$", re.DOTALL)
_JOINED = re.compile(r"\$( (?:=|\+|-|\\le|\\ge) )\$")
_OPERATORS = {"=": "=", "+": "+", "−": "-", "≤": r"\le", "≥": r"\ge", "~": r"\sim"}
_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}")
_NAMED = frozenset({"log", "exp", "max", "min"})

_SHORT = 12
"""A left side of so many letters does not stand on a line of its own."""
_WIDEST = 62
"""So many letters of a formula are set on a line; what is still too wide is made smaller."""
_SMALLEST = 2
"""How much smaller a line may be made and count as one."""


def prose_in_latex(prose: str) -> str:
    r"""Escape prose for LaTeX, its formulas between dollar signs.

    Examples
    --------
    >>> prose_in_latex("where ε_i ≤ λJ(low), 5 % & more")
    'where $\\varepsilon_i \\le \\lambda J(\\underline{\\theta})$, 5 \\% \\& more'
    """
    words = [_word(word) for word in prose.replace("′s ", "’s ").split(" ")]
    for k in range(1, len(words) - 1):
        beside = words[k - 1].endswith("$") and words[k + 1].startswith("$")
        if beside and prose.split(" ")[k] in _OPERATORS:
            words[k] = f"${_OPERATORS[prose.split(' ')[k]]}$"
    return re.sub(r"\$ \$(=|\+|-|\\le|\\ge|\\sim)\$ \$", r" \1 ", " ".join(words)).replace("’", "'")


def _word(word: str) -> str:
    if not _MATHEMATICS.search(word):
        escaped = "".join(_TEXT.get(character, character) for character in word)
        return escaped.replace("“", "``").replace("”", "''").replace("–", "--")
    opening, inner, closing = _PUNCTUATION.fullmatch(word).groups()  # type: ignore[union-attr]
    while closing.startswith(")") and inner.count("(") > inner.count(")"):
        inner, closing = inner + ")", closing[1:]
    inner = inner.replace("{", r"\{").replace("}", r"\}")
    inner = _WORD.sub(lambda found: rf"\{found[0]} " if found[0] in _NAMED else rf"\mathrm{{{found[0]}}}", inner)
    inner = inner.replace(r"\mathrm{low}", r"\underline{\theta}").replace(r"\mathrm{high}", r"\overline{\theta}")
    inner = inner.replace("*", "^*")
    for character, command in _LETTERS.items():
        space = " " if command[-1].isalpha() and command.startswith("\\") else ""
        inner = inner.replace(character, command + space)
    inner = inner.replace("%", r"\%").replace("&", r"\&").replace("#", r"\#").replace("’", "'")
    inner = re.sub(r" +(?=[_^),.;/'])", "", inner).strip()
    return f"{opening}${inner}${closing}"


def display(formula: str, label: str = "") -> str:
    """Display a formula on as many lines as it needs, numbered where it has a label."""
    begin, end = (rf"\begin{{equation}}\label{{eq:{label}}}", r"\end{equation}") if label else (r"\[", r"\]")
    return rf"{begin}\fit{{{in_lines(formula)}}}{end}"


def in_lines(formula: str) -> str:
    """Break a formula into as many lines as it needs; it needs `mathtools`."""
    lines = _lines(formula)
    inner = lines[0]
    if len(lines) > 1:
        rest = r" \\ &\quad ".join(lines[1:])
        inner = rf"\begin{{aligned}} &{lines[0]} \\ &\quad {rest} \end{{aligned}}"
    return inner.replace("{cases}", "{dcases}")


def _lines(formula: str) -> list[str]:
    lines = [""]
    for piece in break_lines(formula.replace(":=", r"\coloneqq ")):
        if _width(lines[-1]) > _SHORT and _width(lines[-1]) + _width(piece) > _WIDEST:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]


def count_lines(formula: str) -> int:
    """Count the lines of a formula in print; a case that is made smaller is several."""
    rows = (row for line in _lines(formula) for row in line.split(r"\\"))
    return sum(1 + int(_width(row) / (_SMALLEST * _WIDEST)) for row in rows)


def _width(latex: str) -> int:
    """Count letters of a formula, roughly: a command is one, cases are the widest."""
    if r"\begin{cases}" in latex:
        return max(map(_width, latex.replace(r"\begin{cases}", "").replace(r"\end{cases}", "").split("\\\\")))
    fractions = re.sub(r"\\(left|right|underline|overline|mathrm|text|frac|operatorname)\b", "", latex)
    seen = re.sub(r"\\[a-zA-Z]+", "x", fractions)
    return len(re.sub(r"[\s{}_^&]", "", seen))
