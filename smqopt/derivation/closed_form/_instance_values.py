"""What letters and functions stand for at a solved instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import sympy as sp

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
    VARIABLE,
    N,
    X,
)
from smqopt.numeric import Floats
from smqopt.valuation import HIGH, LOW, Valuation

FLOOR = 1e-13
"""In widths of the support, or of a value: what halving and roundings leave of a zero."""
_HALVINGS = 80
_SECANTS, _SPENT = 8, 1e-12
"""Steps to the price of a budget, and how near its spend must come, relative."""
_NEARBY = 0.02
"""How far the logarithm of the price is looked for from that of the instance."""
_RATIO = 1.05
"""Between values of x from which the constant part of spend is found."""
_LEAST_RATIO = 1.001
"""With less, the constant part drowns in roundings."""
_PLACES = {OTHER: 0.37, REPORT: 0.61, VARIABLE: 0.45}
"""Where in the support letters for any threshold stand."""
_VALUATION = 0.53
"""Where a valuation stands in the step that compares reports."""
_ANY = {"w": 0.3, "q_1": 0.2, "q_2": 0.7, "C_1": 0.3, "C_2": 1.1, "C": 0.6, "slope": 0.9}
"""Numbers for letters that may be anything, by name."""


_OF_OWNER = {EPSILONS: EPSILON, THETAS: THETA, MUS: MU, GAMMAS: GAMMA}
"""The letter of one owner for the letters of all."""


class NotKnownError(ValueError):
    """A part that has no value at the instance."""


@dataclass(frozen=True, eq=False)
class InstanceValues:
    """The owners of one family of laws at their thresholds, as letters have it."""

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
    is_regular: bool = True
    """Whether each x = ε/λ belongs to one threshold."""

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
            ACCEPTANCE: _kept_values(self.law, "cdf", theta),
            SPEND: theta * _kept_values(self.law, "cdf", theta) * (1.5 if self.step == "cvxpy-form" else 1.0),
        }

    @cached_property
    def _numbers(self) -> dict[sp.Basic, float]:
        return {BUDGET: self.budget, LAMBDA: self.price, N: float(np.sum(self.weights)), HEIGHT: 1.7, SHARE: 0.3}

    def _letter(self, letter: sp.Basic, *, summed: bool) -> Any:
        columns = self._columns
        if isinstance(letter, sp.Indexed):
            if letter.base in (INSIDE, AT_HIGH):
                low, high = (
                    _kept_values(self.law, "virtual_cost", self.law.low),
                    _kept_values(self.law, "virtual_cost", self.law.high),
                )
                x = columns[X]
                column = ((x > low) & (x < high) if letter.base == INSIDE else x >= high).astype(float)
            elif letter.base in _OF_OWNER:
                column = columns[_OF_OWNER[letter.base]]
            else:
                raise NotKnownError
            return column if summed else float(column[self.owner])
        if letter in columns and letter not in self._anywhere:
            return columns[letter] if summed else float(columns[letter][self.owner])
        if letter in self._numbers:
            return self._numbers[letter]
        if letter in self.parameters:
            return self.parameters[letter]
        if letter in (LOW, HIGH):
            ends = np.broadcast_to(self.law.low if letter == LOW else self.law.high, self.thresholds.shape)
            return ends if summed else float(ends[self.owner])
        if letter in self._anywhere:
            return float(np.ravel(self.law.low)[0]) + self._anywhere[letter] * self._width
        if letter == LAGRANGIAN:
            return self._lagrangian()
        if letter == LEFT:
            return self._left_over()
        if isinstance(letter, sp.Symbol) and letter.name in _ANY:
            return _ANY[letter.name]
        raise NotKnownError

    @property
    def _anywhere(self) -> Mapping[sp.Symbol, float]:
        """Letters for any place of the support: a valuation too beside reports."""
        return _PLACES | {THETA: _VALUATION} if self.step == "incentives" else _PLACES

    def _lagrangian(self) -> float:
        q, theta = _kept_values(self.law, "cdf", self.thresholds), self.thresholds
        each = self.epsilon * q + self.lower_multiplier * q + self.upper_multiplier * (1 - q)
        return float(np.sum(self.weights * (each - self.price * theta * q))) + self.price * self.budget

    def _left_over(self) -> float:
        """Return what owners inside spend beyond the constant part."""
        x = self._columns[X]
        low, high = (
            _kept_values(self.law, "virtual_cost", self.law.low),
            _kept_values(self.law, "virtual_cost", self.law.high),
        )
        inside = (x > low) & (x < high)
        if not np.any(inside) or not self.is_regular or self.law.size is not None:
            raise NotKnownError
        at = x[inside][0]
        ratio = min(_RATIO, float(np.sqrt(2 * at / (at + np.ravel(low)[0]))))  # all three lie inside
        if ratio < _LEAST_RATIO:
            raise NotKnownError
        first, second, third = (self._spend_at(np.array(at / ratio**k)) for k in (2, 1, 0))
        growth = (third - second) / (second - first)
        constant = float(first - (second - first) / (growth - 1))
        return float(np.sum((self.weights * (self._spend_at(x) - constant))[inside]))

    def _spend_at(self, x: Floats) -> Floats:
        theta = self.law.inverse_virtual_cost(x)
        return np.asarray(theta * _kept_values(self.law, "cdf", theta))

    def _price_at(self, budget: float) -> float:
        """Find the price at which these owners spend a budget, by secants."""
        if not self.is_regular or not self.whole:
            raise NotKnownError
        if self.owner:  # it is the same for all
            raise NotKnownError
        ends = [np.log(self.price) + side * _NEARBY for side in (-1, 1)]
        over = [self._spent_at(np.exp(end)) - budget for end in ends]
        for _ in range(_SECANTS):
            slope = (over[1] - over[0]) / (ends[1] - ends[0]) if ends[1] != ends[0] else 0.0
            if slope == 0:
                break
            ends = [ends[1], ends[1] - over[1] / slope]
            over = [over[1], self._spent_at(np.exp(ends[1])) - budget]
        if not abs(over[1]) <= _SPENT * budget:
            raise NotKnownError
        return float(np.exp(ends[1]))

    def _spent_at(self, price: float) -> float:
        return float(np.sum(self.weights * self._spend_at(self.epsilon / price)))

    def _value_at(self, budget: float) -> float:
        theta = self.law.inverse_virtual_cost(self.epsilon / self._price_at(budget))
        return float(np.sum(self.weights * self.epsilon * _kept_values(self.law, "cdf", theta)))

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
        q = _kept_values(self.law, "cdf", theta) if self.law.size is None else _kept_values(self._own, "cdf", theta)
        mu, gamma = self.lower_multiplier[self.owner], self.upper_multiplier[self.owner]
        return self.epsilon[self.owner] * q - self.price * theta * q + mu * q + gamma * (1 - q)

    @cached_property
    def _own(self) -> Valuation:
        return self.law if self.law.size is None else self.law.take(np.array([self.owner], dtype=np.intp))

    def _function(self, name: str, arguments: list[Any], *, summed: bool) -> Any:
        law = self.law if summed else self._own
        known: dict[str, Callable[..., Any]] = {
            "cdf": partial(_kept_values, law, "cdf"),
            "pdf": partial(_kept_values, law, "pdf"),
            "virtual_cost": partial(_kept_values, law, "virtual_cost"),
            "quantile": partial(_kept_values, law, "ppf"),
            "cost_curve": lambda q: q * _kept_values(law, "ppf", q),
            "spend_curve": lambda theta: theta * _kept_values(law, "cdf", theta),
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
            raise NotKnownError
        found = np.asarray(known[name](*arguments), dtype=np.float64)
        is_array = summed or any(np.ndim(argument) for argument in arguments)
        return found if is_array else float(np.ravel(found)[0])

    def _threshold(self, law: Valuation, x: Any) -> Floats:
        if not self.is_regular:
            raise NotKnownError
        found = _kept_values(law, "inverse_virtual_cost", x)
        least, most = x * (1 + FLOOR), x * (1 - FLOOR)  # a cost at an end may be rounded in another order
        inside = np.all(
            (_kept_values(law, "virtual_cost", law.low) <= least)
            & (most <= _kept_values(law, "virtual_cost", law.high))
        )
        return found if np.ndim(x) or inside else np.full(found.shape, np.nan)


def _kept_values(law: Valuation, function: str, x: Any) -> Floats:
    """Evaluate a function of a law once at each place."""
    places = np.asarray(x, dtype=np.float64)
    return _values(law, function, places.shape, places.tobytes())


@lru_cache(maxsize=2048)
def _values(law: Valuation, function: str, shape: tuple[int, ...], places: bytes) -> Floats:
    return np.asarray(getattr(law, function)(np.frombuffer(places).reshape(shape).copy()))


def _root(law: Valuation, rises: Callable[[Floats], Floats], value: Any) -> Floats:
    """Find where a function that does not fall takes a value, within the support."""
    wanted = np.asarray(value, dtype=np.float64)
    low, high = (
        np.broadcast_to(np.asarray(end, dtype=np.float64), np.broadcast_shapes(wanted.shape, np.shape(end)))
        for end in (law.low, law.high)
    )
    start = low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = rises(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(rises(start) < wanted, high, start)
