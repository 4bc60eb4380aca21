"""Claims that follow from premises alone.

F, f, J and slopes of J stand as numbers of which only a sign or a range is known.

What is shown so holds for every law that meets the premises, and is checked once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from smqopt.algebra.claim._equation import Equation, Relation, SymbolRange
from smqopt.algebra.claim._letters import BUDGET, EPSILON, LAMBDA, OTHER, F, J, f
from smqopt.algebra.decision._decide import decide_claim
from smqopt.algebra.decision._domain import Domain
from smqopt.algebra.decision._work import remember
from smqopt.algebra.expression._parser import THETA

_ZERO = sp.Integer(0)


@dataclass(frozen=True)
class Premise:
    """A term of which nothing is used but the open interval that holds it."""

    term: sp.Expr
    words: str
    lower: sp.Expr = _ZERO
    upper: sp.Expr | None = None


ACCEPTS = Premise(F(THETA), "0 < F < 1", upper=sp.Integer(1))
DENSE = Premise(f(THETA), "f > 0")
COSTLY = Premise(J(THETA), "J > 0")
NOT_FALLING = Premise(sp.Derivative(J(THETA), THETA), "J′ ≥ 0")
RISEN = Premise(J(OTHER) - J(THETA), "J(t) ≥ J(θ)")
"""The virtual cost at a larger threshold t is no smaller."""
FALLEN = Premise(J(THETA) - J(OTHER), "J(t) ≤ J(θ)")
"""The virtual cost at a smaller threshold t is no larger."""

_OF_REGULARITY = (NOT_FALLING, RISEN, FALLEN)
"""Premises that hold where J is non-decreasing alone."""


@remember
def follows(left: sp.Expr, relation: Relation, right: sp.Expr, *premises: Premise) -> Equation:
    """Decide a claim from premises.

    The other symbols are positive, and no function is spelled out.

    Parameters
    ----------
    left, relation, right
        The claim.
    premises
        What the terms it speaks of are known to be.
    """
    numbers = {premise.term: sp.Symbol(f"premise_{k}", nonnegative=True) for k, premise in enumerate(premises, start=1)}
    slopes = (left.atoms(sp.Derivative) | right.atoms(sp.Derivative)) - numbers.keys()
    # A slope of which no premise speaks may be anything; the term within it must not be put as a
    # number, whose slope is 0.
    numbers |= {slope: sp.Dummy("slope", real=True) for slope in slopes}
    intervals = [SymbolRange(symbol, sp.Integer(0)) for symbol in (THETA, OTHER, EPSILON, LAMBDA, BUDGET)]
    intervals += [SymbolRange(numbers[premise.term], premise.lower, premise.upper) for premise in premises]
    verdict = decide_claim(left.xreplace(numbers), relation, right.xreplace(numbers), Domain(tuple(intervals)), {})
    known = ", ".join(premise.words for premise in premises)
    method = f"given {known}: {verdict.method}" if known else verdict.method
    rests = any(premise in _OF_REGULARITY for premise in premises)
    return replace(verdict, left=left, right=right, method=method, needs_regularity=rests, every_law=True)
