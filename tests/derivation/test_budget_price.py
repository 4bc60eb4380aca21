"""The budget price in closed form: reference values, the dual search, and where it does not hold."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, strategies as st

import smqopt as smq
from smqopt.algebra import BUDGET, EPSILONS, I, N
from smqopt.derivation import derive
from smqopt.valuation import HIGH, LOW

REFERENCE = {
    "uniform": (smq.Uniform(0, 1), [0.2, 0.5, 1.0], 0.5, "0.80311892021045052703"),
    "power 2": (smq.Power(2), [0.1, 0.4, 0.7, 1.0], 1.2, "0.70315199053024016434"),
    "power 1/2": (smq.Power(0.5), [0.1, 0.4, 0.7, 1.0], 1.2, "0.44808491472350795449"),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_values(name):
    law, epsilon, budget, price = REFERENCE[name]
    found = derive(law).budget_price_function()(epsilon, budget, law)
    assert abs(found - float(price)) <= 1e-14 * float(price)


@pytest.mark.parametrize("name", REFERENCE)
def test_expression_at_reference_values(name):
    law, epsilon, budget, price = REFERENCE[name]
    derivation = derive(law)
    exact = {N: len(epsilon), BUDGET: sp.Rational(str(budget)), LOW: 0, HIGH: 1}
    exact |= {
        symbol: sp.Rational(*law.k.as_integer_ratio())
        for name, symbol in derivation.argument.law.parameters
        if name == "k"
    }
    value = derivation.budget_price.expression.subs(exact).doit()
    value = value.subs({EPSILONS[i + 1]: sp.Rational(str(e)) for i, e in enumerate(epsilon)})
    assert abs(sp.N(value, 30) - sp.Float(price, 30)) < sp.Float("1e-19", 30)


def test_uniform_expression():
    expression = derive(smq.Uniform(0, 1)).budget_price.expression
    known = sp.Sum(EPSILONS[I] ** 2, (I, 1, N)) / (4 * BUDGET * (HIGH - LOW) + N * LOW**2)
    assert sp.simplify(expression**2 - known) == 0


def test_condition_is_stated():
    assert "support begins at 0" in derive(smq.Power(2)).budget_price.condition
    assert "J(low) ≤ ε_i/λ ≤ J(high)" in derive(smq.Uniform(0, 1)).budget_price.condition


laws = st.one_of(
    st.builds(lambda low, width: smq.Uniform(low, low + width), st.floats(0, 2), st.floats(0.25, 2)),
    st.builds(lambda k, high: smq.Power(k, 0, high), st.floats(0.2, 8), st.floats(0.25, 2)),
    st.builds(lambda low, ratio: smq.Pareto(1, low, low * ratio), st.floats(0.25, 2), st.floats(1.25, 8)),
)


@given(laws, st.lists(st.floats(0.3, 1), min_size=1, max_size=8), st.floats(0.02, 1.2), st.booleans())
def test_agrees_with_the_search_where_it_holds(law, epsilon, share, repeated):
    market = smq.Market(epsilon, law, multiplicity=np.arange(1, len(epsilon) + 1) if repeated else None)
    budget = share * market.most_that_can_be_spent
    found = derive(law).budget_price_function()(epsilon, budget, law, market.multiplicity)
    solution = smq.solve(market, budget)
    inside = np.all((solution.acceptance > 1e-6) & (solution.acceptance < 1 - 1e-6))
    if found is None:
        assert not inside
    else:
        assert abs(found - solution.budget_price) <= 1e-11 * found


@given(st.floats(0.25, 4), st.sampled_from([1e-8, 1e8]))
def test_scaling_of_currency(k, unit):
    law, epsilon = smq.Power(k, 0, 1), [0.4, 0.7, 1.0]
    price = derive(law).budget_price_function()
    one, other = price(epsilon, 0.3, law), price(epsilon, 0.3 * unit, smq.Power(k, 0, unit))
    assume(one is not None)
    assert abs(other * unit - one) <= 1e-12 * one


def test_none_where_it_does_not_hold():
    law = smq.Uniform(0, 1)
    price = derive(law).budget_price_function()
    assert price([0.2, 0.5, 1.0], 0.0, law) is None
    assert price([0.0, 0.0], 1.0, law) is None
    assert price([0.2, 0.5, 1.0], 2.0, law) is None  # one owner is at the high end
    assert price([0.2, 0.5, 1.0], 3.0, law) is None  # slack
    assert price([0.5, 1.0], 0.5, smq.Uniform([0.0, 0.0], [1.0, 2.0])) is None  # not a common law
    on_one_two = smq.Uniform(1, 2)
    assert derive(on_one_two).budget_price_function()([0.1, 0.4, 0.7, 1.0], 2.0, on_one_two) is None  # one owner is out
    raised = smq.Power(2, low=0.5, high=1)
    assert derive(raised).budget_price_function()([0.5, 1.0], 0.5, raised) is None  # needs low = 0
    assert derive(smq.TruncatedExponential(2)).budget_price_function() is None
    assert derive(smq.ByOwner([law, smq.Power(2)])).budget_price_function() is None


def test_owner_without_privacy_to_sell():
    law = smq.Uniform(0, 1)
    price = derive(law).budget_price_function()
    assert price([0.0, 0.2, 0.5, 1.0], 0.5, law) == price([0.2, 0.5, 1.0], 0.5, law)
