"""Quantiles of every law and composition: no neighbouring double is better, in either tail, and draws follow F.

For θ = F⁻¹(u) and its neighbours θ⁻ and θ⁺: F(θ⁻) ≤ u ≤ F(θ⁺), above the median by way of log(1 − F).
"""

import math

import numpy as np
import pytest
from law_instances import INSTANCES

import smqopt as smq

ROUNDING = 2.0**-42
"""Of F, or 1 − F, as computed, relative: a few roundings of each law's own terms."""
RNG = np.random.default_rng(12)


def levels(count):
    tails = 10.0 ** -np.concatenate([np.arange(1.0, 17.0), np.arange(20.0, 301.0, 20.0)])
    return np.unique(np.concatenate([RNG.random(count), tails, 1.0 - tails[tails > 2.0**-53]]))


def worst_miss(law, u):
    """By how much a level lies outside what F is at the neighbours of its quantile, relative, on the tail's own scale."""
    each = u if law.size is None else np.broadcast_to(u[:, None], (u.size, law.size))
    theta = np.stack([law.ppf(row) for row in each]) if law.size else law.ppf(u)
    below, above = np.nextafter(theta, -1.0), np.nextafter(theta, np.inf)

    def of(method, t):
        return np.stack([getattr(law, method)(row) for row in t]) if law.size else getattr(law, method)(t)

    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.maximum(of("log_cdf", below) - np.log(each), np.log(each) - of("log_cdf", above))
        rest = np.log1p(-each)
        upper = np.maximum(rest - of("log_survival", below), of("log_survival", above) - rest)
    spacings = 8 * np.spacing(np.abs(np.where(each < 0.5, np.log(each), np.log1p(-each))))  # of the logarithm itself
    return np.max(np.where(each < 0.5, lower, upper) - spacings)


@pytest.mark.parametrize("case", [case for case in INSTANCES if not case.atoms], ids=repr)
def test_no_neighbour_of_a_quantile_is_better(case):
    assert worst_miss(case.law, levels(40)) <= ROUNDING


def is_likely(law, draws):
    """Whether Kolmogorov and Smirnov's distance is one that n draws exceed with a chance of 1e-6 at most (Massart 1990).

    A double stands for all numbers that round to it, so F is taken at it and at the one before.
    """
    values, counts = np.unique(draws, return_counts=True)
    below, above = np.nextafter(values, -1.0), values

    def F(t):
        return np.ravel(law.cdf(t if law.size is None else t[:, None]))

    n, up_to = draws.size, np.cumsum(counts)
    distance = max(np.max(F(below) - (up_to - counts) / n), np.max(up_to / n - F(above)))
    return distance <= math.sqrt(math.log(2 / 1e-6) / (2 * n))


MIXTURES = {
    "an infinite density at low": (smq.Mixture([smq.Gamma(0.8, 1, 0, 10), smq.Uniform(0, 10)], [0.8, 0.2]), 0.55, 0.8491069930562907),
    "a narrow normal": (smq.Mixture([smq.Normal(3, 0.1, 0, 10), smq.TruncatedExponential(5, 0, 10)], [0.3, 0.7]), 0.76, 2.9158382649850716),
    "a beta with a pole": (smq.Mixture([smq.Beta(0.5, 2), smq.Uniform(0, 5)], [0.7, 0.3]), 0.7, 0.64271083411419549),
    "a flat level": (smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [1, 1]), 0.5, 1.0),
    "a pole at high": (smq.Mixture([smq.Beta(2, 0.02), smq.Uniform(0, 1)], [0.5, 0.5]), 0.9, 1.0),
    "two scales": (smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.5, 0.5 + 1e-8)], [0.5, 0.5]), 0.5, 0.500000005),
    "nested": (smq.Mixture([smq.Mixture([smq.Gamma(0.3, 1, 0, 4), smq.Logistic(1, 0.1, 0, 2)], [1, 2]), smq.Beta(0.1, 3)], [1, 1]), None, None),
    "truncated": (smq.Truncated(smq.Mixture([smq.Gamma(0.8, 1, 0, 10), smq.Uniform(0, 10)], [0.8, 0.2]), 0.25, 7), None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_keep_the_contract(name):
    law, level, value = MIXTURES[name]
    assert worst_miss(law, levels(400)) <= ROUNDING
    if level is not None:
        assert float(law.ppf(level)) == pytest.approx(value, rel=4e-16 if value == 1.0 else 1e-12)


@pytest.mark.parametrize("name", MIXTURES)
def test_draws_follow_the_law(name):
    law = MIXTURES[name][0]
    assert is_likely(law, law.sample(np.random.default_rng(3), 20_000))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [case for case in INSTANCES if not case.atoms], ids=repr)
def test_ten_thousand_levels_and_a_hundred_thousand_draws(case):
    assert worst_miss(case.law, levels(10_000 // (case.law.size or 1))) <= ROUNDING
    one = case.law.take(np.array([0]))
    u = RNG.random(100_000)
    assert is_likely(one, np.ravel(one.ppf(u if one.size is None else u[:, None])))


def test_a_budget_in_the_mean_is_kept_by_draws():
    """A mixture whose quantiles were 0 too often sold to 433 owners where 370 are expected."""
    law = smq.Mixture([smq.Beta(0.5, 2), smq.Uniform(0, 5)], [0.7, 0.3])
    certificate = smq.verify(smq.solve(smq.Market(np.full(1000, 0.5), law), 60.0))
    assert certificate.valid
    drawn = law.sample(np.random.default_rng(1), 1000)
    expected = 1000 * float(law.cdf(certificate.solution.thresholds[0]))
    sold = np.sum(drawn <= certificate.solution.thresholds[0])
    assert abs(sold - expected) <= 5 * math.sqrt(expected)


@pytest.mark.parametrize(
    ("law", "at", "value"),
    [
        (smq.TruncatedExponential(40), 0.95, -38.145413457868855),
        (smq.Power(9921), 0.99, -math.exp(9921 * math.log(0.99)) - math.exp(2 * 9921 * math.log(0.99)) / 2),
        (smq.Mixture([smq.TruncatedExponential(40), smq.Power(3)], [0.5, 0.5]), 1 - 2.0**-40, math.log(1.5) - 40 * math.log(2)),
    ],
)  # fmt: skip
def test_log_survival_where_one_minus_f_cancels(law, at, value):
    assert float(law.log_survival(at)) == pytest.approx(value, rel=1e-11)


def test_log_cdf_where_f_underflows():
    assert float(smq.Power(9921).log_cdf(0.5)) == pytest.approx(-9921 * math.log(2), rel=1e-15)
