"""Statements evaluated at a solved instance, by the law's own functions."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from scipy import special
from sympy.core.function import AppliedUndef

from smqopt.algebra import (
    CLIPPED_THRESHOLD,
    INSIDE,
    OTHER,
    REPORT,
    THETA,
    THRESHOLD,
    Equation,
    Relation,
    X,
    values_at,
)
from smqopt.derivation.closed_form._instance_values import FLOOR, InstanceValues, NotKnownError
from smqopt.valuation import Valuation, reading_of

_CLOSE = 2e-5
"""Relative to the sizes of all terms: numbers are printed with six digits."""
UNBOUNDED = 1e12
"""In widths of the support: where F/f is more at an end, f = 0 there but for roundings."""
_LAST, _GROWTH = 16, 1.1
"""F/f that grows by this factor over so many doubles before high has no value there: a power of
what is but rounding."""
_DOUBLES = 8
"""By so many doubles a threshold may be rounded."""
_AROUND = 2.0**-46
"""Relative: as near as roundings of x come."""
_STEP = 1e-4
"""Of the width: how far apart a slope is taken; its error is of fourth order."""
_FACTORS = 4.0 ** np.arange(-4, 5)
"""Of that step: the steps tried where a statement seems to fail."""
_SLOPE = _CLOSE / 8
"""Relative: so well must the slopes of two steps agree."""
_BITS = 1 << 11
"""Of balls: 1 − q is told from 0 down to the least double."""
_NOTHING = 2.0**-1074
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_BESIDE = 1e-9
"""Of the width: how far from a joint a limit is taken."""
_THRESHOLDS = (THETA, REPORT, OTHER, CLIPPED_THRESHOLD)
_FUNCTIONS: Mapping[type[sp.Basic], Callable[..., Any]] = {
    sp.exp: np.exp,
    sp.log: np.log,
    sp.erf: special.erf,
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.asin: np.arcsin,
    sp.acos: np.arccos,
    sp.atan: np.arctan,
    sp.sinh: np.sinh,
    sp.cosh: np.cosh,
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


@functools.lru_cache(maxsize=4096)
def _is_number(part: sp.Basic) -> bool:
    """Tell once whether a part is a number or an infinity, for which SymPy seeks long."""
    return part in (sp.oo, -sp.oo) or bool(part.is_number)


@functools.lru_cache(maxsize=4096)
def _float(number: sp.Expr) -> float:
    """Evaluate a number once: one of many powers takes long. NaN where it is not real."""
    return float(number) if number.is_extended_real is not False else float("nan")


@dataclass(frozen=True, eq=False)
class SolvedInstance(InstanceValues):
    """Owners at their thresholds, at whom statements are evaluated."""

    joints: tuple[float, ...] = ()
    """Where F, f or a slope of f may jump; slopes are not taken across."""
    meeting: tuple[float, ...] = ()
    """Where pieces of the law's formulas meet; all of them are joints."""
    rests: bool = False
    """Whether the owner's threshold rests at a joint, as J jumps across her x there."""
    is_optimal: bool = True
    """Whether the thresholds are those of the price; else only identities are evaluated."""
    is_careful: bool = False
    """Whether formulas are evaluated in balls, slopes at several steps; only where doubles fail."""

    def holds(self, equation: Equation) -> bool | None:
        """Tell whether a statement holds here; None where a part of it has no value here.

        A statement says nothing outside its own domain.
        """
        sides = self.sides(equation)
        if sides is None:
            return None
        if self._leaves_support(equation):
            return False
        if np.isnan(sum(itertools.chain(*sides))) and self._leaves_reals(equation):  # or the doubles
            return False if self.is_careful else replace(self, is_careful=True).holds(equation)
        if not self.is_careful and self._fits(equation, sides) is False:
            return replace(self, is_careful=True).holds(equation)
        found = self._fits(equation, sides)
        return None if found is False and self._drowns(equation, sides) else found

    def _drowns(self, equation: Equation, sides: list[list[float]]) -> bool:
        """Tell whether a few doubles of a threshold explain what the sides differ by."""
        moved = []
        for end in (self.law.low, self.law.high):
            near = replace(self, thresholds=np.nextafter(self.thresholds, end)).sides(equation)
            moved.append(0.0 if near is None else max(abs(sum(a) - sum(b)) for a, b in zip(near, sides, strict=True)))
        left, right = map(sum, sides)
        return abs(left - right) <= _DOUBLES * min(moved)

    def _leaves_support(self, equation: Equation) -> bool:
        """Tell whether a statement on x speaks of θ*(x) where J takes no value x."""
        if not (self.is_regular and _is_on_costs(equation) and _asks_threshold(equation)):
            return False
        x, own = self._columns[X][self.owner], self._own
        low, high = (float(np.ravel(own.virtual_cost(end))[0]) for end in (own.low, own.high))
        return bool(x < low * (1 - _CLOSE) or (x > high * (1 + _CLOSE) and has_bounded_cost(own)))

    def _leaves_reals(self, equation: Equation) -> bool:
        """Tell whether a formula has no real value here, nor a few doubles on, either way."""
        near = [
            replace(self, epsilon=self.epsilon * side, thresholds=self.thresholds * side)
            for side in (1, 1 - _AROUND, 1 + _AROUND)
        ]
        return any(all(each.is_unreal(side) for each in near) for side in (equation.left, equation.right))

    def is_unreal(self, part: sp.Expr) -> bool:
        """Tell whether a part of a formula has no value, though its arguments are finite."""
        with np.errstate(all="ignore"):
            if part.has(sp.Piecewise):
                part = part.xreplace({each: self._case(each) for each in part.atoms(sp.Piecewise)})
            return not part.has(*_NO_FORMULA) and any(
                np.isnan(self._number(inner)) and all(self.value(argument) is not None for argument in inner.args)
                for inner in sp.preorder_traversal(part)
            )

    def _room(self, sides: list[list[float]]) -> float:
        return _CLOSE * sum(map(abs, itertools.chain(*sides))) + FLOOR * self._width

    def _fits(self, equation: Equation, sides: list[list[float]]) -> bool | None:
        left, right = map(sum, sides)
        if np.isinf(right) and equation.relation not in (Relation.AT_LEAST, Relation.AT_MOST):
            return None if np.isnan(left) else bool(left == right or np.sign(right) * left > UNBOUNDED * self._width)
        if np.isnan(right) and equation.left == CLIPPED_THRESHOLD:  # a rule without a case for x
            return False
        if np.isinf(left) and np.isfinite(right) and equation.relation is Relation.EQUAL and self._is_in_gap:
            return False
        if not (np.isfinite(left) and np.isfinite(right)):
            return None
        room = self._room(sides)
        if equation.relation is Relation.AT_LEAST:
            return bool(left >= right - room)
        return bool(left <= right + room if equation.relation is Relation.AT_MOST else abs(left - right) <= room)

    @functools.cached_property
    def _is_in_gap(self) -> bool:
        """Tell whether F is flat between the joints round the owner's threshold."""
        edges = np.array([np.ravel(self.law.low)[0], *self.joints, np.ravel(self.law.high)[0]])
        theta = self.thresholds[self.owner]
        around = [edges[edges <= theta][-1], *edges[edges > theta][:1]]
        return bool(np.ptp(self._own.cdf(np.array(around))) == 0 and len(around) > 1)

    def value(self, part: sp.Expr) -> float | None:
        """Evaluate a part of a statement; None where it has no finite value here."""
        try:
            with np.errstate(all="ignore"):
                found = self._number(part)
        except (NotKnownError, TypeError, ValueError):
            return None
        return found if np.isfinite(found) else None

    def is_tight(self, equation: Equation) -> bool:
        """Tell whether both sides of a statement are equal here, or have no value."""
        sides = self.sides(equation)
        if sides is None:
            return True
        left, right = map(sum, sides)
        return not abs(left - right) > _CLOSE * sum(map(abs, itertools.chain(*sides)))

    def sides(self, equation: Equation) -> list[list[float]] | None:
        """Evaluate the terms of both sides; None where the statement says nothing."""
        if self.price == 0 and self.step == "budget-price":  # which speaks of a budget that is spent
            return None
        rule = equation.relation is Relation.DEFINED and equation.left in (CLIPPED_THRESHOLD, THRESHOLD(X))
        if self.rests and not (rule or _is_on_costs(equation)):  # J has no one value there
            return None
        if not self.is_optimal and (not equation.every_law or equation.verdict is None or _asks_optimum(equation)):
            return None
        try:
            with np.errstate(all="ignore"):  # a part without a value makes no statement
                if not all(self._is_within(*(each.symbol, each.lower, each.upper)) for each in equation.domain):
                    return None
                parts = (equation.left, equation.right)
                return [[self._number(term) for term in _terms(part)] for part in parts]
        except (NotKnownError, TypeError, ValueError):
            return None

    def _is_within(self, inner: sp.Expr, lower: sp.Expr, upper: sp.Expr | None) -> bool:
        if isinstance(inner, sp.IndexedBase):
            return True
        everyone = bool(inner.atoms(sp.Indexed))
        value = self._value(inner, {}, summed=everyone)
        low, high = (self._number(end) if end is not None else np.inf for end in (lower, upper))
        return bool(np.all((value >= low) & (value <= high)))  # beside an end another formula may hold

    def _number(self, part: sp.Expr) -> float:
        if part.has(sp.Piecewise) and not part.has(sp.Derivative, sp.Integral, sp.Limit, sp.Sum):
            cases = {each: self._case(each) for each in part.atoms(sp.Piecewise)}
            return self._number(part.xreplace(cases))
        value = float(np.asarray(self._value(part, {})))
        is_known = part.has(*_NO_FORMULA) or part in (sp.oo, -sp.oo)
        return self._in_balls(part, value) if self.is_careful and not is_known else value

    def _case(self, cases: sp.Piecewise) -> sp.Expr:
        return next(case for case, condition in cases.args if self._is_met(condition, {}))

    def _in_balls(self, formula: sp.Expr, value: float) -> float:
        """Evaluate a formula anew in balls, as doubles may overflow or cancel.

        Numbers are read as those of the law's formulas are. At an end θ − low may be 0, and what
        depends on its sign is NaN.
        """
        known = {letter: float(self._letter(letter, summed=False)) for letter in formula.free_symbols}
        if not all(map(np.isfinite, known.values())):
            return value
        exact = formula.xreplace({number: sp.Rational(str(number)) for number in formula.atoms(sp.Float)})
        read = {letter: reading_of(self.law)(number) for letter, number in known.items()}
        (ball,) = values_at(exact, [{letter: Fraction(int(x.p), int(x.q)) for letter, x in read.items()}], _BITS)
        if not ball.is_finite():
            return float("nan")
        return float(ball.mid()) if ball.rad() <= max(_CLOSE * abs(ball.mid()), _NOTHING) else value

    def _value(self, part: sp.Basic, known: Mapping[sp.Basic, Any], *, summed: bool = False) -> Any:
        """Compute a part; within a sum over owners as an array with an entry an owner."""

        def value(inner: sp.Basic) -> Any:
            return self._value(inner, known, summed=summed)

        if part in known:
            return known[part]
        if _is_number(part):
            return _float(part)
        if isinstance(part, sp.Sum):
            if not self.whole or summed:
                raise NotKnownError
            return float(np.sum(self.weights * self._value(part.function, known, summed=True)))
        if isinstance(part, sp.Symbol | sp.Indexed):
            return self._letter(part, summed=summed)
        if part.is_Add or part.is_Mul:
            values = [value(inner) for inner in part.args]
            return functools.reduce(operator.add if part.is_Add else operator.mul, values)
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
        raise NotKnownError

    def _slope(self, part: sp.Derivative, known: Mapping[sp.Basic, Any]) -> Any:
        """Take a slope by differences, of fourth order."""
        variable, *others = part.variables
        inner = sp.Derivative(part.expr, *others, evaluate=False) if others else part.expr
        at = self._value(variable, known)
        step = (10.0 if others else 1.0) * _STEP * self._width
        edges = np.array([*self.joints, *np.ravel(self.law.low), *np.ravel(self.law.high)])
        room = np.min(abs(at - edges)) / 3 if variable in _THRESHOLDS and np.ndim(at) == 0 else np.inf

        def difference(step: Any) -> tuple[Any, float]:
            near = {k: self._value(inner, {**known, variable: at + k * step}) for k in (-2, -1, 1, 2)}
            slope = (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12 * step)
            return slope, float(np.max(np.spacing(np.abs(near[1]))) / step) if np.any(slope) else 0.0

        steps = step * (_FACTORS if self.is_careful else np.ones(1))
        grain = np.spacing(np.max(abs(at)) + 2 * steps)  # so that places are rounded by nothing
        slopes = [difference(each) for each in np.ceil(steps / grain) * grain if each < room]
        if slopes and not self.is_careful:
            return slopes[0][0]
        # too wide a step misses curvature, too narrow a one drowns in roundings: then it may show 0
        slopes = [each for each in slopes if np.any(each[0])] or slopes
        missed = [
            (float(np.max(abs(a - b)) - _SLOPE * np.max(abs(b))) + rounded, b)
            for (a, _), (b, rounded) in itertools.pairwise(slopes)
        ]
        found = [(miss, slope) for miss, slope in missed if miss <= FLOOR * self._width]
        if not found:
            raise NotKnownError
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
        if at in (low, high):
            return self._value(inner, {**known, variable: at})
        room = min(abs(at - edge) for edge in (low, high, *self.joints) if edge != at)
        beside = at + min(_BESIDE * self._width, room / 2) * (1 if str(side) == "+" else -1)
        return self._value(inner, {**known, variable: beside}) if beside != at else np.nan

    def _is_met(self, condition: sp.Basic, known: Mapping[sp.Basic, Any]) -> bool:
        if condition in (sp.S.true, sp.S.false):
            return bool(condition)
        left, right = (self._bound(side, known) for side in condition.args)
        return bool({sp.Le: left <= right, sp.Ge: left >= right, sp.Lt: left < right}[type(condition)])

    def _bound(self, side: sp.Expr, known: Mapping[sp.Basic, Any]) -> Any:
        """Compute a side of a case; in balls where doubles may overflow, or vanish."""
        value = self._value(side, known)
        is_plain = not known and not side.has(*_NO_FORMULA) and side not in (sp.oo, -sp.oo)
        return self._in_balls(side, float(value)) if self.is_careful and is_plain else value


def has_bounded_cost(law: Valuation) -> bool:
    """Tell whether J of the first owner is finite at high, as far as doubles tell."""
    width, high = (float(np.ravel(each)[0]) for each in (law.width, law.high))
    places = (high, high - _LAST * float(np.spacing(high)))
    at_high, before = (float(np.ravel(law.virtual_cost(theta))[0]) - theta for theta in places)
    return at_high < min(UNBOUNDED * width, _GROWTH * before)


def _is_on_costs(equation: Equation) -> bool:
    return any(each.symbol == X for each in equation.domain)


def _asks_threshold(equation: Equation) -> bool:
    return any(side.has(THRESHOLD(X)) for side in (equation.left, equation.right))


def _asks_optimum(equation: Equation) -> bool:
    return any(side.has(THRESHOLD, CLIPPED_THRESHOLD, INSIDE) for side in (equation.left, equation.right))


def _terms(part: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the terms of a sum, and the slopes of each term of what is differentiated."""
    for term in sp.Add.make_args(part):
        if isinstance(term, sp.Derivative) and term.expr.is_Add:
            yield from (sp.Derivative(inner, *term.variables, evaluate=False) for inner in term.expr.args)
        else:
            yield term
