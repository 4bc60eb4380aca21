"""The law that a formula for its cdf gives."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Self, cast, final

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from smqopt.algebra import (
    THETA,
    Evaluation,
    FormulaEquation,
    factor_fraction,
    has_long_exponents,
    might_be_inverted,
    sharpest,
)
from smqopt.numeric import Floats
from smqopt.valuation.expression._information_rent import information_rent
from smqopt.valuation.expression._symbolic_law import symbolic_law
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import Irregular, Regular, Verdict
from smqopt.valuation.monotonicity._virtual_cost import decide_regularity

Given = Mapping[str, float | Floats]

TRIAL_SHARES = (2.0**-30, 2.0**-10, 0.25, 0.75, 1 - 2.0**-10, 1 - 2.0**-30)
"""Where in the support equal forms of a formula are compared."""
_CDF, _PDF, _RENT = 0, 1, 2
"""Places of F, f and F/f among the evaluations."""


@final
class FormulaLaw(Valuation):
    """The law of unit·θ, where θ has the cdf that a formula gives on [low, high]; made by `from_cdf`.

    `low` and `high` are in currency: unit times the ends that were given. In `parameters` and
    `formula` a unit other than 1 stands as one more parameter.
    """

    name = "formula"
    ends_are_symbols = False

    _invertible: bool | None

    @property
    def has_closed_form(self) -> bool:  # type: ignore[override]
        """Whether J might be inverted by a formula, by the looks of F/f."""
        if self._invertible is None:
            F, _, rent = (evaluation.expression for evaluation in self.evaluations())
            self._invertible = might_be_inverted(THETA + rent, THETA) and not has_long_exponents(F, THETA)
        return self._invertible

    unit: float | Floats
    text: str
    """The formula as given, in which θ counts in units."""

    def __init__(self, text: str, names: tuple[str, ...], given: Given) -> None:
        self.text = text
        self.parameters = ("low", "high", *names, "unit")  # type: ignore[misc]
        self._values = dict(given)
        self.unit = given["unit"]
        self.low, self.high = _product(given["low"], self.unit), _product(given["high"], self.unit)
        self.formula = text if np.all(np.asarray(self.unit) == 1.0) else _in_units(text)
        self._verdict: Verdict | None = None
        self._highest_rent: Floats | None = None
        self._invertible = None
        self._evaluations: tuple[Evaluation, Evaluation, Evaluation] | None = None

    def __getattr__(self, name: str) -> float | Floats:
        values: Given = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def evaluations(self) -> tuple[Evaluation, Evaluation, Evaluation]:
        """Give F, f and F/f as functions of θ and the parameters, all in units."""
        if self._evaluations is None:
            # with numbers for the ends SymPy would multiply them out, and lose θ − low = 0 at low; 0 and 1 do no harm
            plain = self._values["low"] == 0.0 and self._values["high"] == 1.0 if self.size is None else False
            in_units = self._with(**{**self._values, "unit": 1.0})
            generic = symbolic_law(in_units, ends_are_symbols=not plain)
            spelt = generic.with_width()
            rent = spelt.without_width(information_rent(spelt.cdf, spelt.pdf))
            symbols = tuple(generic.parameters.values())
            example = tuple(_first(self._values[name]) for name in ("low", "high", *map(str, symbols)))
            self._evaluations = _evaluations(generic.cdf, spelt.without_width(spelt.pdf), rent, symbols, example)
        return self._evaluations

    def cdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        F = self._call(_CDF, self._in_support(theta))
        return np.where(theta <= self.low, 0.0, np.where(theta >= self.high, 1.0, np.clip(F, 0.0, 1.0)))

    def pdf(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        inside = (theta >= self.low) & (theta <= self.high)
        x = self._in_support(np.where(inside, theta, self.low))
        f = self._call(_PDF, x)
        if np.any(np.isnan(f)):  # an end at which the formula says 0/0: its neighbour inside stands for the limit
            middle = 0.5 * (self._values["low"] + self._values["high"])
            f = np.where(np.isnan(f), self._call(_PDF, np.nextafter(x, middle)), f)
        return np.where(inside, np.maximum(f, 0.0) / self.unit, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        good = (u >= 0) & (u <= 1)
        theta = self._solved(_CDF, np.where(good, u, 0.0), 0.0, 1.0)
        return np.where(good, theta, np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        theta = np.asarray(t, dtype=np.float64)
        inside = (theta >= self.low) & (theta <= self.high)
        x = self._in_support(np.where(inside, theta, self.low))
        rent = np.where(theta >= self.high, self._rent_at_high(), self._call(_RENT, x))
        return np.where(inside, theta + np.where(theta <= self.low, 0.0, self.unit * rent), np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        price = np.asarray(v, dtype=np.float64)
        cost_at_high = self._values["high"] + self._rent_at_high()
        return self._solved(_RENT, np.asarray(price / self.unit), self._values["low"], cost_at_high)

    def inverse_virtual_cost_between(self, v: Floats, low: Floats, high: Floats) -> Floats:
        """Give the threshold from low to high at which J = v, where J rises from one to the other; all of shape (m,)."""
        arguments = [np.broadcast_to(argument, v.shape) for argument in self._arguments()]
        equation = FormulaEquation(self.evaluations()[_RENT], np.asarray(v / self.unit), arguments, with_theta=True)
        ends = (np.broadcast_to(self._values[end], v.shape) for end in ("low", "high"))
        bottom, top = ends
        x = equation.solve(bottom, high / self.unit, top, start=np.asarray(low / self.unit))
        return np.clip(x * self.unit, low, high)

    def scaled(self, factor: float) -> Self:
        return self._with(**{**self._values, "unit": factor * self.unit})

    def regularity(self) -> Verdict:
        """Decide the regularity, once: in units, for the numbers actually given."""
        if self._verdict is None:
            verdict = decide_regularity(self._with(**{**self._values, "unit": 1.0}))
            if isinstance(verdict, Irregular):
                unit = float(np.broadcast_to(self.unit, self.size or 1)[verdict.owner or 0])
                first, second = (unit * t for t in verdict.witness)
                costs = (unit * verdict.virtual_costs[0], unit * verdict.virtual_costs[1])
                verdict = Irregular(verdict.method, (first, second), costs, verdict.owner)
            self._verdict = verdict
        return self._verdict

    @property
    def family(self) -> Hashable:
        return (type(self), self.text, self.parameters)

    def stacked(self, laws: Sequence[Valuation]) -> Valuation:
        law = cast("FormulaLaw", super().stacked(laws))
        if law.size is None:
            return law
        return law._with(**{name: _common(value) for name, value in law._values.items()})

    def to_dict(self) -> dict[str, Any]:
        given = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in self._values.items()}
        if isinstance(self.unit, float) and self.unit == 1.0:
            del given["unit"]
        return {"cdf": self.text, **given}

    def __repr__(self) -> str:
        shown = [
            f"{name}=<{value.size} values>" if isinstance(value, np.ndarray) else f"{name}={value!r}"
            for name, value in self._values.items()
            if name != "unit" or not isinstance(value, float) or value != 1.0
        ]
        return f"from_cdf({self.text!r}, {', '.join(shown)})"

    # --- inside ------------------------------------------------------------------------------------------------

    def _given(self) -> Given:
        return self._values

    def _with(self, **parameters: float | Floats) -> Self:
        law = type(self)(self.text, self.parameters[2:-1], parameters)
        alike = all(
            isinstance(self._values[name], np.ndarray) == isinstance(parameters[name], np.ndarray)
            for name in self.parameters
            if name != "unit"
        )
        if alike:  # some of the same owners, or another unit: what was worked out for all holds for them
            law._evaluations = self._evaluations
            law._verdict = self._verdict if isinstance(self._verdict, Regular) else None
        return law

    def _in_support(self, theta: Floats) -> Floats:
        return np.clip(theta / self.unit, self._values["low"], self._values["high"])

    def _arguments(self) -> list[float | Floats]:
        return [self._values[str(symbol)] for symbol in self.evaluations()[0].symbols[1:]]

    def _call(self, which: int, x: Floats) -> Floats:
        return self.evaluations()[which](x, *self._arguments())

    def _rent_at_high(self) -> Floats:
        """Give F/f at the high end, in units: 1/f(high), infinite where f vanishes there."""
        if self._highest_rent is None:
            self._highest_rent = self._computed_rent_at_high()
        return self._highest_rent

    def _computed_rent_at_high(self) -> Floats:
        high = np.asarray(self._values["high"], dtype=np.float64)
        f = self._call(_PDF, high)
        with np.errstate(divide="ignore"):
            return np.where(
                f > 0, 1.0 / np.where(f > 0, f, 1.0), np.where(np.isnan(f), self._call(_RENT, high), np.inf)
            )

    def _solved(self, which: int, target: Floats, at_low: Floats | float, at_high: Floats | float) -> Floats:
        """Solve F(x) = target (which 0) or x + F(x)/f(x) = target (which 2), in units; give unit·x, clipped to the support.

        The function is `at_low` and `at_high` at the ends of the support.
        """
        shape = np.broadcast_shapes(target.shape, () if self.size is None else (self.size,))
        inside = (target > at_low) & (target < at_high)
        flags = np.broadcast_to(inside, shape)

        def chosen(value: Floats | float) -> Floats | float:
            return np.broadcast_to(value, shape)[flags] if isinstance(value, np.ndarray) else value

        wanted = np.broadcast_to(target, shape)[flags]
        low, high = (np.broadcast_to(self._values[end], shape)[flags] for end in ("low", "high"))
        arguments = [chosen(argument) for argument in self._arguments()]
        equation = FormulaEquation(self.evaluations()[which], wanted, arguments, with_theta=which == _RENT)
        top = np.minimum(high, wanted) if which == _RENT else high  # J(θ) ≥ θ
        x = equation.solve(low, top, high)
        units = np.where(
            target >= at_high, self._values["high"], np.where(np.isnan(target), np.nan, self._values["low"])
        )
        units = np.array(np.broadcast_to(units, shape))
        units[flags] = x
        ends = (units <= self._values["low"], units >= self._values["high"])
        theta = np.clip(units * self.unit, self.low, self.high)
        return np.where(ends[0], self.low, np.where(ends[1], self.high, theta))


@lru_cache(maxsize=256)
def _evaluations(
    cdf: sp.Expr, pdf: sp.Expr, rent: sp.Expr, symbols: tuple[sp.Symbol, ...], example: tuple[float, ...]
) -> tuple[Evaluation, Evaluation, Evaluation]:
    """Choose the forms of F, f and F/f that doubles evaluate best, near both ends of an example's support and between."""
    low, high, *values = example
    points = low + (high - low) * np.array(TRIAL_SHARES)
    chosen = []
    for expression in (cdf, pdf, rent):
        forms = [expression, factor_fraction(expression)]
        chosen.append(Evaluation(sharpest(forms, (THETA, *symbols), [points, *values]), (THETA, *symbols)))
    return chosen[0], chosen[1], chosen[2]


def _in_units(text: str) -> str:
    """Write the formula of unit·θ: θ and the ends are counted in units."""
    return re.sub(r"(?<![\w.])(theta|low|high)\b", r"(\1/unit)", text)


def _common(value: float | Floats) -> float | Floats:
    """Give one number for an array of equal ones."""
    return float(value[0]) if isinstance(value, np.ndarray) and np.all(value == value[0]) else value


def _first(value: float | Floats) -> float:
    return float(value[0]) if isinstance(value, np.ndarray) else value


def _product(end: float | Floats, unit: float | Floats) -> float | Floats:
    product: Floats = np.asarray(end) * np.asarray(unit)
    if product.ndim == 0:
        return float(product)
    product.flags.writeable = False
    return product
