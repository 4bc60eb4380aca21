"""A thousand budgets at a hundred thousand owners, beside one solve of the same market.

pytest tests/benchmarks/test_frontier.py --benchmark-only -s
"""

from __future__ import annotations

import time

import numpy as np
import pytest

import smqopt as smq

OWNERS, BUDGETS = 100_000, 1_000
FIXED, SOLVES = 0.025, 20
"""The time allowed: so many seconds, and so many solves."""


def arrays():
    rng = np.random.default_rng(7)
    low = rng.random(OWNERS) * (rng.random(OWNERS) < 0.5)
    return {
        "uniform": smq.Uniform(0, 1),
        "uniform above 0": smq.Uniform(1, 2),
        "uniform, an owner each": smq.Uniform(low, 1.2 + rng.random(OWNERS)),
        "power": smq.Power(2),
        "power 1.5": smq.Power(1.5),
        "powers, an owner each": smq.Power(rng.choice([0.5, 1.5, 2.0], OWNERS), 0, 1 + rng.random(OWNERS)),
    }


@pytest.mark.parametrize("name", arrays())
def test_in_one_pass(benchmark, name):
    market = smq.Market(np.random.default_rng(0).random(OWNERS), arrays()[name])
    budgets = market.most_that_can_be_spent * np.arange(1, BUDGETS + 1) / BUDGETS
    one = min(_timed(lambda: smq.solve(market, budgets[300])) for _ in range(10))
    curve = benchmark.pedantic(smq.frontier, args=(market, budgets), rounds=10, warmup_rounds=2)
    took, allowed = benchmark.stats.stats.min, FIXED + SOLVES * one
    print(f"\n{name}: {1e3 * took:.1f} ms, allowed {1e3 * allowed:.1f} ms; gap {curve.gap:.1e}")
    assert took <= allowed
    for k in range(0, BUDGETS - 1, 111):
        solution = smq.solve(market, budgets[k])
        assert curve.purchased_privacy[k] == pytest.approx(solution.purchased_privacy, rel=1e-11)


def _timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
