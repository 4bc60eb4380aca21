"""Pearson's correlation by name: what a copula has, what it can reach, and what a budget then buys."""

import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.valuation import GaussianCopula

UNIT = smq.Uniform(0, 1)
PARETO, LOG_NORMAL, GAMMA = smq.Pareto(1, 1, 1e4), smq.LogNormal(0, 2, 0, 1e3), smq.Gamma(0.5, 1, 0, 40)
LAWS = {"pareto": PARETO, "log-normal": LOG_NORMAL, "gamma": GAMMA, "beta": smq.Beta(2, 3), "uniform": UNIT}


@pytest.mark.parametrize("rho", [-0.99, -0.5, 0.0, 0.3, 1.0])
def test_of_uniform_laws_both_are_one(rho):
    assert GaussianCopula(UNIT, UNIT, rho).pearson() == pytest.approx(rho, abs=1e-12)
    assert GaussianCopula.from_pearson(UNIT, UNIT, rho).correlation == pytest.approx(rho, abs=1e-12)


@pytest.mark.parametrize("r", [-0.9, 0.25, 0.7])
def test_of_log_normal_laws_it_is_the_closed_form(r):
    """Untruncated, Pearson's ρ is (e^{rσ²} − 1)/(e^{σ²} − 1); the cut at e^{8σ} takes no digit away."""
    sigma = 0.5
    law = smq.LogNormal(0, sigma, 0, math.exp(8 * sigma))
    copula = GaussianCopula(law, law, 6 / math.pi * math.asin(r / 2))
    assert copula.pearson() == pytest.approx(math.expm1(r * sigma**2) / math.expm1(sigma**2), rel=1e-10)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_what_is_asked_for_is_what_is_had(name, share):
    law = LAWS[name]
    lowest, highest = (GaussianCopula(law, UNIT, rho).pearson() for rho in (-1.0, 1.0))
    wanted = lowest + share * (highest - lowest)
    copula = GaussianCopula.from_pearson(law, UNIT, wanted)
    assert copula.pearson() == pytest.approx(wanted, rel=1e-9)
    epsilon, theta = copula.sample(np.random.default_rng(3), 400_000)
    assert np.corrcoef(epsilon, theta)[0, 1] == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("name", ["pareto", "log-normal", "gamma"])
def test_what_no_copula_reaches_is_refused(name):
    with pytest.raises(smq.InputError, match="all that these laws can reach"):
        GaussianCopula.from_pearson(LAWS[name], UNIT, -0.99)
    for bad in (float("nan"), "x", None, True, 1.5):
        with pytest.raises(smq.InputError):
            GaussianCopula.from_pearson(UNIT, UNIT, bad)
    with pytest.raises(smq.InputError, match="one law for all owners"):
        GaussianCopula.from_pearson(smq.Power([1.0, 2.0]), UNIT, -0.5)


@pytest.mark.parametrize("name", ["pareto", "log-normal", "gamma"])
def test_the_spend_is_the_budget_by_the_right_name_and_not_by_the_other(name):
    """Owners of a true Pearson correlation: under Spearman's of the same value the budget is missed."""
    law = LAWS[name]
    highest = GaussianCopula(law, UNIT, -1.0).pearson()
    wanted = 0.8 * highest  # negative, within reach
    truth = GaussianCopula.from_pearson(law, UNIT, wanted)
    epsilon = (np.arange(400) + 0.5) / 400
    real = truth.given(epsilon)

    def spend(copula):
        market = smq.Market(epsilon, copula.given(epsilon))
        solution = smq.solve(market, 0.2 * float(np.sum(market.valuation.ppf(0.5))), lotteries=False)
        paid = float(np.sum(solution.thresholds * real.cdf(solution.thresholds) * (solution.acceptance > 0)))
        return paid / solution.budget

    assert spend(truth) == pytest.approx(1.0, abs=1e-3)
    assert abs(spend(GaussianCopula(law, UNIT, wanted)) - 1.0) > 0.01
