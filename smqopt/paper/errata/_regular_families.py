"""F3: which members of the named families are regular."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from smqopt.numeric import FALL
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.valuation import Beta, Kumaraswamy, LogNormal, Pareto, Valuation

Shapes = Callable[[float, float], bool]
"""From the shapes a and b of a beta or Kumaraswamy law to whether it is claimed to be regular."""

A = (0.25, 0.5, 1.0, 2.0, 5.0)
B = (0.25, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0)
TO_THE_ENDS = 2.0 ** -np.arange(2.0, 45.0)
GRID = np.sort(np.concatenate([TO_THE_ENDS, np.linspace(0.25, 0.75, 201)[1:-1], 1.0 - TO_THE_ENDS]))
"""Fine towards both ends of [0, 1], where densities may vanish or be infinite."""


def log_concave_densities(a: float, b: float) -> bool:
    """Whether a ≥ 1 and b ≥ 1."""
    return a >= 1 and b >= 1


def finite_at_the_top(a: float, b: float) -> bool:  # noqa: ARG001
    """Whether b ≥ 1."""
    return b >= 1


def falls(law: Valuation) -> bool:
    """Whether J falls between neighbours of the grid, by more than rounding could."""
    low, high = float(np.min(law.low)), float(np.max(law.high))
    cost = law.virtual_cost(low + (high - low) * GRID)
    return bool(np.any(np.diff(cost) < -FALL.value * cost[1:]))


def _trial(regular: Shapes) -> Finding:
    for family, a, b in product((Beta, Kumaraswamy), A, B):
        found = not falls(family(a, b))
        if found != regular(a, b):
            return Finding(False, f"{family.__name__}({a:g}, {b:g}): J {'rises' if found else 'falls'}")
    others: dict[str, Valuation] = {f"Pareto({shape:g}, 1, 3)": Pareto(shape, 1.0, 3.0) for shape in (0.5, 1.0, 4.0)}
    others |= {f"LogNormal(0, {sigma:g}, 0, 3)": LogNormal(0.0, sigma, 0.0, 3.0) for sigma in (0.2, 1.0, 3.0)}
    fallen = [name for name, law in others.items() if falls(law)]
    return Finding(
        not fallen,
        f"as claimed for {2 * len(A) * len(B)} shapes; J falls for {fallen or 'none'} of {', '.join(others)}",
    )


REGULAR_FAMILIES = Entry(
    "F3",
    "regularity",
    Claim(
        "Beta and Kumaraswamy are regular exactly when their densities are log-concave, a ≥ 1 and b ≥ 1",
        log_concave_densities,
    ),
    Claim("exactly when b ≥ 1; a truncated Pareto always; LogNormal at σ = 0.2, 1, 3", finite_at_the_top),
    _trial,
)
