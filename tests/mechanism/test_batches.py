"""Batches: who takes part, what a batch may cost, and that nobody is bought twice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import markets, shares

import smqopt as smq

IRREGULAR = smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5])
SECRET = 0.1234567


@pytest.fixture(scope="module")
def certificate():
    market = smq.Market([1.0, 0.5, 0.0, 2.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    return smq.verify(smq.solve(market, 0.8))


def test_a_batch_is_bought_as_it_would_be_in_the_whole(certificate):
    whole = smq.procure(certificate, [0.2, 0.2, 0.2, 0.9])
    batch = smq.procure(certificate, [0.9, 0.2], owner_ids=["di", "ann"])
    assert batch.owner_ids == ("ann", "di")
    assert batch.selected.tolist() == whole.selected[[0, 3]].tolist()
    assert batch.payments.tolist() == whole.payments[[0, 3]].tolist()
    assert (batch.population, batch.is_whole, whole.is_whole) == (2, False, True)
    assert batch.acceptance.tolist() == certificate.solution.acceptance[[0, 3]].tolist()
    assert batch.owners.tolist() == [0, 3]


def test_an_absent_owner_takes_no_part_and_may_come_later(certificate):
    first = smq.procure(certificate, [0.2, math.nan, 0.0, math.nan], missing="absent")
    assert first.owner_ids == ("ann", "cy")
    later = smq.procure(certificate, [0.1, 0.1], owner_ids=["bo", "di"])
    both = smq.join_outcomes([first, later])
    assert both.owner_ids == ("ann", "bo", "cy", "di")
    assert both.batch.tolist() == [1, 2, 1, 2]
    assert both.payments.tolist() == smq.procure(certificate, [0.2, 0.1, 0.0, 0.1]).payments.tolist()
    assert both.is_whole


def test_nobody_is_bought_twice(certificate):
    first = smq.procure(certificate, [0.2, 0.2], owner_ids=["ann", "bo"])
    second = smq.procure(certificate, [0.2, 0.2], owner_ids=["di", "bo"])
    with pytest.raises(smq.InputError, match=r"must not hold an owner twice \(found 'bo'"):
        smq.join_outcomes([first, second])
    with pytest.raises(smq.InputError, match="twice"):
        smq.join_outcomes([first, first])


def test_only_like_is_joined_with_like(certificate):
    first = smq.procure(certificate, [0.2, 0.2], owner_ids=["ann", "bo"])
    other = smq.verify(smq.solve(certificate.solution.market, 0.7))
    with pytest.raises(smq.InputError, match="one certificate"):
        smq.join_outcomes([first, smq.procure(other, [0.2], owner_ids=["di"])])
    with pytest.raises(smq.InputError, match="must pay by the rule 'posted'"):
        smq.join_outcomes([first, smq.procure(certificate, [0.2, 0.1], "ex-post-budget", owner_ids=["di", "cy"])])
    for nothing in ([], [None], [certificate]):
        with pytest.raises(smq.InputError, match="must hold outcomes"):
            smq.join_outcomes(nothing)


RULES = [
    ({"owner_ids": ["ann", "ann"]}, "entry 2: repeats an owner"),
    ({"owner_ids": ["ann", "eve"]}, "entry 2: must be an owner of the market"),
    ({"owner_ids": ["ann"]}, r"must have shape \(1,\)"),
    ({"owner_ids": ["ann", "bo"], "missing": "absen"}, "did you mean 'absent'"),
]


@pytest.mark.parametrize(("given", "told"), RULES)
def test_batches_are_named_rightly(certificate, given, told):
    with pytest.raises(smq.InputError, match=told) as refused:
        smq.procure(certificate, [SECRET, SECRET], **given)
    assert str(SECRET) not in str(refused.value)


@pytest.mark.parametrize("report", [math.nan, math.inf, -SECRET])
def test_a_bad_report_names_its_owner_alone(certificate, report):
    with pytest.raises(smq.InputError, match=r"owner 'ann': must be a finite number ≥ 0 \(value not"):
        smq.procure(certificate, [0.5, report], owner_ids=["bo", "ann"])
    if not math.isnan(report):  # bad is bad, also where missing reports are allowed
        with pytest.raises(smq.InputError, match="owner 'ann'"):
            smq.procure(certificate, [0.5, report], owner_ids=["bo", "ann"], missing="absent")


def test_a_batch_needs_somebody(certificate):
    with pytest.raises(smq.InputError, match="at least one report"):
        smq.procure(certificate, [math.nan] * 4, missing="absent")
    with pytest.raises(smq.InputError, match="at least one report"):
        smq.procure(certificate, [], owner_ids=[])


def test_reports_outside_the_support():
    certificate = smq.verify(smq.solve(smq.Market([1.0, 0.001], smq.Uniform([1.0, 5.0], [2.0, 6.0])), 1.0))
    assert certificate.solution.acceptance[1] == 0
    assert smq.procure(certificate, [0.5, 0.5]).selected.tolist() == [True, False]  # below: sells if she has an offer
    assert smq.procure(certificate, [2.5, 9.0]).selected.tolist() == [False, False]  # above: does not sell


def test_alike_owners_report_by_their_own_names():
    market = smq.Market([1.0, 2.0], smq.Uniform(0, 1), owner_ids=["a", "b"], multiplicity=[2, 3])
    certificate = smq.verify(smq.solve(market, 1.0))
    batch = smq.procure(certificate, [0.0, 0.0], owner_ids=["b#3", "a#2"])
    assert batch.owner_ids == ("a#2", "b#3")
    assert batch.payments.tolist() == certificate.solution.thresholds.tolist()
    assert batch.rows.tolist() == [0, 1]
    assert batch.acceptance.tolist() == certificate.solution.acceptance.tolist()
    with pytest.raises(smq.InputError, match="must be an owner of the market"):
        smq.procure(certificate, [0.0], owner_ids=["a"])


def test_a_lottery_does_not_depend_on_the_batch():
    market = smq.Market([0.2, 0.5, 1.0, 1.0, 1.0, 1.0], IRREGULAR)
    certificate = smq.verify(smq.solve(market, 2.6))
    assert certificate.solution.lottery is not None
    whole = smq.procure(certificate, np.zeros(6), rng=np.random.default_rng(5))
    assert whole.drawn.any()
    for owners in (["2", "3"], ["6", "5", "2"], ["4"]):
        batch = smq.procure(certificate, np.zeros(len(owners)), owner_ids=owners, rng=np.random.default_rng(5))
        assert batch.thresholds.tolist() == whole.thresholds[batch.owners].tolist()
        assert batch.drawn.tolist() == whole.drawn[batch.owners].tolist()


@settings(max_examples=7)
@given(
    market=markets(most=6),
    share=shares,
    seed=st.integers(0, 2**32 - 1),
    rule=st.sampled_from(["posted", "ex-post-budget"]),
)
def test_batches_together_are_within_what_they_are_expected_to_cost(market, share, seed, rule):
    certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
    rng = np.random.default_rng(seed)
    ids, n = market.expand().owner_ids, market.population
    parts = np.array_split(rng.permutation(n), max(1, n // 3))
    outcomes = [
        smq.procure(certificate, rng.random(part.size) * 3, rule, owner_ids=[ids[i] for i in part.tolist()])
        for part in parts
        if part.size > 1 or rule == "posted"
    ]
    if not outcomes:
        return
    joined = smq.join_outcomes(outcomes)
    assert joined.population == sum(outcome.population for outcome in outcomes)
    assert joined.bought == sum(outcome.bought for outcome in outcomes)
    assert joined.owners.tolist() == sorted(joined.owners.tolist())
    if rule == "ex-post-budget":
        for outcome in [*outcomes, joined]:
            paid = sum(map(Fraction, outcome.payments.tolist()))
            assert paid <= certificate.solution.budget
            assert paid <= sum(map(Fraction, outcome.expected_payments.tolist()))


def test_a_batch_of_one_may_cost_what_it_is_expected_to(certificate):
    with pytest.raises(smq.InputError, match="needs two owners"):
        smq.procure(certificate, [0.1], "ex-post-budget", owner_ids=["ann"])
    assert smq.procure(certificate, [0.1], "ex-post-budget", owner_ids=["cy"]).total_payment == 0.0
    sure = smq.verify(smq.solve(certificate.solution.market, 9.0))
    assert smq.procure(sure, [0.1], "ex-post-budget", owner_ids=["ann"]).total_payment == 1.0


def test_joined_batches_come_back_from_a_file(certificate, tmp_path):
    for rule in ("posted", "ex-post-budget"):
        first = smq.procure(certificate, [0.2, 0.9], rule, owner_ids=["ann", "di"])
        second = smq.procure(certificate, [0.2, 0.1], rule, owner_ids=["cy", "bo"])
        for outcome in (first, smq.join_outcomes([first, second])):
            outcome.save(tmp_path / "outcome.csv")
            again = smq.Outcome.load(tmp_path / "outcome.csv", certificate)
            assert again.owner_ids == outcome.owner_ids
            for name in ("payments", "selected", "owners", "batch", "thresholds"):
                assert getattr(again, name).tolist() == getattr(outcome, name).tolist()
    text = (tmp_path / "outcome.csv").read_text().splitlines(keepends=True)
    (tmp_path / "outcome.csv").write_text("".join([text[0], text[2], text[1], *text[3:]]))
    with pytest.raises(smq.InputError, match="column 'owner'"):
        smq.Outcome.load(tmp_path / "outcome.csv", certificate)
