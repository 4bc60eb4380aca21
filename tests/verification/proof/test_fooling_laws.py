"""Laws made to fool a table: proved and right, or numerical with a reason; never proved and wrong."""

from __future__ import annotations

import numpy as np
import pytest

import smqopt as smq

OWNERS = 5_000


def bump(width):
    """A step of that width in an even cdf: a density of some 1/width about 0.6."""
    return smq.from_cdf(
        "(theta + a*(tanh((theta - 3/5)/w) + tanh(3/5/w)))/(1 + a*(tanh(2/5/w) + tanh(3/5/w)))", 0, 1, a=0.1, w=width
    )


def rarely(case, mark=pytest.mark.exhaustive):
    return pytest.param(*case, marks=mark)


LAWS = [
    rarely(("bump 1e-4", lambda: bump(1e-4), (0.6,))),
    rarely(("bump 1e-5", lambda: bump(1e-5), (0.6,))),
    rarely(("bump 1e-6", lambda: bump(1e-6), (0.6,))),
    rarely(("bump 1e-7", lambda: bump(1e-7), (0.6,))),
    rarely(("zero density inside", lambda: smq.from_cdf("(1 + (2*theta - 1)**3)/2", 0, 1), (0.5,)), pytest.mark.slow),
    rarely(("infinite densities at ends", lambda: smq.Beta(0.5, 0.5), ())),
    rarely(("infinite density inside", lambda: smq.Mixture([smq.Beta(2, 0.5), smq.Beta(0.5, 2, 1, 2)], [1, 1]), (1.0,))),
    ("atom inside", lambda: smq.Mixture([smq.Uniform(0, 1), smq.PointMass(0.5)], [7, 3]), (0.5,)),
    ("atom at the low end", lambda: smq.Mixture([smq.Uniform(0.25, 1), smq.PointMass(0.25)], [7, 3]), (0.25,)),
    ("wide support", lambda: smq.Uniform(1e-9, 1e9), ()),
    ("wide Pareto", lambda: smq.Pareto(0.5, 1e-9, 1e9), ()),
    rarely(("wide log-normal", lambda: smq.LogNormal(0, 3, 1e-9, 1e9), ())),
]  # fmt: skip


def prices(law, beside):
    """A fine grid of the support, finer towards the ends and about given prices."""
    low, high = float(law.low), float(law.high)
    near = np.concatenate([2.0 ** -np.arange(1.0, 50.0, 0.125), [0.0]])
    grid = [np.linspace(low, high, 4001), low + (high - low) * near, high - (high - low) * near]
    grid += [p + side * (high - low) * near for p in beside for side in (-1, 1)]
    return np.unique(np.clip(np.concatenate(grid), low, high))


@pytest.mark.parametrize(("name", "made", "beside"), LAWS)
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_proved_and_right_or_numerical(name, made, beside, share):
    """The bound is above what any price on the grid is worth, the purchase what the law says in doubles."""
    law = made()
    market = smq.Market(np.random.default_rng(len(name)).random(OWNERS), law)
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    certificate = smq.verify(solution)
    if certificate.grade != "proved":
        assert certificate.unproved
        assert all(certificate.unproved)
        return
    theta, lam = prices(law, beside), solution.budget_price
    F = law.cdf(theta)
    best = np.zeros(OWNERS)
    for start in range(0, theta.size, 1 << 8):
        block = slice(start, start + (1 << 8))
        worth = F[block] * (market.epsilon[:, None] - lam * theta[block])
        best = np.maximum(best, worth.max(axis=1))
    assert certificate.upper_bound >= (lam * budget + best.sum()) * (1 - 1e-12)
    assert certificate.lower_bound <= float(market.epsilon @ solution.acceptance) * (1 + 1e-12)
    assert certificate.lower_bound <= certificate.upper_bound


def test_most_of_these_laws_are_proved():
    """So that the test above does not pass by proving nothing."""
    for law in (
        smq.Uniform(1e-9, 1e9),
        smq.Pareto(0.5, 1e-9, 1e9),
        smq.Mixture([smq.Uniform(0, 1), smq.PointMass(0.5)], [7, 3]),
    ):
        market = smq.Market(np.random.default_rng(1).random(OWNERS), law)
        certificate = smq.verify(smq.solve(market, 0.2 * market.most_that_can_be_spent))
        assert certificate.grade == "proved", (law, certificate.unproved)
