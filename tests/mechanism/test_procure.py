"""Algorithm 1: who is bought, what each is paid, and who is let in."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq


def certified(market, budget):
    certificate = smq.verify(smq.solve(market, budget))
    assert certificate.valid, certificate.reasons
    return certificate


@pytest.fixture(scope="module")
def certificate():
    market = smq.Market([1.0, 0.5, 0.0, 2.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    return certified(market, 0.5)


def test_reports_up_to_the_threshold_sell_and_are_paid_the_threshold(certificate):
    thresholds = certificate.solution.thresholds
    outcome = smq.procure(certificate, thresholds)  # a tie sells
    assert outcome.selected.tolist() == [True, True, False, True]
    assert outcome.payments.tolist() == [thresholds[0], thresholds[1], 0.0, thresholds[3]]
    assert outcome.total_payment == math.fsum(outcome.payments)
    assert (outcome.bought, outcome.population, outcome.rule) == (3, 4, "posted")
    assert outcome.bought_epsilon.tolist() == [1.0, 0.5, 2.0]
    assert outcome.bought_ids == ("ann", "bo", "di")
    above = smq.procure(certificate, np.nextafter(thresholds, np.inf))
    assert above.bought == 0
    assert above.total_payment == 0.0


def test_no_offer_means_never_bought_whatever_she_reports(certificate):
    assert certificate.solution.acceptance[2] == 0
    assert certificate.solution.thresholds[2] == 0
    assert not smq.procure(certificate, np.zeros(4)).selected[2]
    dear = certified(smq.Market([1.0, 0.01], smq.Uniform([0.0, 5.0], [1.0, 6.0])), 0.2)
    assert dear.solution.thresholds[1] == 5.0
    assert smq.procure(dear, [0.0, 5.0]).selected.tolist() == [True, False]
    assert smq.procure(dear, [0.0, 0.0]).selected.tolist() == [True, False]


def test_a_zero_budget_buys_nobody():
    outcome = smq.procure(certified(smq.Market([1.0, 1.0], smq.Uniform(0, 1)), 0.0), [0.0, 0.0])
    assert outcome.bought == 0


def test_a_slack_budget_buys_everybody_with_privacy_to_sell():
    outcome = smq.procure(certified(smq.Market([1.0, 0.0, 1.0], smq.Uniform(0, 1)), 9.0), [1.0, 0.0, 0.3])
    assert outcome.selected.tolist() == [True, False, True]
    assert outcome.payments.tolist() == [1.0, 0.0, 1.0]


def test_reports_above_the_support_are_allowed(certificate):
    assert smq.procure(certificate, [7.0, 1e300, 2.0, 1.5]).bought == 0


def test_rows_of_alike_owners_are_owners():
    market = smq.Market([1.0, 2.0], smq.Uniform(0, 1), owner_ids=["a", "b"], multiplicity=[2, 3])
    certificate = certified(market, 1.0)
    low, high = certificate.solution.thresholds
    outcome = smq.procure(certificate, [0.0, low * 1.01, high, 0.0, 1.0])
    assert outcome.owner_ids == ("a#1", "a#2", "b#1", "b#2", "b#3")
    assert outcome.selected.tolist() == [True, False, True, True, False]
    assert outcome.payments.tolist() == [low, 0.0, high, high, 0.0]
    assert outcome.epsilon.tolist() == [1.0, 1.0, 2.0, 2.0, 2.0]
    with pytest.raises(smq.InputError, match=r"shape \(5,\)"):
        smq.procure(certificate, [0.1, 0.1])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6))
def test_truth_is_a_dominant_strategy_and_nobody_loses(seed, n):
    rng = np.random.default_rng(seed)
    certificate = certified(smq.Market(rng.random(n), smq.Uniform(0, 1)), float(rng.random() * n))
    theta = rng.random(n)
    honest = smq.procure(certificate, theta)
    utility = np.where(honest.selected, honest.payments - theta, 0.0)
    assert np.all(utility >= 0)
    # A report matters through its side of the threshold only, so three deviations try every outcome there is.
    thresholds = certificate.solution.thresholds
    for deviation in (np.zeros(n), thresholds, np.full(n, 2.0)):
        other = smq.procure(certificate, deviation)
        assert np.all(np.where(other.selected, other.payments - theta, 0.0) <= utility)


def test_payments_meet_the_budget_in_expectation():
    n, budget, runs = 400, 40.0, 200
    rng = np.random.default_rng(4)
    certificate = certified(smq.Market(rng.random(n), smq.Uniform(0, 1)), budget)
    totals = [smq.procure(certificate, rng.random(n)).total_payment for _ in range(runs)]
    acceptance, thresholds = certificate.solution.acceptance, certificate.solution.thresholds
    deviation = math.sqrt(math.fsum(thresholds**2 * acceptance * (1 - acceptance)) / runs)
    assert abs(np.mean(totals) - budget) < 4 * deviation


@pytest.mark.parametrize(
    ("report", "shown"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "inf"), (-0.123456789, "0.123456789")]
)
def test_a_bad_report_is_refused_by_owner_and_not_shown(certificate, report, shown):
    with pytest.raises(smq.InputError, match="owner 'bo'") as refused:
        smq.procure(certificate, [0.5, report, 0.5, 0.5])
    assert shown not in str(refused.value).replace("finite", "")
    assert "private" in str(refused.value)


@pytest.mark.parametrize("reports", [[], [0.5], [0.5] * 5, [[0.5] * 4], 0.5])
def test_reports_of_another_shape_are_refused(certificate, reports):
    with pytest.raises(smq.InputError, match=r"must have shape \(4,\)"):
        smq.procure(certificate, reports)


def test_reports_that_are_not_numbers_are_refused(certificate):
    for reports in (["0.987", "0.5", "0.5", "0.5"], [None, 0.5, 0.5, 0.5], [True] * 4):
        with pytest.raises(smq.InputError, match=r"must hold numbers|row 1: must not be masked") as refused:
            smq.procure(certificate, reports)
        assert "0.987" not in str(refused.value)


def test_an_unknown_payment_rule_is_refused(certificate):
    with pytest.raises(smq.InputError, match="did you mean 'posted'"):
        smq.procure(certificate, np.zeros(4), payments="poste")


def test_only_a_certificate_opens_the_mechanism(certificate):
    solution = certificate.solution
    look_alike = SimpleNamespace(valid=True, solution=solution, reasons=(), covers=lambda _: True)
    for forged in (None, True, solution, solution.thresholds, look_alike):
        with pytest.raises(smq.UncertifiedError, match="must be a Certificate"):
            smq.procure(forged, np.zeros(4))


def test_an_invalid_certificate_is_refused_with_its_reasons(certificate):
    solution = certificate.solution
    wrong = smq.verify(dataclasses.replace(solution, thresholds=solution.thresholds * 0.9))
    assert not wrong.valid
    with pytest.raises(smq.UncertifiedError) as refused:
        smq.procure(wrong, np.zeros(4))
    assert all(reason.split(":")[0] in str(refused.value) for reason in wrong.reasons)
    assert "\n" not in str(refused.value)


def test_a_solution_changed_after_it_was_judged_is_refused():
    certificate = certified(smq.Market([1.0, 1.0], smq.Uniform(0, 1)), 0.5)
    thresholds = np.array(certificate.solution.thresholds)
    thresholds[0] = 0.9
    exchanged = dataclasses.replace(
        certificate, solution=dataclasses.replace(certificate.solution, thresholds=thresholds)
    )
    assert exchanged.valid
    with pytest.raises(smq.UncertifiedError, match="changed after it was verified"):
        smq.procure(exchanged, [0.0, 0.0])
