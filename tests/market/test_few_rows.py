"""Few rows that bound a large market: never below it, and hardly above."""

import itertools
import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import BEND, few_rows

N = 1 << 17


def height(r, counts, price, power):
    """Σ m max_θ F(θ)(r − λθ) of F(θ) = θ^power, by the formula of the maximum."""
    theta = np.minimum(r / price * power / (power + 1.0), 1.0)
    return math.fsum(counts * theta**power * (r - price * theta))


@pytest.mark.parametrize("shape", ["even", "heavy", "one", "copies"])
def test_few_rows_bound_the_market_from_above_and_closely(shape):
    rng = np.random.default_rng(5)
    epsilon = rng.random(N) + 1e-4
    epsilon = {"heavy": rng.pareto(3.0, N) + 0.05, "one": np.full(N, 0.7), "copies": epsilon}.get(shape, epsilon)
    epsilon[:5] = 0.0
    copies = rng.integers(1, 9, N) if shape == "copies" else None
    market = smq.Market(epsilon, smq.Uniform(0, 1), multiplicity=copies)
    few = few_rows(market)
    assert few.market.n * 2 <= N
    assert few.market.population == (market.population - int(market.weights[:5].sum())) * few.shares
    for mu, power, price in itertools.product([0.0, 0.3, 2.0, 500.0], [1.0, 3.0], [0.05, 0.4, 3.0]):
        a = np.minimum(epsilon, 0.5 / mu) if mu else epsilon
        rows = smq.MeanSquaredError(range=1).market_at(few.market, mu, BEND)
        own = height(a - mu * a**2, market.weights, price, power)
        bound = height(rows.epsilon, rows.weights, price, power) / few.shares
        assert own * (1 - 1e-14) <= bound <= own * (1 + 3e-8)


def test_few_rows_are_for_large_markets_of_one_law():
    epsilon = np.random.default_rng(5).random(N)
    assert few_rows(smq.Market(epsilon[1:], smq.Uniform(0, 1))) is None
    assert few_rows(smq.Market(epsilon, smq.Uniform(0, 1 + epsilon))) is None
    assert few_rows(smq.Market(np.zeros(N), smq.Uniform(0, 1))) is None
    assert few_rows(smq.Market(np.exp(700 * epsilon - 350), smq.Uniform(0, 1))) is None


def test_a_budget_near_the_largest_double_buys_all():
    market = smq.Market(np.linspace(0.1, 1.0, N), smq.Uniform(0, 1))
    solution = smq.solve(market, 1e305, objective=smq.MeanSquaredError(range=1))
    assert smq.verify(solution).grade == "proved"


@pytest.mark.parametrize(
    "law", [smq.Uniform(0, 1), smq.Discrete([0.1, 0.4, 0.8], [0.3, 0.3, 0.4])], ids=["even", "steps"]
)
def test_the_least_error_by_few_rows_is_that_of_the_market_itself(law, monkeypatch):
    market = smq.Market(np.random.default_rng(6).random(N), law)
    aim = smq.MeanSquaredError(range=1)
    found = smq.verify(smq.solve(market, 0.3 * N, objective=aim))
    monkeypatch.setattr("smqopt.solvers._solve.few_rows", lambda _: None)
    own = smq.verify(smq.solve(market, 0.3 * N, objective=aim))
    assert (found.grade, own.grade) == ("proved", "proved")
    assert found.gap <= 1e-6
    assert found.solution.error == pytest.approx(own.solution.error, rel=1e-6)
    assert found.error_bound <= own.solution.error
    assert own.error_bound <= found.solution.error
