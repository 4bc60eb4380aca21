"""Smooth pieces of triangular laws and of special functions."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from smqopt.numeric import Ball, incomplete_gamma
from smqopt.valuation.families._beta import Beta
from smqopt.valuation.families._gamma import Gamma
from smqopt.valuation.families._log_normal import LogNormal
from smqopt.valuation.families._triangular import Triangular
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.table._ball_laws import BallLaw, number_of
from smqopt.valuation.table._smooth_piece import (
    PieceLaw,
    SmoothPiece,
    taylor_series,
    with_ends,
)


def _triangular(law: Valuation, _balls: BallLaw, order: int) -> PieceLaw:
    def of(owner: int) -> tuple[SmoothPiece, ...]:
        values = [number_of(law.arguments[name], owner) for name in ("low", "mode", "high")]
        low, mode, high = (arb(x) for x in values)
        rising = taylor_series("(theta - low)**2/((high - low)*(mode - low))", ("low", "mode", "high"), order)(
            low, mode, high
        )
        falling = taylor_series("1 - (high - theta)**2/((high - low)*(high - mode))", ("low", "mode", "high"), order)(
            low, mode, high
        )
        sides = ((rising, values[0], values[1]), (falling, values[1], values[2]))
        return tuple(_polynomial(series, a, b) for series, a, b in sides if a < b)

    return of


def _polynomial(series: Callable[[Ball], list[Ball]], low: float, high: float) -> SmoothPiece:
    return SmoothPiece(low, high, lambda t: series(t)[0], lambda t: series(t)[1], lambda a, b: series(a.union(b)))


def _by_density(
    formula: str, constants: Callable[..., tuple[Ball, ...]]
) -> Callable[[Valuation, BallLaw, int], PieceLaw]:
    """Make pieces of laws whose f is elementary: F^(k) = f^(k−1)."""

    def make(law: Valuation, balls: BallLaw, order: int) -> PieceLaw:
        names = (*law.parameters, *(f"constant_{k}" for k in range(2)))
        given, series = tuple(law.arguments.values()), taylor_series(formula, names, order)

        def of(owner: int) -> tuple[SmoothPiece, ...]:
            own, low, high = balls(owner), number_of(law.low, owner), number_of(law.high, owner)
            parameters = [arb(number_of(value, owner)) for value in given]
            density = series(*parameters, *constants(*parameters))
            F = with_ends(low, high, own.at_low, own.at_high, own.cdf)

            def taylor(a: Ball, b: Ball) -> list[Ball]:
                f = density(a.union(b))
                return [F(a).union(F(b)), *(coefficient / (k + 1) for k, coefficient in enumerate(f[:-1]))]

            return (SmoothPiece(low, high, F, own.pdf, taylor, lambda a, b: density(a.union(b))[1] / 2),)

        return of

    return make


def _beta_constants(a: Ball, b: Ball, low: Ball, high: Ball) -> tuple[Ball, ...]:
    return ((a + b).lgamma() - a.lgamma() - b.lgamma()).exp() / (high - low), arb(0)


def _gamma_constants(shape: Ball, scale: Ball, low: Ball, high: Ball) -> tuple[Ball, ...]:
    mass_below = [arb(0) if t == 0 else incomplete_gamma(shape, t / scale) for t in (low, high)]
    return 1 / (scale * (mass_below[1] - mass_below[0])), shape.lgamma()


def _log_normal_constants(mu: Ball, sigma: Ball, low: Ball, high: Ball) -> tuple[Ball, ...]:
    root = sigma * arb(2).sqrt()
    mass_below = [arb(0) if t == 0 else ((mu - t.log()) / root).erfc() for t in (low, high)]
    return 2 / (arb.pi().sqrt() * root * (mass_below[1] - mass_below[0])), root


PIECES_BY_NAME: dict[type[Valuation], Callable[[Valuation, BallLaw, int], PieceLaw]] = {
    Triangular: _triangular,
    Beta: _by_density(
        "constant_0*((theta - low)/(high - low))**(a - 1)*((high - theta)/(high - low))**(b - 1)", _beta_constants
    ),
    Gamma: _by_density("constant_0*exp((shape - 1)*log(theta/scale) - theta/scale - constant_1)", _gamma_constants),
    LogNormal: _by_density("constant_0*exp(-((log(theta) - mu)/constant_1)**2)/theta", _log_normal_constants),
}
"""What makes the pieces of such a law, from the law and its balls."""
