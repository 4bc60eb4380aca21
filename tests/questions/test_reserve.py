"""Reserves: every bound against the exact law of small markets, and what is held against simulated purchases."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import markets, shares

import smqopt as smq
from smqopt.questions.payment import _payment_grid as payment_grid
from smqopt.questions.payment._tail_bounds import bennett

IRREGULAR = smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5])
BOUNDS = ("most", "hoeffding", "bernstein", "bennett", "chernoff", "grid", "amount")


def exact_tail(solution):
    """P(total > a) as a function, by convolution of exact amounts with their probabilities."""
    market = solution.market
    law = {Fraction(0): 1.0}
    drawn = {} if solution.lottery is None else {row: k for k, row in enumerate(solution.lottery.owner.tolist())}
    for row in range(market.n):
        prices = [(1.0, solution.thresholds[row], solution.acceptance[row])]
        if row in drawn:
            k, lottery = drawn[row], solution.lottery
            p = lottery.probability_of_low[k]
            prices = [
                (p, lottery.low[k], lottery.low_acceptance[k]),
                (1 - p, lottery.high[k], lottery.high_acceptance[k]),
            ]
        for _ in range(1 if market.multiplicity is None else int(market.multiplicity[row])):
            new = {}
            for amount, weight in law.items():
                rest = 1.0
                for chance, theta, q in prices:
                    rest -= chance * q
                    key = amount + Fraction(float(theta))
                    new[key] = new.get(key, 0.0) + weight * chance * q
                new[amount] = new.get(amount, 0.0) + weight * rest
            law = new
    return lambda a: math.fsum(weight for amount, weight in law.items() if amount > Fraction(a))


MARKETS = {
    "one owner": (smq.Market([1.0], smq.Uniform(0, 1)), 0.3),
    "uniform": (smq.Market([0.2, 0.5, 1.0, 0.7, 0.9, 0.1, 0.3, 1.0], smq.Uniform(0, 1)), 2.0),
    "ties": (smq.Market([1.0] * 9, smq.Uniform(0, 1)), 2.0),
    "alike owners": (smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), multiplicity=[3, 4, 2]), 1.5),
    "lotteries": (smq.Market([0.2, 0.5, 1.0, 1.0, 0.6, 0.6], IRREGULAR, multiplicity=[2, 1, 1, 1, 1, 1]), 2.7),
    "a lottery with no offer": (smq.Market([0.5, 0.5], smq.Discrete([1.0, 2.0], [0.1, 0.9])), 1.0),
    "low ends above 0": (smq.Market([1.0, 0.5, 0.1], smq.Uniform([0.5, 1.0, 2.0], [1.0, 2.0, 2.5])), 1.2),
    "nothing to spend": (smq.Market([1.0, 0.5], smq.Uniform(0, 1)), 0.0),
    "slack": (smq.Market([1.0, 0.5, 0.0], smq.Uniform(0, 1)), 9.0),
    "large units": (smq.Market([1.0, 0.5, 0.7], smq.Uniform(0, 1e9)), 1e9),
    "small units": (smq.Market([1.0, 0.5, 0.7], smq.Uniform(0, 1e-9)), 1e-9),
}


@pytest.mark.parametrize("probability", [0.5, 0.01, 1e-30])
@pytest.mark.parametrize("name", MARKETS)
def test_no_bound_is_exceeded_more_often_than_it_says(name, probability):
    solution = smq.solve(*MARKETS[name])
    held = smq.reserve(solution, probability)
    tail = exact_tail(solution)
    for bound in BOUNDS:
        amount = getattr(held, bound)
        if amount is not None and amount < math.inf:
            assert tail(amount) <= probability
    assert held.amount <= held.most
    slack = 1e-9 * (held.most + 1e-300)
    assert held.chernoff <= held.bernstein + slack
    assert held.chernoff <= held.hoeffding + slack
    assert held.bennett <= held.bernstein + slack
    assert held.beyond_expected == max(0.0, held.amount - held.expected)
    assert held.is_enough == (held.beyond_budget == 0)


def test_the_grid_gives_the_quantile_itself_where_all_thresholds_are_alike():
    solution = smq.solve(smq.Market([1.0] * 100, smq.Uniform(0, 1)), 25.0)
    for probability in (0.2, 0.01, 1e-5):
        sold = next(
            k
            for k in range(101)
            if math.fsum(math.comb(100, j) * 0.5**100 for j in range(k + 1, 101)) <= probability * (1 - 1e-9)
        )
        assert smq.reserve(solution, probability).amount == pytest.approx(0.5 * sold, rel=1e-12)


def test_the_grid_is_near_the_quantile_of_many_owners():
    solution = smq.solve(smq.Market(np.random.default_rng(0).random(200), smq.Uniform(0, 1)), 40.0)
    held = smq.reserve(solution, 0.01)
    totals = smq.realised_payments(solution, draws=20_000, rng=np.random.default_rng(1)).simulated
    quantile, deviation = np.quantile(totals, 0.99), totals.std()
    assert quantile - 0.1 * deviation < held.amount < quantile + 0.15 * deviation
    assert held.grid < held.chernoff < held.bennett


@pytest.mark.parametrize("name", ["uniform", "alike owners", "lotteries", "low ends above 0"])
def test_a_coarse_grid_is_a_bound_too(name, monkeypatch):
    """With few cells most of each payment is off the grid, and what is left over has to be accounted for."""
    solution = smq.solve(*MARKETS[name])
    tail = exact_tail(solution)
    for cells in (4, 7, 12, 40):
        monkeypatch.setattr(payment_grid, "_MOST_CELLS", cells)
        for probability in (0.5, 0.3, 0.1, 0.01):
            amount = smq.reserve(solution, probability).grid
            assert amount == math.inf or tail(amount) <= probability


def test_what_is_sure_needs_no_reserve():
    sure = smq.reserve(smq.solve(smq.Market([1.0, 1.0], smq.Uniform(0, 1)), 5.0), 0.01)
    assert (sure.amount, sure.beyond_budget, sure.is_enough) == (2.0, 0.0, True)
    nothing = smq.reserve(smq.solve(smq.Market([1.0, 1.0], smq.Uniform(0, 1)), 0.0), 0.01)
    assert nothing.amount == 0.0


def test_a_certificate_serves_as_its_solution():
    solution = smq.solve(*MARKETS["uniform"])
    assert smq.reserve(smq.verify(solution), 0.05) == smq.reserve(solution, 0.05)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, float("nan"), "0.1", True, None])
def test_a_probability_lies_between_0_and_1(probability):
    solution = smq.solve(*MARKETS["uniform"])
    for ask in (
        lambda: smq.reserve(solution, probability),
        lambda: smq.reserved_budget(solution.market, 1.0, probability),
    ):
        with pytest.raises(smq.InputError, match="must lie between 0 and 1"):
            ask()
    with pytest.raises(smq.InputError, match="must be a certificate or a solution"):
        smq.reserve(solution.market, 0.1)


@settings(max_examples=8)
@given(market=markets(most=4), share=shares, probability=st.sampled_from([0.3, 0.02, 1e-9]))
def test_no_reserve_falls_short_for_any_market(market, share, probability):
    if market.population > 9:
        return
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    tail = exact_tail(solution)
    held = smq.reserve(solution, probability)
    for bound in BOUNDS:
        amount = getattr(held, bound)
        if amount is not None and amount < math.inf:
            assert tail(amount) <= probability


@pytest.mark.parametrize("probability", [0.2, 0.01])
@pytest.mark.parametrize("name", MARKETS)
def test_a_reserved_budget_is_kept(name, probability):
    market, budget = MARKETS[name]
    held = smq.reserved_budget(market, budget, probability)
    assert held.solution.budget <= budget
    assert held.amount.amount <= budget
    assert exact_tail(held.solution)(budget) <= probability
    assert smq.verify(held.solution).valid
    assert held.reserve == budget - held.solution.budget
    assert held.to_dict()["solved_for"] == held.solution.budget


def test_a_large_market_holds_little_back_and_needs_it():
    market = smq.Market(np.random.default_rng(5).random(400), smq.Uniform(0, 1))
    held = smq.reserved_budget(market, 80.0, 0.05)
    paid = smq.realised_payments(held.solution, amount=80.0, draws=10_000, rng=np.random.default_rng(6))
    assert 0.01 < paid.simulated_chance <= 0.05
    assert held.reserve < 10.0


def test_a_reserve_with_constraints():
    groups = {"city": ["a", "b"] * 10}
    market = smq.Market(np.linspace(0.1, 1.0, 20), smq.Uniform(0, 1), groups=groups)
    rows = [smq.Coverage("city", "a", at_least=3.0)]
    held = smq.reserved_budget(market, 6.0, 0.05, constraints=rows)
    assert held.solution.records == tuple(rows)
    assert held.amount.amount <= 6.0
    with pytest.raises(smq.InputError, match="no budget up to"):
        smq.reserved_budget(market, 1.0, 0.05, constraints=rows)


def test_all_patterns_of_five_owners_by_hand():
    """The convolution of these tests is itself checked against a plain enumeration."""
    solution = smq.solve(smq.Market([0.2, 0.5, 1.0, 0.7, 0.9], smq.Uniform(0, 1)), 1.0)
    tail = exact_tail(solution)
    for amount in (0.0, 0.7, 1.3, 2.0):
        chance = 0.0
        for sold in itertools.product([0, 1], repeat=5):
            if sum(Fraction(t) for t, s in zip(solution.thresholds.tolist(), sold, strict=True) if s) > Fraction(
                amount
            ):
                chance += math.prod(q if s else 1 - q for q, s in zip(solution.acceptance, sold, strict=True))
        assert tail(amount) == pytest.approx(chance, abs=1e-14)


@pytest.mark.parametrize("variance", [1e-3, 1.0, 1e4, 1e7, 1e8, 1e10, 1e16])
@pytest.mark.parametrize("log_odds", [0.1, 5.0])
def test_bennetts_distance_solves_its_equation(variance, log_odds):
    """From above, and to the accuracy that doubles leave: also where (1+u) ln(1+u) − u would cancel."""
    with mpmath.workdps(100):  # with y = ln(1+u) − 1 the equation reads y e^y = (aim − 1)/e
        aim = mpmath.mpf(log_odds) / mpmath.mpf(variance)
        exact = float(variance * mpmath.expm1(mpmath.lambertw((aim - 1) / mpmath.e) + 1))
    found = bennett(variance, 1.0, log_odds)
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-8)
