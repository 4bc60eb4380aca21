"""E9: the score of a linear predictor needs entries with public bounds."""

from __future__ import annotations

import math
from itertools import combinations

from smqopt.paper.errata._entry import Claim, Entry, Finding

Bounds = tuple[float, float]
"""Between what an entry may lie."""

WEIGHTS = (1.0, 2.0, -1.0)
ENTRIES = (0.25, 0.5, 0.75)
EPSILON = (0.5, 0.25, 1.0)
DISTANCES = (0.125, 1.0, 1.25, 2.0, 1e6)


def exact_cost(distance: float, bounds: Bounds) -> float:
    """Return the least Σ ε_i whose entries raise Σ w_i d_i by the distance, or +∞."""
    room = [max(w * (end - d) for end in bounds) for w, d in zip(WEIGHTS, ENTRIES, strict=True)]
    owners = range(len(WEIGHTS))
    sets = (chosen for size in range(len(WEIGHTS) + 1) for chosen in combinations(owners, size))
    return min(
        (sum(EPSILON[i] for i in chosen) for chosen in sets if sum(room[i] for i in chosen) >= distance),
        default=math.inf,
    )


def _trial(bounds: Bounds) -> Finding:
    """Check that no entry alone reaches all results."""
    costs = [exact_cost(distance, bounds) for distance in DISTANCES]
    told = f"−σ at distances {DISTANCES} is {tuple(costs)}; min ε = {min(EPSILON)}"
    return Finding(costs == sorted(costs) and costs[-1] > max(EPSILON), told)


UNBOUNDED_ENTRIES = Entry(
    "E9",
    "P-E, linear predictor",
    Claim("σ maximises over all d′ ∈ ℝⁿ", (-math.inf, math.inf)),
    Claim("entries need public bounds, else one entry reaches every result and σ = −min ε_i at each", (0.0, 1.0)),
    _trial,
)
