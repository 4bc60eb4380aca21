"""Simulated answers follow the law of the query layer."""

from __future__ import annotations

import numpy as np
import pytest

from smqopt.paper.experiments._exact_draws import CUT, cheapest, draw_results, linear_law
from smqopt.query import Count, LinearPredictor, Median, pe_law
from smqopt.query.exponential._exponential_law import VANISHED

U = (np.arange(200_000) + 0.5) / 200_000


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["count", "median"])
def test_counts_and_medians_are_drawn_from_the_law(kind, seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 40))
    epsilon = rng.random(k)
    query = Count() if kind == "count" else Median(0, 30)
    entries = rng.integers(0, 2 if kind == "count" else 31, k)
    whole = query.score(entries, epsilon, VANISHED)
    law = pe_law(whole)
    drawn = draw_results(query.score(entries, epsilon, CUT), U)
    share = np.bincount(drawn - whole.results[0], minlength=law.size) / U.size
    # Numbers evenly on (0, 1): each result's share is its probability to one of them; its two ends may each take one more.
    assert np.abs(share - law).max() <= 2.5 / U.size
    assert np.all(np.diff(drawn) >= 0)


def test_what_is_cut_is_below_all_rounding():
    assert np.exp(-CUT / 2) * 2**53 < 1e-27


def test_one_result_is_always_drawn():
    score = Median(4, 4).score(np.array([4, 4]), np.array([0.1, 0.2]), CUT)
    assert draw_results(score, np.array([0.0, 0.5, 1 - 2**-53])).tolist() == [4, 4, 4]


def cases(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 30))
    low, high = (-1.0, 2.0) if seed % 2 else (0.0, 1.0)
    weight = rng.normal(size=k) if seed % 2 else rng.random(k)
    entries = rng.uniform(low, high, k) if seed % 2 else rng.integers(0, 2, k).astype(float)
    return weight, entries, rng.random(k), low, high


def cost_of(law, r):
    """The cost at r, read off the pieces."""
    for start, width, cost, rise in zip(law.start, law.width, law.cost, law.rise, strict=True):
        share = (r - start) / width
        if 0 <= share <= 1:
            return cost + share * rise
    return None


@pytest.mark.parametrize("seed", range(6))
def test_the_linear_law_has_the_cost_of_the_query(seed):
    weight, entries, epsilon, low, high = cases(seed)
    law = linear_law(weight, entries, epsilon, low, high)
    step = 2.0**-11
    query = LinearPredictor(weight, low, high, step=step)
    score = query.score(query.entries(entries, [str(i) for i in range(weight.size)]), epsilon)
    # A candidate's cost is that of the nearest sum in its cell: within a step of slope.
    slope = np.max(law.rise / np.abs(law.width))
    for i in np.linspace(1, score.start.size - 2, 40).astype(int):
        r = float(query.values(score.start[i : i + 1], weight.size, weight.size)[0])
        found = cost_of(law, r)
        if found is not None:
            assert found == pytest.approx(score.cost[i], abs=slope * step)


@pytest.mark.parametrize("seed", range(6))
def test_linear_answers_follow_the_law_of_the_query_as_its_step_shrinks(seed):
    weight, entries, epsilon, low, high = cases(seed)
    drawn = np.sort(linear_law(weight, entries, epsilon, low, high).draw(U))
    distances = []
    for step in (2.0**-4, 2.0**-8, 2.0**-12):
        query = LinearPredictor(weight, low, high, step=step)
        score = query.score(query.entries(entries, [str(i) for i in range(weight.size)]), epsilon)
        values = query.values(score.results, weight.size, weight.size)
        reached = np.searchsorted(drawn, values + query.grid.step / 2) / U.size
        distances.append(float(np.abs(np.cumsum(pe_law(score)) - reached).max()))
    assert distances[2] < 2e-3
    assert distances[2] < distances[0]


def test_the_linear_law_by_its_integral():
    law = linear_law(np.array([1.0, 2.0]), np.array([1.0, 0.0]), np.array([0.5, 3.0]), 0.0, 1.0)
    # Down by 1 at cost 0.5, up by 2 at cost 3, from 1.
    assert law.mass == pytest.approx([2 * (1 - np.exp(-1.5)) / 1.5, (1 - np.exp(-0.25)) / 0.25])
    assert law.draw(np.array([0.0, 1 - 2**-53])) == pytest.approx([1.0, 0.0])
    below = law.draw(U) < 1.0
    assert below.mean() == pytest.approx(law.mass[1] / law.mass.sum(), abs=1e-5)


def test_requirements_of_zero_are_free_to_move():
    law = linear_law(np.array([1.0]), np.array([0.0]), np.array([0.0]), 0.0, 1.0)
    assert law.draw(U) == pytest.approx(U)


def test_without_room_there_is_one_answer():
    law = linear_law(np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.0, 1.0)
    assert law.draw(np.array([0.1, 0.9])).tolist() == [0.0, 0.0]


def test_the_cheapest_entries_are_enough():
    rng = np.random.default_rng(5)
    n = 20_000
    weight, epsilon, target = rng.random(n), rng.random(n), rng.integers(0, 2, n)
    order = np.argsort(epsilon / weight)
    near = cheapest(order, target, epsilon, CUT)
    assert near.size < n / 2
    whole = linear_law(weight, target.astype(float), epsilon, 0.0, 1.0)
    part = linear_law(
        weight[near], target[near].astype(float), epsilon[near], 0.0, 1.0, exact=float(weight[target == 1].sum())
    )
    assert part.draw(U[::100]) == pytest.approx(whole.draw(U[::100]), rel=1e-12)
    assert cheapest(order[:700], target, epsilon, CUT).size == 700
