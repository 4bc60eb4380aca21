"""Edges of the numeric helpers that no larger test meets: a changed sign or number in one of them shows here."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, strategies as st

import smqopt as smq
from smqopt.numeric import ball, ball_function, cover, hull, increasing_root, plain_array, precision, series_function
from smqopt.numeric._roots import _next_share
from smqopt.numeric._sums import UNITS, doubles_around

x, k = sp.symbols("x k")
shares = st.floats(0.05, 0.95)


def test_a_jump_is_found_by_halving():
    asked = []

    def jump(theta, _):
        asked.append(theta.size)
        return np.where(theta < math.pi / 10, -1.0, 1.0)

    (root,) = increasing_root(jump, np.zeros(1), np.ones(1))
    assert abs(root - math.pi / 10) <= 2 * np.spacing(root)
    assert sum(asked) <= 80


@given(shares, shares, st.floats(1e-3, 1e3), st.booleans())
def test_the_next_point_lies_inside_its_bracket(place, at, width, newest):
    """Chandrupatla (1997): the step of the inverse quadratic, kept half of what is fine from both ends."""
    low, high, g = np.array([0.0]), np.array([width]), lambda t: np.array([t / width - place])
    third = np.array([-at * width if newest else width * (1 + at)])
    fine = np.array([0.01 * width])
    share = _next_share(np.array([newest]), low, high, g(0.0), g(width), third, g(third[0]), fine)
    assert 0.005 <= share[0] <= 0.995
    root = share[0] if newest else 1 - share[0]
    assert root == pytest.approx(place, abs=1e-9)  # of a straight line, in one step


def test_an_exact_root_ends_the_search():
    asked = []

    def line(theta, _):
        asked.append(float(theta[0]))
        return theta - 0.25

    assert increasing_root(line, np.zeros(1), np.ones(1))[0] == 0.25
    assert len(asked) <= 4
    assert increasing_root(lambda theta, _: theta - 1.5, np.ones(1), 2 * np.ones(1))[0] == 1.5


def test_powers_of_balls_and_series_at_zero():
    root = ball_function(sp.sqrt(x), [x], bases_are_nonnegative=True)
    third = ball_function(x ** sp.Rational(1, 3), [x], bases_are_nonnegative=True)
    with precision(100):
        for function in (root, third):
            around = function(hull(Fraction(-1, 8), Fraction(1, 4)))
            assert around.is_finite()
            assert around.contains(0)
        assert third(hull(Fraction(1, 4), Fraction(1, 2))) > 0.6
        assert third(hull(Fraction(2), Fraction(3))) > 1.2


def test_powers_of_series():
    with precision(100):
        whole = series_function((x - 1) ** k, x, 3, {k: ball(2)})(ball(Fraction(1, 2)))
        assert [float(one.mid()) for one in whole] == pytest.approx([0.25, -1.0, 1.0])
        broken = series_function(x**k, x, 2, {k: ball(Fraction(1, 3))})
        assert [float(one.mid()) for one in broken(ball(Fraction(1, 8)))] == pytest.approx([0.5, 4 / 3])
        assert not broken(ball(0))[1].is_finite()
        zero = series_function((x - x * 1) ** k + 0 * x, x, 2, {k: ball(Fraction(1, 3))})
        assert all(one == 0 for one in zero(ball(1)))


def test_what_is_missing_is_named_or_left_out():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(smq.InputError, match=r"^x, row 2: must not be masked"):
        plain_array(masked, "x")
    with pytest.raises(smq.InputError, match=r"^x: must not be masked"):
        plain_array(None, "x")
    assert np.array_equal(plain_array(masked, "x", absent=True), [1.0, np.nan], equal_nan=True)


def test_owners_in_order_may_be_named_by_their_numbers():
    assert cover(range(3), ("0", "1", "2"))
    assert cover(range(3), range(3))
    assert not cover(range(3), range(2))
    assert not cover(range(3), ("a", "b", "c"))


def test_doubles_around_numbers_beyond_all():
    largest = math.nextafter(math.inf, 0)
    assert doubles_around(-(UNITS << 1100), UNITS << 1100) == (-math.inf, math.inf)
    assert doubles_around(UNITS << 1100, UNITS << 1100) == (largest, math.inf)
    assert doubles_around(-(UNITS << 1100), -(UNITS << 1100)) == (-math.inf, -largest)
