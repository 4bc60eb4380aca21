import json
import math
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from strategies import REFERENCE, laws, markets, reference_market, shares

import smqopt as smq
from smqopt.errors import InputError


@pytest.mark.parametrize("instance", REFERENCE, ids=lambda instance: instance["name"])
def test_reference_optima(instance):
    market = reference_market(instance)
    solution = smq.solve(market, float(instance["budget"]))
    thresholds = np.array([float(x) for x in instance["thresholds"]])
    assert solution.purchased_privacy == pytest.approx(float(instance["objective"]), rel=1e-12, abs=0)
    assert np.max(np.abs(solution.thresholds - thresholds) / (market.high - market.low)) <= 1e-9
    assert solution.budget_price == pytest.approx(float(instance["budget_price"]), rel=1e-9, abs=0)
    assert solution.total_spend == pytest.approx(float(instance["spend"]), rel=1e-12, abs=0)


@given(markets(), shares)
def test_certificate_is_valid_and_the_budget_is_met_from_below(market, share):
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    counts = np.ones(market.n) if market.multiplicity is None else market.multiplicity
    assert math.fsum((solution.spend * counts).tolist()) <= budget
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.purchased_privacy <= certificate.upper_bound
    if solution.status is smq.Status.BINDING:  # whatever the order of summation
        assert float(np.sum(solution.spend * counts)) <= budget
        assert sum((solution.spend * counts).tolist()) <= budget
        theta, law = solution.thresholds, market.valuation
        grain = np.spacing(theta) * (
            law.cdf(theta) + theta * law.pdf(np.maximum(theta, np.nextafter(market.low, np.inf)))
        )
        assert budget - solution.total_spend <= 1e-12 * budget + float(np.sum(grain * counts))


@given(markets(common=True), st.floats(1e-3, 0.999))
def test_thresholds_rise_with_epsilon_for_a_common_law(market, share):
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    ordered = solution.thresholds[np.argsort(market.epsilon, kind="stable")]
    assert np.min(np.diff(ordered), initial=0.0) >= -1e-14 * market.valuation.width


@given(markets(), shares, shares)
def test_thresholds_rise_with_the_budget(market, share, other):
    low, high = (smq.solve(market, s * market.most_that_can_be_spent) for s in sorted([share, other]))
    assert np.all(high.thresholds - low.thresholds >= -1e-14 * (market.high - market.low))


@given(markets(), st.floats(1e-3, 0.999), st.integers(1, 40))
def test_thresholds_rise_with_the_budget_however_close(market, share, steps):
    budget = share * market.most_that_can_be_spent
    near = budget * (1.0 + steps * 2.0**-50)
    low, high = smq.solve(market, budget), smq.solve(market, near)
    assert np.all(high.thresholds - low.thresholds >= -1e-14 * (market.high - market.low))


def rescaled(market, factor):
    law = market.valuation.rescale(factor)
    return smq.Market(market.epsilon, law, multiplicity=market.multiplicity)


@given(markets(), shares, st.integers(-26, 26))
def test_units_of_powers_of_two_change_no_bit(market, share, exponent):
    factor = 2.0**exponent
    budget = share * market.most_that_can_be_spent
    here, there = smq.solve(market, budget), smq.solve(rescaled(market, factor), factor * budget)
    assert there.status is here.status
    assert np.array_equal(there.acceptance, here.acceptance)
    assert np.array_equal(there.thresholds, factor * here.thresholds)
    assert there.budget_price == here.budget_price / factor
    assert there.purchased_privacy == here.purchased_privacy


@given(
    markets(), st.one_of(st.floats(1e-3, 0.999), st.sampled_from([0.0, 1.5])), st.floats(-8, 8).map(lambda p: 10.0**p)
)
def test_units_change_nothing_else(market, share, factor):
    budget = share * market.most_that_can_be_spent
    here, there = smq.solve(market, budget), smq.solve(rescaled(market, factor), factor * budget)
    assert there.status is here.status
    width = market.high - market.low
    assert np.max(np.abs(there.thresholds / factor - here.thresholds) / width) <= 1e-12
    assert there.purchased_privacy == pytest.approx(here.purchased_privacy, rel=1e-12, abs=0)
    assert there.total_spend == pytest.approx(factor * here.total_spend, rel=1e-12, abs=0)


@given(markets(), shares, st.integers(-30, 30))
def test_units_of_privacy_scale_the_price_only(market, share, exponent):
    factor = 2.0**exponent
    budget = share * market.most_that_can_be_spent
    other = smq.Market(factor * market.epsilon, market.valuation, multiplicity=market.multiplicity)
    here, there = smq.solve(market, budget), smq.solve(other, budget)
    assert np.array_equal(there.thresholds, here.thresholds)
    assert there.budget_price == factor * here.budget_price


@given(markets(), shares, st.randoms(use_true_random=False))
def test_permuting_owners_permutes_the_answer(market, share, random):
    order = np.array(random.sample(range(market.n), market.n))
    counts = None if market.multiplicity is None else market.multiplicity[order]
    shuffled = smq.Market(market.epsilon[order], market.valuation.take(order), multiplicity=counts)
    budget = share * market.most_that_can_be_spent
    here, there = smq.solve(market, budget), smq.solve(shuffled, budget)
    assert there.status is here.status
    width = market.high - market.low
    assert np.max(np.abs(there.thresholds - here.thresholds[order]) / width[order]) <= 1e-14 + 2 * np.max(
        np.spacing(market.high) / width
    )


@given(st.lists(laws(None), min_size=1, max_size=6), st.data())
def test_multiplicity_is_repetition(families, data):
    n = len(families)
    epsilon = data.draw(st.lists(st.floats(0.1, 2.0), min_size=n, max_size=n))
    counts = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    market = smq.Market(epsilon, smq.ByOwner(families), multiplicity=counts)
    budget = data.draw(st.floats(1e-2, 0.99)) * market.most_that_can_be_spent
    rows, owners = smq.solve(market, budget), smq.solve(market.expand(), budget)
    width = (market.high - market.low).max()
    assert np.allclose(np.repeat(rows.thresholds, counts), owners.thresholds, rtol=0, atol=1e-13 * width)
    assert rows.purchased_privacy == pytest.approx(owners.purchased_privacy, rel=1e-12)


def test_an_independent_bisection_agrees():
    """mpmath, 40 digits, on a market of three families with a low end above zero."""
    rate, low, high, k = 3.0, 0.5, 2.0, 0.5
    epsilon, budget = [0.3, 0.9, 0.6, 0.7], 1.75
    market = smq.Market(
        epsilon,
        smq.ByOwner(
            [smq.Uniform(0, 1), smq.TruncatedExponential(rate, low, high), smq.Power(k, 1, 3), smq.Uniform(1, 2)]
        ),
    )
    with mpmath.workdps(40):
        curves = [
            (0, 1, lambda t: t, lambda t: 2 * t),
            (
                low,
                high,
                lambda t: mpmath.expm1(-rate * (t - low)) / mpmath.expm1(-rate * (high - low)),
                lambda t: t + mpmath.expm1(rate * (t - low)) / rate,
            ),
            (1, 3, lambda t: ((t - 1) / 2) ** mpmath.mpf(k), lambda t: t + (t - 1) / k),
            (1, 2, lambda t: t - 1, lambda t: 2 * t - 1),
        ]

        def threshold(curve, v):
            a, b, _, J = curve
            if J(mpmath.mpf(a)) >= v:
                return mpmath.mpf(a)
            if J(mpmath.mpf(b)) <= v:
                return mpmath.mpf(b)
            return mpmath.findroot(lambda t: J(t) - v, (a, b), solver="anderson", tol=1e-60)

        def spend(price):
            thetas = [threshold(curve, e / price) for curve, e in zip(curves, map(mpmath.mpf, epsilon), strict=True)]
            return sum(theta * curve[2](theta) for curve, theta in zip(curves, thetas, strict=True)), thetas

        price = mpmath.findroot(lambda p: spend(p)[0] - budget, (0.05, 2), solver="anderson", tol=1e-50)
        thetas = spend(price)[1]
    solution = smq.solve(market, budget)
    assert solution.budget_price == pytest.approx(float(price), rel=1e-13)
    assert solution.thresholds == pytest.approx([float(theta) for theta in thetas], rel=1e-13)


def test_zero_budget_makes_no_offer():
    solution = smq.solve(smq.Market([0.5, 1.0], smq.Uniform(1, 2)), 0)
    assert solution.status is smq.Status.ZERO_BUDGET
    assert not solution.offered.any()
    assert solution.thresholds.tolist() == [1.0, 1.0]
    assert solution.budget_price == math.inf
    assert smq.verify(solution).valid


def test_slack_budget_buys_every_owner_with_privacy_to_sell():
    market = smq.Market([0.0, 0.2, 0.5, 1.0], smq.Uniform(0, 1))
    solution = smq.solve(market, 3.5)  # errata E3
    assert solution.status is smq.Status.SLACK
    assert solution.acceptance.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert solution.budget_price == 0
    assert solution.total_spend == 3.0
    assert smq.solve(market, math.nextafter(3.0, 0)).status is smq.Status.BINDING
    assert smq.solve(market, 3.0).status is smq.Status.SLACK


def test_no_privacy_to_sell_is_slack():
    solution = smq.solve(smq.Market([0.0, 0.0], smq.Uniform(0, 1)), 1.0)
    assert solution.status is smq.Status.SLACK
    assert solution.purchased_privacy == 0
    assert smq.verify(solution).valid


def test_a_vacuous_stationary_point_is_not_taken():
    """Errata E15: θ = (0, 1) meets the printed system with value 1; the optimum is 2^(1/3)."""
    solution = smq.solve(smq.Market([1.0, 1.0], smq.Power(2)), 1.0)
    assert solution.purchased_privacy == pytest.approx(2 ** (1 / 3), rel=1e-13)


@pytest.mark.parametrize("budget", [5e-324, 1e-300, 1e-12, 1.0, 1e5 - 1e-9, math.nextafter(1e5, 0)])
@pytest.mark.parametrize(
    "law", [smq.Uniform(0, 1), smq.Power(3), smq.TruncatedExponential(1e-8), smq.TruncatedExponential(800)]
)
def test_extreme_budgets_at_low_zero(law, budget):
    market = smq.Market(10.0 ** np.linspace(-12, 0, 100_000), law)
    solution = smq.solve(market, budget)
    assert solution.total_spend <= budget
    assert budget < 1e-300 or solution.total_spend >= budget * (1 - 1e-12)


def test_multipliers_satisfy_stationarity_in_acceptance():
    market = smq.Market([0.01, 0.5, 5.0], smq.Uniform(1, 2))
    solution = smq.solve(market, 2.2)
    residual = (
        market.epsilon
        - solution.budget_price * market.valuation.virtual_cost(solution.thresholds)
        + solution.lower_multiplier
        - solution.upper_multiplier
    )
    assert np.max(np.abs(residual)) <= 1e-14
    assert solution.lower_multiplier[0] > 0
    assert solution.acceptance[0] == 0
    assert solution.upper_multiplier[2] > 0
    assert solution.acceptance[2] == 1


def test_the_price_is_the_slope_of_the_value():
    market = smq.Market(
        [0.2, 0.5, 1.0, 0.7],
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.TruncatedExponential(2), smq.Uniform(1, 2)]),
    )
    step = 1e-5
    slope = (smq.solve(market, 1 + step).purchased_privacy - smq.solve(market, 1 - step).purchased_privacy) / (2 * step)
    assert slope == pytest.approx(smq.solve(market, 1.0).budget_price, rel=1e-8)


def test_multipliers_are_the_slopes_in_acceptance():
    """The upper multiplier is what one more unit of acceptance at the cap would be worth (signs: errata E2)."""
    market = smq.Market([0.2, 4.0], smq.Uniform(0, 1))
    solution = smq.solve(market, 1.2)
    assert solution.acceptance[1] == 1

    def value(cap):  # owner 2 held at acceptance `cap`, the rest of the budget spent on owner 1
        return 0.2 * math.sqrt(1.2 - cap**2) + 4.0 * cap

    slope = (value(1.0) - value(1.0 - 1e-7)) / 1e-7
    assert solution.upper_multiplier[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("budget", "rule"),
    [
        ("1.0", "must be a number"),
        (-1.0, "≥ 0"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        (True, "number"),
        (None, "missing"),
    ],
)
def test_bad_budgets(budget, rule):
    with pytest.raises(InputError, match=rule):
        smq.solve(smq.Market([1.0], smq.Uniform(0, 1)), budget)


def test_bad_arguments():
    market = smq.Market([1.0], smq.Uniform(0, 1))
    with pytest.raises(InputError, match="did you mean 'dual'"):
        smq.solve(market, 1.0, solver="dul")
    with pytest.raises(InputError, match="not known to the dual solver"):
        smq.solve(market, 1.0, max_iters=3)
    with pytest.raises(InputError, match="Market or a Program"):
        smq.solve([1.0], 1.0)


def test_solving_loads_neither_cvxpy_nor_sympy():
    code = (
        "import json, sys, smqopt as smq; heavy = {'cvxpy', 'sympy', 'scipy.stats', 'matplotlib'};"
        "before = sorted(heavy & set(sys.modules));"
        "smq.solve(smq.Market([.5, 1.], smq.Uniform(0, 1)), .5); print(json.dumps([before, sorted(heavy & set(sys.modules))]))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == [[], []]
