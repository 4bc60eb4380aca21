"""Whether an expression is continuous on a whole interval."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

from smqopt.algebra.decision._end_order import SIGN_BITS, SignDomain, order_at
from smqopt.algebra.decision._sign import (
    DEEPEST,
    MAX_PIECES,
    are_nonnegative,
    bases_of_broken_powers,
    is_rational_polynomial,
)
from smqopt.algebra.decision._sturm import exact
from smqopt.algebra.expression._absolute import absolute, direction
from smqopt.algebra.expression._exact_log import exact_log, replace
from smqopt.numeric import Ball, ball_function, hull, precision


def is_continuous(
    expression: sp.Expr,
    x: sp.Symbol,
    low: Fraction,
    high: Fraction,
    box: Mapping[sp.Symbol, Ball] = MappingProxyType({}),
) -> bool:
    """Tell whether an expression is proved continuous on (low, high).

    What divides, stands in a logarithm or under a root, or in a tangent as a cosine, must have no
    zero there. False means not proved. Parameters are as for `sign_on`.
    """
    distance = sp.Dummy("distance")
    domain = SignDomain(distance, Fraction(0), high - low, box)
    return all(_has_no_zero(part, domain) for part in _poles(replace(expression, x, exact(low) + distance), distance))


def _poles(expression: sp.Expr, x: sp.Symbol) -> Iterator[sp.Expr]:
    """Yield what must not vanish for an expression to be continuous in x."""
    if not expression.has(x):
        return
    parts = expression.args
    if expression.is_Mul:
        # sign(u) |u|^p is continuous where u vanishes
        sizes = [base for base, exponent in (part.as_base_exp() for part in parts) if exponent.is_positive]
        parts = [part for part in parts if not (isinstance(part, direction) and absolute(part.args[0]) in sizes)]
    elif expression.is_Pow and expression.base is not sp.E:
        rises = expression.exp.is_positive and (expression.exp.is_Integer or expression.base.is_nonnegative)
        if not rises:
            yield expression.base
    elif isinstance(expression, sp.log | exact_log | direction):
        yield expression.args[0]
    elif isinstance(expression, sp.tan):
        yield sp.cos(expression.args[0])
    for part in parts:
        yield from _poles(part, x)


def _has_no_zero(expression: sp.Expr, domain: SignDomain) -> bool:
    if not expression.has(domain.x):
        return True
    if not domain.box and is_rational_polynomial(expression, domain.x):
        polynomial = sp.Poly(expression, domain.x)
        for end in (domain.low, domain.high):
            while polynomial.degree() > 0 and polynomial.eval(exact(end)) == 0:
                polynomial = polynomial.quo(sp.Poly(domain.x - exact(end), domain.x, domain="QQ"))
        return bool(polynomial.count_roots(exact(domain.low), exact(domain.high)) == 0)
    function = ball_function(
        expression,
        [domain.x, *domain.box],
        bases_are_nonnegative=are_nonnegative(bases_of_broken_powers(expression, domain.x), domain),
    )
    others = tuple(domain.box.values())
    with precision(SIGN_BITS):
        orders = {end: order_at(expression, domain, end) for end in (domain.low, domain.high)}
        pieces, looked_at = deque([(domain.low, domain.high, 0)]), 0
        while pieces:
            left, right, depth = pieces.popleft()
            looked_at += 1
            piece, ends = hull(left, right), {left, right} & orders.keys()
            value = function(piece, *others)
            if value.is_finite() and not value.contains(0):
                continue
            beside = (orders[end].coefficients(piece)[orders[end].order] for end in ends if orders[end])  # type: ignore
            if len(ends) == 1 and any(leading.is_finite() and not leading.contains(0) for leading in beside):
                continue
            if depth == DEEPEST or looked_at + len(pieces) >= MAX_PIECES:
                return False
            middle = (left + right) / 2
            pieces += [(left, middle, depth + 1), (middle, right, depth + 1)]
    return True
