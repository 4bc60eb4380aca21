"""Predicted errors against simulated ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.model_files.adult._adult import embedded_adult
from smqopt.query import Purchase
from smqopt.query.error._sampling_error import sampling_mse
from smqopt.query.exponential._exponential_law import VANISHED

SHARES = [0.1, 0.3, 0.5, 0.7, 0.9]
"""Budgets per owner of the Adult data set, U(0, 1) for both requirement and valuation."""


def simulated_rmse(query, data, market, budget, trials, seed, draws=4):
    """Draw everything anew but the requirements, which are public: valuations, noise, and which owner has which entry."""
    rng = np.random.default_rng(seed)
    solution, n = smq.solve(market, budget), data.size
    exact = exact_of(query, data)
    errors = []
    while len(errors) < trials:
        selected = market.valuation.sample(rng, n) <= solution.thresholds
        purchase = Purchase(selected, market.epsilon, solution.acceptance)
        fitted, entries = query.asked_of(purchase), rng.permutation(data)[selected]
        places = fitted.entries(entries, [""] * entries.size)
        scores = fitted.scores(places, np.minimum(fitted.share * purchase.bought_epsilon, VANISHED), VANISHED)
        squares = []
        for score, truth in zip(scores, exact, strict=True):
            reached = np.cumsum(np.exp(-0.5 * score.cost) * score.length)
            u = rng.random(draws) * reached[-1]
            piece = np.searchsorted(reached, u, side="right")
            inside = ((reached[piece] - u) / np.exp(-0.5 * score.cost[piece])).astype(np.int64)
            results = score.start[piece] + np.minimum(inside, score.length[piece] - 1)
            squares.append((fitted.draw_values(results, purchase.bought, n) - truth) ** 2)
        errors.append(np.mean(squares))
    return math.sqrt(np.mean(errors))


def exact_of(query, data):
    if query.name in ("count", "sum"):
        return [data.sum()]
    if query.name == "mean":
        return [data.mean()]
    if query.name == "median":
        return [np.sort(data)[(data.size + 1) // 2 - 1]]
    return np.histogram(data, query.edges)[0].tolist()


@pytest.fixture(scope="module")
def adult():
    return embedded_adult()


@pytest.fixture(scope="module")
def market(adult):
    return smq.Market(np.random.default_rng(0).random(adult.age.size), smq.Uniform(0, 1))


@pytest.mark.parametrize("trials", [50, pytest.param(500, marks=pytest.mark.exhaustive)], ids=["a tenth", "all"])
def test_the_count_on_adult_is_predicted_within_ten_percent_at_five_budgets(adult, market, trials):
    data, n = adult.income_over_50k, adult.age.size
    prediction = smq.predict(smq.Count(), market, np.array(SHARES) * n, smq.EntryPrior.share(0.25), estimator="P-E")
    for j, share in enumerate(SHARES):
        found = simulated_rmse(smq.Count(), data, market, share * n, trials, seed=100 + j)
        assert prediction.total[j] == pytest.approx(found, rel=0.1)
    assert prediction.sampling[1] == pytest.approx(84, rel=0.1)  # errata E6
    assert prediction.noise[1] == pytest.approx(76, rel=0.1)
    assert np.all(prediction.standard_error < 0.02)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "query",
    [
        smq.Median(0, 120),
        smq.Histogram([0, 30, 45, 60, 120]),
        smq.Mean(0, 120),
        smq.Sum(0, 120, weighting="inverse-probability"),
    ],
    ids=lambda query: query.name,
)
def test_ages_of_adult_are_predicted(adult, market, query):
    assumption = smq.EntryPrior(*np.unique(adult.age, return_counts=True))
    n = adult.age.size
    shares = [0.1] if query.name == "median" else [0.1, 0.3, 0.7]  # beyond, a median errs too seldom to be simulated
    prediction = smq.predict(query, market, np.array(shares) * n, assumption, estimator="P-E")
    for j, share in enumerate(shares):
        found = simulated_rmse(query, adult.age, market, share * n, 500, seed=100 + j)
        assert prediction.total[j] == pytest.approx(found, rel=0.15)


SMALL = [
    smq.Count(weighting="inverse-probability"),
    smq.Sum(0, 1),
    smq.Mean(0, 1, weighting="inverse-probability"),
    smq.Histogram([0, 1, 2]),
]


@pytest.mark.parametrize("query", SMALL, ids=lambda query: query.name)
def test_a_small_market_is_predicted(query):
    market = smq.Market(np.repeat([0.5, 1.0, 2.0], 100), smq.Uniform(0, 1))
    data = np.repeat([0, 1], [180, 120])
    prediction = smq.predict(query, market, [60.0], smq.EntryPrior.share(0.4), estimator="P-E")
    found = simulated_rmse(query, data, market, 60.0, 250, seed=3)
    assert prediction.total[0] == pytest.approx(found, rel=0.1)
    assert prediction.bought[0] == pytest.approx(smq.solve(market, 60.0).acceptance.sum())


def test_owners_who_cannot_be_bought_are_part_of_the_error():
    market = smq.Market([1.0] * 40 + [0.0] * 10, smq.Uniform(0, 1))
    query = smq.Sum(0, 1, weighting="inverse-probability")
    prediction = smq.predict(query, market, [1e9], smq.EntryPrior.share(1.0))
    assert prediction.sampling[0] == pytest.approx(10)  # all able owners are bought, ten ones are missed
    assert smq.predict(smq.Sum(0, 1), market, [1e9], smq.EntryPrior.share(1.0)).sampling[0] == 0
    assert smq.predict(smq.Sum(0, 1), market, [1e9], smq.EntryPrior.share(0.0)).sampling[0] == 0


def test_weighted_sums_are_predicted_exactly_where_everything_is_known():
    market = smq.Market([2.0, 1.0], smq.Uniform(0, 1))
    query = smq.WeightedSum([1.0, 3.0], 0, 1, weighting="inverse-probability")
    q = smq.solve(market, 0.5).acceptance
    prediction = smq.predict(query, market, [0.5], smq.EntryPrior.share(0.5))
    assert prediction.sampling[0] ** 2 == pytest.approx(0.5 * (1 / q[0] - 1 + 9 * (1 / q[1] - 1)))


def test_a_median_is_the_middle_quantile():
    market = smq.Market(np.repeat([0.5, 1.0, 2.0], 10), smq.Uniform(0, 1))
    told = [
        smq.predict(query, market, [6.0], smq.EntryPrior.share(0.4))
        for query in (smq.Median(0, 1), smq.Quantile(0.5, 0, 1))
    ]
    assert told[0].total.tolist() == told[1].total.tolist()


@pytest.mark.exhaustive
def test_a_median_that_seldom_errs_is_predicted_within_its_standard_error():
    market = smq.Market(np.repeat([0.5, 1.0, 2.0], 100), smq.Uniform(0, 1))
    data = np.repeat([0, 1], [180, 120])
    prediction = smq.predict(smq.Median(0, 1), market, [60.0], smq.EntryPrior.share(0.4))
    found = simulated_rmse(smq.Median(0, 1), data, market, 60.0, 6000, seed=3)
    assert prediction.total[0] == pytest.approx(found, rel=0.1 + 3 * prediction.standard_error[0])


def test_rows_objectives_and_constraints_are_taken_into_account():
    rows = smq.Market([0.5, 1.0], smq.Uniform(0, 1), multiplicity=[30, 30])
    alike = smq.Market([0.5] * 30 + [1.0] * 30, smq.Uniform(0, 1))
    share = smq.EntryPrior.share(0.5)
    together, apart = (smq.predict(smq.Count(), market, [10.0], share) for market in (rows, alike))
    assert together.total[0] == pytest.approx(apart.total[0], rel=1e-6)
    grouped = smq.Market([0.5, 1.0], smq.Uniform(0, 1), multiplicity=[30, 30], groups={"city": ["x", "x"]})
    everybody = smq.Coverage("city", "x", at_least=60)
    with pytest.raises(smq.InputError, match="no thresholds meet the constraints"):
        smq.predict(smq.Count(), grouped, [10.0], share, constraints=(everybody,))


def test_a_budget_alone_is_no_list():
    with pytest.raises(smq.InputError, match=r"'budgets': must have shape \(m,\)"):
        smq.predict(smq.Count(), smq.Market([1.0], smq.Uniform(0, 1)), 1.0, smq.EntryPrior.share(0.5))


def test_no_purchase_no_answer():
    market = smq.Market([1.0, 1.0], smq.Uniform(0, 1))
    prediction = smq.predict(smq.Count(), market, [0.0], smq.EntryPrior.share(0.5))
    assert prediction.total.tolist() == [math.inf]
    assert prediction.bought.tolist() == [0.0]


def test_a_prediction_is_a_table(tmp_path):
    market = smq.Market(np.full(50, 1.0), smq.Uniform(0, 1))
    prediction = smq.predict(smq.Count(), market, [5.0, 20.0], smq.EntryPrior.share(0.5))
    again = smq.predict(smq.Count(), market, [5.0, 20.0], smq.EntryPrior.share(0.5))
    assert prediction.total.tolist() == again.total.tolist()
    prediction.save(tmp_path / "predicted.csv")
    lines = (tmp_path / "predicted.csv").read_text().splitlines()
    assert lines[0] == "budget,bought,rmse,sampling,noise,standard_error"
    assert len(lines) == 3
    assert prediction.least_budget(prediction.total[1]) == 20.0
    assert prediction.least_budget(0.0) is None
    assert "0 with 0.5, 1 with 0.5" in prediction.assumption


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1]), "assumption"),
        (([0, 0], [1, 1]), "assumption"),
        (([0, 1], [-1, 2]), "assumption"),
        (([0, 1], [0, 0]), "assumption"),
        (([], []), "assumption"),
        (([0, math.nan], [1, 1]), "assumption"),
    ],
)
def test_assumptions_are_laws(arguments, message):
    with pytest.raises(smq.InputError, match=message):
        smq.EntryPrior(*arguments)


def test_assumptions_are_read_from_a_table(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("value,weight\n30,1\n20,3\n")
    assumption = smq.EntryPrior.load(path)
    assert assumption.values.tolist() == [20.0, 30.0]
    assert (assumption.mean, assumption.variance) == (22.5, 18.75)
    path.write_text("value\n30\n")
    with pytest.raises(smq.InputError, match="column 'weight': is missing"):
        smq.EntryPrior.load(path)
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(smq.InputError, match="assumption: share"):
            smq.EntryPrior.share(p)
    assert smq.EntryPrior.evenly(0, 10**6).values.size == 1000
    assert smq.EntryPrior.at_worst(-1, 1).variance == 1


def test_some_queries_have_no_error():
    market = smq.Market([1.0, 1.0], smq.Uniform(0, 1))
    own = smq.OwnQuery("which", [0, 1], [0, 1], lambda d, r: float(d != r))
    with pytest.raises(smq.InputError, match="has no error that could be predicted"):
        smq.predict(own, market, [1.0], smq.EntryPrior.share(0.5))
    with pytest.raises(smq.InputError, match="must be 0 or 1"):
        smq.predict(smq.Count(), market, [1.0], smq.EntryPrior([0.5, 1], [1, 1]))


@pytest.mark.parametrize("k", [1, 3, 6, 8, 9])
def test_the_sampling_error_of_a_median_is_that_of_all_cases(k):
    """Nine owners, zeros and ones alike likely: how often the median of k of them is not that of all, counted out."""
    n = 9
    missed = sum(
        math.comb(k, zeros) * math.comb(n - k, others)
        for zeros in range(k + 1)
        for others in range(n - k + 1)
        if (zeros >= (k + 1) // 2) != (zeros + others >= (n + 1) // 2)
    )
    purchase = Purchase(np.arange(n) < k, np.ones(n), np.full(n, 0.5))
    found = sampling_mse(smq.Median(0, 1), smq.EntryPrior.share(0.5), [purchase], np.random.default_rng(3))
    assert found == pytest.approx([missed / 2**n], rel=0.1)
    assert (k < n) == (found[0] > 0)


@pytest.mark.parametrize("order", ["value", "random"])
def test_predicted_errors_include_who_is_passed_over(order):
    """Against purchases by `procure`: the error of the linear release on each, in closed form given who sold."""
    market, budget = smq.Market(np.linspace(0.2, 1.0, 12), smq.Uniform(0, 1)), 2.0
    prior = smq.EntryPrior.share(0.3)
    found = smq.predict(
        smq.Count(), market, [budget], prior, payments="while-it-lasts", order=order, estimator="linear"
    )
    posted = smq.predict(smq.Count(), market, [budget], prior, estimator="linear")
    certificate, rng = smq.verify(smq.solve(market, budget)), np.random.default_rng(1)
    bought = [smq.procure(certificate, rng.random(12), "while-it-lasts", rng, order=order).bought for _ in range(2000)]
    error = np.std(bought) / np.sqrt(100)  # the prediction draws a hundred purchases
    assert abs(found.bought[0] - np.mean(bought)) <= 4 * error
    assert found.bought[0] < posted.bought[0]
    assert found.total[0] > posted.total[0]


def test_weights_by_acceptance_are_refused_where_owners_are_passed_over():
    query, market = smq.Count(weighting="inverse-probability"), smq.Market(np.ones(4), smq.Uniform(0, 1))
    with pytest.raises(smq.InputError, match="cannot weigh by acceptances"):
        smq.predict(query, market, [1.0], smq.EntryPrior.share(0.5), payments="while-it-lasts")
    with pytest.raises(smq.InputError):
        smq.predict(smq.Count(), market, [1.0], smq.EntryPrior.share(0.5), payments="by report")
    with pytest.raises(smq.InputError, match="is not known"):
        smq.predict(smq.Count(), market, [1.0], smq.EntryPrior.share(0.5), payments="while-it-lasts", order="by report")
