"""E19: a sensitivity read off the private sample leaks it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Sensitivity = Callable[[Sequence[int]], int]
"""From the bought entries to the Δφ that scales the noise."""

VALUES = (0, 1, 2, 3)
"""The public range."""
BOUGHT = 3
LEFT = 2
"""n − k; the promise is 1/(n − k)-DP."""


def median(entries: Sequence[int]) -> int:
    """Return the lower median."""
    return sorted(entries)[(len(entries) - 1) // 2]


def neighbours(entries: Sequence[int]) -> list[tuple[int, ...]]:
    """Return every data set that differs in one entry."""
    return [
        (*entries[:i], value, *entries[i + 1 :])
        for i, value in product(range(len(entries)), VALUES)
        if value != entries[i]
    ]


def on_the_sample(entries: Sequence[int]) -> int:
    """How far the median of this sample moves when one entry changes."""
    return max(abs(median(entries) - median(other)) for other in neighbours(entries))


def on_the_public_range(entries: Sequence[int]) -> int:  # noqa: ARG001
    """d̄ − d̲."""
    return max(VALUES) - min(VALUES)


def laplace_loss(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the supremum of the log-ratio of two Laplace densities."""
    (centre, scale), (other_centre, other_scale) = first, second
    if scale != other_scale:
        return math.inf  # in the tails, or at the one point without noise
    distance = abs(centre - other_centre)
    if distance == 0:
        return 0.0
    return distance / scale if scale > 0 else math.inf


def _trial(sensitivity: Sensitivity) -> Finding:
    worst, where = 0.0, ""
    for entries in product(VALUES, repeat=BOUGHT):
        for other in neighbours(entries):
            loss = laplace_loss(*((median(d), sensitivity(d) * LEFT) for d in (entries, other)))
            if loss > worst:
                worst = loss
                where = f"between {entries}, Δφ = {sensitivity(entries)}, and {other}, Δφ = {sensitivity(other)}"
    return Finding(worst <= 1 / LEFT, f"the privacy loss is up to {worst:g} where {1 / LEFT:g} is promised, {where}")


SAMPLE_SENSITIVITY = Entry(
    "E19",
    "FQ for the median",
    Claim("Δφ is the sensitivity of φ on the sample d_c", on_the_sample),
    Claim("that is itself a leak; use the public range", on_the_public_range),
    _trial,
)
