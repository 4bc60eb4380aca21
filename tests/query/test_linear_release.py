"""The linear release: its weights are the best, its law exact, its privacy without any rounding left over."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.query import Purchase, fit
from smqopt.query.error._fit import better_estimator, pe_error
from smqopt.query.linear._discrete_laplace import DiscreteLaplace, bound_of
from smqopt.query.linear._linear_release import LinearRelease, linear_release
from smqopt.query.linear._release_weights import release_weights

pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")


def everybody(epsilon, acceptance=1.0):
    epsilon = np.asarray(epsilon, dtype=float)
    return Purchase(np.ones(epsilon.size, dtype=bool), epsilon, np.full(epsilon.size, acceptance))


def error_of(a, w, q, variance, noise):
    """The mean squared error at the expected sums, as it is written down."""
    A, W = q @ a, w.sum()
    return variance * (q @ (W * a / A - w) ** 2 + (1 - q) @ w**2) + 2 * (W * noise / A) ** 2


QUERIES = {
    "count": (smq.Count(), [0, 1]),
    "sum": (smq.Sum(-1, 2), [-1, 0.3, 2]),
    "mean": (smq.Mean(0, 1), [0, 1]),
    "weighted sum": (smq.WeightedSum([2.0, 0.1, 1.0, 3.0, 0.1, -0.2], 0, 1), [0, 1]),
    "histogram": (smq.Histogram([0, 1, 2, 3]), [0, 1, 2]),
}
REQUIREMENTS = [[0.7, 0.2, 1.5, 0.1, 0.4, 3.0], [0.5] * 6, [0.0, 2.0, 0.0, 0.7, 1e-9, 5.0]]


# --- privacy ---------------------------------------------------------------------------------------------------------


def log_ratios(release, datasets):
    """For each owner the largest logarithm of a ratio of probabilities of what is published, in parts of 1/t, exactly.

    The logarithm of a clamped result's probability is −|r − centre|/t plus what all centres share, so as a function of r
    the logarithm of a ratio is piecewise linear with its corners at the centres: they and the ends are all there is to try.
    """
    centres = {entries: release.centres(np.array(entries)) for entries in datasets}
    worst = [0] * len(datasets[0])
    for entries, mine in centres.items():
        for i in range(len(entries)):
            for other in {e[i] for e in datasets} - {entries[i]}:
                theirs = centres[(*entries[:i], other, *entries[i + 1 :])]
                total = 0
                for a, b in zip(mine, theirs, strict=True):
                    assert -release.most <= min(a, b) <= max(a, b) <= release.most
                    total += max(abs(r - b) - abs(r - a) for r in (a, b, release.most, -release.most))
                worst[i] = max(worst[i], total)
    return worst


@pytest.mark.parametrize("epsilon", REQUIREMENTS, ids=str)
@pytest.mark.parametrize("name", QUERIES)
def test_no_owner_loses_more_than_her_epsilon_on_any_data_set(name, epsilon):
    query, alphabet = QUERIES[name]
    k = 6 if len(alphabet) == 2 else 4
    if name == "weighted sum":
        query = smq.WeightedSum(query.weights[:k], 0, 1)
    release = linear_release(query, everybody(epsilon[:k]))
    codes = release.entries(alphabet, ["x"] * len(alphabet)).tolist()
    worst = log_ratios(release, list(product(codes, repeat=k)))
    for loss, e in zip(worst, epsilon, strict=False):
        assert Fraction(loss, release.scale) <= Fraction(e)
    losses = release.worst_losses(np.array(epsilon[:k]))
    assert [Fraction(loss, release.scale) for loss in worst] == [Fraction(x) for x in losses.tolist()]


@pytest.mark.parametrize("twice", ["weights", "sums"])
def test_a_release_that_is_twice_too_loud_is_caught(twice):
    release = linear_release(smq.Histogram([0, 1, 2]), everybody([0.5, 1.0]))
    forged = (
        LinearRelease(**{**vars(release), "whole_weights": release.whole_weights * 2})
        if twice == "weights"
        else LinearRelease(**{**vars(release), "places": release.places - 1})
    )
    worst = log_ratios(forged, list(product([0, 1], repeat=2)))
    assert any(Fraction(x, forged.scale) > Fraction(e) for x, e in zip(worst, [0.5, 1.0], strict=True))


@settings(max_examples=25)
@given(
    epsilon=st.lists(st.floats(0, 1e300) | st.floats(0, 1e-300) | st.floats(0, 5), min_size=1, max_size=6),
    acceptance=st.floats(0.01, 1),
    variance=st.none() | st.floats(0, 0.5),
)
def test_weights_stay_within_requirements_whatever_they_are(epsilon, acceptance, variance):
    for query in (smq.Count(), smq.Mean(3, 4), smq.WeightedSum([1.0, -0.25, *[0.5] * 4][: len(epsilon)], 0, 1)):
        release = linear_release(query, everybody(epsilon, acceptance), variance)
        for alpha, e in zip(release.whole_weights.tolist(), epsilon, strict=True):
            assert 0 <= Fraction(alpha, 2**release.places) <= Fraction(e)
        value = release.value([release.most // 3] * release.figures, 0, 0)
        assert math.isfinite(value)
        assert math.isfinite(release.half_width(np.array(epsilon), 0.95, len(epsilon)))


# --- the law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1, 2, 7])
def test_draws_follow_the_law(scale):
    rng, law = np.random.default_rng(5), DiscreteLaplace(3, scale)
    drawn = np.array([law.draw(rng) for _ in range(4000)])
    t = np.exp(-1.0 / scale)
    edges = np.arange(-2 * scale, 2 * scale + 1)
    p = (1 - t) / (1 + t) * t ** np.abs(edges)
    seen = np.array([(drawn - 3 == z).sum() for z in edges])
    rest = 1 - p.sum()
    chi2 = np.sum((seen - 4000 * p) ** 2 / (4000 * p)) + (4000 - seen.sum() - 4000 * rest) ** 2 / (4000 * rest)
    assert chi2 < edges.size + 5 * math.sqrt(2 * edges.size)
    results, clamped = law.law_in_range(5)
    assert clamped.sum() == pytest.approx(1, abs=1e-12)
    exact = dict.fromkeys(range(-5, 6), 0.0)
    for z in range(-400, 401):
        exact[min(max(3 + z, -5), 5)] += (1 - t) / (1 + t) * t ** abs(z)
    np.testing.assert_allclose(clamped, [exact[r] for r in results.tolist()], rtol=1e-12)


@pytest.mark.parametrize("scale", [1, 5, 1 << 20])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_noise_keeps_its_bound_as_often_as_is_said(scale, level):
    m, t = bound_of(scale, level), math.exp(-1.0 / scale)
    assert 2 * math.exp(-(m + 1) / scale) / (1 + t) <= 1 - level
    if m > 1:
        assert 2 * math.exp(-(m - 2) / scale) / (1 + t) > 1 - level  # and by no two steps too wide


@pytest.mark.exhaustive
def test_the_law_is_that_of_opendp():
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed: pip install --group peers")
    dp.enable_features("contrib")
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=6.0)
    rng, law = np.random.default_rng(1), DiscreteLaplace(0, 6)
    ours = np.array([law.draw(rng) for _ in range(60_000)])
    theirs = np.array([measurement(0) for _ in range(60_000)])
    edges = np.arange(-30, 31)
    a, b = (np.array([(x == z).sum() for z in edges]) for x in (ours, theirs))
    kept = a + b >= 20
    chi2 = np.sum((a - b)[kept] ** 2 / (a + b)[kept])
    assert chi2 < kept.sum() + 5 * math.sqrt(2 * kept.sum())


# --- the weights -----------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.floats(0.01, 1), st.floats(0, 3), st.floats(-1, 3), st.floats(-0.3, 0.3)), min_size=2, max_size=8
    ),
    variance=st.floats(0.01, 0.5),
    alike=st.booleans(),
)
def test_no_other_weights_err_less(rows, variance, alike):
    q, epsilon, w, push = (np.array(column) for column in zip(*rows, strict=True))
    w = np.ones(w.size) if alike else w
    if abs(w.sum()) < 0.1 or not epsilon.max() > 0.01:
        return
    found = release_weights(w, q, epsilon, variance, 1.0)
    assert np.all((found.weights >= 0) & (found.weights <= epsilon))
    if not found.error < math.inf:
        return
    assert found.error == pytest.approx(error_of(found.weights, w, q, variance, 1.0), rel=1e-9)
    for step in (1.0, 0.1, 0.01):
        other = np.clip(found.weights + step * push, 0, epsilon)
        if q @ other > 1e-6:
            assert error_of(other, w, q, variance, 1.0) >= found.error * (1 - 1e-6)
    if alike:
        np.testing.assert_allclose(found.weights, np.minimum(epsilon, found.tau), rtol=0, atol=1e-30)


def test_weights_of_a_weighted_sum_are_not_cut_at_one_height():
    """200 owners with w in {.1, 2}: 51.6, where min(ε, τ) has 73.6."""
    rng = np.random.default_rng(0)
    w = rng.choice([0.1, 2.0], 200)
    epsilon, q = rng.random(200), np.full(200, 1.0)
    found = release_weights(w, q, epsilon, 0.25, 1.0)
    cut = min(error_of(np.minimum(epsilon, tau), w, q, 0.25, 1.0) for tau in np.linspace(0.01, 1, 300))
    assert found.error < 0.85 * cut


def test_the_error_of_a_count_on_what_purchased_privacy_buys():
    """P-E has 88, 78 and 191 there."""
    n = 32_561
    epsilon = (np.arange(1, n + 1) - 0.5) / n
    market, prior = smq.Market(epsilon, smq.Uniform(0, 1)), smq.EntryPrior.share(0.24)
    for share, linear in ((0.5, 61.26), (0.9, 26.1), (1.0, 20.02)):
        q = smq.solve(market, share * n).acceptance
        form = smq.Count().linear_form(n)
        found = release_weights(form.weights, q, epsilon, prior.variance, 1.0)
        assert math.sqrt(found.error) == pytest.approx(linear, abs=0.5)


# --- answers ---------------------------------------------------------------------------------------------------------

N = 400
MARKETS = {
    "uniform": smq.Market(np.linspace(0.05, 2.0, N), smq.Uniform(0, 1)),
    "power": smq.Market(np.linspace(0.05, 2.0, N), smq.Power(2, low=0.1, high=1)),
    "exponential": smq.Market(np.repeat([0.2, 1.0], N // 2), smq.TruncatedExponential(2, low=0, high=1)),
    "beta": smq.Market(np.linspace(0.5, 0.6, N), smq.Beta(2, 3)),
    "two sorts": smq.Market(np.repeat([0.01, 3.0], N // 2), smq.Uniform(0, 2)),
}


def squared_errors(market, solution, runs, rng, *, clamped=False, variance=0.1875, share=0.25):
    """Errors of the linear release of a count, drawn anew but for the requirements; vectorised over runs."""
    q = solution.acceptance
    release = linear_release(smq.Count(), everybody(market.epsilon).__class__(q > 0, market.epsilon, q), variance)
    a = np.zeros(market.n)
    a[q > 0] = release.whole_weights / 2.0**release.places
    errors = []
    for _ in range(runs // 1000):
        sold = rng.random((1000, market.n)) < q
        x = rng.random((1000, market.n)) < share
        A = sold @ a
        noise = rng.laplace(0.0, 1.0, 1000)
        answer = market.n / 2 + market.n * (((sold * (x - 0.5)) @ a) + noise) / np.where(A > 0, A, np.inf)
        answer = np.clip(answer, 0, market.n) if clamped else answer
        errors.append((answer - x.sum(axis=1)) ** 2)
    return np.concatenate(errors)


@pytest.mark.parametrize("runs", [4_000, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MARKETS)
def test_predicted_errors_are_those_of_simulations(name, runs):
    market = MARKETS[name]
    B = 0.3 * market.most_that_can_be_spent
    prior = smq.EntryPrior.share(0.25)
    found = smq.predict(smq.Count(), market, [B], prior, estimator="linear")
    errors = squared_errors(market, smq.solve(market, B), runs, np.random.default_rng(11))
    spread = errors.std(ddof=1) / math.sqrt(errors.size) + 2 * found.standard_error[0] * found.total[0] ** 2
    assert abs(found.total[0] ** 2 - errors.mean()) <= 4 * spread


def test_clamping_to_the_public_range_never_errs_more():
    market = MARKETS["uniform"]
    solution = smq.solve(market, 0.2)
    loose, tight = (
        squared_errors(market, solution, 2000, np.random.default_rng(3), clamped=clamped) for clamped in (False, True)
    )
    assert np.all(tight <= loose * (1 + 1e-12))
    assert tight.mean() < 0.9 * loose.mean()


@pytest.mark.parametrize("estimator", ["linear", "P-E"])
@pytest.mark.parametrize(
    "query", [smq.Count(), smq.Mean(0, 1), smq.Histogram([0, 0.5, 1])], ids=lambda query: query.name
)
def test_intervals_of_the_whole_error_hold_the_truth(query, estimator):
    market, rng, kept = MARKETS["uniform"], np.random.default_rng(6), 0
    certificate = smq.verify(smq.solve(market, 0.3 * market.most_that_can_be_spent))
    for _ in range(20):
        data = (rng.random(N) < 0.3).astype(int)
        outcome = smq.procure(certificate, market.valuation.sample(rng, N))
        answer = smq.answer(query, data[outcome.selected], outcome, rng, estimator=estimator)
        truth = {"count": data.sum(), "mean": data.mean(), "histogram": np.bincount(data, minlength=2)}[query.name]
        bound = answer.error_half_width(0.8)
        assert answer.noise_half_width(0.8) < bound
        kept += np.max(np.abs(np.subtract(answer.value, truth))) <= bound
    assert kept >= 16
    with pytest.raises(smq.InputError, match="has no bound on its sampling error"):
        smq.answer(smq.Median(0, 1), data[outcome.selected], outcome, rng).error_half_width()


def outcome_of(market, share=0.3, objective=None):
    solution = smq.solve(market, share * market.most_that_can_be_spent, objective=objective)
    return smq.procure(smq.verify(solution), market.valuation.sample(np.random.default_rng(4), market.n))


@pytest.mark.parametrize("name", ["count", "sum", "mean", "histogram"])
def test_answers_are_near_the_truth_and_drawn_as_said(name):
    query, alphabet = QUERIES[name]
    outcome = outcome_of(MARKETS["uniform"])
    data = np.random.default_rng(1).choice(alphabet, N)
    answer = smq.answer(query, data[outcome.selected], outcome, estimator="linear")
    release = answer.asked
    A = release.whole_weights.sum()
    x = release.entries(data[outcome.selected], [""] * outcome.bought)
    before = release.value(release.centres(x), 0, 0)
    if name != "histogram":
        mine = release.total * (release.whole_weights @ data[outcome.selected]) / A
        assert before == pytest.approx(mine, abs=abs(release.total) * release.form.width / 2**20)
    assert np.max(np.abs(np.subtract(answer.value, before))) <= 10 * answer.noise_half_width()
    assert answer.privacy.kept
    published = answer.publish()
    assert published["estimator"] == "linear"
    assert "bought" not in published


def test_what_is_asked_for_is_taken_and_the_better_by_default():
    outcome = outcome_of(MARKETS["uniform"])
    data = np.ones(outcome.bought)
    kinds = {how: type(smq.answer(smq.Count(), data, outcome, estimator=how).asked) for how in ("linear", "P-E", None)}
    assert kinds == {"linear": LinearRelease, "P-E": smq.Count, None: LinearRelease}
    assert type(smq.answer(smq.Median(0, 1), data, outcome).asked) is smq.Median
    few = everybody([1e-3] * 5)  # P-E errs within the range, and Laplace noise beyond it
    assert better_estimator(smq.Count(), few) == "P-E"
    assert isinstance(fit(smq.Count(), everybody([0.5] * 200)), LinearRelease)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_the_error_of_p_e_is_foretold(share):
    market = MARKETS["uniform"]
    B, prior = share * market.most_that_can_be_spent, smq.EntryPrior.share(0.3)
    q = smq.solve(market, B).acceptance
    found = math.sqrt(pe_error(smq.Count().linear_form(N), Purchase(q > 0, market.epsilon, q), prior.variance))
    assert found == pytest.approx(smq.predict(smq.Count(), market, [B], prior, estimator="P-E").total[0], rel=0.1)


def test_nobody_bought_is_answered_by_the_public_midpoint():
    outcome = smq.procure(smq.verify(smq.solve(MARKETS["uniform"], 0.0)), np.ones(N))
    answer = smq.answer(smq.Sum(2, 4), [], outcome, estimator="linear")
    assert answer.value == 3 * N
    assert "public midpoint" in answer.to_dict()["nothing"]
    assert answer.noise_half_width() == N
    with pytest.raises(smq.InputError, match="no entries were bought"):
        smq.answer(smq.Sum(2, 4), [], outcome, estimator="P-E")


def test_ledgers_shares_and_groups_go_with_it(tmp_path):
    outcome = outcome_of(MARKETS["uniform"])
    data = np.random.default_rng(1).integers(0, 2, outcome.bought)
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    answers = [smq.answer(smq.Count(), data, outcome, ledger=ledger, share="1/2") for _ in range(2)]
    for one in answers:
        assert np.all(one.asked.worst_losses(one.epsilon) <= outcome.bought_epsilon / 2)
    with pytest.raises(smq.LedgerError):
        smq.answer(smq.Count(), data, outcome, ledger=ledger, share="1/100")
    by_group = smq.answer_by_group(smq.Count(), data, outcome, ["a"] * 100 + ["b"] * 300, estimator="linear")
    assert {name: one.n for name, one in by_group.items()} == {"a": 100, "b": 300}


def test_a_purchase_for_the_error_gives_its_own_weights():
    aim = smq.MeanSquaredError(range=1.0, variance=0.1)
    outcome = outcome_of(MARKETS["uniform"], objective=aim)
    answer = smq.answer(smq.Count(), np.zeros(outcome.bought), outcome)
    solution = outcome.certificate.solution
    assert answer.asked.variance == 0.1
    assert answer.asked.tau == pytest.approx(0.5 / solution.objective.shrinkage, rel=0.02)
    assert answer.asked.tau == pytest.approx(aim.sums(solution.market, solution.acceptance)[2], rel=1e-6)
    prior = smq.answer(smq.Count(), np.zeros(outcome.bought), outcome, assumption=smq.EntryPrior.share(0.5))
    assert prior.asked.variance == 0.25


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ({"query": smq.WeightedSum([1.0, -1.0] * (N // 2), 0, 1)}, "weights that sum to 0"),
        ({"query": smq.WeightedSum([1.0, -1.0] * (N // 2), 0, 1), "estimator": None}, "weights that sum to 0"),
        (
            {"query": smq.WeightedSum([0.1, 0.2, -0.3] * (N // 3) + [0.0] * (N % 3), 0, 1), "estimator": None},
            "weights that sum to 0",
        ),
        ({"query": smq.Median(0, 1)}, "has no linear release"),
        ({"query": smq.Count(weighting="inverse-probability")}, "has no linear release"),
        ({"query": smq.Count(), "estimator": "liner"}, "is not known"),
        ({"query": smq.Count(), "assumption": smq.EntryPrior([0, 9], [1, 1])}, "variance of an entry"),
        (
            {"query": smq.Count(), "assumption": smq.EntryPrior([0, 9], [1, 1]), "estimator": None},
            "variance of an entry",
        ),
    ],
)
def test_refused_in_one_line(ask, message):
    outcome = outcome_of(MARKETS["uniform"])
    query = ask.pop("query")
    with pytest.raises(smq.InputError, match=message):
        smq.answer(query, np.zeros(outcome.bought), outcome, **{"estimator": "linear", **ask})
