"""Counts by bins against bisection."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.valuation import GuidedSearch


@given(
    st.lists(st.floats(-1e300, 1e300), max_size=40),
    st.lists(st.floats(allow_nan=False), max_size=40),
    st.booleans(),
)
def test_the_same_as_bisection(edges, x, beside):
    edges = np.sort(np.array(edges, dtype=np.float64))
    x = np.array(x, dtype=np.float64)
    if beside:
        x = np.concatenate([x, edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    with np.errstate(over="ignore", invalid="ignore"):
        found = GuidedSearch(edges)(x)
    assert np.array_equal(found, np.searchsorted(edges, x, side="right"))


def test_many_edges():
    rng = np.random.default_rng(1)
    edges = np.sort(rng.random(900))
    x = np.concatenate([rng.uniform(-0.1, 1.1, 20_000), edges, np.nextafter(edges, 0), [np.inf]])
    assert np.array_equal(GuidedSearch(edges)(x), np.searchsorted(edges, x, side="right"))


@pytest.mark.parametrize("last", [np.inf, np.nextafter(1.0, 2.0), 1.0])
def test_edges_without_even_bins_are_bisected(last):
    edges = np.array([1.0, 1.0, 1.0, 1.0, 1.0, last])
    x = np.array([-np.inf, 0.0, 1.0, 2.0, np.inf])
    assert GuidedSearch(edges)(x).tolist() == np.searchsorted(edges, x, side="right").tolist()
