"""Errors that are foretold, against simulated purchases and answers: five markets, three laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

import smqopt as smq

N = 300
REQUIREMENTS = {
    "spread": np.linspace(0.05, 2.0, N),
    "alike": np.full(N, 0.5),
    "two sorts": np.repeat([0.02, 3.0], N // 2),
    "many small": np.geomspace(1e-3, 1.0, N),
    "one large": np.append(np.full(N - 1, 0.25), 15.0),
}
LAWS = {
    "uniform": smq.Uniform(0, 1),
    "beta": smq.Beta(2, 3),
    "exponential": smq.TruncatedExponential(2, low=0.1, high=1),
}
CASES = [
    ("two sorts", "uniform", 4_000),
    *(pytest.param(name, law, 40_000, marks=pytest.mark.slow) for name in REQUIREMENTS for law in LAWS),
]
SHARE = 0.24


def squared_errors(market, acceptance, a, runs, rng):
    """The count's squared errors by weights a: who sells, entries and noise are drawn anew in each run."""
    found = []
    for _ in range(runs // 2000):
        sold = rng.random((2000, market.n)) < acceptance
        x = (rng.random((2000, market.n)) < SHARE) - 0.5
        A = sold @ a
        noisy = (sold * x) @ a + rng.laplace(0.0, 1.0, 2000)
        answer = np.divide(market.n * noisy, A, out=np.zeros(2000), where=A > 0)
        found.append((answer - x.sum(axis=1)) ** 2)
    return np.concatenate(found)


@pytest.mark.parametrize(("name", "law", "runs"), CASES)
def test_the_expected_error_of_a_purchase_for_it(name, law, runs):
    """The enclosure is of the closed form, with no draw in it: four standard errors of the simulation."""
    market = smq.Market(REQUIREMENTS[name], LAWS[law])
    aim = smq.MeanSquaredError(range=1, variance=SHARE * (1 - SHARE))
    solution = smq.solve(market, 0.25 * market.most_that_can_be_spent, objective=aim)
    found = smq.expected_error(solution)
    a = np.minimum(market.epsilon, aim.sums(market, solution.acceptance)[2])
    errors = squared_errors(market, solution.acceptance, a, runs, np.random.default_rng(19))
    margin = 4 * errors.std(ddof=1) / math.sqrt(errors.size)
    assert found.lower**2 - margin <= errors.mean() <= found.upper**2 + margin
    assert found.nobody < 1e-9
    assert smq.verify(solution, prove=False).gap <= 1e-6


@pytest.mark.parametrize(("name", "law", "runs"), CASES)
def test_the_predicted_error_of_a_purchase_of_privacy(name, law, runs):
    """The prediction draws purchases itself: its own standard error is added."""
    market = smq.Market(REQUIREMENTS[name], LAWS[law])
    budget, prior = 0.25 * market.most_that_can_be_spent, smq.EntryPrior.share(SHARE)
    found = smq.predict(smq.Count(), market, [budget], prior, estimator="linear")
    certificate = smq.verify(smq.solve(market, budget), prove=False)
    outcome = smq.procure(certificate, np.full(N, certificate.solution.thresholds))
    release = smq.answer(
        smq.Count(), np.zeros(outcome.bought), outcome, np.random.default_rng(1), assumption=prior, estimator="linear"
    ).asked
    a = np.zeros(N)
    a[outcome.selected] = release.whole_weights / 2.0**release.places
    errors = squared_errors(market, certificate.solution.acceptance, a, runs, np.random.default_rng(20))
    spread = math.hypot(errors.std(ddof=1) / math.sqrt(errors.size), 2 * found.standard_error[0] * found.total[0] ** 2)
    assert abs(found.total[0] ** 2 - errors.mean()) <= 4 * spread
