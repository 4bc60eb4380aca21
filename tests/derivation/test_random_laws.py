"""Random laws: nothing true is refuted, and closed forms agree with brute force and with what is solved."""

import time

import numpy as np
import pytest

import smqopt as smq
from smqopt.algebra import Verdict
from smqopt.derivation import derive

EPSILON = np.array([0.1, 0.35, 0.7, 1.0])
SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.95, 1.2)
LONGEST = 40.0
"""Seconds of processor time that no derivation comes near, on a slow machine and with others beside."""


def draw(rng, depth=0):
    """Draw a law: of the registry, from a text, composed, or with parameters by owner."""
    low = float(rng.choice([0.0, 0.0, round(rng.uniform(0, 2), 2)]))
    high = low + round(rng.uniform(0.2, 3), 2)
    shape, other = (float(rng.choice([0.5, 1, 1.5, 2, 3, round(rng.uniform(0.3, 4), 2)])) for _ in range(2))
    kinds = {
        "uniform": lambda: smq.Uniform(low, high),
        "power": lambda: smq.Power(shape, low, high),
        "truncated exponential": lambda: smq.TruncatedExponential(shape, low, high),
        "kumaraswamy": lambda: smq.Kumaraswamy(shape, other, low, high),
        "beta": lambda: smq.Beta(shape, other, low, high),
        "triangular": lambda: smq.Triangular(low, float(rng.choice([low, (low + high) / 2, high])), high),
        "weibull": lambda: smq.Weibull(shape, other, low, high),
        "gamma": lambda: smq.Gamma(shape, other, low, high),
        "pareto": lambda: smq.Pareto(shape, low + 0.5, high + 0.5),
        "normal": lambda: smq.Normal(low, shape, low, high),
        "logistic": lambda: smq.Logistic(low, shape, low, high),
        "histogram": lambda: smq.PiecewiseUniform(
            np.cumsum([low + 0.1, *rng.uniform(0.2, 1, 3)]).round(2), rng.choice([1.0, 2.0, 3.0], 3)
        ),
        "text": lambda: smq.from_cdf(
            f"((theta - {low})/{high - low})**a*(1 + c*(1 - (theta - {low})/{high - low}))",
            low,
            high,
            a=1 + shape,
            c=0.3,
        ),
        "by owner": lambda: smq.Power(rng.uniform(0.5, 3, EPSILON.size).round(2), low, high),
    }
    compositions = {
        "mixture": lambda: smq.Mixture([draw(rng, 1), draw(rng, 1)], [0.3, 0.7]),
        "truncation": lambda: cut(draw(rng, 1)),
    }
    known = {name: kind for name, kind in kinds.items() if not depth or name != "by owner"}
    known |= {} if depth else compositions
    return known[str(rng.choice(list(known)))]()


def cut(law):
    width = law.high - law.low
    return smq.Truncated(law, float(law.low + 0.1 * width), float(law.high - 0.2 * width))


def check(seed):
    """Derive a random law, and compare; give the steps that are undecided, and the time."""
    law = draw(np.random.default_rng(seed))
    start = time.process_time()
    derivation = derive(law)
    spent = time.process_time() - start
    regularity = type(law.regularity()).__name__
    refuted = {step.name for step in derivation.steps if step.verdict is Verdict.REFUTED}
    assert refuted <= ({"regularity", "threshold"} if regularity == "Irregular" else set()), (seed, law, refuted)
    assert spent < LONGEST, (seed, law, spent)
    rule, price = derivation.threshold_function(), derivation.budget_price_function()
    if rule is not None and regularity == "Regular":
        top = law.virtual_cost(law.high)
        x = np.linspace(0, 1.3 * float(np.max(np.where(np.isfinite(top), top, 9.0))), EPSILON.size)
        assert np.allclose(rule(x, law), law.inverse_virtual_cost(x), rtol=1e-8, atol=1e-9), (seed, law)
    market = smq.Market(EPSILON, law)
    for share in SHARES:
        budget = share * market.most_that_can_be_spent
        solution = smq.solve(market, budget)
        if rule is not None and solution.budget_price > 0 and regularity == "Regular":
            width = float(np.max(law.width))
            apart = np.abs(rule(EPSILON / solution.budget_price, law) - solution.thresholds)
            assert np.all(apart[solution.acceptance > 0] <= 1e-6 * width), (seed, law, share)
        found = None if price is None else price(EPSILON, budget, law)
        assert found is None or np.isclose(found, solution.budget_price, rtol=1e-8), (seed, law, share)
    return [step.name for step in derivation.steps if step.verdict is Verdict.UNDECIDED], spent


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 1)) for seed in range(12)])
def test_a_random_law(seed):
    check(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(12, 3000))
def test_many_random_laws(seed):
    check(seed)
