"""Laws made to fool a table: narrow bumps, gaps, a density of 0 inside, wide supports."""

import numpy as np
import pytest

import smqopt as smq

OWNERS = 5000
LAWS = {
    **{f"bump {w}": smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.4, 0.4 + w)], [7, 3]) for w in (1e-4, 1e-5, 1e-7)},
    "zero inside": smq.from_cdf("((2*theta - 1)**3 + 1)/2", 0, 1),
    "gap": smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0.6, 1)], [1, 1]),
    "infinite density": smq.Power(0.3),
    "wide": smq.LogNormal(0, 5, 1e-9, 1e9),
    "wide, heavy": smq.Pareto(0.5, 1e-9, 1e9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_bound_lies_above_every_price(name, share):
    law, epsilon = LAWS[name], np.random.default_rng(7).random(OWNERS)
    market = smq.Market(epsilon, law)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "proved", certificate.unproved
    low, high = float(law.low), float(law.high)
    steps = [np.linspace(0, 1, 1001), 2.0 ** -np.arange(50), 1 - 2.0 ** -np.arange(50)]
    theta = np.unique(np.clip(np.concatenate([*(low + (high - low) * step for step in steps), law.knots()]), low, high))
    q = law.cdf(theta)
    tops = np.maximum((epsilon[:, None] * q - solution.budget_price * theta * q).max(axis=1), 0.0)
    assert certificate.upper_bound >= (solution.budget_price * solution.budget + tops.sum()) * (1 - 1e-12)
