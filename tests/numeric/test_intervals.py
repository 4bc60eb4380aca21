"""Intervals against exact fractions: what they hold, and that they hold hardly more."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.numeric._intervals import Interval

numbers = st.floats(-1e3, 1e3, allow_subnormal=False)
intervals = st.tuples(numbers, numbers).map(sorted)
OPERATIONS = {
    "sum": (lambda x, y: x + y, lambda a, b: a + b),
    "difference": (lambda x, y: x - y, lambda a, b: a - b),
    "product": (lambda x, y: x * y, lambda a, b: a * b),
    "quotient": (lambda x, y: x / y, lambda a, b: a / b),
    "negative": (lambda x, _: -x, lambda a, _: -a),
    "part from 0 on": (lambda x, _: x.nonnegative(), lambda a, _: max(a, Fraction(0))),
}


def of(ends):
    return Interval(*(np.array([end]) for end in ends))


def encloses_closely(found, values):
    """Every value, and at the ends no more than two doubles beyond the outermost."""
    low, high = float(found.low[0]), float(found.high[0])
    assert Fraction(low) <= min(values)
    assert Fraction(high) >= max(values)
    for end, value in ((low, float(min(values))), (high, float(max(values)))):
        assert abs(end - value) <= 2 * np.spacing(abs(value)), (end, value)


@pytest.mark.parametrize("name", OPERATIONS)
@given(intervals, intervals)
def test_operations(name, x, y):
    of_intervals, of_numbers = OPERATIONS[name]
    if name == "quotient" and y[0] <= 0 <= y[1]:
        with np.errstate(all="ignore"):
            assert (of(x) / of(y)).low[0] == -np.inf
            assert (of(x) / of(y)).high[0] == np.inf
        return
    with np.errstate(over="ignore"):
        found = of_intervals(of(x), of(y))
    if np.isinf(found.low[0]) or np.isinf(found.high[0]):
        return
    encloses_closely(found, [of_numbers(Fraction(a), Fraction(b)) for a in x for b in y])


@given(st.tuples(st.floats(0, 10), st.floats(0, 10)).map(sorted), st.integers(0, 9))
def test_powers_and_roots(x, exponent):
    found = of(x).power(exponent)
    for end, value in ((found.low[0], x[0]), (found.high[0], x[1])):
        assert float(end) == pytest.approx(value**exponent, rel=1e-14, abs=1e-300)
    assert Fraction(float(found.low[0])) <= Fraction(x[0]) ** exponent
    assert Fraction(float(found.high[0])) >= Fraction(x[1]) ** exponent
    root = of(x).root()
    assert Fraction(float(root.low[0])) ** 2 <= Fraction(x[0])
    assert Fraction(float(root.high[0])) ** 2 >= Fraction(x[1])
    assert root.low[0] >= 0
    assert root.high[0] - np.sqrt(x[1]) <= 2 * np.spacing(np.sqrt(x[1]))


@given(st.lists(intervals, min_size=1, max_size=20))
def test_totals(rows):
    low, high = Interval(*(np.array(column) for column in zip(*rows, strict=True))).total()
    for found, column, sign in ((low, 0, -1), (high, 1, 1)):
        exact = sum(Fraction(row[column]) for row in rows)
        assert sign * (Fraction(found) - exact) >= 0
        assert abs(found - float(exact)) <= 2 * np.spacing(max(abs(float(exact)), 1e-300))


def test_a_sum_of_nothing_is_nothing():
    assert Interval.exact(np.zeros(3)).total() == (0.0, 0.0)
