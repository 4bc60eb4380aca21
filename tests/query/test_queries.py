"""Every query against the definition, and under the exact audit."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

import smqopt as smq
import smqopt.query
from smqopt.model_files import QUERIES as KINDS, make_query
from smqopt.query import (
    Histogram,
    Mean,
    OwnQuery,
    Purchase,
    Quantile,
    Sum,
    WeightedSum,
    audit_privacy,
    pe_law,
)
from smqopt.query._draw import prepare
from smqopt.query.audit._privacy_loss import given_by_trial, law_of, released_law_of
from smqopt.query.error._estimate import Estimate
from smqopt.query.exponential._cost_of_distance import ROUNDING_OF_COST
from smqopt.query.exponential._release import lower_to_grid, whole_weights
from smqopt.query.queries._joint_histogram import histograms
from smqopt.query.queries._query import AnyQuery

ROUNDING = 1e-11

pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")
"""Many releases from one purchase: here they are no promise to anybody."""


def everybody(epsilon, acceptance=1.0):
    epsilon = np.asarray(epsilon, dtype=np.float64)
    return Purchase(np.ones(epsilon.size, dtype=bool), epsilon, np.full(epsilon.size, acceptance))


def favourite():
    return OwnQuery("favourite", [0, 1, 2], [0, 1, 2], lambda entry, party: float(entry != party))


QUERIES = {
    "count": (smq.Count(), [0, 1]),
    "count by inverse probability": (smq.Count(weighting="inverse-probability"), [0, 1]),
    "median": (smq.Median(0, 2), [0, 1, 2]),
    "first decile": (Quantile(0.1, 0, 2), [0, 1, 2]),
    "third quartile": (Quantile(0.75, 0, 2), [0, 1, 2]),
    "largest": (Quantile(1, 0, 2), [0, 1, 2]),
    "sum": (Sum(-1, 1), [-1, 0.25, 1]),
    "mean": (Mean(-1, 1), [-1, 0.25, 1]),
    "mean by inverse probability": (Mean(-1, 1, weighting="inverse-probability"), [-1, 0.25, 1]),
    "weighted sum": (WeightedSum([1.0, -2.0, 0.5], 0, 1, weighting="inverse-probability"), [0, 0.4, 1]),
    "histogram": (Histogram([0, 1, 2, 3]), [0, 1, 2]),
    "joint histogram": (smq.JointHistogram([0, 1, 2, 3]), [0, 1, 2]),
    "own": (favourite(), [0, 1, 2]),
    "own, graded": (OwnQuery("near", [0, 1, 4], [0, 2, 4], lambda d, r: abs(d - r) / 4), [0, 1, 4]),
}
REQUIREMENTS = [[0.5, 1.0, 0.25], [0.0, 2.0, 0.75], [1e-15, 0.3, 0.3]]


@pytest.mark.parametrize("epsilon", REQUIREMENTS)
@pytest.mark.parametrize("name", QUERIES)
def test_every_owner_gets_her_own_epsilon(name, epsilon):
    query, alphabet = QUERIES[name]
    audit = smq.audit_query(query, epsilon, alphabet)
    assert audit.datasets == len(alphabet) ** 3
    assert audit.excess <= ROUNDING, audit
    assert np.all(audit.log_ratio <= np.array(epsilon) + ROUNDING)
    given = given_by_trial(query, epsilon, alphabet)
    assert np.all(given.given <= given.promised + ROUNDING)
    fitted = query.asked_of(everybody(epsilon))
    theorem = fitted.worst_losses(np.array(epsilon))
    assert np.all(theorem <= epsilon)
    assert np.all(given.given <= theorem + ROUNDING)


@pytest.mark.exhaustive
@pytest.mark.parametrize("owners", [1, 2, 4, 5])
@pytest.mark.parametrize("name", [name for name in QUERIES if name != "weighted sum"])
def test_every_owner_gets_her_own_epsilon_in_larger_data_sets(name, owners):
    query, alphabet = QUERIES[name]
    rng = np.random.default_rng(owners)
    for _ in range(6):
        epsilon = rng.choice([0.0, 1e-16, 1e-9, 0.1, 0.5, 1.0, 3.0, 30.0], owners) * rng.choice([1.0, 0.7])
        audit = smq.audit_query(query, epsilon, alphabet)
        assert audit.datasets == len(alphabet) ** owners
        assert audit.excess <= ROUNDING * max(1.0, epsilon.max()), (audit, epsilon)
        assert given_by_trial(query, epsilon, alphabet).given.max() <= epsilon.max() + ROUNDING


COARSE = {
    **{
        name: QUERIES[name]
        for name in ("count", "median", "third quartile", "histogram", "joint histogram", "own, graded")
    },
    "mean by inverse probability": (Mean(-1, 1, weighting="inverse-probability", step=0.125), [-1, 0.25, 1]),
    "weighted sum": (WeightedSum([1.0, -2.0, 0.5], 0, 1, weighting="inverse-probability", step=0.25), [0, 0.4, 1]),
}
"""With few enough candidates that every probability can be held as a fraction."""


@pytest.mark.parametrize("epsilon", REQUIREMENTS)
@pytest.mark.parametrize("name", COARSE)
def test_the_draw_gives_every_owner_her_own_epsilon_with_no_tolerance_at_all(name, epsilon):
    query, alphabet = COARSE[name]
    epsilon = np.array(epsilon)
    fitted = query.asked_of(everybody(epsilon))
    places = fitted.entries(alphabet, alphabet).tolist()
    used, ceiling = lower_to_grid(fitted.share * epsilon, fitted.rounding_of_cost)
    laws = []
    for entries in product(places, repeat=3):
        weights = [1]
        for score in fitted.scores(np.array(entries), used, ceiling):
            pieces = zip(whole_weights(score.cost), score.length.tolist(), strict=True)
            weights = [a * b for a, b in product(weights, [w for w, m in pieces for _ in range(m)])]
        total = sum(weights)
        laws.append([Fraction(w, total) for w in weights])
    table = np.array(laws, dtype=object).reshape((len(places),) * 3 + (-1,))
    with mpmath.workdps(60):
        for i in range(3):
            worst = max((table.max(axis=i) / table.min(axis=i)).ravel().tolist())
            assert mpmath.mpf(worst.numerator) / worst.denominator <= mpmath.exp(mpmath.mpf(float(epsilon[i])))
            if epsilon[i] < 2.0**-46:
                assert worst == 1


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.6, 0.9, 1.0])
def test_quantiles_are_those_of_the_definition(p, epsilon, brute_force):
    k = epsilon.size
    high = {1: 5, 2: 5, 3: 4, 4: 3, 5: 2, 6: 1}[k]

    def exact(entries):
        return sorted(entries)[math.ceil(Fraction(str(p)) * k) - 1]

    truth = brute_force(exact, range(high + 1), epsilon)
    query = Quantile(p, 0, high)
    law = law_of(query, epsilon)
    for entries, expected in zip(truth.datasets, truth.law, strict=True):
        results, probability = law(entries)
        assert [r for (r,) in results] == truth.results
        np.testing.assert_allclose(probability, expected, rtol=1e-12, atol=0)


def test_the_half_quantile_is_the_lower_median(epsilon):
    entries = np.random.default_rng(epsilon.size).integers(0, 5, epsilon.size)
    for level in (0.5, 0.95):
        assert Quantile(0.5, 0, 4).half_width(epsilon, level, 1) == smq.Median(0, 4).half_width(epsilon, level, 1)
    here, there = Quantile(0.5, 0, 4).score(entries, epsilon), smq.Median(0, 4).score(entries, epsilon)
    assert np.array_equal(here.cost, there.cost)


@pytest.mark.parametrize("p", [0.2, 0.75, 1.0])
def test_quantiles_stay_within_their_ranks(p, epsilon):
    k = epsilon.size
    high = {1: 5, 2: 5, 3: 4, 4: 3, 5: 2, 6: 1}[k]
    query = Quantile(p, 0, high)
    h = query.rank(k)
    for level in (0.3, 0.95):
        bound = int(query.half_width(epsilon, level, k))
        assert 1 <= bound <= max(h, k - h + 1)
        for entries in product(range(high + 1), repeat=k):
            ranked = sorted(entries)
            lowest = ranked[h - bound - 1] if h - bound >= 1 else 0
            highest = ranked[h + bound - 1] if h + bound <= k else high
            score = query.score(np.array(entries), epsilon)
            far = (score.results < lowest) | (score.results > highest)
            assert math.fsum(pe_law(score)[far]) <= 1 - level + 1e-12


def test_a_decimal_is_taken_as_it_is_written():
    assert [Quantile(0.1, 0, 1).rank(k) for k in (1, 10, 20, 21)] == [1, 1, 2, 3]
    assert Quantile(0.7, 0, 1).rank(10) == 7


@pytest.mark.parametrize("p", [0, -0.1, 1.5, math.nan, "0.5", True, None])
def test_quantiles_lie_in_the_unit_interval(p):
    with pytest.raises(smq.InputError, match="quantile: argument 'p'"):
        Quantile(p, 0, 1)


@pytest.mark.parametrize("epsilon", [[0.5, 1.0, 0.25, 0.7], [0.0, 0.3], [1.0, 1.0, 1.0]])
def test_the_joint_histogram_is_that_of_the_definition(epsilon, brute_force):
    epsilon = np.array(epsilon)
    query = smq.JointHistogram([0, 1, 2, 3])
    listed = [tuple(h) for h in histograms(epsilon.size, 3).tolist()]
    assert len(set(listed)) == len(listed) == math.comb(epsilon.size + 2, 2)
    truth = brute_force(lambda d: listed.index(tuple(d.count(b) for b in range(3))), range(3), epsilon)
    law = law_of(query, epsilon)
    for entries, expected in zip(truth.datasets, truth.law, strict=True):
        np.testing.assert_allclose(law(entries)[1], expected, rtol=1e-12, atol=0)


def test_histograms_at_full_epsilon_are_caught():
    epsilon = np.array([0.5, 1.0, 2.0])
    query = Histogram([0, 1, 2, 3])
    assert audit_privacy(law_of(query, epsilon), epsilon, range(3)).excess <= ROUNDING
    assert audit_privacy(law_of(query, 2 * epsilon), epsilon, range(3)).excess > 0.1
    assert audit_privacy(released_law_of(query, 2 * epsilon), epsilon, range(3)).excess > 0.1


def test_bins_read_off_the_data_are_caught():
    def forged(entries):
        edges = sorted({*entries.tolist(), 3})
        query = Histogram(edges)
        return law_of(query, np.ones(2))(query.entries(entries, ["a", "b"]))

    assert audit_privacy(forged, np.ones(2), range(3)).excess == math.inf


@pytest.mark.parametrize("query", [Histogram([0, 1, 2, 3]), smq.JointHistogram([0, 1, 2, 3])], ids=["bins", "joint"])
def test_all_bins_stay_within_the_half_width(query):
    for epsilon, level in product([[0.5, 3.0, 6.0], [9.0, 9.0, 9.0], [20.0, 1.0, 8.0]], [0.5, 0.95]):
        bound = query.half_width(np.array(epsilon), level, 3)
        law = law_of(query, np.array(epsilon))
        for entries in product(range(3), repeat=3):
            truth = [entries.count(b) for b in range(3)]
            results, probability = law(np.array(entries))
            values = np.array([query.value(r, 3, 3) for r in results])
            far = np.abs(values - truth).max(axis=1) > bound
            assert math.fsum(probability[far]) <= 1 - level + 1e-12


@pytest.mark.parametrize("name", QUERIES)
def test_a_release_is_drawn_at_requirements_lowered_by_what_costs_may_be_off(name):
    query, alphabet = QUERIES[name]
    epsilon = np.array([0.5, 1.0, 0.25])
    purchase = everybody(epsilon)
    ready = prepare(query, query.asked_of(purchase), alphabet[:1] * 3, "abc", purchase)
    off = {"own": 2.0**-44, "own, graded": 2.0**-44}.get(name, 0.0)
    if isinstance(ready.asked, Estimate):
        off = ROUNDING_OF_COST
    assert ready.asked.rounding_of_cost == off
    lower = ready.asked.share * epsilon - 2.0 * off - 2.0**-45
    expected = ready.asked.scores(ready.entries, lower, 256.0)
    for (score,), other in zip((one.args for one in ready.draws), expected, strict=True):
        np.testing.assert_allclose(score.cost, other.cost, rtol=0, atol=2.0**-47)
        assert np.array_equal(score.cost == 0, other.cost == 0)


def test_own_queries_keep_their_bound_and_their_ceiling():
    epsilon, query = np.array([3.0, 5.0, 9.0]), favourite()
    bound = query.half_width(epsilon, 0.9, 3)
    for entries in product(range(3), repeat=3):
        score = query.score(np.array(entries), epsilon)
        expected = [sum(e for e, d in zip(epsilon, entries, strict=True) if d != r) for r in range(3)]
        np.testing.assert_allclose(score.cost, np.array(expected) - min(expected), rtol=1e-14)
        assert math.fsum(pe_law(score)[score.cost >= bound]) <= 0.1
        assert np.array_equal(query.score(np.array(entries), epsilon, 2.5).cost, np.minimum(score.cost, 2.5))
    many = np.random.default_rng(0).random(200_000)
    score = query.score(np.arange(200_000) % 3, *lower_to_grid(many, query.rounding_of_cost))
    sums = [math.fsum(many[r::3]) for r in range(3)]
    assert score.cost[np.argmax(sums)] == 0
    np.testing.assert_allclose(score.cost, np.minimum(max(sums) - np.array(sums), 256), atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("q", [], [1], lambda *_: 0), "'alphabet'"),
        (("q", [1, 1], [1], lambda *_: 0), "'alphabet'"),
        (("q", [1], [math.nan], lambda *_: 0), "'candidates'"),
        (("q", [1, 2], [1], lambda *both: both[0]), "change(2, 1): must be a number in [0, 1]"),
        (("q", [1], [1], lambda *_: -0.1), "change(1, 1): must be a number in [0, 1]"),
        (("q", [1], [1], lambda *_: math.nan), "change(1, 1): must be a number in [0, 1]"),
        (("q", [1], [1], lambda *_: "0"), "change(1, 1): must be a number in [0, 1]"),
    ],
)
def test_own_queries_are_checked_before_any_entry_is_seen(arguments, message):
    with pytest.raises(smq.InputError) as refused:
        OwnQuery(*arguments)
    assert message in str(refused.value)


@pytest.mark.parametrize("edges", [[], [1], [1, 1], [2, 1], [0, math.inf], "ab", [[0, 1]], [0, math.nan]])
@pytest.mark.parametrize("kind", [Histogram, smq.JointHistogram])
def test_edges_ascend(kind, edges):
    with pytest.raises(smq.InputError, match="argument 'edges'"):
        kind(edges)


def test_bins_hold_their_lower_edge_and_the_last_both():
    assert Histogram([0, 1, 2.5]).entries([0, 0.999, 1, 2.5], "abcd").tolist() == [0, 0, 1, 1]
    with pytest.raises(smq.InputError, match=r"entry 2 \(owner 'b'\): must lie between 0 and 2.5"):
        Histogram([0, 1, 2.5]).entries([0, 2.6], "ab")


ACCEPTANCE = np.array([0.25, 0.5, 1.0, 0.75, 0.0])
ENTRIES = np.array([1.0, -0.5, 2.0, 0.25, 5.0])
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0, 2.0])


@pytest.mark.parametrize(
    ("query", "weights", "excluded"),
    [
        (WeightedSum(WEIGHTS, -1, 5, weighting="inverse-probability"), WEIGHTS, 2 / 8.5),
        (Sum(-1, 5, weighting="inverse-probability"), np.ones(5), 0.2),
        (Mean(-1, 5, weighting="inverse-probability"), np.full(5, 0.25), 0.2),
    ],
    ids=["weighted sum", "sum", "mean"],
)
def test_inverse_probability_weights_are_unbiased_before_noise(query, weights, excluded):
    """Over every selection there can be, exactly."""
    mean = 0.0
    for sells in product((True, False), repeat=4):
        selected = np.array([*sells, False])
        chance = math.prod(q if s else 1 - q for q, s in zip(ACCEPTANCE[:4], sells, strict=True))
        if chance == 0 or not selected.any():
            continue
        fitted = query.asked_of(Purchase(selected, np.ones(5), ACCEPTANCE))
        assert fitted.facts()["excluded_owners"] == 1
        assert fitted.facts()["excluded_weight"] == pytest.approx(excluded)
        entries = fitted.entries(ENTRIES[selected], [""] * int(selected.sum()))
        score = fitted.score(entries, np.ones(int(selected.sum())))
        best = fitted.values(score.results, int(selected.sum()), 5)[
            np.flatnonzero(np.repeat(score.cost == 0, score.length))
        ]
        exact = float(fitted.predictor.weights @ ENTRIES[selected])
        assert np.abs(best - exact).min() <= fitted.predictor.rounding
        mean += chance * exact
    assert mean == pytest.approx(float(weights[:4] @ ENTRIES[:4]), rel=1e-12)


def test_the_paper_scaling_is_refused_unless_signs_agree():
    purchase = Purchase(np.array([True, True, False]), np.ones(3), np.array([0.5, 0.5, 0.5]))
    fitted = WeightedSum([1.0, 2.0, 3.0], 0, 1).asked_of(purchase)
    assert fitted.predictor.scale == 2.0
    with pytest.raises(smq.InputError, match="needs weights of one sign"):
        WeightedSum([1.0, -2.0, 3.0], 0, 1).asked_of(purchase)
    with pytest.raises(smq.InputError, match="one weight for each of the 3 owners"):
        WeightedSum([1.0, 2.0], 0, 1).asked_of(purchase)
    with pytest.raises(smq.InputError, match="argument 'weighting'"):
        Sum(0, 1, weighting="inverse")
    with pytest.raises(smq.InputError, match="sum: argument 'high'"):
        Sum(1, 0)


@pytest.fixture(scope="module")
def outcome():
    market = smq.Market([0.4, 0.9, 0.0, 1.5, 0.8], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di", "ed"])
    certificate = smq.verify(smq.solve(market, budget=1.0))
    return smq.procure(certificate, [0.05, 0.9, 0.0, 0.1, 0.2])


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_answers(outcome, name):
    query, alphabet = QUERIES[name]
    if isinstance(query, WeightedSum):
        query = WeightedSum([1.0, -2.0, 0.5, 1.0, 1.0], 0, 1, weighting="inverse-probability")
    data = [alphabet[0], alphabet[-1], alphabet[1]]
    rng = np.random.default_rng(4)
    result = smq.answer(query, data, outcome, rng=rng)
    published = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert published["query"] == result.query == query.name
    assert math.isfinite(published["noise_half_width"])
    for values, probabilities in result.distributions():
        assert math.isclose(math.fsum(probabilities), 1)
        assert len(values) == len(probabilities)
    assert result.privacy.kept
    assert result.privacy.method == "theorem"
    value = smq.answer(query, data, outcome).value
    assert np.all(np.isfinite(value))
    assert isinstance(value, tuple) == (query.name in ("histogram", "joint-histogram"))


def test_an_estimate_says_whom_it_is_silent_about(outcome):
    result = smq.answer(Sum(0, 1, weighting="inverse-probability"), [1, 0.5, 0], outcome)
    published = result.to_dict()
    assert published["weighting"] == "inverse-probability"
    assert published["excluded_owners"] == 1  # cy has ε = 0 and gets no offer
    assert published["excluded_weight"] == 0.2
    acceptance = outcome.certificate.solution.acceptance[[0, 3, 4]]
    np.testing.assert_allclose(result.asked.predictor.weights, 1 / acceptance, rtol=1e-15)


def test_groups_fixed_by_public_attributes_are_answered_apart(outcome):
    labels = ["x", "y", "y", "y", "z"]
    answers = smq.answer_by_group(smq.Count(), [1, 0, 1], outcome, labels)
    assert list(answers) == ["x", "y", "z"]
    assert [(a.n, a.bought, a.epsilon.tolist()) for a in answers.values()] == [
        (1, 1, [0.4]),
        (3, 1, [1.5]),
        (1, 1, [0.8]),
    ]
    assert smq.answer_by_group(smq.Count(), [1, 0, 1], outcome, ["a", "b", "b", "a", "a"])["b"] is None
    with pytest.raises(smq.InputError, match="one label for each of the 5 owners"):
        smq.answer_by_group(smq.Count(), [1, 0, 1], outcome, ["a"])
    with pytest.raises(smq.InputError, match="the 3 bought entries"):
        smq.answer_by_group(smq.Count(), [1, 0], outcome, labels)


def test_several_draws_have_several_laws(outcome):
    result = smq.answer(Histogram([0, 1, 2]), [0, 1, 2], outcome)
    assert len(result.distributions()) == 2
    with pytest.raises(smq.InputError, match="2 independent draws"):
        result.distribution()


def test_too_many_histograms_are_refused():
    with pytest.raises(smq.InputError, match="lists every histogram"):
        smq.JointHistogram(list(range(12))).asked_of(everybody(np.ones(50)))


def test_an_audit_says_when_it_is_too_large():
    with pytest.raises(smq.InputError, match=r"3\^20"):
        smq.audit_query(smq.Median(0, 2), np.ones(20), [0, 1, 2])


@pytest.mark.parametrize("epsilon", [[1491.0, 1.0], [1e4, 3.0], [744.0, 746.0], [1e300, 1.0], [0.0, 1500.0]])
@pytest.mark.parametrize("query", [smq.Count(), smq.Median(0, 1), smq.Histogram([0, 1, 2]), Sum(0, 1)])
def test_an_audit_at_large_requirements_does_not_underflow(epsilon, query):
    """Probabilities below the doubles have logarithms: an excess of +∞ was no breach."""
    audit = smq.audit_query(query, epsilon, [0, 1])
    assert -1e4 * max(epsilon) < audit.excess <= 1e-9
    assert np.all(np.isfinite(audit.log_ratio))
    if query.name == "count" and epsilon[0] == 1491.0:  # owner 2 at 1: P moves by at most e^(1/2), the total by less
        assert audit.excess == pytest.approx(-0.5, abs=1e-12)


def test_logarithms_are_those_of_the_probabilities():
    epsilon = np.array([0.3, 1.7, 0.6])
    for query in (smq.Count(), smq.Median(0, 2), smq.Histogram([0, 1, 2]), Sum(0, 2)):
        by_logs = smq.audit_query(query, epsilon, [0, 1]).log_ratio
        fitted = query.asked_of(Purchase(np.ones(3, dtype=bool), epsilon, np.ones(3)))
        places = sorted({int(place) for place in fitted.entries([0, 1], "ab")})
        by_law = audit_privacy(law_of(fitted, epsilon), epsilon, places).log_ratio
        assert by_logs.tolist() == pytest.approx(by_law.tolist(), rel=1e-10)


def test_a_half_width_in_ranks_knows_how_many_candidates_there_are():
    epsilon = np.full(60, 1.0)
    few, shifted, many = (
        Quantile(0.5, low, high).half_width(epsilon, 0.9, 1) for low, high in ((0, 4), (5000, 5004), (0, 10004))
    )
    assert few == shifted < many


def test_no_query_of_the_door_is_missing():
    """What is in the door is under this contract; linear predictors have a file of their own."""
    door = [getattr(smqopt.query, name) for name in smqopt.query.__all__]
    kinds = {kind for kind in door if isinstance(kind, type) and issubclass(kind, AnyQuery)}
    there = {kind for kind in kinds if not inspect.isabstract(kind) and dataclasses.is_dataclass(kind)}
    assert there - {type(query) for query, _ in QUERIES.values()} == {smq.LinearPredictor}


def test_the_contracts_run_over_every_query_that_is_known_by_name():
    assert {query.name for query, _ in QUERIES.values()} == set(KINDS)
    for kind, made in KINDS.items():
        query = next(query for query, _ in QUERIES.values() if query.name == kind)
        again = make_query(kind, **{name: query.parameters()[name] for name in made.required})
        assert again.name == kind
        assert set(query.parameters()) <= set(made.parameters)
