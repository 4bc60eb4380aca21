"""The judge is tried: every corrupted solution, by at least ten tolerances, must come out not valid."""

import dataclasses
import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.numeric import GAP, PRICE, THRESHOLD

FACTOR = 10.0


def random_market(rng):
    n = int(rng.integers(3, 25))
    epsilon = rng.uniform(0.05, 2.0, n)
    low = rng.uniform(0.0, 1.0, n) * rng.integers(0, 2)
    high = low + rng.uniform(0.5, 2.0, n)
    law = [
        lambda: smq.Uniform(0, 1),
        lambda: smq.Uniform(low, high),
        lambda: smq.Power(rng.uniform(0.5, 4.0, n), low, high),
        lambda: smq.TruncatedExponential(rng.uniform(0.1, 10.0, n), low, high),
        lambda: smq.ByOwner([[smq.Uniform(0, 1), smq.Power(2), smq.TruncatedExponential(2)][i % 3] for i in range(n)]),
    ][rng.integers(5)]()
    return smq.Market(epsilon, law)


def with_thresholds(solution, thresholds):
    return dataclasses.replace(solution, thresholds=thresholds, acceptance=solution.market.valuation.cdf(thresholds))


def inside(solution):
    """An owner whose threshold can move both ways."""
    return int(np.argmax(solution.acceptance * (1 - solution.acceptance)))


def moved(solution, rng, sign):
    i = inside(solution)
    thresholds = solution.thresholds.copy()
    thresholds[i] += sign * FACTOR * THRESHOLD.value * (solution.market.high - solution.market.low)[i]
    return with_thresholds(solution, thresholds)


def swapped(solution, rng):
    """Two owners' places in their supports change hands."""
    market = solution.market
    share = (solution.thresholds - market.low) / (market.high - market.low)
    i, j = int(np.argmax(share)), int(np.argmin(share))
    share[[i, j]] = share[[j, i]]
    return with_thresholds(solution, market.low + share * (market.high - market.low))


def not_a_number(solution, rng):
    thresholds = solution.thresholds.copy()
    thresholds[rng.integers(thresholds.size)] = math.nan
    return with_thresholds(solution, thresholds)


def infinite(solution, rng):
    thresholds = solution.thresholds.copy()
    thresholds[rng.integers(thresholds.size)] = math.inf
    return with_thresholds(solution, thresholds)


def outside(solution, rng):
    i = int(rng.integers(solution.thresholds.size))
    thresholds = solution.thresholds.copy()
    thresholds[i] = solution.market.low[i] - FACTOR * THRESHOLD.value * (solution.market.high - solution.market.low)[i]
    return with_thresholds(solution, thresholds)


def too_short(solution, rng):
    return dataclasses.replace(solution, thresholds=solution.thresholds[:-1], acceptance=solution.acceptance[:-1])


def acceptance_claimed(solution, rng):
    acceptance = solution.acceptance.copy()
    acceptance[inside(solution)] -= 1e-12
    return dataclasses.replace(solution, acceptance=acceptance)


def other_price(solution, rng, factor):
    return dataclasses.replace(solution, budget_price=solution.budget_price * factor)


def other_budget(solution, rng, factor):
    return dataclasses.replace(solution, budget=solution.budget * factor)


def stale_market(solution, rng):
    """One requirement changed by ten tolerances after the market was solved."""
    epsilon = solution.market.epsilon.copy()
    epsilon[inside(solution)] *= 1 + FACTOR * GAP.value
    return dataclasses.replace(solution, market=smq.Market(epsilon, solution.market.valuation))


def mutated_market(solution, rng):
    """The same market object, its array changed behind its back."""
    market = smq.Market(solution.market.epsilon, solution.market.valuation)
    market.epsilon.flags.writeable = True
    market.epsilon[inside(solution)] *= 1 + FACTOR * GAP.value
    return dataclasses.replace(solution, market=market)


def other_law(solution, rng):
    return dataclasses.replace(
        solution, market=smq.Market(solution.market.epsilon, solution.market.valuation.rescale(1 + 1e-8))
    )


def renamed(solution, rng):
    names = [f"owner {i}" for i in range(solution.market.n)]
    return dataclasses.replace(
        solution, market=smq.Market(solution.market.epsilon, solution.market.valuation, owner_ids=names)
    )


def other_status(solution, rng):
    return dataclasses.replace(solution, status=smq.Status.SLACK)


def zero_status(solution, rng):
    return dataclasses.replace(solution, status=smq.Status.ZERO_BUDGET)


def side_constraint(solution, rng):
    return dataclasses.replace(solution, constraints=("acceptance[0] >= 0.5",))


def all_sold(solution, rng):
    return with_thresholds(solution, solution.market.high.copy())


def nothing_bought(solution, rng):
    return with_thresholds(solution, solution.market.low.copy())


def scaled_down(solution, rng):
    return with_thresholds(
        solution, np.maximum(solution.market.low, solution.thresholds * (1 - FACTOR * THRESHOLD.value))
    )


FAULTS = {
    "moved up": lambda s, rng: moved(s, rng, 1),
    "moved down": lambda s, rng: moved(s, rng, -1),
    "swapped": swapped,
    "NaN": not_a_number,
    "infinite": infinite,
    "outside the support": outside,
    "too short": too_short,
    "acceptance claimed": acceptance_claimed,
    "price up": lambda s, rng: other_price(s, rng, 1 + FACTOR * PRICE.value),
    "price down": lambda s, rng: other_price(s, rng, 1 - FACTOR * PRICE.value),
    "price doubled": lambda s, rng: other_price(s, rng, 2.0),
    "price zero": lambda s, rng: other_price(s, rng, 0.0),
    "price negative": lambda s, rng: other_price(s, rng, -1.0),
    "price NaN": lambda s, rng: other_price(s, rng, math.nan),
    "price infinite": lambda s, rng: other_price(s, rng, math.inf),
    "budget up": lambda s, rng: other_budget(s, rng, 1 + FACTOR * PRICE.value),
    "budget down": lambda s, rng: other_budget(s, rng, 1 - FACTOR * 1e-12),
    "budget zero": lambda s, rng: other_budget(s, rng, 0.0),
    "budget NaN": lambda s, rng: other_budget(s, rng, math.nan),
    "stale market": stale_market,
    "mutated market": mutated_market,
    "other law": other_law,
    "renamed": renamed,
    "other status": other_status,
    "zero status": zero_status,
    "side constraint": side_constraint,
    "all sold": all_sold,
    "nothing bought": nothing_bought,
    "scaled down": scaled_down,
}


@pytest.mark.parametrize(
    "markets", [3, pytest.param(10, marks=pytest.mark.slow), pytest.param(100, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_is_certified(fault, markets):
    rng = np.random.default_rng([len(fault), *fault.encode()])
    for _ in range(markets):
        market = random_market(rng)
        solution = smq.solve(market, rng.uniform(0.05, 0.8) * market.most_that_can_be_spent)
        assert smq.verify(solution).valid
        forged = FAULTS[fault](solution, rng)
        certificate = smq.verify(forged)
        assert not certificate.valid
        assert certificate.reasons
        with pytest.raises(smq.UncertifiedError):
            smq.procure(certificate, np.zeros(market.n))


def test_a_slack_answer_with_another_price_is_not_certified():
    solution = smq.solve(smq.Market([0.5, 1.0], smq.Uniform(0, 1)), 2.0)
    assert smq.verify(solution).valid
    assert not smq.verify(dataclasses.replace(solution, budget_price=0.1)).valid
    assert not smq.verify(dataclasses.replace(solution, status=smq.Status.BINDING)).valid


def test_an_offer_at_a_zero_budget_is_not_certified():
    solution = smq.solve(smq.Market([0.5, 1.0], smq.Uniform(0, 1)), 0.0)
    assert smq.verify(solution).valid
    assert not smq.verify(with_thresholds(solution, np.array([1e-9, 0.0]))).valid
