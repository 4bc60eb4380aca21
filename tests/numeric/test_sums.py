import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.numeric import BLOCK, exact_dot, exact_sum, sum_with_error

reals = st.one_of(
    st.floats(-1e150, 1e150, allow_nan=False), st.sampled_from([0.0, -0.0, 1e16, -1e16, 1.0, 5e-324, 0.1])
)


def nearest(value: Fraction) -> float:
    return value.numerator / value.denominator


@given(st.lists(reals, max_size=60))
def test_sum_is_the_exact_one_rounded(x):
    assert exact_sum(np.array(x)) == nearest(sum(map(Fraction, x), Fraction(0)))


@given(st.lists(st.tuples(reals, reals), max_size=60))
def test_dot_is_the_exact_one_rounded_where_no_product_underflows(pairs):
    pairs = [(a, b) for a, b in pairs if (a * b == 0 and 0 in (a, b)) or abs(a * b) > 1e-270]
    exact = sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
    x, y = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    if abs(exact) < Fraction(2) ** 1023:
        assert exact_dot(x, y) == nearest(exact)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_every_number_of_blocks(size):
    rng = np.random.default_rng(size)
    x = rng.standard_normal(size) * 10.0 ** rng.integers(-30, 30, size)
    y = rng.standard_normal(size)
    assert exact_sum(x) == math.fsum(x)
    assert exact_dot(x, y) == nearest(sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction(0)))


def test_order_does_not_matter():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(1000) * 10.0 ** rng.integers(-20, 20, 1000)
    assert exact_sum(x) == exact_sum(x[::-1]) == exact_sum(rng.permutation(x))


@pytest.mark.parametrize(
    ("x", "total"),
    [
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([1e308, 1e308], math.inf),
        ([1e308, -1e308, 1.0], 1.0),
    ],
)
def test_infinities(x, total):
    assert exact_sum(np.array(x)) == total


def test_nan_stays():
    assert math.isnan(exact_sum(np.array([1.0, math.nan])))
    assert math.isnan(exact_dot(np.array([1.0, math.nan]), np.array([1.0, 1.0])))


def test_a_scalar_weight_broadcasts():
    assert exact_dot(np.array([0.1, 0.2, 0.3]), np.array(2.0)) == 2 * math.fsum([0.1, 0.2, 0.3])


@given(st.lists(st.floats(-1e12, 1e12), max_size=40), st.integers(0, 3))
def test_fast_sums_say_what_they_miss(terms, tiles):
    x = np.tile(np.array(terms, dtype=float), 10**tiles)
    total, error = sum_with_error(x)
    exact = sum(map(Fraction, terms), Fraction(0)) * 10**tiles
    assert abs(Fraction(total) - exact) <= Fraction(error)
    assert error <= 1e-15 * float(np.abs(x).sum()) + 1e-300
