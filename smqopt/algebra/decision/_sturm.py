"""Where a rational polynomial is negative, decided exactly by Sturm's theorem."""

from __future__ import annotations

import itertools
from fractions import Fraction

import sympy as sp


def negative_point(polynomial: sp.Poly, low: Fraction, high: Fraction) -> Fraction | None:
    """Return a point inside where a polynomial is negative, or None.

    Only roots of odd multiplicity inside change the sign. They are counted; where there is one,
    roots are isolated and a point between them is taken.

    Parameters
    ----------
    polynomial
        In one variable, with rational coefficients.
    low, high
        The ends of the open interval, low < high.

    Examples
    --------
    >>> x = sp.Symbol("x")
    >>> negative_point(sp.Poly((2 * x - 1) ** 2, x), Fraction(0), Fraction(1)) is None
    True
    >>> negative_point(sp.Poly(2 * x - 1, x), Fraction(0), Fraction(1))
    Fraction(1, 6)
    """
    if polynomial.is_zero:
        return None
    a, b = exact(low), exact(high)
    odd = sp.Poly(1, *polynomial.gens, domain="QQ")
    for factor, multiplicity in polynomial.sqf_list()[1]:
        if multiplicity % 2:
            odd *= factor
    for end in (a, b):
        if odd.eval(end) == 0:  # a root at an end changes no sign inside
            odd = odd.quo(sp.Poly(polynomial.gen - end, polynomial.gen, domain="QQ"))
    ends = [low, high]
    if odd.degree() > 0 and odd.count_roots(a, b) > 0:
        ends += _isolating_ends(odd, low, high)
    candidates = [_nonzero_point(polynomial, left, right) for left, right in itertools.pairwise(sorted(set(ends)))]
    return next((point for point in candidates if polynomial.eval(exact(point)) < 0), None)


def _isolating_ends(odd: sp.Poly, low: Fraction, high: Fraction) -> list[Fraction]:
    """Return ends of disjoint intervals round the roots inside."""
    width = exact(high - low)
    while True:
        found = odd.intervals(inf=exact(low), sup=exact(high), eps=width)
        pieces = sorted(tuple(Fraction(int(end.p), int(end.q)) for end in piece) for piece, _ in found)
        rights, lefts = [low, *(piece[1] for piece in pieces)], [*(piece[0] for piece in pieces), high]
        if all(right < left for right, left in zip(rights, lefts, strict=True)):
            return [end for piece in pieces for end in piece]
        width /= 16


def _nonzero_point(polynomial: sp.Poly, low: Fraction, high: Fraction) -> Fraction:
    """Return a point inside at which a polynomial is not zero."""
    count = polynomial.degree() + 2
    points = (low + (high - low) * Fraction(k, count) for k in range(1, count))
    return next(point for point in points if polynomial.eval(exact(point)) != 0)


def exact(x: Fraction) -> sp.Rational:
    """Return a fraction as a SymPy number."""
    return sp.Rational(x.numerator, x.denominator)
