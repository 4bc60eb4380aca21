"""Given thresholds under another law, and under the laws that a sample leaves open."""

from __future__ import annotations

import numpy as np
import pytest

import smqopt as smq

RNG = np.random.default_rng(3)
EPSILON = RNG.random(60) * (RNG.random(60) < 0.9)
COUNTS = RNG.integers(1, 4, 60)


def market_of(law):
    return smq.Market(EPSILON, law, multiplicity=COUNTS)


def test_under_its_own_law_nothing_is_lost():
    solution = smq.solve(market_of(smq.Kumaraswamy(2, 3)), 30.0)
    found = smq.misspecification(solution, smq.Kumaraswamy(2, 3))
    assert found.expected_spend == pytest.approx(solution.total_spend, rel=1e-13)
    assert found.purchased_privacy == pytest.approx(solution.purchased_privacy, rel=1e-13)
    assert found.over_budget <= 1e-12
    assert found.gap == pytest.approx(0.0, abs=1e-11)


def test_owner_by_owner():
    solution = smq.solve(market_of(smq.Uniform(0, 1)), 30.0)
    law = smq.TruncatedExponential(3)
    found = smq.misspecification(solution, law)
    q = np.where(solution.acceptance > 0, law.cdf(solution.thresholds), 0.0)
    assert found.expected_spend == pytest.approx(COUNTS @ (solution.thresholds * q), rel=1e-13)
    assert found.over_budget == pytest.approx(found.expected_spend - 30.0, rel=1e-12)
    assert found.purchased_privacy == pytest.approx(COUNTS @ (EPSILON * q), rel=1e-13)
    assert found.gap < 0 < found.gap_for_the_spend
    assert found.optimum <= found.optimum_bound <= found.optimum * (1 + 1e-10)


def test_lotteries_are_drawn_as_they_are():
    irregular = smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5])
    solution = smq.solve(market_of(irregular), 60.0)
    assert solution.lottery is not None
    found = smq.misspecification(solution, smq.Uniform(0, 1))
    spend = 0.0
    for i in range(60):
        prices = [(1.0, solution.thresholds[i])] if solution.acceptance[i] > 0 else []
        if i in solution.lottery.owner:
            k = solution.lottery.owner.tolist().index(i)
            p = solution.lottery.probability_of_low[k]
            low = [(p, solution.lottery.low[k])] if solution.lottery.low_acceptance[k] > 0 else []
            prices = [*low, (1 - p, solution.lottery.high[k])]
        spend += COUNTS[i] * sum(p * theta * min(theta, 1.0) for p, theta in prices)
    assert found.expected_spend == pytest.approx(spend, rel=1e-12)


def test_a_law_an_owner():
    solution = smq.solve(market_of(smq.Uniform(0, 1)), 30.0)
    found = smq.misspecification(solution, smq.Uniform(0, np.linspace(1, 2, 60)))
    assert found.over_budget == 0.0
    assert found.gap > 0
    with pytest.raises(smq.InputError, match="60 owners"):
        smq.misspecification(solution, smq.Uniform(0, np.ones(7)))


def test_no_offers():
    found = smq.misspecification(smq.solve(market_of(smq.Uniform(0, 1)), 0.0), smq.Uniform(0, 2))
    assert (found.expected_spend, found.purchased_privacy, found.gap, found.gap_for_the_spend) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_a_sample_bounds_what_the_true_law_does(seed):
    rng = np.random.default_rng(seed)
    truth = smq.Beta(2, 2)
    law = smq.from_samples(truth.sample(rng, 400), low=0, high=1)
    solution = smq.solve(market_of(law), 30.0)
    found = smq.sampling_error(solution, confidence=0.99)
    grid = np.linspace(0, 1, 2001)
    distance = np.max(np.abs(truth.cdf(grid) - law.cdf(grid)))
    assert distance <= found.half_width  # else the sample is one of the hundredth that may miss
    true = smq.misspecification(solution, truth)
    assert found.spend_bounds[0] <= true.expected_spend <= found.spend_bounds[1]
    assert found.privacy_bounds[0] <= true.purchased_privacy <= found.privacy_bounds[1]
    assert true.optimum <= found.optimum_bound
    assert true.over_budget <= found.over_budget_at_most
    assert true.gap <= found.gap_at_most


def test_more_values_narrow_the_bounds():
    widths = []
    for n in (100, 10_000):
        law = smq.from_samples(smq.Uniform(0, 1).sample(np.random.default_rng(1), n), low=0, high=1)
        low, high = smq.sampling_error(smq.solve(market_of(law), 30.0)).spend_bounds
        widths.append(high - low)
    assert widths[1] < 0.3 * widths[0]


def test_only_a_law_of_samples_has_a_sampling_error():
    with pytest.raises(smq.InputError, match="sample"):
        smq.sampling_error(smq.solve(market_of(smq.Uniform(0, 1)), 1.0))
    law = smq.from_samples([1.0, 2.0, 3.0])
    with pytest.raises(smq.InputError, match="confidence"):
        smq.sampling_error(smq.solve(market_of(law), 1.0), confidence=1.0)
