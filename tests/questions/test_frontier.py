"""The frontier: against the solver, against mpmath, against its own slope, and inside its own bounds."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from strategies import markets

import smqopt as smq
from smqopt.files import read_csv
from smqopt.questions.frontiers._power_sums import power_sums
from smqopt.verification import upper_bound

EXACT = 1e-11


def solved(market, budgets):
    return [smq.solve(market, budget) for budget in budgets]


def rng():
    return np.random.default_rng(5)


LOWS = rng().random(400) * (rng().random(400) < 0.5)
CLOSED = {
    "uniform": smq.Uniform(0, 1),
    "uniform above 0": smq.Uniform(1, 1.25),
    "uniform, an owner each": smq.Uniform(LOWS, LOWS + 0.5 + rng().random(400)),
    "power": smq.Power(1.5, 0, 3),
    "power below 1": smq.Power(0.3),
    "cubic above 0": smq.Power(3, 1, 2),
    "powers": smq.Power(rng().choice([0.5, 1.0, 4.0], 400), 0, 0.5 + rng().random(400)),
    "powers above 0": smq.Power(rng().choice([1.0, 2.0, 8.0], 400), LOWS, 2.0),
    "two families": smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0.5, 1), smq.Power(5, 0, 2)] * 100),
}
OTHER = {
    "truncated exponential": smq.TruncatedExponential(2, 0.1, 1),
    "triangular": smq.Triangular(0, 0.5, 1),
    "a broken power above 0": smq.Power(1.5, 1, 2),
    "many exponents": smq.Power(1 + np.arange(400) / 100),
    "irregular": smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5]),
    "a price list": smq.Discrete([1.0, 2.0, 5.0], [0.25, 0.5, 0.25]),
}


def market_of(law, seed=8):
    draw = np.random.default_rng(seed)
    epsilon = draw.random(400) * (draw.random(400) < 0.9)
    epsilon[:20] = 0.5  # ties
    return smq.Market(epsilon, law, multiplicity=draw.integers(1, 4, 400))


@pytest.mark.parametrize("name", CLOSED)
def test_closed_forms_are_what_the_solver_gives(name):
    market = market_of(CLOSED[name])
    assert power_sums(market) is not None
    budgets = market.most_that_can_be_spent * np.concatenate([[1e-9, 1e-6, 1e-3], np.linspace(0.01, 1, 30) ** 2])
    curve = smq.frontier(market, budgets)
    for k, solution in enumerate(solved(market, curve.budgets.tolist())):
        V = solution.purchased_privacy
        doubles = 2.0**-52 * np.max(market.low) / curve.budgets[k] * market.population * 1e2 if k < 3 else 0.0
        assert curve.purchased_privacy[k] == pytest.approx(V, rel=EXACT + doubles)
        assert curve.budget_price[k] == pytest.approx(solution.budget_price, rel=1e-9 + doubles)
        assert curve.lower_bound[k] <= curve.purchased_privacy[k] <= curve.upper_bound[k]
        assert curve.upper_bound[k] >= V
        assert curve.lower_bound[k] <= upper_bound(market, curve.budgets[k], solution.budget_price)
    assert curve.gap < 1e-9
    assert np.all(curve.spend == np.minimum(curve.budgets, market.most_that_can_be_spent))


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize("verified", [True, False])
def test_other_laws_are_held_by_chords_and_tangents(name, verified):
    market = market_of(OTHER[name])
    assert power_sums(market) is None
    budgets = market.most_that_can_be_spent * np.linspace(0.01, 1.1, 45)
    curve = smq.frontier(market, budgets, gap=1e-3, verified=verified)
    assert curve.gap <= 1e-3
    for k, solution in enumerate(solved(market, curve.budgets.tolist())):
        V = solution.purchased_privacy
        assert curve.lower_bound[k] * (1 - 1e-13) <= V <= curve.upper_bound[k]
        assert curve.purchased_privacy[k] == pytest.approx(V, rel=1e-3)
        assert curve.lower_bound[k] <= curve.purchased_privacy[k] <= curve.upper_bound[k]


def exact_optimum(market, budget, x_most=10**9):
    """V(B) in 40 digits, by bisection on x = 1/λ, for power laws one an owner."""
    with mpmath.workdps(40):
        rows = [
            (mpmath.mpf(float(e)), mpmath.mpf(float(k)), mpmath.mpf(float(a)), mpmath.mpf(float(b)), int(m))
            for e, k, a, b, m in zip(
                market.epsilon,
                np.broadcast_to(getattr(market.valuation, "k", 1.0), market.n),
                market.low,
                market.high,
                market.multiplicity,
                strict=True,
            )
            if e > 0
        ]

        def offers(x):
            for e, k, a, b, m in rows:
                theta = min(max((e * x + a / k) * k / (k + 1), a), b)
                yield m, e, theta, ((theta - a) / (b - a)) ** k

        low, high = mpmath.mpf(0), mpmath.mpf(x_most)
        for _ in range(180):
            middle = (low + high) / 2
            spent = sum(m * theta * q for m, _, theta, q in offers(middle))
            low, high = (middle, high) if spent <= mpmath.mpf(float(budget)) else (low, middle)
        return float(sum(m * e * q for m, e, _, q in offers(low))), float(1 / low)


@pytest.mark.parametrize(
    "name", ["uniform above 0", "uniform, an owner each", "powers", "powers above 0", "cubic above 0"]
)
def test_closed_forms_against_mpmath(name):
    whole = market_of(CLOSED[name])
    rows = np.arange(0, 400, 25)
    market = smq.Market(whole.epsilon[rows], whole.valuation.take(rows), multiplicity=whole.multiplicity[rows])
    budgets = market.most_that_can_be_spent * np.array([1e-3, 0.03, 0.4, 0.77, 0.999])
    curve = smq.frontier(market, budgets)
    for k, budget in enumerate(budgets):
        V, price = exact_optimum(market, budget)
        assert curve.purchased_privacy[k] == pytest.approx(V, rel=1e-12)
        assert curve.lower_bound[k] <= V <= curve.upper_bound[k]
        assert curve.budget_price[k] == pytest.approx(price, rel=1e-9)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(market=markets(), shares=st.lists(st.floats(1e-3, 1.1), min_size=1, max_size=6))
def test_random_markets(market, shares):
    budgets = np.unique(np.array(shares) * market.most_that_can_be_spent)
    curve = smq.frontier(market, budgets)
    closed = power_sums(market) is not None
    for k, solution in enumerate(solved(market, budgets.tolist())):
        V = solution.purchased_privacy
        assert curve.lower_bound[k] * (1 - EXACT) <= V <= curve.upper_bound[k] * (1 + 2.0**-52)
        assert curve.purchased_privacy[k] == pytest.approx(V, rel=EXACT if closed else 1e-4)


@pytest.mark.parametrize("name", ["uniform", "powers", "uniform above 0"])
def test_the_price_is_the_slope(name):
    market = market_of(CLOSED[name])
    B = market.most_that_can_be_spent * np.linspace(0.1, 0.9, 9)
    h = 1e-4 * market.most_that_can_be_spent
    five = [smq.frontier(market, B + k * h).purchased_privacy for k in (-1, 1)]
    slope = (five[1] - five[0]) / (2 * h)
    assert smq.frontier(market, B).budget_price == pytest.approx(slope, rel=1e-5)


def test_bounds_between_the_budgets_hold_and_meet_at_them():
    market = market_of(CLOSED["uniform above 0"])
    curve = smq.frontier(market, market.most_that_can_be_spent * np.linspace(0.05, 1, 20))
    between = market.most_that_can_be_spent * np.linspace(0.001, 1.2, 57)
    lower, upper = curve.bounds(between)
    for k, solution in enumerate(solved(market, between.tolist())):
        assert lower[k] * (1 - 1e-13) <= solution.purchased_privacy <= upper[k]
    lower, upper = curve.bounds(curve.budgets)
    assert np.all(upper - lower <= 1e-10 * upper)


def test_the_ends():
    market = smq.Market([0.0, 0.5, 1.0], smq.Uniform(0, 2))
    curve = smq.frontier(market, [4.0, 0.0, 9.0, 5e-324, 4.0])
    assert curve.budgets.tolist() == [0.0, 5e-324, 4.0, 9.0]
    assert curve.purchased_privacy[[0, 2, 3]].tolist() == [0.0, 1.5, 1.5]
    assert curve.budget_price[[0, 2, 3]].tolist() == [math.inf, 0.0, 0.0]
    assert curve.spend.tolist() == [0.0, 5e-324, 4.0, 4.0]
    nobody = smq.frontier(smq.Market([0.0, 0.0], smq.Uniform(0, 1)), [0.0, 1.0])
    assert nobody.purchased_privacy.tolist() == nobody.upper_bound.tolist() == [0.0, 0.0]
    assert smq.frontier(smq.Market([0.0], smq.Uniform(0, 1))).budgets.tolist() == [0.0]


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_another_unit_of_currency_changes_budgets_and_prices_alone(unit):
    market, B = market_of(CLOSED["uniform above 0"]), np.array([10.0, 50.0, 200.0])
    other = smq.Market(market.epsilon, market.valuation.rescale(unit), multiplicity=market.multiplicity)
    here, there = smq.frontier(market, B), smq.frontier(other, B * unit)
    assert there.purchased_privacy == pytest.approx(here.purchased_privacy, rel=1e-12)
    assert there.budget_price * unit == pytest.approx(here.budget_price, rel=1e-12)


def test_requirements_of_every_size():
    epsilon = 10.0 ** np.linspace(-12, 12, 200)
    for law in (smq.Uniform(0, 1), smq.Uniform(1, 2), smq.Power(4), smq.Power(2, 1, 3)):
        market = smq.Market(epsilon, law)
        B = market.most_that_can_be_spent * np.array([0.02, 0.3, 0.9])
        curve = smq.frontier(market, B)
        for k, solution in enumerate(solved(market, B.tolist())):
            assert curve.purchased_privacy[k] == pytest.approx(solution.purchased_privacy, rel=EXACT)


def test_the_table_is_what_the_record_says(tmp_path):
    curve = smq.frontier(market_of(CLOSED["uniform"]), [0.0, 1.0, 2.5])
    curve.save(tmp_path / "frontier.csv")
    table = read_csv(tmp_path / "frontier.csv")
    assert [float(x) for x in table["purchased_privacy"]] == curve.purchased_privacy.tolist()
    assert [float(x) for x in table["budget_price"]] == curve.budget_price.tolist()


@pytest.mark.parametrize(
    ("budgets", "told"),
    [([], "shape"), ([[1.0]], "shape"), ([1.0, -2.0], "row 2"), ([math.nan], "finite"), (3.0, "shape")],
)
def test_bad_budgets_are_refused(budgets, told):
    with pytest.raises(smq.InputError, match=told):
        smq.frontier(smq.Market([1.0], smq.Uniform(0, 1)), budgets)


@pytest.mark.parametrize("gap", [0.0, 1.0, math.nan])
def test_a_bad_gap_is_refused(gap):
    with pytest.raises(smq.InputError, match="gap"):
        smq.frontier(smq.Market([1.0], smq.Uniform(0, 1)), [0.5], gap=gap)
