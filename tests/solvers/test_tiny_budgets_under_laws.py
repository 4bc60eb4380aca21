"""Tiny budgets under laws in doubt: shares and values are judged in units of what the budget leaves."""

from __future__ import annotations

import numpy as np
import pytest

import smqopt as smq
from smqopt.market._most_acceptance import most_acceptance

LAWS = smq.Scenarios([smq.Discrete([0.2, 0.5, 1.0], [0.3, 0.3, 0.4]), smq.Uniform(0.1, 1.0)])
GROUPS = {"h": list("aab")}
EPSILON = [0.5, 1.0, 0.8]


@pytest.mark.parametrize("budget", [1e-12, 1e-9, 1e-5])
@pytest.mark.parametrize(
    ("records", "aim", "worth"),
    [
        # at 1, which all accept under both laws, an acceptance costs 1
        ([smq.PriceMenu([1.0])], smq.BoughtOwners(), 1.0),
        ([smq.PriceMenu([1.0])], None, 1.0),
        ([smq.PriceMenu([1.0])], smq.DiminishingReturns(scale=0.5), 2.0),
        ([smq.PriceMenu([1.0])], smq.WorstGroup("h"), 1 / 3),
        ([smq.PriceMenu([1.0]), smq.CommonPrice("h")], smq.BoughtOwners(), 1.0),
        ([smq.PriceMenu([1.0]), smq.GroupBudget("h", "b", at_most=0.0)], None, 1.0),
    ],
)
def test_a_little_money_buys_what_it_pays_for(budget, records, aim, worth):
    """Offers at 1, made with a chance of the budget's size: HiGHS leaves 1e-10 of a chance open."""
    market = smq.Market(EPSILON, LAWS, groups=GROUPS)
    certificate = smq.verify(smq.solve(market, budget, constraints=records, objective=aim))
    assert certificate.valid, certificate.reasons
    assert certificate.lower_bound == pytest.approx(worth * budget, rel=4 * budget + 1e-9, abs=0)


@pytest.mark.parametrize("budget", [1e-9, 1e-7, 1e-4])
def test_a_variance_at_a_little_money(budget):
    """Of one owner: q = B under both laws, and a variance of Σ 1/q − 1 in her own units."""
    market = smq.Market([1.0], LAWS)
    menu = [smq.PriceMenu([1.0])]
    solution = smq.solve(market, budget, constraints=menu, objective=smq.InverseProbabilityVariance())
    assert smq.verify(solution).valid
    assert solution.acceptance[0] == pytest.approx(budget, rel=1e-9, abs=0)


def test_the_worst_group_at_a_thousandth():
    """A group whose laws differ: min over groups of means, Uniform(0, 1) and Uniform(0, 2), q = √B."""
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 2)])
    for budget in (1e-12, 1e-6, 1e-3):
        market = smq.Market([0.4, 0.9], laws, groups={"h": list("ab")})
        solution = smq.solve(market, budget, objective=smq.WorstGroup("h"))
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        # under law 1 p buys p and costs p²; law 2 halves both: p² + p² = B, and p/2 is the worst
        assert certificate.lower_bound == pytest.approx((budget / 2) ** 0.5 / 2, rel=1e-9, abs=0)


@pytest.mark.parametrize("law", [smq.Uniform(0.2, 1.7), smq.Power(0.5), smq.Beta(3, 2), smq.PointMass(0.4)])
@pytest.mark.parametrize("spend", [1e-14, 1e-6, 0.03, 0.8])
@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_no_draw_is_accepted_more_often_than_its_bound(law, spend, floor):
    """A draw of two prices that costs the spend, or less."""
    most = float(most_acceptance(law, np.array([spend]), np.array([floor]))[0])
    price = np.geomspace(max(floor, 1e-15), 2.0, 20_001)
    F = law.cdf(price)
    share = np.minimum(spend / np.maximum(price * F, 1e-300), 1.0)
    assert np.max(share * F) <= most
    assert most <= 4.0 * np.max(share * F)
