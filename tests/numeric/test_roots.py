import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.numeric import SEARCH_CLOSE, increasing_root, largest_within, log_ratio


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


def _steps_of(function, target, start):
    asked = []
    found = largest_within(lambda x: asked.append(x) or function(x), target, start, 1.0, SEARCH_CLOSE)
    assert found.steps == len(asked)
    assert found.below == 0 or (found.value_below == function(found.below) <= target)
    assert found.above == np.inf or function(found.above) > target
    return found


@given(st.floats(-250, 250), st.floats(-250, 250), st.floats(0.1, 1.1))
def test_the_largest_of_a_power_is_met_from_anywhere(answer, start, power):
    target = (10.0**answer) ** power
    found = _steps_of(lambda x: x**power, target, 10.0**start)
    assert found.steps <= 25
    assert found.value_below >= target * (1 - 4 * SEARCH_CLOSE)


@given(st.floats(-200, 200), st.floats(-200, 200), st.floats(0, 1))
def test_the_largest_before_a_jump_is_the_last_double_but_a_few(jump, start, slope):
    at = 10.0**jump
    found = _steps_of(lambda x: (1.0 if x < at else 3.0) * (x / at) ** slope, 2.0, 10.0**start)
    assert found.steps <= 100
    assert found.below < at <= found.above <= found.below * (1 + 4 * SEARCH_CLOSE)


def test_a_largest_beyond_a_kink_takes_few_steps():
    found = _steps_of(lambda x: max(x, 1e6 * (x - 1.0)), 3.0, 0.5)
    assert found.steps <= 28
    assert found.below == pytest.approx(1 + 3e-6, rel=2 * SEARCH_CLOSE)


def test_a_rough_search_ends_sooner():
    found = largest_within(lambda x: 1.0 if x < 2.25 else 3.0, 2.0, 1.0, 1.0, 2.0**-14)
    assert found.steps <= 18
    assert found.below < 2.25 <= found.above <= found.below * (1 + 2.0**-12)


def test_logarithms_of_ratios_next_to_1_and_beyond_the_doubles():
    assert log_ratio(3 + 2.0**-50, 3.0) == pytest.approx(2.0**-50 / 3, rel=1e-14, abs=0)
    assert log_ratio(1e-300, 1e300) == pytest.approx(-600 * np.log(10), rel=1e-14)
