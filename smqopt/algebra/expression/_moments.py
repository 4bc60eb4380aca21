"""Incomplete gamma and beta functions without the power by which they vanish at 0.

γ(s, z) = z^s ∫₀¹ t^(s−1) e^(−zt) dt and B(a, b; z) = z^a ∫₀¹ t^(a−1) (1−zt)^(b−1) dt (DLMF 8.2.1,
8.17.1). The integrals are smooth at 0 and monotone in z.
"""

from __future__ import annotations

import sympy as sp


class exponential_moment(sp.Function):  # type: ignore[misc]  # noqa: N801
    """∫₀¹ t^(s−1) e^(−zt) dt for s > 0; with s = 1 it is (1 − e^(−z))/z."""

    nargs = 2
    is_real = True

    def fdiff(self, argindex: int = 2) -> sp.Expr:
        s, z = self.args
        return -exponential_moment(s + 1, z) if argindex == self.nargs_of_z else sp.nan

    nargs_of_z = 2


class power_moment(sp.Function):  # type: ignore[misc]  # noqa: N801
    """∫₀¹ t^(a−1) (1−zt)^(b−1) dt for a > 0 and z < 1, or z = 1 where b > 0."""

    nargs = 3
    is_real = True

    def fdiff(self, argindex: int = 3) -> sp.Expr:
        a, b, z = self.args
        return (1 - b) * power_moment(a + 1, b - 1, z) if argindex == self.nargs_of_z else sp.nan

    nargs_of_z = 3


def in_moments(expression: sp.Expr) -> sp.Expr:
    """Write incomplete functions of rational shapes as powers times moments.

    So is e^y − 1, where a broken power stands in y.

    Examples
    --------
    >>> in_moments(sp.lowergamma(sp.Rational(7, 4), sp.Symbol("z")))
    z**(7/4)*exponential_moment(7/4, z)
    """

    def beta(a: sp.Expr, b: sp.Expr, z: sp.Expr) -> sp.Expr:
        return z**a * power_moment(a, b, z) if z else sp.Integer(0)

    def write(part: sp.Expr) -> sp.Expr:
        if not part.args:
            return part
        parts = [write(each) for each in part.args]
        match part:
            case sp.lowergamma() if _are_shapes(parts[:1]):
                return parts[1] ** parts[0] * exponential_moment(*parts)
            case sp.betainc() if _are_shapes(parts[:2]):
                return beta(parts[0], parts[1], parts[3]) - beta(parts[0], parts[1], parts[2])
            case sp.beta() if _are_shapes(parts):
                return power_moment(*parts, sp.Integer(1))
        if part.is_Add and any(term.is_number for term in parts):
            parts = [_of_small_exponent(term) for term in parts]
        return part if parts == list(part.args) else part.func(*parts)

    return write(expression)


def _are_shapes(numbers: list[sp.Expr]) -> bool:
    return all(number.is_Rational and number > 0 for number in numbers)


def _of_small_exponent(term: sp.Expr) -> sp.Expr:
    """Write c e^y as c + c y ∫₀¹ e^(yt) dt, where y is a broken power of a symbol."""
    factor, rest = term.as_independent(*term.free_symbols, as_Add=False)
    if not isinstance(rest, sp.exp):
        return term
    y = rest.args[0]
    power = y.as_independent(*y.free_symbols, as_Add=False)[1]
    if not (power.is_Pow and power.base.is_Symbol and power.exp.is_Rational and power.exp.q > 1 and power.exp > 0):
        return term
    return factor + factor * y * exponential_moment(sp.Integer(1), -y)
