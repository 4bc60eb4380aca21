"""Outcomes on file: they come back to the last bit, hold no report, and do not bend."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import smqopt as smq

REPORT = 0.1357924680


@pytest.fixture(scope="module")
def certificate():
    market = smq.Market([1.0, 1 / 3, 0.0, 2.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "a, b"])
    return smq.verify(smq.solve(market, 0.7))


@pytest.fixture
def path(certificate, tmp_path):
    smq.procure(certificate, [REPORT, 0.9, 0.0, REPORT]).save(tmp_path / "outcome.csv")
    return tmp_path / "outcome.csv"


def test_an_outcome_comes_back_to_the_last_bit(certificate, path):
    outcome, again = smq.procure(certificate, [REPORT, 0.9, 0.0, REPORT]), smq.Outcome.load(path, certificate)
    assert again.owner_ids == outcome.owner_ids
    for name in ("epsilon", "thresholds", "selected", "payments", "owners", "batch"):
        assert np.array_equal(getattr(again, name), getattr(outcome, name))
        assert getattr(again, name).dtype == getattr(outcome, name).dtype
    assert again.rule == outcome.rule
    assert again.certificate is certificate
    assert again.total_payment == outcome.total_payment


def test_alike_owners_come_back(tmp_path):
    market = smq.Market([1.0, 2.0], smq.Uniform(0, 1), multiplicity=[2, 3])
    certificate = smq.verify(smq.solve(market, 1.0))
    outcome = smq.procure(certificate, [0.0, 1.0, 0.0, 1.0, 0.0])
    outcome.save(tmp_path / "o.csv")
    again = smq.Outcome.load(tmp_path / "o.csv", certificate)
    assert again.selected.tolist() == [True, False, True, False, True]
    assert again.payments.tolist() == outcome.payments.tolist()


def test_the_file_holds_no_report_and_appears_whole(path):
    text = path.read_text()
    assert str(REPORT) not in text
    header = ["owner", "epsilon", "threshold", "selected", "payment", "rule", "batch", "batch_size"]
    assert next(csv.reader(text.splitlines())) == header
    assert [entry.name for entry in path.parent.iterdir()] == ["outcome.csv"]


def test_the_record_holds_no_report(certificate):
    outcome = smq.procure(certificate, [REPORT, 0.9, 0.0, REPORT])
    assert all(REPORT not in np.ravel(value) for value in vars(outcome).values() if isinstance(value, np.ndarray))
    assert repr(outcome).startswith("Outcome(2 of 4 owners bought for ")


@pytest.mark.parametrize(
    ("row", "column", "text", "message"),
    [
        (1, "owner", "anne", "column 'owner', row 1"),
        (1, "epsilon", "1.5", "column 'epsilon', row 1 (owner 'ann')"),
        (1, "threshold", "0.99", "column 'threshold', row 1 (owner 'ann')"),
        (1, "payment", "0.99", "column 'payment', row 1 (owner 'ann')"),
        (1, "payment", "nan", "column 'payment', row 1"),
        (1, "payment", "much", "column 'payment', row 1"),
        (2, "payment", "0.01", "column 'payment', row 2 (owner 'bo')"),
        (1, "selected", "maybe", "column 'selected', row 1 (owner 'ann'): must be yes or no (found 'maybe')"),
        (1, "selected", "no", "column 'payment', row 1 (owner 'ann')"),
        (1, "rule", "ex-post-budget", "column 'rule', row 2 (owner 'bo'): must be one rule for all"),
        (1, "rule", "poste", "column 'rule', row 1: must name a payment rule (found 'poste'); did you mean 'posted'?"),
        (2, "batch", "2", "batch 1: must have one row for each of its 4 owners (found 3)"),
        (2, "batch", "1.5", "column 'batch', row 2 (owner 'bo'): must be a whole number from 1 on"),
        (2, "batch", "9", "column 'batch', row 2"),
        (2, "batch_size", "3", "batch 1: must have one row for each of its 3 owners (found 4)"),
        (3, "selected", "yes", "column 'selected', row 3 (owner 'cy'): must be no for an owner without an offer"),
    ],
)
def test_a_bent_file_is_refused(certificate, path, row, column, text, message):
    rows = list(csv.reader(path.read_text().splitlines()))
    rows[row][rows[0].index(column)] = text
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    with pytest.raises(smq.InputError) as refused:
        smq.Outcome.load(path, certificate)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_column_or_row_is_refused(certificate, path):
    rows = list(csv.reader(path.read_text().splitlines()))
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows[:-1])
    with pytest.raises(smq.InputError, match=r"batch 1: must have one row for each of its 4 owners \(found 3"):
        smq.Outcome.load(path, certificate)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([row[:-1] for row in rows])
    with pytest.raises(smq.InputError, match="column 'batch_size': is missing"):
        smq.Outcome.load(path, certificate)
    with pytest.raises(smq.InputError, match="cannot be read"):
        smq.Outcome.load(path.parent / "nowhere.csv", certificate)


def test_loading_needs_a_valid_certificate_of_the_same_thresholds(certificate, path):
    with pytest.raises(smq.UncertifiedError):
        smq.Outcome.load(path, None)
    other = smq.verify(smq.solve(certificate.solution.market, 0.8))
    with pytest.raises(smq.InputError, match="must be the certified threshold"):
        smq.Outcome.load(path, other)
