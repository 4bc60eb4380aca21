"""Many rows of parameters decided at once.

A sign proved for a whole box of parameters holds for every row in it.

Where a box is too large for a proof, its rows are halved along the parameter that spreads most.
What no box covers is left to be decided row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from smqopt.algebra import SIGN_BITS, THETA
from smqopt.numeric import Ball, hull, precision
from smqopt.valuation.expression._symbolic_law import WIDTH, symbolic_law
from smqopt.valuation.law._protocol import Law

MAX_BOXES = 48
"""So many boxes are tried."""
FEWEST = 3
"""Fewer rows are decided one by one: a proof for exact numbers is easier."""

Box = Mapping[sp.Symbol, Ball]


@dataclass(frozen=True)
class GenericLaw:
    """F and f in u = θ − low, up to the width or to 1; and each row's numbers."""

    u: sp.Symbol
    cdf: sp.Expr
    pdf: sp.Expr
    """f, times the width where that is a symbol: a positive factor, so that signs stay."""
    top: Fraction
    """Where u ends."""
    rows: Mapping[int, Mapping[sp.Symbol, Fraction]]


def generic_law(law: Law, owners: Sequence[int]) -> GenericLaw:
    """Spell a law out for all rows at once.

    Parameters
    ----------
    law
        With a formula, and one law an owner.
    owners
        The rows wanted, by an owner of each.
    """
    generic = symbolic_law(law).with_width()
    u = sp.Dummy("u")
    scale = WIDTH if WIDTH in generic.parameters.values() else sp.Integer(1)
    place = {THETA: generic.low + scale * u}
    if scale == 1:
        width = sp.nsimplify(generic.high - generic.low)
        top = Fraction(int(width.p), int(width.q))
    else:
        top = Fraction(1)
    cdf = generic.cdf.xreplace(place)
    rows = {
        owner: {symbol: _value(law, name, owner) for name, symbol in generic.parameters.items()} for owner in owners
    }
    return GenericLaw(u, cdf, sp.diff(cdf, u), top, rows)


def cover_rows(law: GenericLaw, proof: Callable[[Box], str | None]) -> tuple[set[int], list[str]]:
    """Return the rows that proofs for boxes cover, and the proofs' methods.

    Parameters
    ----------
    law
        The law of all rows.
    proof
        Gives the method of a proof for every number in a box, or None.
    """
    done: set[int] = set()
    methods: list[str] = []
    left = [list(law.rows)]
    for _ in range(MAX_BOXES):
        if not left:
            break
        rows = left.pop(0)
        if len(rows) < FEWEST:
            continue
        spread = {
            symbol: (min(law.rows[row][symbol] for row in rows), max(law.rows[row][symbol] for row in rows))
            for symbol in law.rows[rows[0]]
        }
        with precision(SIGN_BITS):
            method = proof({symbol: hull(*ends) for symbol, ends in spread.items()})
        if method is not None:
            done.update(rows)
            if method not in methods:
                methods.append(method)
            continue
        longest = max(spread, key=lambda symbol: _relative(*spread[symbol]))
        order = sorted(rows, key=lambda row: law.rows[row][longest])
        left += [order[: len(rows) // 2], order[len(rows) // 2 :]]
    return done, methods


def _value(law: Law, name: str, owner: int) -> Fraction:
    if name == "width":
        return _value(law, "high", owner) - _value(law, "low", owner)
    value = law.arguments[name]
    return Fraction(float(value if isinstance(value, float | int) else value[owner]))


def _relative(low: Fraction, high: Fraction) -> Fraction:
    return (high - low) / max(abs(low), abs(high)) if high > low else Fraction(0)
