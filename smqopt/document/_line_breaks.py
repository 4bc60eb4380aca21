r"""Where a long formula may be broken into lines: before relations and signs that stand in no bracket, fraction or case."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\\left\b|\\right\b|\\begin\b|\\end\b|\\[a-zA-Z]+|\\.|[{}()\[\]]|:=|[-+=<>]|.", re.DOTALL)
_OPENING = frozenset({r"\left", r"\begin", "{", "(", "[", r"\{"})
_CLOSING = frozenset({r"\right", r"\end", "}", ")", "]", r"\}"})
_DELIMITED = frozenset({r"\left", r"\right"})
"""What the next token belongs to, so that it opens or closes nothing of its own."""
_BREAKS = frozenset({":=", "=", "+", "-", "<", ">", r"\le", r"\ge", r"\leq", r"\geq", r"\qquad"})


def broken(latex: str) -> list[str]:
    r"""Split a formula into pieces that may stand on lines of their own; joined they are the formula again.

    Examples
    --------
    >>> broken(r"a + \frac{b - c}{d} = \left(e - f\right) - g")
    ['a ', '+ \\frac{b - c}{d} ', '= \\left(e - f\\right) ', '- g']
    >>> broken("-1 - x"), broken("a = -b")
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
