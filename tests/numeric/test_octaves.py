"""Tables of functions: right to the last digits where they answer, silent where they cannot be right."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from smqopt.numeric import tabulate

EPS = 2.0**-52


def relative(share):
    return lambda y: share * np.abs(y)


SMOOTH = {
    "power": lambda u: u**0.3,
    "logarithm": np.log1p,
    "fraction": lambda u: u / (1 + u),
    "exponential": lambda u: np.exp(-0.125 * u),
    "constant": lambda u: np.full(u.shape, 2.5),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_to_the_last_digits(name):
    function = SMOOTH[name]
    table = tabulate(function, relative(2.0**-49), -20, 3, beyond=np.nan)
    u = 2.0 ** np.random.default_rng(1).uniform(-20, 3, 20_000)
    u = np.concatenate([u, 2.0 ** np.arange(-20.0, 3.0), np.nextafter(2.0 ** np.arange(-19.0, 4.0), 0)])
    assert np.max(np.abs(table(u) / function(u) - 1)) <= 8 * EPS


@given(st.floats(0.01, 7.9), st.sampled_from(["jump", "corner"]))
def test_only_the_piece_of_a_jump_or_corner_is_left_out(where, kind):
    def function(u):
        return u + (u >= where) if kind == "jump" else np.maximum(u, where)

    table = tabulate(function, relative(2.0**-50), -8, 3, beyond=np.nan)
    near = where * (1 + np.linspace(-0.05, 0.05, 4001))
    u = np.concatenate([2.0 ** np.linspace(-8, 2.999, 5001), near[(near > 2.0**-8) & (near < 8)]])
    value = table(u)
    silent = np.isnan(value)
    assert np.max(np.abs(value[~silent] / function(u[~silent]) - 1)) <= 4 * EPS
    assert np.all(np.abs(u[silent] / where - 1) <= 2.0**-8)


def test_outside():
    table = tabulate(np.sqrt, relative(2.0**-50), -4, 2, beyond=2.0)
    with np.errstate(invalid="ignore"):
        below = table(np.array([0.0, -0.0, 2.0**-4 * (1 - EPS), 5e-324, -1.0, -np.inf, np.nan, np.inf]))
    assert np.isnan(below).all()
    assert table(np.array([4.0, 5.0, 1e300])).tolist() == [2.0, 2.0, 2.0]
    assert table(np.array([2.0**-4])) == pytest.approx([0.25], rel=2 * EPS)


def test_a_noisy_function_is_not_answered_for():
    noise = np.random.default_rng(2)
    table = tabulate(lambda u: u * (1 + 1e-9 * noise.random(u.size)), relative(2.0**-46), -4, 4, beyond=np.nan)
    assert np.isnan(table(2.0 ** np.linspace(-4, 3.99, 1000))).all()


def test_edges_enclose_their_pieces():
    table = tabulate(np.sqrt, relative(2.0**-50), -2, 1, beyond=np.nan)
    edges = table.edges(np.arange(table.pieces + 1))
    assert edges[0] == 0.25
    assert edges[-1] == 2.0
    assert np.all(np.diff(edges) > 0)
