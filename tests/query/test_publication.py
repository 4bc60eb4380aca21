"""How many purchases fit what is published: of 4095 sets of 12 owners a large share, and never few."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.query import Purchase, fit
from smqopt.query._publication import public_grid, public_record
from smqopt.query.linear._linear_release import LinearRelease

N = 12
pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")
EPSILON = np.round(0.4 + 0.1 * np.arange(N) ** 1.1, 6)
MARKET = smq.Market(EPSILON, smq.Uniform(0, 1), owner_ids=[f"owner {i}" for i in range(N)])
CERTIFICATE = smq.verify(smq.solve(MARKET, 3.0))
ENTRIES = np.arange(N) % 2
WEIGHTS = [1.0, 2.5, 0.3, 4.1, 1.7, 0.9, 3.3, 2.2, 1.1, 0.7, 5.3, 1.9]
QUERIES = [
    smq.Count(),
    smq.Count(weighting="inverse-probability"),
    smq.Sum(0, 1),
    smq.Mean(0, 1),
    smq.Mean(0, 1, weighting="inverse-probability"),
    smq.WeightedSum(WEIGHTS, 0, 1),
    smq.WeightedSum(WEIGHTS, 0, 1, weighting="inverse-probability"),
    smq.Histogram([0, 1, 2]),
    smq.JointHistogram([0, 1, 2]),
    smq.Median(0, 1),
    smq.Quantile(0.75, 0, 1),
]
LEAST_SHARE = 0.15
"""Half of the published records fit at least so many of all sets of owners; most fit more."""


def subsets(every):
    """All 4095 sets, or every so many of them in an order of their own."""
    sets = [s for k in range(1, N + 1) for s in itertools.combinations(range(N), k)]
    for place in np.random.default_rng(7).permutation(len(sets))[::every].tolist():
        selected = np.zeros(N, dtype=bool)
        selected[list(sets[place])] = True
        yield selected


def results_of(fitted, entries):
    """Results that draws may have, spread over all of them."""
    if isinstance(fitted, LinearRelease):
        reached = np.linspace(-fitted.most, fitted.most, 150 if fitted.figures == 1 else 16)
        return [reached.round().astype(np.int64)] * fitted.figures
    scores = fitted.scores(entries, fitted.share * EPSILON[: entries.size])
    return [np.unique(np.linspace(*score.results[[0, -1]], 60).round().astype(np.int64)) for score in scores]


def records_of(query, estimator, selected):
    """Everything that might be published of a purchase: one record for each result of the draws."""
    purchase = Purchase(selected, EPSILON, CERTIFICATE.solution.acceptance)
    fitted = fit(query, purchase, estimator)
    entries = fitted.entries(ENTRIES[selected], ["x"] * purchase.bought)
    results = results_of(fitted, entries)
    grid = public_grid(query, fitted, purchase, 0.95) if fitted.scales_to_population else None
    width = public_record(query, fitted, purchase, fitted.value([one[0] for one in results], purchase.bought, N), 0.95)
    found = set()
    for drawn in itertools.product(*(one.tolist() for one in results)):
        value = np.asarray(fitted.value(list(drawn), purchase.bought, N), dtype=float)
        rounded = value if grid is None else np.round(value / grid) * grid
        found.add((tuple(np.ravel(rounded).tolist()), width["half_width"]))
    return found


ASKED = [(query, "P-E") for query in QUERIES] + [
    (query, "linear")
    for query in (smq.Count(), smq.Sum(0, 1), smq.Mean(0, 1), smq.WeightedSum(WEIGHTS, 0, 1), smq.Histogram([0, 1, 2]))
]


@pytest.mark.parametrize("every", [32, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("query", "estimator"), ASKED, ids=[f"{q.name} {getattr(q, 'weighting', '')} {how}" for q, how in ASKED]
)
def test_many_purchases_fit_each_published_record(query, estimator, every):
    """Whoever knows the market, the certificate and the record can say little of who sold.

    Twelve purchases are drawn, each with its answer; the sets that fit a record have a result that is published alike.
    """
    fits = {}
    total = 0
    for selected in subsets(every):
        total += 1
        for record in records_of(query, estimator, selected):
            fits[record] = fits.get(record, 0) + 1
    assert total == (4095 if every == 1 else 128)
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(12):
        outcome = smq.procure(CERTIFICATE, rng.random(N))
        if not outcome.bought:
            continue
        record = smq.answer(query, ENTRIES[outcome.selected], outcome, estimator=estimator).publish()
        value = record["value"] if isinstance(record["value"], list) else [record["value"]]
        shares.append(fits.get((tuple(float(one) for one in value), record["half_width"]), 1) / total)
    assert np.median(shares) >= LEAST_SHARE


def test_all_digits_of_a_linear_release_would_say_who_sold():
    """As a whole number of steps times W/A a value fits one set of owners; that is what rounding is for."""
    drawn = {}
    for selected in subsets(32):
        fitted = fit(smq.Count(), Purchase(selected, EPSILON, CERTIFICATE.solution.acceptance), "linear")
        drawn[fitted.most] = fitted
    outcome = smq.procure(CERTIFICATE, np.full(N, 0.1))
    answer = smq.answer(smq.Count(), ENTRIES[outcome.selected], outcome, estimator="linear")
    value = next(v for v in (answer.asked.value([r], 0, N) for r in (1, 2, 3)) if v != N / 2)
    assert answer.asked.is_possible(value)
    assert sum(fitted.is_possible(value) for most, fitted in drawn.items() if most != answer.asked.most) == 0


def test_a_record_holds_no_number_that_says_who_sold():
    outcome = smq.procure(CERTIFICATE, np.full(N, 0.3))
    for query in QUERIES:
        answer = smq.answer(query, ENTRIES[outcome.selected], outcome)
        record = answer.publish()
        private = {"bought", "charge", "ledger_head", "noise_half_width", "rounding", "candidates"}
        assert not private & set(record)
        assert set(answer.to_dict()) & private
        json.dumps(record, allow_nan=False)


def test_the_published_half_width_covers_noise_and_rounding():
    outcome = smq.procure(CERTIFICATE, np.zeros(N))
    for query in QUERIES:
        answer = smq.answer(query, ENTRIES[outcome.selected], outcome)
        record = answer.publish()
        grid = record.get("grid", 0.0)
        moved = np.max(np.abs(np.subtract(record["value"], answer.value)))
        assert moved <= grid / 2
        assert record["half_width"] >= answer.noise_half_width() + grid / 2
        if grid:
            assert math.log2(record["half_width"] / grid).is_integer()


def test_what_cannot_be_published_is_refused():
    outcome = smq.procure(CERTIFICATE, np.zeros(N))
    simulation = smq.answer(smq.Count(), ENTRIES[outcome.selected], outcome, np.random.default_rng(1))
    with pytest.raises(smq.InputError, match="is a simulation"):
        simulation.publish()
    bought = smq.answer(smq.LinearPredictor([1.0] * outcome.bought, 0, 1), ENTRIES[outcome.selected], outcome)
    with pytest.raises(smq.InputError, match="weights are those of the owners who sold"):
        bought.publish()
