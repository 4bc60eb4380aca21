"""The information rent F/f, by which J = θ + F/f exceeds the valuation."""

from __future__ import annotations

import sympy as sp

from smqopt.algebra import factor_fraction

MAX_OPERATIONS = 150
"""Larger expressions are not simplified: it could take for ever."""


def is_small(expression: sp.Expr) -> bool:
    """Say whether an expression is small enough to be simplified without a time limit."""
    return bool(expression.count_ops() <= MAX_OPERATIONS)


def information_rent(cdf: sp.Expr, pdf: sp.Expr) -> sp.Expr:
    """Return F/f as the shortest of a few equal forms.

    Examples
    --------
    >>> theta, a = sp.symbols("theta a", positive=True)
    >>> information_rent(theta**a, a * theta ** (a - 1))
    theta/a
    """
    quotient = cdf / pdf
    forms = [quotient, factor_fraction(quotient)]
    if is_small(quotient):
        forms.append(sp.powsimp(sp.expand_power_base(quotient)))
        forms.append(sp.powsimp(sp.expand_mul(forms[-1])))
        forms += [factor_fraction(form) for form in forms[2:]]
    return min(forms, key=lambda form: (form.count_ops(), sp.default_sort_key(form)))
