"""Random laws: every statement that is shown holds to 40 digits, nothing true is refuted, and θ* and λ are those of brute force and of what is solved.

`PYTHONPATH=tests python tests/derivation/test_random_laws.py A B` runs the seeds from A up to B.
"""

import collections
import itertools
import sys
import time
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy as sp
from forty_digits import DIGITS, NEAR, Owners
from mpmath import mp, mpf
from truths import TEXTS, of_owner, text_of, truth_of

import smqopt as smq
from smqopt.algebra import VALUE, Verdict, names_in
from smqopt.derivation import derive

EPSILON = np.array([0.1, 0.35, 0.7, 1.0])
SHARES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.95, 1.2)
SELDOM = {"text": 1.2, "by owner": 2.0, "mixture": 0.4, "truncation": 0.4}
"""Each of these is derived anew; laws of the registry that differ in numbers share a derivation."""
LONGEST = 40.0
"""Seconds of processor time that no derivation comes near, on a slow machine and with others beside."""
TOLD = 25
"""Counts are told after so many laws."""
SAID = {Verdict.PROVED: "Regular", Verdict.REFUTED: "Irregular", Verdict.UNDECIDED: "Undecided"}
"""What the step on regularity says, and the law: one place decides for both."""
RARE = 16
"""One law in so many has its integrals evaluated."""


def draw(rng, depth=0):
    """Draw a law: of the registry, from a text, composed, or with parameters by owner."""
    low = float(rng.choice([0.0, 0.0, round(rng.uniform(0, 2), 2)]))
    width = round(rng.uniform(0.2, 3), 2)
    high = round(low + width, 2)
    shape, other = (float(rng.choice([0.5, 1, 1.5, 2, 3, round(rng.uniform(0.3, 4), 2)])) for _ in range(2))
    each = rng.uniform(0.5, 3, EPSILON.size).round(2)
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
        "log-normal": lambda: smq.LogNormal(low - 1, shape, low, high),
        "logistic": lambda: smq.Logistic(low, shape, low, high),
        "histogram": lambda: smq.PiecewiseUniform(
            np.cumsum([low + 0.1, *rng.uniform(0.2, 1, 3)]).round(2), np.add(rng.choice([0.0, 1.0, 2.0], 3), [1, 0, 1])
        ),
        "text": lambda: text(rng, low, width, high, shape),
        "by owner": [
            lambda: smq.Power(each, low, high),
            lambda: smq.TruncatedExponential(each, low, high),
            lambda: smq.Triangular(low, low + (each - 0.5) / 2.5 * (high - low), high),
            lambda: smq.Kumaraswamy(each, other, low, high),
            lambda: smq.Uniform(low, high + each),
            lambda: smq.from_cdf("theta**a", 0, 1, a=each),
        ][int(rng.integers(6))],
    }
    compositions = {
        "mixture": lambda: smq.Mixture([draw(rng, 1), draw(rng, 1)], [0.3, 0.7]),
        "truncation": lambda: cut(draw(rng, 1)),
    }
    known = kinds if depth else kinds | compositions
    weights = np.array([SELDOM.get(name, 1.0) * (not depth or name != "by owner") for name in known])
    return known[str(rng.choice(list(known), p=weights / weights.sum()))]()


def text(rng, low, width, high, shape):
    form = text_of(str(rng.choice(list(TEXTS))), low, width)
    names = {"a": 1 + shape if "c*" in form else shape, "c": 0.3}
    return smq.from_cdf(form, low, high, **{name: names[name] for name in names_in(form) & names.keys()})


def cut(law):
    width = law.high - law.low
    return smq.Truncated(law, float(law.low + 0.1 * width), float(law.high - 0.2 * width))


def owners_of(law, formulas, rng):
    """Make owners at random thresholds, at ends and at joints; with caps, without, off the optimum, and at no price."""
    truth = truth_of(law)
    parameters = {symbol: mpf(repr(float(law.arguments[name]))) for name, symbol in formulas.parameters}
    thresholds = [mpf(float(np.ravel(law.ppf(level))[0])) for level in rng.uniform(size=2)]
    knots = [truth.low, *truth.joints, truth.high]
    if truth.joints:
        thresholds += [a + (b - a) * mpf(rng.uniform()) for a, b in itertools.pairwise(knots)]
    thresholds += [truth.low + truth.width / 3] * (not any(truth.low < t < truth.high for t in thresholds))
    inside = [(t, truth.cost(t)) for t in thresholds if truth.low < t < truth.high]
    inside = [(t, x) for t, x in inside if mpmath.isfinite(x)]
    edges = []
    for joint in truth.joints:
        below, above = (truth.cost(joint + side * NEAR * truth.width) for side in (-1, 1))
        if mpmath.isfinite(above) and above > below * (1 + mpf(10) ** -20):
            edges.append((joint, (below + above) / 2))
    if truth.low > 0:
        edges.append((truth.low, truth.low * mpf(rng.uniform())))
    top = truth.cost(truth.high)
    if mpmath.isfinite(top):
        edges.append((truth.high, top * mpf(1 + rng.uniform())))
    price = mpf(rng.uniform(0.2, 3))
    found = []
    for places in ([*inside, *edges], inside):
        columns = [list(column) for column in zip(*places, strict=True)]
        seen = range(len(places)) if places is not inside else [int(rng.integers(len(places)))]
        found += [Owners(truth, k, *columns, parameters, price) for k in seen]
    found.append(Owners(truth, 0, [inside[0][0]], [inside[0][1]], parameters, price, is_optimal=False))
    if mpmath.isfinite(top):
        found.append(Owners(truth, 0, [truth.high] * 2, [top] * 2, parameters, mpf(0)))
    return found


def check_statements(derivation, law, rng, *, all_parts):
    """Evaluate all that is shown; give how many values were compared.

    Integrals, and the slope of V, take as long as all other parts together.
    """
    compared = 0
    with mp.workdps(DIGITS):
        everyone = owners_of(law, derivation.argument.law, rng)
        for step in derivation.steps:
            views = [replace(each, step=step.name) for each in everyone]
            for equation in step.equations:
                if equation.verdict is Verdict.REFUTED:
                    continue
                is_slow = any(side.has(VALUE) or side.has(sp.Integral) for side in (equation.left, equation.right))
                seen = views if not is_slow else [views[0], views[-1]] * all_parts
                found = [each.fails(equation) for each in seen]
                assert True not in found, (law, step.name, equation.left, equation.relation, equation.right)
                compared += sum(each is not None for each in found)
    return compared


def check_optimum(law, epsilon, price, threshold):
    """Compare a threshold with the best of a fine grid."""
    t = np.linspace(float(law.low), float(law.high), 4001)
    gain = (epsilon - price * t) * law.cdf(t)
    own = float((epsilon - price * threshold) * law.cdf(np.array([threshold]))[0])
    assert own >= float(np.max(gain)) - 1e-12 * epsilon, (law, epsilon, price, threshold)


def check(seed):
    """Derive a random law, and compare; give steps that are undecided, the time, and how much was compared."""
    rng = np.random.default_rng(seed)
    law = draw(rng)
    start = time.process_time()
    derivation = derive(law)
    spent = time.process_time() - start
    verdict = type(law.regularity()).__name__
    refuted = {step.name for step in derivation.steps if step.verdict is Verdict.REFUTED}
    assert refuted <= ({"regularity", "threshold"} if verdict == "Irregular" else set()), (seed, law, refuted)
    if not derivation.parts:
        assert SAID[derivation.step("regularity").verdict] == verdict, (seed, law)
    assert spent < LONGEST, (seed, law, spent)
    owner = int(rng.integers(EPSILON.size))
    parts = (part.derivation for part in derivation.parts if owner in np.arange(EPSILON.size)[part.owners])
    compared = check_statements(next(parts, derivation), of_owner(law, owner), rng, all_parts=seed % RARE == 0)
    rule, price = derivation.threshold_function(), derivation.budget_price_function()
    if rule is not None and verdict == "Regular":
        top = law.virtual_cost(law.high)
        x = np.linspace(0, 1.3 * float(np.max(np.where(np.isfinite(top), top, 9.0))), EPSILON.size)
        assert np.allclose(rule(x, law), law.inverse_virtual_cost(x), rtol=1e-8, atol=1e-9), (seed, law)
    market = smq.Market(EPSILON, law)
    for share in SHARES:
        budget = share * market.most_that_can_be_spent
        solution = smq.solve(market, budget)
        if rule is not None and solution.budget_price > 0 and verdict == "Regular":
            width = float(np.max(law.width))
            thresholds = rule(EPSILON / solution.budget_price, law)
            apart = np.abs(thresholds - solution.thresholds)
            assert np.all(apart[solution.acceptance > 0] <= 1e-6 * width), (seed, law, share)
            for k in range(EPSILON.size) if share == SHARES[2] else ():
                check_optimum(of_owner(law, k), EPSILON[k], solution.budget_price, float(thresholds[k]))
        found = None if price is None else price(EPSILON, budget, law)
        assert found is None or np.isclose(found, solution.budget_price, rtol=1e-8), (seed, law, share)
    return [step.name for step in derivation.steps if step.verdict is Verdict.UNDECIDED], spent, compared


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 0)) for seed in range(12)])
def test_a_random_law(seed):
    assert check(seed)[2] > 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(12, 3000))
def test_many_random_laws(seed):
    check(seed)


def composed(seed):
    rng = np.random.default_rng(seed)
    parts = [draw(rng, 1) for _ in range(2)]
    return cut(parts[0]) if seed % 4 == 0 else smq.Mixture(parts, [0.3, 0.7]) if seed % 4 < 3 else draw(rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_both_say_the_same_of_a_random_law_and_nothing_false(seed):
    law = composed(seed)
    verdict = type(law.regularity()).__name__
    assert SAID[derive(law).step("regularity").verdict] == verdict
    if law.size is None and verdict == "Regular":
        with mp.workdps(50):
            truth = truth_of(law)
            costs = [truth.cost(truth.low + truth.width * mpf(k) / 200) for k in range(1, 200)]
            finite = [cost for cost in costs if mpmath.isfinite(cost)]
            assert all(after >= before * (1 - mpf(10) ** -35) for before, after in itertools.pairwise(finite))


def main(first, last):
    """Check a range of seeds, tell failures as they come, and count every few laws and at the end."""

    def tell():
        found = f"{failed} failed, {compared} values, slowest {slowest:.1f} s, undecided {dict(undecided)}"
        print(f"seeds {first} to {seed}: {found}", flush=True)

    undecided, compared, slowest, failed = collections.Counter(), 0, 0.0, 0
    for seed in range(first, last):
        if (seed - first) % TOLD == 0 and seed > first:
            tell()
        begun = time.process_time()
        try:
            steps, spent, values = check(seed)
        except Exception as error:  # noqa: BLE001 -- each is told, and the run goes on
            failed += 1
            print(seed, "failed:", type(error).__name__, str(error)[:600], flush=True)
            continue
        undecided.update(steps)
        compared, slowest = compared + values, max(slowest, spent)
        took = time.process_time() - begun
        if steps or took > 10:
            print(
                seed, repr(draw(np.random.default_rng(seed)))[:200], steps, f"{spent:.1f} s of {took:.1f} s", flush=True
            )
    tell()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
