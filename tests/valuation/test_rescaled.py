"""A unit of currency moves no end of a support: what rounds outside, or inside, is seen where it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import smqopt as smq
from smqopt.valuation.law._base import Rescaled

ends = st.tuples(st.floats(0.0, 10.0), st.floats(1e-3, 10.0))
factors = st.floats(1e-6, 1e6)


@given(ends, factors)
def test_ends_stay_ends_whatever_the_factor(support, factor):
    low, width = support
    law = Rescaled(smq.Uniform(low, low + width), factor)
    assert (float(law.cdf(law.low)), float(law.cdf(law.high))) == (0.0, 1.0)
    assert float(law.log_cdf(law.high)) == 0.0
    assert float(law.log_survival(law.low)) == 0.0
    at_ends = np.array([law.low, law.high])
    inside = np.array([np.nextafter(law.low, np.inf), np.nextafter(law.high, -np.inf)])
    outside = np.array([np.nextafter(law.low, -np.inf), np.nextafter(law.high, np.inf)])
    for t in (at_ends, inside):
        assert np.all(law.pdf(t) > 0)
        assert law.virtual_cost(t) == pytest.approx(t + (t - law.low), rel=1e-12, abs=1e-9 * factor)
    assert law.pdf(outside).tolist() == [0.0, 0.0]
    assert law.cdf(outside).tolist() == [0.0, 1.0]
    assert np.isnan(law.virtual_cost(outside)).all()
    assert np.isnan(law.cdf(np.nan))


def test_owners_of_their_own_supports():
    law = Rescaled(smq.Uniform(np.array([0.1, 0.7]), np.array([0.3, 1.1])), 3.7)
    assert law.cdf(law.high).tolist() == [1.0, 1.0]
    assert np.isfinite(law.virtual_cost(law.high)).all()
    assert law.take(np.array([1])).cdf(law.low[1:]).tolist() == [0.0]
