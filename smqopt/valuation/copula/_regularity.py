"""Whether the law of θ given ε is regular.

Decided for a uniform θ by one number, for others where that number or a witness decides.

For a uniform θ, J falls exactly where κ = s z/r > κ*(r) (see `copula_shape`); where the density of
θ is non-increasing, κ ≤ κ* still proves that J does not fall. Both sides are compared in ball
arithmetic, for the very doubles ρ and z; so are the two values of J of a witness.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.valuation.copula._normal_scores import valuation_at_score
from smqopt.valuation.copula._protocol import Conditional
from smqopt.valuation.copula._shape import critical_kappa, falls
from smqopt.valuation.families._uniform import Uniform
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import Irregular, Regular, Undecided, Verdict

BITS = 200
"""Precision of the balls: about 60 digits."""
MARGINAL_BITS = 36
"""A marginal law that is not uniform is trusted to so many bits at a witness."""
NUDGE = 2.0**-30
"""Half-width of the first enclosure of y*."""
SAMPLE = 1024
"""So many owners are searched for a witness where θ is not uniform, evenly chosen by score, the
extremes among them."""
POINTS = 65
"""Thresholds within a flat piece at which the deepest fall is looked for."""
MOST_WITNESSES = 16
"""So many owners, those with the deepest falls, are tried until two doubles show a fall."""


def decide_copula_regularity(law: Conditional) -> Verdict:
    """Return the worst verdict over the owners, and whose it is.

    Parameters
    ----------
    law
        A `CopulaConditional`.

    Returns
    -------
    Verdict
        Regular only with a proof for every owner; Irregular with the deepest fall found, proved in
        ball arithmetic; else Undecided, with the first owner that no proof covers.
    """
    before = ctx.prec
    ctx.prec = BITS
    try:
        return _decide(law)
    finally:
        ctx.prec = before


def _decide(law: Conditional) -> Verdict:
    score = np.atleast_1d(np.asarray(law.score))
    signed = score if law.link.r > 0 else -score
    worst = int(np.argmax(signed))
    below = _is_below_critical(law.link.correlation, float(score[worst]))
    if below and law.valuation.has_falling_density():
        return Regular("the density of θ is non-increasing and √(1−r²) z/r ≤ κ*(r) for every owner, in ball arithmetic")
    witness = _witness_uniform(law) if isinstance(law.valuation, Uniform) else _witness_by_search(law)
    if witness is not None:
        return witness
    whose = None if law.size is None else worst
    if isinstance(law.valuation, Uniform):
        return Undecided("√(1−r²) z/r is not below κ*(r), but no two doubles show a fall", whose)
    return Undecided("no proof covers this law of θ, and no witness was found among owners evenly chosen", whose)


def _is_below_critical(correlation: float, score: float) -> bool:
    """Say whether κ = s z/r ≤ κ*(r) is proved."""
    r = _gaussian_parameter(correlation)
    kappa = (1 - r * r).sqrt() * _ball(score) / r
    if kappa <= 0:
        return True
    y_star, _ = critical_kappa(float(r.mid()))
    # k rises, and M²/M′ rises through 2/r² at y*: from a point where it is not above, k is at most
    # κ*
    y = _ball(y_star - NUDGE)
    M = _mills(y)
    M_slope = 1 + y * M
    return bool(M * M / M_slope <= 2 / (r * r)) and bool(kappa <= y + M / M_slope)


def _witness_uniform(law: Conditional) -> Irregular | None:
    r, s = law.link.r, law.link.s
    score = np.atleast_1d(np.asarray(law.score))
    owner, y1, y2 = falls(law.link, score)
    part = law if law.size is None else law.take(owner)
    first, second = (valuation_at_score(part.valuation, s * y + r * score[owner]) for y in (y1, y2))
    # a valley beyond the last double below high: J still falls at that double, and is +∞ at high
    return _deepest(law, owner, first, np.minimum(second, np.nextafter(part.high, part.low)))


def _witness_by_search(law: Conditional) -> Irregular | None:
    score = np.atleast_1d(np.asarray(law.score))
    order = np.argsort(score, kind="stable")
    tried = np.unique(order[np.unique(np.linspace(0, score.size - 1, SAMPLE).astype(np.intp))])
    part = law if law.size is None else law.take(tried)
    pieces = part.flat_pieces()
    if not len(pieces):
        return None
    mine = part if law.size is None else part.take(pieces.owner)
    theta = pieces.low + np.linspace(0.0, 1.0, POINTS)[:, None] * (pieces.high - pieces.low)
    J = mine.virtual_cost(np.minimum(theta, pieces.high))
    finite = np.isfinite(J)
    J = np.where(finite, J, 0.0)
    highest = np.maximum.accumulate(J, axis=0)
    second = np.argmax(np.where(finite, highest - J, 0.0), axis=0)
    every = np.arange(len(pieces))
    first = np.argmax(highest[second, every] == J, axis=0)
    return _deepest(law, tried[pieces.owner], theta[first, every], theta[second, every])


def _deepest(law: Conditional, owner: NDArray[np.intp], first: Floats, second: Floats) -> Irregular | None:
    """Return the deepest of some falls that balls prove."""
    part = law if law.size is None else law.take(owner)
    with np.errstate(invalid="ignore"):
        depth = (part.virtual_cost(first) - part.virtual_cost(second)) / (part.high - np.asarray(part.low))
    depth = np.where((first < second) & np.isfinite(depth), depth, -np.inf)
    for k in np.argsort(-depth, kind="stable")[:MOST_WITNESSES].tolist():
        if depth[k] <= 0:
            return None
        points = float(first[k]), float(second[k])
        costs = [_ball_virtual_cost(law, int(owner[k]), t) for t in points]
        if costs[0] > costs[1]:
            exact = isinstance(law.valuation, Uniform)
            method = "both values of J in ball arithmetic" + (
                "" if exact else f", F and f of θ trusted to {MARGINAL_BITS} bits"
            )
            shown = float(costs[0].mid()), float(costs[1].mid())
            return Irregular(method, points, shown, None if law.size is None else int(owner[k]))
    return None


def _ball_virtual_cost(law: Conditional, owner: int, t: float) -> Any:
    """J(t) = t + s φ(x) M(y)/f(t) as a ball."""
    marginal = law.valuation if law.valuation.size is None else law.valuation.take(np.array([owner]))
    z = _ball(float(np.atleast_1d(np.asarray(law.score))[owner if law.size is not None else 0]))
    r = _gaussian_parameter(law.link.correlation)
    s = (1 - r * r).sqrt()
    x, f = _marginal(marginal, t)
    y = (x - r * z) / s
    return _ball(t) + s * (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * _mills(y) / f


def _marginal(law: Valuation, t: float) -> tuple[Any, Any]:
    """Return x = Φ⁻¹(F(t)) and f(t) as balls."""
    if isinstance(law, Uniform):
        low, high = (_ball(float(np.atleast_1d(np.asarray(end))[0])) for end in (law.low, law.high))
        width = high - low
        F, S, f = (_ball(t) - low) / width, (high - _ball(t)) / width, 1 / width
    else:
        at = np.array([t])
        F, S, f = (
            _is_trusted(float(value[0]))
            for value in (np.exp(law.log_cdf(at)), np.exp(law.log_survival(at)), law.pdf(at))
        )
    x = -(2 * F).erfcinv() if F < S else (2 * S).erfcinv()
    return arb(2).sqrt() * x, f


def _is_trusted(value: float) -> Any:
    return _ball(value) * (1 + arb(0, 2.0**-MARGINAL_BITS))


def _mills(y: Any) -> Any:
    """M(y) = Φ(y)/φ(y)."""
    return (arb.pi() / 2).sqrt() * (-y / arb(2).sqrt()).erfc() * (y * y / 2).exp()


def _gaussian_parameter(correlation: float) -> Any:
    return 2 * (arb.pi() * _ball(correlation) / 6).sin()


def _ball(x: float) -> Any:
    numerator, denominator = float(x).as_integer_ratio()
    return arb(fmpq(numerator, denominator))
