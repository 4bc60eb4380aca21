"""An instance's numbers, to stand beside the symbols of a derivation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp

from smqopt.algebra import (
    BUDGET,
    LAMBDA,
    SPEND,
    THRESHOLD,
    THRESHOLD_OF_SPEND,
    Equation,
    N,
    Relation,
    SymbolRange,
    X,
    decimal,
)
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.closed_form._solved_instance import SolvedInstance
from smqopt.derivation.render._typeset import latex_of_equation
from smqopt.valuation import Valuation

DIGITS = 6
"""Significant digits of the budget and its price where they stand in a formula."""


@dataclass(frozen=True)
class InstanceNumbers:
    """What symbols stand for in one instance."""

    values: tuple[tuple[sp.Symbol, sp.Expr], ...]
    instance: SolvedInstance | None = None
    """Where statements with numbers are evaluated, both sides, before they are shown."""
    conditions: tuple[tuple[Equation, str], ...] = ()
    """When statements hold that do not hold everywhere, in words."""

    def at_numbers(self, equation: Equation) -> tuple[Equation | None, str]:
        """Put numbers into a statement that then holds; else say where it holds."""
        inserted = self.insert(equation)
        if self.instance is None:
            return None, ""
        found = self.instance.holds(inserted or equation)
        if found or (found is None and not equation.domain):
            return inserted if found else None, ""
        sides = (equation.left, equation.right)
        where = next((words for known, words in self.conditions if (known.left, known.right) == sides), "")
        return None, f"Not at these numbers: it holds where {where}." if where else ""

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
            SymbolRange(
                *(None if part is None else part.xreplace(values) for part in (each.symbol, each.lower, each.upper))
            )
            for each in equation.domain
        )
        return Equation(left, equation.relation, right, domain=domain)

    def latex(self) -> tuple[str, ...]:
        """Write each symbol and its number as an equation in LaTeX."""
        return tuple(latex_of_equation(Equation(symbol, Relation.EQUAL, value)) for symbol, value in self.values)


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
    return InstanceNumbers(tuple(values), instance, tuple(_conditions(argument)))


def _conditions(argument: Argument) -> Iterator[tuple[Equation, str]]:
    price, change, inverse = argument.budget_price, argument.change, argument.inverse
    if price is not None:
        yield Equation(LAMBDA, Relation.DEFINED, price.expression), price.condition
        yield Equation(LAMBDA, Relation.EQUAL, price.by_sets), "R > 0 and M is not empty"
    if change.inverse is not None and change.low is not None:
        yield (
            Equation(THRESHOLD_OF_SPEND(SPEND), Relation.DEFINED, change.inverse),
            f"the support begins at {change.low}",
        )
    if inverse is not None:
        yield Equation(THRESHOLD(X), Relation.DEFINED, inverse.threshold), "J(low) ≤ x ≤ J(high)"


def _round(x: float) -> sp.Expr:
    text = f"{x:.{DIGITS}g}"
    return sp.Integer(text) if text.isdecimal() else sp.Float(text, DIGITS)
