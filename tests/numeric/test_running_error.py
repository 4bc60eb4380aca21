import numpy as np
import pytest
import sympy as sp

from smqopt.algebra import lambdify
from smqopt.algebra.evaluation._running_error import error_function

x, a = sp.symbols("x a", positive=True)
EXPRESSIONS = [
    x - sp.sin(x),
    sp.exp(x) - 1 - x,
    1 - (1 - x**2) ** 3,
    6 * x**2 - 8 * x**3 + 3 * x**4,
    (1 + a * x) ** sp.Rational(1, 3) - x / 10,
    x**a - sp.erf(x) + sp.pi * sp.atan(x) * sp.tanh(x),
    sp.sinh(x) - sp.log(1 + x) + sp.cosh(x) / 3 - sp.tan(x / 7),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_the_bound_holds_and_is_not_idle(expression):
    points = np.concatenate([10.0 ** np.arange(-8, 0), np.linspace(0.1, 1.4, 20)])
    value = lambdify([x, a], expression)(points, 1.7)
    bound = error_function([x, a], expression)(points, 1.7)
    for t, got, slack in zip(points, value, bound, strict=True):
        want = expression.evalf(40, subs={x: sp.Rational(float(t)), a: sp.Rational(1.7)})
        assert abs(float(sp.Float(got, 40) - want)) <= slack
        assert slack < 60 * 2.0**-52 * (abs(float(want)) + 2 * max(t, t * t, 1e-300) + 3)


def test_cancellation_shows():
    bound = error_function([x], x - sp.sin(x))
    assert bound(1e-5) > 1e-7 * (1e-15 / 6)
    assert error_function([x], sp.exp(x) - 1)(1e-9) < 1e-24


def test_poles_give_no_finite_bound():
    assert not np.isfinite(error_function([x], 1 / (x - 1))(1.0))


def test_a_quotient_adds_up_the_errors_of_its_parts():
    """|δ(a/b)| ≤ (δa + |a/b| δb)/|b|, with a and b small enough beside their errors for the rounding of the quotient not to count."""
    above, below = sp.exp(x) - 1 - x, x - sp.sin(x)
    points = np.array([1e-3, 1e-2, 0.1])
    quotient, of_above, of_below = (error_function([x], each)(points) for each in (above / below, above, below))
    a, b = (lambdify([x], each)(points) for each in (above, below))
    assert quotient == pytest.approx((of_above + np.abs(a / b) * of_below) / np.abs(b), rel=1e-2)
