"""A thousand budgets at a hundred thousand owners, beside one solve of the same market.

pytest tests/benchmarks/test_frontier.py --benchmark-only -s
"""

from __future__ import annotations

import numpy as np
import pytest
from measures import best_of

import smqopt as smq

OWNERS, BUDGETS = 100_000, 1_000


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
    one, _ = best_of(10, lambda: smq.solve(market, budgets[300]))
    curve = benchmark.pedantic(smq.frontier, args=(market, budgets), rounds=10, warmup_rounds=2)
    took = benchmark.stats.stats.min
    print(f"\n{name}: {1e3 * took:.1f} ms, the time of {took / one:.1f} solves; gap {curve.gap:.1e}")
    assert took <= BUDGETS * one
    for k in range(0, BUDGETS - 1, 111):
        solution = smq.solve(market, budgets[k])
        assert curve.purchased_privacy[k] == pytest.approx(solution.purchased_privacy, rel=1e-11)
