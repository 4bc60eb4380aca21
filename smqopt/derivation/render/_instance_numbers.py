"""An instance's numbers, to stand beside the symbols of a derivation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from smqopt.algebra import (
    BUDGET,
    LAMBDA,
    SPEND,
    THRESHOLD_OF_SPEND,
    Equation,
    N,
    Relation,
    decimal,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._budget_price import BudgetPrice
from smqopt.derivation.closed_form._solved_instance import SolvedInstance
from smqopt.derivation.render._typeset import latex_of_equation
from smqopt.valuation import Valuation

DIGITS = 6
"""Significant digits of the budget and its price where they stand in a formula."""
_ON_END = 1e-9
"""Relative: x = ε/λ that is so near J at an end is on it, as λ is found numerically."""


@dataclass(frozen=True)
class InstanceNumbers:
    """What symbols stand for in one instance."""

    values: tuple[tuple[sp.Symbol, sp.Expr], ...]
    instance: SolvedInstance | None = None
    """Where statements with numbers are evaluated, both sides, before they are shown."""
    failing: tuple[tuple[Equation, str], ...] = ()
    """Closed forms that do not hold at the instance, and why, in words."""

    def at_numbers(self, equation: Equation) -> tuple[Equation | None, str]:
        """Put numbers into a statement that then holds; else say why it does not."""
        inserted = self.insert(equation)
        if self.instance is None:
            return None, ""
        sides = (equation.left, equation.right)
        why = next((words for known, words in self.failing if (known.left, known.right) == sides), "")
        if not why and self.instance.holds(inserted or equation):
            return inserted, ""
        return None, f"Not at these numbers: {why}." if why else ""

    def insert(self, equation: Equation) -> Equation | None:
        """Put numbers for symbols in a statement; None where there are none to put.

        A symbol that something is differentiated by stays. A statement that the numbers leave
        without a value is None too, and so is a sum over owners whose parameters differ.
        """
        if self.instance is not None and self.instance.law.size is not None:
            sums = equation.left.atoms(sp.Sum) | equation.right.atoms(sp.Sum)
            own = (equation.left.free_symbols | equation.right.free_symbols) & {symbol for symbol, _ in self.values}
            if sums and own - {BUDGET, LAMBDA, N}:
                return None
        bound = {
            variable
            for side in (equation.left, equation.right)
            for derivative in side.atoms(sp.Derivative)
            for variable in derivative.variables
        }
        values = {symbol: value for symbol, value in self.values if symbol not in bound}
        if not values.keys() & (equation.left.free_symbols | equation.right.free_symbols):
            return None
        left, right = (side.xreplace(values) for side in (equation.left, equation.right))
        if left.has(sp.nan, sp.zoo) or right.has(sp.nan, sp.zoo):
            return None
        domain = tuple(
            replace(
                each,
                symbol=each.symbol.xreplace(values),
                lower=each.lower.xreplace(values),
                upper=None if each.upper is None else each.upper.xreplace(values),
            )
            for each in equation.domain
        )
        return Equation(left, equation.relation, right, domain=domain)

    def latex(self) -> tuple[str, ...]:
        """Write each symbol and its number in LaTeX, and whose they are."""
        known = self.instance
        owner = (f"i = {known.owner + 1}",) if known is not None and known.whole and known.law.size is not None else ()
        values = (latex_of_equation(Equation(symbol, Relation.EQUAL, value)) for symbol, value in self.values)
        return (*owner, *values)


def numbers_of(
    argument: Argument,
    law: Valuation,
    *,
    row: int = 0,
    price: float = math.nan,
    budget: float = math.nan,
    owners: int | None = None,
    instance: SolvedInstance | None = None,
) -> InstanceNumbers:
    """Collect numbers: parameters as they were typed, budget and price to six digits.

    Parameters
    ----------
    argument
        What the derivation argues with; its symbols are those that get numbers.
    law
        A law of the family that was derived.
    row
        Whose parameters to take, from 0, where they differ by owner.
    price, budget
        λ in privacy per unit of currency, and B in currency; left as symbols where not finite.
    owners
        n; left as a symbol where None.
    instance
        Where statements are evaluated; without one none is shown in numbers.
    """
    size = law.size or 1
    values: list[tuple[sp.Symbol, sp.Expr]] = [
        (symbol, decimal(float(np.broadcast_to(law.arguments[name], (size,))[row])))
        for name, symbol in argument.law.parameters
    ]
    values += [(symbol, _round(x)) for symbol, x in ((BUDGET, budget), (LAMBDA, price)) if 0 < x < math.inf]
    if owners is not None:
        values.append((N, sp.Integer(owners)))
    return InstanceNumbers(tuple(values), instance, tuple(_failing(argument, instance)))


def _failing(argument: Argument, instance: SolvedInstance | None) -> Iterator[tuple[Equation, str]]:
    if instance is None:
        return
    price, change, starts = argument.budget_price, argument.change, float(np.ravel(instance.law.low)[0])
    if price is not None and (why := _why_no_closed_price(price, instance, starts)):
        yield Equation(LAMBDA, Relation.DEFINED, price.expression), why
    if change.inverse is not None and change.low is not None and starts != float(change.low):
        form = Equation(THRESHOLD_OF_SPEND(SPEND), Relation.DEFINED, change.inverse)
        yield form, f"the support does not begin at {change.low}"


def _why_no_closed_price(price: BudgetPrice, instance: SolvedInstance, starts: float) -> str:
    """Say which condition of the closed form of λ fails; nothing where none does."""
    law = instance.law
    if instance.budget == 0:
        return "B is 0"
    if not instance.whole or law.size is not None:
        return "the law is not common"
    if price.low is not None and starts != float(price.low):
        return f"the support does not begin at {price.low}"
    lowest, highest = (float(np.ravel(law.virtual_cost(end))[0]) for end in (law.low, law.high))
    x = instance.epsilon / instance.price if instance.price > 0 else np.full(instance.epsilon.shape, math.inf)
    for outside, where in (
        (x < lowest * (1 - _ON_END), "below J(low)"),
        (x > highest * (1 + _ON_END), "above J(high)"),
    ):
        if np.any(outside):
            return f"ε_i/λ is {where} for some owners i"
    return ""


def _round(x: float) -> sp.Expr:
    text = f"{x:.{DIGITS}g}"
    return sp.Integer(text) if text.isdecimal() else sp.Float(text, DIGITS)
