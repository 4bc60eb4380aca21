"""The P-E law against the definition: every data set of up to six owners, every neighbour, every result."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from smqopt.query import Count, Median, Score, audit_privacy, pe_law
from smqopt.query.exponential._exponential_law import VANISHED
from smqopt.query.exponential._release import lower_to_grid, whole_weights

ROUNDING = 1e-12


def lower_median(entries):
    return sorted(entries)[(len(entries) - 1) // 2]


def cases(k):
    """Query, exact function and alphabet for k entries: a range of five values where that stays small."""
    size = {1: 5, 2: 5, 3: 5, 4: 5, 5: 4, 6: 3}[k]
    return [(Count(), sum, range(2)), (Median(-1, size - 2), lower_median, range(-1, size - 1))]


def law_of(query, epsilon):
    def law(entries):
        score = query.score(entries, np.minimum(epsilon, VANISHED), VANISHED)
        return score.results.tolist(), pe_law(score)

    return law


def whole_law(query, entries, epsilon):
    """Give the exact law of the draw: results and fractions."""
    used, ceiling = lower_to_grid(epsilon)
    score = query.score(entries, used, ceiling)
    weights = [
        w for w, length in zip(whole_weights(score.cost), score.length.tolist(), strict=True) for _ in range(length)
    ]
    return score.results.tolist(), [Fraction(w, sum(weights)) for w in weights]


def test_law_is_that_of_the_definition(epsilon, brute_force):
    for query, phi, alphabet in cases(epsilon.size):
        truth = brute_force(phi, alphabet, epsilon)
        for entries, expected in zip(truth.datasets, truth.law, strict=True):
            results, probability = law_of(query, epsilon)(entries)
            assert results == truth.results
            np.testing.assert_allclose(probability, expected, rtol=ROUNDING, atol=0)
            assert math.isclose(math.fsum(probability), 1.0, rel_tol=ROUNDING)


def test_every_owner_gets_her_own_epsilon(epsilon):
    for query, _, alphabet in cases(epsilon.size):
        audit = audit_privacy(law_of(query, epsilon), epsilon, alphabet)
        assert audit.datasets == len(alphabet) ** epsilon.size
        assert audit.excess <= ROUNDING, audit
        assert np.all(audit.log_ratio <= epsilon + ROUNDING)


def test_the_draw_gives_every_owner_her_own_epsilon_with_no_tolerance_at_all(epsilon, brute_force):
    k = epsilon.size
    for query, phi, alphabet in ((Count(), sum, [0, 1]), (Median(-1, 1), lower_median, [-1, 0, 1])):
        truth = brute_force(phi, alphabet, epsilon)
        laws = [whole_law(query, entries, epsilon) for entries in truth.datasets]
        assert {tuple(results) for results, _ in laws} == {tuple(truth.results)}
        table = np.array([law for _, law in laws], dtype=object).reshape((len(alphabet),) * k + (-1,))
        with mpmath.workdps(60):
            for i in range(k):
                ratios = table.max(axis=i) / table.min(axis=i)
                worst = max(ratios.ravel().tolist())
                allowed = mpmath.exp(mpmath.mpf(float(epsilon[i])))
                assert mpmath.mpf(worst.numerator) / worst.denominator <= allowed
                if epsilon[i] == 0:
                    assert worst == 1
        slack = (k + 1) * 2.0**-44
        for (_, drawn), expected in zip(laws, truth.law, strict=True):
            np.testing.assert_allclose(np.log(np.array(drawn, dtype=np.float64)), np.log(expected), rtol=0, atol=slack)


def test_the_audit_catches_a_dropped_half(brute_force):
    epsilon = np.ones(4)
    for query, _, alphabet in cases(4):

        def forged(entries, query=query):
            score = query.score(entries, epsilon)
            return score.results.tolist(), pe_law(Score(score.start, score.length, 2 * score.cost))

        audit = audit_privacy(forged, epsilon, alphabet)
        assert audit.excess > 0.1
        values, likely = forged(np.array(audit.entries))
        _, unlikely = forged(np.array(audit.neighbour))
        at = values.index(audit.result)
        assert math.log(likely[at] / unlikely[at]) - epsilon[audit.owner] == pytest.approx(audit.excess)
        differing = [i for i in range(4) if audit.entries[i] != audit.neighbour[i]]
        assert differing == [audit.owner]


def test_the_audit_catches_a_range_read_off_the_data():
    def forged(entries):
        score = Median(int(entries.min()), int(entries.max())).score(entries, np.ones(3))
        return score.results.tolist(), pe_law(score)

    assert audit_privacy(forged, np.ones(3), range(3)).excess == math.inf


def test_the_audit_catches_one_owner_who_is_paid_too_little_attention():
    believed, announced = np.array([0.5, 0.5, 4.0]), np.array([0.5, 0.5, 0.1])
    audit = audit_privacy(law_of(Count(), believed), announced, range(2))
    assert audit.excess > 0
    assert audit.owner == 2


def test_the_law_survives_enormous_requirements():
    epsilon = np.array([1e308, 1e308, 1e-300])
    for query, entries in ((Count(), [1, 1, 0]), (Median(0, 3), [3, 3, 0])):
        _, probability = law_of(query, epsilon)(np.array(entries))
        assert math.fsum(probability) == pytest.approx(1.0)
        assert np.isfinite(probability).all()
        _, drawn = whole_law(query, np.array(entries), epsilon)
        assert sum(drawn) == 1


def test_lowered_requirements_are_never_above_those_announced():
    epsilon = np.array([0.0, 5e-324, 2.0**-46, 2.0**-45, 2.0**-44, 0.1, 1.0, 255.9, 256.0, 511.0, 1e6, 1e308])
    used, ceiling = lower_to_grid(epsilon)
    assert np.all(used >= 0)
    slack = epsilon[epsilon < ceiling] - used[epsilon < ceiling]
    assert np.all((slack >= 2.0**-45) | (used[epsilon < ceiling] == 0))
    assert np.all(slack <= 2.0**-44)
    assert np.all(used[epsilon >= ceiling] >= ceiling - 2.0**-45)
    assert np.all(used <= epsilon)


def median_costs(entries, epsilon, low, high):
    """Errata, "The median score", candidate by candidate."""
    k = len(entries)
    h = (k + 1) // 2
    pairs = list(zip(entries, epsilon, strict=True))
    median = sorted(entries)[h - 1]
    costs = []
    for r in range(low, high + 1):
        if r == median:
            costs.append(0.0)
            continue
        beyond = sorted(e for d, e in pairs if (d < r if r > median else d > r))
        keep = h - 1 if r > median else k - h
        costs.append(math.fsum(beyond[: len(beyond) - keep]))
    return costs


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_median_score_with_many_ties_and_any_size(data):
    k = data.draw(st.integers(1, 25))
    low = data.draw(st.integers(-4, 0))
    high = low + data.draw(st.integers(0, 12))
    entries = data.draw(st.lists(st.integers(low, high), min_size=k, max_size=k))
    epsilon = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 0.1]), min_size=k, max_size=k))
    score = Median(low, high).score(np.array(entries), np.array(epsilon))
    assert np.all(score.length >= 1)
    assert score.results.tolist() == list(range(low, high + 1))
    expected = median_costs(entries, epsilon, low, high)
    np.testing.assert_allclose(np.repeat(score.cost, score.length), expected, rtol=1e-14, atol=0)
    cut = Median(low, high).score(np.array(entries), np.array(epsilon), 0.6)
    np.testing.assert_allclose(np.repeat(cut.cost, cut.length), np.minimum(expected, 0.6), rtol=1e-14, atol=0)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_scores_do_not_depend_on_the_order_of_the_owners(seed, k):
    rng = np.random.default_rng(seed)
    used, ceiling = lower_to_grid(rng.random(k))
    order = rng.permutation(k)
    for query, entries in ((Count(), rng.integers(0, 2, k)), (Median(0, 5), rng.integers(0, 6, k))):
        here, there = query.score(entries, used, ceiling), query.score(entries[order], used[order], ceiling)
        assert np.array_equal(np.repeat(here.cost, here.length), np.repeat(there.cost, there.length))


def test_a_wide_range_costs_no_more_than_its_pieces():
    score = Median(-(2**53), 2**53).score(np.array([5, 5, 7]), np.array([0.1, 0.2, 0.3]))
    assert score.start.size <= 7
    assert int(score.length.sum()) == 2**54 + 1
    assert score.cost[np.flatnonzero(score.start == 5)[0]] == 0


@pytest.mark.parametrize("query", [Count(), Median(0, 120), Median(0, 10**6)], ids=repr)
def test_memory_stays_within_twelve_arrays(query):
    rng, k = np.random.default_rng(1), 200_000
    epsilon, entries = rng.random(k), rng.integers(0, min(getattr(query, "high", 1), k) + 1, k)
    tracemalloc.start()
    pe_law(query.score(entries, epsilon, VANISHED).without_ends(VANISHED))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 12 * 8 * k
