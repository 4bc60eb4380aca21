"""Hinges and a quadratic in a box: the answer is held to the optimality conditions, whatever found it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from smqopt.numeric import HingeProgram
from smqopt.numeric.interior import _hinge_qp


@st.composite
def programs(draw):
    """Some variables, none to many hinges, some of them equal, flat directions and variables that cannot move."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, J = int(rng.integers(1, 6)), int(rng.choice([0, 1, 5, 40]))
    A = rng.normal(size=(J, k)) * (rng.random((J, k)) < 0.7) / max(J, 1)
    if J > 1:
        A[J // 2] = A[0]
    root = rng.normal(size=(k, int(rng.integers(0, k + 1))))
    low = np.where(rng.random(k) < 0.3, 0.0, -1.0)
    still = rng.random(k) < 0.1
    low, high = np.where(still, 0.0, low), np.where(still, 0.0, 1.0)
    b = 0.5 * rng.normal(size=J) / max(J, 1) * (rng.random(J) < 0.9)
    return HingeProgram(0.3 * rng.normal(size=k), 0.1 * root @ root.T, sparse.csr_array(A), b, low, high)


@settings(max_examples=60)
@given(programs())
def test_the_least_value_is_where_a_subgradient_is_zero_or_points_out_of_the_box(program):
    found = program.lowest()
    d, share = found.d, found.share
    assert np.all((d >= program.low) & (d <= program.high))
    assert np.all((share >= 0) & (share <= 1))
    move = program.b + program.A @ d
    assert np.sum(share * np.maximum(-move, 0) + (1 - share) * np.maximum(move, 0)) <= 1e-13
    slope = program.g + program.H @ d + program.A.T @ share
    beyond = np.where(slope > 0, d - program.low, program.high - d)
    assert np.sum(np.abs(slope) * beyond) <= 1e-12
    assert found.value == program.value(d)


@settings(max_examples=60)
@given(programs())
def test_far_from_the_least_value_most_of_the_fall_will_do(program):
    best, at_nought = program.lowest(), program.value(np.zeros(program.g.size))
    fall = at_nought - best.value
    assert at_nought - program.lowest(0.5 * fall).value >= (1 - 2.0**-5) * fall - 1e-13
    assert program.lowest(2.0 * fall + 1e-12).d.tolist() == best.d.tolist()


def test_most_of_the_fall_takes_half_the_steps(monkeypatch):
    steps, prepare = [], _hinge_qp._System.prepare
    monkeypatch.setattr(_hinge_qp._System, "prepare", lambda *args: steps.append(args[0]) or prepare(*args))
    rng = np.random.default_rng(3)
    A, box = sparse.csr_array(rng.normal(size=(40, 3)) / 40), np.ones(3)
    program = HingeProgram(np.array([0.3, -0.2, 0.4]), 0.1 * np.eye(3), A, rng.normal(size=40) / 80, -box, box)
    program.lowest()
    exact = len(steps)
    program.lowest(1e-3)
    assert len(steps) - exact <= exact / 2


def test_ties_are_shared_alike():
    """|d| eight times over and a slope of 2: each hinge goes the same share."""
    ones = sparse.csr_array(np.ones((8, 1)))
    found = HingeProgram(
        np.array([-2.0]), np.zeros((1, 1)), ones, np.zeros(8), np.array([-1.0]), np.array([1.0])
    ).lowest()
    assert found.d[0] == pytest.approx(0.0, abs=1e-15)
    assert found.share == pytest.approx(0.25, abs=1e-12)


def test_a_price_at_its_end_is_there_exactly():
    found = HingeProgram(
        np.array([0.3]), np.zeros((1, 1)), sparse.csr_array((0, 1)), np.empty(0), np.array([-0.25]), np.array([1.0])
    ).lowest()
    assert found.d[0] == -0.25
