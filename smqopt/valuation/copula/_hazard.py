"""Whether the hazard rate of θ given ε is non-decreasing, for a uniform θ.

Decided by one number, as regularity is.

With x = s y + r z the normal score of θ, h = φ(y)/(Φ(−y) s φ(x)) f, and d log h/dx = (k(y) + s r
z)/s², k(y) = λ(y) − r² y, where λ = φ(y)/Φ(−y). λ is convex with λ′ = λ (λ − y) rising from 0 to 1,
so k has one least value k*, where λ′ = r²: h is non-decreasing exactly where s r z ≥ −k*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from scipy.special import erfcx, ndtr

from smqopt.numeric import Floats, ball, increasing_root, precision
from smqopt.valuation.copula._protocol import Conditional
from smqopt.valuation.families._uniform import Uniform
from smqopt.valuation.law._verdict import Hazard

BITS = 200
"""Precision of the balls: about 60 digits."""
NUDGE = 2.0**-30
"""Half-width of the enclosure of the place of the least value."""
FARTHEST = 40.0
"""The place lies within ± this for every ρ that a double holds."""
STEPS = 2.0 ** -np.arange(0.0, 30.0)
"""Half the distances in y between the two points of a witness that are tried."""


def decide_copula_hazard(law: Conditional) -> Hazard:
    """Decide for the owner whose hazard rate falls soonest; all others follow.

    Parameters
    ----------
    law
        The law of θ given ε.
    """
    if not isinstance(law.valuation, Uniform):
        return Hazard(
            None, "no rule covers the law of θ given ε unless θ is uniform", owner=None if law.size is None else 0
        )
    score = np.atleast_1d(np.asarray(law.score))
    signed = score if law.link.r > 0 else -score
    worst = int(np.argmin(signed))
    with precision(BITS):
        r = 2 * (arb.pi() * ball(law.link.correlation) / 6).sin()
        s = (1 - r * r).sqrt()
        z = ball(float(score[worst]))
        place = float(increasing_root(_excess(float(r.mid()) ** 2), np.array([-FARTHEST]), np.array([FARTHEST]))[0])
        a, b = ball(place - NUDGE), ball(place + NUDGE)
        if _slope(a, r) < 0 < _slope(b, r):
            least = _k(a, r) + _slope(a, r) * (b - a)  # k is convex: it lies above its tangent at a
            if least + s * r * z >= 0:
                return Hazard(True, "√(1−r²) r z ≥ −k*(r) for every owner, in ball arithmetic")
        whose = None if law.size is None else worst
        for step in STEPS.tolist():
            found = _witness(law, worst, (place - step, place + step), (r, s, z))
            if found is not None:
                return Hazard(False, "both values of h in ball arithmetic", *found, whose)
    return Hazard(None, "√(1−r²) r z is not above −k*(r), but no two doubles show a fall", owner=whose)


def _witness(
    law: Conditional, owner: int, scores: tuple[float, float], link: tuple[Any, Any, Any]
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    r, s, z = link
    low, high = (float(np.broadcast_to(end, law.size or 1)[owner]) for end in (law.low, law.high))
    points = [low + (high - low) * float(ndtr(float((s * ball(y) + r * z).mid()))) for y in scores]
    if not low < points[0] < points[1] < high:
        return None
    hazards = [_hazard(ball(t), ball(low), ball(high), link) for t in points]
    if not hazards[0] > hazards[1]:
        return None
    return (points[0], points[1]), (float(hazards[0].mid()), float(hazards[1].mid()))


def _hazard(theta: Any, low: Any, high: Any, link: tuple[Any, Any, Any]) -> Any:
    r, s, z = link
    share = (theta - low) / (high - low)
    x = -arb(2).sqrt() * (2 * share).erfcinv()
    return _lambda((x - r * z) / s) / (s * (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * (high - low))


def _lambda(y: Any) -> Any:
    """λ(y) = φ(y)/Φ(−y)."""
    return (-y * y / 2).exp() / (arb.pi() / 2).sqrt() / (y / arb(2).sqrt()).erfc()


def _k(y: Any, r: Any) -> Any:
    return _lambda(y) - r * r * y


def _slope(y: Any, r: Any) -> Any:
    return _lambda(y) * (_lambda(y) - y) - r * r


def _excess(r_squared: float) -> Any:
    def excess(y: Floats, _: object) -> Floats:
        rate = np.sqrt(2.0 / np.pi) / erfcx(y / np.sqrt(2.0))
        return np.asarray(rate * (rate - y) - r_squared)

    return excess
