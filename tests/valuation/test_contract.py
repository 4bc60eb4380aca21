"""One contract for every law: the registry's, plugged-in formulas, and mixtures by owner, against mpmath."""

import importlib
import json

import mpmath
import numpy as np
import pytest
from law_oracles import REGULAR

import smqopt as smq
from smqopt.valuation import LAWS, valuation_from_dict
from smqopt.valuation.law._conformance import validate

DIGITS = 320
SHARES = [1e-9, 1e-3, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - 2.0**-10]
E1 = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"


def registered(name, **changes):
    module, cls, example = LAWS[name]
    return getattr(importlib.import_module(module), cls)(**{**example, **changes})


def law_examples():
    rng = np.random.default_rng(7)
    low = rng.uniform(0, 3, 5)
    high = low + rng.uniform(0.25, 4, 5)
    for name in LAWS:
        law = registered(name)
        if np.all(np.asarray(law.cdf(law.low)) == 0):  # laws with atoms promise something else
            yield law
    for name, changes in {
        "uniform": {},
        "power": {"k": [0.5, 1.0, 2.0, 3.7, 8.0]},
        "truncated-exponential": {},
    }.items():
        yield registered(name, low=0.75, high=2.5)
        yield registered(name, low=low, high=high, **changes)
        yield registered(name, high=high)
    yield from REGULAR
    yield smq.TruncatedExponential(rate=[1e-8, 0.5, 3.0, 40.0, 600.0], low=0.5, high=1.5)
    yield smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)
    yield smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", 0, 1)
    yield smq.from_cdf("1 - (1 - theta**2)**3", 0, 1)
    yield smq.from_cdf("theta**a", 0, 1, a=[0.3, 1.0, 2.5])
    yield smq.from_cdf(E1, 0, 1, c=0.85)
    yield smq.from_cdf("1 - cos(pi*theta/2)", 0, 1)
    yield smq.from_cdf("(exp(theta) - 1 - theta)/(exp(1) - 2)", 0, 1)
    yield smq.from_cdf("erf(theta - 1)/erf(2)", 1, 3)
    yield smq.from_cdf("((theta - low)/(high - low))**k", low, high, k=1.7)
    yield smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1, unit=[3.0, 1e-6])
    yield smq.from_cdf("(1 - exp(-r*theta))/(1 - exp(-r))", 0, 1, r=[1e-8, 2.0, 40.0])
    yield smq.ByOwner([
        smq.Uniform(0, 1), smq.Power(2), smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1), smq.Power(0.5, 1, 3),
        smq.TruncatedExponential(3.0),
    ])  # fmt: skip


EXAMPLES = list(law_examples())


def spelt(law):
    """Whether every part of the law gives a formula."""
    return all(part.formula for part, _ in law.parts())


def exact_functions(law, owner):
    """F, f and J of one owner, in mpmath, from the formula's text or the class's definition, written out anew."""
    pick = {
        name: mpmath.mpf(float(np.broadcast_to(getattr(law, name), law.size or 1)[owner])) for name in law.parameters
    }
    unit = pick.pop("unit", mpmath.mpf(1))
    if law.name == "formula":
        pick |= {"low": mpmath.mpf(law.to_dict()["low"]) if law.size is None else pick["low"] / unit}
        pick |= {"high": mpmath.mpf(law.to_dict()["high"]) if law.size is None else pick["high"] / unit}
    functions = {name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "erf")}
    functions["log"] = lambda x: mpmath.log(x) if x else -mpmath.inf
    text = law.to_dict()["cdf"] if law.name == "formula" else law.formula
    code = compile(text.replace("(-1/2)", "(-mpf(1)/2)"), "formula", "eval")

    def F(t):
        return eval(  # noqa: S307
            code, {"__builtins__": {}}, {**functions, **pick, "pi": mpmath.pi, "mpf": mpmath.mpf, "theta": t / unit}
        )

    def f(t):
        low = pick["low"] * unit
        step = min(abs(t - low), abs(pick["high"] * unit - t)) * mpmath.mpf(10) ** -20
        return (F(t + step) - F(t - step)) / (2 * step)

    return F, f, lambda t: t + F(t) / f(t)


def parts(law):
    """Pairs of a one-family law and the owner within it, for every owner."""
    for part, _ in law.parts():
        for owner in range(part.size or 1):
            yield part, owner


def ends(law, owner):
    return (float(np.broadcast_to(end, law.size or 1)[owner]) for end in (law.low, law.high))


def at(law, method, owner, x):
    value = getattr(law, method)(np.full(law.size, x) if law.size else x)
    return float(np.broadcast_to(value, law.size or 1)[owner])


@pytest.mark.parametrize("law", [law for law in EXAMPLES if spelt(law)], ids=lambda law: repr(law)[:60])
def test_agrees_with_mpmath(law):
    for part, owner in parts(law):
        low, high = ends(part, owner)
        with mpmath.workdps(DIGITS):
            F, f, J = exact_functions(part, owner)
            for share in SHARES:
                t = low + share * (high - low)
                # the exponent's own rounding, where it is in the hundreds
                slack = 4e-15 * max(1.0, float(np.max(getattr(part, "rate", 0.0))) / 20)
                if f(mpmath.mpf(t)) == 0:  # so small that even the oracle's digits see nothing
                    continue
                # the condition number: what one rounding of θ alone would cost
                slack += 4.5e-16 * t * float(f(mpmath.mpf(t)) / F(mpmath.mpf(t)))
                assert at(part, "cdf", owner, t) == pytest.approx(float(F(mpmath.mpf(t))), rel=slack, abs=0)
                # a density that vanishes at high feels the rounding of t/unit
                steep = slack + 4e-16 * t / (high - t) if hasattr(part, "unit") else slack
                assert at(part, "pdf", owner, t) == pytest.approx(float(f(mpmath.mpf(t))), rel=steep, abs=0)
                cost = float(J(mpmath.mpf(t)))
                assert at(part, "virtual_cost", owner, t) == pytest.approx(cost, rel=steep, abs=0)


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_inverses(law):
    for part, owner in parts(law):
        low, high = ends(part, owner)
        width = high - low
        for share in SHARES:
            t = low + share * width
            cost, level = at(part, "virtual_cost", owner, t), at(part, "cdf", owner, t)
            assert abs(at(part, "inverse_virtual_cost", owner, cost) - t) <= 1e-14 * width + 4 * np.spacing(t)
            slope = at(part, "pdf", owner, t) * width
            if level == 0:  # below the smallest double
                continue
            promised = 1e-14 * width if share > 2.0**-10 else 1e-13 * share * width
            room = 4 * np.spacing(t) + width * 4e-16 * level / slope + promised
            assert abs(at(part, "ppf", owner, level) - t) <= room


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_ends_and_outside(law):
    low, high = np.asarray(law.low), np.asarray(law.high)
    n = law.size or 1
    assert np.all(law.cdf(low) == 0)
    assert np.all(law.cdf(high) == 1)
    assert np.all(law.cdf(low - 1) == 0)
    assert np.all(law.cdf(high + 1) == 1)
    assert np.all(law.pdf(low - 1) == 0)
    assert np.all(law.pdf(high + 1) == 0)
    assert np.all(law.virtual_cost(low) == low)
    assert np.all(law.virtual_cost(high) >= high)
    assert np.all(np.isnan(law.virtual_cost(high + 1)))
    assert np.all(law.ppf(np.zeros(n)) == low)
    assert np.all(law.ppf(np.ones(n)) == high)
    assert np.all(np.isnan(law.ppf(np.full(n, 1.5))))
    assert np.all(np.isnan(law.ppf(np.full(n, -0.5))))
    assert np.all(law.inverse_virtual_cost(np.full(n, np.inf)) == high)
    assert np.all(law.inverse_virtual_cost(np.zeros(n)) == low)
    assert np.all(law.inverse_virtual_cost(law.virtual_cost(high)) >= high - 2 * np.spacing(high))
    assert np.all(np.isnan(law.inverse_virtual_cost(np.full(n, np.nan))))


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_thresholds_rise_with_the_price(law):
    n = law.size or 1
    low, high = (np.broadcast_to(end, n) for end in (law.low, law.high))
    before = low
    for share in np.concatenate([10.0 ** np.arange(-9, 0), np.linspace(0.1, 4, 60)]):
        theta = np.broadcast_to(law.inverse_virtual_cost(low + share * (high - low)), n)
        assert np.all(theta >= before - 4 * np.spacing(before))
        assert np.all((theta >= low) & (theta <= high))
        before = theta


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_other_units(law):
    n = law.size or 1
    levels = np.linspace(0.1, 0.9, n)
    theta = np.broadcast_to(law.ppf(levels), n)
    for factor in (2.0**20, 2.0**-20, 3.0, 1e8, 1e-8):
        other = law.rescale(factor)
        same = np.array_equal if np.log2(factor).is_integer() else lambda a, b: np.allclose(a, b, rtol=1e-12, atol=0)
        assert same(other.low, factor * np.asarray(law.low))
        assert same(other.ppf(levels), factor * law.ppf(levels))
        assert same(other.cdf(factor * theta), law.cdf(theta))
        assert same(other.pdf(factor * theta), law.pdf(theta) / factor)
        assert same(other.virtual_cost(factor * theta), factor * law.virtual_cost(theta))
        cost = law.virtual_cost(theta)
        assert same(other.inverse_virtual_cost(factor * cost), factor * law.inverse_virtual_cost(cost))


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_data_give_the_same_law_back(law):
    n = law.size or 1
    for original in (law, law.rescale(3.0)):
        again = valuation_from_dict(json.loads(json.dumps(original.to_dict())))
        assert again.to_dict() == original.to_dict()
        assert np.array_equal(again.ppf(np.linspace(0, 1, n)), original.ppf(np.linspace(0, 1, n)))
        assert np.array_equal(again.high, original.high)


@pytest.mark.parametrize("law", [law for law in EXAMPLES if law.size], ids=lambda law: repr(law)[:60])
def test_taking_owners(law):
    levels = np.linspace(0.1, 0.9, law.size)
    some = np.array([law.size - 1, 0], dtype=np.intp)
    for index in (some, slice(1, None), slice(0, 1)):
        part = law.take(index)
        assert part.size == np.arange(law.size)[index].size
        assert np.array_equal(part.ppf(levels[index]), law.ppf(levels)[index])
        costs = law.virtual_cost(law.ppf(levels))
        assert np.array_equal(part.inverse_virtual_cost(costs[index]), law.inverse_virtual_cost(costs)[index])


@pytest.mark.parametrize(
    "laws",
    [
        [smq.Uniform(0, 1), smq.Uniform(1, 3)],
        [smq.Power(2), smq.Power(0.5, 1, 2)],
        [smq.TruncatedExponential(2), smq.TruncatedExponential(0.1, 1, 2)],
        [smq.from_cdf("theta**a", 0, 1, a=2.0), smq.from_cdf("theta**a", 0, 1, a=0.5).rescale(4.0)],
    ],
    ids=lambda laws: laws[0].name,
)
def test_stacking(laws):
    one = laws[0].stack(laws)
    assert one.size == 2
    assert one.family == laws[0].family
    assert one.ppf([0.3, 0.6]).tolist() == [float(laws[0].ppf(0.3)), float(laws[1].ppf(0.6))]
    assert laws[0].stack([laws[0], laws[0]]).size is None


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_samples_follow_the_cdf(law):
    rng = np.random.default_rng(11)
    draws = np.stack([law.sample(rng) for _ in range(150)]) if law.size else law.sample(rng, 2000)
    levels = np.stack([law.cdf(row) for row in draws]) if law.size else law.cdf(draws)[:, None]
    m = levels.shape[0]
    for column in np.sort(levels, axis=0).T:
        distance = np.max(np.abs(column - (np.arange(m) + 0.5) / m))
        assert distance * np.sqrt(m) < 2.0  # Kolmogorov: exceeded once in 1,500 owners


@pytest.mark.parametrize("law", EXAMPLES, ids=lambda law: repr(law)[:60])
def test_passes_the_battery_and_is_regular(law):
    validate(law)
    assert isinstance(law.regularity(), smq.Regular)


@pytest.mark.parametrize("spread", [1e-8, 1e-4, 1.0, 36.0, 50.0, 700.0, 1e5])
@pytest.mark.parametrize("low", [0.0, 0.5])
def test_truncated_exponential_for_every_rate(spread, low):
    law = smq.TruncatedExponential(rate=spread / 2, low=low, high=low + 2)
    with mpmath.workdps(DIGITS):
        rate = mpmath.mpf(law.rate)
        for share in [*SHARES, 1e-9 / max(spread, 1)]:
            t = low + 2 * share
            distance = mpmath.mpf(t) - mpmath.mpf(low)
            F = mpmath.expm1(-rate * distance) / mpmath.expm1(-rate * 2)
            assert float(law.cdf(t)) == pytest.approx(
                float(F), rel=1e-15 * (4 + float(rate * distance) / 1e3), abs=1e-300
            )
            J = mpmath.mpf(t) + mpmath.expm1(rate * distance) / rate
            if J < 1e300:
                back = float(law.inverse_virtual_cost(float(J)))
                assert abs(back - t) <= 4 * np.spacing(t) + 4e-16 * float(distance)
                assert float(law.virtual_cost(t)) == pytest.approx(float(J), rel=4e-16 * (4 + float(rate * distance)))
        for u in (1e-12, 0.3, 0.5, 0.999):
            want = mpmath.mpf(low) - mpmath.log1p(mpmath.mpf(u) * mpmath.expm1(-rate * 2)) / rate
            assert float(law.ppf(u)) == pytest.approx(float(want), rel=1e-15)
