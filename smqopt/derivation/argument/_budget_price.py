"""The budget price λ in closed form, where spend is c₀ + c₁x^p in x = ε/λ."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from smqopt.algebra import (
    BITS,
    BUDGET,
    EPSILONS,
    INSIDE,
    LEFT,
    Domain,
    I,
    N,
    SymbolRange,
    X,
    is_too_large,
    over_owners,
    shortest,
    values_at,
    vanishes,
)
from smqopt.numeric import precision
from smqopt.valuation import LawFormulas

_POINTS = 2


@dataclass(frozen=True)
class BudgetPrice:
    """λ = (c₁ Σ ε_i^p/(B − n c₀))^(1/p), for owners all inside a common support."""

    expression: sp.Expr
    """λ in the budget, the requirements ε_i, the number of owners and the parameters of the law."""
    exponent: sp.Expr
    """p."""
    constant: sp.Expr
    """c₀, in currency."""
    coefficient: sp.Expr
    """c₁, in currency to the power 1 − p."""
    low: sp.Expr | None
    """What the low end must be; None where it may be anything."""
    lowest: sp.Expr
    """The least ε_i/λ for which the formula holds: J(low)."""
    highest: sp.Expr
    """The greatest ε_i/λ for which the formula holds: J(high)."""
    by_sets: sp.Expr
    """λ where only the owners in M are inside, in what they have left: (c₁ Σ_{i∈M} ε_i^p/R)^(1/p),
    R = B − c₀|M| − Σ_{i∈H} high."""

    @property
    def condition(self) -> str:
        """When the formula holds, in words."""
        at_zero = "" if self.low is None else f"the support begins at {self.low}, "
        return f"B > 0, the law is common, {at_zero}and J(low) ≤ ε_i/λ ≤ J(high) for every owner i"


def find_budget_price(
    law: LawFormulas, threshold: sp.Expr, lowest: sp.Expr | None, highest: sp.Expr | None, domain: Domain
) -> BudgetPrice | None:
    """Solve Σ θ*(ε_i/λ) F(θ*(ε_i/λ)) = B for λ; None unless spend is c₀ + c₁x^p.

    Parameters
    ----------
    law
        The law.
    threshold
        θ*(x) inside the support.
    lowest, highest
        J at the ends of the support; None where unknown.
    domain
        The parameters' ranges.
    """
    if lowest is None or highest is None:
        return None
    at_ends = [None, sp.Integer(0)] if isinstance(law.low, sp.Symbol) else [None]
    for low in at_ends:
        fixed = {} if low is None else {law.low: low}
        spend = (threshold * law.cdf.subs(law.theta, threshold)).subs(fixed)
        parts = _constant_plus_power(
            spend, domain.with_values(fixed).with_intervals(SymbolRange(X, lowest.subs(fixed)))
        )
        if parts is not None:
            exponent, constant, coefficient = parts
            total = over_owners(EPSILONS[I] ** exponent)
            inner = total / (BUDGET * shortest(1 / coefficient) - N * shortest(constant / coefficient))
            inside = over_owners(INSIDE[I] * EPSILONS[I] ** exponent)
            return BudgetPrice(
                _root(inner, exponent),
                exponent,
                constant,
                coefficient,
                low,
                lowest.subs(fixed),
                highest.subs(fixed),
                _root(inside / (LEFT * shortest(1 / coefficient)), exponent),
            )
    return None


def _constant_plus_power(spend: sp.Expr, domain: Domain) -> tuple[sp.Expr, sp.Expr, sp.Expr] | None:
    """Find p, c₀, c₁ with spend = c₀ + c₁ x^p, as p − 1 = x spend″/spend′."""
    slope = sp.diff(spend, X)
    less_one = X * sp.diff(slope, X) / slope
    if is_too_large(less_one) or not _is_constant_at_points(less_one, domain):
        return None
    exponent = shortest(less_one + 1)
    if exponent.has(X):
        return None
    coefficient = shortest(slope / (exponent * X ** (exponent - 1)))
    constant = shortest(spend - coefficient * X**exponent)
    if coefficient.has(X) or constant.has(X) or not vanishes(spend - constant - coefficient * X**exponent, domain):
        return None
    return exponent, constant, coefficient


def _is_constant_at_points(expression: sp.Expr, domain: Domain) -> bool:
    """Compare values at two x at random parameters, before costly algebra."""
    points = list(domain.points(_POINTS))
    elsewhere = [{**point, X: 2 * point[X] + 1} for point in points]
    pairs = zip(values_at(expression, points), values_at(expression, elsewhere), strict=True)
    with precision(BITS):
        return all((here - there).contains(0) and here.is_finite() for here, there in pairs)


def _root(inner: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Return inner^(1/exponent), with whole powers drawn out of the root."""
    total = sp.Dummy("sum", positive=True)
    sums = inner.atoms(sp.Sum)
    named = inner.subs(dict.fromkeys(sums, total))
    split = sp.expand_power_base(sp.powsimp(sp.expand_power_base(named)) ** (1 / exponent))
    under, outside = sp.Integer(1), sp.Integer(1)
    for factor in sp.Mul.make_args(split):
        base, power = factor.as_base_exp()
        if abs(power) == 1 / exponent:
            under *= base ** (power * exponent)
        else:
            outside *= sp.powsimp(base ** sp.cancel(power))
    return outside * under.subs({total: next(iter(sums))}) ** (1 / exponent)
