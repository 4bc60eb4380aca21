"""What is paid in one run: moments against every outcome, tails against simulation and against the exact law."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import smqopt as smq

IRREGULAR = smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5])


def every_outcome(solution):
    """The law of the total, outcome by outcome: {amount: probability}."""
    market = solution.market
    single = []
    for i in range(market.n):
        prices = [(1.0, solution.thresholds[i], solution.acceptance[i])]
        if solution.lottery is not None and i in solution.lottery.owner:
            k = solution.lottery.owner.tolist().index(i)
            p, lottery = solution.lottery.probability_of_low[k], solution.lottery
            prices = [
                (p, lottery.low[k], lottery.low_acceptance[k]),
                (1 - p, lottery.high[k], lottery.high_acceptance[k]),
            ]
        law = [(theta, chance * q) for chance, theta, q in prices]
        law.append((0.0, 1.0 - sum(p for _, p in law)))
        single += [law] * (1 if market.multiplicity is None else int(market.multiplicity[i]))
    return [
        (sum(theta for theta, _ in outcome), math.prod(p for _, p in outcome)) for outcome in itertools.product(*single)
    ]


MARKETS = {
    "uniform": (smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), multiplicity=[3, 1, 2]), 1.0),
    "lotteries": (smq.Market([0.2, 0.5, 1.0, 1.0], IRREGULAR, multiplicity=[2, 1, 1, 1]), 1.7),
    "a lottery with no offer": (smq.Market([0.5, 0.5], smq.Discrete([1.0, 2.0], [0.1, 0.9])), 1.0),
}


@pytest.mark.parametrize("name", MARKETS)
def test_moments_and_tail_of_every_outcome(name):
    solution = smq.solve(*MARKETS[name])
    assert (solution.lottery is not None) == ("lotter" in name)
    outcomes = every_outcome(solution)
    assert sum(p for _, p in outcomes) == pytest.approx(1.0, rel=1e-12)
    mean = sum(p * amount for amount, p in outcomes)
    variance = sum(p * (amount - mean) ** 2 for amount, p in outcomes)
    draws = 40_000
    for amount in (0.5 * mean, mean, 1.3 * mean, 2.0 * mean):
        paid = smq.realised_payments(solution, amount=amount, draws=draws, rng=np.random.default_rng(9))
        assert paid.mean == pytest.approx(mean, rel=1e-12)
        assert paid.variance == pytest.approx(variance, rel=1e-11)
        tail = sum(p for total, p in outcomes if total > amount)
        assert tail <= paid.bernstein_bound
        assert abs(paid.simulated_chance - tail) <= 5 * math.sqrt(0.25 / draws)
    assert abs(paid.simulated.mean() - mean) <= 5 * math.sqrt(variance / draws)
    assert paid.simulated.var() == pytest.approx(variance, rel=0.05)


def test_a_large_market_is_nearly_normal():
    market = smq.Market(np.random.default_rng(1).random(3000), smq.Uniform(0, 1))
    solution = smq.solve(market, 600.0)
    F = solution.acceptance
    paid = smq.realised_payments(solution, draws=4000, rng=np.random.default_rng(2), amount=620.0)
    assert paid.mean == pytest.approx(600.0, rel=1e-11)
    assert paid.variance == pytest.approx(np.sum(solution.thresholds**2 * F * (1 - F)), rel=1e-12)
    assert abs(paid.simulated_chance - paid.normal_approximation) < paid.simulation_error
    assert paid.normal_approximation < paid.bernstein_bound
    above = paid.mean + paid.standard_deviation * 2.3263
    assert paid.quantile(0.99) == pytest.approx(above, abs=0.3 * paid.standard_deviation)


def test_the_same_generator_gives_the_same_runs():
    solution = smq.solve(*MARKETS["lotteries"])
    one, two = (smq.realised_payments(solution, draws=50, rng=np.random.default_rng(4)).simulated for _ in range(2))
    assert one.tolist() == two.tolist()


def test_the_ends():
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1))
    nothing = smq.realised_payments(smq.solve(market, 0.0), draws=3, rng=np.random.default_rng(1))
    assert (nothing.mean, nothing.variance, nothing.amount) == (0.0, 0.0, 0.0)
    assert nothing.simulated.tolist() == [0.0] * 3
    assert nothing.normal_approximation == 0.0
    sure = smq.realised_payments(smq.solve(market, 5.0))
    assert (sure.mean, sure.variance, sure.amount) == (2.0, 0.0, 5.0)
    assert sure.simulated is None
    assert math.isnan(sure.simulated_chance)
    assert math.isnan(sure.simulation_error)
    with pytest.raises(smq.InputError, match="simulated"):
        sure.quantile(0.5)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"amount": -1.0}, "amount"),
        ({"draws": -1}, "draws"),
        ({"draws": 1.5}, "draws"),
        ({"draws": 5}, "rng"),
        ({"draws": 5, "rng": 7}, "rng"),
    ],
)
def test_bad_questions_are_refused(given, told):
    solution = smq.solve(*MARKETS["uniform"])
    with pytest.raises(smq.InputError, match=told):
        smq.realised_payments(solution, **given)
    paid = smq.realised_payments(solution, draws=5, rng=np.random.default_rng(1))
    with pytest.raises(smq.InputError, match="probability"):
        paid.quantile(1.5)
