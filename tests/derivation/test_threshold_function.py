"""The closed-form threshold in floating point: against the laws' own inverse, against 50 digits, and at the edges."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import smqopt as smq
from smqopt.algebra import Verdict, rational
from smqopt.derivation import derive, proved_threshold_rule
from smqopt.derivation.closed_form import _threshold_rule as proved_rule

WIDTHS = 1e-12
"""Agreement asked for, relative to the width of the support."""

FORMULAS = [
    "theta**2*(3-2*theta)",
    "1-(1-theta)**2",
    "2*theta/(1+theta)",
    "theta/(2-theta)",
    "(1-exp(-2*theta))/(1-exp(-2))",
]

wide = st.one_of(st.sampled_from([0.0, 5e-324, 1e-300, 1e300, np.inf]), st.floats(-12, 12).map(lambda e: 10.0**e))
"""x = ε/λ over all sizes, in units of the width."""
lows = st.one_of(st.just(0.0), st.floats(0, 3))


def distance(rule, law, x):
    return np.max(np.abs(rule(x, law) - law.inverse_virtual_cost(x)) / law.width)


@st.composite
def owners(draw):
    n = draw(st.integers(1, 8))
    unit = draw(st.sampled_from([1e-8, 1.0, 1e8]))

    def each(strategy):
        return np.array([draw(strategy) for _ in range(n)])

    low = each(lows) * unit
    ends = {"low": low, "high": low + each(st.floats(0.25, 2)) * unit}
    law = draw(
        st.sampled_from(
            [
                lambda: smq.Uniform(**ends),
                lambda: smq.Power(each(st.floats(-4, 4).map(np.exp)), **ends),
                lambda: smq.TruncatedExponential(each(st.floats(-8, 2.5).map(lambda e: 10.0**e)) / unit, **ends),
            ]
        )
    )()
    x = np.where(each(st.booleans()), each(wide) * unit, law.virtual_cost(law.low + each(st.floats(0, 1)) * law.width))
    return law, x


@given(owners())
def test_agrees_with_the_law_one_owner_each(case):
    law, x = case
    assert distance(derive(law).threshold_function(), law, x) <= WIDTHS


@pytest.mark.parametrize("law", [smq.Uniform(1, 2), smq.Power(3, 1, 2), smq.TruncatedExponential(2, 1, 2)])
def test_ends_are_exact(law):
    rule = derive(law).threshold_function()
    assert rule([0.0, 1.0], law).tolist() == [1.0, 1.0]
    assert rule([1e3, 1e300, np.inf], law).tolist() == [2.0, 2.0, 2.0]
    assert rule(np.array([]), law).shape == (0,)
    assert np.isnan(rule([np.nan], law)).all()


@pytest.mark.parametrize("rate", [1e-8, 1e-4, 1.0, 50.0, 700.0, 1e3, 1e6])
def test_truncated_exponential_against_50_digits(rate):
    law = smq.TruncatedExponential(rate)
    assert derive(law).verdict is Verdict.PROVED
    rule = derive(law).threshold_function()
    with mpmath.workdps(50):
        for share in (1e-18, 1e-9, 1e-3, 0.5, 0.999):
            theta = mpmath.mpf(share)
            x = float(theta + mpmath.expm1(rate * theta) / rate) if rate * share < 700 else np.inf
            found = rule([x], law)[0]
            if np.isfinite(x):
                back = mpmath.mpf(float(found)) + mpmath.expm1(rate * mpmath.mpf(float(found))) / rate
                slope = 1 + mpmath.exp(rate * theta)
                assert abs(back - x) / slope <= 4e-16 * theta
            else:
                assert found == 1.0


@pytest.mark.parametrize("cdf", FORMULAS)
def test_formulas_against_50_digits(cdf):
    law = smq.from_cdf(cdf, low=0, high=1)
    derivation = derive(law)
    rule = derivation.threshold_function()
    theta = np.concatenate([[0.0, 1e-12, 1e-6], np.linspace(0.01, 0.99, 23), [1 - 1e-6]])
    cost = [float(derivation.virtual_cost.subs(derivation.argument.theta, rational(t)).evalf(50)) for t in theta]
    np.testing.assert_allclose(rule(cost, law), theta, rtol=0, atol=1e-13)
    assert rule([1e30, 1e160, 1e300, np.inf], law).tolist() == [1.0, 1.0, 1.0, 1.0]
    assert rule([0.0], law).tolist() == [0.0]


@pytest.mark.parametrize("cdf", FORMULAS)
def test_formulas_agree_with_the_law(cdf):
    law = smq.from_cdf(cdf, low=0, high=1)
    x = np.concatenate([np.geomspace(1e-12, 1e12, 49), np.linspace(0, 4, 33)])
    assert distance(derive(law).threshold_function(), law, x) <= WIDTHS


def test_formula_in_another_unit():
    law = smq.from_cdf("2*theta/(1+theta)", low=0, high=1, unit=100.0)
    derivation = derive(law)
    assert derivation.verdict is Verdict.PROVED
    assert distance(derivation.threshold_function(), law, np.array([0.0, 30.0, 120.0, np.inf])) <= WIDTHS
    # Laws that differ in the unit alone share one derivation, and its function serves them all.
    other = smq.from_cdf("2*theta/(1+theta)", low=0, high=1, unit=np.array([0.3, 1e8]))
    assert derive(other).argument is derivation.argument
    assert distance(derivation.threshold_function(), other, np.array([0.2, 1.7e8])) <= WIDTHS
    assert distance(derivation.threshold_function(), law.rescale(0.1), np.array([3.0, 12.0])) <= WIDTHS


def test_formula_with_named_ends_in_another_unit():
    ends = {"low": np.array([0.5, 0.75]), "high": 1.5, "a": np.array([2.0, 3.0])}
    law = smq.from_cdf("((theta-low)/(high-low))**a", **ends, unit=np.array([0.3, 100.0]))
    derivation = derive(law)
    assert derivation.verdict is Verdict.PROVED
    assert distance(derivation.threshold_function(), law, np.array([0.3, 110.0])) <= WIDTHS


def test_by_owner():
    laws = [smq.Uniform(0, 1), smq.Power(2), smq.TruncatedExponential(2), smq.Uniform(1, 2), smq.Power(3, 1, 2)]
    law = smq.ByOwner(laws)
    x = np.array([0.5, np.inf, 1.0, 2.0, 0.0])
    rule = derive(law).threshold_function()
    assert rule(x, law).tolist() == [float(one.inverse_virtual_cost(v)) for one, v in zip(laws, x, strict=True)]
    assert rule(x[1:4], law.take(np.array([1, 2, 3]))).tolist() == rule(x, law)[1:4].tolist()


def test_by_owner_without_closed_form():
    beta = smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", low=0, high=1)
    derivation = derive(smq.ByOwner([smq.Uniform(0, 1), beta]))
    assert derivation.threshold_function() is None
    assert derivation.budget_price_function() is None
    assert not derivation.parts[1].derivation.threshold


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Power(2), smq.TruncatedExponential(2)])
def test_thresholds_of_many_owners_at_once(law):
    x = np.random.default_rng(7).uniform(0, 3, 100_000)
    assert distance(derive(law).threshold_function(), law, x) <= WIDTHS


CLOSED_FORMS = {
    "triangular": smq.Triangular([0, 1, 0, 0], [0.5, 1, 1, 2], [1, 3, 1, 3]),
    "histogram": smq.PiecewiseUniform([0, 1, 2], [3, 1]),
    "kumaraswamy": smq.Kumaraswamy([0.5, 2.5], 1, 1, 3),
    "kumaraswamy(1, 2)": smq.Kumaraswamy(1, 2),
    "pareto": smq.Pareto(1, 1, 4),
    "beta": smq.Beta(1, 2),
    "weibull": smq.Weibull(1, 2, 0, 3),
    "gamma": smq.Gamma(1, 2, 1, 3),
    "logarithm": smq.from_cdf("log(1+theta)/log(2)", low=0, high=1),
    "log-uniform": smq.from_cdf("log(theta)/log(4)", low=1, high=4),
    "root": smq.from_cdf("sqrt(1+3*theta)-1", low=0, high=1),
    "mixture": smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], [0.5, 0.5]),
    "truncated": smq.Truncated(smq.Triangular(0, 0.5, 1), 0.25, 0.75),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms_agree_with_the_laws(name):
    law = CLOSED_FORMS[name]
    rule = derive(law).threshold_function()
    low, high = np.min(law.low), np.max(law.high)
    x = np.concatenate([np.linspace(0, low + 8 * (high - low), 257), np.geomspace(1e-12, 1e12, 97), [np.inf, 0.0]])
    x = x[:, None] * np.ones(law.size) if law.size else x
    assert distance(rule, law, x) <= WIDTHS
    alone = proved_threshold_rule(law)
    assert distance(alone, law, x) <= WIDTHS


def test_a_rule_alone_is_given_only_where_its_step_is_proved(monkeypatch):
    law = CLOSED_FORMS["logarithm"]
    true = proved_rule.find_argument

    def wrong(formulas, rows):
        found = true(formulas, rows)
        return replace(found, inverse=replace(found.inverse, threshold=found.inverse.threshold + 1))

    monkeypatch.setattr(proved_rule, "find_argument", wrong)
    monkeypatch.setattr(proved_rule, "keep", lambda *given: given[-1]())
    proved_rule._is_proved.cache_clear()
    assert proved_threshold_rule(law) is None
    proved_rule._is_proved.cache_clear()


def test_a_rule_alone_of_a_law_without_one():
    assert proved_threshold_rule(smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", low=0, high=1)) is None
    assert proved_threshold_rule(smq.ByOwner([smq.Uniform(0, 1), smq.Beta(2, 3)])) is None


def test_below_the_lowest_cost_the_threshold_is_low_to_the_last_bit():
    law = smq.Power(0.5, 0.2, 0.9)  # whose form gives 0.20000000000000004 there
    rule = smq.derive(law).threshold_function()
    assert rule(np.array([0.0, 0.1, 0.2]), law).tolist() == [0.2] * 3
