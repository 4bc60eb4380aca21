"""Answers of atoms and straight pieces by one search, and of laws that are read in proved tables."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.numeric import ACCEPTANCE
from smqopt.valuation import StepResponse, iron, proved_table, response_table

MANY = 1 << 13
RNG = np.random.default_rng(18)
STEPS = {
    "one atom": smq.Discrete([2.0], [1.0]),
    "an atom at 0": smq.Discrete([0.0, 1.0, 3.0], [0.2, 0.5, 0.3]),
    "atoms below the hull": smq.Discrete([1.0, 1.5, 4.0, 4.1], [0.05, 0.5, 0.05, 0.4]),
    "twenty": smq.Discrete(np.sort(RNG.random(20)), RNG.random(20) + 0.1),
    "point mass": smq.PointMass(0.75),
    "histogram": smq.PiecewiseUniform([0.5, 1, 2], [3, 1]),
    "irregular": smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5]),
    "a gap": smq.PiecewiseUniform([0, 1, 2, 3], [0.4, 0.0, 0.6]),
    "many pieces": smq.PiecewiseUniform(np.linspace(1, 2, 301), RNG.random(300) + 0.05),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_the_laws_own(name):
    law = STEPS[name]
    table, answer = response_table(iron(law)), iron(law)
    assert isinstance(table, StepResponse)
    turns = np.concatenate([[v for v, _ in table.corners()], table.turns()])
    near = [np.nextafter(turns, 0), turns, np.nextafter(turns, np.inf)]
    v = np.concatenate([np.random.default_rng(1).uniform(0, 4 * float(law.high), 5000), *near, [0.0, 1e300]])
    theta, q = table.offer(v.copy())
    own, own_q = answer.offer(v.copy())
    sure = np.abs(v[:, None] - turns).min(axis=1) > 1e-12  # beside a jump either answer is right
    assert np.all(np.abs(theta - own)[sure] <= 1e-15 * float(law.high))
    assert np.all(np.abs(q - own_q)[sure] <= ACCEPTANCE.value)
    assert np.all(np.abs(q - np.where(q > 0, law.cdf(theta), 0.0)) <= ACCEPTANCE.value)
    assert np.min(np.diff(theta[np.argsort(v)])) >= -1e-15


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("ties", [False, True])
def test_steps_are_certified(name, ties):
    rng = np.random.default_rng(3)
    epsilon = rng.choice([0.5, 0.75, 1.0], MANY) if ties else rng.random(MANY)
    market = smq.Market(epsilon, STEPS[name], multiplicity=rng.integers(1, 4, MANY) if ties else None)
    for share in (0.05, 0.6):
        certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
        assert certificate.valid, certificate.reasons
        assert certificate.grade == "proved", certificate.unproved


READ = [
    smq.Mixture([smq.Uniform(0, 1), smq.Beta(8, 2)], [1, 1]),
    smq.Truncated(smq.Beta(2, 3), 0.25, 0.75),
    smq.Gamma(2, 1, 0, 10),
    smq.LogNormal(0, 1, 0, 5),
    smq.Normal(0.5, 0.2, 0, 1),
    smq.Mixture([smq.Normal(0.2, 0.05, 0, 1), smq.Normal(0.8, 0.05, 0, 1)], [1, 1]),
]


@pytest.mark.parametrize("law", READ, ids=repr)
def test_laws_that_are_read_in_their_tables(law):
    table = response_table(iron(law))
    assert table.law.name == "tabulated"
    theta = np.linspace(float(law.low), float(law.high), 3001)
    low, high = proved_table(law).enclose(theta)
    F = table.law.cdf(theta)
    assert np.all((low <= F) & (high >= F))
    assert np.max(np.abs(F - law.cdf(theta))) <= 4 * ACCEPTANCE.value  # the law's own has noise
    assert table.law.cdf(0.5 * float(law.high)) == pytest.approx(float(law.cdf(0.5 * float(law.high))), abs=1e-14)
    inner = theta[1:-1]
    with np.errstate(all="ignore"):
        J, own = table.law.virtual_cost(inner), law.virtual_cost(inner)
    assert J[own < 1e3] == pytest.approx(own[own < 1e3], rel=1e-9)
    certificate = smq.verify(smq.solve(smq.Market(np.random.default_rng(5).random(MANY), law), 500.0))
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "proved", certificate.unproved
