"""Markets of the named laws: reference optima, certificates, and the same optimum by an independent search."""

import mpmath
import numpy as np
import pytest
from law_oracles import FAMILIES, REGULAR, oracle
from mpmath import mpf
from strategies import NAMED, REFERENCE, reference_market

import smqopt as smq

OF_NAMED_LAWS = [instance for instance in REFERENCE if any(law[0] in NAMED for law in instance["valuation"])]


@pytest.mark.parametrize("instance", OF_NAMED_LAWS, ids=lambda instance: instance["name"])
def test_reference_optima(instance):
    market = reference_market(instance, NAMED)
    solution = smq.solve(market, float(instance["budget"]))
    thresholds = np.array([float(x) for x in instance["thresholds"]])
    assert solution.purchased_privacy == pytest.approx(float(instance["objective"]), rel=1e-12, abs=0)
    assert np.max(np.abs(solution.thresholds - thresholds) / (market.high - market.low)) <= 1e-11
    assert solution.budget_price == pytest.approx(float(instance["budget_price"]), rel=1e-11, abs=0)
    assert solution.total_spend == pytest.approx(float(instance["spend"]), rel=1e-12, abs=0)


def test_the_reference_has_such_instances():
    assert {law[0] for instance in OF_NAMED_LAWS for law in instance["valuation"]} >= set(NAMED)


@pytest.mark.parametrize("share", [1e-3, 0.3, 0.9])
@pytest.mark.parametrize("law", REGULAR, ids=repr)
def test_certified(law, share):
    epsilon = np.array([0.0, 0.05, 0.3, 0.3, 1.0, 0.7])[: law.size or 6]
    market = smq.Market(epsilon, law)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.gap <= 1e-10


def test_a_market_of_all_families_agrees_with_a_bisection_in_mpmath():
    laws = [law for law in REGULAR if law.size is None]
    laws = [
        next(law for law in laws if law.name == family and float(law.pdf(law.high)) < np.inf) for family in FAMILIES
    ]
    epsilon = np.linspace(0.3, 1.0, len(laws))
    market = smq.Market(epsilon, smq.ByOwner(laws))
    budget = 0.2 * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    with mpmath.workdps(40):
        truths = [oracle(law) for law in laws]

        def bisect(function, low, high):
            for _ in range(110):
                middle = (low + high) / 2
                low, high = (middle, high) if function(middle) < 0 else (low, middle)
            return (low + high) / 2

        def threshold(truth, v):
            return bisect(lambda t: t + truth.rent(t) - v if truth.low < t < truth.high else -1, truth.low, truth.high)

        # the price that the solver found brackets the budget, by the oracle's own thresholds
        for factor, sign in ((1 - mpf(10) ** -12, 1), (1 + mpf(10) ** -12, -1)):
            thetas = [
                threshold(truth, mpf(e) / (mpf(solution.budget_price) * factor))
                for truth, e in zip(truths, epsilon, strict=True)
            ]
            spend = sum(theta * truth.cdf(theta) for truth, theta in zip(truths, thetas, strict=True))
            assert sign * (spend - budget) > 0
        privacy = sum(mpf(e) * truth.cdf(theta) for truth, theta, e in zip(truths, thetas, epsilon, strict=True))
    assert solution.thresholds == pytest.approx([float(theta) for theta in thetas], rel=1e-11)
    assert solution.purchased_privacy == pytest.approx(float(privacy), rel=1e-11)
