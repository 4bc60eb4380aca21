"""Find all that a derivation argues with; the steps check each finding."""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    BUDGET,
    EPSILON,
    EPSILONS,
    GAMMA,
    GAMMAS,
    LAMBDA,
    MU,
    MUS,
    THETA,
    THETAS,
    Domain,
    F,
    I,
    J,
    SymbolRange,
    X,
    has_long_powers,
    is_too_large,
    over_owners,
    ratio,
    remember,
    shortest,
    within_limit,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._budget_price import find_budget_price
from smqopt.derivation.argument._change_of_variables import spend_change
from smqopt.derivation.argument._cone_curve import cone_curve
from smqopt.derivation.argument._inversion import invert
from smqopt.derivation.argument._limits import cost_at_end
from smqopt.derivation.argument._piece_boundaries import joined_inverse
from smqopt.derivation.argument._posted import posted_threshold
from smqopt.valuation import HIGH, LOW, LawFormulas, Row


def argue(law: LawFormulas, rows: tuple[Row, ...] = ()) -> Argument:
    """Find all parts of the argument for a law; nothing is checked yet.

    Parameters
    ----------
    law
        The law.
    rows
        Parameters at which claims are evaluated; random ones where none are given.
    """
    domain = domain_of(law, rows)
    if not law.pieces:
        return _on_domain(law, domain)
    theta = law.theta
    pieces = tuple(
        (_in_gap if piece.is_gap else _on_domain)(
            piece, domain.with_intervals(*(SymbolRange(symbol, piece.low, piece.high) for symbol in (theta, THETAS)))
        )
        for piece in law.pieces
    )
    whole = _argument(law, domain, _joined_cost(pieces), pieces[0].cost_at_low, pieces[-1].cost_at_high)
    return replace(whole, inverse=joined_inverse(pieces, domain), pieces=pieces)


def has_closed_form(law: LawFormulas) -> tuple[bool, bool]:
    """Tell whether J has a closed inverse, and C a form in cones; nothing is checked."""
    domain = domain_of(law)
    if law.pieces:
        return argue(law).inverse is not None, False
    inverse = (
        None
        if _has_no_closed_inverse(law)
        else within_limit(lambda: invert(_virtual_cost(law), law.theta, domain), None)
    )
    return inverse is not None, cone_curve(law, domain) is not None


_NOT_ELEMENTARY = (sp.erf, sp.lowergamma, sp.betainc)


def _has_no_closed_inverse(law: LawFormulas) -> bool:
    """Tell whether J is a sum with a term that no shape with a closed inverse has.

    Such are integrals that are not elementary, e^p for a polynomial p of degree 2 or more, and what
    multiplies an exponential by more than a constant: of different ones no sum vanishes.
    """
    theta, rent = law.theta, law.cdf / law.pdf
    if is_too_large(rent) or has_long_powers(rent):
        return True
    terms = within_limit(lambda: sp.expand(rent), rent)
    denominators = (power.base for power in terms.atoms(sp.Pow) if power.exp.could_extract_minus_sign())
    if any(base.is_Add and base.has(theta) for base in denominators):
        return False
    return any(map(functools.partial(_is_of_no_shape, theta), sp.Add.make_args(terms)))


def _is_of_no_shape(theta: sp.Symbol, term: sp.Expr) -> bool:
    if any(call.has(theta) for call in term.atoms(*_NOT_ELEMENTARY)):
        return True
    powers = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.exp) and factor.has(theta)]
    if not powers or not all(power.args[0].is_polynomial(theta) for power in powers):
        return False
    exponent = sp.expand(sp.Add(*(power.args[0] for power in powers)))
    rest = [factor for factor in sp.Mul.make_args(term) if factor not in powers]
    degree = sp.degree(exponent, theta)
    return degree > 1 or (degree == 1 and any(factor.has(theta) for factor in rest))


def _joined_cost(pieces: tuple[Argument, ...]) -> sp.Expr:
    return sp.Piecewise(
        *((piece.virtual_cost, sp.Le(piece.theta, piece.law.high, evaluate=False)) for piece in pieces[:-1]),
        (pieces[-1].virtual_cost, True),
        evaluate=False,
    )


def with_plain_cost(argument: Argument) -> Argument:
    """Take J as θ + F/f stands, where no shorter form of it is proved."""
    law, pieces = argument.law, tuple(map(with_plain_cost, argument.pieces))
    if law.is_gap:
        return argument
    cost = _joined_cost(pieces) if pieces else law.theta + law.cdf / law.pdf
    ends = (pieces[0].cost_at_low, pieces[-1].cost_at_high) if pieces else _costs_at_ends(cost, law)
    plain = _argument(law, argument.domain, cost, *ends)
    return replace(plain, pieces=pieces)


def _on_domain(law: LawFormulas, domain: Domain) -> Argument:
    """Find the parts of the argument for one formula."""
    cost = _virtual_cost(law)
    low, high = _costs_at_ends(cost, law)
    argument = _argument(law, domain, cost, low, high)
    if low is None or high is None:
        return argument
    inverse = within_limit(lambda: invert(cost, law.theta, domain), None)
    if inverse is None:
        return argument
    price = within_limit(lambda: find_budget_price(law, inverse.threshold, low, high, domain), None)
    return replace(argument, inverse=inverse, budget_price=price)


def _costs_at_ends(cost: sp.Expr, law: LawFormulas) -> tuple[sp.Expr | None, sp.Expr | None]:
    return cost_at_end(cost, law, law.low), cost_at_end(cost, law, law.high)


def _in_gap(law: LawFormulas, domain: Domain) -> Argument:
    """Find the parts of the argument where F is flat.

    A higher price buys nothing more there.
    """
    return _argument(law, domain, sp.oo, sp.oo, sp.oo)


def _argument(law: LawFormulas, domain: Domain, cost: sp.Expr, low: sp.Expr | None, high: sp.Expr | None) -> Argument:
    return Argument(
        law=law,
        domain=domain,
        virtual_cost=cost,
        cost_at_low=low,
        cost_at_high=high,
        lagrangian=lagrangian(),
        owner_lagrangian=owner_lagrangian(law.theta),
        stationarity=stationarity(law.theta),
        lower_multiplier=None if low is None else LAMBDA * low - EPSILON,
        upper_multiplier=None if high is None or high == sp.oo else EPSILON - LAMBDA * high,
        inverse=None,
        budget_price=None,
        change=spend_change(law, domain),
        curve=cone_curve(law, domain),
        posted=posted_threshold(),
    )


def example_law() -> LawFormulas:
    """Return the law with which what holds for every law is evaluated."""
    share = (THETA - LOW) / (HIGH - LOW)
    cdf = share**2 * (3 - 2 * share)
    return LawFormulas(THETA, LOW, HIGH, cdf, sp.diff(cdf, THETA), (("low", LOW), ("high", HIGH)))


@functools.cache
def general_argument() -> Argument:
    """Return the argument for every law, with one law as an example to evaluate."""
    law = example_law()
    domain = domain_of(law)
    argument = _argument(law, domain, law.theta + law.cdf / law.pdf, LOW, sp.oo)
    return replace(argument, is_general=True)


def lagrangian() -> sp.Expr:
    """Return L of OP2 with q = F(θ) and 0 ≤ q ≤ 1 as bounds (errata E2, E15)."""
    theta, q = THETAS[I], F(THETAS[I])
    return (
        over_owners(EPSILONS[I] * q)
        - LAMBDA * (over_owners(theta * q) - BUDGET)
        + over_owners(MUS[I] * q)
        + over_owners(GAMMAS[I] * (1 - q))
    )


def owner_lagrangian(theta: sp.Expr, epsilon: sp.Expr = EPSILON, mu: sp.Expr = MU, gamma: sp.Expr = GAMMA) -> sp.Expr:
    """Return ℓ(θ) = εF − λθF + μF + γ(1 − F)."""
    return epsilon * F(theta) - LAMBDA * theta * F(theta) + mu * F(theta) + gamma * (1 - F(theta))


def stationarity(theta: sp.Expr) -> sp.Expr:
    """Return ε − λJ(θ) + μ − γ, the derivative of ℓ in acceptance (errata E15)."""
    return EPSILON - LAMBDA * J(theta) + MU - GAMMA


def domain_of(law: LawFormulas, rows: tuple[Row, ...] = ()) -> Domain:
    """Return the intervals of all symbols: parameters, θ, prices, multipliers."""
    zero = sp.Integer(0)
    narrowed = {symbol for symbol, _, _ in law.ranges}
    free = [symbol for _, symbol in law.parameters if symbol not in (law.low, law.high) and symbol not in narrowed]
    intervals = [SymbolRange(symbol, zero if symbol.is_nonnegative else -sp.oo) for symbol in free]
    if isinstance(law.low, sp.Symbol):
        intervals.append(SymbolRange(law.low, zero, None if isinstance(law.high, sp.Symbol) else law.high))
    if isinstance(law.high, sp.Symbol):
        intervals.append(SymbolRange(law.high, law.low))
    intervals += [SymbolRange(*known) for known in law.ranges]
    intervals.append(SymbolRange(law.theta, law.low, law.high))
    intervals += [
        SymbolRange(symbol, zero) for symbol in (EPSILON, LAMBDA, MU, GAMMA, BUDGET, X, EPSILONS, MUS, GAMMAS)
    ]
    intervals.append(SymbolRange(THETAS, law.low, law.high))
    return Domain(tuple(intervals), rows)


@remember
def _virtual_cost(law: LawFormulas) -> sp.Expr:
    """Shorten J = θ + F/f to a form with a value at the low end."""
    rent = ratio(law.cdf, law.pdf)
    powers = (factor.as_base_exp() for factor in sp.Mul.make_args(rent))
    joins = any(base == law.theta and exponent.is_Rational for base, exponent in powers)
    is_short = rent.is_Mul and not (joins or rent.is_rational_function())  # so that nothing joins it to θ
    cost = shortest(law.theta + rent, is_searched=not is_short)
    reducible = cost.is_rational_function(law.theta) and not is_too_large(cost)
    if reducible and cost.subs(law.theta, law.low) is sp.nan:
        return sp.factor(sp.cancel(sp.together(cost)))
    return cost
