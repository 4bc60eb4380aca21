"""Prices: against the solver, the certificate, and the mechanism itself."""

from __future__ import annotations

import numpy as np
import pytest

import smqopt as smq
from smqopt.paper.baselines._posted_prices import known_valuation_offer, marginal_offer, uniform_price
from smqopt.paper.baselines._price_table import PriceTable
from smqopt.valuation import GaussianCopula, Uniform

UNIFORM = Uniform(0, 1)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_the_marginal_offer_buys_what_the_mechanism_buys(share):
    rng = np.random.default_rng(3)
    epsilon, theta = rng.random((2, 60))
    epsilon[:3] = 0.0
    outcome = smq.procure(smq.verify(smq.solve(smq.Market(epsilon, UNIFORM), share * 60)), theta)
    found = marginal_offer(epsilon, share * 60).accept(theta, rng)
    assert found.bought.tolist() == outcome.selected.tolist()
    assert found.spend == pytest.approx(outcome.total_payment)


@pytest.mark.parametrize("share", [0.1, 0.35, 0.9, 1.0])
def test_where_epsilon_tells_theta_the_offer_is_that_of_the_solver(share):
    rng = np.random.default_rng(4)
    epsilon = rng.random(50)
    theta = 1.0 - epsilon
    offer = known_valuation_offer(epsilon, theta, share * 50)
    solution = smq.solve(smq.Market(epsilon, GaussianCopula(UNIFORM, UNIFORM, -1.0).given(epsilon)), share * 50)
    assert epsilon @ offer.chance == pytest.approx(solution.purchased_privacy, rel=1e-9)
    assert theta @ offer.chance <= share * 50 * (1 + 1e-12)
    assert np.count_nonzero((offer.chance > 0) & (offer.chance < 1)) <= 1


def test_an_uncertain_offer_is_made_with_its_chance():
    offer = known_valuation_offer(np.array([1.0, 1.0]), np.array([0.25, 0.5]), 0.5)
    assert offer.chance.tolist() == [1.0, 0.5]
    rng = np.random.default_rng(0)
    bought = [offer.accept(np.array([0.25, 0.5]), rng).bought for _ in range(4000)]
    assert np.mean(bought, axis=0) == pytest.approx([1.0, 0.5], abs=0.03)


def test_owners_at_no_cost_and_owners_without_privacy():
    offer = known_valuation_offer(np.array([0.5, 0.0, 0.0, 0.5]), np.array([0.0, 0.0, 0.5, 1.0]), 0.25)
    assert offer.chance.tolist() == [1.0, 0.0, 0.0, 0.25]


def test_the_single_price_spends_the_budget_in_expectation():
    for share in (0.04, 0.25, 1.0):
        offer = uniform_price(100, share * 100)
        assert 100 * offer.threshold[0] * float(UNIFORM.cdf(offer.threshold[0])) == pytest.approx(share * 100)
    assert uniform_price(10, 20.0).threshold.tolist() == [1.0] * 10


@pytest.fixture(scope="module")
def table():
    return PriceTable(-0.5)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_prices_by_cell_lose_little_and_keep_the_budget(table, share):
    n = 400
    epsilon = np.random.default_rng(7).random(n)
    law = GaussianCopula(UNIFORM, UNIFORM, -0.5).given(epsilon)
    best = smq.solve(smq.Market(epsilon, law), share * n)
    threshold = table.offer(epsilon, share * n).threshold
    accepted = law.cdf(threshold)
    assert threshold @ accepted == pytest.approx(share * n, rel=1e-4)
    assert epsilon @ accepted == pytest.approx(best.purchased_privacy, rel=1e-4)


def test_a_finer_table_comes_closer(table):
    n, share = 300, 0.3
    epsilon = np.random.default_rng(8).random(n)
    law = GaussianCopula(UNIFORM, UNIFORM, -0.5).given(epsilon)
    best = smq.solve(smq.Market(epsilon, law), share * n).purchased_privacy
    lost = [
        abs(float(epsilon @ law.cdf(one.offer(epsilon, share * n).threshold)) / best - 1)
        for one in (PriceTable(-0.5, cells=32), table)
    ]
    assert lost[1] < lost[0] / 4


def test_with_the_budget_for_all_everybody_is_offered_the_most(table):
    assert table.offer(np.array([0.0, 0.5, 1.0]), 3.0).threshold.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("share", [1e-4, 0.999])
def test_extreme_budgets_are_spent_too(table, share):
    count = np.full(table.cells, 3.0)
    threshold = table.thresholds(count, share * count.sum())
    accepted = GaussianCopula(UNIFORM, UNIFORM, -0.5).given(table.middle).cdf(threshold)
    assert count @ (threshold * accepted) == pytest.approx(share * count.sum(), rel=1e-8)
