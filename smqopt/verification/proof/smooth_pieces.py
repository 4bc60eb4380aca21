"""A law cut where its formula changes: on each piece F is smooth, and its Taylor coefficients are had as balls.

Between the ends of the parts of a mixture, and on either side of the mode of a triangular law, one formula holds up to both ends of the piece,
whatever happens beyond. A piece may end a spacing of doubles before the next one begins, where the true edge lies between two doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import sympy as sp
from flint import arb

from smqopt.numeric.balls import Ball, bound_series_function
from smqopt.valuation.base import Floats, Rescaled, Valuation
from smqopt.valuation.beta import Beta
from smqopt.valuation.expressions import THETA, parse
from smqopt.valuation.gamma import Gamma
from smqopt.valuation.log_normal import LogNormal
from smqopt.valuation.mixture import Mixture
from smqopt.valuation.triangular import Triangular
from smqopt.valuation.truncated import TruncatedLaw
from smqopt.verification.proof.ball_laws import BallLaw, ball_law

__all__ = ["ORDER", "PieceLaw", "SmoothPiece", "piece_law"]

ORDER = 8
"""How many Taylor coefficients of F are worked out."""


@dataclass(frozen=True)
class SmoothPiece:
    """F on [low, high] by one formula, which holds at both ends from within."""

    low: float
    high: float
    cdf: Callable[[Ball], Ball]
    pdf: Callable[[Ball], Ball]
    """f strictly inside; at the ends it need not be finite."""
    taylor: Callable[[Ball, Ball], list[Ball]]
    """From a ≤ b: for k < ORDER a ball that holds F^(k)(ξ)/k! for every ξ in [a, b]; not finite where it is not known."""


PieceLaw = Callable[[int], tuple[SmoothPiece, ...]]
"""Gives the pieces of an owner's law, in their order, by her place in the law, from 0."""


def piece_law(law: Valuation) -> PieceLaw | str:
    """Give the smooth pieces of a law, at the precision of the caller's context; or say why that cannot be.

    Parameters
    ----------
    law
        A law of one family with a density; common, or one an owner.
    """
    balls = ball_law(law)
    if isinstance(balls, str):
        return balls
    if isinstance(law, Rescaled):
        return _rescaled(law)
    if law.formula:
        return _spelt(law, balls)
    if isinstance(law, Mixture):
        return _mixture(law)
    if isinstance(law, TruncatedLaw):
        return _truncated(law)
    if isinstance(law, Triangular):
        return _triangular(law)
    for kind, maker in _DENSITIES.items():
        if isinstance(law, kind):
            return maker(law, balls)
    return f"the {law.name} law has no derivatives that ball arithmetic could evaluate"


def _of(value: float | Floats, owner: int) -> float:
    return float(value[owner]) if isinstance(value, np.ndarray) else float(value)


def _with_ends(
    low: float, high: float, at_low: Ball, at_high: Ball, inside: Callable[[Ball], Ball]
) -> Callable[[Ball], Ball]:
    """Give F from what holds at the ends and between them."""
    return lambda t: at_low if t == low else at_high if t == high else inside(t)


# --- laws with a formula ------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _series(formula: str, names: tuple[str, ...]) -> Callable[..., Callable[[Ball], list[Ball]]]:
    theta, *symbols = (sp.Dummy(name) for name in ("theta", *names))
    F = parse(formula, dict(zip(names, symbols, strict=True)), "the law of a proof").xreplace({THETA: theta})
    return bound_series_function(F, [theta, *symbols], ORDER)


def _spelt(law: Valuation, balls: BallLaw) -> PieceLaw:
    series = _series(law.formula, law.parameters)

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        own, low, high = balls(owner), _of(law.low, owner), _of(law.high, owner)
        coefficients = series(*(arb(_of(getattr(law, name), owner)) for name in law.parameters))
        F = _with_ends(low, high, own.at_low, own.at_high, own.cdf)
        return (SmoothPiece(low, high, F, own.pdf, lambda a, b: coefficients(a.union(b))),)

    return of


# --- laws made of laws --------------------------------------------------------------------------------------------


def _rescaled(law: Rescaled) -> PieceLaw | str:
    inner, factor = piece_law(law._law), law._factor
    if isinstance(inner, str):
        return inner

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        c, pieces = arb(factor), inner(owner)
        edges = [_of(law.low, owner)]
        for piece in pieces[:-1]:  # the true edge lies between these two
            edges += [math.nextafter(factor * piece.high, -math.inf), math.nextafter(factor * piece.high, math.inf)]
        edges.append(_of(law.high, owner))
        return tuple(_stretched(piece, c, *edges[2 * k : 2 * k + 2]) for k, piece in enumerate(pieces))

    return of


def _stretched(piece: SmoothPiece, c: Ball, low: float, high: float) -> SmoothPiece:
    def taylor(a: Ball, b: Ball) -> list[Ball]:
        return [coefficient / c**k for k, coefficient in enumerate(piece.taylor(a / c, b / c))]

    return SmoothPiece(low, high, lambda t: piece.cdf(t / c), lambda t: piece.pdf(t / c) / c, taylor)


def _mixture(law: Mixture) -> PieceLaw | str:
    inner = [piece_law(part) for part in law.laws]
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
        found_pieces = (_blended(parts, low, high) for low, high in pairwise(edges))
        return tuple(piece for piece in found_pieces if piece is not None)

    return of


def _blended(parts: list[tuple[Ball, tuple[SmoothPiece, ...]]], low: float, high: float) -> SmoothPiece | None:
    """Give a mixture between two neighbouring edges; None where an edge of some part lies there, between two doubles."""
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
        return [sum((w * row[k] for w, row in rows), arb(0) if k else above) for k in range(ORDER)]

    return SmoothPiece(
        low,
        high,
        lambda t: sum((w * piece.cdf(t) for w, piece in within), above),
        lambda t: sum((w * piece.pdf(t) for w, piece in within), arb(0)),
        taylor,
    )


def _truncated(law: TruncatedLaw) -> PieceLaw | str:
    inner, balls = piece_law(law.law), ball_law(law.law)
    if isinstance(inner, str):
        return inner
    assert not isinstance(balls, str)  # noqa: S101

    def of(owner: int) -> tuple[SmoothPiece, ...]:
        whole, low, high = balls(owner), _of(law.low, owner), _of(law.high, owner)
        ends = _of(law.law.low, owner), _of(law.law.high, owner)
        bottom = whole.at_low if low <= ends[0] else whole.cdf(arb(low))
        mass = (whole.at_high if high >= ends[1] else whole.cdf(arb(high))) - bottom
        cut = ((piece, max(piece.low, low), min(piece.high, high)) for piece in inner(owner))
        return tuple(_cut(piece, a, b, bottom, mass, (low, high)) for piece, a, b in cut if a < b)

    return of


def _cut(
    piece: SmoothPiece, low: float, high: float, bottom: Ball, mass: Ball, ends: tuple[float, float]
) -> SmoothPiece:
    def taylor(a: Ball, b: Ball) -> list[Ball]:
        whole, *rest = piece.taylor(a, b)
        return [(whole - bottom) / mass, *(coefficient / mass for coefficient in rest)]

    F = _with_ends(*ends, arb(0), arb(1), lambda t: (piece.cdf(t) - bottom) / mass)
    return SmoothPiece(low, high, F, lambda t: piece.pdf(t) / mass, taylor)


# --- laws by name that are no one formula -------------------------------------------------------------------------


def _triangular(law: Triangular) -> PieceLaw:
    def of(owner: int) -> tuple[SmoothPiece, ...]:
        values = [_of(getattr(law, name), owner) for name in ("low", "mode", "high")]
        low, mode, high = (arb(x) for x in values)
        rising = _series("(theta - low)**2/((high - low)*(mode - low))", ("low", "mode", "high"))(low, mode, high)
        falling = _series("1 - (high - theta)**2/((high - low)*(high - mode))", ("low", "mode", "high"))(
            low, mode, high
        )
        sides = ((rising, values[0], values[1]), (falling, values[1], values[2]))
        return tuple(_polynomial(series, a, b) for series, a, b in sides if a < b)

    return of


def _polynomial(series: Callable[[Ball], list[Ball]], low: float, high: float) -> SmoothPiece:
    return SmoothPiece(low, high, lambda t: series(t)[0], lambda t: series(t)[1], lambda a, b: series(a.union(b)))


def _by_density(formula: str, constants: Callable[..., tuple[Ball, ...]]) -> Callable[[Valuation, BallLaw], PieceLaw]:
    """Give the pieces of laws whose F is a special function, but whose f is elementary: F^(k) = f^(k−1), and F does not fall."""

    def make(law: Valuation, balls: BallLaw) -> PieceLaw:
        names = (*law.parameters, *(f"constant_{k}" for k in range(2)))

        def of(owner: int) -> tuple[SmoothPiece, ...]:
            own, low, high = balls(owner), _of(law.low, owner), _of(law.high, owner)
            parameters = [arb(_of(getattr(law, name), owner)) for name in law.parameters]
            density = _series(formula, names)(*parameters, *constants(*parameters))
            F = _with_ends(low, high, own.at_low, own.at_high, own.cdf)

            def taylor(a: Ball, b: Ball) -> list[Ball]:
                f = density(a.union(b))
                return [F(a).union(F(b)), *(coefficient / (k + 1) for k, coefficient in enumerate(f[:-1]))]

            return (SmoothPiece(low, high, F, own.pdf, taylor),)

        return of

    return make


def _beta_constants(a: Ball, b: Ball, low: Ball, high: Ball) -> tuple[Ball, ...]:
    return ((a + b).lgamma() - a.lgamma() - b.lgamma()).exp() / (high - low), arb(0)


def _gamma_constants(shape: Ball, scale: Ball, low: Ball, high: Ball) -> tuple[Ball, ...]:
    heaped = [arb(0) if t == 0 else (t / scale).gamma_lower(shape, regularized=1) for t in (low, high)]
    return 1 / (scale * (heaped[1] - heaped[0])), shape.lgamma()


def _log_normal_constants(mu: Ball, sigma: Ball, low: Ball, high: Ball) -> tuple[Ball, ...]:
    root = sigma * arb(2).sqrt()
    heaped = [arb(0) if t == 0 else ((mu - t.log()) / root).erfc() for t in (low, high)]
    return 2 / (arb.pi().sqrt() * root * (heaped[1] - heaped[0])), root


_DENSITIES: dict[type[Valuation], Callable[[Valuation, BallLaw], PieceLaw]] = {
    Beta: _by_density(
        "constant_0*((theta - low)/(high - low))**(a - 1)*((high - theta)/(high - low))**(b - 1)", _beta_constants
    ),
    Gamma: _by_density("constant_0*exp((shape - 1)*log(theta/scale) - theta/scale - constant_1)", _gamma_constants),
    LogNormal: _by_density("constant_0*exp(-((log(theta) - mu)/constant_1)**2)/theta", _log_normal_constants),
}
