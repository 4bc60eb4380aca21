"""How long concave objectives take at market size, beside purchased privacy in the same run."""

import numpy as np
import pytest
from measures import best_of

import smqopt as smq


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Power(2), smq.Beta(2, 3)], ids=lambda law: law.name)
@pytest.mark.parametrize(
    "objective", [smq.InverseProbabilityVariance(), smq.DiminishingReturns(0.3)], ids=lambda one: one.kind
)
def test_a_concave_objective_beside_purchased_privacy(benchmark, law, objective):
    """At n = 100,000: OP2 itself answers by a formula or from one table, where this takes secants in it."""
    n = 100_000
    market = smq.Market(np.random.default_rng(0).random(n), law)
    smq.solve(market, 0.2 * n)  # tables are made once
    smq.solve(market, 0.2 * n, objective=objective)
    plain, _ = best_of(3, lambda: smq.solve(market, 0.2 * n))
    solution = benchmark.pedantic(smq.solve, (market, 0.2 * n), {"objective": objective}, rounds=3)
    assert smq.verify(solution).valid
    times = benchmark.stats.stats.min / plain
    benchmark.extra_info["times purchased privacy"] = times
    print(f"\n{objective.kind}, {law.name}: {times:.1f} times as long as purchased privacy")


def test_the_least_error_of_a_million_beside_purchased_privacy(benchmark):
    """Some ninety solves and eighty bounds of few rows that bound the million, and one of the million itself."""
    n = 1_000_000
    market = smq.Market(np.random.default_rng(1).random(n) + 1e-3, smq.Uniform(0, 1))
    aim = smq.MeanSquaredError(range=1)
    plain, _ = best_of(2, lambda: smq.verify(smq.solve(market, 0.3 * n)))
    certificate = benchmark.pedantic(lambda: smq.verify(smq.solve(market, 0.3 * n, objective=aim)), rounds=1)
    assert certificate.grade == "proved"
    times = benchmark.stats.stats.min / plain
    benchmark.extra_info["times purchased privacy"] = times
    print(f"\nmean squared error at a million: {times:.1f} times a plain solve and verify")
