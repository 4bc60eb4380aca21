"""The law of an answer from a million bought entries, in the memory of 12 arrays of n doubles."""

from __future__ import annotations

import numpy as np
import pytest
from measures import best_of, peak_memory

import smqopt as smq
from smqopt.query import Purchase, fit, pe_law
from smqopt.query._draw import prepare

BOUGHT = 1_000_000
ARRAYS = 12
KINDS = ("count", "median", "linear predictor")


@pytest.fixture(scope="module")
def bought():
    rng = np.random.default_rng(11)
    ids = [str(i) for i in range(BOUGHT)]
    return rng, ids, rng.uniform(0.01, 1.0, BOUGHT)


def asked(kind, rng):
    if kind == "count":
        return smq.Count(), rng.integers(0, 2, BOUGHT)
    if kind == "median":
        return smq.Median(0, 120), rng.integers(0, 121, BOUGHT)
    return smq.LinearPredictor(rng.uniform(-1.0, 1.0, BOUGHT), 0, 1), rng.random(BOUGHT)


@pytest.mark.parametrize("kind", KINDS)
def test_the_law_of_a_million_entries(benchmark, bought, kind):
    rng, ids, epsilon = bought
    query, data = asked(kind, rng)
    purchase = Purchase(np.ones(BOUGHT, dtype=np.bool_), epsilon, np.ones(BOUGHT))

    def law():
        (one,) = prepare(query, query.asked_of(purchase), data, ids, purchase).draws
        return pe_law(*one.args)

    found = benchmark.pedantic(law, rounds=3, warmup_rounds=1)
    assert found.sum() == pytest.approx(1.0)
    most = peak_memory(law)
    print(f"\n{kind}: {benchmark.stats.stats.min:.2f} s, {most / (8 * BOUGHT):.1f} arrays of n doubles")
    assert most <= ARRAYS * 8 * BOUGHT


def test_the_linear_release_of_a_million_entries(benchmark, bought):
    """Weights, sum and draw, beside one pass of NumPy over the entries."""
    rng, ids, epsilon = bought
    data = rng.integers(0, 2, BOUGHT)
    purchase = Purchase(np.ones(BOUGHT, dtype=np.bool_), epsilon, np.ones(BOUGHT))

    def release():
        asked = fit(smq.Count(), purchase, "linear")
        return asked.value(prepare(smq.Count(), asked, data, ids, purchase).draw(None), BOUGHT, BOUGHT)

    found = benchmark.pedantic(release, rounds=3, warmup_rounds=1)
    assert 0 <= found <= BOUGHT
    one_pass, _ = best_of(3, lambda: float(epsilon @ data))
    seconds = benchmark.stats.stats.min
    print(f"\nlinear release: {seconds:.3f} s, {seconds / one_pass:.0f} passes")
