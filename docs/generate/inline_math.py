"""Typeset formulas that stand in prose as plain text: θ̲_i ≤ θ_i becomes a formula in LaTeX.

Pages and docstrings are written in plain characters, which any editor and terminal shows; this
finds the formulas among the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "η": "eta", "θ": "theta", "λ": "lambda",
    "μ": "mu", "ν": "nu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi", "ψ": "psi", "ω": "omega",
    "Φ": "Phi", "Δ": "Delta",
}  # fmt: skip
_ACCENTS = {"\u0304": r"\overline", "\u0305": r"\overline", "\u0331": r"\underline", "\u0332": r"\underline"}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼ", "0123456789+-ij")
_OPERATORS = {
    "=": "=", ":=": ":=", "≤": r"\le", "≥": r"\ge", "<": "<", ">": ">", "≠": r"\ne", "+": "+", "−": "-", "·": r"\cdot",
    "×": r"\times", "/": "/", "∈": r"\in", "→": r"\to", "~": r"\sim", "±": r"\pm", "≈": r"\approx",
}  # fmt: skip
_ALONE = frozenset("inkqxBFfJV")
"""Latin letters that are formulas by themselves; others may be words or labels."""
_NAME = re.compile(
    r"(?P<d>d(?=[A-Z](?![A-Za-z])))?(?P<letter>[A-Za-zΑ-Ωα-ω])(?P<accent>[\u0304\u0305\u0331\u0332]?)(?:_(?P<index>[a-z0-9])(?![a-z0-9_]))?"
    r"(?P<low>[₀-₉₊₋ᵢⱼ]*)(?P<primes>′*)(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]*)(?P<star>\*?)"
    r"(?:(?![\w\u0300-\u036f])|(?<=[Α-ω\u0300-\u036f⁰-⁹²³])(?=[A-Za-zΑ-ω](?![A-Za-z0-9])))"
)
_NUMBER = re.compile(
    r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]*)(?!\d|[A-Za-z]{2}|%)|(?<!\d)\.\d+(?!\w)|∞|½"
)
_OPERATOR = re.compile("|".join(map(re.escape, sorted(_OPERATORS, key=len, reverse=True))))
_SUM = re.compile(r"[ΣΠ](?:_(?P<index>[a-z]))? ?")
_FENCES = {"(": ")", "[": "]", "{": "}"}


class _Reader:
    """Reads the longest formula at a place, and counts what makes it one."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.names, self.operators, self.certain = text, at, 0, 0, False

    def expression(self) -> str | None:
        """Read terms joined by operators, by spaces, or by nothing."""
        latex = self.term()
        while latex is not None:
            start, certain = self.at, self.certain
            state = (self.names, self.operators, self.certain)
            space = re.compile(" ?").match(self.text, self.at)
            self.at += len(space.group()) if space else 0
            sign = _OPERATOR.match(self.text, self.at)
            if sign:
                self.at = sign.end()
                self.at += self.text[self.at : self.at + 1] == " "
                self.operators += 1
            following = self.term()
            apart = start < len(self.text) and self.text[start] == " "
            joined = following is not None and (sign or certain or not apart)
            if not joined:
                self.at, (self.names, self.operators, self.certain) = start, state
                break
            latex += f" {_OPERATORS[sign.group()] if sign else ''} {following}"
        return latex

    def term(self) -> str | None:
        """Read a number, a name with what it is applied to, a sum, a root, or what stands in brackets."""
        text, place = self.text, self.at
        if total := _SUM.match(text, place):
            self.at, self.certain = total.end(), True
            index = f"_{total['index']}" if total["index"] else ""
            return (r"\sum" if text[place] == "Σ" else r"\prod") + index
        if text[place : place + 1] in ("−", "√") and (place == 0 or text[place] == "√" or text[place - 1] in " ("):
            self.at += 1
            under = self.term()
            self.certain = self.certain or text[place] == "√"
            return under and (rf"\sqrt{{{under}}}" if text[place] == "√" else f"-{under}")
        if number := _NUMBER.match(text, place):
            self.at = number.end()
            power = f"^{{{number['power'].translate(_RAISED)}}}" if number["power"] else ""
            digits = number.group().rstrip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
            return {"∞": r"\infty", "½": r"\tfrac{1}{2}"}.get(digits, digits.replace(",", "{,}")) + power
        if name := _NAME.match(text, place):
            if name.group() in ("a", "A", "I"):
                return None
            self.at = name.end()
            self.names += 1
            self.certain = self.certain or name["letter"] in _GREEK or name["index"] is not None or bool(name["primes"])
            applied = self.bracket() if text[self.at : self.at + 1] in ("(", "[") else ""
            self.operators += bool(applied)
            return None if applied is None else _latex_of(name) + applied
        return self.bracket()

    def bracket(self) -> str | None:
        """Read a list of expressions between brackets."""
        opening = self.text[self.at : self.at + 1]
        if opening not in _FENCES:
            return None
        self.at += 1
        inner = []
        while True:
            part = self.expression()
            if part is None:
                return None
            inner.append(part)
            if self.text.startswith(", ", self.at):
                self.at += 2
                continue
            break
        if not self.text.startswith((_FENCES[opening], "]", ")"), self.at) or self.at >= len(self.text):
            return None
        closing = self.text[self.at]
        self.at += 1
        part_of = re.compile(r"₊").match(self.text, self.at)
        self.at += 1 if part_of else 0
        fence = {"{": r"\{", "}": r"\}"}
        lowered = "_+" if part_of else ""
        return f"{fence.get(opening, opening)}{', '.join(inner)}{fence.get(closing, closing)}{lowered}"


def _latex_of(name: re.Match[str]) -> str:
    letter = (
        (name["d"] or "") + f"\\{_GREEK[name['letter']]}"
        if name["letter"] in _GREEK
        else (name["d"] or "") + name["letter"]
    )
    if name["accent"]:
        letter = f"{_ACCENTS[name['accent']]}{{{letter}}}"
    low = (name["index"] or "") + name["low"].translate(_LOWERED)
    high = r"\prime" * len(name["primes"]) + name["power"].translate(_RAISED) + name["star"]
    return letter + (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")


def split(text: str) -> Iterator[tuple[str, str | None]]:
    """Split prose into pieces, each with its LaTeX if it is a formula.

    Examples
    --------
    >>> [latex for _, latex in split("Owner i asks θ_i ≤ 1 of a broker.") if latex]
    ['i', '\\\\theta_{i} \\\\le 1']
    >>> list(split("In 10 lines a P-E law, E1 and and/or C code."))
    [('In 10 lines a P-E law, E1 and and/or C code.', None)]
    """
    start = place = 0
    while place < len(text):
        before = text[place - 1] if place else " "
        if before.isalnum() or before in "_-.'’/\\":
            place += 1
            continue
        reader = _Reader(text, place)
        latex = reader.expression()
        found, after = text[place : reader.at], text[reader.at : reader.at + 1]
        is_formula = reader.certain or (reader.names > 0 and reader.operators > 0) or found in _ALONE
        is_shape = text.startswith(",)", reader.at)
        if latex is not None and is_formula and not (after.isalnum() or after in ("_", "-") or is_shape):
            if start < place:
                yield text[start:place], None
            yield found, latex
            start = place = reader.at
        else:
            place += 1
    if start < len(text):
        yield text[start:], None
