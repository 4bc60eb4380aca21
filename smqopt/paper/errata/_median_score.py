"""F5: the score of the lower median."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.query import Median

Costs = Callable[[Sequence[int], Sequence[float]], list[float]]
"""From entries and ε to the cost of each value of the range."""

VALUES = (1, 2, 3)
EPSILON = (0.5, 0.25, 1.0, 0.75, 0.125)
"""Dyadic, so that sums are exact."""


def lower_median(entries: Sequence[int]) -> int:
    """Return the h-th smallest of k entries, h = ⌈k/2⌉."""
    return sorted(entries)[(len(entries) + 1) // 2 - 1]


def across_the_median(entries: Sequence[int], epsilon: Sequence[float]) -> list[float]:
    """Carry entries across the median, the cheapest first, as Appendix A does."""
    m = lower_median(entries)
    costs = []
    for r in VALUES:
        near = sum(min(m, r + 1) <= d <= max(m, r - 1) for d in entries) if r != m else 0
        far = sorted(e for d, e in zip(entries, epsilon, strict=True) if (d < m if r > m else d > m))
        costs.append(sum(far[:near]) if near <= len(far) else math.inf)
    return costs


def by_heaps(entries: Sequence[int], epsilon: Sequence[float]) -> list[float]:
    """Return Σ ε on the near side of r, less the largest that may stay there."""
    score = Median(min(VALUES), max(VALUES)).score(np.array(entries, dtype=np.int64), np.array(epsilon))
    costs: list[float] = np.repeat(score.cost, score.length).tolist()
    return costs


def _trial(costs: Costs) -> Finding:
    """Against the cheapest change that makes r the median, over all changes."""
    tried = 0
    for k in range(1, len(EPSILON) + 1):
        epsilon = EPSILON[:k]
        sets = list(product(VALUES, repeat=k))
        table = np.array(sets)
        medians = np.array([lower_median(d) for d in sets])
        for entries in sets:
            price = (table != np.array(entries)) @ np.array(epsilon)
            cheapest = [float(np.min(price[medians == r])) for r in VALUES]
            claimed = costs(entries, epsilon)
            if claimed != cheapest:
                return Finding(
                    False, f"entries {entries}, ε = {epsilon}: costs {claimed}, by trying every change {cheapest}"
                )
            tried += 1
    return Finding(True, f"equal to the cheapest of all changes on {tried} data sets, ties and even sizes among them")


MEDIAN_SCORE = Entry(
    "F5",
    "P-E, median",
    Claim("r above m costs the cheapest of the entries below m, as many as lie from m up to r", across_the_median),
    Claim(
        "r above m costs Σ ε over the entries below r less the h − 1 largest of them; below m alike, with k − h",
        by_heaps,
    ),
    _trial,
)
