"""A batch opens a query as a whole outcome does; one that was bent does not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import smqopt as smq


@pytest.fixture(scope="module")
def batch():
    market = smq.Market([1.0, 0.5, 0.0, 2.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    return smq.procure(smq.verify(smq.solve(market, 0.8)), [0.1, 0.1, 0.1], owner_ids=["di", "ann", "cy"])


def test_a_batch_is_answered_for_its_own_owners(batch):
    answer = smq.answer(smq.Count(), [1, 0], batch, rng=np.random.default_rng(0))
    assert (answer.n, answer.bought) == (3, 2)


BENT = {
    "a place that is another owner's": {"owners": np.array([0, 1, 3])},
    "a place twice": {"owners": np.array([0, 0, 3])},
    "an owner twice, by name too": {
        "owners": np.array([0, 0, 3]),
        "owner_ids": ("ann", "ann", "di"),
        "epsilon": np.array([1.0, 1.0, 2.0]),
        "selected": np.array([True, True, False]),
        "thresholds": None,
    },
    "out of order": {"owners": np.array([2, 0, 3])},
    "out of the market": {"owners": np.array([0, 2, 4])},
    "before the market": {"owners": np.array([-1, 2, 3])},
    "no places": {"owners": np.array([], dtype=np.intp)},
    "places of another kind": {"owners": np.array([0.0, 2.0, 3.0])},
    "a list": {"owners": [0, 2, 3]},
    "another name": {"owner_ids": ("ann", "cy", "eve")},
    "a raised requirement": {"epsilon": np.array([2.0, 0.0, 2.0])},
    "no offer": {"selected": np.array([True, True, True])},
    "fewer columns": {"selected": np.array([True, False])},
}


@pytest.mark.parametrize("name", BENT)
def test_a_bent_batch_is_refused(batch, name):
    changes = dict(BENT[name])
    if "thresholds" in changes:
        changes["thresholds"] = batch.thresholds[[0, 0, 2]]
    with pytest.raises(smq.UncertifiedError, match="argument 'outcome'"):
        smq.answer(smq.Count(), [1, 0], dataclasses.replace(batch, **changes), rng=np.random.default_rng(0))
