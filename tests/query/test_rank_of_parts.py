"""The cost of a rank from the entries near it: that of all entries, cut where so many are not enough."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.query.exponential import _rank_of_parts
from smqopt.query.exponential._order_statistic import score_of_rank
from smqopt.query.exponential._rank_of_parts import NearRank

ENTRIES = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0, 3.0])), min_size=1, max_size=40
)


def costs(score):
    return dict(zip(score.results.tolist(), np.repeat(score.cost, score.length).tolist(), strict=True))


@pytest.mark.parametrize("near", [1, 2, 5, 100])
@given(rows=ENTRIES, cut=st.integers(0, 40), rank=st.floats(0.01, 1.0))
def test_costs_are_those_of_all_entries(near, rows, cut, rank):
    entries, epsilon = np.array([e for e, _ in rows]), np.array([e for _, e in rows])
    h = min(int(np.ceil(rank * entries.size)), entries.size)
    m = int(np.sort(entries)[h - 1])
    kept, _rank_of_parts.NEAR = _rank_of_parts.NEAR, near
    try:
        pieces = [slice(0, cut), slice(cut, None)]
        found = NearRank.join([NearRank.of(entries[piece], epsilon[piece], m) for piece in pieces])
        score = found.score(m, h, -2, 12)
        ceiling = found.ceiling
    finally:
        _rank_of_parts.NEAR = kept
    used, most = _rank_of_parts.lower_to_grid(epsilon)
    assert ceiling == (most if entries.size <= near else min(most, np.sort(used)[:near].sum()))
    assert costs(score) == costs(score_of_rank(entries, used, h, -2, 12, ceiling))


@given(rows=ENTRIES, changed=st.integers(0, 39), to=st.integers(0, 9))
def test_a_changed_entry_moves_no_cost_by_more_than_its_requirement(rows, changed, to):
    """Also where costs are cut early."""
    entries, epsilon = np.array([e for e, _ in rows]), np.array([e for _, e in rows])
    changed %= entries.size
    h = (entries.size + 1) // 2
    kept, _rank_of_parts.NEAR = _rank_of_parts.NEAR, 3
    try:
        every = []
        for value in (entries[changed], to):
            other = entries.copy()
            other[changed] = value
            m = int(np.sort(other)[h - 1])
            every.append(costs(NearRank.of(other, epsilon, m).score(m, h, 0, 9)))
    finally:
        _rank_of_parts.NEAR = kept
    assert max(abs(every[0][r] - every[1][r]) for r in range(10)) <= epsilon[changed]
