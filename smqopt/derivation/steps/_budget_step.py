"""The budget equation, and the budget price."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from smqopt.algebra import (
    AT_HIGH,
    BUDGET,
    EPSILONS,
    INSIDE,
    LAMBDA,
    LEFT,
    THRESHOLD,
    Equation,
    F,
    I,
    J,
    Relation,
    SymbolRange,
    X,
    f,
    over_owners,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._budget_price import BudgetPrice
from smqopt.derivation.statement._step import Step

ROOT = "Spend does not fall as x = ε/λ rises, so λ is found numerically from the budget equation."
"""What is said of λ without a closed form, where J does not fall."""


def budget_price(argument: Argument) -> Step:
    """Check the spend of owners at the ends, and the budget price.

    Where the price has no closed form, check that spend rises in x.
    """
    theta, law, found = argument.theta, argument.law, argument.budget_price
    owners = THRESHOLD(EPSILONS[I] / LAMBDA)
    by_sets = over_owners(INSIDE[I] * owners * F(owners)) + over_owners(AT_HIGH[I] * law.high)
    at_ends = (
        Equation(by_sets, Relation.EQUAL, BUDGET, needs_regularity=True, every_law=isinstance(law.high, sp.Symbol)),
        argument.claim(law.low * F(law.low), sp.Integer(0)),
        argument.claim(law.high * F(law.high), law.high),
        argument.claim(sp.Derivative(theta * F(theta), theta), f(theta) * J(theta), every_law=True),
    )
    if found is None or argument.cost_at_low is None:
        return _step(
            at_ends,
            note=f"No closed form of λ: spend is no constant plus a power of ε/λ. {ROOT}",
        )
    return _step(
        (*at_ends, *_closed_form(argument, found, by_sets)),
        note="Both closed forms are those of a common law. For owners in M it holds where R > 0 and M has an owner with ε_i > 0; "
        "the sets are the right ones where its x_i = ε_i/λ are at most J(low) in L, between the two in M, at least J(high) in H. "
        "With all owners in M, R is B. Elsewhere λ is the root of the budget equation with clipped thresholds.",
    )


def _closed_form(argument: Argument, found: BudgetPrice, by_sets: sp.Expr) -> tuple[Equation, ...]:
    """Check λ for the sets L, M, H, and for all owners inside."""
    special = argument.fix({} if found.low is None else {argument.law.low: found.low})
    inside = special.domain.with_intervals(SymbolRange(X, found.lowest))
    everywhere = special.domain.with_intervals(
        SymbolRange(LEFT, sp.Integer(0), above=True),
        *(SymbolRange(letter, sp.Integer(0)) for letter in (INSIDE, AT_HIGH)),
    )
    spend = THRESHOLD(X) * F(THRESHOLD(X))
    everyone = THRESHOLD(EPSILONS[I] / LAMBDA)
    fixed_part = over_owners(INSIDE[I] * found.constant) + over_owners(AT_HIGH[I] * special.law.high)
    ends = () if found.highest == sp.oo else (special.claim(J(special.law.high), found.highest),)
    at_low = () if found.low is None else (SymbolRange(argument.law.low, found.low, found.low),)
    highest = None if found.highest == sp.oo else found.highest
    all_inside = (*at_low, SymbolRange(EPSILONS[I] / LAMBDA, found.lowest, highest))
    left = (*at_low, SymbolRange(LEFT, sp.Integer(0), above=True))
    claims = (
        (
            replace(
                special.claim(spend, found.constant + found.coefficient * X**found.exponent, domain=inside),
                domain=(SymbolRange(X, found.lowest, highest),),
            ),
            at_low,
        ),
        (Equation(LEFT, Relation.DEFINED, BUDGET - fixed_part), at_low),
        (Equation(LAMBDA, Relation.EQUAL, found.by_sets), left),
        (
            special.claim(
                by_sets.subs(argument.law.high, special.law.high) - fixed_part,
                LEFT,
                domain=everywhere,
                where={LAMBDA: found.by_sets},
            ),
            left,
        ),
        (Equation(LAMBDA, Relation.DEFINED, found.expression), all_inside),
        (
            special.claim(over_owners(everyone * F(everyone)), BUDGET, where={LAMBDA: found.expression}),
            all_inside,
        ),
    )
    stated = tuple(replace(claim, domain=tuple(dict.fromkeys((*where, *claim.domain)))) for claim, where in claims)
    at_ends = (special.claim(J(special.law.low), found.lowest), *ends)
    return (*(replace(claim, domain=(*at_low, *claim.domain)) for claim in at_ends), *stated)


def _step(equations: tuple[Equation, ...], note: str) -> Step:
    return Step(
        name="budget-price",
        title="Budget equation and budget price",
        claim="The price λ is the one at which the thresholds spend the budget. Split the owners by their thresholds into the sets L at the "
        "low end, M inside, and H at the high end: those in L spend nothing, those in H their high ends, those in M what the "
        "threshold rule says.",
        reason="Insert the thresholds into the budget equation, and solve for λ. F is 0 at the low end and 1 at the high end.",
        labels=("KKT", "eqn:BF", "E3"),
        equations=equations,
        note=note,
    )
