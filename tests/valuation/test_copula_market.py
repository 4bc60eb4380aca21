"""The market of errata E4 and E5: θ and ε tied by a Gaussian copula; spend by an independent quadrature and by simulation.

Nothing of the law under test is asked for: F(θ | ε) is the integral of the bivariate normal density over that of ε, and valuations are drawn from the
bivariate normal law, then put through the mechanism.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr, ndtri

import smqopt as smq

UNIT = smq.Uniform(0, 1)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
PANELS = 8
FAR = 9.0
"""Beyond so many deviations a normal law has less than 1e-18 of its mass."""
IRREGULAR = {-0.2: 0.25, -0.5: 0.07, -0.9: 0.0}
"""Shares of owners whose law is irregular, as errata E5 prints them; at −0.9 it is one in eight thousand."""


def gaussian(rho):
    """r and √(1 − r²)."""
    r = 2 * math.sin(math.pi * rho / 6)
    return r, math.sqrt((1 - r) * (1 + r))


def conditional_cdf(rho, epsilon, theta):
    """∫ φ₂(x, z; r) dx/φ(z) from −∞ to the score of θ, by Gauss's rule on panels; shape (n,)."""
    r, s = gaussian(rho)
    z, top = ndtri(epsilon), ndtri(theta)
    start = r * z - FAR * s
    top = np.minimum(top, r * z + FAR * s)
    width = np.maximum(top - start, 0.0) / PANELS
    total = np.zeros_like(z)
    for panel in range(PANELS):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            x = start + width * (panel + 0.5 * (1 + node))
            joint = np.exp(-(x * x - 2 * r * x * z + z * z) / (2 * s * s)) / (2 * math.pi * s)
            total += weight * joint
    return total * width / 2 * math.sqrt(2 * math.pi) * np.exp(z * z / 2)


def expected_spend(rho, solution):
    """Σ θ* F(θ* | ε), lotteries weighed by their probabilities, and the variance of what is paid."""
    epsilon = solution.market.epsilon
    mean = solution.thresholds * conditional_cdf(rho, epsilon, solution.thresholds)
    square = solution.thresholds * mean
    mean[~solution.offered] = square[~solution.offered] = 0.0
    if solution.lottery is not None:
        drawn = solution.lottery
        mean[drawn.owner] = square[drawn.owner] = 0.0
        for threshold, acceptance, p in (
            (drawn.low, drawn.low_acceptance, drawn.probability_of_low),
            (drawn.high, drawn.high_acceptance, 1 - drawn.probability_of_low),
        ):
            paid = p * threshold * (acceptance > 0) * conditional_cdf(rho, epsilon[drawn.owner], threshold)
            mean[drawn.owner] += paid
            square[drawn.owner] += threshold * paid
    return math.fsum(mean), math.fsum(square - mean**2)


def paid_on_average(rho, certificate, runs, seed):
    """The mean of what the mechanism pays over so many draws of all valuations given ε, lotteries drawn too."""
    rng = np.random.default_rng(seed)
    r, s = gaussian(rho)
    z = ndtri(certificate.solution.market.epsilon)
    draws = (ndtr(r * z + s * rng.standard_normal(z.size)) for _ in range(runs))
    return math.fsum(smq.procure(certificate, theta, rng=rng).total_payment for theta in draws) / runs


def falls_somewhere(rho, epsilon):
    """Whether J falls by far more than rounding, on a fine scan over the scores of θ given ε; shape (n,)."""
    r, s = gaussian(rho)
    z = ndtri(epsilon)
    highest, falls = np.zeros_like(z), np.zeros(z.size, dtype=bool)
    for y in np.linspace(-4.0, 12.0, 1601):
        x = s * y + r * z
        mills = np.exp(log_ndtr(y) + y * y / 2) * math.sqrt(2 * math.pi)
        J = ndtr(x) + s * mills * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        falls |= highest * (1 - 1e-9) > J
        highest = np.maximum(highest, J)
    return falls


def market(rho, n, seed=5):
    epsilon = np.random.default_rng(seed).random(n)
    return smq.Market(epsilon, smq.GaussianCopula(valuation=UNIT, requirement=UNIT, correlation=rho).given(epsilon))


def long(*values):
    return pytest.param(*values, marks=pytest.mark.exhaustive)


def check_spend(rho, solution, runs):
    """Both ways to B, and a certificate."""
    budget = solution.budget
    mean, variance = expected_spend(rho, solution)
    assert abs(mean - budget) <= 1e-9 * budget
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    error = math.sqrt(variance / runs)
    assert error < 0.02 * budget  # so that three of them would show an overspending of 6 %
    assert abs(paid_on_average(rho, certificate, runs, seed=17) - budget) <= 3 * error


SHORT = [(1_500, rho, share, 60) for rho in IRREGULAR for share in (0.1, 0.5)]
LONG = [long(100_000, rho, share, 20) for rho in IRREGULAR for share in (0.1, 0.5)]


@pytest.mark.parametrize(
    ("n", "rho", "share", "runs"), [*SHORT, pytest.param(100_000, -0.5, 0.1, 4, marks=pytest.mark.slow), *LONG]
)
def test_spend_is_the_budget(n, rho, share, runs):
    solution = smq.solve(market(rho, n), share * n)
    assert solution.status is smq.Status.BINDING
    check_spend(rho, solution, runs)


@pytest.mark.parametrize("n", [1_500, long(100_000)])
@pytest.mark.parametrize("rho", IRREGULAR)
def test_irregular_owners_are_among_those_who_are_offered_a_price(rho, n):
    one = market(rho, n)
    falls = falls_somewhere(rho, one.epsilon)
    share = np.mean(falls)
    assert abs(share - IRREGULAR[rho]) <= 0.005 + 3 * math.sqrt(
        IRREGULAR[rho] / n
    )  # half a unit of what is printed, and the draw of ε
    pieces = one.valuation.flat_pieces()
    assert (
        np.array_equal(np.unique(pieces.owner), np.flatnonzero(falls)) or rho == -0.9
    )  # where the deepest fall is below the scan's
    assert isinstance(one.valuation.regularity(), smq.Irregular)
    if rho == -0.9:
        return
    assert falls[one.valuation.regularity().owner]
    for budget in (0.3 * n, 0.7 * n):
        q = smq.solve(one, budget).acceptance[falls]
        assert np.count_nonzero((q > 0) & (q < 1)) > 0.05 * q.size


@pytest.mark.parametrize("rho", [-0.2, -0.5])
def test_tied_irregular_owners_draw_lots_and_the_budget_holds(rho):
    """Half the owners announce one low ε; the budget falls within their flat piece."""
    epsilon = np.random.default_rng(3).random(1_500)
    epsilon[::2] = 0.01
    law = smq.GaussianCopula(valuation=UNIT, requirement=UNIT, correlation=rho).given(epsilon)
    pieces = law.flat_pieces()
    tied = np.flatnonzero(pieces.owner % 2 == 0)
    assert tied.size == 750
    k = tied[0]
    price = 0.01 / pieces.slope[k]  # λ at which the tied owners are indifferent
    others = np.flatnonzero(np.arange(1_500) % 2)
    theta = law.take(others).inverse_virtual_cost(epsilon[others] / price)
    q = law.take(others).cdf(theta)
    middle = 0.5 * (pieces.low[k] * pieces.low_acceptance[k] + pieces.high[k] * pieces.high_acceptance[k])
    solution = smq.solve(smq.Market(epsilon, law), float(theta @ q) + 750 * middle)
    assert solution.lottery is not None
    assert np.array_equal(solution.lottery.owner, np.arange(0, 1_500, 2))
    assert np.ptp(solution.lottery.probability_of_low) == 0
    assert 0.4 < solution.lottery.probability_of_low[0] < 0.6
    check_spend(rho, solution, 100)


@pytest.mark.parametrize(
    ("share", "least", "most"),
    [(0.1, 0.12, 0.15), (0.2, 0.12, 0.15), (0.3, 0.12, 0.15), (0.4, 0.12, 0.15), (0.5, 0.12, 0.15), (0.7, 0.07, 0.09)],
)
def test_knowing_the_law_given_epsilon_buys_more_privacy(share, least, most):
    """E4 at ρ = −0.9, n = 1,500: against the marginal rule's thresholds, scaled until their true expected spend is the budget.

    ε stands evenly, so that no draw of it adds noise. The printed figures are sizes, not digits: a point of room at each end.
    """
    rho, n = -0.9, 1_500
    epsilon = (np.arange(n) + 0.5) / n
    law = smq.GaussianCopula(valuation=UNIT, requirement=UNIT, correlation=rho).given(epsilon)
    budget = share * n
    marginal = smq.solve(smq.Market(epsilon, UNIT), budget).thresholds

    def bought(factor):
        return conditional_cdf(rho, epsilon, np.minimum(factor * marginal, 1.0))

    def excess(factor):
        return float(np.minimum(factor * marginal, 1.0) @ bought(factor)) - budget

    factor = brentq(excess, 0.1, 2.0)
    gain = smq.solve(smq.Market(epsilon, law), budget).purchased_privacy / float(epsilon @ bought(factor)) - 1
    assert least - 0.01 < gain < most + 0.01
