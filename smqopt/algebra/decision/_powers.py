"""Tests of whether a function is a power, or an exponential."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra.decision._domain import Domain
from smqopt.algebra.decision._evidence import BITS, values_at
from smqopt.algebra.decision._reduction import is_too_large, shortest
from smqopt.numeric import precision

_POINTS = 2


def power_exponent(expression: sp.Expr, theta: sp.Symbol, low: sp.Expr, domain: Domain) -> sp.Expr | None:
    """Return p where the expression is a constant times (θ − low)^p.

    None where it is not, or is not seen to be.

    Then (θ − low) g′/g = p.
    """
    return _constant((theta - low) * sp.diff(expression, theta) / expression, theta, low, domain)


def exponential_rate(density: sp.Expr, theta: sp.Symbol, low: sp.Expr, domain: Domain) -> sp.Expr | None:
    """Return r ≠ 0 where the density is a constant times e^(−rθ).

    None where it is not, or is not seen to be.

    Then −f′/f = r.
    """
    rate = _constant(-sp.diff(density, theta) / density, theta, low, domain)
    return None if rate is None or rate == 0 else rate


def _constant(expression: sp.Expr, theta: sp.Symbol, low: sp.Expr, domain: Domain) -> sp.Expr | None:
    """Reduce an expression that has one value at pairs of thresholds to one without θ."""
    if is_too_large(expression):
        return None
    points = list(domain.points(_POINTS))
    halfway = expression.subs(theta, (low + theta) / 2)
    pairs = zip(values_at(expression, points), values_at(halfway, points), strict=True)
    with precision(BITS):
        if not all(here.is_finite() and (here - there).contains(0) for here, there in pairs):
            return None
    reduced = shortest(expression)
    return None if reduced.has(theta) else reduced
