"""Cone forms by law; laws without one are stated by pieces."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.program.cones import _powers as powers
from smqopt.program.cones._form import ConeForm, Stating, Term, pick
from smqopt.program.cones._hull import hull_cost
from smqopt.program.cones._pieces import Pieces
from smqopt.valuation import (
    Beta,
    Discrete,
    Gamma,
    Kumaraswamy,
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
LEAST_MASS = 0.2
"""From this Z of the exponential law, and M of Pareto's: terms of order 1/Z nearly cancel below."""
LEAST_TAIL = 2.0**-3
"""Of Pareto's, where 1 − M is at least this: below, 1/(1 − Mq) has a large range."""


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
    low, width = law.low / unit, law.width / unit
    yield from _power(low, width, 2.0, law.mode == law.high)
    yield law.mode == law.low, powers.falling_power, low, width, 2.0


def _exponential(
    law: Any, unit: Floats, scale: float | Floats, holds: bool | NDArray[np.bool_] = True
) -> Iterator[Case]:
    """C(q) = low q − scale q log(1 − Zq), with Z = 1 − e^(−width/scale)."""
    mass = -np.expm1(-law.width / scale)
    yield holds & (mass >= LEAST_MASS), powers.logarithm, law.low / unit, scale / unit, mass


def _pareto(law: Pareto, unit: Floats) -> Iterator[Case]:
    """C(q) = low q (1 − Mq)^(−1/a) with M = 1 − (low/high)^a."""
    mass = -np.expm1(law.a * np.log(law.low / law.high))
    exact = (mass >= LEAST_MASS) & (1.0 - mass >= LEAST_TAIL)
    for a in powers.INVERSE:
        yield exact & (law.a == a), powers.inverse_power, law.low / unit, mass, law.a


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
    TruncatedExponential: _by_cases(lambda law, unit: _exponential(law, unit, 1.0 / law.rate)),
    Kumaraswamy: _by_cases(_beta_or_kumaraswamy),
    Beta: _by_cases(_beta_or_kumaraswamy),
    Gamma: _by_cases(lambda law, unit: _exponential(law, unit, law.scale, law.shape == 1.0)),
    Weibull: _by_cases(lambda law, unit: _exponential(law, unit, law.scale, law.shape == 1.0)),
    Pareto: _by_cases(_pareto),
    Triangular: _by_cases(_triangular),
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
