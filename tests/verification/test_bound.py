import math

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, strategies as st
from strategies import markets, shares

import smqopt as smq
from smqopt.numeric import precision
from smqopt.valuation import OwnerBalls
from smqopt.verification import upper_bound
from smqopt.verification.enclosures._smooth_terms import _tangent_bound


@given(markets(), shares, st.floats(1e-3, 1e3))
def test_any_price_bounds_the_optimum(market, share, factor):
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    price = solution.budget_price if 0 < solution.budget_price < math.inf else 1.0
    assert upper_bound(market, budget, factor * price) >= solution.purchased_privacy


@given(markets(), st.floats(0.01, 0.9), st.integers(0, 2**32 - 1))
def test_no_feasible_thresholds_exceed_the_bound(market, share, seed):
    """Thresholds from nowhere, scaled into the budget: still below the bound at the optimal price."""
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    rng = np.random.default_rng(seed)
    places = rng.random((50, market.n))
    counts = 1 if market.multiplicity is None else market.multiplicity
    bound = upper_bound(market, budget, solution.budget_price)
    for place in places:
        for shrink in np.linspace(0, 1, 21):
            theta = market.low + shrink * place * (market.high - market.low)
            q = market.valuation.cdf(theta)
            if np.sum(counts * theta * q) <= budget:
                assert np.sum(counts * market.epsilon * q) <= bound * (1 + 1e-14)


@pytest.mark.parametrize("price", [0.05, 0.3, 0.8, 2.0])
def test_the_bound_is_the_dual_function(price):
    """λB + Σ max_q (εq − λC(q)), each maximum found by mpmath on its own."""
    epsilon, budget = [0.3, 0.9, 0.6], 1.0
    market = smq.Market(epsilon, smq.ByOwner([smq.Uniform(1, 2), smq.Power(0.5), smq.TruncatedExponential(3, 0.5, 2)]))
    quantiles = [lambda q: 1 + q, lambda q: q**2, lambda q: 0.5 - mpmath.log1p(-q * -mpmath.expm1(-4.5)) / 3]
    with mpmath.workdps(40):
        total = mpmath.mpf(price) * budget
        for e, quantile in zip(epsilon, quantiles, strict=True):
            best = mpmath.mpf(0)
            low, high = mpmath.mpf(0), mpmath.mpf(1)
            h = lambda q, e=e, quantile=quantile: e * q - price * q * quantile(q)  # noqa: E731
            for _ in range(150):  # ternary search: h is concave
                a, b = low + (high - low) / 3, high - (high - low) / 3
                low, high = (a, high) if h(a) < h(b) else (low, b)
            best = max(best, h(low), h(mpmath.mpf(1)))
            total += best
        exact = float(total)
    bound = upper_bound(market, budget, price)
    assert exact <= bound <= exact * (1 + 1e-13)


def test_what_is_no_price_bounds_nothing():
    market = smq.Market([1.0], smq.Uniform(0, 1))
    assert upper_bound(market, 0.5, -1.0) == math.inf
    assert upper_bound(market, 0.5, math.nan) == math.inf
    assert upper_bound(market, 0.5, math.inf) == math.inf
    assert upper_bound(market, 0.0, math.inf) == 0.0
    assert 1.0 <= upper_bound(market, 2.0, 0.0) <= 1.0 + 1e-14


class Careless(smq.Valuation):
    """A law on [0, 1] with J = 2θ whose answers to a price miss by a stated factor."""

    name = "careless"
    low, high = 0.0, 1.0

    def __init__(self, factor):
        self.factor = factor

    def cdf(self, t):
        return np.clip(np.asarray(t, dtype=float), 0.0, 1.0)

    def pdf(self, t):
        theta = np.asarray(t, dtype=float)
        return np.where((theta >= 0) & (theta <= 1), 1.0, 0.0)

    def virtual_cost(self, t):
        return 2.0 * np.asarray(t, dtype=float)

    def inverse_virtual_cost(self, v):
        return np.clip(self.factor * 0.5 * np.asarray(v, dtype=float), 0.0, 1.0)

    def regularity(self):
        return smq.Regular("J = 2θ")


@pytest.mark.parametrize("factor", [0.5, 0.9, 0.99, 1.01, 1.1, 2.0])
def test_the_bound_holds_however_wrong_the_answers_to_a_price_are(factor):
    market = smq.Market([0.2, 0.5, 0.7], smq.Uniform(0, 1))
    true = upper_bound(market, 0.4, 0.8)
    market.valuation = Careless(factor)  # a market would refuse it
    careless = upper_bound(market, 0.4, 0.8)
    assert true * (1 - 1e-13) <= careless <= 3 * true


@pytest.mark.parametrize("high", [0.25, 4.0])
@pytest.mark.parametrize("tangent", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("relative", [0.3, 0.55, 0.9])
def test_a_line_at_any_threshold_bounds_the_top(high, tangent, relative):
    """Of U(0, high), e = 1 and price p: the top is 1/(4 p high), at q = 1/(2 p high), or 1 − p high at q = 1."""
    own = OwnerBalls(lambda t: t / arb(high), lambda t: 1 / arb(high) + 0 * t, arb(0), arb(1))
    price = relative / high
    top = 1 / (4 * relative) if relative > 0.5 else 1 - relative
    with precision(128):
        found = _tangent_bound(own, arb(1), arb(price), tangent * high, None, 0.0, high)
    assert not found < top * (1 - 1e-12)
