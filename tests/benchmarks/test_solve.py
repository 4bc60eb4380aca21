"""One run, side by side: the price search, a copy of ε, a rival written by hand, and the conic program.

    pytest tests/benchmarks/test_solve.py --benchmark-only -s

prints the table of ratios at its end; ratios, not seconds, are what the project claims.
"""

from __future__ import annotations

import numpy as np
import pytest
from measures import best_of, peak_memory
from scipy.optimize import brentq

import smqopt as smq

MILLION = 1_000_000
SHARES = (0.2, 0.5)


def market_of(n):
    return smq.Market(np.random.default_rng(20).random(n), smq.Uniform(0, 1))


def copied(market, budget):
    return np.copy(market.epsilon)


def searched(market, budget):
    return smq.solve(market, budget).thresholds


def rival(market, budget):
    """The rival tuned to U(0,1): reused memory, and a bracket from the closed form of the uncapped answer.

    Caps only lower what is spent at a price, so the uncapped answer √(Σ ε²/(4B)) bounds the price from above. Where nobody is capped it is the
    price itself, up to rounding, hence the widening; that the bracket holds at its lower end is a matter of these instances.
    """
    epsilon = market.epsilon
    theta = np.empty_like(epsilon)

    def respond(price):
        np.multiply(epsilon, 0.5 / price, out=theta)
        np.minimum(theta, 1.0, out=theta)
        return theta

    def excess(price):
        response = respond(price)
        return float(response @ response) - budget

    uncapped = float(np.sqrt(epsilon @ epsilon / (4 * budget)))
    price = brentq(excess, 0.25 * uncapped, uncapped * (1 + 1e-9), xtol=1e-15 * uncapped, rtol=8.9e-16)
    return respond(price)


def bracketed_rival(market, budget):
    """What a good engineer writes: the vectorised response inside brentq, in a bracket that needs no thought."""
    epsilon = market.epsilon

    def excess(price):
        response = np.minimum(epsilon / (2 * price), 1.0)
        return float(np.sum(response * response)) - budget

    price = brentq(excess, 1e-6, 1e3, xtol=1e-15, rtol=8.9e-16)
    return np.minimum(epsilon / (2 * price), 1.0)


ROUTES = {"copy": copied, "smq.solve": searched, "rival": bracketed_rival, "rival, tuned": rival}


@pytest.fixture(scope="module")
def million():
    return market_of(MILLION)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("route", ROUTES)
def test_a_million_owners(benchmark, million, route, share):
    benchmark.group = f"one million owners, budget {share} n"
    thresholds = benchmark.pedantic(ROUTES[route], args=(million, share * MILLION), rounds=20, warmup_rounds=2)
    if "rival" in route:
        ours, expected = best_of(5, lambda: searched(million, share * MILLION))
        assert np.max(np.abs(thresholds - expected)) < 1e-9
        assert benchmark.stats.stats.min >= ours


@pytest.mark.parametrize("share", SHARES)
def test_memory_of_a_million_owners(benchmark, million, share):
    benchmark.group = "memory"

    most = benchmark.pedantic(peak_memory, args=(lambda: smq.solve(million, share * MILLION),), rounds=1)
    arrays = most / million.epsilon.nbytes
    benchmark.extra_info["arrays of n doubles"] = arrays
    print(f"\nmemory at its peak, budget {share} n: {arrays:.2f} arrays of n doubles")
    assert arrays <= 12


@pytest.mark.parametrize("share", SHARES)
def test_against_the_conic_program(benchmark, share):
    benchmark.group = "conic"
    market = market_of(100_000)
    budget = share * market.n
    smq.solve(market, budget)

    def both():
        by_cone, conic = best_of(1, lambda: smq.solve(smq.Program(market, budget), solver="conic"))
        by_search, searched = best_of(10, lambda: smq.solve(market, budget))
        return by_cone / by_search, conic, searched

    ratio, conic, searched = benchmark.pedantic(both, rounds=1)
    benchmark.extra_info["ratio"] = ratio
    print(f"\nconic over price search at n = 100,000, budget {share} n: {ratio:.0f}")
    assert conic.purchased_privacy == pytest.approx(searched.purchased_privacy, rel=1e-5)
    assert ratio >= 1


@pytest.fixture(scope="module", autouse=True)
def table(million):
    yield
    for share in SHARES:
        times = {
            name: best_of(15, lambda route=route, budget=share * MILLION: route(million, budget))[0]
            for name, route in ROUTES.items()
        }
        print(f"\nbudget {share} n, n = 1,000,000, best of 15, in milliseconds and in copies of epsilon:")
        for name, seconds in times.items():
            print(f"  {name:20s} {1e3 * seconds:8.2f} ms {seconds / times['copy']:8.1f} copies")
