"""Sums in whole numbers of the least double: exact, the same in any order, and rounded outwards where asked."""

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from smqopt.numeric import UNITS, doubles_around, nearest_of_units, units_of_dot, units_of_sum

doubles = st.floats(allow_nan=False, allow_infinity=False)
factors = st.one_of(st.floats(-1e100, 1e100), st.floats(-5e-324, 1e-300), st.sampled_from([0.0, -0.0, 5e-324, 1e-162]))


@given(st.lists(doubles, max_size=30), st.integers(0, 30))
def test_a_sum_is_exact_however_it_is_split(values, cut):
    x = np.array(values)
    exact = sum(map(Fraction, values)) * UNITS
    assert units_of_sum(x) == exact == units_of_sum(x[:cut]) + units_of_sum(x[cut:])


@given(st.lists(st.tuples(factors, factors), max_size=20), st.integers(0, 20))
def test_a_dot_product_is_enclosed_and_the_same_however_it_is_split(pairs, cut):
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T.copy()
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0)) * UNITS
    for toward in (-1, 0, 1):
        whole = units_of_dot(x, y, toward=toward)
        assert whole == units_of_dot(x[:cut], y[:cut], toward=toward) + units_of_dot(x[cut:], y[cut:], toward=toward)
    assert units_of_dot(x, y, toward=-1) <= exact <= units_of_dot(x, y, toward=1)
    if np.all((np.abs(x * y) > 1e-250) | (x == 0) | (y == 0)):
        assert units_of_dot(x, y) == exact


@given(st.integers(-(10**340), 10**340))
def test_doubles_around_are_the_nearest_on_either_side(total):
    low, high = doubles_around(total, total)
    assert Fraction(low) * UNITS <= total <= Fraction(high) * UNITS
    assert low == high or np.nextafter(low, np.inf) == high
    assert nearest_of_units(total) in (low, high)


def test_what_overflows_is_infinite():
    assert nearest_of_units(UNITS << 1100) == np.inf
    assert nearest_of_units(-UNITS << 1100) == -np.inf
    assert doubles_around(UNITS << 1100, UNITS << 1100) == (np.finfo(float).max, np.inf)
