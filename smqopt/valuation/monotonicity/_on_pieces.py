"""Whether J of a law in pieces rises, on each and where two meet."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from smqopt.algebra import THETA, Domain, Negative, Nonnegative, decide_sign, in_moments, work_budget
from smqopt.numeric import Ball, ball, ball_function
from smqopt.valuation.formulas._exact_pieces import MOST_PIECES, exact_pieces
from smqopt.valuation.law._verdict import Irregular, Regular, Undecided, Verdict
from smqopt.valuation.monotonicity._virtual_cost import decide_regularity, rises_on
from smqopt.valuation.monotonicity._witness import falling_pair

if TYPE_CHECKING:
    import sympy as sp

    from smqopt.valuation.formulas._law_formulas import LawFormulas
    from smqopt.valuation.law._base import Valuation


def decide_in_pieces(law: Valuation) -> Verdict:
    """Decide the regularity of a common law from its exact pieces, or leave it open.

    Where J falls the law's one formula, if it has one, is asked for a witness.
    """
    with work_budget():  # of its own: the verdict does not hang on who asks first
        pieces = exact_pieces(law)
    if pieces is None or len(pieces) > MOST_PIECES:
        return decide_regularity(law) if law.formula else Undecided("the law has no formulas, or too many")
    with work_budget():
        verdict, sign_is_open = decide_pieces(pieces)
    if not isinstance(verdict, Undecided) or sign_is_open or not law.formula:  # whose sign would be as open
        return verdict
    return decide_regularity(law)


def density_does_not_rise(before: LawFormulas, after: LawFormulas) -> bool:
    """Tell whether that is shown where a piece of a law in numbers meets the next.

    As F has no jump, J does not fall there just if so.
    """
    below, above = (piece.pdf.subs(piece.theta, before.high) for piece in (before, after))
    return isinstance(decide_sign(below - above, Domain(())), Nonnegative)


def decide_pieces(pieces: Sequence[LawFormulas]) -> tuple[Verdict, bool]:
    """Decide whether J rises on each piece, and where two meet.

    Returns
    -------
    tuple
        The verdict, and whether the sign of J′ is open on a piece.
    """
    if any(piece.is_gap for piece in pieces):
        return Undecided("F is flat within the support"), False
    methods: dict[str, None] = {}
    for piece in pieces:
        found = rises_on(piece.cdf, piece.pdf, piece.low, piece.high)
        if isinstance(found, Negative):
            return _fall(piece, piece, found.point, f"by {found.method} near"), False
        if not isinstance(found, Nonnegative):
            return Undecided(f"J′ ≥ 0 could not be proved between {piece.low} and {piece.high}"), True
        methods[found.method] = None
    for before, after in pairwise(pieces):
        if not density_does_not_rise(before, after):
            return _fall(before, after, _fraction(before.high), "where two pieces meet, at"), False
    return Regular("; ".join(methods) + (f", on each of {len(pieces)} pieces" if len(pieces) > 1 else "")), False


def _fall(before: LawFormulas, after: LawFormulas, point: Fraction, where: str) -> Irregular | Undecided:
    """Find two doubles round a point of a piece, or of a joint, between which J falls."""
    try:
        sides = [
            [ball_function(in_moments(formula), [THETA]) for formula in (each.cdf, each.pdf)]
            for each in (before, after)
        ]
    except ValueError:
        return Undecided(
            f"a fall of J is not excluded {where} {float(point)!r}, with a function that balls do not know"
        )

    def cost(t: float) -> Ball:
        F, f = sides[t >= point]  # a joint belongs to what goes on above
        return ball(t) + F(ball(t)) / f(ball(t))

    fall = falling_pair(cost, _fraction(before.low), _fraction(after.high), point)
    if fall is None:
        return Undecided(f"a fall of J is not excluded {where} {float(point)!r}, and no two doubles show one")
    return Irregular(f"found {where} {float(point)!r}, checked in ball arithmetic", *fall)


def _fraction(number: sp.Rational) -> Fraction:
    return Fraction(int(number.p), int(number.q))
