"""The figures that other trials of the same experiments gave, on the true data; sizes, not digits."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from smqopt.paper import DATA_SETS
from smqopt.paper.experiments._grid import METRICS, columns
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Streams
from smqopt.paper.experiments._trial import outcomes

pytestmark = pytest.mark.realdata

TRIALS = 80
CLOSE = 0.1
"""The known figures come from 15 to 300 trials: they are taken to within a tenth, and ours to within four standard errors."""


@cache
def population(key):
    return DATA_SETS[key]()


@cache
def notes(key, correlation, share, trials=TRIALS):
    """Trials of one setting, shape (trials, columns, metrics)."""
    setting = Setting.of(population(key), correlation, (share,))
    return np.concatenate([outcomes(setting, Streams.of(99, (0, 0, 0, t)))[0][:, 0] for t in range(trials)])


def figures(key, correlation, share, query, mechanism, metric, trials=TRIALS):
    found = notes(key, correlation, share, trials)
    return found[:, columns().index((query, mechanism)), METRICS.index(metric)]


def rmse_and_error(values, truth):
    squares = (values - truth) ** 2
    rmse = math.sqrt(squares.mean())
    return rmse, squares.std(ddof=1) / math.sqrt(values.size) / (2 * rmse)


@pytest.mark.parametrize(
    ("mechanism", "metric", "known"),
    [
        ("smq-marginal", "answer", 113),
        ("smq-marginal", "exact", 84),
        ("fq-printed-scale", "answer", 28_700),
        ("fq-original-scale", "answer", 350),
    ],
)
def test_the_rmse_of_counts_on_adult(mechanism, metric, known):
    values = figures("adult", 0.0, 0.3, "count", mechanism, metric)
    rmse, error = rmse_and_error(values, population("adult").truth("count"))
    assert abs(rmse - known) <= CLOSE * known + 4 * error


def test_the_noise_of_counts_on_adult():
    answer, exact = (figures("adult", 0.0, 0.3, "count", "smq-marginal", metric) for metric in ("answer", "exact"))
    noise, error = rmse_and_error(answer - exact, 0.0)
    assert abs(noise - 76) <= CLOSE * 76 + 4 * error


def test_how_many_owners_smq_buys_on_adult():
    bought = figures("adult", 0.0, 0.3, "count", "smq-marginal", "bought")
    assert bought.mean() == pytest.approx(15_450, abs=50)


@pytest.mark.parametrize(
    ("correlation", "mechanism", "known"),
    [
        (-0.5, "smq-marginal", 1.32),
        (-1.0, "smq-marginal", 1.60),
        (-0.5, "smq-conditional", 1.0),
        (-1.0, "smq-conditional", 1.0),
    ],
)
def test_what_is_spent_on_adult(correlation, mechanism, known):
    spend = figures("adult", correlation, 0.1, "count", mechanism, "spend", 20) / (0.1 * population("adult").n)
    assert spend.mean() == pytest.approx(known, abs=0.01)


@pytest.mark.parametrize(("key", "correlation"), [("adult", 0.0), ("movielens", 0.0), ("adult", -1.0)])
def test_medians_of_ages_are_exact(key, correlation):
    answers = figures(key, correlation, 0.5, "median", "smq-marginal", "answer", 20)
    assert np.all(answers == population(key).truth("median"))


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_median_of_electricity(share):
    answers = figures("recs", 0.0, share, "median", "smq-marginal", "answer")
    rmse, error = rmse_and_error(answers, population("recs").truth("median"))
    assert 60 * (1 - CLOSE) - 4 * error <= rmse <= 170 * (1 + CLOSE) + 4 * error
