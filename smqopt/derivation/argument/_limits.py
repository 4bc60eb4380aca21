"""Values and limits at the ends of the support, where F/f may read 0/0."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import sympy as sp

from smqopt.algebra import Domain, Equation, Relation, Verdict, decide_claim, put_in, shortest, values_at, vanishes
from smqopt.numeric import precision
from smqopt.valuation import LawFormulas

_POINTS = 3
_STEPS = (16, 32, 64)
"""An end is neared to these powers of 1/2 of the width."""
_BITS = 4096
"""Precision near an end, where powers of the distance cancel."""


def value_at(expression: sp.Expr, theta: sp.Symbol, place: sp.Expr) -> sp.Expr:
    """Put a value for θ, which may give NaN or an infinity."""
    expression = expression.replace(_is_log_of_power, lambda log: log.args[0].exp * sp.log(log.args[0].base))
    if place == 0:
        expression = expression.xreplace({sp.log(theta): -sp.oo})
    value = put_in(expression, {theta: place})
    return value.replace(sp.betainc, _incomplete_beta) if value.has(sp.betainc) else value


def _is_log_of_power(expression: sp.Basic) -> bool:
    """Match log(a^b) with b not known to be whole, which SymPy would multiply out."""
    return isinstance(expression, sp.log) and expression.args[0].is_Pow and not expression.args[0].exp.is_integer


def cost_at_end(cost: sp.Expr, law: LawFormulas, end: sp.Expr) -> sp.Expr | None:
    """Find J at an end of the support; None where no limit was found.

    Where F(low) = 0 the value at low can only be low: log F falls to −∞, so f/F is unbounded there,
    and if F/f has a limit it is 0.
    """
    value = _put_in(cost, law, end)
    if not has_only_a_limit(value):
        return shortest(value)
    F, f = (_value_in_range(formula, law, end) for formula in (law.cdf, law.pdf))
    if end == law.low and shortest(F) == 0:
        return end
    if end == law.low and _is_positive(F):
        power = _power_at_low(law)
        return sp.oo if power is not None and power.is_positive else None
    if end == law.high and not (has_only_a_limit(F) or has_only_a_limit(f)):
        density = shortest(f)
        return sp.oo if density == 0 else shortest(end + F / density)
    return None


def _is_positive(number: sp.Expr) -> bool:
    """Tell by balls whether a number is positive; no form with letters is."""
    return number.is_number and bool(values_at(number, [{}])[0] > 0)


def verify_limit(
    cost: sp.Expr, law: LawFormulas, end: sp.Expr, value: sp.Expr, left: sp.Expr, domain: Domain
) -> Equation:
    """Check a limit of J at an end of the support, exactly and in ball arithmetic.

    Parameters
    ----------
    cost
        J as an expression in θ.
    law, end, value
        The law, an end of its support, and what J is said to tend to.
    left
        The limit, as it is to be stated.
    domain
        The parameters' ranges.
    """
    put_in = _put_in(cost, law, end)
    if not has_only_a_limit(put_in) and value != sp.oo:
        equation = decide_claim(put_in, Relation.EQUAL, value, domain, {})
        method = f"J is continuous there; with the end put in, {equation.method}"
        return replace(equation, left=left, method=method)
    nears = _nears(cost, law, end, value, domain)
    exact, rests = _exactly(law, end, value, domain)
    verdict = Verdict.PROVED if exact and not rests and nears else Verdict.UNDECIDED
    shown = (
        f"nears it at {_POINTS} random points, to 2^−{_STEPS[-1]} of the width"
        if nears
        else "evaluation does not near it"
    )
    method = f"{exact or 'no exact reduction was found'}; {shown}"
    points = _POINTS if nears else 0
    return Equation(
        left, Relation.EQUAL, value, verdict, method, points, rests_on_regularity=bool(exact) and rests and nears
    )


def _exactly(law: LawFormulas, end: sp.Expr, value: sp.Expr, domain: Domain) -> tuple[str, bool]:
    """Return what shows the limit, if anything, and whether it needs J monotone."""
    F, f = (_value_in_range(formula, law, end) for formula in (law.cdf, law.pdf))
    if end == law.low and value == end and vanishes(F, domain):
        power = _power_at_low(law)
        if power is not None and (power + 1).is_positive:
            return "f is (θ − low)^p, p > −1, times what is neither 0 nor infinite there, so F/f falls to 0", False
        return (
            "F = 0 there, so log F falls to −∞ and f/F is unbounded; J has a limit as it is monotone, hence F/f → 0",
            True,
        )
    if end == law.low and value == sp.oo and _is_positive(F):
        power = _power_at_low(law)
        return (
            "f is (θ − low)^p, p > 0, times what is finite there, and F > 0" if power and power.is_positive else ""
        ), False
    if end == law.high and not has_only_a_limit(F) and not has_only_a_limit(f):
        if vanishes(f, domain):
            positive = not vanishes(F, domain)
            return ("f tends to 0 from above there, and F does not" if value == sp.oo and positive else ""), False
        if value != sp.oo and vanishes(end + F / f - value, domain):
            return "F and f are continuous there, and putting the end in gives the value", False
    return "", False


def _power_at_low(law: LawFormulas) -> sp.Expr | None:
    """Find p where f is (θ − low)^p times what stays there; None where unknown.

    Of a sum of densities, the least p of its terms.
    """
    powers = [_power_of(term, law) for term in sp.Add.make_args(law.pdf)]
    if len(powers) == 1:
        return powers[0]
    known = [power for power in powers if power is not None and power.is_Rational]
    return min(known) if len(known) == len(powers) else None


def _power_of(term: sp.Expr, law: LawFormulas) -> sp.Expr | None:
    power, rest = sp.Integer(0), sp.Integer(1)
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        is_distance = base.is_polynomial(law.theta) and sp.expand(base.subs(law.theta, law.low)) == 0
        if is_distance and sp.degree(base, law.theta) == 1 and not exponent.has(law.theta):
            power += exponent
        else:
            rest *= factor
    left = value_at(rest, law.theta, law.low)
    return power if left.is_finite and left.is_zero is False and not has_only_a_limit(left) else None


def _nears(cost: sp.Expr, law: LawFormulas, end: sp.Expr, value: sp.Expr, domain: Domain) -> bool:
    """Tell whether J nears its limit, or grows towards ∞, at each step to the end."""
    points = list(domain.points(_POINTS))
    inward = law.high - law.low if end == law.low else law.low - law.high
    near = [cost.xreplace({law.theta: end + inward * sp.Rational(1, 2**step)}) for step in _STEPS]
    rows = [values_at(form if value == sp.oo else form - value, points, _BITS) for form in near]
    with precision(_BITS):
        return all(
            farther < nearer if value == sp.oo else abs(nearer) < abs(farther) or (nearer == 0 and farther == 0)
            for first, second in pairwise(rows)
            for farther, nearer in zip(first, second, strict=True)
        )


def _put_in(cost: sp.Expr, law: LawFormulas, end: sp.Expr) -> sp.Expr:
    """Put an end into J, by what is known of its exponents where 0 stands under one."""
    value = value_at(cost, law.theta, end)
    return _value_in_range(cost, law, end) if has_only_a_limit(value) else value


def _value_in_range(formula: sp.Expr, law: LawFormulas, end: sp.Expr) -> sp.Expr:
    """Put an end in for θ, with b > 1 written 1 + s, and b < 1 written 1 − s.

    So 0^(b−1), or 0^(1−b), vanishes.
    """
    known = {symbol: (lower, 1) for symbol, lower, upper in law.ranges if lower.is_number and upper is None}
    known |= {symbol: (upper, -1) for symbol, _, upper in law.ranges if upper is not None and upper.is_number}
    excess = {symbol: sp.Dummy(symbol.name, positive=True) for symbol in known}
    spelled = formula.subs({symbol: at + side * excess[symbol] for symbol, (at, side) in known.items()})
    value = value_at(spelled, law.theta, end)
    return value.subs({excess[symbol]: side * (symbol - at) for symbol, (at, side) in known.items()})


def has_only_a_limit(value: sp.Expr) -> bool:
    """Tell what substitution leaves where there is only a limit from a value."""
    if value.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
        return True
    return any(power.base == 0 for power in value.atoms(sp.Pow))


def _incomplete_beta(a: sp.Expr, b: sp.Expr, lower: sp.Expr, upper: sp.Expr) -> sp.Expr:
    if lower == upper:
        return sp.Integer(0)
    return sp.beta(a, b) if (lower, upper) == (0, 1) else sp.betainc(a, b, lower, upper)
