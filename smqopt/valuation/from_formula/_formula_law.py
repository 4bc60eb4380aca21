"""The law that a formula for its cdf gives."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Self, final

import numpy as np
import sympy as sp

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
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._verdict import CdfVerdict, Hazard, Regular, Verdict
from smqopt.valuation.monotonicity._cdf_proof import decide_cdf
from smqopt.valuation.monotonicity._hazard_rate import decide_hazard_of_formula
from smqopt.valuation.monotonicity._virtual_cost import decide_regularity
from smqopt.valuation.truncation._quantile import polish_quantile

Given = Mapping[str, float | Floats]

TRIAL_SHARES = (2.0**-30, 2.0**-10, 0.25, 0.75, 1 - 2.0**-10, 1 - 2.0**-30)
"""Where in the support equal forms of a formula are compared."""
_CDF, _PDF, _RENT = 0, 1, 2
"""Places of F, f and F/f among the evaluations."""


@final
class FormulaLaw(Valuation):
    """The law of unit·θ, where θ has the cdf that a formula gives on [low, high].

    Made by `from_cdf`.

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
        self.parameters = ("low", "high", *names, "unit")
        self._values = dict(given)
        vars(self).update(given)
        self.low, self.high = _product(given["low"], self.unit), _product(given["high"], self.unit)
        self.formula = text if np.all(np.asarray(self.unit) == 1.0) else _write_in_units(text)
        self._highest_rent: Floats | None = None
        self._invertible = None
        self._evaluations: tuple[Evaluation, Evaluation, Evaluation] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave compiled functions out of pickles and copies: they are made again."""
        return {**vars(self), "_evaluations": None}

    def evaluations(self) -> tuple[Evaluation, Evaluation, Evaluation]:
        """Compute F, f and F/f as functions of θ and the parameters, all in units."""
        if self._evaluations is None:
            # with numbers for the ends SymPy would multiply them out, and lose θ − low = 0 at low;
            # 0 and 1 do no harm
            plain = self._values["low"] == 0.0 and self._values["high"] == 1.0 if self.size is None else False
            generic = symbolic_law(self._counted_in_units(), ends_are_symbols=not plain)
            spelt = generic.with_width()
            rent = spelt.without_width(information_rent(spelt.cdf, spelt.pdf))
            symbols = tuple(generic.parameters.values())
            example = tuple(_first(self._values[name]) for name in ("low", "high", *map(str, symbols)))
            self._evaluations = _evaluations(generic.cdf, spelt.without_width(spelt.pdf), rent, symbols, example)
        return self._evaluations

    def _cdf(self, theta: Floats) -> Floats:
        F = self._evaluate(_CDF, self._in_units(theta))
        return np.where(theta <= self.low, 0.0, np.where(theta >= self.high, 1.0, np.clip(F, 0.0, 1.0)))

    def _pdf(self, theta: Floats) -> Floats:
        x = self._in_units(theta)
        f = self._evaluate(_PDF, x)
        if np.any(np.isnan(f)):  # an end at which the formula says 0/0: its neighbour inside stands for the limit
            middle = 0.5 * (self._values["low"] + self._values["high"])
            f = np.where(np.isnan(f), self._evaluate(_PDF, np.nextafter(x, middle)), f)
        return np.maximum(f, 0.0) / self.unit

    def _ppf(self, q: Floats) -> Floats:
        return polish_quantile(self, q, lambda u: self._solve(_CDF, u, 0.0, 1.0))

    def _virtual_cost(self, theta: Floats) -> Floats:
        rent = np.where(theta >= self.high, self._rent_at_high(), self._evaluate(_RENT, self._in_units(theta)))
        return theta + np.where(theta <= self.low, 0.0, self.unit * rent)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        cost_at_high = self._values["high"] + self._rent_at_high()
        return self._solve(_RENT, np.asarray(v / self.unit), self._values["low"], cost_at_high)

    def inverse_virtual_cost_within(self, v: Floats, low: Floats, high: Floats) -> Floats:
        """Compute the threshold from low to high at which J = v.

        J rises from one to the other; all are of shape (m,).
        """
        arguments = [np.broadcast_to(argument, v.shape) for argument in self._columns()]
        equation = FormulaEquation(self.evaluations()[_RENT], np.asarray(v / self.unit), arguments, with_theta=True)
        ends = (np.broadcast_to(self._values[end], v.shape) for end in ("low", "high"))
        bottom, top = ends
        x = equation.solve(bottom, high / self.unit, top, start=np.asarray(low / self.unit))
        return np.clip(x * self.unit, low, high)

    def _rescale(self, factor: float) -> Self:
        return self._with(**{**self._values, "unit": factor * self.unit})

    def _is_proved_cdf(self) -> CdfVerdict:
        return decide_cdf(self._counted_in_units())

    def _regularity(self) -> Verdict:
        """Decide in units, for the numbers actually given."""
        found = decide_regularity(self._counted_in_units())
        return found.rescale(self._unit_of_worst_owner(found))

    def _monotone_hazard(self) -> Hazard:
        found = decide_hazard_of_formula(self._counted_in_units())
        return found.rescale(self._unit_of_worst_owner(found))

    def _family(self) -> Hashable:
        return (type(self), self.text, self.parameters)

    def _take(self, index: Index) -> Self:
        return self._with(**{k: v[index] if isinstance(v, np.ndarray) else v for k, v in self._values.items()})

    def _stack(self, laws: Sequence[Valuation]) -> Valuation:
        rows = [law.counted for law in laws if isinstance(law, FormulaLaw)]
        columns = {name: _common(np.array([row[name] for row in rows], dtype=np.float64)) for name in self._values}
        if not any(isinstance(column, np.ndarray) for column in columns.values()):
            return laws[0]
        return self._with(**columns)

    def _to_dict(self) -> dict[str, Any]:
        given = dict(self._values)
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

    # --- inside -----------------------------------------------------------------------------------

    def _arguments(self) -> Given:
        return {**self._values, "low": self.low, "high": self.high}

    @property
    def counted(self) -> Given:
        """The parameters as given: the ends count in units."""
        return self._values

    def _with(self, /, **arguments: float | Floats) -> Self:
        law = type(self)(self.text, self.parameters[2:-1], arguments)
        alike = all(
            isinstance(self._values[name], np.ndarray) == isinstance(arguments[name], np.ndarray)
            for name in self.parameters
            if name != "unit"
        )
        if not alike:
            return law
        law._evaluations = self._evaluations  # noqa: SLF001 -- of some of the same owners, or in another unit
        return self.keep_regular(law)

    def _counted_in_units(self) -> Self:
        return self._with(**{**self._values, "unit": 1.0})

    def _unit_of_worst_owner(self, found: Verdict | Hazard) -> float:
        owner = None if isinstance(found, Regular) else found.owner
        return float(np.broadcast_to(self.unit, self.size or 1)[owner or 0])

    def _in_units(self, theta: Floats) -> Floats:
        return np.clip(theta / self.unit, self._values["low"], self._values["high"])

    def _columns(self) -> list[float | Floats]:
        return [self._values[str(symbol)] for symbol in self.evaluations()[0].symbols[1:]]

    def _evaluate(self, which: int, x: Floats) -> Floats:
        return self.evaluations()[which](x, *self._columns())

    def _rent_at_high(self) -> Floats:
        """Compute F/f at the high end, in units.

        1/f(high), infinite where f vanishes there.
        """
        if self._highest_rent is None:
            self._highest_rent = self._compute_rent_at_high()
        return self._highest_rent

    def _compute_rent_at_high(self) -> Floats:
        high = np.asarray(self._values["high"], dtype=np.float64)
        f, limit = self._evaluate(_PDF, high), self._evaluate(_RENT, high)
        if np.any(np.isnan(f) & np.isnan(limit)):  # as a rounding takes a root of what is below 0
            beside = self._evaluate(_PDF, np.nextafter(high, self._values["low"]))
            f = np.where(np.isnan(f) & np.isnan(limit), beside, f)
        with np.errstate(divide="ignore"):
            return np.where(f > 0, 1.0 / np.where(f > 0, f, 1.0), np.where(np.isnan(f), limit, np.inf))

    def _solve(self, which: int, target: Floats, at_low: Floats | float, at_high: Floats | float) -> Floats:
        """Solve F(x) = target (which 0) or x + F(x)/f(x) = target (which 2), in units.

        Give unit·x, clipped to the support.

        The function is `at_low` and `at_high` at the ends of the support.
        """
        shape = np.broadcast_shapes(target.shape, () if self.size is None else (self.size,))
        inside = (target > at_low) & (target < at_high)
        flags = np.broadcast_to(inside, shape)

        def choose(value: Floats | float) -> Floats | float:
            return np.broadcast_to(value, shape)[flags] if isinstance(value, np.ndarray) else value

        wanted = np.broadcast_to(target, shape)[flags]
        low, high = (np.broadcast_to(self._values[end], shape)[flags] for end in ("low", "high"))
        arguments = [choose(argument) for argument in self._columns()]
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
    """Choose the forms of F, f and F/f that doubles evaluate best.

    Near both ends of an example's support and between.
    """
    low, high, *values = example
    points = low + (high - low) * np.array(TRIAL_SHARES)
    chosen = []
    for expression in (cdf, pdf, rent):
        forms = [expression, factor_fraction(expression)]
        chosen.append(Evaluation(sharpest(forms, (THETA, *symbols), [points, *values]), (THETA, *symbols)))
    return chosen[0], chosen[1], chosen[2]


def _write_in_units(text: str) -> str:
    """Write the formula of unit·θ: θ and the ends are counted in units."""
    return re.sub(r"(?<![\w.])(theta|low|high)\b", r"(\1/unit)", text)


def _common(column: Floats) -> float | Floats:
    """Return one number for an array of equal ones, else the array, read-only."""
    if np.all(column == column[0]):
        return float(column[0])
    column.flags.writeable = False
    return column


def _first(value: float | Floats) -> float:
    return float(value[0]) if isinstance(value, np.ndarray) else value


def _product(end: float | Floats, unit: float | Floats) -> float | Floats:
    product: Floats = np.asarray(end) * np.asarray(unit)
    if product.ndim == 0:
        return float(product)
    product.flags.writeable = False
    return product
