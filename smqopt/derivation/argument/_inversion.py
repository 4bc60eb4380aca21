"""The inverse of the virtual cost: θ*(x) with J(θ*(x)) = x.

What comes out is a candidate; the step that uses it proves it by substitution, or drops it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp
from flint import arb

from smqopt.algebra import BITS, Domain, X, has_long_powers, is_too_large, shortest, values_at
from smqopt.numeric import IDENTITY, ball, precision

_POINTS = 4
_QUADRATIC = 2


class Form(enum.Enum):
    """The shape of a virtual cost that has a closed inverse."""

    LINEAR = "J(θ) = x is linear in θ"
    QUADRATIC = "J(θ) = x is quadratic in θ"
    EXPONENTIAL = "J(θ) is linear plus an exponential, whose inverse is Lambert's W"
    ROOT = "J(θ) = x is of degree ≤ 2 in a root of a linear function of θ"
    LOGARITHMIC = "J(θ) is t + t log t for a linear function t of θ, up to constants; its inverse is Lambert's W"
    PIECES = "J(θ) = x is solved piece by piece"


@dataclass(frozen=True)
class CostInverse:
    """θ*(x) inside the support, and the shape that gave it."""

    form: Form
    threshold: sp.Expr
    """In `letters.X`, in currency."""


def invert(virtual_cost: sp.Expr, theta: sp.Symbol, domain: Domain) -> CostInverse | None:
    """Solve J(θ) = x for θ in the support, or give None where J has another shape.

    Parameters
    ----------
    virtual_cost
        J as an expression in θ.
    theta
        The symbol θ.
    domain
        The parameters' ranges and the support; decides between two roots.
    """
    if is_too_large(virtual_cost) or has_long_powers(virtual_cost):
        return None
    shapes = (
        (Form.LINEAR, _rational),
        (Form.ROOT, _in_a_root),
        (Form.EXPONENTIAL, _exponential),
        (Form.LOGARITHMIC, _logarithmic),
    )
    for form, candidates in shapes:
        for degree, threshold in candidates(virtual_cost, theta):
            if _returns(threshold, virtual_cost, theta, domain):
                return CostInverse(Form.QUADRATIC if degree == _QUADRATIC else form, threshold)
    return None


def _rational(J: sp.Expr, theta: sp.Symbol) -> Iterator[tuple[int, sp.Expr]]:
    """Solve P(θ) − x Q(θ) = 0, of degree ≤ 2, where J = P/Q.

    Each root of a quadratic has two forms, (−b ± √D)/(2a) and 2c/(−b ∓ √D); the one is given that
    does not cancel.
    """
    numerator, denominator = sp.fraction(sp.cancel(sp.together(J)))
    equation = sp.expand(numerator - X * denominator)
    if not equation.is_polynomial(theta):
        return
    coefficients = sp.Poly(equation, theta).all_coeffs()
    match [shortest(coefficient) for coefficient in coefficients]:
        case [a, b]:
            yield 1, shortest(-b / a)
        case [a, b, c]:
            root = sp.sqrt(sp.factor(sp.expand(b**2 - 4 * a * c)))
            slope = sp.diff(b, X)  # the sign of b for large x, where the wrong form would cancel
            for sign in (1, -1):
                plain, turned = (-b + sign * root) / (2 * a), 2 * c / (-b - sign * root)
                cancels = (slope * sign).is_positive is True or (slope == 0 and (b * sign).is_positive is True)
                yield _QUADRATIC, sp.factor_terms(turned if cancels else plain)


def _in_a_root(J: sp.Expr, theta: sp.Symbol) -> Iterator[tuple[int, sp.Expr]]:
    """Solve J = x of degree ≤ 2 in y = (kθ + m)^(1/q): then θ = (y^q − m)/k."""
    powers = [p for p in J.atoms(sp.Pow) if p.base.has(theta) and p.exp.is_Rational and not p.exp.is_Integer]
    bases = {power.base for power in powers}
    base = next(iter(bases), None)
    if len(bases) != 1 or base is None or not base.is_polynomial(theta) or sp.degree(base, theta) != 1:
        return
    k, m = sp.Poly(base, theta).all_coeffs()
    q = sp.ilcm(1, *(power.exp.q for power in powers))
    y = sp.Dummy("y", positive=True)
    in_y = J.xreplace({power: y ** (power.exp * q) for power in powers}).subs(theta, (y**q - m) / k)
    if in_y.is_rational_function(y):
        for _, root in _rational(in_y, y):
            yield 1, shortest((root**q - m) / k)


def _logarithmic(J: sp.Expr, theta: sp.Symbol) -> Iterator[tuple[int, sp.Expr]]:
    """Solve a + bt + ct log t = x by Lambert's W, with t = kθ + m."""
    arguments = {call.args[0] for call in J.atoms(sp.log) if call.has(theta)}
    argument = next(iter(arguments), None)
    if len(arguments) != 1 or argument is None:
        return
    if not argument.is_polynomial(theta) or sp.degree(argument, theta) != 1:
        return
    k, m = sp.Poly(argument, theta).all_coeffs()
    logarithm, t = sp.Dummy("log"), sp.Dummy("t", positive=True)
    rest = sp.expand(sp.expand(J).subs(sp.log(argument), logarithm).subs(theta, (t - m) / k))
    if not rest.is_polynomial(t, logarithm):
        return
    terms = sp.Poly(rest, t, logarithm).as_dict()
    if set(terms) - {(0, 0), (1, 0), (1, 1)} or (1, 1) not in terms:
        return
    a, b, c = (terms.get(power, sp.Integer(0)) for power in ((0, 0), (1, 0), (1, 1)))
    surplus = sp.factor(sp.cancel((X - a) / c))
    yield 1, sp.factor_terms(surplus / sp.LambertW(surplus * sp.exp(b / c))) / k - m / k


def _exponential(J: sp.Expr, theta: sp.Symbol) -> Iterator[tuple[int, sp.Expr]]:
    """Solve a + bθ + c e^(kθ + m) = x by Lambert's W.

    So e^z = W(e^u), Wright's omega function of u.
    """
    expanded = sp.expand(J)
    powers = [power for power in expanded.atoms(sp.exp) if power.has(theta)]
    if len(powers) != 1:
        return
    exponential = sp.Dummy("e", positive=True)
    rest = sp.expand(expanded.subs(powers[0], exponential))
    exponent = powers[0].args[0]
    if not (rest.is_polynomial(theta, exponential) and exponent.is_polynomial(theta)):
        return
    terms = sp.Poly(rest, theta, exponential).as_dict()
    if set(terms) - {(0, 0), (1, 0), (0, 1)} or sp.degree(exponent, theta) != 1:
        return
    a, b, c = (terms.get(power, sp.Integer(0)) for power in ((0, 0), (1, 0), (0, 1)))
    k, m = exponent.coeff(theta, 1), exponent.coeff(theta, 0)
    scale = sp.powsimp(sp.cancel(c * k / b)) if b != 0 else sp.Integer(0)
    if scale.is_positive is not True:
        return
    shift = sp.expand_log(sp.log(scale)) + m
    u = sp.expand(k * (X - a) / b + shift)
    logarithm = sp.log(sp.LambertW(sp.exp(1 + sp.factor(sp.cancel(u - 1)))))
    yield 1, logarithm / k - sp.cancel(shift / k)


def _returns(threshold: sp.Expr, J: sp.Expr, theta: sp.Symbol, domain: Domain) -> bool:
    """Tell whether θ*(J(θ)) = θ at random points, as on the right branch alone."""
    points = list(domain.points(_POINTS))
    with precision(BITS):
        return all(
            (found - ball(point[theta])).contains(0) and found.rad() <= arb(IDENTITY.value) * (1 + abs(found))
            for point, found in zip(points, values_at(threshold.subs(X, J), points), strict=True)
        )
