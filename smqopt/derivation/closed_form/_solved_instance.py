"""Statements evaluated at a solved instance, by the law's own functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from scipy import special
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
    Equation,
    N,
    Relation,
    X,
    values_at,
)
from smqopt.numeric import Floats
from smqopt.valuation import HIGH, LOW, Valuation

_CLOSE = 2e-5
"""Relative to the sizes of all terms: numbers are printed with six digits."""
_FLOOR = 1e-13
"""In widths of the support, or of a value: what halving and roundings leave of a zero."""
UNBOUNDED = 1e12
"""In widths of the support: where F/f is more at an end, f = 0 there but for roundings."""
_LAST, _GROWTH = 16, 1.1
"""F/f that grows by this factor over so many doubles before high has no value there: a power of
what is but rounding."""
_HALVINGS = 80
_STEP = 1e-4
"""Of the width: how far apart a slope is taken; its error is of fourth order."""
_FACTORS = 4.0 ** np.arange(-4, 5)
"""Of that step: the steps tried where a statement seems to fail."""
_SLOPE = _CLOSE / 8
"""Relative: so well must the slopes of two steps agree."""
_BITS = 1 << 11
"""Of balls: 1 − q is told from 0 down to the least double."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_BESIDE = 1e-9
"""Of the width: how far from a joint a limit is taken."""
_NEARBY = 0.02
"""How far the logarithm of the price is looked for from that of the instance."""
_RATIO = 1.05
"""Between values of x from which the constant part of spend is found."""
_LEAST_RATIO = 1.001
"""With less, the constant part drowns in roundings."""
_THRESHOLDS = (THETA, REPORT, OTHER, CLIPPED_THRESHOLD)
_PLACES = {OTHER: 0.37, REPORT: 0.61, VARIABLE: 0.45}
"""Where in the support letters for any threshold stand."""
_ANY = {"w": 0.3, "q_1": 0.2, "q_2": 0.7, "C_1": 0.3, "C_2": 1.1, "C": 0.6, "slope": 0.9}
"""Numbers for letters that may be anything, by name."""
_FUNCTIONS: Mapping[type[sp.Basic], Callable[..., Any]] = {
    sp.exp: np.exp,
    sp.log: np.log,
    sp.erf: special.erf,
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.tanh: np.tanh,
    sp.Abs: np.abs,
    sp.LambertW: lambda u: special.lambertw(u).real,
    sp.beta: special.beta,
    sp.gamma: special.gamma,
    sp.lowergamma: lambda s, x: special.gammainc(s, x) * special.gamma(s),
    sp.betainc: lambda a, b, low, high: (special.betainc(a, b, high) - special.betainc(a, b, low)) * special.beta(a, b),
}


_NO_FORMULA = (AppliedUndef, sp.Derivative, sp.Integral, sp.Limit, sp.Sum, sp.Piecewise, sp.Indexed)
"""What is evaluated by the law's own functions, or by cases."""


class _NotKnownError(ValueError):
    """A part that has no value at the instance."""


@dataclass(frozen=True, eq=False)
class SolvedInstance:
    """The owners of one family of laws at their thresholds."""

    law: Valuation
    owner: int
    """The owner of whom symbols without an index speak, from 0."""
    epsilon: Floats
    thresholds: Floats
    lower_multiplier: Floats
    upper_multiplier: Floats
    weights: Floats
    price: float
    budget: float
    whole: bool
    """Whether these are all owners of the market, so that sums over owners are theirs."""
    parameters: Mapping[sp.Symbol, float] = field(default_factory=dict)
    """What the letters of the law stand for, if they are not put in."""
    step: str = ""
    """The step whose letters are meant: in one the allocation is that of a threshold, in another
    any; in one spend may exceed the cost."""
    joints: tuple[float, ...] = ()
    """Where F, f or a slope of f may jump; slopes are not taken across."""
    rests: bool = False
    """Whether the owner's threshold rests at a joint, as J jumps across her x there."""
    is_optimal: bool = True
    """Whether the thresholds are those of the price; else only identities are evaluated."""
    is_regular: bool = True
    """Whether each x = ε/λ belongs to one threshold."""
    is_careful: bool = False
    """Whether formulas are evaluated in balls, slopes at several steps; only where doubles fail."""

    def holds(self, equation: Equation) -> bool | None:
        """Tell whether a statement holds here; None where a part of it has no value here.

        A statement says nothing outside its own domain.
        """
        sides = self._sides(equation)
        if sides is None:
            return None
        if not self.is_careful and self._fits(equation, sides) is False:
            return replace(self, is_careful=True).holds(equation)
        return self._fits(equation, sides)

    def _fits(self, equation: Equation, sides: list[list[float]]) -> bool | None:
        left, right = map(sum, sides)
        if np.isinf(right) and equation.relation not in (Relation.AT_LEAST, Relation.AT_MOST):
            return None if np.isnan(left) else bool(left == right or np.sign(right) * left > UNBOUNDED * self._width)
        if np.isnan(right) and equation.left == CLIPPED_THRESHOLD:  # a rule without a case for x
            return False
        if not (np.isfinite(left) and np.isfinite(right)):
            return None
        room = _CLOSE * sum(map(abs, itertools.chain(*sides))) + _FLOOR * self._width
        if equation.relation is Relation.AT_LEAST:
            return bool(left >= right - room)
        return bool(left <= right + room if equation.relation is Relation.AT_MOST else abs(left - right) <= room)

    def is_tight(self, equation: Equation) -> bool:
        """Tell whether both sides of a statement are equal here, or have no value."""
        sides = self._sides(equation)
        if sides is None:
            return True
        left, right = map(sum, sides)
        return not abs(left - right) > _CLOSE * sum(map(abs, itertools.chain(*sides)))

    def _sides(self, equation: Equation) -> list[list[float]] | None:
        if self.price == 0 and self.step == "budget-price":  # which speaks of a budget that is spent
            return None
        rule = equation.relation is Relation.DEFINED and equation.left in (CLIPPED_THRESHOLD, THRESHOLD(X))
        if self.rests and not rule:  # J has no one value there
            return None
        if not self.is_optimal and (not equation.every_law or equation.verdict is None or _asks_optimum(equation)):
            return None
        try:
            with np.errstate(all="ignore"):  # a part without a value makes no statement
                if not all(self._is_within(*(each.symbol, each.lower, each.upper)) for each in equation.domain):
                    return None
                parts = (equation.left, equation.right)
                return [[self._number(term) for term in _terms(part)] for part in parts]
        except (_NotKnownError, TypeError, ValueError):
            return None

    def _is_within(self, inner: sp.Expr, lower: sp.Expr, upper: sp.Expr | None) -> bool:
        if isinstance(inner, sp.IndexedBase):
            return True
        everyone = bool(inner.atoms(sp.Indexed))
        value = self._value(inner, {}, summed=everyone)
        low, high = (self._number(end) if end is not None else np.inf for end in (lower, upper))
        room = _CLOSE * (abs(low) + (abs(high) if np.isfinite(high) else 0.0))
        return bool(np.all((value >= low - room) & (value <= high + room)))

    def _number(self, part: sp.Expr) -> float:
        value = float(np.asarray(self._value(part, {})))
        return self._in_balls(part, value) if self.is_careful and not part.has(*_NO_FORMULA) else value

    def _in_balls(self, formula: sp.Expr, value: float) -> float:
        """Evaluate a formula anew in balls, as doubles may overflow or cancel."""
        known = {letter: float(self._letter(letter, summed=False)) for letter in formula.free_symbols}
        if not all(map(np.isfinite, known.values())):
            return value
        (ball,) = values_at(formula, [{letter: Fraction(number) for letter, number in known.items()}], _BITS)
        return float(ball.mid()) if ball.is_finite() and ball.rad() <= _CLOSE * abs(ball.mid()) else value

    def _value(self, part: sp.Basic, known: Mapping[sp.Basic, Any], *, summed: bool = False) -> Any:
        """Compute a part; within a sum over owners as an array with an entry an owner."""

        def value(inner: sp.Basic) -> Any:
            return self._value(inner, known, summed=summed)

        if part in known:
            return known[part]
        if part in (sp.oo, -sp.oo) or part.is_number:
            return float(part)
        if isinstance(part, sp.Sum):
            if not self.whole or summed:
                raise _NotKnownError
            return float(np.sum(self.weights * self._value(part.function, known, summed=True)))
        if isinstance(part, sp.Symbol | sp.Indexed):
            return self._letter(part, summed=summed)
        if part.is_Add or part.is_Mul:
            values = [value(inner) for inner in part.args]
            return sum(values) if part.is_Add else np.prod(np.broadcast_arrays(*values), axis=0)
        if isinstance(part, sp.Pow):
            return np.power(value(part.base), value(part.exp))
        if isinstance(part, AppliedUndef):
            return self._function(type(part).__name__, [value(inner) for inner in part.args], summed=summed)
        if isinstance(part, sp.Derivative | sp.Integral | sp.Limit):
            take = {sp.Derivative: self._slope, sp.Integral: self._integral, sp.Limit: self._limit}[type(part)]
            return take(part, known)
        if isinstance(part, sp.Piecewise) and not summed:
            return next(value(case) for case, condition in part.args if self._is_met(condition, known))
        if type(part) in _FUNCTIONS:
            return _FUNCTIONS[type(part)](*(value(inner) for inner in part.args))
        raise _NotKnownError

    def _slope(self, part: sp.Derivative, known: Mapping[sp.Basic, Any]) -> Any:
        """Take a slope by differences, of fourth order."""
        variable, *others = part.variables
        inner = sp.Derivative(part.expr, *others, evaluate=False) if others else part.expr
        at = self._value(variable, known)
        step = (10.0 if others else 1.0) * _STEP * self._width
        edges = np.array([*self.joints, *np.ravel(self.law.low), *np.ravel(self.law.high)])
        room = np.min(abs(at - edges)) / 3 if variable in _THRESHOLDS and np.ndim(at) == 0 else np.inf

        def difference(step: Any) -> Any:
            near = {k: self._value(inner, {**known, variable: at + k * step}) for k in (-2, -1, 1, 2)}
            return (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12 * step)

        steps = step * (_FACTORS if self.is_careful else np.ones(1))
        slopes = [difference(each) for each in steps if each < room]
        if slopes and not self.is_careful:
            return slopes[0]
        # too wide a step misses curvature, too narrow a one drowns in roundings: then it may show 0
        slopes = [slope for slope in slopes if np.any(slope)] or slopes
        missed = [(float(np.max(abs(a - b)) - _SLOPE * np.max(abs(b))), b) for a, b in itertools.pairwise(slopes)]
        found = [(miss, slope) for miss, slope in missed if miss <= _FLOOR * self._width]
        if not found:
            raise _NotKnownError
        return min(found, key=lambda each: each[0])[1]

    def _integral(self, part: sp.Integral, known: Mapping[sp.Basic, Any]) -> float:
        """Integrate by Gauss's rule between the threshold and the joints."""
        variable, *ends = part.limits[0]
        low, high = (float(self._value(end, known)) for end in ends)
        knots = [*self.joints, float(self.thresholds[self.owner])]
        edges = [low, *sorted({knot for knot in knots if low < knot < high}), high]
        total = 0.0
        for a, b in itertools.pairwise(edges):
            # the substitution clusters nodes at both ends, where a density may be unbounded
            t = (1 + _NODES) / 2
            places, slope = a + (b - a) * t**3 * (10 - 15 * t + 6 * t**2), 30 * t**2 * (1 - t) ** 2
            values = np.broadcast_to(self._value(part.function, {**known, variable: places}), places.shape)
            total += float(np.sum(_WEIGHTS * slope * values)) * (b - a) / 2
        return total

    def _limit(self, part: sp.Limit, known: Mapping[sp.Basic, Any]) -> Any:
        inner, variable, place, side = part.args
        at = float(self._value(place, known))
        low, high = (float(np.ravel(end)[0]) for end in (self.law.low, self.law.high))
        if at == high and not has_bounded_cost(self.law):
            value = self._value(inner, {**known, variable: at})
            return value if value - high >= UNBOUNDED * self._width else np.nan
        beside = 0.0 if at in (low, high) else _BESIDE * self._width * (1 if str(side) == "+" else -1)
        return self._value(inner, {**known, variable: at + beside})

    def _is_met(self, condition: sp.Basic, known: Mapping[sp.Basic, Any]) -> bool:
        if condition in (sp.S.true, sp.S.false):
            return bool(condition)
        left, right = (self._value(side, known) for side in condition.args)
        return bool({sp.Le: left <= right, sp.Ge: left >= right, sp.Lt: left < right}[type(condition)])

    @cached_property
    def _width(self) -> float:
        return float(np.ravel(self.law.width)[0])

    @cached_property
    def _columns(self) -> dict[sp.Basic, Floats]:
        theta, price = self.thresholds, self.price
        return {
            EPSILON: self.epsilon,
            THETA: theta,
            CLIPPED_THRESHOLD: theta,
            MU: self.lower_multiplier,
            GAMMA: self.upper_multiplier,
            X: self.epsilon / price if price > 0 else np.full(theta.shape, np.inf),
            ACCEPTANCE: self.law.cdf(theta),
            SPEND: theta * self.law.cdf(theta) * (1.5 if self.step == "cvxpy-form" else 1.0),
        }

    def _letter(self, letter: sp.Basic, *, summed: bool) -> Any:
        columns = self._columns
        bases = {EPSILONS: EPSILON, THETAS: THETA, MUS: MU, GAMMAS: GAMMA}
        if isinstance(letter, sp.Indexed):
            if letter.base in (INSIDE, AT_HIGH):
                low, high = self.law.virtual_cost(self.law.low), self.law.virtual_cost(self.law.high)
                x = columns[X]
                column = ((x > low) & (x < high) if letter.base == INSIDE else x >= high).astype(float)
            elif letter.base in bases:
                column = columns[bases[letter.base]]
            else:
                raise _NotKnownError
            return column if summed else float(column[self.owner])
        if letter in columns:
            return columns[letter] if summed else float(columns[letter][self.owner])
        numbers = {BUDGET: self.budget, LAMBDA: self.price, N: float(np.sum(self.weights)), HEIGHT: 1.7, SHARE: 0.3}
        if letter in numbers:
            return numbers[letter]
        if letter in self.parameters:
            return self.parameters[letter]
        if letter in (LOW, HIGH):
            ends = np.broadcast_to(self.law.low if letter == LOW else self.law.high, self.thresholds.shape)
            return ends if summed else float(ends[self.owner])
        if letter in _PLACES:
            return float(np.ravel(self.law.low)[0]) + _PLACES[letter] * self._width
        if letter == LAGRANGIAN:
            return self._lagrangian()
        if letter == LEFT:
            return self._left_over()
        if isinstance(letter, sp.Symbol) and letter.name in _ANY:
            return _ANY[letter.name]
        raise _NotKnownError

    def _lagrangian(self) -> float:
        q, theta = self.law.cdf(self.thresholds), self.thresholds
        each = self.epsilon * q + self.lower_multiplier * q + self.upper_multiplier * (1 - q)
        return float(np.sum(self.weights * (each - self.price * theta * q))) + self.price * self.budget

    def _left_over(self) -> float:
        """Return what owners inside spend beyond the constant part."""
        x = self._columns[X]
        low, high = self.law.virtual_cost(self.law.low), self.law.virtual_cost(self.law.high)
        inside = (x > low) & (x < high)
        if not np.any(inside) or not self.is_regular or self.law.size is not None:
            raise _NotKnownError
        at = x[inside][0]
        ratio = min(_RATIO, float(np.sqrt(2 * at / (at + np.ravel(low)[0]))))  # all three lie inside
        if ratio < _LEAST_RATIO:
            raise _NotKnownError
        first, second, third = (self._spend_at(np.array(at / ratio**k)) for k in (2, 1, 0))
        growth = (third - second) / (second - first)
        constant = float(first - (second - first) / (growth - 1))
        return float(np.sum((self.weights * (self._spend_at(x) - constant))[inside]))

    def _spend_at(self, x: Floats) -> Floats:
        theta = self.law.inverse_virtual_cost(x)
        return np.asarray(theta * self.law.cdf(theta))

    def _price_at(self, budget: float) -> float:
        """Find the price at which these owners spend a budget, by halving."""
        if not self.is_regular or not self.whole:
            raise _NotKnownError
        if self.owner:  # it is the same for all
            raise _NotKnownError
        low, high = np.log(self.price) - _NEARBY, np.log(self.price) + _NEARBY
        for _ in range(_HALVINGS // 2):
            middle = (low + high) / 2
            spent = float(np.sum(self.weights * self._spend_at(self.epsilon / np.exp(middle))))
            low, high = (middle, high) if spent > budget else (low, middle)
        return float(np.exp(low))

    def _value_at(self, budget: float) -> float:
        theta = self.law.inverse_virtual_cost(self.epsilon / self._price_at(budget))
        return float(np.sum(self.weights * self.epsilon * self.law.cdf(theta)))

    def _allocation(self, report: Any) -> Any:
        """Return Q: of the threshold, or one that falls if any is meant."""
        if self.step == "optimality":
            return 0.8 * ((np.ravel(self.law.high)[0] - report) / self._width) ** 2
        return np.asarray(report <= self.thresholds[self.owner], dtype=np.float64)

    def _rent(self, report: Any) -> Any:
        high = np.ravel(self.law.high)[0]
        if self.step == "optimality":
            return 0.8 * (high - report) ** 3 / (3 * self._width**2)
        return np.maximum(self.thresholds[self.owner] - report, 0.0)

    def _payment(self, report: Any) -> Any:
        at_high = 0.1 * self._width if self.step == "optimality" else 0.0
        return report * self._allocation(report) + self._rent(report) + at_high

    def _owner_lagrangian(self, theta: Any) -> Any:
        """Return what owner i adds to L: her privacy, less her spend, and her multipliers."""
        q = self.law.cdf(theta) if self.law.size is None else self._own.cdf(theta)
        mu, gamma = self.lower_multiplier[self.owner], self.upper_multiplier[self.owner]
        return self.epsilon[self.owner] * q - self.price * theta * q + mu * q + gamma * (1 - q)

    @cached_property
    def _own(self) -> Valuation:
        return self.law if self.law.size is None else self.law.take(np.array([self.owner], dtype=np.intp))

    def _function(self, name: str, arguments: list[Any], *, summed: bool) -> Any:
        law = self.law if summed else self._own
        known: dict[str, Callable[..., Any]] = {
            "cdf": law.cdf,
            "pdf": law.pdf,
            "virtual_cost": law.virtual_cost,
            "quantile": law.ppf,
            "cost_curve": lambda q: q * law.ppf(q),
            "spend_curve": lambda theta: theta * law.cdf(theta),
            "threshold": lambda x: self._threshold(law, x),
            "threshold_of_spend": lambda b: _root(law, lambda theta: theta * law.cdf(theta), b),
            "allocation": self._allocation,
            "expected_payment": self._payment,
            "rent": self._rent,
            "utility": lambda report, theta: self._payment(report) - theta * self._allocation(report),
            "owner_lagrangian": self._owner_lagrangian,
            "price": self._price_at,
            "value": self._value_at,
        }
        if name not in known:
            raise _NotKnownError
        found = np.asarray(known[name](*arguments), dtype=np.float64)
        is_array = summed or any(np.ndim(argument) for argument in arguments)
        return found if is_array else float(np.ravel(found)[0])

    def _threshold(self, law: Valuation, x: Any) -> Floats:
        if not self.is_regular:
            raise _NotKnownError
        found = np.asarray(law.inverse_virtual_cost(x))
        least, most = x * (1 + _FLOOR), x * (1 - _FLOOR)  # a cost at an end may be rounded in another order
        inside = np.all((law.virtual_cost(law.low) <= least) & (most <= law.virtual_cost(law.high)))
        return found if np.ndim(x) or inside else np.full(found.shape, np.nan)


def has_bounded_cost(law: Valuation) -> bool:
    """Tell whether J of the first owner is finite at high, as far as doubles tell."""
    width, high = (float(np.ravel(each)[0]) for each in (law.width, law.high))
    places = (high, high - _LAST * float(np.spacing(high)))
    at_high, before = (float(np.ravel(law.virtual_cost(theta))[0]) - theta for theta in places)
    return at_high < min(UNBOUNDED * width, _GROWTH * before)


def _asks_optimum(equation: Equation) -> bool:
    return any(side.has(THRESHOLD, CLIPPED_THRESHOLD, INSIDE) for side in (equation.left, equation.right))


def _terms(part: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the terms of a sum, and the slopes of each term of what is differentiated."""
    for term in sp.Add.make_args(part):
        if isinstance(term, sp.Derivative) and term.expr.is_Add:
            yield from (sp.Derivative(inner, *term.variables, evaluate=False) for inner in term.expr.args)
        else:
            yield term


def _root(law: Valuation, rises: Callable[[Floats], Floats], value: Any) -> Floats:
    """Find where a function that does not fall takes a value, within the support."""
    wanted = np.asarray(value, dtype=np.float64)
    low, high = (
        np.broadcast_to(np.asarray(end, dtype=np.float64), np.broadcast_shapes(wanted.shape, np.shape(end)))
        for end in (law.low, law.high)
    )
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = rises(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high)
