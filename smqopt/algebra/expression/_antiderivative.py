"""The antiderivative of a formula, sought in a process with a time limit.

SymPy's integration may take for ever, and Python cannot interrupt it from within. So
`antiderivative` runs this module as a program: it reads a formula and its names, and answers with
text, or with nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache

import sympy as sp

from smqopt.algebra.expression._parser import THETA, parse
from smqopt.errors import InputError

TIME_LIMIT = 20.0
"""In seconds, with the start of a process included."""
ABOVE_MINUS_ONE = "above −1"
"""What is known of a number in (−1, 0): a power with such an exponent has a finite mass next to
0."""


@lru_cache(maxsize=256)
def antiderivative(pdf: str, signs: tuple[tuple[str, str], ...], low: str | None) -> tuple[str, str] | None:
    """Find A with A′ = f, as text, and its value at low.

    Parameters
    ----------
    pdf
        f(θ) as the text of a formula.
    signs
        Pairs of a name in the formula and what is known of it: "positive", "nonnegative", "real",
        or `ABOVE_MINUS_ONE`, for exponents.
    low
        The low end as an exact number, for an A that has only a limit there; None where it is a
        name.

    Returns
    -------
    tuple of str, or None
        A and A(low), in the same grammar as the formula, the latter empty where it is infinite;
        None where none was found within the time limit.
    """
    question = json.dumps({"pdf": pdf, "signs": list(signs), "low": low})
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(command, input=question, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return None
    answer = json.loads(done.stdout) if done.returncode == 0 and done.stdout else None
    return None if answer is None else (str(answer[0]), str(answer[1]))


def search(pdf: str, signs: Mapping[str, str], low: str | None) -> tuple[str, str] | None:
    """Do the work of `antiderivative` in this process, for as long as it takes."""
    above = {name: sp.Dummy(name, positive=True) for name, sign in signs.items() if sign == ABOVE_MINUS_ONE}
    names = {
        name: above[name] - 1 if name in above else sp.Symbol(name, **{sign: True}) for name, sign in signs.items()
    }
    f = parse(pdf, names)
    primitive = sp.integrate(sp.expand(f), THETA)
    if primitive.has(sp.Integral):
        primitive = sp.integrate(f, THETA)
    primitive = primitive.replace(lambda e: isinstance(e, sp.Piecewise), _generic)
    end = names["low"] if low is None else sp.Rational(low)
    at_low = primitive.subs(THETA, end)
    if low is not None and not at_low.is_finite:
        at_low = sp.limit(primitive, THETA, end, "+")
    back = {one: sp.Symbol(name) + 1 for name, one in above.items()}
    texts = str(primitive.subs(back)), "" if at_low.is_infinite else str(at_low.subs(back))
    try:
        for text in texts:
            if text:
                parse(text, names)
    except InputError:
        return None
    return texts


def _generic(cases: sp.Expr) -> sp.Expr:
    """Return the case of a Piecewise that holds in general.

    The one whose condition is an inequation, or none.
    """
    for value, condition in cases.args:
        if condition == sp.true or isinstance(condition, sp.Ne):
            return value
    return cases


if __name__ == "__main__":
    asked = json.loads(sys.stdin.read())
    sys.stdout.write(json.dumps(search(asked["pdf"], dict(asked["signs"]), asked["low"])))
