"""Whether J of a law in pieces rises, on each and where two meet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import sympy as sp

from smqopt.algebra import Domain, Negative, Nonnegative, SymbolRange, decide_sign, work_budget
from smqopt.valuation.formulas._exact_pieces import MOST_PIECES, exact_pieces
from smqopt.valuation.law._verdict import Regular, Undecided, Verdict
from smqopt.valuation.monotonicity._virtual_cost import decide_regularity, regularity_goals

if TYPE_CHECKING:
    from smqopt.valuation.formulas._law_formulas import LawFormulas
    from smqopt.valuation.law._base import Valuation


def decide_in_pieces(law: Valuation) -> Verdict:
    """Decide the regularity of a common law from its exact pieces, or leave it open.

    Where J falls the law's one formula, if it has one, is asked for a witness.
    """
    pieces = exact_pieces(law)
    if pieces is None or len(pieces) > MOST_PIECES:
        return decide_regularity(law) if law.formula else Undecided("the law has no formulas, or too many")
    with work_budget():
        verdict, sign_is_open = _decide(pieces)
    if isinstance(verdict, Regular) or sign_is_open or not law.formula:  # the formula's sign would be as open
        return verdict
    return decide_regularity(law)


def decide_pieces(pieces: Sequence[LawFormulas]) -> Verdict:
    """Decide whether J rises on each piece, and where two meet.

    As F has no jump, J does not fall where two pieces meet just if the density does not rise there.
    """
    return _decide(pieces)[0]


def _decide(pieces: Sequence[LawFormulas]) -> tuple[Verdict, bool]:
    """Return the verdict, and whether the sign of J′ is open on a piece."""
    if any(piece.is_gap for piece in pieces):
        return Undecided("F is flat within the support"), False
    methods: dict[str, None] = {}
    for piece in pieces:
        domain = Domain((SymbolRange(piece.theta, piece.low, piece.high),))
        goals = regularity_goals(piece.cdf, piece.pdf, sp.diff(piece.pdf, piece.theta))
        proofs = [(claim, decide_sign(goal, domain)) for claim, goal in goals[:1]]
        if not isinstance(proofs[0][1], Nonnegative):
            proofs += [(claim, decide_sign(goal, domain)) for claim, goal in goals[1:]]
        shown = next((f"{claim}: {sign.method}" for claim, sign in proofs if isinstance(sign, Nonnegative)), None)
        if shown is None and isinstance(proofs[-1][1], Negative):
            return Undecided(f"2f² − F f′ < 0 between {piece.low} and {piece.high}"), False
        if shown is None or not isinstance(decide_sign(piece.pdf, domain), Nonnegative):
            return Undecided(f"J′ ≥ 0 could not be proved between {piece.low} and {piece.high}"), True
        methods[shown] = None
    for before, after in pairwise(pieces):
        below, above = (piece.pdf.subs(piece.theta, before.high) for piece in (before, after))
        if not isinstance(decide_sign(below - above, Domain(())), Nonnegative):
            return Undecided(f"that the density does not rise at {before.high} could not be proved"), False
    return Regular("; ".join(methods) + (f", on each of {len(pieces)} pieces" if len(pieces) > 1 else "")), False
