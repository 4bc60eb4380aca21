"""The figures that the errata quote, computed anew; sizes, not digits, where the errata say so."""

import math

import numpy as np
import pytest

from smqopt.market import Market
from smqopt.model_files.adult._adult import ABOVE_50K, PERSONS
from smqopt.paper.errata._fair_query import affordable, count_rmse, printed_rule
from smqopt.paper.errata._irregular_owners import falling_share, irregular_share
from smqopt.paper.errata._law_given_requirement import (
    conditional,
    copula,
    marginal,
    midpoints,
    realised_share,
)
from smqopt.paper.errata._small_weights import DELTA
from smqopt.query import Count, pe_law
from smqopt.solvers import solve


@pytest.mark.parametrize(
    ("correlation", "share", "spent"), [(-0.5, 0.1, 1.32), (-1.0, 0.1, 1.60), (-0.5, 0.3, 1.09), (-1.0, 0.3, 1.16)]
)
def test_the_marginal_law_overspends(correlation, share, spent):
    assert realised_share(marginal, correlation, share) == pytest.approx(spent, abs=0.005)
    assert realised_share(conditional, correlation, share) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_the_overspend_at_perfect_correlation_by_the_integral(share):
    # θ = 1 − ε sells at θ* = min(ε/(2λ), 1): all with ε ≥ 1/(1 + 1/(2λ)), where 2λ solves E[min(ε/(2λ), 1)²] = share.
    def spend(c):  # c = 2λ < 1
        return c**2 / (3 * c**2) * c + (1 - c) if c < 1 else 1 / (3 * c**2)

    low, high = 1e-9, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if spend(middle) > share else (low, middle)
    c = (low + high) / 2
    first = c / (1 + c)  # ε/c ≥ 1 − ε
    top = min(c, 1.0)
    exact = (top**2 - first**2) / (2 * c) + (1 - top)
    assert realised_share(marginal, -1.0, share, n=20_000) == pytest.approx(exact / share, abs=1e-3)


@pytest.mark.parametrize(
    ("share", "gain"), [(0.1, (0.115, 0.155)), (0.3, (0.115, 0.155)), (0.5, (0.115, 0.155)), (0.7, (0.065, 0.095))]
)
def test_the_conditional_law_buys_more_than_the_marginal_rule_scaled_down(share, gain):
    epsilon = midpoints(400)
    law = copula(-0.9).given(epsilon)
    budget = share * epsilon.size
    uniform = copula(-0.9).valuation
    low, high = 0.0, 2 * budget
    for _ in range(60):
        asked = (low + high) / 2
        theta = solve(Market(epsilon, uniform), asked).thresholds
        low, high = (asked, high) if theta @ law.cdf(theta) <= budget else (low, asked)
    scaled = epsilon @ law.cdf(solve(Market(epsilon, uniform), low).thresholds)
    best = solve(Market(epsilon, law), budget).purchased_privacy
    assert gain[0] <= best / scaled - 1 <= gain[1]


@pytest.mark.parametrize(("correlation", "share"), [(-0.5, 0.07), (-0.2, 0.25), (-0.9, 0.0)])
def test_the_share_of_irregular_owners(correlation, share):
    assert irregular_share(correlation) == pytest.approx(share, abs=0.005)
    assert falling_share(correlation) == irregular_share(correlation)


@pytest.mark.parametrize(("rule", "size"), [(printed_rule, 28_700), (affordable, 350)])
def test_the_choice_of_k_decides_the_error_of_fair_query(rule, size):
    rng = np.random.default_rng(1)
    theta, epsilon = rng.random((2, PERSONS))
    error = count_rmse(rule, (theta / epsilon).tolist(), 0.3 * PERSONS, ABOVE_50K / PERSONS)
    assert error == pytest.approx(size, rel=0.05)


def test_the_error_of_fair_query_by_simulation():
    rng = np.random.default_rng(2)
    v = [0.1, 0.2, 0.3, 0.5, 0.9, 1.5, 4.0, 9.0]
    n, budget, ones = len(v), 0.4, 3
    k = max(k for k in range(1, n) if affordable(k, v[k - 1], n, budget))
    draws = 200_000
    entries = rng.permuted(np.tile(np.arange(n) < ones, (draws, 1)), axis=1)
    answers = entries[:, :k].sum(axis=1) + (n - k) / 2 + rng.laplace(scale=n - k, size=draws)
    simulated = math.sqrt(np.mean((answers - ones) ** 2))
    # The bought share of a fixed population, without replacement; the rest is replaced by (n − k)/2.
    assert count_rmse(affordable, v, budget, ones / n) == pytest.approx(simulated, rel=0.02)


def test_the_level_of_lemma_1_is_no_guarantee():
    n, alpha = 8, 1
    epsilon = np.full(n, 1.5)
    asked = n / (4 * alpha) * (math.log(DELTA) - math.log(1 - DELTA))
    assert epsilon.sum() > asked
    score = Count().score((np.arange(n) < 4).astype(np.int64), epsilon)
    error = 1 - pe_law(score)[score.results == 4].sum()
    assert error > 1 - DELTA


def test_the_level_of_lemma_1_may_exceed_all_privacy_on_offer():
    n, epsilon = 8, 0.25
    assert n * epsilon < n / 4 * (math.log(DELTA) - math.log(1 - DELTA))
