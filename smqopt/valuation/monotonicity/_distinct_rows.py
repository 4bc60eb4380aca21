"""A law of many rows decided as a whole.

Boxes of parameters first, then each different row that no box covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
import sympy as sp

from smqopt.algebra import Nonnegative, sign_on
from smqopt.numeric import Ball
from smqopt.valuation.law._protocol import Law
from smqopt.valuation.monotonicity._parameter_boxes import FEWEST, cover_rows, generic_law

MAX_ROWS = 64
"""So many different rows are decided one by one; more only by a proof for many parameters at once.
"""

V = TypeVar("V")

Goals = Callable[[sp.Expr, sp.Expr, sp.Expr], tuple[tuple[str, sp.Expr], ...]]
"""Gives, for F, f and f′, claims any of which suffices, each with the expression that is then
nonnegative."""


@dataclass(frozen=True)
class RowsVerdict(Generic[V]):
    """What the rows of a law say together."""

    failing: V | None
    """The verdict of the first row that fails."""
    undecided: V | None
    """That of the first row that is not decided."""
    methods: tuple[str, ...]
    """How the others were decided, each method once."""
    rows: int
    """The number of different rows."""
    uncovered: int
    """How many of them no box covers."""
    unseen: int | None
    """The first row that was not looked at, being beyond `MAX_ROWS`; None where all were."""


def distinct_owners(law: Law) -> list[int | None]:
    """Return the first owner of each different row of parameters.

    [None] for a common law.
    """
    if law.size is None:
        return [None]
    columns = [np.broadcast_to(value, (law.size,)) for value in law.arguments.values()]
    first = np.unique(np.column_stack(columns), axis=0, return_index=True)[1]
    return [int(owner) for owner in np.sort(first)]


def decide_rows(
    law: Law,
    goals: Goals,
    decide_one: Callable[[Law, int | None], tuple[bool | None, V, str]],
    *,
    density_is_proved: bool,
) -> RowsVerdict[V]:
    """Judge all different rows of a law with a formula.

    Parameters
    ----------
    law
        The law; its unit of currency is 1.
    goals
        What suffices, for boxes of parameters.
    decide_one
        Judges the row of one owner: whether it holds, the verdict, and the method.
    density_is_proved
        Whether a proof for a box must first show f ≥ 0.
    """
    owners = distinct_owners(law)
    done, methods = rows_in_boxes(law, owners, goals, density_is_proved=density_is_proved)
    rest = [owner for owner in owners if owner not in done]
    failing: V | None = None
    undecided: V | None = None
    for owner in rest[:MAX_ROWS]:
        holds, verdict, method = decide_one(law, owner)
        if holds is False:
            failing = verdict
            break
        if holds is None:
            undecided = verdict if undecided is None else undecided
        elif method not in methods:
            methods.append(method)
    unseen = rest[MAX_ROWS] if len(rest) > MAX_ROWS else None
    return RowsVerdict(failing, undecided, tuple(methods), len(owners), len(rest), unseen)


def rows_in_boxes(
    law: Law, owners: list[int | None], goals: Goals, *, density_is_proved: bool
) -> tuple[set[int], list[str]]:
    """Return the rows that a proof for a box of parameters covers, and the methods."""
    rows = [owner for owner in owners if owner is not None]
    if len(rows) < FEWEST:
        return set(), []
    generic = generic_law(law, rows)
    u, f = generic.u, generic.pdf
    claims = goals(generic.cdf, f, sp.diff(f, u))

    def is_nonnegative(expression: sp.Expr, box: Mapping[sp.Symbol, Ball]) -> bool:
        return isinstance(sign_on(expression, u, Fraction(0), generic.top, box), Nonnegative)

    def proof(box: Mapping[sp.Symbol, Ball]) -> str | None:
        if density_is_proved and not is_nonnegative(f, box):
            return None
        for claim, expression in claims:
            if is_nonnegative(expression, box):
                return f"{claim}: ball arithmetic over boxes of parameters"
        return None

    return cover_rows(generic, proof)
