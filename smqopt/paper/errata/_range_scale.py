"""E8: the scale of the P-E mechanism's range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Scale = Callable[[Sequence[int]], Fraction]
"""From the allocation q to the factor that takes a count of the bought entries to the population.
"""

POPULATION = 4


def ratio_of_allocations(q: Sequence[int]) -> Fraction:
    """Return Σ_{s_i ∈ S} q_i / Σ_{s_i ∈ S_c} q_i, S_c the owners with q_i = 1."""
    return Fraction(sum(q), sum(q_i for q_i in q if q_i == 1))


def inverse_share(q: Sequence[int]) -> Fraction:
    """n/|S_c|."""
    return Fraction(len(q), sum(q))


def _trial(scale: Scale) -> Finding:
    """Check that the scaled count has the population's count as its mean."""
    for entries in product((0, 1), repeat=POPULATION):
        for size in range(1, POPULATION + 1):
            samples = [set(chosen) for chosen in combinations(range(POPULATION), size)]
            allocations = [[int(i in bought) for i in range(POPULATION)] for bought in samples]
            scaled = [scale(q) * sum(d * q_i for d, q_i in zip(entries, q, strict=True)) for q in allocations]
            mean = sum(scaled, Fraction(0)) / len(samples)
            if mean != sum(entries):
                return Finding(
                    False, f"entries {entries}, samples of {size}: mean {mean} for a count of {sum(entries)}"
                )
    return Finding(True, f"the mean over all samples is the count, for all {2**POPULATION} data sets of {POPULATION}")


RANGE_SCALE = Entry(
    "E8",
    "Query types, Range of P-E",
    Claim("counts are scaled by Σ_{s_i ∈ S} q_i / Σ_{s_i ∈ S_c} q_i, which is 1", ratio_of_allocations),
    Claim("n/|S_c| is meant", inverse_share),
    _trial,
)
