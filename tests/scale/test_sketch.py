"""The sketch of requirements is made of whole numbers: however owners are split it is the same."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.scale.passes import _sketch
from smqopt.scale.passes._sample import Sample, merge_samples
from smqopt.scale.passes._sketch import EpsilonCounts, merge_counts

REQUIREMENTS = st.lists(
    st.one_of(st.floats(0, 1e6), st.sampled_from([0.0, 5e-324, 0.5, 1.0, 1e300])), min_size=1, max_size=60
)


@pytest.mark.parametrize("few", [4, 1 << 14])
@given(values=REQUIREMENTS, cuts=st.lists(st.integers(0, 60), max_size=4))
def test_counts_are_the_same_however_they_are_split(few, values, cuts):
    kept, _sketch._FEW = _sketch._FEW, few
    try:
        epsilon = np.array(values)
        pieces = [piece for piece in np.split(epsilon, sorted(min(cut, epsilon.size) for cut in cuts)) if piece.size]
        whole, merged = EpsilonCounts.of(epsilon), merge_counts([EpsilonCounts.of(piece) for piece in pieces])
    finally:
        _sketch._FEW = kept
    assert np.array_equal(whole.keys, merged.keys)
    assert np.array_equal(whole.sums, merged.sums)
    assert whole.sums[:, 0].sum() == epsilon.size
    points, weights = whole.rows()
    assert abs(weights.sum() - epsilon.size) <= 1e-9 * epsilon.size
    assert abs(weights @ points - epsilon.sum()) <= 1e-8 * max(epsilon.sum(), 1e-300)


@given(values=REQUIREMENTS, cut=st.integers(0, 60))
def test_samples_are_the_same_however_they_are_split(values, cut):
    epsilon = np.array(values)
    parameters = np.arange(epsilon.size)[:, None] % 3 + 1.0
    pieces = [(epsilon[:cut], parameters[:cut]), (epsilon[cut:], parameters[cut:])]
    merged = merge_samples([Sample.of(e, p) for e, p in pieces if e.size])
    whole = Sample.of(epsilon, parameters)
    assert np.array_equal(whole.rows, merged.rows)
    assert np.array_equal(whole.counts, merged.counts)
    assert whole.weights.sum() == epsilon.size
