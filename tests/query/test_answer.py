"""Answers: what they say, what they hide, what they refuse."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import secrets

import numpy as np
import pytest

import smqopt as smq
from smqopt.query import NOISE_LEVEL, Score, audit_privacy, pe_law
from smqopt.query._entries import whole_entries
from smqopt.query.exponential._noise import fewest_changes, sure_costs
from smqopt.query.queries._query import Query

SECRET = 104_729

pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")
"""Many releases from one purchase: here they are no promise to anybody."""


def outcome_of(epsilon, refuse=(), **market):
    """Everybody has the offer 1; those in `refuse` report more."""
    market = smq.Market(epsilon, smq.Uniform(0, 1), **market)
    certificate = smq.verify(smq.solve(market, budget=2.0 * market.population))
    reports = np.full(market.population, 0.5)
    reports[list(refuse)] = 1.5
    return smq.procure(certificate, reports)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def outcome():
    return outcome_of([0.4, 0.9, 0.2, 1.5, 0.7, 0.6], refuse=[1, 4], owner_ids=["ann", "bo", "cy", "di", "ed", "flo"])


def test_counts_are_scaled_to_the_population(outcome, brute_force):
    result = smq.answer(smq.Count(), [1, 0, 1, 1], outcome, rng=rng())
    assert (result.query, result.n, result.population, result.bought) == ("count", 6, 6, 4)
    values, probabilities = result.distribution()
    assert values.tolist() == [0.0, 1.5, 3.0, 4.5, 6.0]
    assert result.value in values.tolist()
    assert isinstance(result.value, float)
    truth = brute_force(sum, range(2), [0.4, 0.2, 1.5, 0.6])
    expected = truth.law[truth.datasets.tolist().index([1, 0, 1, 1])]
    np.testing.assert_allclose(probabilities, expected, rtol=1e-13)


@pytest.mark.parametrize("odd", [None, np.ma.masked, float("nan"), "text", -1e9, [1, 2]], ids=str)
def test_what_an_owner_who_was_not_bought_says_changes_nothing(outcome, odd):
    asked = {"ann": 1, "bo": odd, "cy": 0, "di": 1, "ed": 1, "flo": 1}
    result = smq.answer(smq.Count(), asked, outcome, rng=rng())
    assert result.value == smq.answer(smq.Count(), [1, 0, 1, 1], outcome, rng=rng()).value
    if odd is None:
        with pytest.raises(smq.InputError, match="owner 'cy': must not be masked or missing"):
            smq.answer(smq.Count(), asked | {"cy": odd}, outcome, rng=rng())


def test_medians_are_candidates_of_the_public_range(outcome):
    result = smq.answer(smq.Median(-3, 40), [5, -3, 5, 40], outcome, rng=rng())
    values, probabilities = result.distribution()
    assert values.tolist() == list(range(-3, 41))
    assert isinstance(result.value, int)
    assert values[int(np.argmax(probabilities))] == 5
    assert result.noise_unit == "ranks among the bought entries"
    assert result.noise_half_width(0.5) == int(result.noise_half_width(0.5))


def test_data_go_to_the_selected_owners_in_order(outcome):
    # Only di, with requirement 1.5, has the entry 1: to lose it costs 1.5, to gain one costs 0.2, 0.6 (cy + ann), 1.2.
    _, probabilities = smq.answer(smq.Count(), [0, 0, 1, 0], outcome, rng=rng()).distribution()
    costs = -2 * np.log(probabilities / probabilities[1])
    np.testing.assert_allclose(costs, [1.5, 0.0, 0.2, 0.6, 1.2], atol=1e-12)


def test_rows_of_alike_owners_are_owners():
    outcome = outcome_of([1.0, 2.0], refuse=[0], multiplicity=[2, 3])
    result = smq.answer(smq.Count(), [True, True, False, False], outcome, rng=rng())
    assert (result.n, result.bought) == (5, 4)
    assert result.epsilon.tolist() == [1.0, 2.0, 2.0, 2.0]
    with pytest.raises(smq.InputError, match="owner '2#1'"):
        smq.answer(smq.Count(), [1, 2, 0, 0], outcome)


def test_a_seed_makes_a_simulation_and_nothing_else_does(outcome):
    simulated = [smq.answer(smq.Median(0, 10**9), [1, 0, 1, 1], outcome, rng=rng(7)) for _ in range(2)]
    assert simulated[0].value == simulated[1].value
    assert simulated[0].simulation is True
    released = smq.answer(smq.Count(), [1, 0, 1, 1], outcome)
    assert released.simulation is False
    assert "simulation, not a private release" in simulated[0].to_dict()["note"]
    assert released.to_dict()["note"] == "noise only, not sampling error"


def test_a_release_draws_its_bits_from_secrets(outcome, monkeypatch):
    monkeypatch.setattr(secrets, "randbelow", lambda bound: bound - 1)
    assert smq.answer(smq.Count(), [1, 0, 1, 1], outcome).value == 6.0
    monkeypatch.setattr(secrets, "randbelow", lambda _: 0)
    assert smq.answer(smq.Count(), [1, 0, 1, 1], outcome).value == 0.0
    assert smq.answer(smq.Median(3, 9), [4, 4, 4, 4], outcome).value == 3


def test_the_published_record(outcome):
    result = smq.answer(smq.Median(0, 90), [31, 42, 31, 17], outcome, rng=rng(11))
    published = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert published == {
        "value": result.value,
        "query": "median",
        "low": 0,
        "high": 90,
        "n": 6,
        "bought": 4,
        "noise_half_width": result.noise_half_width(NOISE_LEVEL),
        "noise_level": 0.95,
        "noise_unit": "ranks among the bought entries",
        "simulation": True,
        "note": "noise only, not sampling error; simulation, not a private release",
    }


def test_the_half_width_never_looks_at_the_data(outcome):
    for query, pairs in ((smq.Count(), ([1, 1, 1, 1], [0, 0, 0, 0])), (smq.Median(0, 9), ([1, 2, 3, 4], [9, 9, 9, 9]))):
        widths = {smq.answer(query, data, outcome).noise_half_width(level) for data in pairs for level in (0.6,)}
        assert len(widths) == 1
    assert smq.answer(smq.Count(), [1, 1, 1, 1], outcome).noise_half_width() == 6.0  # nothing less is sure at these ε


@pytest.mark.parametrize("level", [0, 1, -1, 2, math.nan, math.inf])
def test_levels_lie_between_zero_and_one(outcome, level):
    with pytest.raises(smq.InputError, match="between 0 and 1"):
        smq.answer(smq.Count(), [1, 1, 1, 1], outcome).noise_half_width(level)


def test_private_entries_leave_an_answer_by_no_side_door(outcome):
    data = np.array([SECRET, SECRET, 5, SECRET])
    result = smq.answer(smq.Median(0, 10**6), data, outcome)
    copies = [copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))]  # noqa: S301
    shown = [
        repr(result),
        str(result),
        repr(dataclasses.asdict(result)),
        repr(vars(result)),
        json.dumps(result.to_dict()),
    ]
    shown += [repr(vars(duplicate)) for duplicate in copies]
    for text in shown:
        assert str(SECRET) not in text.replace(repr(result.value), "")
    raw = pickle.dumps(result)
    for width in (4, 8):
        assert SECRET.to_bytes(width, "little") + (5).to_bytes(width, "little") not in raw
    assert {field.name for field in dataclasses.fields(result)} >= {
        "value",
        "query",
        "population",
        "bought",
        "simulation",
    }
    for duplicate in copies:
        assert duplicate.value == result.value
        assert duplicate.noise_half_width() == result.noise_half_width()
        with pytest.raises(smq.InputError, match="copies do not carry the entries"):
            duplicate.distribution()
    private = vars(result)["_private"]
    assert str(SECRET) not in repr(private)
    for leave in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(smq.InputError, match="must not be copied"):
            leave(private)


def test_the_answer_does_not_change_with_the_callers_array(outcome):
    data = np.array([1, 0, 1, 1])
    result = smq.answer(smq.Count(), data, outcome)
    before = result.distribution()[1]
    data[:] = 0
    assert np.array_equal(result.distribution()[1], before)


@pytest.mark.parametrize(
    ("query", "data", "message"),
    [
        (smq.Count(), [1, 0, SECRET, 1], "entry 3 (owner 'di'): must be 0 or 1"),
        (smq.Count(), [1, 0, 0.5, 1], "entry 3 (owner 'di'): must be 0 or 1"),
        (smq.Count(), [1, 0, 0, math.nan], "entry 4 (owner 'flo'): must be 0 or 1"),
        (smq.Count(), [-1, 0, 0, 1], "entry 1 (owner 'ann'): must be 0 or 1"),
        (smq.Count(), [1, 0, 1], "must hold the 4 bought entries"),
        (smq.Count(), [1, 0, 1, 1, 0, 1], "must hold the 4 bought entries"),
        (smq.Count(), [[1, 0, 1, 1]], "must hold the 4 bought entries"),
        (smq.Count(), 1, "must hold the 4 bought entries"),
        (smq.Count(), ["1", "0", "1", "1"], "must hold numbers"),
        (smq.Median(0, 99), [1, 2, 3, SECRET], "entry 4 (owner 'flo'): must be a whole number from 0 to 99"),
        (smq.Median(0, 99), [1, -SECRET, 3, 4], "entry 2 (owner 'cy'): must be a whole number from 0 to 99"),
        (smq.Median(0, 99), [1, 2.25, 3, 4], "entry 2 (owner 'cy'): must be a whole number from 0 to 99"),
        (smq.Median(0, 99), [1, math.inf, 3, 4], "entry 2 (owner 'cy'): must be a whole number from 0 to 99"),
    ],
)
def test_bad_entries_are_refused_without_being_shown(outcome, query, data, message):
    with pytest.raises(smq.InputError) as refused:
        smq.answer(query, data, outcome)
    text = str(refused.value)
    assert message in text
    assert "\n" not in text
    for leak in (str(SECRET), "0.5", "2.25", "nan", "inf"):
        assert leak not in text


def test_whole_floats_and_booleans_are_entries(outcome):
    laws = [
        smq.answer(smq.Count(), data, outcome).distribution()[1].tolist()
        for data in ([1, 0, 1, 1], [1.0, 0.0, 1.0, 1.0], [True, False, True, True], np.array([1, 0, 1, 1], np.uint8))
    ]
    assert laws[0] == laws[1] == laws[2] == laws[3]


def test_nothing_bought_is_nothing_to_answer():
    nobody = outcome_of([1.0, 1.0], refuse=[0, 1])
    with pytest.raises(smq.InputError, match="no entries were bought"):
        smq.answer(smq.Count(), [], nobody, estimator="P-E")


@pytest.mark.parametrize(
    ("query", "generator", "message"),
    [
        ("count", None, "'query'"),
        (smq.Count, None, "'query'"),
        (smq.Count(), 7, "'rng'"),
        (smq.Count(), np.random, "'rng'"),
    ],
)
def test_other_arguments_are_checked(outcome, query, generator, message):
    with pytest.raises(smq.InputError, match=message):
        smq.answer(query, [1, 1, 1, 1], outcome, rng=generator)


def test_only_an_outcome_under_a_valid_certificate_is_answered(outcome):
    with pytest.raises(smq.InputError, match="must be an Outcome"):
        smq.answer(smq.Count(), [1, 1, 1, 1], outcome.certificate)
    for certificate in (None, "valid"):
        with pytest.raises(smq.UncertifiedError):
            smq.answer(smq.Count(), [1, 1, 1, 1], dataclasses.replace(outcome, certificate=certificate))


@pytest.mark.parametrize(
    ("low", "high"),
    [(3, 2), (0.5, 9), (0, "9"), (True, 9), (None, 9), (0, math.inf), (0, math.nan), (0, 2**53 + 1), (-(2**60), 0)],
)
def test_a_median_needs_a_public_range(low, high):
    with pytest.raises(smq.InputError, match="median: argument"):
        smq.Median(low, high)


def test_a_median_with_one_candidate_is_that_candidate(outcome):
    result = smq.answer(smq.Median(np.int64(4), 4), [4, 4, 4, 4], outcome)
    assert result.value == 4
    assert [column.tolist() for column in result.distribution()] == [[4], [1.0]]


class Majority(Query):
    """Whether more than half have it: a query that a user might add."""

    name = "majority"
    noise_unit = "entries that must change"

    def parameters(self):
        return {}

    def entries(self, data, owner_ids):
        return whole_entries(data, owner_ids, 0, 1, "must be 0 or 1")

    def score(self, entries, epsilon, ceiling=np.inf):
        ones = int(entries.sum())
        need = entries.size // 2 + 1
        holders, moves = (1, ones - need + 1) if ones >= need else (0, need - ones)
        cost = min(np.cumsum(np.sort(epsilon[entries == holders]))[moves - 1], ceiling)
        costs = [cost, 0.0] if holders else [0.0, cost]
        return Score(np.array([0, 1]), np.array([1, 1]), np.array(costs))

    def values(self, results, bought, population):  # noqa: ARG002
        return results

    def half_width(self, epsilon, level, population):  # noqa: ARG002
        return float(fewest_changes(np.exp(-0.5 * sure_costs(epsilon)), level))


def test_a_user_can_add_a_query(outcome, brute_force):
    query = Majority()
    result = smq.answer(query, [1, 0, 1, 1], outcome, rng=rng())
    assert result.value in (0, 1)
    assert result.to_dict()["query"] == "majority"
    epsilon = np.array([0.4, 0.2, 1.5, 0.6])
    truth = brute_force(lambda d: int(sum(d) > len(d) / 2), range(2), epsilon)

    def law(entries):
        score = query.score(entries, epsilon)
        return score.results.tolist(), pe_law(score)

    for entries, expected in zip(truth.datasets, truth.law, strict=True):
        np.testing.assert_allclose(law(entries)[1], expected, rtol=1e-12)
    assert audit_privacy(law, epsilon, range(2)).excess <= 1e-12
