"""Hulls of laws that gather mass between two points of a grid, at edges that their parts know."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.valuation import Ironed, iron

A = 0.5001234567


@pytest.mark.parametrize(
    ("law", "budget", "bought", "ends"),
    [
        (smq.Mixture([smq.Uniform(0, 1), smq.Uniform(A, A + 1e-8)], [0.5, 0.5]), 0.1, 0.2504335, (0.2753282, A + 1e-8)),
        (smq.Mixture([smq.Beta(2, 0.05, 0, 0.2), smq.Uniform(0, 1)], [0.4, 0.6]), 0.08, 0.4079913, (0.113618, 0.2)),
    ],
    ids=["a narrow part", "an edge with infinite density"],
)
def test_the_lottery_over_an_edge_is_found(law, budget, bought, ends):
    solution = smq.solve(smq.Market([1.0], law), budget)
    assert solution.purchased_privacy == pytest.approx(bought, abs=5e-8)
    assert solution.lottery is not None
    assert (solution.lottery.low[0], solution.lottery.high[0]) == pytest.approx(ends, abs=5e-7)
    assert solution.lottery.high_acceptance[0] == law.cdf(ends[1])
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.upper_bound >= bought - 5e-8


def _law(rng: np.random.Generator) -> smq.Mixture:
    """Some part of width 1 with parts of widths down to 1e-12, at places that no grid knows."""
    parts = [smq.Uniform(0, 1)] if rng.random() < 0.5 else [smq.Beta(*rng.uniform(0.5, 4, 2))]
    for _ in range(rng.integers(1, 4)):
        low, width = rng.uniform(0.05, 0.9), 10.0 ** rng.uniform(-12, -1)
        kind = rng.integers(4)
        parts.append(
            smq.Uniform(low, low + width)
            if kind == 0
            else smq.Beta(*10.0 ** rng.uniform(-1.3, 0.7, 2), low, low + width)
            if kind == 1
            else smq.TruncatedExponential(rng.uniform(0.5, 40), low, low + width)
            if kind == 2
            else smq.Truncated(smq.Uniform(0, 1), low, low + width)
        )
    return smq.Mixture(parts, rng.uniform(0.05, 1.0, len(parts)))


@pytest.mark.parametrize("seed", range(6))
def test_no_price_lies_below_a_hull(seed):
    """30 random mixtures of hidden parts: nothing beats the hull at any price near an edge or between."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        law = _law(rng)
        answer = iron(law)
        knots = np.unique(law.knots())
        near = [knots + side * np.spacing(knots) * 2.0**k for k in range(0, 48, 3) for side in (-1, 1)]
        theta = np.unique(np.clip(np.concatenate([*near, knots, law.ppf(rng.random(2000)), rng.random(2000)]), 0, 1))
        q = law.cdf(theta)
        for v in rng.uniform(0.05, 3.0, 40):
            best = float(np.max((v - theta) * q))
            price, accepted = answer.offer(np.array([v]))
            found = float((v - price[0]) * accepted[0])
            assert found >= best - 1e-9 * max(best, 1e-3), (law, v, price[0])
        if isinstance(answer, Ironed):
            p = answer.pieces
            assert np.all(p.high > p.low)
            assert np.all(np.diff(p.slope) > 0)
            assert p.high_acceptance == pytest.approx(law.cdf(p.high), abs=0)
