"""E12: the median of entries that repeat, and of an even number of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.query import Median

MedianOf = Callable[[Sequence[int]], int | None]
"""From entries to their median; None where the definition names none."""

VALUES = (1, 2, 3)
MOST_ENTRIES = 5


def of_distinct_entries(entries: Sequence[int]) -> int | None:
    """Return the entry with as many below as above it: the m of Lemma 1."""
    middle = {m for m in entries if sum(d < m for d in entries) == sum(d > m for d in entries)}
    return middle.pop() if len(middle) == 1 else None


def lower_median(entries: Sequence[int]) -> int | None:
    """Return the h-th smallest of k entries, h = ⌈k/2⌉."""
    return sorted(entries)[(len(entries) + 1) // 2 - 1]


def _trial(median: MedianOf) -> Finding:
    """Check that every data set has a median, where alone the score is 0."""
    query = Median(min(VALUES), max(VALUES))
    tried = 0
    for k in range(1, MOST_ENTRIES + 1):
        for entries in product(VALUES, repeat=k):
            score = query.score(np.array(entries, dtype=np.int64), np.ones(k))
            free = score.results[np.repeat(score.cost, score.length) == 0].tolist()
            if free != [median(entries)]:
                return Finding(
                    False, f"entries {entries}: the definition names {median(entries)}, the query answers {free[0]}"
                )
            tried += 1
    return Finding(True, f"one median, and no noise-free answer beside it, for all {tried} data sets from {VALUES}")


TIES = Entry(
    "E12",
    "Median experiment, accuracy (Lemma 1)",
    Claim("entries are distinct positive integers", of_distinct_entries),
    Claim("ages repeat: ties and even sizes need the lower median, the ⌈k/2⌉-th smallest", lower_median),
    _trial,
)
