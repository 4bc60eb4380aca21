"""Powers of one base in a product, written as one."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp


def rebuild(part: sp.Basic, inner: Sequence[sp.Basic]) -> sp.Basic:
    """Put new arguments into an expression; cases stay as they are."""
    if all(new is old for new, old in zip(inner, part.args, strict=True)):
        return part
    return part.func(*inner, evaluate=False) if isinstance(part, sp.Piecewise) else part.func(*inner)


def with_joined_powers(part: sp.Basic) -> sp.Basic:
    """Join powers of one base in products, those of a quotient with its parts too.

    Examples
    --------
    >>> u, w, k = sp.symbols("u w k", positive=True)
    >>> with_joined_powers(u * u**k), with_joined_powers(k * (u / w) ** k / u)
    (u**(k + 1), k*(u/w)**(k - 1)/w)
    """
    part = rebuild(part, [with_joined_powers(each) for each in part.args])
    return _join(part) if part.is_Mul else part


def _join(product: sp.Expr) -> sp.Expr:
    numbers = [factor for factor in product.args if factor.is_Number]
    powers: dict[sp.Expr, sp.Expr] = {}
    for factor in product.args:
        if not factor.is_Number:
            base, exponent = factor.as_base_exp()
            powers[base] = powers.get(base, 0) + exponent
    changed = len(powers) + len(numbers) < len(product.args)
    for base in [base for base, exponent in powers.items() if base.is_Mul and not exponent.is_number]:
        for part in base.args:
            outer = powers.get(part)
            if part.is_number or outer is None or not outer.is_Integer:
                continue
            del powers[part]
            powers[base] += outer
            for factor in sp.Mul.make_args(base / part):
                within, power = factor.as_base_exp()
                powers[within] = powers.get(within, 0) - outer * power
            changed = True
            break
    return sp.Mul(*numbers, *(base**exponent for base, exponent in powers.items())) if changed else product
