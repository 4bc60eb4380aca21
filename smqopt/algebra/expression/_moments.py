"""Incomplete gamma and beta functions without the power by which they vanish at 0.

γ(s, z) = z^s ∫₀¹ t^(s−1) e^(−zt) dt and B(a, b; z) = z^a ∫₀¹ t^(a−1) (1−zt)^(b−1) dt (DLMF 8.2.1,
8.17.1). The integrals are smooth at 0 and monotone in z.
"""

from __future__ import annotations

import sympy as sp

from smqopt.algebra.expression._exact_log import power


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

    So is e^y − 1, and 1 − (1 − z)^b, for y and z kx^p, where there are broken powers of a symbol.

    Examples
    --------
    >>> in_moments(sp.lowergamma(sp.Rational(7, 4), sp.Symbol("z")))
    z**(7/4)*exponential_moment(7/4, z)
    """

    def beta(a: sp.Expr, b: sp.Expr, z: sp.Expr) -> sp.Expr:
        return z**a * power_moment(a, b, z) if z else sp.Integer(0)

    powers = expression.atoms(sp.Pow)
    is_broken = any(p.base.is_Symbol and p.exp.is_Rational and not p.exp.is_Integer for p in powers)

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
        if is_broken and part.is_Add and any(term.is_number for term in parts):
            parts = [_from_zero(term) for term in parts]
        return part if parts == list(part.args) else part.func(*parts)

    return write(expression)


def _are_shapes(numbers: list[sp.Expr]) -> bool:
    return all(number.is_Rational and number > 0 for number in numbers)


def _from_zero(term: sp.Expr) -> sp.Expr:
    """Write c e^y as c + c y ∫₀¹ e^(yt) dt, and c (k−z)^b so, for monomials."""
    factor, rest = term.as_independent(*term.free_symbols, as_Add=False)
    if isinstance(rest, sp.exp) and _is_monomial(rest.args[0]):
        y = rest.args[0]
        return factor + factor * y * exponential_moment(sp.Integer(1), -y)
    if rest.is_Pow and rest.exp.is_Rational and rest.exp > 0:
        at_zero, y = rest.base.as_coeff_Add()
        if at_zero > 0 and at_zero.is_Rational and _is_monomial(y):
            factor, y = factor * power(at_zero, rest.exp), y / at_zero
            return factor + factor * rest.exp * y * power_moment(sp.Integer(1), rest.exp, -y)
    return term


def _is_monomial(y: sp.Expr) -> bool:
    base, exponent = y.as_independent(*y.free_symbols, as_Add=False)[1].as_base_exp()
    return bool(base.is_Symbol and exponent.is_Rational and exponent > 0)
