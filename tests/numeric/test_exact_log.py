from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, strategies as st

from smqopt.algebra import lambdify, put_in
from smqopt.algebra.expression._exact_log import exact_log, power
from smqopt.numeric import ball, ball_function, precision

x = sp.Symbol("x", nonnegative=True)
LONG = sp.Rational(*(1.7).as_integer_ratio())


@pytest.mark.parametrize("number", [sp.Integer(96), sp.Rational(3, 7), sp.Rational(*(0.1).as_integer_ratio())], ids=str)
def test_long_powers_of_numbers_are_quick_and_right(number):
    value = power(number, LONG)
    assert float(value.evalf(30)) == pytest.approx(float(number) ** 1.7, rel=1e-15)
    assert float(lambdify([x], value)(0.0)) == pytest.approx(float(number) ** 1.7, rel=1e-15)
    with precision(100):
        assert float(ball_function(value, [])().mid()) == pytest.approx(float(number) ** 1.7, rel=1e-15)


def test_factors_are_set_apart():
    value = power(sp.Rational(96, 7) * x - sp.Rational(96, 14), LONG)
    assert value == sp.exp(LONG * exact_log(sp.Rational(48, 7))) * (2 * x - 1) ** LONG
    with precision(100):
        assert float(ball_function(value, [x])(ball(0.75)).mid()) == pytest.approx((24 / 7) ** 1.7, rel=1e-15)


def test_edges():
    assert power(sp.Integer(0), LONG) == 0
    assert power(sp.Integer(1), LONG) == 1
    assert power(sp.Integer(-2), LONG) is sp.nan
    assert power(sp.Integer(8), sp.Rational(1, 3)) == 2


@given(
    st.fractions(Fraction(1, 99), 999, max_denominator=99),
    st.fractions(-4, 4, max_denominator=50),
    st.fractions(Fraction(1, 9), 9, max_denominator=9),
)
def test_a_value_is_put_in_under_any_power(base, exponent, factor):
    base, exponent, factor = (sp.Rational(part.numerator, part.denominator) for part in (base, exponent, factor))
    value = put_in((factor * x) ** exponent, {x: base})
    assert float(value) == pytest.approx(float(base * factor) ** float(exponent), rel=1e-12)
    assert value == put_in(value, {}) == put_in((base * factor) ** exponent, {})


def test_equal_numbers_are_alike():
    one, other = sp.Integer(103**19 * 10**13) ** sp.Rational(1, 25), sp.Integer(103) ** sp.Rational(19, 25)
    assert one != 10 ** sp.Rational(13, 25) * other  # to SymPy
    assert put_in(one - 10 ** sp.Rational(13, 25) * other, {}) == 0


def test_edges_of_putting_in():
    third = sp.Rational(1, 3)
    assert put_in(x**third, {x: sp.Integer(0)}) == 0
    assert put_in(x**-third, {x: sp.Integer(0)}) is sp.zoo
    assert put_in(x**third, {x: sp.Integer(1)}) == 1
    assert put_in(x, {x: sp.oo}) is sp.oo
    assert put_in(sp.exp(x) + 1, {}) == sp.exp(x) + 1
    prime = sp.Integer(2**61 - 1)  # beyond what is factored
    assert put_in(x**third, {x: prime}) == prime**third
