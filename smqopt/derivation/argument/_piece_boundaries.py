"""Joints of pieces: J may jump up there, and the threshold rests for some x."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import sympy as sp

from smqopt.algebra import Domain, X, is_never_negative, vanishes
from smqopt.derivation.argument._inversion import CostInverse, Form

if TYPE_CHECKING:
    from smqopt.derivation.argument._argument import Argument


def joined_inverse(pieces: Sequence[Argument], domain: Domain) -> CostInverse | None:
    """Join the inverses of the pieces; None unless J rises from piece to piece.

    Parameters
    ----------
    pieces
        The argument on each piece, from the low end of the support on.
    domain
        The ranges of the parameters.
    """
    cases: list[tuple[sp.Expr, sp.Basic]] = []
    for before, after in pairwise(pieces):
        below, above = before.cost_at_high, after.cost_at_low
        if before.inverse is None or below is None or above is None or sp.oo in (below, above):
            return None
        if before.law.high != after.law.low or not is_never_negative(above - below, domain):
            return None
        cases.append((before.inverse.threshold, sp.Le(X, below, evaluate=False)))
        if not vanishes(above - below, domain):
            cases.append((before.law.high, sp.Le(X, above, evaluate=False)))
    last = pieces[-1].inverse
    if last is None:
        return None
    return CostInverse(Form.PIECES, sp.Piecewise(*cases, (last.threshold, True), evaluate=False))
