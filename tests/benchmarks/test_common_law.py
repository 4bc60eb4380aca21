"""One run, side by side: a million owners of one Beta(2, 3) law by the price search and by rivals, and a million supports.

    pytest tests/benchmarks/test_common_law.py --benchmark-only -s

prints the table of ratios at its end; ratios, not seconds, are what the project claims. Every call of the price search has a law that it has
not seen, so that the making of its tables is in its time, as the making of the rivals' is in theirs. The certificate takes minutes: it
answers a million owners by the law itself, many times over.
"""

from __future__ import annotations

import math
import time
import tracemalloc

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.optimize.elementwise import find_root
from scipy.special import beta, betainc

import smqopt as smq

MILLION = 1_000_000
BUDGET = 0.2 * MILLION
KNOTS = 2_000
TIMES: dict[str, float] = {}
ANSWERS: dict[str, np.ndarray] = {}


def virtual_cost(t):
    """θ + F/f of Beta(2, 3), written out by hand."""
    return t + t * (6.0 - 8.0 * t + 3.0 * t * t) / (12.0 * (1.0 - t) ** 2)


def virtual_cost_of_scipy(t):
    """The same for any shapes, from SciPy's special functions."""
    return t + betainc(2.0, 3.0, t) * beta(2.0, 3.0) / (t * (1.0 - t) ** 2)


def searched(epsilon):
    return smq.solve(smq.Market(epsilon, smq.Beta(2, 3)), BUDGET).thresholds


def by_brentq(epsilon, threshold, low, high):
    def excess(price):
        theta = threshold(epsilon / price)
        return float(np.sum(theta * betainc(2.0, 3.0, theta))) - BUDGET

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


def run(benchmark, name, function, *args, rounds):
    ANSWERS[name] = benchmark.pedantic(function, args=args, rounds=rounds, warmup_rounds=1 if rounds > 1 else 0)
    TIMES[name] = benchmark.stats.stats.min


@pytest.fixture(scope="module")
def epsilon():
    return np.random.default_rng(20).random(MILLION)


def test_price_search(benchmark, epsilon):
    benchmark.group = "a million owners of Beta(2, 3)"
    laws = iter([smq.Beta(2, 3) for _ in range(20)])
    markets = iter([smq.Market(epsilon, next(laws)) for _ in range(20)])
    run(benchmark, "smq.solve", lambda: smq.solve(next(markets), BUDGET).thresholds, rounds=12)


def test_interpolated_rival(benchmark, epsilon):
    benchmark.group = "a million owners of Beta(2, 3)"
    run(benchmark, "PCHIP in brentq", interpolated, epsilon, rounds=3)
    assert np.max(np.abs(ANSWERS["PCHIP in brentq"] - searched(epsilon))) < 1e-4  # it is not exact


@pytest.mark.parametrize(
    ("name", "cost"), [("find_root, J by hand", virtual_cost), ("find_root, J of SciPy", virtual_cost_of_scipy)]
)
def test_vectorised_rival(benchmark, epsilon, name, cost):
    benchmark.group = "a million owners of Beta(2, 3)"
    run(benchmark, name, vectorised, epsilon, cost, rounds=1)
    assert np.max(np.abs(ANSWERS[name] - searched(epsilon))) < 1e-8


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


def test_one_support_for_all(benchmark, epsilon):
    benchmark.group = "uniform supports"
    market = smq.Market(epsilon, smq.Uniform(0, 1))
    run(benchmark, "U(0, 1)", lambda: smq.solve(market, 0.5 * BUDGET).thresholds, rounds=20)


def test_a_million_supports(benchmark, epsilon):
    benchmark.group = "uniform supports"
    rng = np.random.default_rng(21)
    low = rng.random(MILLION)
    market = smq.Market(epsilon, smq.Uniform(low, low + rng.uniform(0.5, 1.5, MILLION)))
    run(benchmark, "a million supports", lambda: smq.solve(market, BUDGET).thresholds, rounds=20)


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

    def peak():
        tracemalloc.start()
        smq.solve(market, budget)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / epsilon.nbytes

    arrays = benchmark.pedantic(peak, rounds=1)
    benchmark.extra_info["arrays of n doubles"] = arrays
    print(f"\nmemory at its peak, {name}: {arrays:.2f} arrays of n doubles")
    assert arrays <= 12


def test_ratios(benchmark):
    """What the project claims, from the times of this run."""
    benchmark.pedantic(time.perf_counter, rounds=1)
    fast = TIMES["smq.solve"]
    print("\nn = 1,000,000, best of the rounds:")
    for name in ("smq.solve", "PCHIP in brentq", "find_root, J by hand", "find_root, J of SciPy"):
        print(f"  {name:22s} {1e3 * TIMES[name]:10.1f} ms {TIMES[name] / fast:8.1f} times smq.solve")
    for name in ("U(0, 1)", "a million supports"):
        print(f"  {name:22s} {1e3 * TIMES[name]:10.1f} ms {TIMES[name] / TIMES['U(0, 1)']:8.1f} times U(0, 1)")
    assert TIMES["PCHIP in brentq"] >= 8 * fast
    assert TIMES["find_root, J of SciPy"] >= 300 * fast
    assert TIMES["a million supports"] <= 10 * TIMES["U(0, 1)"]
