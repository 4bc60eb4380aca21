"""E10: Lemma 1 speaks only of confidences above one half."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from smqopt.paper.errata._entry import Claim, Entry, Finding

Speaks = Callable[[Fraction], bool]
"""Whether the lemma is claimed to ask for any privacy at confidence δ."""


def at_every_confidence(delta: Fraction) -> bool:
    """δ ∈ (0, 1)."""
    return 0 < delta < 1


def above_one_half(delta: Fraction) -> bool:
    """δ ∈ (½, 1)."""
    return Fraction(1, 2) < delta < 1


def _trial(speaks: Speaks) -> Finding:
    n, alpha, delta = sp.symbols("n alpha delta", positive=True)
    bound = n / (4 * alpha) * (sp.log(delta) - sp.log(1 - delta))
    slope = sp.simplify(bound.diff(delta) - n / (4 * alpha * delta * (1 - delta)))
    if slope != 0 or sp.simplify(bound.subs(delta, sp.Rational(1, 2))) != 0:
        return Finding(False, "the bound does not rise through 0 at δ = 1/2")
    for numerator in range(1, 100):  # the sign of the bound is that of δ/(1 − δ) − 1
        d = Fraction(numerator, 100)
        positive = d / (1 - d) > 1
        if speaks(d) != positive:
            return Finding(False, f"at δ = {d} the bound is {'positive' if positive else 'at most 0'}")
    return Finding(True, "the bound rises in δ and is 0 at δ = 1/2")


CONFIDENCE = Entry(
    "E10",
    "accuracy (Lemma 1)",
    Claim("the bound on purchased privacy speaks of every δ in (0, 1)", at_every_confidence),
    Claim("it says something for δ > ½ only; at and below, it is at most 0", above_one_half),
    _trial,
)
