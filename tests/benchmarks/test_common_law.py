"""One run, side by side: a million owners of one Beta(2, 3) law by the price search and by rivals, and a million supports.

    pytest tests/benchmarks/test_common_law.py --benchmark-only -s

prints ratios; ratios, not seconds, are what the project claims. Every call of the price search has a law that it has
not seen, so that the making of its tables is in its time, as the making of the rivals' is in theirs. The certificate takes minutes: it
answers a million owners by the law itself, many times over.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from measures import best_of, peak_memory
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.optimize.elementwise import find_root
from scipy.special import beta, betainc

import smqopt as smq

MILLION = 1_000_000
BUDGET = 0.2 * MILLION
FEWER = 100_000
"""Owners whom the slow rivals answer: their time goes with owners."""
KNOTS = 2_000


def virtual_cost(t):
    """θ + F/f of Beta(2, 3), written out by hand."""
    return t + t * (6.0 - 8.0 * t + 3.0 * t * t) / (12.0 * (1.0 - t) ** 2)


def virtual_cost_of_scipy(t):
    """The same for any shapes, from SciPy's special functions."""
    return t + betainc(2.0, 3.0, t) * beta(2.0, 3.0) / (t * (1.0 - t) ** 2)


def by_brentq(epsilon, threshold, low, high):
    def excess(price):
        theta = threshold(epsilon / price)
        return float(np.sum(theta * betainc(2.0, 3.0, theta))) - 0.2 * epsilon.size

    price = brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16)
    return threshold(epsilon / price)


def interpolated(epsilon):
    """The best rival by hand: the inverse of J through 2,000 knots inside brentq; it knows a bracket of the price."""
    knots = np.linspace(0.0, 0.999, KNOTS)
    inverse = PchipInterpolator(virtual_cost(knots), knots)
    return by_brentq(epsilon, inverse, 0.1, 2.0)


def vectorised(epsilon, cost):
    """SciPy's vectorised root finder for each owner's threshold, inside brentq over the price, in full: nothing extrapolated."""

    def threshold(v):
        found = find_root(
            lambda t, v: cost(t) - v, (np.full_like(v, 1e-9), np.full_like(v, 0.999)), args=(np.maximum(v, 1e-8),)
        )
        return found.x

    return by_brentq(epsilon, threshold, 0.1, 2.0)


def fresh(epsilon):
    """Solve with a law that has no tables yet, made before the clock starts."""
    markets = iter([smq.Market(epsilon, smq.Beta(2, 3)) for _ in range(20)])
    return lambda: smq.solve(next(markets), 0.2 * epsilon.size).thresholds


def beside(benchmark, ours, name):
    """Print how many times as long as the price search a rival took; it is not faster."""
    seconds = benchmark.stats.stats.min
    print(f"\n{name}: {1e3 * seconds:.1f} ms, {seconds / ours[0]:.1f} times smq.solve at {1e3 * ours[0]:.1f} ms")
    assert seconds >= ours[0]


@pytest.fixture(scope="module")
def epsilon():
    return np.random.default_rng(20).random(MILLION)


@pytest.fixture(scope="module")
def ours(epsilon):
    """Return the seconds of the price search, and its thresholds."""
    return best_of(12, fresh(epsilon))


def test_price_search(benchmark, epsilon):
    benchmark.group = "a million owners of Beta(2, 3)"
    benchmark.pedantic(fresh(epsilon), rounds=12, warmup_rounds=1)


def test_interpolated_rival(benchmark, epsilon, ours):
    benchmark.group = "a million owners of Beta(2, 3)"
    thresholds = benchmark.pedantic(interpolated, args=(epsilon,), rounds=3, warmup_rounds=1)
    assert np.max(np.abs(thresholds - ours[1])) < 1e-4  # it is not exact
    beside(benchmark, ours, "PCHIP in brentq")


@pytest.mark.parametrize(
    ("name", "cost"), [("find_root, J by hand", virtual_cost), ("find_root, J of SciPy", virtual_cost_of_scipy)]
)
def test_vectorised_rival(benchmark, epsilon, name, cost):
    benchmark.group = f"{FEWER:,} owners of Beta(2, 3)"
    ours = best_of(12, fresh(epsilon[:FEWER]))
    thresholds = benchmark.pedantic(vectorised, args=(epsilon[:FEWER], cost), rounds=1)
    assert np.max(np.abs(thresholds - ours[1])) < 1e-8
    beside(benchmark, ours, f"{name}, n = {FEWER:,}")


def test_certificate(benchmark, epsilon):
    benchmark.group = "certificate"
    solution = smq.solve(smq.Market(epsilon, smq.Beta(2, 3)), BUDGET)
    certificate = benchmark.pedantic(smq.verify, args=(solution,), rounds=1)
    assert certificate.valid, certificate.reasons
    assert certificate.gap <= 1e-13
    assert math.fsum(solution.spend.tolist()) <= BUDGET
    distance = next(check.value for check in certificate.checks if check.name == "threshold")
    print(f"\ncertificate: gap {certificate.gap:.2g}, |θ − θ(λ)| {distance:.2g} of the width, "
          f"spend {1 - solution.total_spend / BUDGET:.2g} below the budget")  # fmt: skip


def test_a_million_supports(benchmark, epsilon):
    benchmark.group = "uniform supports"
    common = smq.Market(epsilon, smq.Uniform(0, 1))
    rng = np.random.default_rng(21)
    low = rng.random(MILLION)
    market = smq.Market(epsilon, smq.Uniform(low, low + rng.uniform(0.5, 1.5, MILLION)))
    one, _ = best_of(20, lambda: smq.solve(common, 0.5 * BUDGET))
    benchmark.pedantic(smq.solve, args=(market, BUDGET), rounds=20, warmup_rounds=1)
    many = benchmark.stats.stats.min
    print(f"\na million supports: {1e3 * many:.1f} ms, {many / one:.1f} times one support at {1e3 * one:.1f} ms")


def laws_in_closed_form():
    rng = np.random.default_rng(22)
    low, k = rng.random(MILLION), rng.uniform(0.5, 4, MILLION)
    high = low + rng.uniform(0.5, 1.5, MILLION)
    yield "uniform", smq.Uniform(0.5, 2)
    yield "uniforms", smq.Uniform(low, high)
    yield "power", smq.Power(2, 0.5, 2)
    yield "powers", smq.Power(k, low, high)
    yield "truncated exponential", smq.TruncatedExponential(2, 0.5, 2)
    yield "truncated exponentials", smq.TruncatedExponential(k, low, high)
    yield "triangular", smq.Triangular(0.5, 1, 2)
    yield "triangulars", smq.Triangular(low, low + 0.3 * (high - low), high)
    yield "histogram", smq.PiecewiseUniform([0.5, 1, 2], [0.5, 0.5])
    yield "beta, by table", smq.Beta(2, 3)


@pytest.mark.parametrize("name", [name for name, _ in laws_in_closed_form()])
def test_memory(benchmark, epsilon, name):
    benchmark.group = "memory"
    market = smq.Market(epsilon, dict(laws_in_closed_form())[name])
    budget = 0.2 * market.most_that_can_be_spent

    arrays = benchmark.pedantic(peak_memory, args=(lambda: smq.solve(market, budget),), rounds=1) / epsilon.nbytes
    benchmark.extra_info["arrays of n doubles"] = arrays
    print(f"\nmemory at its peak, {name}: {arrays:.2f} arrays of n doubles")
    assert arrays <= 12
