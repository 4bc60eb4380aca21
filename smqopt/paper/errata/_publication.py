"""F7: what may be published about the noise of a count."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from smqopt.numeric import ROUNDING
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.query import Count, pe_law

Tail = Callable[[Sequence[int], Sequence[float], int], float]
"""From entries, ε and t to a published bound on P(|r − φ| ≥ t)."""

REQUIREMENTS = ((0.0, 0.0, 0.0), (0.25, 0.5, 1.0, 2.0), (3.0, 3.0, 3.0, 3.0, 3.0), (1.0,), (0.0, 4.0, 4.0, 4.0))


def exact_tail(entries: Sequence[int], epsilon: Sequence[float], t: int) -> float:
    """Return P(|r − φ| ≥ t) itself, from the law of the answer."""
    score = Count().score(np.array(entries, dtype=np.int64), np.array(epsilon))
    far = np.abs(score.results - sum(entries)) >= t
    return math.fsum(pe_law(score)[far].tolist())


def tail_bound(entries: Sequence[int], epsilon: Sequence[float], t: int) -> float:  # noqa: ARG001
    """Return 2 Σ_{s ≥ t} e^(−S(s)/2), S(s) the sum of the s smallest ε."""
    cheapest = np.cumsum(sorted(epsilon))
    return 2.0 * math.fsum(math.exp(-0.5 * cost) for cost in cheapest[t - 1 :].tolist())


def _trial(tail: Tail) -> Finding:
    """Check that the bound holds and is the same for all entries."""
    tried = 0
    for epsilon in REQUIREMENTS:
        k = len(epsilon)
        for t in range(1, k + 1):
            published = set()
            for entries in product((0, 1), repeat=k):
                bound, exact = tail(entries, epsilon, t), exact_tail(entries, epsilon, t)
                if exact > bound * (1.0 + ROUNDING.value):
                    return Finding(
                        False, f"ε = {epsilon}, entries {entries}: P(|r − φ| ≥ {t}) = {exact:.6f} > {bound:.6f}"
                    )
                published.add(bound)
                tried += 1
            if len(published) > 1:
                return Finding(
                    False,
                    f"ε = {epsilon}, t = {t}: what is published is {min(published):.6f} or {max(published):.6f}, by the private entries",
                )
    return Finding(True, f"the bound holds and says nothing of the entries, in {tried} cases")


PUBLICATION = Entry(
    "F7",
    "P-E, count",
    Claim("the exact law of the answer, or a quantile of it, may be published beside it", exact_tail),
    Claim("these are private; P(|r − φ| ≥ t) ≤ 2 Σ_{s≥t} e^(−S(s)/2) uses public ε alone", tail_bound),
    _trial,
)
