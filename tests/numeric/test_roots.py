import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.numeric import increasing_root


def solve(function, target, low, high):
    target, low, high = (np.atleast_1d(np.asarray(v, dtype=float)) for v in (target, low, high))
    return increasing_root(lambda x, k: function(x) - target[k], low, high)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.1, 9))
def test_powers(levels, exponent):
    levels = np.array(levels)
    root = solve(lambda x: x**exponent, levels, np.zeros(levels.size), np.ones(levels.size))
    below, above = np.nextafter(root, 0), np.nextafter(root, 1)
    below, above = np.nextafter(np.nextafter(below, 0), 0), np.nextafter(np.nextafter(above, 1), 1)
    assert np.all(below**exponent <= levels * (1 + 1e-15))
    assert np.all(above**exponent >= levels * (1 - 1e-15))


def test_tiny_roots_keep_their_digits():
    root = solve(lambda x: x**0.3, [1e-12, 1e-30], [0, 0], [1, 1])
    assert root == pytest.approx([1e-40, 1e-100], rel=1e-14)


def test_a_pole_at_the_end():
    with np.errstate(divide="ignore"):
        root = solve(lambda x: x + x / (1 - x), [1e9, 0.5], [0, 0], [1, 1])
    assert root[0] == pytest.approx(1 - 1e-9, abs=1e-15)
    assert root[1] + root[1] / (1 - root[1]) == pytest.approx(0.5, rel=1e-15)


def test_a_jump_is_bracketed():
    root = solve(lambda x: np.where(x < 0.3, -1.0, 1.0), [0.0], [0.0], [1.0])
    assert abs(root[0] - 0.3) <= 4 * np.spacing(0.3)


def test_never_outside_whatever_the_function_does():
    rng = np.random.default_rng(3)
    low, high = np.full(50, 2.0), np.full(50, 3.0)
    root = increasing_root(lambda x, _: rng.standard_normal(x.shape), low, high)
    assert np.all((root >= 2) & (root <= 3))


def test_empty_and_degenerate():
    assert solve(lambda x: x, [], [], []).size == 0
    assert solve(lambda x: x, [0.5], [0.25], [0.25]).tolist() == [0.25]


def test_nan_is_not_taken_for_a_root():
    assert np.isnan(solve(lambda x: x * np.nan, [0.5], [0], [1])[0])
