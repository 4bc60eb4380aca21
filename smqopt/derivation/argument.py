"""What a derivation argues with: the law in symbols, and everything found from it. The steps then check each finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from smqopt.derivation.budget_price import BudgetPrice, find_budget_price
from smqopt.derivation.domain import Domain, Interval
from smqopt.derivation.equation import Equation, Relation
from smqopt.derivation.inversion import Form, Inverse, invert
from smqopt.derivation.judge import Meaning, judged
from smqopt.derivation.law_formulas import LawFormulas, Row
from smqopt.derivation.letters import (
    BUDGET,
    EPSILON,
    EPSILONS,
    GAMMA,
    GAMMAS,
    LAMBDA,
    MU,
    MUS,
    THETAS,
    THRESHOLD,
    F,
    I,
    J,
    X,
    f,
    over_owners,
)
from smqopt.derivation.reduction import is_too_large, ratio, shortest

__all__ = ["Argument", "argue", "domain_of", "lagrangian", "owner_lagrangian", "stationarity"]


@dataclass(frozen=True)
class Argument:
    """All that the steps speak of. Any part may be wrong: the steps check them against each other."""

    law: LawFormulas
    domain: Domain
    virtual_cost: sp.Expr
    """J(θ) in its shortest form."""
    cost_at_low: sp.Expr | None
    """J(low); None where no limit was found."""
    cost_at_high: sp.Expr | None
    """J(high), or ∞; None where no limit was found."""
    lagrangian: sp.Expr
    """L in thresholds, with multipliers in acceptance units."""
    owner_lagrangian: sp.Expr
    """ℓ_i, the part of L that owner i decides."""
    stationarity: sp.Expr
    """What vanishes at the optimum, in J(θ), the requirement and the multipliers."""
    lower_multiplier: sp.Expr | None
    """μ of an owner at the low end."""
    upper_multiplier: sp.Expr | None
    """γ of an owner at the high end; None where no price reaches it."""
    inverse: Inverse | None
    budget_price: BudgetPrice | None

    @property
    def theta(self) -> sp.Symbol:
        """The symbol θ."""
        return self.law.theta

    @property
    def meaning(self) -> Meaning:
        """What F, f, J and θ* stand for."""
        theta, law = self.theta, self.law
        given = {F: law.cdf, f: law.pdf, J: self.virtual_cost}
        meaning = {function: sp.Lambda(theta, formula) for function, formula in given.items()}
        return meaning if self.inverse is None else {THRESHOLD: sp.Lambda(X, self.inverse.threshold)} | meaning

    @property
    def inside(self) -> Domain:
        """The domain on which x = ε/λ keeps the threshold inside the support.

        Where J is quadratic it ends at J(high), beyond which a root may leave the reals.
        """
        quadratic = self.inverse is not None and self.inverse.form is Form.QUADRATIC
        upper = self.cost_at_high if quadratic and self.cost_at_high != sp.oo else None
        return self.domain.with_intervals(
            Interval(X, sp.Integer(0) if self.cost_at_low is None else self.cost_at_low, upper)
        )

    def fixing(self, values: dict[sp.Symbol, sp.Expr]) -> Argument:
        """Fix the values of some parameters of the law."""
        if not values:
            return self
        inverse = self.inverse
        return replace(
            self,
            law=self.law.fixing(values),
            domain=self.domain.fixed(values),
            virtual_cost=self.virtual_cost.subs(values),
            cost_at_low=None if self.cost_at_low is None else self.cost_at_low.subs(values),
            cost_at_high=None if self.cost_at_high is None else self.cost_at_high.subs(values),
            inverse=None if inverse is None else replace(inverse, threshold=inverse.threshold.subs(values)),
        )

    def claim(
        self,
        left: sp.Expr,
        right: sp.Expr,
        relation: Relation = Relation.EQUAL,
        *,
        domain: Domain | None = None,
        every_law: bool = False,
        where: Mapping[sp.Expr, sp.Expr] | None = None,
    ) -> Equation:
        """State a claim and have it judged.

        Parameters
        ----------
        left, right, relation
            The claim.
        domain
            Where it must hold; by default on the open support, for all prices, requirements and multipliers.
        every_law
            Whether to try a proof with F left open first.
        where
            What to put in the place of some symbols before judging; the claim is stated with the symbols.
        """
        inserted = {} if where is None else dict(where)
        equation = judged(
            left.xreplace(inserted),
            relation,
            right.xreplace(inserted),
            domain or self.domain,
            self.meaning,
            every_law=every_law,
        )
        return replace(equation, left=left, right=right)


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
    cost = _virtual_cost(law)
    low, high = (_at_end(cost, law, end) for end in (law.low, law.high))
    argument = Argument(
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
        inverse=None if low is None or high is None else invert(cost, law.theta, domain),
        budget_price=None,
    )
    if argument.inverse is None:
        return argument
    return replace(argument, budget_price=find_budget_price(law, argument.inverse.threshold, low, high, domain))


def lagrangian() -> sp.Expr:
    """Give L of OP2 with q = F(θ), one budget term, and 0 ≤ q ≤ 1 in place of the bounds on θ (errata E2, E15)."""
    theta, q = THETAS[I], F(THETAS[I])
    return (
        over_owners(EPSILONS[I] * q)
        - LAMBDA * (over_owners(theta * q) - BUDGET)
        + over_owners(MUS[I] * q)
        + over_owners(GAMMAS[I] * (1 - q))
    )


def owner_lagrangian(theta: sp.Expr, epsilon: sp.Expr = EPSILON, mu: sp.Expr = MU, gamma: sp.Expr = GAMMA) -> sp.Expr:
    """Give ℓ(θ) = εF − λθF + μF + γ(1 − F)."""
    return epsilon * F(theta) - LAMBDA * theta * F(theta) + mu * F(theta) + gamma * (1 - F(theta))


def stationarity(theta: sp.Expr) -> sp.Expr:
    """Give ε − λJ(θ) + μ − γ, the derivative of ℓ in acceptance (errata E15)."""
    return EPSILON - LAMBDA * J(theta) + MU - GAMMA


def domain_of(law: LawFormulas, rows: tuple[Row, ...] = ()) -> Domain:
    """Give the intervals of all symbols: parameters first, then θ within the support, then prices and multipliers."""
    zero = sp.Integer(0)
    free = [symbol for _, symbol in law.parameters if symbol not in (law.low, law.high)]
    intervals = [Interval(symbol, zero if symbol.is_nonnegative else -sp.oo) for symbol in free]
    if isinstance(law.low, sp.Symbol):
        intervals.append(Interval(law.low, zero, None if isinstance(law.high, sp.Symbol) else law.high))
    if isinstance(law.high, sp.Symbol):
        intervals.append(Interval(law.high, law.low))
    intervals.append(Interval(law.theta, law.low, law.high))
    intervals += [Interval(symbol, zero) for symbol in (EPSILON, LAMBDA, MU, GAMMA, BUDGET, X, EPSILONS, MUS, GAMMAS)]
    intervals.append(Interval(THETAS, law.low, law.high))
    return Domain(tuple(intervals), rows)


def _virtual_cost(law: LawFormulas) -> sp.Expr:
    """Give J = θ + F/f in a short form that has a value at the low end, where F/f may read 0/0."""
    cost = shortest(law.theta + ratio(law.cdf, law.pdf))
    reducible = cost.is_rational_function(law.theta) and not is_too_large(cost)
    if reducible and cost.subs(law.theta, law.low) is sp.nan:
        return sp.factor(sp.cancel(sp.together(cost)))
    return cost


def _at_end(cost: sp.Expr, law: LawFormulas, end: sp.Expr) -> sp.Expr | None:
    """Give J at an end of the support by substitution; None where that gives no value.

    A pole at the high end is +∞, as J ≥ θ.
    """
    value = shortest(cost.subs(law.theta, end))
    if value is sp.zoo or value is sp.oo:
        return sp.oo if end == law.high else None
    return None if value.has(sp.nan, sp.zoo, sp.oo) else value
