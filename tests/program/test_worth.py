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
    "variance": smq.InverseProbabilityVariance([0.3, 1.0, 2.0, 0.1, 5.0, 1.0]).worth(MARKET),
    "returns": smq.DiminishingReturns(0.2).worth(MARKET),
}
ROW, WEIGHT = np.array([0, 1, 0, 1, 2, 0]), np.array([0.5, 0.75, 0.25, 0.25, 1.0, 0.25])
WORTHS = EACH | {f"shared, {name}": Shared(each, ROW, WEIGHT, 3) for name, each in EACH.items()}
QS = (0.05, 0.3, 0.62, 0.97)
STEP = 1e-5

each = pytest.mark.parametrize("name", WORTHS)


@each
@pytest.mark.parametrize("q", QS)
def test_slope_and_curvature_are_derivatives(name, q):
    worth = WORTHS[name]
    here = np.full(worth.wanted.size, q)
    slope = (worth.value(here + STEP) - worth.value(here - STEP)) / (2 * STEP)
    curvature = -(worth.slope(here + STEP) - worth.slope(here - STEP)) / (2 * STEP)
    assert worth.slope(here) == pytest.approx(slope, rel=1e-6)
    assert worth.curvature(here) == pytest.approx(curvature, rel=1e-5, abs=1e-9)
    assert np.all(worth.curvature(here) >= 0)


@each
def test_the_slope_is_found_again(name):
    worth = WORTHS[name]
    curved = ~worth.straight
    for q in QS:
        here = np.full(worth.wanted.size, q)
        found = worth.where_slope_is(worth.slope(here))
        assert found[curved] == pytest.approx(q, rel=1e-9)


@each
def test_a_tangent_lies_above(name):
    worth = WORTHS[name]
    size = worth.wanted.size
    for q in QS:
        slope = worth.slope(np.full(size, q))
        above, error = worth.tangent(slope)
        for other in (0.01, *QS, 1.0):
            at = np.full(size, other)
            assert np.all(worth.value(at) <= above + slope * other + 1e-12 * (1.0 + error))
