"""The least budget: reached, never from below, and no smaller budget reaches it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from strategies import markets

import smqopt as smq

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "above 0": smq.Uniform(1, 2),
    "no density at the top": smq.Triangular(0, 0.5, 1),
    "irregular": smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5]),
    "a price list": smq.Discrete([1.0, 2.0], [0.5, 0.5]),
    "exponential": smq.TruncatedExponential(2, 0.1, 1.5),
}


def market_of(law):
    rng = np.random.default_rng(2)
    return smq.Market(rng.random(50) * (rng.random(50) < 0.9), law, multiplicity=rng.integers(1, 4, 50))


def total(market):
    return float(market.epsilon @ (market.multiplicity if market.multiplicity is not None else np.ones(market.n)))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("share", [1e-3, 0.3, 0.9, 0.999])
def test_it_is_reached_and_nothing_less_does(name, share):
    market = market_of(LAWS[name])
    target = share * total(market)
    found = smq.least_budget(market, target)
    assert found.certificate.valid
    assert found.solution.purchased_privacy >= target
    assert 0 <= found.excess < 1e-12
    assert found.gap < 1e-11
    assert found.lower_bound <= found.budget
    assert smq.solve(market, found.lower_bound * (1 - 1e-11)).purchased_privacy < target


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(market=markets(), share=st.floats(0.01, 0.99))
def test_random_markets(market, share):
    target = share * total(market)
    found = smq.least_budget(market, target)
    assert found.solution.purchased_privacy >= target
    assert found.lower_bound <= found.budget
    assert found.gap < 1e-9
    assert found.excess < 1e-9


def test_it_undoes_the_frontier():
    market = market_of(LAWS["uniform"])
    B = market.most_that_can_be_spent * np.array([0.1, 0.5, 0.9])
    for budget, V in zip(B, smq.frontier(market, B).purchased_privacy, strict=True):
        found = smq.least_budget(market, V)
        assert found.budget == pytest.approx(budget, rel=1e-12)
        assert found.budget_price == pytest.approx(smq.solve(market, budget).budget_price, rel=1e-12)


def test_the_ends():
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 2))
    nothing = smq.least_budget(market, 0.0)
    assert (nothing.budget, nothing.lower_bound, nothing.status) == (0.0, 0.0, smq.Status.ZERO_BUDGET)
    everything = smq.least_budget(market, 1.5)
    assert (everything.budget, everything.status) == (4.0, smq.Status.SLACK)
    assert everything.lower_bound == pytest.approx(4.0, rel=1e-9)
    beyond = smq.least_budget(market, math.nextafter(1.5, 2))
    assert (beyond.budget, beyond.lower_bound, beyond.status) == (math.inf, math.inf, smq.Status.UNREACHABLE)
    assert beyond.solution is None
    assert math.isnan(beyond.excess)
    one = smq.least_budget(smq.Market([1.0], smq.Uniform(0, 1)), 0.25)
    assert one.budget == pytest.approx(0.0625, rel=1e-13)
    assert smq.least_budget(smq.Market([0.0], smq.Uniform(0, 1)), 1e-9).status is smq.Status.UNREACHABLE
    assert smq.least_budget(smq.Market([0.0], smq.Uniform(0, 1)), 0.0).status is smq.Status.ZERO_BUDGET


@pytest.mark.parametrize("target", [-1.0, math.nan, math.inf, "1"])
def test_bad_targets_are_refused(target):
    with pytest.raises(smq.InputError, match="purchased_privacy"):
        smq.least_budget(smq.Market([1.0], smq.Uniform(0, 1)), target)


def test_what_is_had_for_nothing_costs_nothing_under_constraints():
    """Budgets were halved towards 0, for ever."""
    market = smq.Market([1.0, 0.5], smq.Discrete([0.0, 1.0], [1, 1]))
    found = smq.least_budget(market, 0.5, constraints=[smq.ExpectedOwners(at_most=2)])
    assert (found.budget, found.lower_bound, found.status) == (0.0, 0.0, smq.Status.ZERO_BUDGET)
    assert found.certificate is not None
    assert found.certificate.valid


@pytest.mark.parametrize("which", [3, 4, 5])
def test_a_budget_without_an_answer_says_nothing_of_smaller_ones(which, monkeypatch):
    """1.1 was the least budget where .36 is enough, for one solve in between had no certificate."""
    from smqopt.questions.frontiers._at_budgets import AtBudgets

    market, calls = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), []
    records = [smq.PriceRange(at_most=0.8)]
    known = smq.least_budget(market, 1.0, constraints=records).budget
    plain = AtBudgets.solve

    def solve(self, budget, **options):
        calls.append(budget)
        if len(calls) == which:
            raise smq.SolverError("solver", "fails once")
        return plain(self, budget, **options)

    monkeypatch.setattr(AtBudgets, "solve", solve)
    assert smq.least_budget(market, 1.0, constraints=records).budget == pytest.approx(known, rel=1e-9)
    assert len(calls) >= which
