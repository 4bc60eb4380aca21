"""The information rent F/f, by which the virtual cost J = θ + F/f exceeds the valuation, with what cancels cancelled."""

from __future__ import annotations

import sympy as sp

from smqopt.valuation.expressions import THETA
from smqopt.valuation.sign import size_as_fraction

__all__ = ["information_rent", "is_small"]

MAX_OPERATIONS = 150
"""Larger expressions are not simplified: it could take for ever."""
MAX_DEGREE = 60
"""Nor are rational functions of a higher degree."""


def is_small(expression: sp.Expr) -> bool:
    """Say whether an expression is small enough to be simplified without a time limit."""
    top, bottom = size_as_fraction(expression, THETA)
    wild = any(p.exp.is_Rational and max(abs(p.exp.p), p.exp.q) > MAX_DEGREE for p in expression.atoms(sp.Pow))
    return not wild and expression.count_ops() <= MAX_OPERATIONS and (top + bottom <= MAX_DEGREE or top == sp.oo)


def information_rent(cdf: sp.Expr, pdf: sp.Expr) -> sp.Expr:
    """Give F/f as the shortest of a few equal forms.

    Examples
    --------
    >>> a = sp.Symbol("a", positive=True)
    >>> information_rent(THETA**a, a * THETA ** (a - 1))
    theta/a
    """
    quotient = cdf / pdf
    forms = [quotient]
    if is_small(quotient):
        forms.append(sp.powsimp(sp.expand_power_base(quotient)))
        if forms[-1].has(sp.Pow, sp.exp):
            forms.append(sp.powsimp(sp.expand_mul(forms[-1])))
        if not _has_varying_exponent(forms[1]):
            forms.append(sp.factor(sp.cancel(forms[1])))
    return min(forms, key=lambda form: (form.count_ops(), sp.default_sort_key(form)))


def _has_varying_exponent(expression: sp.Expr) -> bool:
    return any(not power.exp.is_number for power in expression.atoms(sp.Pow) if power.base is not sp.E)
