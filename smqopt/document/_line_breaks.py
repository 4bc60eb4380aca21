r"""Where a long formula may break: before relations and signs in no bracket."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\\left\b|\\right\b|\\begin\b|\\end\b|\\[a-zA-Z]+|\\.|[{}()\[\]]|:=|[-+=<>]|.", re.DOTALL)
_OPENING = frozenset({r"\left", r"\begin", "{", "(", "[", r"\{"})
_CLOSING = frozenset({r"\right", r"\end", "}", ")", "]", r"\}"})
_DELIMITED = frozenset({r"\left", r"\right"})
"""What the next token belongs to, so that it opens or closes nothing of its own."""
_BREAKS = frozenset({":=", "=", "+", "-", "<", ">", r"\le", r"\ge", r"\leq", r"\geq", r"\qquad"})


def break_lines(latex: str) -> list[str]:
    r"""Split a formula into pieces that may stand on lines of their own.

    Examples
    --------
    >>> break_lines(r"a + \frac{b - c}{d} = \left(e - f\right) - g")
    ['a ', '+ \\frac{b - c}{d} ', '= \\left(e - f\\right) ', '- g']
    >>> break_lines("-1 - x"), break_lines("a = -b")
    (['-1 ', '- x'], ['a ', '= -b'])
    """
    pieces, current, depth, after_operand, belongs = [], "", 0, False, False
    for token in _TOKEN.findall(latex):
        if belongs:
            belongs = False
        elif token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            depth -= 1
        elif depth == 0 and token in _BREAKS and after_operand:
            pieces.append(current)
            current = ""
        belongs = belongs or token in _DELIMITED
        if not token.isspace():
            after_operand = token not in _BREAKS and token not in ("^", "_")
        current += token
    return [*pieces, current]
