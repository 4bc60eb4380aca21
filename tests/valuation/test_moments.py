"""Moments: incomplete gamma and beta functions without the power by which they vanish at 0."""

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from mpmath import mp, mpf

from smqopt.algebra import Negative, Nonnegative, sign_on
from smqopt.algebra.expression._moments import exponential_moment, in_moments, power_moment
from smqopt.numeric import ball, ball_function, hull, precision, series_function

z = sp.Symbol("z")
SHAPES = [sp.Rational(1, 3), sp.Rational(1), sp.Rational(7, 4), sp.Rational(37, 10)]
PLACES = [sp.Rational(0), sp.Rational(1, 10**9), sp.Rational(1, 3), sp.Rational(999, 1000), sp.Rational(1)]


@pytest.mark.parametrize("a", SHAPES)
@pytest.mark.parametrize("b", [*SHAPES, sp.Rational(-1, 2)])
@pytest.mark.parametrize("at", PLACES)
def test_moments_in_balls(a, b, at):
    with mp.workdps(60), precision(192):
        numbers = [mpf(int(each.p)) / int(each.q) for each in (a, b, at)]
        gamma, beta = (
            ball_function(each, [z])(ball(Fraction(int(at.p), int(at.q))))
            for each in (exponential_moment(a, z), power_moment(a, b, z))
        )
        wanted = mpmath.hyp1f1(numbers[0], numbers[0] + 1, -numbers[2]) / numbers[0]
        assert abs(mpf(gamma.mid().str(60, radius=False)) - wanted) < mpf(10) ** -45
        if at < 1 or b > 0:
            wanted = mpmath.hyp2f1(numbers[0], 1 - numbers[1], numbers[0] + 1, numbers[2]) / numbers[0]
            assert abs(mpf(beta.mid().str(60, radius=False)) - wanted) < mpf(10) ** -45 * (1 + abs(wanted))
        else:
            assert not beta.is_finite()


@pytest.mark.parametrize("moment", [exponential_moment(SHAPES[2], z), power_moment(SHAPES[2], SHAPES[0], z)])
def test_a_ball_holds_the_values_and_slopes_within(moment):
    with precision(192):
        series = series_function(moment, z, 3)(hull(Fraction(1, 8), Fraction(1, 2)))
        for k in range(1, 7):
            inside = ball(Fraction(k + 1, 16))
            for order, coefficient in enumerate(series):
                slope = ball_function(sp.diff(moment, z, order) / sp.factorial(order), [z])(inside)
                assert coefficient.overlaps(slope)


def test_incomplete_functions_are_written_as_moments():
    a, b = sp.Rational(7, 4), sp.Rational(5, 3)
    assert in_moments(sp.lowergamma(a, z)) == z**a * exponential_moment(a, z)
    assert in_moments(sp.betainc(a, b, 0, z)) == z**a * power_moment(a, b, z)
    assert in_moments(sp.lowergamma(sp.Symbol("s"), z)) == sp.lowergamma(sp.Symbol("s"), z)
    assert in_moments(sp.exp(z) - 1) == sp.exp(z) - 1


@pytest.mark.parametrize("sign", [1, -1])
def test_signs_of_incomplete_functions(sign):
    x = sp.Symbol("x", nonnegative=True)
    a, b = sp.Rational(7, 4), sp.Rational(5, 3)
    bounded = x**a * sp.Rational(3, 5) - sp.betainc(a, b, 0, x)  # as (1 − t)^(2/3) ≤ 1, and 4/7 < 3/5
    found = sign_on(sign * bounded, x, Fraction(0), Fraction(1))
    assert isinstance(found, Nonnegative if sign == 1 else Negative)
