"""A law as a derivation reads it: formulas in symbols of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from smqopt.algebra import TAKEN, decimal, parse, put_in, rational
from smqopt.numeric import SUPPORT_END, Floats
from smqopt.valuation.expression._symbolic_law import SymbolicLaw, exact_number, symbolic_law
from smqopt.valuation.law._base import Valuation

Row = tuple[tuple[sp.Symbol, sp.Rational], ...]
"""Values of a law's parameters for one owner."""
Range = tuple[sp.Symbol, sp.Expr, sp.Expr | None]
"""A parameter and the open interval in which it lies; None where there is no upper end."""

Number = Callable[[float], sp.Rational]
"""How a number of a law is read exactly."""

_CROWDED = 2.0**-24
"""Joints nearer to each other, relative to them, are no longer where their decimals are."""
_SPECIAL = (sp.lowergamma, sp.betainc)
"""Functions of laws by name, whose mass is 1 by their making."""
_DIGITS, _EXACT = 60, 1e-40
"""Digits of the mass of a text's law, and what is no mass at all."""
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
    ranges: tuple[Range, ...] = ()
    """What is known of parameters beside their signs; the intervals may hold the ends of the
    support."""
    pieces: tuple[LawFormulas, ...] = ()
    """The law piece by piece, from low to high, where no one formula holds on the whole support."""
    of_edges: bool = False
    """Whether numbers in it stem from a list of edges, which may be observed valuations."""

    @property
    def is_gap(self) -> bool:
        """Whether this piece holds no mass: F is flat on it, f = 0, and J infinite."""
        return bool(self.pdf == 0)

    def fix(self, values: dict[sp.Symbol, sp.Expr]) -> LawFormulas:
        """Fix the values of some parameters."""
        low, high, cdf, pdf = (put_in(part, values) for part in (self.low, self.high, self.cdf, self.pdf))
        return LawFormulas(
            self.theta,
            low,
            high,
            cdf,
            pdf,
            tuple((name, symbol) for name, symbol in self.parameters if symbol not in values),
            tuple(
                (symbol, put_in(lower, values), None if upper is None else put_in(upper, values))
                for symbol, lower, upper in self.ranges
                if symbol not in values
            ),
            tuple(piece.fix(values) for piece in self.pieces),
            self.of_edges,
        )

    def within(self, ranges: tuple[Range, ...]) -> LawFormulas:
        """Say more of some parameters."""
        return replace(self, ranges=self.ranges + ranges)


def reading_of(law: Valuation) -> Number:
    """Read decimals, but doubles as they are where joints lie too near together."""
    if law.size is not None:
        return decimal
    joints = np.unique(_joints_of(law))
    joints = joints[(joints >= float(law.low)) & (joints <= float(law.high))]
    return rational if np.any(np.diff(joints) < _CROWDED * np.abs(joints[1:])) else decimal


def _joints_of(law: Any) -> Floats:
    """Return where a law or its parts have joints, edges of histograms too."""
    parts = getattr(law, "laws", None) or ([law.law] if hasattr(law, "law") else [])
    own = law.knots() if law.size is None else ()
    return np.concatenate([np.ravel(own), np.ravel(getattr(law, "edges", ())), *map(_joints_of, parts)])


def join(pieces: tuple[LawFormulas, ...], ranges: tuple[Range, ...] = ()) -> LawFormulas:
    """Join the pieces of a law, side by side; a single piece is the law itself."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return first.within(ranges)
    cdf, pdf = (
        sp.Piecewise(
            *((formula, sp.Le(first.theta, piece.high, evaluate=False)) for formula, piece in cases[:-1]),
            (cases[-1][0], True),
            evaluate=False,
        )
        for cases in ([(piece.cdf, piece) for piece in pieces], [(piece.pdf, piece) for piece in pieces])
    )
    of_edges = any(piece.of_edges for piece in pieces)
    return LawFormulas(first.theta, first.low, last.high, cdf, pdf, first.parameters, ranges, pieces, of_edges)


def spelled_by_text(law: Valuation) -> LawFormulas:
    """Write out a law whose formula is a text, renaming parameters that clash."""
    symbolic = symbolic_law(law)
    renamed = _rename(symbolic)
    parameters = tuple((name, renamed.get(symbol, symbol)) for name, symbol in symbolic.parameters.items())
    cdf, pdf = (formula.xreplace(renamed) for formula in (symbolic.cdf, symbolic.pdf))
    formulas = LawFormulas(symbolic.theta, symbolic.low, symbolic.high, cdf, pdf, parameters)
    for group in weight_groups(law):
        formulas = _adding_to_one(formulas, group)
    return _in_units(formulas, law) if "unit" in dict(parameters) else formulas


def weight_groups(law: Any) -> Iterator[tuple[str, ...]]:
    """Yield the names of the weights of a mixture, and of each mixture within it."""
    if law.name == "mixture":
        yield tuple(f"weight_{k}" for k in range(len(law.laws)))
        for k, part in enumerate(law.laws):
            yield from (tuple(f"{name}_{k}" for name in group) for group in weight_groups(part))
    elif law.name == "truncated":
        yield from (tuple(f"whole_{name}" for name in group) for group in weight_groups(law.law))


def _adding_to_one(formulas: LawFormulas, names: tuple[str, ...]) -> LawFormulas:
    """Write the last of some weights as what the others leave of 1.

    Each lies between 0 and what is left of 1.
    """
    symbols = dict(formulas.parameters)
    left: sp.Expr = sp.Integer(1)
    ranges: list[Range] = []
    for name in names[:-1]:
        ranges.append((symbols[name], sp.Integer(0), left))
        left -= symbols[name]
    return formulas.fix({symbols[names[-1]]: left}).within(tuple(ranges))


def _rename(symbolic: SymbolicLaw) -> dict[sp.Symbol, sp.Symbol]:
    names = {symbol.name for symbol in symbolic.parameters.values()}
    renamed: dict[sp.Symbol, sp.Symbol] = {}
    for symbol in symbolic.parameters.values():
        name = symbol.name
        while name in TAKEN or (name != symbol.name and name in names):
            name += "_"
        if name != symbol.name:
            names.add(name)
            renamed[symbol] = sp.Symbol(name, **symbol.assumptions0)
    return renamed


def scale_to_one(formulas: LawFormulas) -> LawFormulas:
    """Make the mass exactly 1 where the numbers of a text are rounded.

    As 0.8647 is for 1 − e⁻².

    Formulas without letters; those of mass 1, and of a mass that is not near it, stay.
    """
    if formulas.parameters or formulas.pieces or formulas.cdf.has(*_SPECIAL):
        return formulas
    bottom, top = (put_in(formulas.cdf, {formulas.theta: end}) for end in (formulas.low, formulas.high))
    if (bottom, top) == (0, 1) or not (bottom.is_number and top.is_number and bottom.is_finite and top.is_finite):
        return formulas
    off = [abs((found - wanted).evalf(_DIGITS)) for found, wanted in ((bottom, 0), (top, 1))]
    if max(off) < _EXACT or max(off) > SUPPORT_END.value:
        return formulas
    cdf, pdf = (formulas.cdf - bottom) / (top - bottom), formulas.pdf / (top - bottom)
    return replace(formulas, cdf=cdf, pdf=pdf)


def _in_units(formulas: LawFormulas, law: Valuation) -> LawFormulas:
    """Write numeric ends of a plugged-in formula as multiples of its unit.

    Then laws that differ in the unit alone have one derivation.
    """
    given, symbols = law.to_dict(), dict(formulas.parameters)
    ends = {end: symbols["unit"] * decimal(given[end]) for end in ("low", "high") if isinstance(given[end], float)}
    cdf = parse(law.formula, symbols | ends, f"the {law.name} law")
    pdf = sp.powsimp(sp.expand_power_base(sp.diff(cdf, formulas.theta)))
    parameters = tuple((name, symbol) for name, symbol in formulas.parameters if name not in ends)
    low, high = ends.get("low", formulas.low), ends.get("high", formulas.high)
    return LawFormulas(formulas.theta, low, high, cdf, pdf, parameters)


def given_rows(formulas: LawFormulas, law: Valuation) -> tuple[Row, ...]:
    """Return some owners' parameters of a plugged-in formula; none if any will do.

    What parameters make a formula a law is not known, so that claims about it are evaluated at
    those given.
    """
    if law.ends_are_symbols or not {name for name, _ in formulas.parameters} - {"unit"}:
        return ()
    size = law.size or 1
    owners = np.unique(np.linspace(0, size - 1, _ROWS).astype(np.intp)).tolist()
    return tuple(
        tuple(
            (symbol, exact_number(law, float(np.broadcast_to(law.arguments[name], (size,))[owner])))
            for name, symbol in formulas.parameters
        )
        for owner in owners
    )
