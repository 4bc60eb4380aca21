"""A fall of the virtual cost, looked for on a grid, in doubles."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import FALL, Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import Irregular, Undecided, Verdict

GRID = 1024
"""Even steps in θ, and as many in q."""
TAIL = 2.0 ** -np.arange(11.0, 40.0)
"""Steps towards both ends, in widths."""
MAX_OWNERS = 64
"""Of a law of more owners so many are looked at, evenly chosen."""


def seek_fall(law: Valuation, reason: str) -> Verdict:
    """Look for two points between which J falls by far more than rounding.

    Parameters
    ----------
    law
        With a density; common, or one an owner.
    reason
        Why nothing better than sampling can be done.

    Returns
    -------
    Irregular or Undecided
        Irregular with the deepest fall of the first owner who has one; never Regular, for a grid
        proves nothing.
    """
    owners = [None] if law.size is None else np.unique(np.linspace(0, law.size - 1, MAX_OWNERS).astype(int)).tolist()
    for owner in owners:
        one = law if owner is None else law.take(np.array([owner]))
        fall = deepest_fall(one, candidates(one))
        if fall is not None:
            (a, b), costs = fall
            return Irregular(
                f"{reason}; found on a grid, in doubles, with a fall far above rounding", (a, b), costs, owner
            )
    return Undecided(f"{reason}; no fall of J was found on a grid, which proves nothing")


def candidates(law: Valuation) -> Floats:
    """Return points of the support of one owner.

    Even in θ and in q, geometric towards both ends, and on both sides of joints; shape (m,).
    """
    low, high = float(np.ravel(law.low)[0]), float(np.ravel(law.high)[0])
    even = np.linspace(0.0, 1.0, GRID + 1)
    theta = low + (high - low) * np.unique(np.concatenate([even, TAIL, 1.0 - TAIL]))
    theta = np.unique(np.clip(theta, low, high))
    spread = np.interp(even, _each(law, "cdf", theta), theta)
    knots = np.ravel(law.knots())
    beside = [np.nextafter(knots, end) for end in (-np.inf, np.inf)]
    return np.unique(np.clip(np.concatenate([theta, spread, knots, *beside]), low, high))


def deepest_fall(law: Valuation, theta: Floats) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Return the two points with the deepest fall of J, relative to J, and J there.

    None where no fall exceeds the margin.
    """
    J, F = _each(law, "virtual_cost", theta), _each(law, "cdf", theta)
    # J is infinite where the density vanishes between two pieces; where F has all but vanished,
    # that may be underflow
    known = np.isfinite(J) | (np.isposinf(J) & (FALL.value < F) & (F < 1.0))
    theta, J = theta[known], J[known]
    if theta.size < 2:
        return None
    highest = np.maximum.accumulate(J)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = np.where(highest == np.inf, np.inf > J, np.where(highest > 0, (highest - J) / highest, 0.0))
    last = int(np.argmax(depth))
    if not depth[last] > FALL.value:
        return None
    first = int(np.argmax(J[: last + 1]))
    return (float(theta[first]), float(theta[last])), (float(J[first]), float(J[last]))


def _each(law: Valuation, method: str, theta: Floats) -> Floats:
    """Evaluate a law of one owner, or a common one, at many points."""
    value: Floats = getattr(law, method)(theta if law.size is None else theta[:, None])
    return np.ravel(value)
