"""What a derivation argues with: the law in symbols, and what was found from it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from smqopt.algebra import (
    SPEND,
    THETA,
    THETAS,
    THRESHOLD,
    Domain,
    Equation,
    F,
    J,
    Meaning,
    Relation,
    SymbolRange,
    Unknown,
    X,
    decide_claim,
    f,
    worst,
)
from smqopt.derivation.argument._budget_price import BudgetPrice
from smqopt.derivation.argument._change_of_variables import ChangeOfVariables
from smqopt.derivation.argument._cone_curve import ConeCurve
from smqopt.derivation.argument._inversion import CostInverse, Form
from smqopt.derivation.argument._limits import has_only_a_limit, value_at, verify_limit
from smqopt.derivation.argument._posted import PostedRule
from smqopt.valuation import LawFormulas

_VARYING = (THETA, THETAS, X, SPEND)
"""A claim without these is the same on every piece of the support."""
Proof = Callable[[LawFormulas], str | Unknown | None]
"""Gives for a piece of the law what `decide_claim` takes for a proof."""


@dataclass(frozen=True)
class Argument:
    """All that the steps speak of; any part may be wrong, and the steps check it."""

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
    inverse: CostInverse | None
    budget_price: BudgetPrice | None
    change: ChangeOfVariables
    """From thresholds to spend."""
    curve: ConeCurve | None
    """The cost curve, where a few cones state it; None for other laws."""
    posted: PostedRule
    """The mechanism that a threshold stands for."""
    pieces: tuple[Argument, ...] = ()
    """The argument on each piece of the support, where the law is made of pieces; a claim is then
    checked on each."""
    is_general: bool = False
    """Whether the law is but an example: a claim is then proved with F left open, F(low) = 0 and
    F(high) = 1."""

    @property
    def theta(self) -> sp.Symbol:
        """The symbol θ."""
        return self.law.theta

    @property
    def meaning(self) -> Meaning:
        """What F, f, J and θ* stand for."""
        meaning: dict[type[sp.Function], Callable[[sp.Expr], sp.Expr]] = {
            F: functools.partial(value_at, self.law.cdf, self.theta),
            f: functools.partial(value_at, self.law.pdf, self.theta),
            J: self._cost_at,
        }
        return meaning if self.inverse is None else {THRESHOLD: sp.Lambda(X, self.inverse.threshold)} | meaning

    def _cost_at(self, place: sp.Expr) -> sp.Expr:
        """Return J at a place; at an end of the support, its limit."""
        value = value_at(self.virtual_cost, self.theta, place)
        limits = {self.law.low: self.cost_at_low, self.law.high: self.cost_at_high}
        limit = limits.get(place)
        return value if limit is None or not has_only_a_limit(value) else limit

    @property
    def inside(self) -> Domain:
        """The domain on which x = ε/λ keeps the threshold inside the support.

        Where J is quadratic, in θ or in a root of it, it ends at J(high), beyond which a root may
        leave the reals.
        """
        bounded = self.inverse is not None and self.inverse.form in (Form.QUADRATIC, Form.ROOT)
        upper = self.cost_at_high if bounded and self.cost_at_high != sp.oo else None
        return self.domain.with_intervals(
            SymbolRange(X, sp.Integer(0) if self.cost_at_low is None else self.cost_at_low, upper)
        )

    def fix(self, values: dict[sp.Symbol, sp.Expr]) -> Argument:
        """Fix the values of some parameters of the law."""
        if not values:
            return self
        inverse = self.inverse
        return replace(
            self,
            pieces=tuple(piece.fix(values) for piece in self.pieces),
            law=self.law.fix(values),
            domain=self.domain.with_values(values),
            virtual_cost=self.virtual_cost.subs(values),
            cost_at_low=None if self.cost_at_low is None else self.cost_at_low.subs(values),
            cost_at_high=None if self.cost_at_high is None else self.cost_at_high.subs(values),
            inverse=None if inverse is None else replace(inverse, threshold=inverse.threshold.subs(values)),
            change=self.change.fix(values),
            curve=None if self.curve is None else self.curve.fix(values),
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
        proof: Proof | None = None,
    ) -> Equation:
        """State a claim and check it.

        Parameters
        ----------
        left, right, relation
            The claim.
        domain
            Where it must hold; by default on the open support, for all prices, requirements and
            multipliers.
        every_law
            Whether to try a proof with F left open first.
        where
            What to put in the place of some symbols before judging; the claim is stated with the
            symbols.
        proof
            What is tried first on each piece of the law.
        """
        inserted = {} if where is None else dict(where)
        ends = {F(self.law.low): sp.Integer(0), F(self.law.high): sp.Integer(1)} if self.is_general else {}
        sides = (left.xreplace(inserted).xreplace(ends), right.xreplace(inserted).xreplace(ends))
        if self.pieces:
            equation = self._on_each_piece(sides, relation, domain, every_law=every_law, proof=proof)
        else:
            first, second = sides
            equation = decide_claim(
                first,
                relation,
                second,
                domain or self.domain,
                self.meaning,
                every_law=every_law,
                example=self.is_general,
                proof=None if proof is None else functools.partial(proof, self.law),
            )
        ranges = self._intervals_of(left - right, domain)
        ranges = ranges if equation.every_law else self._off_joints(left - right, ranges)
        return replace(equation, left=left, right=right, domain=ranges)

    def _off_joints(self, expression: sp.Expr, ranges: tuple[SymbolRange, ...]) -> tuple[SymbolRange, ...]:
        """Leave out of the ranges of θ and x where pieces meet, if slopes are taken there."""
        meeting = list(itertools.pairwise(self.pieces))
        taken = (
            {symbol for slope in expression.atoms(sp.Derivative) for symbol in slope.variables} if meeting else set()
        )
        if self.theta in taken:
            joints = tuple(before.law.high for before, _ in meeting)
            ranges = (*ranges, SymbolRange(self.theta, self.law.low, self.law.high, off=joints))
        costs = [cost for before, after in meeting for cost in (before.cost_at_high, after.cost_at_low)]
        known = tuple(dict.fromkeys(cost for cost in costs if cost not in (None, sp.oo)))
        return tuple(replace(each, off=known) if each.symbol == X and X in taken else each for each in ranges)

    def off_jumps(self, claim: Equation) -> tuple[Equation, ...]:
        """State a claim on x on each range that no jump of J leaves out.

        While x is within a jump θ* rests at the joint, where J is less than x.
        """
        lows = [piece.cost_at_low for piece in self.pieces]
        highs = [piece.cost_at_high for piece in self.pieces]
        jumps = [k for k in range(1, len(lows)) if lows[k] != highs[k - 1]]
        if not jumps:
            return (claim,)
        edges = [0, *jumps, len(lows)]
        ranges = [
            SymbolRange(X, lows[a], None if highs[b - 1] == sp.oo else highs[b - 1], above=a > 0)
            for a, b in itertools.pairwise(edges)
        ]
        return tuple(replace(claim, domain=(each,)) for each in ranges)

    def _intervals_of(self, expression: sp.Expr, domain: Domain | None) -> tuple[SymbolRange, ...]:
        """Return the intervals of symbols in an expression, beyond the law's."""
        own = () if domain is None else domain.intervals
        inside = domain == self.inside
        found = [
            each
            for each in own
            if (each not in self.domain.intervals or (inside and each.symbol == X)) and expression.has(each.symbol)
        ]
        ends = (self.cost_at_low, self.cost_at_high)
        return tuple(
            replace(each, upper=None if ends[1] == sp.oo else ends[1])
            if each.upper is None and (each.symbol, each.lower) == (X, ends[0])
            else each
            for each in found
        )

    def _on_each_piece(
        self,
        sides: tuple[sp.Expr, sp.Expr],
        relation: Relation,
        domain: Domain | None,
        *,
        every_law: bool,
        proof: Proof | None,
    ) -> Equation:
        """Check a claim on every piece; what it says of the ends, on the outer pieces."""
        first, last = self.pieces[0], self.pieces[-1]
        left, right = (last.put_in(first.put_in(side, self.law.low), self.law.high) for side in sides)
        varies = left.has(*_VARYING) or right.has(*_VARYING)
        pieces = [
            (k, piece) for k, piece in enumerate(self.pieces) if not piece.law.is_gap or piece.has_values(left - right)
        ]
        found = [
            decide_claim(
                _on_piece(left, k, self.pieces),
                relation,
                _on_piece(right, k, self.pieces),
                self._domain_on(piece, domain),
                piece.meaning,
                every_law=every_law,
                proof=None if proof is None else functools.partial(proof, piece.law),
            )
            for k, piece in (pieces if varies else pieces[:1])
        ]
        methods = list(dict.fromkeys(equation.method for equation in found))
        verdict = worst([equation.verdict for equation in found if equation.verdict is not None])
        where = "" if len(pieces) == len(self.pieces) else " where f > 0"
        many = f"on each of {len(found)} pieces of the support{where}: " if len(found) > 1 or where else ""
        points = min(equation.points for equation in found)
        general = all(equation.every_law for equation in found)
        return Equation(left, relation, right, verdict, many + "; ".join(methods), points, every_law=general)

    def has_values(self, expression: sp.Expr) -> bool:
        """Tell whether an expression has finite values on this piece.

        J has none where f = 0.
        """
        if expression.has(J):
            return False
        for function, formula in self.meaning.items():
            expression = expression.replace(function, formula)
        return not expression.replace(sp.Derivative, sp.diff).has(sp.nan, sp.zoo, sp.oo, -sp.oo)

    def put_in(self, expression: sp.Expr, end: sp.Expr) -> sp.Expr:
        """Replace F, f, J and θ* at an end of the support by their values."""
        for function, formula in self.meaning.items():
            places = {end} if function is not THRESHOLD else {self.cost_at_low, self.cost_at_high} - {None, sp.oo}
            known = {function(place): formula(place) for place in places}
            expression = expression.xreplace(known)
        return expression

    def _domain_on(self, piece: Argument, domain: Domain | None) -> Domain:
        """Narrow a domain to a piece of the support, and x to the thresholds in it."""
        if domain is None:
            return piece.domain
        if domain == self.inside:
            return piece.inside
        mine = (THETAS, self.theta)
        return domain.with_intervals(*(interval for interval in piece.domain.intervals if interval.symbol in mine))

    def limit(self, end: sp.Expr, value: sp.Expr) -> Equation:
        """State what J tends to at an end of the support, and check it."""
        outer = self if not self.pieces else self.pieces[0 if end == self.law.low else -1]
        side = "+" if end == self.law.low else "-"
        left = sp.Limit(J(self.theta), self.theta, end, side)
        return verify_limit(outer.virtual_cost, outer.law, end, value, left, self.domain)


def _on_piece(expression: sp.Expr, k: int, pieces: tuple[Argument, ...]) -> sp.Expr:
    """Put the case of a piece in the place of what is given by cases.

    One case of θ ≤ a may stand for neighbours; bounds that are no ends of pieces are left.
    """
    theta, ends = pieces[k].law.theta, [piece.law.high for piece in pieces]

    def case(*cases: tuple[sp.Expr, sp.Basic]) -> sp.Expr:
        *bounded, (last, _) = cases
        if all(c.func is sp.Le and c.args[0] == theta and c.args[1] in ends for _, c in bounded):
            return next((form for form, condition in bounded if k <= ends.index(condition.args[1])), last)
        return sp.Piecewise(*cases, evaluate=False)

    return expression.replace(sp.Piecewise, case)
