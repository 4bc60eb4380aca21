"""Statements of a derivation in 40 digits: owners at random thresholds of a law that is written out anew in mpmath.

Nothing of the package computes F, f, J, θ* or λ here; only the statement itself is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import mpmath
import numpy as np
import sympy as sp
from mpmath import mp, mpf
from sympy.core.function import AppliedUndef

from smqopt.algebra import (
    ACCEPTANCE,
    AT_HIGH,
    BUDGET,
    CLIPPED_THRESHOLD,
    EPSILON,
    EPSILONS,
    GAMMA,
    GAMMAS,
    HEIGHT,
    INSIDE,
    LAGRANGIAN,
    LAMBDA,
    LEFT,
    MU,
    MUS,
    OTHER,
    REPORT,
    SHARE,
    SPEND,
    THETA,
    THETAS,
    THRESHOLD,
    VARIABLE,
    N,
    Relation,
    X,
)
from smqopt.valuation import HIGH, LOW

DIGITS = 120
CLOSE = mpf(10) ** -40
"""Of the sum of the sizes of all terms."""
ROUNDED = 5
"""So many of the last digits may be roundings."""
CLOSE_INTEGRAL = mpf(10) ** -15
NEAR = mpf(10) ** -50
"""Of the width: how near an end or a joint a limit is read."""
ANY = {"w": 0.3, "q_1": 0.2, "q_2": 0.7, "C_1": 0.3, "C_2": 1.1, "C": 0.6, "slope": 0.9}
FUNCTIONS = {
    "exp": mpmath.exp, "log": mpmath.log, "erf": mpmath.erf, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "sinh": mpmath.sinh, "cosh": mpmath.cosh,
    "tanh": mpmath.tanh, "Abs": abs, "absolute": abs, "direction": mpmath.sign, "sign": mpmath.sign,
    "LambertW": lambda u: mpmath.lambertw(u).real, "beta": mpmath.beta, "gamma": mpmath.gamma,
    "lowergamma": lambda s, x: mpmath.gammainc(s, 0, x), "uppergamma": lambda s, x: mpmath.gammainc(s, x, mpmath.inf),
    "betainc": mpmath.betainc, "Max": max, "Min": min,
}  # fmt: skip


class NotKnownError(ValueError):
    """A part that has no value here."""


@dataclass(frozen=True, eq=False)
class Truth:
    """F and f of one owner's law, with what doubles say as a place to begin."""

    F: Callable
    f: Callable
    low: mpf
    high: mpf
    joints: tuple[mpf, ...]
    law: object
    is_regular: bool

    @property
    def width(self):
        return self.high - self.low

    def cdf(self, t):
        return mpf(0) if t <= self.low else mpf(1) if t >= self.high else self.F(t)

    def pdf(self, t):
        try:
            return self.f(t)
        except ZeroDivisionError:
            return mpmath.inf

    def cost(self, t):
        """J; at an end or a joint, its value beside it."""
        if t == self.low:
            return self.low
        if t == self.high:
            f = self.pdf(t)
            return t if f == mpmath.inf else t + 1 / f if f > NEAR / self.width else mpmath.inf
        f = self.pdf(t)
        return t + self.F(t) / f if f > 0 else mpmath.inf

    def root(self, rises, wanted, start):
        """Find where a rising function takes a value: secant from a double, or halving."""
        low, high = self.low, self.high
        if wanted <= rises(low):
            return low
        a, b = (min(max(mpf(start) + k * self.width * mpf(10) ** -16, low), high) for k in (-1, 1))
        with mp.workdps(DIGITS - 40):
            for _ in range(9):
                slope = rises(b) - rises(a) if low < a < high and low < b < high and a != b else 0
                if not slope or not mpmath.isfinite(slope):
                    break
                a, b = b, b - (rises(b) - wanted) * (b - a) / slope
            room = self.width * mpf(10) ** -70
            if low < b < high and rises(max(b - room, low)) <= wanted <= rises(min(b + room, high)):
                return b
        a, b = low, high
        for _ in range(300):
            middle = (a + b) / 2
            a, b = (middle, b) if rises(middle) < wanted else (a, middle)
        return b

    def threshold(self, x):
        """θ*(x): where J = x, or the joint at which J passes it."""
        if not self.is_regular:
            raise NotKnownError
        if x <= self.low:
            return self.low
        if x >= self.cost(self.high):
            return self.high
        for joint in self.joints:
            room = NEAR * self.width
            if self.cost(joint - room) < x * (1 - CLOSE) and x * (1 + CLOSE) < self.cost(joint + room):
                return joint
        return self.root(self.cost, x, float(np.ravel(self.law.inverse_virtual_cost(np.array([float(x)])))[0]))

    def quantile(self, q):
        return self.root(self.cdf, q, float(np.ravel(self.law.ppf(float(q)))[0]))


def total(terms):
    """Add up; what only roundings leave is 0, as beside an end, where powers of it would count."""
    found = mpmath.fsum(terms)
    return mpf(0) if abs(found) < mpf(10) ** (ROUNDED - mp.dps) * max(map(abs, terms)) else found


def terms_of(side):
    """Give the terms of a sum, and the slopes of each term of what is differentiated."""
    for term in sp.Add.make_args(side):
        if isinstance(term, sp.Derivative) and term.expr.is_Add:
            yield from (sp.Derivative(inner, *term.variables) for inner in term.expr.args)
        else:
            yield term


@dataclass(frozen=True, eq=False)
class Owners:
    """A few owners of one law at their thresholds, and the price at which they stand there."""

    truth: Truth
    owner: int
    thresholds: list
    costs: list
    """x = ε/λ of each."""
    parameters: dict
    price: mpf
    is_optimal: bool = True
    step: str = ""
    memo: dict = field(default_factory=dict)

    def gap(self, equation):
        """Give left − right over the sum of sizes; None where a part has no value, or outside the domain."""
        rule = equation.relation is Relation.DEFINED and equation.left in (CLIPPED_THRESHOLD, THRESHOLD(X))
        if self.rests and not rule:
            return None
        sides = (equation.left, equation.right)
        if not self.is_optimal and (not equation.every_law or equation.verdict is None):
            return None
        if not self.is_optimal and any(side.has(THRESHOLD, CLIPPED_THRESHOLD, INSIDE) for side in sides):
            return None
        if not self.price and self.step == "budget-price":
            return None
        try:
            if not all(self.is_within(each) for each in equation.domain):
                return None
            terms = [[self.value(term, {}) for term in terms_of(side)] for side in sides]
        except (NotKnownError, ZeroDivisionError, ValueError, OverflowError, TypeError):
            return None
        left, right = map(sum, terms)
        if mpmath.isnan(left) or mpmath.isnan(right):
            return None
        if mpmath.isinf(left) or mpmath.isinf(right):
            if equation.relation in (Relation.EQUAL, Relation.DEFINED):
                return mpf(0) if left == right else mpmath.inf if mpmath.isinf(right) else None
            return None
        size = sum(map(abs, itertools.chain(*terms))) + self.truth.width * CLOSE
        gap = (left - right) / size
        if abs(mpmath.im(gap)) > CLOSE:
            return None
        gap = mpmath.re(gap)
        return {Relation.AT_LEAST: max(-gap, 0), Relation.AT_MOST: max(gap, 0)}.get(equation.relation, abs(gap))

    def fails(self, equation):
        """Tell whether a statement fails here; None where it says nothing."""
        with mp.workdps(max(DIGITS, mp.dps)):
            gap = self.gap(equation)
            integral = any(side.has(sp.Integral) for side in (equation.left, equation.right))
            return None if gap is None else bool(gap > (CLOSE_INTEGRAL if integral else CLOSE))

    @cached_property
    def rests(self):
        return self.thresholds[self.owner] in self.truth.joints

    def is_within(self, each):
        if isinstance(each.symbol, sp.IndexedBase):
            return True
        count = len(self.thresholds) if each.symbol.atoms(sp.Indexed) else 1
        for k in range(count):
            value = self.value(each.symbol, {}, k if count > 1 else None)
            low, high = (mpmath.inf if end is None else self.value(end, {}) for end in (each.lower, each.upper))
            if not low * (1 - CLOSE) <= value <= high * (1 + CLOSE):
                return False
        return True

    def value(self, part, known, k=None):  # noqa: PLR0912 -- one branch a kind of part
        """Evaluate a part, with symbols as the owner's, or as those of owner k within a sum."""

        def inner(each):
            return self.value(each, known, k)

        if part in known:
            return known[part]
        if isinstance(part, sp.Rational):
            return mpf(part.p) / part.q
        if part.is_number and not part.args:
            return {sp.oo: mpmath.inf, -sp.oo: -mpmath.inf, sp.pi: mp.pi + 0, sp.E: mp.e + 0}[part]
        if isinstance(part, sp.Symbol | sp.Indexed):
            return self.letter(part, k)
        if part.is_Add:
            return total(list(map(inner, part.args)))
        if part.is_Mul:
            return mpmath.fprod(map(inner, part.args))
        if part.is_Pow or isinstance(part, sp.exp):
            base, exponent = part.as_base_exp()
            return mpmath.exp(inner(exponent)) if base is sp.E else mpmath.power(inner(base), inner(exponent))
        if isinstance(part, sp.Sum):
            return mpmath.fsum(self.value(part.function, known, j) for j in range(len(self.thresholds)))
        if isinstance(part, sp.Piecewise):
            for case, condition in part.args:
                if condition is sp.S.true or self.is_met(condition, inner):
                    return inner(case)
            return mpmath.inf  # a rule without a case for x
        if isinstance(part, sp.Derivative):
            return self.slope(part, known, k)
        if isinstance(part, sp.Integral):
            return self.integral(part, known)
        if isinstance(part, sp.Limit):
            function, variable, place, side = part.args
            at = self.value(place, known)
            beside = at + (1 if str(side) == "+" else -1) * NEAR * self.truth.width
            return self.value(function, {**known, variable: at if at in self.ends else beside})
        if isinstance(part, AppliedUndef):
            return self.function(type(part).__name__, [inner(each) for each in part.args], k)
        if type(part).__name__ in FUNCTIONS:
            return FUNCTIONS[type(part).__name__](*map(inner, part.args))
        raise NotKnownError

    def is_met(self, condition, inner):
        left, right = map(inner, condition.args)
        room = CLOSE * sum(abs(side) for side in (left, right) if mpmath.isfinite(side))  # an end belongs to both
        return left <= right + room if isinstance(condition, sp.Le) else left >= right - room

    @property
    def ends(self):
        return (self.truth.low, self.truth.high)

    def slope(self, part, known, k):
        variable, *others = part.variables
        function = sp.Derivative(part.expr, *others) if others else part.expr
        at = self.value(variable, known, k)
        room = [abs(at - edge) for edge in (*self.ends, *self.truth.joints)] if variable not in (BUDGET, X) else []
        step = mpf(10) ** -(mp.dps // 4) * min(*room, self.truth.width, abs(at) or 1)
        if not step:
            raise NotKnownError
        before, after = (self.value(function, {**known, variable: at + side * step}, k) for side in (-1, 1))
        return (after - before) / (2 * step)

    def integral(self, part, known):
        variable, *ends = part.limits[0]
        low, high = (self.value(end, known) for end in ends)
        knots = [knot for knot in (*self.truth.joints, self.thresholds[self.owner]) if low < knot < high]
        with mp.workdps(50):  # an unbounded density loses half of them at its end
            at = {letter: self.letter(letter, None) for letter in (OTHER,)}
            return mpmath.quad(
                lambda t: self.value(part.function, {**known, **at, variable: t}), [low, *sorted(knots), high]
            )

    @cached_property
    def columns(self):
        theta, x, price = self.thresholds, self.costs, self.price
        epsilon = [price * each if price else each for each in x]
        stationary = [price * self.truth.cost(t) - e for t, e in zip(theta, epsilon, strict=True)]
        at_low, at_high = ([t == end for t in theta] for end in self.ends)
        if not self.is_optimal:
            return {
                EPSILONS: [mpf("1.3") * e for e in epsilon],
                THETAS: theta,
                MUS: [mpf("0.21") * e for e in epsilon],
                GAMMAS: [mpf("0.13") * e for e in epsilon],
            }
        if not price:
            stationary = [-e for e in epsilon]
        return {
            EPSILONS: epsilon,
            THETAS: theta,
            MUS: [max(s, mpf(0)) if is_low else mpf(0) for s, is_low in zip(stationary, at_low, strict=True)],
            GAMMAS: [max(-s, mpf(0)) if is_high else mpf(0) for s, is_high in zip(stationary, at_high, strict=True)],
        }

    def x(self, k):
        return self.columns[EPSILONS][k] / self.price if self.price else mpmath.inf

    def budget(self):
        spent = mpmath.fsum(t * self.truth.cdf(t) for t in self.thresholds)
        return spent if self.price else 2 * spent

    def letter(self, letter, k):
        own = self.owner if k is None else k
        if isinstance(letter, sp.Indexed):
            if letter.base in (INSIDE, AT_HIGH):
                at = self.thresholds[own]
                return mpf(at == self.truth.high if letter.base == AT_HIGH else self.truth.low < at < self.truth.high)
            return self.columns[letter.base][own]
        single = {EPSILON: EPSILONS, THETA: THETAS, CLIPPED_THRESHOLD: THETAS, MU: MUS, GAMMA: GAMMAS}
        if letter in single:
            return self.columns[single[letter]][own]
        if letter in self.parameters:
            return self.parameters[letter]
        t = self.thresholds[own]
        known = {
            X: lambda: self.x(own),
            ACCEPTANCE: lambda: self.truth.cdf(t),
            SPEND: lambda: t * self.truth.cdf(t) * (mpf("1.5") if self.step == "cvxpy-form" else 1),
            BUDGET: self.budget,
            LAMBDA: lambda: self.price,
            N: lambda: mpf(len(self.thresholds)),
            HEIGHT: lambda: mpf("1.7"),
            SHARE: lambda: mpf("0.3"),
            LOW: lambda: self.truth.low,
            HIGH: lambda: self.truth.high,
            OTHER: lambda: self.truth.low + mpf("0.37") * self.truth.width,
            REPORT: lambda: self.truth.low + mpf("0.61") * self.truth.width,
            VARIABLE: lambda: self.truth.low + mpf("0.45") * self.truth.width,
            LAGRANGIAN: self.lagrangian,
            LEFT: self.left_over,
        }
        if letter in known:
            return known[letter]()
        if letter.name in ANY:
            return mpf(ANY[letter.name])
        raise NotKnownError

    def lagrangian(self):
        own = range(len(self.thresholds))
        return mpmath.fsum(self.owner_lagrangian(k, self.thresholds[k]) for k in own) + self.price * self.budget()

    def owner_lagrangian(self, k, t):
        q, columns = self.truth.cdf(t), self.columns
        return (columns[EPSILONS][k] - self.price * t + columns[MUS][k]) * q + columns[GAMMAS][k] * (1 - q)

    def spend_at(self, x):
        t = self.truth.threshold(x)
        return t * self.truth.cdf(t)

    def left_over(self):
        """What owners inside spend beyond the constant part, which three prices tell."""
        inside = [k for k, t in enumerate(self.thresholds) if self.truth.low < t < self.truth.high]
        if not inside:
            raise NotKnownError
        at = self.x(inside[0])
        ratio = 1 + (at - self.truth.low) / at / 100
        first, second, third = (self.spend_at(at / ratio**k) for k in (2, 1, 0))
        growth = (third - second) / (second - first)
        constant = first - (second - first) / (growth - 1)
        return mpmath.fsum(self.spend_at(self.x(k)) - constant for k in inside)

    def price_at(self, budget):
        if budget not in self.memo:
            start = mpmath.log(self.price)

            def spent(log):
                return mpmath.fsum(
                    self.spend_at(self.columns[EPSILONS][k] / mpmath.exp(log)) for k in range(len(self.thresholds))
                )

            with mp.workdps(DIGITS - 40):
                a, b = start, start + mpf(10) ** -30
                for _ in range(6):
                    slope = spent(b) - spent(a)
                    if not slope:
                        break
                    a, b = b, b - (spent(b) - budget) * (b - a) / slope
            if abs(spent(b) - budget) > budget * mpf(10) ** -90:
                raise NotKnownError
            self.memo[budget] = mpmath.exp(b)
        return self.memo[budget]

    def function(self, name, arguments, k):
        truth, own = self.truth, self.owner if k is None else k
        high = truth.high

        def allocation(t):
            if self.step == "optimality":
                return mpf("0.8") * ((high - t) / truth.width) ** 2
            return mpf(t <= self.thresholds[own])

        def rent(t):
            if self.step == "optimality":
                return mpf("0.8") * (high - t) ** 3 / (3 * truth.width**2)
            return max(self.thresholds[own] - t, mpf(0))

        def payment(t):
            return t * allocation(t) + rent(t) + (truth.width / 10 if self.step == "optimality" else 0)

        known = {
            "cdf": truth.cdf,
            "pdf": truth.pdf,
            "virtual_cost": truth.cost,
            "quantile": truth.quantile,
            "cost_curve": lambda q: q * truth.quantile(q),
            "spend_curve": lambda t: t * truth.cdf(t),
            "threshold": truth.threshold,
            "threshold_of_spend": lambda b: truth.root(lambda t: t * truth.cdf(t), b, float(self.thresholds[own])),
            "allocation": allocation,
            "expected_payment": payment,
            "rent": rent,
            "utility": lambda report, t: payment(report) - t * allocation(report),
            "owner_lagrangian": lambda t: self.owner_lagrangian(own, t),
            "price": self.price_at,
            "value": lambda budget: mpmath.fsum(
                e * truth.cdf(truth.threshold(e / self.price_at(budget))) for e in self.columns[EPSILONS]
            ),
        }
        if name not in known:
            raise NotKnownError
        return known[name](*arguments)
