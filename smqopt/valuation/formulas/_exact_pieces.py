"""Laws made of pieces with exact numbers: histograms, mixtures, truncations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy as sp

from smqopt.algebra import THETA, decimal, put_in, within_limit
from smqopt.valuation.expression._symbolic_law import slope
from smqopt.valuation.formulas._incomplete_functions import (
    beta_formulas,
    gamma_formulas,
    is_long_sum,
    log_normal_from_zero,
)
from smqopt.valuation.formulas._law_formulas import LawFormulas, Number, reading_of, scale_to_one, spelled_by_text
from smqopt.valuation.formulas._triangular_pieces import triangular_formulas
from smqopt.valuation.law._base import Valuation

MOST_PIECES = 12
"""Laws of more pieces are not derived: each claim is checked on each piece."""


def exact_pieces(law: Valuation, number: Number | None = None) -> tuple[LawFormulas, ...] | None:
    """Return the pieces of a common law from low to high, gaps too.

    None without a formula, or with one that takes too much work to write out.

    Parameters
    ----------
    number
        How the numbers of a law are read that this one is a part of; by default as its own.
    """
    pieces = within_limit(lambda: _pieces(law, number or reading_of(law)), None)
    if pieces is None:
        return None
    massive = [k for k, piece in enumerate(pieces) if not piece.is_gap]
    return pieces[massive[0] : massive[-1] + 1]


def _pieces(law: Valuation, number: Number) -> tuple[LawFormulas, ...] | None:
    """Return pieces side by side; the first and the last may hold no mass."""
    if law.size is not None:
        return None
    if law.name in _MADE_OF_PIECES:
        return _MADE_OF_PIECES[law.name](law, number)
    general = _formulas_of(law)
    if general is None:
        return None
    read = number if law.ends_are_symbols else decimal
    numbers = general.fix({symbol: read(float(law.arguments[name])) for name, symbol in general.parameters})
    if law.formula:  # in letters a density may be 0/0 at an end
        numbers = replace(numbers, pdf=slope(numbers.cdf))
    return numbers.pieces or (_between_ends(scale_to_one(numbers), law, number),)


def _between_ends(typed: LawFormulas, law: Any, number: Number) -> LawFormulas:
    """Stretch a typed law, whose ends are multiples of a unit, to the ends at hand."""
    low, high = number(float(law.low)), number(float(law.high))
    if (low, high) == (typed.low, typed.high):
        return typed
    factor = (typed.high - typed.low) / (high - low)
    place = {THETA: typed.low + factor * (THETA - low)}
    return _piece(low, high, typed.cdf.subs(place), typed.pdf.subs(place) * factor)


def _formulas_of(law: Valuation) -> LawFormulas | None:
    match law.name:
        case "triangular":
            return triangular_formulas(law, {})
        case "beta":
            shapes = {name: decimal(float(law.arguments[name])) for name in ("a", "b")}
            return beta_formulas(law, shapes)
        case "gamma":
            return None if is_long_sum(law) else gamma_formulas(law, {})
        case "log-normal" if law.low == 0:
            return log_normal_from_zero()
        case _:
            return spelled_by_text(law) if law.formula else None


def _of_histogram(law: Any, number: Number) -> tuple[LawFormulas, ...]:
    edges, masses = law.edges.tolist(), [Fraction(repr(mass)) for mass in law.masses.tolist()]
    total, below = sum(masses, Fraction(0)), Fraction(0)
    pieces = []
    for (first, last), mass in zip(pairwise(edges), masses, strict=True):
        low, high = number(first), number(last)
        density = _exact(mass / total) / (high - low)
        cdf = _exact(below / total) + density * (THETA - low)
        pieces.append(_piece(low, high, cdf, density, of_edges=True))
        below += mass
    return tuple(pieces)


def _of_mixture(law: Any, number: Number) -> tuple[LawFormulas, ...] | None:
    """Add the weighted formulas up, between neighbouring ends of any pieces."""
    parts = [exact_pieces(part, number) for part in law.laws]
    if any(part is None for part in parts):
        return None
    weights = [decimal(weight) for weight in law.weights.tolist()]
    total = sp.Add(*weights)
    known = [(weight / total, part) for weight, part in zip(weights, parts, strict=True) if part is not None]
    ends = sorted({end for _, part in known for piece in part for end in (piece.low, piece.high)})
    of_edges = any(piece.of_edges for _, part in known for piece in part)
    pieces = []
    for low, high in pairwise(ends):
        found = [(weight, *_on_interval(part, low, high)) for weight, part in known]
        cdf, pdf = (sp.Add(*(row[0] * row[column] for row in found)) for column in (1, 2))
        pieces.append(_piece(low, high, cdf, pdf, of_edges=of_edges))
    return tuple(pieces)


def _on_interval(pieces: tuple[LawFormulas, ...], low: sp.Rational, high: sp.Rational) -> tuple[sp.Expr, sp.Expr]:
    """Return F and f on an interval that no end of a piece cuts."""
    for piece in pieces:
        if piece.low <= low and high <= piece.high:
            return piece.cdf, piece.pdf
    return sp.Integer(1 if pieces[-1].high <= low else 0), sp.Integer(0)


def _of_truncation(law: Any, number: Number) -> tuple[LawFormulas, ...] | None:
    whole = exact_pieces(law.law, number)
    if whole is None:
        return None
    low, high = number(float(law.low)), number(float(law.high))
    bottom, top = (_cdf_at(whole, end) for end in (low, high))
    of_edges = any(piece.of_edges for piece in whole)
    pieces = []
    for piece in whole:
        first, last = sp.Max(low, piece.low), sp.Min(high, piece.high)
        if first < last:
            cdf, pdf = (piece.cdf - bottom) / (top - bottom), piece.pdf / (top - bottom)
            pieces.append(_piece(first, last, cdf, pdf, of_edges=of_edges))
    return tuple(pieces)


def _cdf_at(pieces: tuple[LawFormulas, ...], theta: sp.Rational) -> sp.Expr:
    """Return F at a point of the support."""
    if theta <= pieces[0].low:
        return sp.Integer(0)
    piece = [piece for piece in pieces if piece.low < theta][-1]
    return put_in(piece.cdf, {THETA: sp.Min(theta, piece.high)})


def _piece(low: sp.Rational, high: sp.Rational, cdf: sp.Expr, pdf: sp.Expr, *, of_edges: bool = False) -> LawFormulas:
    return LawFormulas(THETA, low, high, cdf, pdf, (), of_edges=of_edges)


def _exact(fraction: Fraction) -> sp.Rational:
    return sp.Rational(fraction.numerator, fraction.denominator)


_MADE_OF_PIECES: Mapping[str, Callable[[Any, Number], tuple[LawFormulas, ...] | None]] = {
    "piecewise-uniform": _of_histogram,
    "mixture": _of_mixture,
    "truncated": _of_truncation,
}
"""Laws by name, for their classes ask here whether they are regular."""
