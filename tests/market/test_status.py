import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import status_of


def test_values_explain_themselves():
    for status in smq.Status:
        assert str(status) == status.value
        assert len(status.value.split()) >= 5
    assert len({status.value for status in smq.Status}) == len(smq.Status)


@pytest.mark.parametrize(
    ("epsilon", "budget", "status"),
    [
        ([0.0, 0.0], 0.0, smq.Status.ZERO_BUDGET),  # zero budget comes first
        ([0.0, 0.0], 1e-300, smq.Status.SLACK),
        ([0.0, 1.0], 0.0, smq.Status.ZERO_BUDGET),
        ([0.0, 1.0], 5e-324, smq.Status.BINDING),
        ([0.0, 1.0], math.nextafter(2.0, 0.0), smq.Status.BINDING),
        ([0.0, 1.0], 2.0, smq.Status.SLACK),
        ([1.0, 1.0], 2.0, smq.Status.BINDING),
        ([1.0, 1.0], 4.0, smq.Status.SLACK),
        ([1.0, 1.0], 1e300, smq.Status.SLACK),
    ],
)
def test_precedence_and_edges(epsilon, budget, status):
    market = smq.Market(epsilon, smq.Uniform(0, 2))
    assert status_of(market, budget) is status
    assert smq.solve(market, budget).status is status


def test_multiplicity_counts():
    market = smq.Market([0.5, 1.0], smq.Uniform(0, np.array([1.0, 2.0])), multiplicity=[3, 4])
    assert status_of(market, math.nextafter(11.0, 0.0)) is smq.Status.BINDING
    assert status_of(market, 11.0) is smq.Status.SLACK


def test_with_and_without_multiplicity_the_edge_is_the_same():
    market = smq.Market([0.5] * 3, smq.Uniform(0, 0.1), multiplicity=[1, 1, 1])
    plain = smq.Market([0.5] * 3, smq.Uniform(0, 0.1))
    assert market.most_that_can_be_spent == plain.most_that_can_be_spent >= 0.3
