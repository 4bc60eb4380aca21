"""Where J falls, the verdicts, and the flat pieces, against 50-digit arithmetic and brute-force hulls (errata E4, E5)."""

from __future__ import annotations

import math
import time

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import smqopt as smq
from smqopt.valuation import CopulaConditional, GaussianCopula
from smqopt.valuation.copula._conditional import _costs_at_scores
from smqopt.valuation.copula._shape import GaussianLink, critical_kappa, falls, slope_sign
from smqopt.valuation.ironing._flat_pieces import flat_pieces_of_owners
from smqopt.valuation.ironing._lower_hull import lower_hull

UNIT = smq.Uniform(0, 1)


def exact_cost(rho, z, t):
    r = 2 * mp.sin(mp.pi * mp.mpf(rho) / 6)
    s = mp.sqrt(1 - r * r)
    x = mp.sqrt(2) * mp.erfinv(2 * mp.mpf(t) - 1)
    y = (x - r * mp.mpf(z)) / s
    return mp.mpf(t) + s * mp.npdf(x) * mp.ncdf(y) / mp.npdf(y)


def test_slope_formula_is_the_derivative():
    with mp.workdps(40):
        for rho, z, t in ((-0.5, -2.0, 0.9), (-0.2, -1.0, 0.99), (0.8, 1.0, 0.3), (-0.9, 2.0, 0.1)):
            link = GaussianLink(rho)
            derivative = mp.diff(lambda u, rho=rho, z=z: exact_cost(rho, z, u), mp.mpf(t))
            y = (ndtri(t) - link.r * z) / link.s
            assert float(slope_sign(link, np.array([y]), np.array([z]))[0]) == pytest.approx(
                float(derivative), rel=1e-11
            )


@pytest.mark.parametrize(
    ("rho", "share", "printed"), [(-0.5, 0.0728962, 0.07), (-0.2, 0.2494555, 0.25), (-0.9, 1.2454e-4, None)]
)
def test_share_of_irregular_requirements(rho, share, printed):
    link = GaussianLink(rho)
    _, kappa = critical_kappa(link.r)
    edge = kappa * link.r / link.s  # z below it is irregular
    assert float(ndtr(edge)) == pytest.approx(share, rel=1e-4)
    if printed is not None:
        assert round(float(ndtr(edge)), 2) == printed
    epsilon = (np.arange(20_000) + 0.5) / 20_000
    owner, _, _ = falls(link, ndtri(epsilon))
    assert owner.size / 20_000 == pytest.approx(share, abs=1e-4)
    assert owner.tolist() == list(range(owner.size))


@pytest.mark.parametrize("rho", [-0.97, -0.9, -0.5, -0.2, -0.05, -1e-3, -1e-6, 0.5])
def test_j_rises_falls_and_rises_on_a_fine_scan(rho):
    """Signs of J′ on 4,001 scores an owner: never more than two changes, at the roots found, and none where the law is regular."""
    link = GaussianLink(rho)
    z = math.copysign(1.0, rho) * np.linspace(-6, 8, 57)
    owner, y1, y2 = falls(link, z)
    for k, zed in enumerate(z.tolist()):
        y = np.linspace(-12, 14, 4001)
        falling = slope_sign(link, y, np.array(zed)) < 0
        if k not in owner:
            assert not falling.any()
            continue
        at = int(np.searchsorted(owner, k))
        assert y1[at] < y2[at]
        clear = (np.abs(y - y1[at]) > 1e-9) & (np.abs(y - y2[at]) > 1e-9)
        assert np.array_equal(falling[clear], ((y > y1[at]) & (y < y2[at]))[clear])


def test_critical_value_separates_verdicts():
    for rho in (-0.5, -0.2, 0.9, -0.05):
        link = GaussianLink(rho)
        edge = critical_kappa(link.r)[1] * link.r / link.s
        inside, outside = CopulaConditional(UNIT, rho, edge * 0.9999), CopulaConditional(UNIT, rho, edge * 1.01)
        assert isinstance(inside.regularity(), smq.Regular)
        assert isinstance(outside.regularity(), smq.Irregular)
        assert len(inside.flat_pieces()) == 0
        assert len(outside.flat_pieces()) == 1
        at_edge = CopulaConditional(UNIT, rho, edge).regularity()
        assert not isinstance(at_edge, smq.Irregular)


def test_verdict_names_the_owner_and_a_witness_that_holds_at_fifty_digits():
    epsilon = np.array([0.9, 0.5, 0.01, 0.03, 0.7])
    for rho in (-0.2, -0.5):
        law = GaussianCopula(UNIT, UNIT, rho).given(epsilon)
        verdict = law.regularity()
        assert isinstance(verdict, smq.Irregular)
        a, b = verdict.witness
        assert verdict.owner in (2, 3)
        assert 0 < a < b < 1
        with mp.workdps(50):
            costs = [exact_cost(rho, law.score[verdict.owner], t) for t in (a, b)]
        assert costs[0] > costs[1]
        assert verdict.virtual_costs == pytest.approx([float(c) for c in costs], rel=1e-14)
    safe = GaussianCopula(UNIT, UNIT, -0.5).given(epsilon[[0, 1, 4]])
    assert isinstance(safe.regularity(), smq.Regular)


def test_verdicts_for_other_marginals():
    falling = CopulaConditional(smq.TruncatedExponential(2.0), -0.5, np.array([0.0, 1.0]))
    assert isinstance(falling.regularity(), smq.Regular)
    rising = CopulaConditional(smq.Power(2.0), -0.5, np.array([0.0, 1.0]))
    verdict = rising.regularity()
    assert isinstance(verdict, smq.Undecided)
    assert verdict.owner == 0
    irregular = CopulaConditional(smq.Power(2.0), -0.5, np.array([0.0, -3.0])).regularity()
    assert isinstance(irregular, smq.Irregular)
    assert irregular.owner == 1


def hull_value(law, v, points=20_001):
    """max v q − C(q) over a fine grid of thresholds: what ironing must reach at every v."""
    y = np.linspace(-9, 9, points)
    theta = law.ppf(ndtr(y))
    return float(np.max((v - theta) * law.cdf(theta)))


@pytest.mark.parametrize(
    ("rho", "z"), [(-0.2, -1.0), (-0.2, -4.0), (-0.5, -1.6), (-0.5, -3.0), (-0.05, -0.5), (0.9, 4.5), (-1e-3, -2.0)]
)
def test_flat_piece_is_a_common_tangent(rho, z):
    law = CopulaConditional(UNIT, rho, z)
    piece = law.flat_pieces()
    assert len(piece) == 1
    low, high, slope = float(piece.low[0]), float(piece.high[0]), float(piece.slope[0])
    q1, q2 = float(piece.low_acceptance[0]), float(piece.high_acceptance[0])
    assert (q1, q2) == (float(law.cdf(low)), float(law.cdf(high)))
    assert float(law.virtual_cost(low)) == pytest.approx(slope, rel=1e-12)
    chord = (high * q2 - low * q1) / (q2 - q1)
    assert chord == pytest.approx(slope, abs=4e-16 / (q2 - q1))
    if high < 1 - 1e-6:
        assert float(law.virtual_cost(high)) == pytest.approx(slope, rel=1e-9)
    # below and above the piece the best response leaves it on either side; on it both ends are worth the same
    assert float(law.inverse_virtual_cost(slope * (1 - 1e-9))) <= low
    assert float(law.inverse_virtual_cost(slope * (1 + 1e-9))) >= high - 1e-15
    assert (slope - low) * q1 == pytest.approx((slope - high) * q2, abs=1e-15)
    assert hull_value(law, slope) <= (slope - low) * q1 + 1e-15


def test_flat_piece_to_thirty_digits():
    rho, z = -0.5, -2.0
    piece = CopulaConditional(UNIT, rho, z).flat_pieces()
    with mp.workdps(40):
        r = 2 * mp.sin(mp.pi * mp.mpf(rho) / 6)
        s = mp.sqrt(1 - r * r)

        def q(t):
            return mp.ncdf((mp.sqrt(2) * mp.erfinv(2 * t - 1) - r * z) / s)

        def equations(a, b):
            chord = (b * q(b) - a * q(a)) / (q(b) - q(a))
            return exact_cost(rho, z, a) - chord, exact_cost(rho, z, b) - chord

        a, b = mp.findroot(equations, (mp.mpf(float(piece.low[0])), mp.mpf(float(piece.high[0]))), tol=1e-50)
        slope = exact_cost(rho, z, a)
    assert float(piece.low[0]) == pytest.approx(float(a), rel=1e-13)
    assert float(piece.high[0]) == pytest.approx(float(b), rel=1e-13)
    assert float(piece.slope[0]) == pytest.approx(float(slope), rel=4e-16)


def test_search_on_a_grid_agrees_with_the_closed_form():
    law = CopulaConditional(UNIT, -0.5, ndtri(np.linspace(0.001, 0.07, 300)))
    exact = law.flat_pieces()
    for found in (flat_pieces_of_owners(law, _costs_at_scores), flat_pieces_of_owners(law)):
        assert found.owner.tolist() == exact.owner.tolist()
        assert found.slope == pytest.approx(exact.slope, rel=1e-10)
        assert found.low == pytest.approx(exact.low, abs=1e-5)


def test_pieces_of_other_marginals_meet_the_grid_hull():
    for marginal in (smq.Power(2.0), smq.TruncatedExponential(2.0, 1.0, 3.0), smq.Power([0.5, 3.0, 1.0])):
        law = CopulaConditional(marginal, -0.4, np.array([-2.5, -2.0, -1.8]))
        pieces = law.flat_pieces()
        assert len(pieces) > 0
        for owner, low, high, slope in zip(pieces.owner, pieces.low, pieces.high, pieces.slope, strict=True):
            one = law.take(np.array([owner]))
            value = float(((slope - low) * one.cdf(low))[0])
            assert float(((slope - high) * one.cdf(high))[0]) == pytest.approx(value, rel=1e-10)
            assert hull_value(one, slope) <= value * (1 + 1e-12)


def test_lower_hulls_agree_with_exact_ones():
    """Of many owners at once, in doubles, against each alone in fractions, by the definition."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 30, 200)
    owner = np.repeat(np.arange(sizes.size), sizes)
    q, cost = (rng.integers(0, 12, owner.size) / 16 for _ in range(2))
    order = np.lexsort((q, owner))
    q, cost = q[order], cost[order]
    found = lower_hull(owner, q, cost)
    for k in range(sizes.size):
        mine = np.flatnonzero(owner == k)
        points = sorted({(x, min(cost[mine][q[mine] == x])) for x in q[mine].tolist()})
        hull = [
            (x, y)
            for x, y in points
            if not any(
                a[0] < x < b[0] and (y - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (x - a[0])
                for a in points
                for b in points
            )
        ]
        own = found[owner[found] == k]
        assert list(zip(q[own].tolist(), cost[own].tolist(), strict=True)) == hull


@pytest.mark.parametrize(
    ("share", "rho", "ratio"), [(0.1, -0.5, 1.32), (0.1, -1.0, 1.60), (0.3, -0.5, 1.09), (0.3, -1.0, 1.16)]
)
def test_the_marginal_rule_breaks_its_budget(share, rho, ratio):
    """E4's sizes to half a unit of their last digit and the noise of one draw of ε (under 0.003)."""
    n = 32_561
    epsilon = np.random.default_rng(4).random(n)
    thresholds = smq.solve(smq.Market(epsilon, UNIT), share * n).thresholds
    law = GaussianCopula(UNIT, UNIT, rho).given(epsilon)
    assert float(thresholds @ law.cdf(thresholds)) / (share * n) == pytest.approx(ratio, abs=0.008)


def test_markets_of_conditional_laws_are_solved_and_certified():
    """Spend meets B; what is bought beats the marginal rule scaled down to the budget (E4, 12 to 15 % at ρ = −0.9)."""
    n = 1500
    epsilon = np.random.default_rng(9).random(n)
    for rho in (-0.2, -0.5, -0.9, -1.0):
        market = smq.Market(epsilon, GaussianCopula(UNIT, UNIT, rho).given(epsilon))
        solution = smq.solve(market, 0.3 * n)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert float(solution.spend.sum()) == pytest.approx(0.3 * n, rel=1e-9)


def test_speed():
    """A hundred thousand owners, a quarter of them irregular, in well under 30 s of processor time."""
    law = CopulaConditional(UNIT, -0.2, ndtri((np.arange(100_000) + 0.5) / 100_000))
    start = time.process_time()
    pieces = law.flat_pieces()
    assert time.process_time() - start < 15
    assert len(pieces) == pytest.approx(24_945, abs=5)
