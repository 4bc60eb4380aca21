"""The draw: it follows its law, and a release takes its bits from the cryptographic source."""

from __future__ import annotations

import math
import secrets
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats

from smqopt.query import Count, Median, Score, pe_law
from smqopt.query.exponential._release import below, draw, lower_to_grid, whole_weights

DRAWS = 20_000


def score_of(query, entries, epsilon):
    used, ceiling = lower_to_grid(np.array(epsilon))
    return query.score(np.array(entries), used, ceiling)


SCORES = [
    score_of(Count(), [1, 0, 0, 1, 0], [0.3, 0.9, 0.4, 1.2, 0.0]),
    score_of(Median(0, 9), [2, 2, 7, 4], [0.3, 0.9, 0.4, 1.2]),
]


def p_value(score, draws, law):
    counts = np.bincount(np.array(draws) - score.results[0], minlength=law.size)
    return scipy.stats.chisquare(counts, law * len(draws)).pvalue


@pytest.mark.parametrize("score", SCORES)
def test_simulated_draws_follow_the_law_and_no_other(score):
    rng = np.random.default_rng(20240229)
    draws = [draw(score, rng) for _ in range(DRAWS)]
    assert p_value(score, draws, pe_law(score)) > 0.01
    assert p_value(score, draws, pe_law(Score(score.start, score.length, 2 * score.cost))) < 1e-9


@pytest.mark.parametrize("score", SCORES)
def test_released_draws_follow_the_law(score):
    draws = [draw(score) for _ in range(DRAWS)]
    assert p_value(score, draws, pe_law(score)) > 1e-9


@pytest.mark.parametrize("score", SCORES)
def test_a_release_draws_one_whole_number_below_the_total_weight(score, monkeypatch):
    weights = [w for w, m in zip(whole_weights(score.cost), score.length.tolist(), strict=True) for _ in range(m)]
    asked = []

    def forced(u):
        def randbelow(bound):
            asked.append(bound)
            return u

        monkeypatch.setattr(secrets, "randbelow", randbelow)
        return draw(score)

    start = 0
    for result, weight in zip(score.results.tolist(), weights, strict=True):
        assert weight > 0
        assert forced(start) == forced(start + weight // 2) == forced(start + weight - 1) == result
        start += weight
    assert set(asked) == {sum(weights)}


def test_a_simulation_never_asks_the_cryptographic_source(monkeypatch):
    def refused(bound):
        raise AssertionError(bound)

    monkeypatch.setattr(secrets, "randbelow", refused)
    first, again = (draw(SCORES[0], np.random.default_rng(3)) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 8, 255, 256, 257])
def test_whole_numbers_below_a_bound_are_uniform(bound):
    rng = np.random.default_rng(bound)
    draws = np.array([below(bound, rng) for _ in range(40 * bound)])
    counts = np.bincount(draws, minlength=bound)
    assert counts.size == bound
    if bound > 1:
        assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_weights_are_whole_to_the_last_bit():
    cost = np.array([0.0, 2.0**-45, 1.0, 255.0, 256.0 - 2.0**-45, 256.0])
    weights = whole_weights(cost)
    assert weights[0] == 2**256
    assert all(later <= sooner for sooner, later in pairwise(weights))
    assert [w / 2**256 for w in weights] == [math.exp(-c / 2) for c in cost.tolist()]


@pytest.mark.parametrize("scale", [1.0, 1e-4])
@pytest.mark.parametrize("query", [Count(), Median(0, 120), Median(0, 10**6)], ids=repr)
def test_a_million_entries(benchmark, query, scale):
    rng = np.random.default_rng(1)
    k = 1_000_000
    epsilon = scale * rng.random(k)
    entries = rng.integers(0, getattr(query, "high", 1) + 1, k)
    benchmark.pedantic(lambda: pe_law(query.score(entries, epsilon, 1500.0)), rounds=1)
    assert benchmark.stats.stats.max < 2.0
