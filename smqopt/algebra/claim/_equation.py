"""Statements of a derivation as data.

An equation or inequality, and the verdict on it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import sympy as sp


class Verdict(enum.Enum):
    """What checking a statement came to; the value says what it means."""

    PROVED = "shown to hold, by exact algebra"
    UNDECIDED = "neither shown to hold nor seen to fail"
    REFUTED = "seen to fail"

    def __str__(self) -> str:
        return self.value


class Relation(enum.Enum):
    """How the two sides of a statement are related."""

    DEFINED = ":="
    EQUAL = "="
    AT_LEAST = "≥"
    AT_MOST = "≤"


@dataclass(frozen=True)
class SymbolRange:
    """An interval for a symbol, or for an expression of which a claim speaks.

    The ends may hold the symbols of earlier intervals. Points are drawn inside; a claim holds at
    the ends too.
    """

    symbol: sp.Expr
    lower: sp.Expr
    upper: sp.Expr | None = None
    """None where the interval has no upper end."""
    above: bool = False
    """Whether a claim says nothing at the lower end itself."""
    off: tuple[sp.Expr, ...] = ()
    """Places inside of which a claim says nothing: a slope has two values there, or none."""


@dataclass(frozen=True)
class Equation:
    """One statement.

    A definition, or a condition asked of the optimum, has no proof; it is compared with what the
    law's own functions compute, as every statement is.
    """

    left: sp.Expr
    relation: Relation
    right: sp.Expr
    verdict: Verdict | None = None
    method: str = ""
    """What reached the verdict, in words."""
    points: int = 0
    """At how many points evaluation agreed to 40 digits; 0 where the claim was checked in one way
    only."""
    rests_on_regularity: bool = False
    """Whether the claim is open until J is known to be non-decreasing, and holds then."""
    needs_regularity: bool = False
    """Whether the claim is shown given that J is non-decreasing, and says nothing of other laws."""
    domain: tuple[SymbolRange, ...] = ()
    """Where it holds, beyond the support, for nonnegative letters."""
    every_law: bool = False
    """Whether it holds for every law with a density, shown without a formula of F."""

    def as_sympy(self) -> sp.Basic:
        """Return the statement as a SymPy relation, not evaluated."""
        kind = {Relation.AT_LEAST: sp.Ge, Relation.AT_MOST: sp.Le}.get(self.relation, sp.Eq)
        return kind(self.left, self.right, evaluate=False)


def worst(verdicts: list[Verdict]) -> Verdict:
    """Return the worst of some verdicts; none at all decides nothing."""
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts or not verdicts else Verdict.PROVED
