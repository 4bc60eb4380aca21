"""Statements evaluated at a solved instance, by the law's own functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    INSIDE,
    LAMBDA,
    MU,
    MUS,
    SPEND,
    THETA,
    THETAS,
    Equation,
    N,
    Relation,
    X,
)
from smqopt.numeric import Floats
from smqopt.valuation import Valuation

_CLOSE = 2e-5
"""Relative to the sizes of all terms: numbers are printed with six digits."""
_HALVINGS = 80
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

    def holds(self, equation: Equation) -> bool | None:
        """Tell whether a statement holds here; None where a part of it has no value here."""
        try:
            with np.errstate(all="ignore"):  # a part without a value makes no statement
                sides = [
                    [self._number(term) for term in sp.Add.make_args(part)] for part in (equation.left, equation.right)
                ]
        except (_NotKnownError, TypeError, ValueError):
            return None
        left, right = map(sum, sides)
        if not (np.isfinite(left) and np.isfinite(right)):
            return None
        room = _CLOSE * sum(map(abs, itertools.chain(*sides)))
        if equation.relation is Relation.AT_LEAST:
            return left >= right - room
        return left <= right + room if equation.relation is Relation.AT_MOST else abs(left - right) <= room

    def _number(self, part: sp.Expr) -> float:
        return float(np.asarray(self._value(part, {})))

    def _value(self, part: sp.Basic, known: Mapping[sp.Basic, Any], *, summed: bool = False) -> Any:
        """Compute a part; within a sum over owners as an array with an entry an owner."""

        def value(inner: sp.Basic) -> Any:
            return self._value(inner, known, summed=summed)

        if part in known:
            return known[part]
        if part.is_number:
            return float(part)
        if isinstance(part, sp.Sum):
            if not self.whole or summed:
                raise _NotKnownError
            return float(np.sum(self.weights * self._value(part.function, known, summed=True)))
        if isinstance(part, sp.Symbol | sp.Indexed):
            return self._letter(part, summed=summed)
        if isinstance(part, sp.Add | sp.Mul):
            values = [value(inner) for inner in part.args]
            return sum(values) if part.is_Add else np.prod(np.broadcast_arrays(*values), axis=0)
        if isinstance(part, sp.Pow):
            with np.errstate(all="ignore"):
                return np.power(value(part.base), value(part.exp))
        if isinstance(part, AppliedUndef):
            return self._function(type(part).__name__, [value(inner) for inner in part.args], summed=summed)
        if isinstance(part, sp.Piecewise) and not summed:
            return next(value(case) for case, condition in part.args if self._is_met(condition, known))
        if type(part) in _FUNCTIONS:
            return _FUNCTIONS[type(part)](*(value(inner) for inner in part.args))
        raise _NotKnownError

    def _is_met(self, condition: sp.Basic, known: Mapping[sp.Basic, Any]) -> bool:
        if condition in (sp.S.true, sp.S.false):
            return bool(condition)
        left, right = (self._value(side, known) for side in condition.args)
        return bool({sp.Le: left <= right, sp.Ge: left >= right, sp.Lt: left < right}[type(condition)])

    def _letter(self, letter: sp.Basic, *, summed: bool) -> Any:
        theta, price = self.thresholds, self.price
        columns = {
            EPSILON: self.epsilon,
            THETA: theta,
            CLIPPED_THRESHOLD: theta,
            MU: self.lower_multiplier,
            GAMMA: self.upper_multiplier,
            X: self.epsilon / price if price > 0 else np.full(theta.shape, np.inf),
            ACCEPTANCE: self.law.cdf(theta),
            SPEND: theta * self.law.cdf(theta),
        }
        low, high = self.law.virtual_cost(self.law.low), self.law.virtual_cost(self.law.high)
        at_high = (columns[X] >= high).astype(float)
        inside = ((columns[X] > low) & (columns[X] < high)).astype(float)
        bases = {EPSILONS: EPSILON, THETAS: THETA, MUS: MU, GAMMAS: GAMMA}
        if isinstance(letter, sp.Indexed):
            if letter.base in (INSIDE, AT_HIGH):
                column = inside if letter.base == INSIDE else at_high
            elif letter.base in bases:
                column = columns[bases[letter.base]]
            else:
                raise _NotKnownError
        elif letter in columns:
            column = columns[letter]
        elif letter in (BUDGET, LAMBDA, N):
            return {BUDGET: self.budget, LAMBDA: price, N: float(np.sum(self.weights))}[letter]
        else:
            raise _NotKnownError
        return column if summed else float(column[self.owner])

    def _function(self, name: str, arguments: list[Any], *, summed: bool) -> Any:
        law = self.law if summed or self.law.size is None else self.law.take(np.array([self.owner], dtype=np.intp))
        known: dict[str, Callable[..., Any]] = {
            "cdf": law.cdf,
            "pdf": law.pdf,
            "virtual_cost": law.virtual_cost,
            "quantile": law.ppf,
            "cost_curve": lambda q: q * law.ppf(q),
            "spend_curve": lambda theta: theta * law.cdf(theta),
            "threshold": lambda x: _root(law, law.virtual_cost, x) if summed or _is_inside(law, x) else np.nan,
            "threshold_of_spend": lambda b: _root(law, lambda theta: theta * law.cdf(theta), b),
        }
        if name not in known:
            raise _NotKnownError
        found = np.asarray(known[name](*arguments), dtype=np.float64)
        return found if summed else float(np.ravel(found)[0])


def _is_inside(law: Valuation, x: float) -> bool:
    return bool(np.all((law.virtual_cost(law.low) <= x) & (x <= law.virtual_cost(law.high))))


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
