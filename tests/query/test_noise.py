"""The public half-width against the exact law, on every small data set."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from smqopt.query import Count, Median, pe_law
from smqopt.query.exponential._noise import fewest_changes
from smqopt.query.exponential._release import lower_to_grid, whole_weights

LEVELS = [1e-9, 0.3, 0.5, 0.8, 0.95, 0.999, 1 - 2.0**-53]


def laws(query, entries, epsilon):
    """Give results, P-E law, and the exact law of the draw."""
    score = query.score(entries, epsilon)
    used, ceiling = lower_to_grid(epsilon)
    cut = query.score(entries, used, ceiling)
    weights = [w for w, length in zip(whole_weights(cut.cost), cut.length.tolist(), strict=True) for _ in range(length)]
    return score.results, pe_law(score), [Fraction(w, sum(weights)) for w in weights]


def coverage_holds(error, bound, law, drawn, level):
    outside = np.flatnonzero(error > bound)
    assert sum((drawn[j] for j in outside), Fraction(0)) <= 1 - Fraction(level)
    assert math.fsum(law[outside]) <= 1 - level + 1e-15


def test_count_stays_within_its_half_width(epsilon):
    k = epsilon.size
    for level in LEVELS:
        bound = Count().half_width(epsilon, level, population=k)
        assert 1 <= bound <= k
        for entries in product(range(2), repeat=k):
            results, law, drawn = laws(Count(), np.array(entries), epsilon)
            error = np.abs(results - sum(entries))
            coverage_holds(error, bound, law, drawn, level)
            if bound < k:  # then the error is even below the bound
                coverage_holds(error, bound - 1, law, drawn, level)


def test_median_stays_within_its_ranks(epsilon):
    k = epsilon.size
    h = (k + 1) // 2
    high = {1: 5, 2: 5, 3: 4, 4: 3, 5: 2, 6: 2}[k]
    query = Median(0, high)
    for level in LEVELS:
        bound = int(query.half_width(epsilon, level, population=k))
        assert 1 <= bound <= k // 2 + 1
        for entries in product(range(high + 1), repeat=k):
            results, law, drawn = laws(query, np.array(entries), epsilon)
            ranked = sorted(entries)
            lowest = ranked[h - bound - 1] if h - bound >= 1 else 0
            highest = ranked[h + bound - 1] if h + bound <= k else high
            error = np.where((results < lowest) | (results > highest), bound + 1, 0)
            coverage_holds(error, bound, law, drawn, level)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("k", [3, 40, 1000])
def test_half_widths_are_the_smallest_that_the_bound_gives(k, level):
    epsilon = np.random.default_rng(k).random(k)
    least = [math.fsum(sorted(epsilon)[:s]) for s in range(1, k + 1)]

    def count_tail(t):
        return 2 * math.fsum(math.exp(-least[s - 1] / 2) for s in range(t, k + 1))

    t = next((t for t in range(1, k + 1) if count_tail(t) <= 1 - level), k)
    assert Count().half_width(epsilon, level, population=10 * k) == 10 * t
    most = k // 2 + 1
    t = next((t for t in range(1, most + 1) if 120 * math.exp(-least[t - 1] / 2) <= 1 - level), most)
    assert Median(0, 120).half_width(epsilon, level, population=10 * k) == t


def test_without_any_requirement_only_the_whole_range_is_sure():
    assert Count().half_width(np.zeros(7), 0.95, population=21) == 21
    assert Median(0, 120).half_width(np.zeros(7), 0.95, population=21) == 4
    assert Median(0, 120).half_width(np.zeros(8), 0.95, population=21) == 5


def test_strong_requirements_leave_one_step():
    assert Count().half_width(np.full(10, 50.0), 0.95, population=10) == 1
    assert Median(0, 120).half_width(np.full(10, 50.0), 0.95, population=10) == 1


def test_half_width_grows_with_the_level_and_shrinks_with_epsilon():
    epsilon = np.random.default_rng(5).random(200)
    for query in (Count(), Median(0, 120)):
        widths = [query.half_width(epsilon, level, population=200) for level in LEVELS]
        assert widths == sorted(widths)
        assert query.half_width(3 * epsilon, 0.95, population=200) < query.half_width(epsilon, 0.95, population=200)


def test_the_smallest_step_is_taken_at_its_edge():
    assert fewest_changes(np.array([0.9, 0.5, 0.1]), 0.4) == 2
    assert fewest_changes(np.array([0.9, 0.5, 0.1]), 0.5) == 3  # 0.5 ≤ 0.5 is not safe once rounding is borne
    assert fewest_changes(np.array([0.9, 0.5, 0.1]), 0.95) == 3
