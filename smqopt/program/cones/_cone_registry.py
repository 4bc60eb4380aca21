"""Cone forms by law; laws without one are stated by pieces."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from smqopt.numeric import Floats
from smqopt.program.cones import _logarithm as logarithm, _powers as powers
from smqopt.program.cones._form import ConeForm, Stating, Term, pick
from smqopt.program.cones._hull import hull_cost
from smqopt.program.cones._pieces import Pieces
from smqopt.program.cones._quadrature import inverse_power
from smqopt.valuation import (
    Beta,
    Discrete,
    Gamma,
    Kumaraswamy,
    Logistic,
    Pareto,
    PiecewiseUniform,
    PiecewiseUniformByOwner,
    PointMass,
    Power,
    PriceBounded,
    PriceFloored,
    PriceListed,
    Triangular,
    TruncatedExponential,
    Uniform,
    Valuation,
    Weibull,
)

Case = tuple[bool | NDArray[np.bool_], Callable[..., Term], *tuple[float | Floats, ...]]
"""For which owners a term states the cost curve, the term, and its parameters."""

LARGEST_SHAPE = 16.0
"""Up to this b of Kumaraswamy's law the cone form is used: the terms are of order 1, and their sum
of order 1/b."""
LEAST_SIDE = 2.0**-10
"""The triangular law's cones are used where either side of the mode has this share of the width, or
none: a smaller one hardly counts, and solvers stall on it."""
LARGEST_MASS = 0.75
"""The Pareto law's for a > 1 up to this M; beyond, the quadrature needs too many terms."""
LEAST_TAIL = 2.0**-12
"""For a = 1, where 1 − M is at least this: below, 1/(1 − Mq) has too large a range."""
LEAST_TERM = 2.0**-13
"""The logistic law's where neither term is smaller than this, in units of currency: one that hardly
counts makes solvers stall."""
LEAST_INVERSE = 2.0**-29
"""And where 1/Y is at least this, or too small to count beside acceptance 1: in between, entropies
of a large range stall."""
LEAST_FALL = 2.0**-14
"""The same as `LEAST_INVERSE` where Z needs the quadrature."""


def _power(low: Floats, width: Floats, k: float | Floats, holds: bool | NDArray[np.bool_] = True) -> Iterator[Case]:
    """F = x^k:  C(q) = low q + width q^(1 + 1/k); the exponent may round to 1."""
    exponent, straight = 1.0 + 1.0 / np.asarray(k), 1.0 / (1.0 + 1.0 / np.asarray(k)) >= 1.0
    yield holds & straight, powers.linear, low + width
    for p in powers.SECOND_ORDER:
        yield holds & (exponent == p), powers.second_order_power, low, width, k
    yield holds & ~straight & ~np.isin(exponent, powers.SECOND_ORDER), powers.power, low, width, k


def _beta_or_kumaraswamy(law: Beta | Kumaraswamy, unit: Floats) -> Iterator[Case]:
    """F = x^a where b = 1, and F = 1 − (1 − x)^b where a = 1."""
    low, width = law.low / unit, law.width / unit
    yield from _power(low, width, law.a, law.b == 1.0)
    falls = (law.a == 1.0) & (law.b > 1.0) & (law.b <= LARGEST_SHAPE)
    yield falls, powers.falling_power, low, width, law.b


def _triangular(law: Triangular, unit: Floats) -> Iterator[Case]:
    """A power law where the mode is at high, Kumaraswamy's with b = 2 where at low."""
    low, mode, high = law.low / unit, law.mode / unit, law.high / unit
    share = (law.mode - law.low) / law.width
    yield from _power(low, law.width / unit, 2.0, law.mode == law.high)
    yield law.mode == law.low, powers.falling_power, low, law.width / unit, 2.0
    yield (share >= LEAST_SIDE) & (share <= 1.0 - LEAST_SIDE), powers.rise_and_fall, low, mode, high


def _exponential(
    law: Any, unit: Floats, rate: float | Floats, holds: bool | NDArray[np.bool_] = True
) -> Iterator[Case]:
    """C(q) = low q − q log(1 − Zq)/rate, with Z = 1 − e^(−rate width)."""
    mass = -np.expm1(-rate * law.width)
    curved = mass > logarithm.LARGEST_FALLING
    for mine, term in ((~curved, logarithm.falling_little), (curved, logarithm.falling)):
        yield holds & mine, _beside_low(term), law.low / unit, 1.0 / (rate * unit), mass


def _logistic(law: Logistic, unit: Floats) -> Iterator[Case]:
    """C(q) = low q + scale (q log(1 + Yq) − q log(1 − Zq)).

    Let G be the law before truncation, p = G(low) and D = G(high) − p. Acceptance q is u = p + Dq
    before truncation, and

        θ = mean + scale log(u/(1 − u)) = low + scale (log(u/p) − log((1 − u)/(1 − p))),

    where u/p = 1 + Yq with Y = D/p, and (1 − u)/(1 − p) = 1 − Zq with Z = D/(1 − p). Both terms of
    C are convex and none is negative, so that nothing cancels between them. Neither Y nor Z is made
    from D, which may lose all digits: 1/p = 1 + e^(−l), l = (low − mean)/scale, so that Z = G(high)
    (1 − e^(−width/scale)) and Y = Z e^(−l).
    """
    start, end = ((side - law.mean) / law.scale for side in (law.low, law.high))
    log_mass = log_expit(end) + np.log(-np.expm1(-law.width / law.scale))
    mass, log_inverse, scale = np.exp(log_mass), start - log_mass, law.scale / unit
    falls, rises = mass > logarithm.LARGEST_FALLING, log_inverse < -np.log(logarithm.LARGEST_RISING)
    steep = log_inverse < np.log(logarithm.NEGLIGIBLE)
    least = np.where(steep, -np.inf, np.log(np.where(falls, LEAST_INVERSE, LEAST_FALL)))
    smaller = scale * np.minimum(mass, np.exp(np.minimum(-log_inverse, 0.0)))
    exact = (smaller >= LEAST_TERM) & (log_inverse >= least)
    down = (~falls, logarithm.falling_little), (falls, logarithm.falling)
    up = (
        (~rises, logarithm.rising_little),
        (rises & ~steep, logarithm.rising),
        (rises & steep, logarithm.rising_steeply),
    )
    for (one, fall), (other, rise) in itertools.product(down, up):
        yield exact & one & other, _beside_low(fall, rise), law.low / unit, scale, mass, log_inverse


def _beside_low(*terms: Callable[..., Term]) -> Callable[..., Term]:
    """Return the term low q plus others, each of a common factor and a parameter."""

    def state(q: cp.Expression, low: Floats, factor: Floats, *parameters: Floats) -> Term:
        more = [term(q, factor, of_term) for term, of_term in zip(terms, parameters, strict=True)]
        cost = sum((one for one, _ in reversed(more)), start=cp.multiply(low, q))
        return cost, [constraint for _, side in more for constraint in side]

    return state


def _pareto(law: Pareto, unit: Floats) -> Iterator[Case]:
    """C(q) = low q (1 − Mq)^(−1/a) with M = 1 − (low/high)^a, for a ≥ 1."""
    ratio = np.asarray(law.low / law.high)
    mass = -np.expm1(law.a * np.log(ratio))
    one_term, many = (law.a == 1.0) & (ratio**law.a >= LEAST_TAIL), (law.a > 1.0) & (mass <= LARGEST_MASS)
    for mine in (many, one_term):
        yield mine, inverse_power, law.low / unit, mass, 1.0 / law.a


def _by_cases(cases: Callable[[Any, Floats], Iterator[Case]]) -> Stating:
    """Return a statement of those owners for whom one of a law's cases holds."""

    def state(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
        for holds, term, *parameters in cases(law, unit):
            owners = np.flatnonzero(np.broadcast_to(holds, unit.shape))
            if owners.size:
                cost, side = term(pick(q, owners), *(np.broadcast_to(one, unit.shape)[owners] for one in parameters))
                yield ConeForm(owners, cost, tuple(side))

    return state


CONE_FORMS: Mapping[type[Valuation], Stating] = {
    Uniform: _by_cases(lambda law, unit: _power(law.low / unit, law.width / unit, 1.0)),
    Power: _by_cases(lambda law, unit: _power(law.low / unit, law.width / unit, law.k)),
    TruncatedExponential: _by_cases(lambda law, unit: _exponential(law, unit, law.rate)),
    Kumaraswamy: _by_cases(_beta_or_kumaraswamy),
    Beta: _by_cases(_beta_or_kumaraswamy),
    Gamma: _by_cases(lambda law, unit: _exponential(law, unit, 1.0 / law.scale, law.shape == 1.0)),
    Weibull: _by_cases(lambda law, unit: _exponential(law, unit, 1.0 / law.scale, law.shape == 1.0)),
    Pareto: _by_cases(_pareto),
    Triangular: _by_cases(_triangular),
    Logistic: _by_cases(_logistic),
    **dict.fromkeys(
        (PiecewiseUniform, PiecewiseUniformByOwner, Discrete, PointMass, PriceListed, PriceBounded), hull_cost
    ),
}
"""A law's class → the function that states the cost curves of those owners for whose parameters
there is an exact form."""


def cone_forms(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the cost curves of owners whose laws are of one family.

    Exact forms are used where there is one for every owner. Where there is not, all are stated by
    straight pieces: a solver stalls on power and exponential cones beside pieces, and needs many
    times as long as with pieces alone.
    """
    if isinstance(law, PriceFloored):  # the larger of C(q) and the chord to the floor, which is below C beyond it
        for form in cone_forms(law.law, q, unit):
            chord = cp.multiply(law.floor / unit[form.owners], q[form.owners])
            yield dataclasses.replace(form, cost=cp.maximum(form.cost, chord))
        return
    stating: Stating = CONE_FORMS.get(type(law), cost_by_pieces)
    forms = list(stating(law, q, unit))
    yield from forms if sum(form.owners.size for form in forms) == q.size else cost_by_pieces(law, q, unit)


def cost_by_pieces(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the hull C̄ of C(q) = q F⁻¹(q) by straight pieces, to be refined."""
    pieces = Pieces(law, q, unit)
    yield ConeForm(np.arange(q.size), pieces.cost, (pieces.constraint,), pieces)
