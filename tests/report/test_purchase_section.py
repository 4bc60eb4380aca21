import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smqopt.report.sections.purchase import SMALLEST_BAND, bands


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=300))
def test_bands_hold_all_owners_and_each_holds_many_or_is_the_only_one(values):
    epsilon = np.array(values)
    edges = bands(epsilon)
    assert edges[0] <= epsilon.min()
    assert edges[-1] >= epsilon.max()
    member = np.clip(np.searchsorted(edges, epsilon, side="right") - 1, 0, edges.size - 2)
    owners = np.bincount(member, minlength=edges.size - 1)
    assert owners.size == 1 or owners.min() >= SMALLEST_BAND


def test_many_owners_fall_into_round_bands():
    epsilon = np.random.default_rng(0).random(10_000)
    assert bands(epsilon) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])


def test_equal_requirements_are_one_band():
    assert bands(np.full(50, 0.3)).tolist() == [0.3, 0.3]
