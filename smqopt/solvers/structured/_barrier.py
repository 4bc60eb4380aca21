"""The dual minimised from inside.

D(z) − μ Σ log z_k for ever smaller μ, where the projected Newton steps do not arrive.

On the way every multiplier is positive, so no owner is ever asked for her answer at price 0, and
every row is kept strictly: at the minimum for μ the rows leave μ/z_k, and D exceeds the value of
the answer by μ a row (Boyd and Vandenberghe 2004, section 11.2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smqopt.numeric import Floats
from smqopt.solvers.structured._dual_newton import Dual, DualPoint

_FIRST, _LAST = 2.0**-3, 2.0**-46
"""μ in units of all privacy, at the start and at the end."""
_SHRINK, _SHRINK_FAST = 0.1, 0.01
_SHRINK_JUMPS = 0.4
"""Slower where acceptance jumps: the price must not fall out of the spread of its jump from one μ
to the next."""
_LARGEST_SPREAD, _LEAST_SPREAD = 2.0**-4, 2.0**-24
"""By how much jumps are spread: by as much as μ is of all privacy, between the two. A smaller μ
comes no nearer then."""
_NEWTON = 40
"""Newton steps for one μ at most."""
_RIDGE = 2.0**-20
"""Of μ, for equations: their multipliers have no logarithm that keeps the system regular."""
_NEAR = 2.0**-12
"""A squared Newton decrement below this share of μ ends the steps for it."""
_SUFFICIENT = 0.01
_SHORTEST = 2.0**-30
_LEAST_LEFT = 0.05
"""What a step leaves of a multiplier at least."""
_LONGEST = 20.0
"""A step multiplies no multiplier by more."""


def follow(dual: Dual, z: Floats, all_privacy: float, *, impossible: float) -> Iterator[DualPoint]:
    """Follow the minimum of D − μ Σ log z as μ falls, a point for each μ.

    Stops early where D falls below `impossible`.

    Parameters
    ----------
    dual
        The dual.
    z
        Where to start; what is not positive is replaced.
    all_privacy
        Σ m_i ε_i, the unit of μ.
    impossible
        A value of D that no feasible program has.
    """
    jumps = dual.owners.jumps
    mu, last = _FIRST * all_privacy, (_LEAST_SPREAD if jumps else _LAST) * all_privacy
    scale = dual.at(np.zeros(z.size) + (z[0] if z[0] > 0 else 0.0), 0.0).scale
    z = np.where(dual.equal | ~dual.speaks, 0.0, np.where(z > 0, z, mu / np.maximum(scale, np.finfo(float).tiny)))
    while True:
        h = min(_LARGEST_SPREAD, mu / all_privacy) if jumps else 0.0
        point = dual.at(z, h)
        steps = 0
        for steps in range(_NEWTON):  # noqa: B007
            if point.value < impossible:
                yield point
                return
            following = _step(dual, point, mu, h, all_privacy)
            if following is None:
                break
            point = following
        z = point.z
        yield point
        if mu <= last:
            return
        shrink = _SHRINK_JUMPS if jumps else _SHRINK_FAST if steps <= 2 else _SHRINK
        mu = max(mu * shrink, last)


def _step(dual: Dual, point: DualPoint, mu: float, h: float, all_privacy: float) -> DualPoint | None:
    """Take a Newton step, relative to the multipliers.

    None where the minimum for μ is near, or no step brings a decrease.
    """
    held = ~dual.equal & dual.speaks
    free = dual.equal & (point.scale > 0)
    unit = np.where(held, point.z, 0.0)
    unit[free] = all_privacy / point.scale[free]
    g = unit * point.left - np.where(held, mu, 0.0)
    H = dual.second_derivative(point) * np.outer(unit, unit)
    H += np.diag(np.where(held, mu, mu * _RIDGE))
    size = np.sqrt(np.diag(H))
    scaled = H / np.outer(size, size)
    try:
        direction = np.linalg.solve(scaled, -g / size) / size
    except np.linalg.LinAlgError:  # multipliers that grow without end, where nothing satisfies the constraints
        direction = np.linalg.lstsq(scaled, -g / size, rcond=None)[0] / size
    decrement = float(-direction @ g)
    if not decrement > _NEAR * mu:
        return None
    fall = float(np.max(-direction, where=held, initial=0.0))
    rise = float(np.max(np.where(held, direction, np.abs(direction))))
    share = 1.0 / max(1.0, fall / (1.0 - _LEAST_LEFT), rise / _LONGEST)

    def merit(at: DualPoint) -> float:
        return at.value - mu * float(np.sum(np.log(at.z[held])))

    here = merit(point)
    while share > _SHORTEST:
        new = dual.at(point.z + share * unit * direction, h)
        if merit(new) <= here - _SUFFICIENT * share * decrement:
            return new
        share *= 0.5
    return None
