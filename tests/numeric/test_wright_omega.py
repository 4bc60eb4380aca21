"""log ω(1 + w) to full relative accuracy, over all sizes."""

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, strategies as st

from smqopt.algebra import lambdify
from smqopt.numeric import log_wright_omega_1p

sizes = st.floats(-300, 300).map(lambda exponent: 10.0**exponent)


def relative_error(w):
    """Give |t − t₀|/|t₀|, with t₀ one Newton step at 60 digits from t: exact enough, as the equation is smooth."""
    t = float(log_wright_omega_1p(w))
    with mpmath.workdps(60):
        point = mpmath.mpf(t)
        step = (point + mpmath.expm1(point) - mpmath.mpf(w)) / (1 + mpmath.exp(point))
        return float(abs(step / point))


@given(st.one_of(sizes, sizes.map(lambda w: -w), st.floats(-50, 800)).filter(lambda w: abs(w) >= 1e-300))
def test_relative_accuracy(w):
    assert relative_error(w) <= 4e-16


def test_edges():
    assert log_wright_omega_1p([0.0, np.inf, -np.inf]).tolist() == [0.0, np.inf, -np.inf]
    assert np.isnan(log_wright_omega_1p(np.nan))
    assert log_wright_omega_1p(np.finfo(float).max) == pytest.approx(709.78, abs=0.01)


def test_lambdify_writes_lambert_by_omega():
    u = sp.Symbol("u", real=True)
    lone, logarithm = lambdify([u], sp.LambertW(sp.exp(u))), lambdify([u], sp.log(sp.LambertW(sp.exp(1 + u))))
    assert lone([0.0, 1e6]).tolist() == pytest.approx([0.5671432904097838, 1e6 - np.log(1e6)], rel=1e-10)
    assert logarithm([2e-20, 1e300]).tolist() == pytest.approx([1e-20, 690.7755278982137], rel=1e-14)
    assert lambdify([u], sp.LambertW(u))([np.e]).tolist() == pytest.approx([1.0])
