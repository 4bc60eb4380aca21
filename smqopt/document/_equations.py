"""Equations that are numbered as the page is written, and links back to them."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from smqopt.document._mathml import in_pieces
from smqopt.errors import InputError


class EquationList:
    """The numbered equations of one page, in the order in which they are written."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def equation(
        self,
        key: str,
        latex: str,
        mark: str = "",
        word: str = "",
        style: str = "",
        *,
        method: str = "",
        in_numbers: str = "",
        remark: str = "",
    ) -> Markup:
        """Write an equation on its own line and give it the next number.

        Parameters
        ----------
        key
            What links call it: letters, digits, hyphens and dots.
        latex
            The formula.
        mark, word, style
            The verdict on it, as a sign, in a word, and the class it is shown in; empty where there
            is none. Without a method the sign stands alone.
        method
            What reached the verdict; shown below the formula.
        in_numbers
            The formula with an instance's numbers, in LaTeX; shown below it, empty where there is
            none.
        remark
            What is to be said of the formula in numbers where it is not shown; empty where nothing.

        Raises
        ------
        InputError
            If the key is taken or malformed, or the formula does not convert.
        """
        if key in self._numbers or not re.fullmatch(r"[a-zA-Z0-9.-]+", key):
            raise InputError(f"report: equation {key!r}", "must have a name of its own", remedy="choose another key")
        number = self._numbers[key] = len(self._numbers) + 1
        lines = [Markup('<div class="formula">{}</div>').format(_formula(latex))]
        if in_numbers:
            lines.append(Markup('<div class="formula in-numbers">{}</div>').format(_formula(in_numbers)))
        if remark:
            lines.append(Markup('<p class="check">{}</p>').format(remark))
        if mark:
            said = Markup('<span class="verdict {}">{} {}</span>: {}').format(style, mark, word, method)
            alone = Markup('<span class="verdict {}" role="img" aria-label="{}" title="{}">{}</span>')
            shown = said if method else alone.format(style, word, word, mark)
            lines.append(Markup('<p class="check">{}</p>').format(shown))
        return Markup(
            '<div class="equation" id="eq-{}"><div class="lines">{}</div><a class="number" href="#eq-{}">({})</a></div>'
        ).format(key, Markup("").join(lines), key, number)

    def reference(self, key: str) -> Markup:
        """Write a link to an equation that stands earlier on the page.

        Raises
        ------
        InputError
            If no equation of that name has been written.
        """
        if key not in self._numbers:
            raise InputError(
                f"report: equation {key!r}", "is referred to before it is written", remedy="write it first"
            )
        return Markup('<a href="#eq-{}">({})</a>').format(escape(key), self._numbers[key])


def _formula(latex: str) -> Markup:
    return Markup(in_pieces(latex, block=True))  # noqa: S704 -- it has been parsed as MathML
