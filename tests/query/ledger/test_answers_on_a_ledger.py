"""Answers that are charged: in which order, what is refused, and what a share does to the law."""

from __future__ import annotations

import dataclasses
import secrets
from fractions import Fraction

import numpy as np
import pytest

import smqopt as smq
from smqopt.query import audit_privacy


@pytest.fixture(scope="module")
def outcome():
    market = smq.Market([1.0, 0.5, 2.0, 0.7], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    return smq.procure(smq.verify(smq.solve(market, 9.0)), [0.1, 0.2, 0.9, 2.0])


@pytest.fixture
def draws(monkeypatch):
    """Count the draws of the secure source."""
    made = []
    whole = secrets.randbelow

    def counted(bound):
        made.append(bound)
        return whole(bound)

    monkeypatch.setattr(secrets, "randbelow", counted)
    return made


def test_a_refused_release_draws_nothing(outcome, tmp_path, draws):
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    for _ in range(2):
        answer = smq.answer(smq.Count(), [1, 0, 1], outcome, ledger=ledger, share="1/2")
    assert len(draws) == 2
    assert answer.share == Fraction(1, 2)
    for refused in (
        lambda: smq.answer(smq.Count(), [1, 0, 1], outcome, ledger=ledger, share="1/1000"),
        lambda: smq.answer_by_group(smq.Count(), [1, 0, 1], outcome, list("abab"), ledger=ledger, share="1/1000"),
    ):
        with pytest.raises(smq.LedgerError, match="owner 'ann': has nothing"):
            refused()
    assert len(draws) == 2
    assert len(ledger.charges) == 2


def test_the_charge_is_on_disk_before_the_draw(outcome, tmp_path, monkeypatch):
    ledger = smq.Ledger(tmp_path / "ledger.txt")

    def crash(bound):
        assert smq.Ledger(tmp_path / "ledger.txt").remaining_share("cy") == Fraction(2, 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(secrets, "randbelow", crash)
    with pytest.raises(KeyboardInterrupt):
        smq.answer(smq.Count(), [1, 0, 1], outcome, ledger=ledger, share="1/3")
    monkeypatch.undo()
    assert [charge.confirmed for charge in ledger.charges] == [False]
    assert ledger.remaining_share("cy") == Fraction(2, 3)  # the owner who did not sell has no account
    assert ledger.owner_ids == ("ann", "bo", "cy")


def test_an_answer_that_is_wrongly_asked_is_not_charged(outcome, tmp_path, draws):
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    with pytest.raises(smq.InputError):
        smq.answer(smq.Count(), [1, 0, 7], outcome, ledger=ledger)
    with pytest.raises(smq.InputError, match="this is a simulation"):
        smq.answer(smq.Count(), [1, 0, 1], outcome, np.random.default_rng(1), ledger=ledger)
    with pytest.raises(smq.InputError, match="must be a Ledger"):
        smq.answer(smq.Count(), [1, 0, 1], outcome, ledger=tmp_path / "ledger.txt")
    with pytest.raises(smq.InputError, match="above 0"):
        smq.answer(smq.Count(), [1, 0, 1], outcome, share=0)
    assert not ledger.path.exists()
    assert draws == []


def test_a_ledger_names_query_and_certificate_and_nothing_private(outcome, tmp_path):
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    entries = [117_355_901, 993_318_254, 488_120_663]
    answer = smq.answer(smq.Median(0, 10**9), entries, outcome, ledger=ledger)
    (charge,) = ledger.charges
    assert charge.confirmed
    assert charge.note["query"] == "median"
    assert charge.note["certificate"] == outcome.certificate.fingerprint
    assert len(charge.note["asked"]) == 64
    assert len(charge.note) == 3
    text = ledger.path.read_text()
    assert not any(value in text for value in (*map(str, entries), str(round(answer.value)), '"value"'))
    record = answer.to_dict()
    assert record["charge"] == charge.number
    assert record["ledger_head"] == answer.charge.head
    assert "share" not in record


@pytest.mark.parametrize("query", [smq.Count(), smq.Median(0, 1)], ids=["count", "median"])
def test_an_answer_at_a_share_is_private_at_that_share(query):
    epsilon = np.array([1.0, 0.6, 2.0])
    market = smq.Market(epsilon, smq.Uniform(0, 1))
    bought = smq.procure(smq.verify(smq.solve(market, 9.0)), np.zeros(3))

    def law_at(share):
        return lambda entries: smq.answer(query, entries, bought, np.random.default_rng(1), share=share).distribution()

    assert audit_privacy(law_at("1/3"), epsilon / 3, alphabet=[0, 1]).excess <= 1e-12
    assert audit_privacy(law_at(1), epsilon / 3, alphabet=[0, 1]).excess > 0  # the audit sees who spends more
    assert smq.answer(query, [0, 1, 1], bought, np.random.default_rng(1), share="1/3").epsilon.tolist() == (
        pytest.approx((epsilon / 3).tolist())
    )


def test_groups_are_charged_once(outcome, tmp_path):
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    found = smq.answer_by_group(smq.Count(), [1, 0, 1], outcome, list("abab"), ledger=ledger, share="1/4")
    assert set(found) == {"a", "b"}
    assert len(ledger.charges) == 1
    assert ledger.remaining_share("ann") == Fraction(3, 4)


def test_a_bent_outcome_is_not_charged(outcome, tmp_path):
    raised = dataclasses.replace(outcome, epsilon=outcome.epsilon * 2)
    with pytest.raises(smq.UncertifiedError):
        smq.answer(smq.Count(), [1, 0, 1], raised, ledger=smq.Ledger(tmp_path / "ledger.txt"))
    assert not (tmp_path / "ledger.txt").exists()
