import numpy as np
import pytest
import sympy as sp

from smqopt.algebra import lambdify
from smqopt.algebra.evaluation._lambdify import careful

x, a = sp.symbols("x a", positive=True)

EXPRESSIONS = [
    sp.exp(x) - 1,
    1 - sp.exp(-a * x),
    (1 - sp.exp(-a * x)) / (1 - sp.exp(-a)),
    3 * sp.exp(x) - 3 + a,
    sp.log(1 + a * x),
    1 - sp.cos(x),
    (1 + x) ** sp.Rational(-1, 2) - 1,
    1 - (1 + x) ** a,
    sp.erf(a * (x + 1)) / (1 - sp.exp(-x)),
    x ** (-a - 1),
    x**a / a,
    -((x - 1) ** 2),
    1 / (x + 1) ** 2,
    sp.sqrt(x) / sp.Rational(1, 3) ** x,
    sp.Integer(10) ** 30 * x / 7,
    sp.sinh(x) / sp.cosh(a * x) + sp.tanh(x) - sp.atan(x) + sp.tan(x / 3) + sp.sin(x),
    sp.pi * x + sp.E,
    sp.LambertW(a * x),
    sp.Rational(-2, 3) * x**3,
    -(x + a) / (-(x + 2) * (a + sp.pi)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
@pytest.mark.parametrize("point", [(1e-12, 1.7), (0.3, 0.4), (2.5, 3.25)])
def test_agrees_with_mpmath(expression, point):
    got = float(lambdify([x, a], expression)(*point))
    want = expression.evalf(40, subs={x: sp.Rational(point[0]), a: sp.Rational(point[1])})
    assert got == pytest.approx(float(want), rel=8e-15, abs=0)


def test_every_parenthesis_survives_the_printer():
    inner = sp.erf(x) * (1 + a) / (x * (2 + a))
    for expression in (1 / inner, -inner, 3 - (a - inner), inner**2 / (a / x), 1 / (x / a) / (a * x)):
        value = lambdify([x, a], expression)(0.7, 1.3)
        assert float(value) == pytest.approx(float(sp.N(expression.subs({x: 0.7, a: 1.3}), 20)), rel=1e-14)


def test_shapes_broadcast_and_constants_fill():
    assert lambdify([x, a], x + a)(np.ones((3, 1)), np.ones(2)).shape == (3, 2)
    assert lambdify([x, a], sp.Integer(3))(np.ones(4), 1.0).tolist() == [3.0] * 4
    assert lambdify([x], x)(1).dtype == np.float64


def test_poles_and_complex_values_do_not_warn():
    assert np.isposinf(lambdify([x], 1 / x)(0.0))
    assert np.isnan(lambdify([x], sp.log(x))(-1.0))
    assert np.isnan(lambdify([x], sp.LambertW(-x))(1.0))


def test_a_foreign_symbol_is_refused():
    with pytest.raises(ValueError, match="holds a"):
        lambdify([x], x + a)


@pytest.mark.parametrize(
    "expression", [1 - (1 - 3 * x) ** 3, sp.log(2 + x), sp.exp(x) - 2, sp.cos(x) + 1, (2 + x) ** a - 1], ids=str
)
def test_what_does_not_cancel_is_left_alone(expression):
    assert careful(expression) == expression
