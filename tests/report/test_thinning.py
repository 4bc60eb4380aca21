import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.report._thinning import MOST_BARS, TAIL, grouped_law, thin


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.integers(2, 50))
def test_the_extremes_stay_and_the_order_rises(values, most):
    x = np.array(values)
    rows = thin(x, most)
    assert rows.size == min(most, x.size)
    assert x[rows[0]] == x.min()
    assert x[rows[-1]] == x.max()
    assert np.all(np.diff(x[rows]) >= 0)
    assert np.unique(rows).size == rows.size


def test_ranks_are_even():
    rows = thin(np.random.default_rng(0).permutation(10_001).astype(float), 101)
    assert rows.size == 101
    ranks = np.sort(np.random.default_rng(0).permutation(10_001)[rows])
    assert np.array_equal(ranks, np.arange(0, 10_001, 100))


@pytest.mark.parametrize("k", [1, 2, 5, 300, 301, 5000])
@pytest.mark.parametrize("scale", [1.0, 2.5413])
def test_a_grouped_law_keeps_its_probability(k, scale):
    rng = np.random.default_rng(k)
    probabilities = rng.dirichlet(np.full(k, 0.5))
    values = np.arange(k) * scale
    edges, heights, size, inside = grouped_law(values, probabilities)
    assert heights.size <= MOST_BARS
    assert edges.size == heights.size + 1
    assert np.all(np.diff(edges) > 0)
    spacing = scale if k > 1 else 1.0
    assert np.sum(heights * np.diff(edges)) / spacing == pytest.approx(inside, rel=1e-12)
    assert 1 - TAIL <= inside <= 1 + 1e-12
    assert size == 1 or k > MOST_BARS


def test_the_bulk_of_a_narrow_law_is_drawn_value_by_value():
    values = np.arange(100_000.0)
    logs = -np.abs(values - 4321)
    weights = np.exp(logs)
    edges, heights, size, _ = grouped_law(values, weights / weights.sum())
    assert size == 1
    assert edges[0] < 4321 < edges[-1]
    assert heights.size < 100
    assert heights.max() == pytest.approx(1 / weights.sum())
