"""Formulas against the law as the program computes it, on the whole support."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import sympy as sp

from smqopt.algebra import rational, values_at
from smqopt.numeric import FORMULA
from smqopt.valuation import LawFormulas, Valuation

_OWNERS = 3
"""So many owners' parameters are tried, where they differ."""
_SHARES = tuple(Fraction(k, 64) for k in (1, 23, 41, 63))
"""Where within a piece F and f are compared; F at both ends too."""
_BITS = 192


def disagreement(formulas: LawFormulas, law: Valuation) -> str:
    """Say where F or f differs from the law's own; empty where they agree.

    Each piece, each gap and each joint of the support is looked at, up to the ends.
    """
    for row in np.unique(np.linspace(0, (law.size or 1) - 1, _OWNERS).astype(np.intp)).tolist():
        own = law if law.size is None else law.take(np.array([row], dtype=np.intp))
        values = {symbol: rational(float(np.ravel(own.arguments[name])[0])) for name, symbol in formulas.parameters}
        for piece in formulas.pieces or (formulas,):
            for what, theta, found, expected, room in _compare(piece, values, own):
                if not abs(found - expected) <= FORMULA.value + room:
                    return f"{what} = {found:.12g} by the formula, {expected:.12g} by the law, at θ = {theta!r}"
    return ""


def _compare(
    piece: LawFormulas, values: dict[sp.Symbol, sp.Rational], law: Valuation
) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield what is compared, where, both values, and their change between doubles.

    The density is multiplied by the width of the support.
    """
    width = float(np.ravel(law.width)[0])
    low, high = (Fraction(*map(int, sp.fraction(end.subs(values)))) for end in (piece.low, piece.high))
    parameters = {symbol: Fraction(int(value.p), int(value.q)) for symbol, value in values.items()}
    inside = (Fraction(float(low + (high - low) * share)) for share in _SHARES)  # where there are doubles
    places = [low, *(min(max(place, low), high) for place in inside), high]
    points = [{**parameters, piece.theta: place} for place in places]
    for what, formula, compute, unit in (("F", piece.cdf, law.cdf, 1.0), ("f", piece.pdf, law.pdf, width)):
        found = values_at(formula, points, _BITS)
        beside = values_at(
            formula, [{**point, piece.theta: _next(point[piece.theta], low, high)} for point in points], _BITS
        )
        for place, value, near in zip(places, found, beside, strict=True):
            # The density may jump at joints, and between them there may be no double; a ball may
            # have no value at an end, where claims speak of F.
            theta = float(place)
            if (what == "F" or float(low) < theta < float(high)) and value.is_finite():
                room = abs(float((near - value).mid())) * unit if near.is_finite() else 0.0
                yield what, theta, float(value.mid()) * unit, float(np.ravel(compute(theta))[0]) * unit, room


def _next(place: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a place a few doubles on, towards the farther end, and not beyond it."""
    step = 4 * Fraction(float(np.spacing(float(place))))
    return min(place + step, high) if high - place > place - low else max(place - step, low)
