"""Error bars on thresholds: they hold the truth, are narrow for our own answers, and say where they are wide."""

from __future__ import annotations

import dataclasses

import mpmath
import numpy as np
import pytest
from strategies import FORMULAS, NAMED, REFERENCE, reference_market

import smqopt as smq
from smqopt.errors import UncertifiedError


def widths(market):
    return market.high - market.low


@pytest.mark.parametrize("instance", REFERENCE, ids=lambda instance: instance["name"])
def test_the_bars_of_our_own_answers_hold_the_optimum_and_are_narrow(instance):
    """The reference is for the decimals of the instance: its thresholds differ from those for the doubles by some 1e-16."""
    market = reference_market(instance, FORMULAS | NAMED)
    certificate = smq.verify(smq.solve(market, float(instance["budget"])))
    bars = certificate.threshold_bounds()
    assert bars.proved, bars.note
    reference = np.array([float(mpmath.mpf(t)) for t in instance["thresholds"]])
    room = 4 * np.spacing(np.maximum(reference, 1.0))
    matters = market.epsilon > 0
    assert np.all(bars.low - room <= reference, where=matters)
    assert np.all(reference <= bars.high + room, where=matters)
    assert np.all(bars.low <= certificate.solution.thresholds)
    assert np.all(certificate.solution.thresholds <= bars.high)
    if certificate.solution.status is smq.Status.BINDING:
        assert bars.method == "price"
        assert bars.budget_price[0] < certificate.solution.budget_price < bars.budget_price[1]
        assert np.all(bars.high - bars.low <= 1e-11 * widths(market))
        assert not bars.wide.any()


def given(market, budget, thresholds, tolerance=1e-6):
    return smq.verify(smq.Solution.from_thresholds(market, budget, thresholds), gap_tolerance=tolerance)


@pytest.mark.parametrize(
    "law", [smq.Uniform(0, 1), smq.Beta(2, 3), smq.Power([0.5, 1.0, 2.0, 3.0])], ids=lambda law: law.name
)
def test_the_bars_of_thresholds_from_elsewhere_hold_the_optimum(law):
    market = smq.Market([0.3, 0.9, 0.6, 1e-9], law)
    best = smq.solve(market, 0.8).thresholds
    certificate = given(market, 0.8, best * (1 - 1e-8 * np.array([1, 0, 1, 1])))
    assert certificate.grade == "proved", certificate.unproved
    bars = certificate.threshold_bounds()
    assert (bars.method, bars.proved) == ("gap", True)
    assert np.all(bars.low <= best)
    assert np.all(best <= bars.high)
    assert not bars.wide[:3].any()
    assert bars.high[3] - bars.low[3] > 100 * best[3]  # next to nothing hangs on her threshold
    assert ("wide" in bars.note) == bars.wide.any()


def test_no_better_threshold_lies_outside_the_bars():
    """Outside, an owner's Lagrangian falls short of its maximum by more than the gap: shown on a grid in mpmath."""
    market = smq.Market([0.3, 0.9], smq.Kumaraswamy(2, 3))
    solution = smq.solve(market, 0.4)
    certificate = given(market, 0.4, solution.thresholds * (1 - 1e-5), 1e-3)
    bars, price = certificate.threshold_bounds(), certificate.solution.budget_price
    gap = certificate.upper_bound - certificate.lower_bound
    for e, low, high in zip([0.3, 0.9], bars.low, bars.high, strict=True):

        def h(t, e=e):
            t = mpmath.mpf(float(t))
            return (1 - (1 - t**2) ** 3) * (e - mpmath.mpf(price) * t)

        top = max(h(t) for t in np.linspace(low, high, 400))
        for t in np.linspace(0, 1, 301):
            if not low <= t <= high:
                assert h(t) < top - gap


def test_slack_and_zero_budgets():
    market = smq.Market([0.3, 0.9, 0.0], smq.Uniform(0.5, 1))
    slack = smq.verify(smq.solve(market, 3.0)).threshold_bounds()
    assert np.all(slack.high == 1.0)
    assert np.all(slack.low[:2] > 0.99)
    assert slack.low[2] == 0.5
    assert slack.wide.tolist() == [False, False, True]
    nothing = smq.verify(smq.solve(market, 0.0)).threshold_bounds()
    assert np.all(nothing.low == 0.5)
    assert np.all(nothing.high == 0.5)


def test_bars_of_ironed_laws_are_numerical_and_hold():
    market = smq.Market([0.3, 0.9, 0.6], smq.Kumaraswamy(2, 0.5))
    certificate = smq.verify(smq.solve(market, 0.7))
    bars = certificate.threshold_bounds()
    assert not bars.proved
    assert "not proved" in bars.note
    assert np.all(bars.low <= certificate.solution.thresholds)
    assert np.all(certificate.solution.thresholds <= bars.high)


def test_thresholds_with_a_large_gap_have_bars_too_but_unproved():
    market = smq.Market([0.3, 0.9, 0.6], smq.Uniform(0, 1))
    best = smq.solve(market, 0.4).thresholds
    certificate = given(market, 0.4, 0.9 * best)
    assert not certificate.valid
    bars = certificate.threshold_bounds()
    assert not bars.proved
    assert np.all((bars.low <= best) & (best <= bars.high))


def test_there_are_no_bars_without_a_valid_certificate():
    solution = smq.solve(smq.Market([0.3, 0.9], smq.Uniform(0, 1)), 0.4)
    wrong = smq.verify(dataclasses.replace(solution, budget_price=1.0))
    with pytest.raises(UncertifiedError):
        wrong.threshold_bounds()
