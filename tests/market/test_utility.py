"""What acceptance is worth, by owner: slope, curvature and inverse slope are those of the value."""

from __future__ import annotations

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import Linear
from smqopt.market.objectives._utility import Shared

MARKET = smq.Market([0.1, 0.5, 1.0, 2.0, 0.7, 0.3], smq.Uniform(0, 1))
EACH = {
    "linear": Linear(MARKET.epsilon),
    "variance": smq.InverseProbabilityVariance([0.3, 1.0, 2.0, 0.1, 5.0, 1.0]).utility(MARKET),
    "returns": smq.DiminishingReturns(0.2).utility(MARKET),
}
ROW, WEIGHT = np.array([0, 1, 0, 1, 2, 0]), np.array([0.5, 0.75, 0.25, 0.25, 1.0, 0.25])
UTILITIES = EACH | {f"shared, {name}": Shared(each, ROW, WEIGHT, 3) for name, each in EACH.items()}
QS = (0.05, 0.3, 0.62, 0.97)
STEP = 1e-5

each = pytest.mark.parametrize("name", UTILITIES)


@each
@pytest.mark.parametrize("q", QS)
def test_slope_and_curvature_are_derivatives(name, q):
    utility = UTILITIES[name]
    here = np.full(utility.wanted.size, q)
    slope = (utility.value(here + STEP) - utility.value(here - STEP)) / (2 * STEP)
    curvature = -(utility.slope(here + STEP) - utility.slope(here - STEP)) / (2 * STEP)
    assert utility.slope(here) == pytest.approx(slope, rel=1e-6)
    assert utility.curvature(here) == pytest.approx(curvature, rel=1e-5, abs=1e-9)
    assert np.all(utility.curvature(here) >= 0)


@each
def test_the_slope_is_found_again(name):
    utility = UTILITIES[name]
    curved = ~utility.straight
    for q in QS:
        here = np.full(utility.wanted.size, q)
        found = utility.where_slope_is(utility.slope(here))
        assert found[curved] == pytest.approx(q, rel=1e-9)


@each
def test_a_tangent_lies_above(name):
    utility = UTILITIES[name]
    size = utility.wanted.size
    for q in QS:
        slope = utility.slope(np.full(size, q))
        above, error = utility.tangent(slope)
        for other in (0.01, *QS, 1.0):
            at = np.full(size, other)
            assert np.all(utility.value(at) <= above + slope * other + 1e-12 * (1.0 + error))
