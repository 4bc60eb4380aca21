import pytest
import sympy as sp

from smqopt.algebra import lambdify
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
