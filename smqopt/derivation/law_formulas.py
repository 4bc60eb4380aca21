"""A law as a derivation sees it: formulas in symbols of its own, and no numbers but those the formulas hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from smqopt.derivation.letters import TAKEN
from smqopt.valuation.base import Valuation
from smqopt.valuation.expressions import parse, rational
from smqopt.valuation.symbols import symbolic_law

__all__ = ["LawFormulas", "Row", "formulas_of", "given_rows"]

Row = tuple[tuple[sp.Symbol, sp.Rational], ...]
"""Values of a law's parameters for one owner."""

_ROWS = 6
"""How many owners' parameters serve as points for a law whose sound parameters are not known."""


@dataclass(frozen=True)
class LawFormulas:
    """F and f on the support [low, high]. Equal formulas have equal derivations."""

    theta: sp.Symbol
    low: sp.Expr
    high: sp.Expr
    cdf: sp.Expr
    pdf: sp.Expr
    parameters: tuple[tuple[str, sp.Symbol], ...]
    """The names of the parameters that stay symbols, and their symbols."""

    def fixing(self, values: dict[sp.Symbol, sp.Expr]) -> LawFormulas:
        """Fix the values of some parameters."""
        low, high, cdf, pdf = (part.subs(values) for part in (self.low, self.high, self.cdf, self.pdf))
        return LawFormulas(
            self.theta,
            low,
            high,
            cdf,
            pdf,
            tuple((name, symbol) for name, symbol in self.parameters if symbol not in values),
        )


def formulas_of(law: Valuation) -> LawFormulas:
    """Spell a law out; parameters that are called as a symbol of the derivation get another name.

    Raises
    ------
    InputError
        If the law has no formula.
    """
    symbolic = symbolic_law(law)
    names = {symbol.name for symbol in symbolic.parameters.values()}
    renamed: dict[sp.Symbol, sp.Symbol] = {}
    for symbol in symbolic.parameters.values():
        name = symbol.name
        while name in TAKEN or (name != symbol.name and name in names):
            name += "_"
        if name != symbol.name:
            names.add(name)
            renamed[symbol] = sp.Symbol(name, **symbol.assumptions0)
    parameters = tuple((name, renamed.get(symbol, symbol)) for name, symbol in symbolic.parameters.items())
    cdf, pdf = (formula.xreplace(renamed) for formula in (symbolic.cdf, symbolic.pdf))
    formulas = LawFormulas(symbolic.theta, symbolic.low, symbolic.high, cdf, pdf, parameters)
    return _in_units(formulas, law) if "unit" in dict(parameters) else formulas


def _in_units(formulas: LawFormulas, law: Valuation) -> LawFormulas:
    """Write the ends of a plugged-in formula, which the law gives in currency, as the unit times the numbers given.

    Then laws that differ in the unit alone have one derivation.
    """
    given, symbols = law.to_dict(), dict(formulas.parameters)
    ends = {end: symbols["unit"] * rational(given[end]) for end in ("low", "high") if isinstance(given[end], float)}
    cdf = parse(law.formula, symbols | ends, f"the {law.name} law")
    pdf = sp.powsimp(sp.expand_power_base(sp.diff(cdf, formulas.theta)))
    parameters = tuple((name, symbol) for name, symbol in formulas.parameters if name not in ends)
    low, high = ends.get("low", formulas.low), ends.get("high", formulas.high)
    return LawFormulas(formulas.theta, low, high, cdf, pdf, parameters)


def given_rows(formulas: LawFormulas, law: Valuation) -> tuple[Row, ...]:
    """Give the parameters of some owners of a plugged-in formula, exactly; none for a law whose parameters may be anything.

    What parameters make a formula a law is not known, so that claims about it are evaluated at those given.
    """
    if law.ends_are_symbols or not {name for name, _ in formulas.parameters} - {"unit"}:
        return ()
    size = law.size or 1
    owners = np.unique(np.linspace(0, size - 1, _ROWS).astype(np.intp)).tolist()
    return tuple(
        tuple(
            (symbol, rational(float(np.broadcast_to(getattr(law, name), (size,))[owner])))
            for name, symbol in formulas.parameters
        )
        for owner in owners
    )
