"""A law cut where its formula changes, smooth on each piece.

Between the ends of the parts of a mixture, and on either side of the mode of a triangular law, one
formula holds up to both ends of the piece, whatever happens beyond. A piece may end a spacing of
doubles before the next one begins, where the true edge lies between two doubles.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from flint import arb

from smqopt.numeric import Ball, ball
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.composition._truncated import TruncatedLaw
from smqopt.valuation.copula._conditional import CopulaConditional
from smqopt.valuation.law._base import Rescaled, Valuation
from smqopt.valuation.table._ball_laws import BallLaw, OwnerBalls, ball_law, number_of
from smqopt.valuation.table._copula_balls import ScoreLink
from smqopt.valuation.table._piece_families import PIECES_BY_NAME
from smqopt.valuation.table._smooth_piece import (
    ORDER,
    PieceLaw,
    SmoothPiece,
    taylor_series,
    with_ends,
)
from smqopt.valuation.table._step_law import StepLaw, step_law


def piece_law(law: Valuation, order: int = ORDER) -> PieceLaw | str:
    """Return the smooth pieces of a law, or why that cannot be.

    Parameters
    ----------
    law
        A law of one family with a density; common, or one an owner.
    order
        How many Taylor coefficients its pieces give.
    """
    balls = ball_law(law)
    if isinstance(balls, str):
        return balls
    if isinstance(law, Rescaled):
        return _rescaled_law(law, order)
    if law.formula:
        return _formula_law(law, balls, order)
    if isinstance(law, Mixture):
        return _mixture(law, order)
    if isinstance(law, TruncatedLaw):
        return _truncated_law(law, order)
    if isinstance(law, CopulaConditional):
        return _copula_law(law, balls, order)
    if (table := step_law(law)) is not None:
        return lambda owner: _straight_pieces(table[0][table[1](owner)], order)
    for kind, maker in PIECES_BY_NAME.items():
        if isinstance(law, kind):
            return maker(law, balls, order)
    return f"the {law.name} law has no derivatives that ball arithmetic could evaluate"


# --- laws with a formula --------------------------------------------------------------------------


def _formula_law(law: Valuation, balls: BallLaw, order: int) -> PieceLaw:
    series = taylor_series(law.formula, law.parameters, order)

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        own, low, high = balls(owner), number_of(law.low, owner), number_of(law.high, owner)
        coefficients = series(*(arb(number_of(law.arguments[name], owner)) for name in law.parameters))
        F = with_ends(low, high, own.at_low, own.at_high, own.cdf)
        return (SmoothPiece(low, high, F, own.pdf, lambda a, b: coefficients(a.union(b))),)

    return of


# --- laws made of laws ----------------------------------------------------------------------------


def _rescaled_law(law: Rescaled, order: int) -> PieceLaw | str:
    inner, factor = piece_law(law.law, order), law.factor
    if isinstance(inner, str):
        return inner

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        c, pieces = arb(factor), inner(owner)
        edges = [number_of(law.low, owner)]
        for piece in pieces[:-1]:  # the true edge lies between these two
            edges += [math.nextafter(factor * piece.high, -math.inf), math.nextafter(factor * piece.high, math.inf)]
        edges.append(number_of(law.high, owner))
        return tuple(_stretch(piece, c, *edges[2 * k : 2 * k + 2]) for k, piece in enumerate(pieces))

    return of


def _stretch(piece: SmoothPiece, c: Ball, low: float, high: float) -> SmoothPiece:
    def taylor(a: Ball, b: Ball) -> list[Ball]:
        return [coefficient / c**k for k, coefficient in enumerate(piece.taylor(a / c, b / c))]

    return SmoothPiece(low, high, lambda t: piece.cdf(t / c), lambda t: piece.pdf(t / c) / c, taylor)


def _mixture(law: Mixture, order: int) -> PieceLaw | str:
    inner = [piece_law(part, order) for part in law.laws]
    for found in inner:
        if isinstance(found, str):
            return found

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        weights = [arb(w) for w in law.weights.tolist()]
        total = sum(weights, arb(0))
        parts = [
            (w / total, found(owner)) for w, found in zip(weights, inner, strict=True) if not isinstance(found, str)
        ]
        edges = sorted({end for _, pieces in parts for piece in pieces for end in (piece.low, piece.high)})
        if len(edges) == 1:
            return (_straight_piece(Fraction(edges[0]), Fraction(edges[0]), Fraction(1), Fraction(0), order),)
        found_pieces = (_blend(parts, low, high, order) for low, high in pairwise(edges))
        return tuple(piece for piece in found_pieces if piece is not None)

    return of


def _blend(
    parts: list[tuple[Ball, tuple[SmoothPiece, ...]]], low: float, high: float, order: int
) -> SmoothPiece | None:
    """Mix parts between two neighbouring edges; None where an edge lies inside."""
    above = arb(0)
    within: list[tuple[Ball, SmoothPiece]] = []
    for w, pieces in parts:
        if pieces[-1].high <= low:
            above += w
        elif pieces[0].low < high:
            covering = [piece for piece in pieces if piece.low <= low and high <= piece.high]
            if not covering:
                return None
            within.append((w, covering[0]))

    def taylor(a: Ball, b: Ball) -> list[Ball]:
        rows = [(w, piece.taylor(a, b)) for w, piece in within]
        return [sum((w * row[k] for w, row in rows), arb(0) if k else above) for k in range(order)]

    return SmoothPiece(
        low,
        high,
        lambda t: sum((w * piece.cdf(t) for w, piece in within), above),
        lambda t: sum((w * piece.pdf(t) for w, piece in within), arb(0)),
        taylor,
    )


def _straight_pieces(table: StepLaw, order: int) -> tuple[SmoothPiece, ...]:
    """Return a table's stretches; of one atom alone, a piece without width."""
    rows = list(table.lines()) or [(table.low[0], table.low[0], Fraction(1), Fraction(0))]
    return tuple(_straight_piece(*row, order) for row in rows)


def _straight_piece(low: Fraction, high: Fraction, q: Fraction, slope: Fraction, order: int) -> SmoothPiece:
    a, F, f = ball(low), ball(q), ball(slope)
    nothing = [arb(0)] * (order - 2)
    return SmoothPiece(
        float(low),
        float(high),
        lambda t: F + f * (t - a),
        lambda _: f,
        lambda s, t: [F + f * (s.union(t) - a), f, *nothing],
    )


def _truncated_law(law: TruncatedLaw, order: int) -> PieceLaw | str:
    inner, balls = piece_law(law.law, order), ball_law(law.law)
    if isinstance(inner, str):
        return inner
    assert not isinstance(balls, str)  # noqa: S101

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        whole, low, high = balls(owner), number_of(law.low, owner), number_of(law.high, owner)
        ends = number_of(law.law.low, owner), number_of(law.law.high, owner)
        bottom = whole.at_low if low <= ends[0] else whole.cdf(arb(low))
        mass = (whole.at_high if high >= ends[1] else whole.cdf(arb(high))) - bottom
        cut = ((piece, max(piece.low, low), min(piece.high, high)) for piece in inner(owner))
        return tuple(_truncate(piece, a, b, bottom, mass, (low, high)) for piece, a, b in cut if a < b)

    return of


def _copula_law(law: CopulaConditional, balls: BallLaw, order: int) -> PieceLaw | str:
    inner = piece_law(law.valuation, order)
    if isinstance(inner, str):
        return inner

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        own, link = balls(owner), ScoreLink.of(law.correlation, number_of(law.score, owner))
        ends = number_of(law.low, owner), number_of(law.high, owner)
        return tuple(_under_copula(piece, own, link, ends) for piece in inner(owner))

    return of


def _under_copula(piece: SmoothPiece, own: OwnerBalls, link: ScoreLink, ends: tuple[float, float]) -> SmoothPiece:
    F = with_ends(*ends, own.at_low, own.at_high, lambda t: link.cdf(piece.cdf(t)))
    return SmoothPiece(
        piece.low,
        piece.high,
        F,
        lambda t: link.pdf(piece.cdf(t), piece.pdf(t)),
        lambda a, b: link.taylor(piece.taylor(a, b)),
    )


def _truncate(
    piece: SmoothPiece, low: float, high: float, bottom: Ball, mass: Ball, ends: tuple[float, float]
) -> SmoothPiece:
    def taylor(a: Ball, b: Ball) -> list[Ball]:
        whole, *rest = piece.taylor(a, b)
        return [(whole - bottom) / mass, *(coefficient / mass for coefficient in rest)]

    F = with_ends(*ends, arb(0), arb(1), lambda t: (piece.cdf(t) - bottom) / mass)
    return SmoothPiece(low, high, F, lambda t: piece.pdf(t) / mass, taylor)
