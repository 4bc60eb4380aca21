"""Powers of one base in a product, written as one."""

from __future__ import annotations

import sympy as sp


def with_joined_powers(part: sp.Basic) -> sp.Basic:
    """Join powers of one base in products, those of a quotient with its parts too.

    Examples
    --------
    >>> u, w, k = sp.symbols("u w k", positive=True)
    >>> with_joined_powers(u * u**k), with_joined_powers(k * (u / w) ** k / u)
    (u**(k + 1), k*(u/w)**(k - 1)/w)
    """
    inner = [with_joined_powers(each) for each in part.args]
    if any(new is not old for new, old in zip(inner, part.args, strict=True)):
        part = part.func(*inner, evaluate=False) if isinstance(part, sp.Piecewise) else part.func(*inner)
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
