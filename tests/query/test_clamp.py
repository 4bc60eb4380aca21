"""Entries out of a public range, taken for its nearest end: the same answers as of entries clamped by hand."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.model_files import QUERIES, make_query

OUTCOME = smq.procure(smq.verify(smq.solve(smq.Market(np.ones(6), smq.Uniform(0, 1)), 9.0)), np.zeros(6))
FAR = [-1e300, -1, 0, 3, 5, np.inf]
NEAR = [0, 0, 0, 3, 4, 4]
QUERIES_WITH_A_RANGE = [
    smq.Sum(0, 4, clamp=True),
    smq.Mean(0, 4, clamp=True, weighting="inverse-probability"),
    smq.WeightedSum(np.arange(1, 7), 0, 4, clamp=True),
    smq.LinearPredictor(np.arange(1, 7), 0, 4, clamp=True),
    smq.Median(0, 4, clamp=True),
    smq.Quantile(0.9, 0, 4, clamp=True),
    smq.Histogram([0, 2, 3, 4], clamp=True),
    smq.JointHistogram([0, 2, 4], clamp=True),
]


def names(query):
    return query.name


@pytest.mark.parametrize("query", QUERIES_WITH_A_RANGE, ids=names)
def test_clamped_entries_answer_as_those_clamped_by_hand(query):
    def answer(data):
        return smq.answer(query, data, OUTCOME, np.random.default_rng(5))

    assert answer(FAR).value == answer(NEAR).value
    for far, near in zip(answer(FAR).distributions(), answer(NEAR).distributions(), strict=True):
        assert far[1].tolist() == near[1].tolist()
    assert answer(NEAR).to_dict()["clamp"] is True


@pytest.mark.parametrize("query", QUERIES_WITH_A_RANGE, ids=names)
def test_what_is_no_number_is_refused_all_the_same(query):
    for bad in (np.nan, None, "3"):
        with pytest.raises(smq.InputError) as caught:
            smq.answer(query, [0, 1, 2, 3, 4, bad], OUTCOME, np.random.default_rng(5))
        assert "nan" not in str(caught.value)


@pytest.mark.parametrize("query", [smq.Sum(0, 2, clamp=True), smq.Median(0, 2, clamp=True)], ids=names)
def test_clamping_costs_no_privacy(query):
    assert smq.audit_query(query, [0.3, 1.0, 0.7], [-5, 0, 1, 2, 9]).excess <= 1e-12


@pytest.mark.parametrize("kind", QUERIES)
def test_every_query_with_a_range_can_clamp_from_a_file(kind):
    known = QUERIES[kind]
    given = {"low": 0, "high": 4, "p": 0.5, "edges": [0.0, 2.0, 4.0], "weights": [1.0, 2.0]}
    if "clamp" not in known.parameters:
        assert kind in ("count", "own")
        return
    query = make_query(kind, **{name: given[name] for name in known.required}, clamp=True)
    assert query.parameters()["clamp"] is True
    with pytest.raises(smq.InputError, match="must be True or False"):
        make_query(kind, **{name: given[name] for name in known.required}, clamp=1)
