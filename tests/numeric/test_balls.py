from fractions import Fraction

import pytest
import sympy as sp
from flint import ctx

from smqopt.numeric import ball, ball_function, hull, precision, series_function, tape

x = sp.Symbol("x", nonnegative=True)
EXPRESSIONS = [
    x**3 - x,
    1 / (1 + x),
    sp.sqrt(1 + x),
    (1 + x) ** sp.Rational(7, 3),
    (2 + x) ** sp.Rational(-5, 2),
    sp.exp(-x) * sp.pi + sp.E,
    sp.log(2 + x),
    sp.sin(x) + sp.cos(x) * sp.tan(x / 5),
    sp.atan(x) / sp.cosh(x) + sp.sinh(x) * sp.tanh(x),
    sp.cot(x / 5) + x * sp.cot(x / 7) ** 2,
    sp.erf(x),
    (1 + x) ** x,
    x,
    sp.Integer(3),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_balls_hold_the_value(expression):
    with precision(120):
        for point in (Fraction(1, 3), Fraction(2)):
            value = ball_function(expression, [x])(ball(point))
            want = sp.N(expression.subs(x, sp.Rational(point.numerator, point.denominator)), 40)
            assert abs(float(value.mid()) - float(want)) < 1e-14
            assert float(value.rad()) < 1e-30


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_a_wide_ball_holds_every_value(expression):
    function = ball_function(expression, [x])
    with precision(120):
        wide = function(hull(Fraction(1, 4), Fraction(1, 2)))
        assert all(wide.overlaps(function(ball(Fraction(k, 32)))) for k in range(8, 17))
        assert wide.is_finite()


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_series_are_taylor_coefficients(expression):
    with precision(160):
        coefficients = series_function(expression, x, 5)(ball(Fraction(1, 2)))
        for k, got in enumerate(coefficients):
            want = sp.N(sp.diff(expression, x, k).subs(x, sp.Rational(1, 2)) / sp.factorial(k), 40)
            assert abs(float(got.mid()) - float(want)) < 1e-13


def test_nothing_is_said_outside_the_domain():
    with precision(64):
        for expression in (1 / x, sp.log(x), x ** sp.Rational(-1, 2)):
            value = ball_function(expression, [x])(hull(Fraction(0), Fraction(1)))
            assert not value >= 0
            assert not value < 0
        assert not series_function(sp.sqrt(x), x, 3)(hull(Fraction(0), Fraction(1)))[1].is_finite()


def test_cutting_bases_at_zero_is_opt_in():
    function, cut = (ball_function(sp.sqrt(x), [x], bases_are_nonnegative=flag) for flag in (False, True))
    with precision(64):
        piece = hull(Fraction(0), Fraction(1, 4))
        assert not function(piece).is_finite()
        assert cut(piece).is_finite()
        assert not cut(piece) > 0.5001


def test_precision_is_restored():
    def fail() -> None:
        assert ctx.prec == 333
        raise ZeroDivisionError

    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(333):
        fail()
    assert ctx.prec == before


def test_the_tape_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="gamma is not known"):
        tape(sp.gamma(x), [x])
    with pytest.raises(ValueError, match="the symbol y"):
        tape(x + sp.Symbol("y"), [x])
