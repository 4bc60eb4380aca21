"""An instance's numbers, to stand beside the symbols of a derivation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from smqopt.algebra import BUDGET, LAMBDA, Equation, N, Relation, rational
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.render._typeset import latex_of_equation
from smqopt.valuation import Valuation

DIGITS = 6
"""Significant digits of the budget and its price where they stand in a formula."""


@dataclass(frozen=True)
class InstanceNumbers:
    """What symbols stand for in one instance."""

    values: tuple[tuple[sp.Symbol, sp.Expr], ...]

    def insert(self, equation: Equation) -> Equation | None:
        """Put numbers for symbols in a statement; None where there are none to put.

        A symbol that something is differentiated by stays. A statement that the numbers leave
        without a value is None too.
        """
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
        return Equation(left, equation.relation, right)

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
) -> InstanceNumbers:
    """Collect numbers: the law's parameters exactly, budget and price to six digits.

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
    """
    size = law.size or 1
    values: list[tuple[sp.Symbol, sp.Expr]] = [
        (symbol, rational(float(np.broadcast_to(law.arguments[name], (size,))[row])))
        for name, symbol in argument.law.parameters
    ]
    values += [(symbol, _round(x)) for symbol, x in ((BUDGET, budget), (LAMBDA, price)) if 0 < x < math.inf]
    if owners is not None:
        values.append((N, sp.Integer(owners)))
    return InstanceNumbers(tuple(values))


def _round(x: float) -> sp.Expr:
    text = f"{x:.{DIGITS}g}"
    return sp.Integer(text) if text.isdecimal() else sp.Float(text, DIGITS)
