"""A law as symbols, for all owners or with one owner's exact numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from smqopt.algebra import THETA, decimal, names_in, parse, rational
from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation.law._protocol import Law

LOW = sp.Symbol("low", nonnegative=True)
"""The low end of the support, in currency."""
HIGH = sp.Symbol("high", positive=True)
"""The high end of the support, in currency."""
WIDTH = sp.Symbol("width", positive=True)
"""high − low, in currency: carries what the symbols alone cannot say, high > low."""


@dataclass(frozen=True)
class SymbolicLaw:
    """F and f on the support as expressions in θ and the parameters.

    `symbolic_law` makes the generic law, whose parameters are symbols; `at` makes the law of one
    owner, whose parameters are exact numbers (`exact_number`), so that a proof speaks of what was
    actually given.
    """

    theta: sp.Symbol
    """The valuation θ, in currency."""
    low: sp.Expr
    """Low end of the support: a symbol, or an exact number."""
    high: sp.Expr
    """High end of the support: a symbol, an exact number, or low + width."""
    cdf: sp.Expr
    """F(θ) for low ≤ θ ≤ high."""
    pdf: sp.Expr
    """f(θ) = F′(θ)."""
    parameters: dict[str, sp.Symbol]
    """Name → symbol of the parameters that stay symbols."""
    law: Law = field(repr=False, compare=False)
    """The law that this one spells out."""

    @property
    def width(self) -> sp.Expr:
        """The width of the support.

        `WIDTH` where an end is a symbol, else an exact number.
        """
        difference = sp.expand(self.high - self.low)
        return difference if difference.is_number or difference == WIDTH else WIDTH

    def with_width(self) -> SymbolicLaw:
        """Write high as low + width with width > 0, so that high > low is known."""
        if self.high != HIGH:
            return self
        high = self.low + WIDTH
        parameters = {name: symbol for name, symbol in self.parameters.items() if name != "high"} | {"width": WIDTH}
        cdf = _tidy(self.cdf.subs(HIGH, high))
        return SymbolicLaw(self.theta, self.low, high, cdf, _density(cdf), parameters, self.law)

    def without_width(self, expression: sp.Expr) -> sp.Expr:
        """Write width as high − low again in an expression that came from `with_width`."""
        return expression.subs(WIDTH, HIGH - self.low)

    def at(self, owner: int | None = None) -> SymbolicLaw:
        """Return the law of one owner with exact rational parameters.

        Parameters
        ----------
        owner
            The owner, from 0; may be None for a common law.

        Raises
        ------
        InputError
            If the law is one an owner and no owner is given.
        """
        if self.law.size is not None and owner is None:
            raise InputError("symbolic law", "is one an owner", remedy="say which owner, from 0")
        values = {name: exact_number(self.law, _of(self.law.arguments[name], owner)) for name in self.law.parameters}
        cdf = parse(self.law.formula, values, f"the {self.law.name} law")
        return SymbolicLaw(self.theta, values["low"], values["high"], cdf, slope(cdf), {}, self.law)


def symbolic_law(law: Law, *, ends_are_symbols: bool | None = None) -> SymbolicLaw:
    """Spell a law out in symbols.

    The ends of the support of a plugged-in formula are exact numbers where they are scalars; all
    other parameters are symbols. A symbol is positive, or nonnegative, where every value given is.

    Parameters
    ----------
    law
        A law with a formula; its parameters may be scalars or arrays.
    ends_are_symbols
        Whether the ends are symbols all the same; None leaves it to the law.

    Raises
    ------
    InputError
        If the law has no one formula (a different law an owner).
    """
    if not law.formula:
        raise InputError(f"the {law.name} law", "has no one formula", remedy="take its parts one by one")
    used = names_in(law.formula)
    names = {name: _symbol(name, law.arguments[name]) for name in law.parameters if name in used}
    wanted = law.ends_are_symbols if ends_are_symbols is None else ends_are_symbols
    symbolic_low = wanted or isinstance(law.low, np.ndarray)
    symbolic_high = symbolic_low or isinstance(law.high, np.ndarray)
    names["low"] = LOW if symbolic_low else exact_number(law, _of(law.low, None))
    names["high"] = HIGH if symbolic_high else exact_number(law, _of(law.high, None))
    cdf = parse(law.formula, names, f"the {law.name} law")
    parameters = {name: symbol for name, symbol in names.items() if isinstance(symbol, sp.Symbol)}
    return SymbolicLaw(THETA, names["low"], names["high"], cdf, _density(cdf), parameters, law)


def exact_number(law: Law, value: float) -> sp.Rational:
    """Return a number of a law exactly: of a typed formula as a decimal.

    So are the numbers within its text. With θ/0.54 on [0, 0.54] the double next to 0.54 would leave
    F(high) beside 1.
    """
    return rational(value) if law.ends_are_symbols else decimal(value)


def _symbol(name: str, value: float | Floats) -> sp.Symbol:
    if np.all(np.asarray(value) > 0):
        return sp.Symbol(name, positive=True)
    return sp.Symbol(name, nonnegative=True) if np.all(np.asarray(value) >= 0) else sp.Symbol(name, real=True)


def _density(cdf: sp.Expr) -> sp.Expr:
    return _tidy(slope(cdf))


def slope(cdf: sp.Expr) -> sp.Expr:
    """Differentiate a formula in θ."""
    plain = sp.Dummy("theta")  # of which nothing is assumed: SymPy's guesses at signs can take for ever
    return sp.diff(cdf.xreplace({THETA: plain}), plain).xreplace({plain: THETA})


def _tidy(expression: sp.Expr) -> sp.Expr:
    """Gather powers of one base, so that θ^a/θ is θ^(a−1)."""
    return sp.powsimp(sp.expand_power_base(expression))


def _of(value: float | Floats, owner: int | None) -> float:
    return float(value[owner]) if isinstance(value, np.ndarray) else float(value)
