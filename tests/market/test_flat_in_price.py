"""Laws in doubt of which all prices gain alike: what laws gain is added up before it is bounded."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.market import state
from smqopt.market.pooling import _branch_and_bound
from smqopt.market.pooling._chebyshev import PLACES, tops_of_series
from smqopt.valuation import Remainders

FLAT = [
    [smq.Uniform(0, 1), smq.Power(2)],
    [smq.Triangular(0, 1, 1), smq.Uniform(0, 1)],
    [smq.Power(0.5), smq.Power(1.5)],
    [smq.Power(3), smq.Power(4), smq.Power(3.5)],
    [smq.Beta(2, 1), smq.Beta(3, 1)],
]
"""F under the worst law is p F under the dearest one: an acceptance costs 1 at any price."""
SMOOTH = [
    smq.Power(0.6, 0.1, 1),
    smq.Beta(2, 3),
    smq.Triangular(0, 0.3, 1),
    smq.Gamma(2, 0.3, 0, 1),
    smq.Kumaraswamy(2, 0.5),
    smq.Normal(0.4, 0.2, 0, 1),
    smq.Mixture([smq.Uniform(0, 0.5), smq.Beta(3, 3)], [0.4, 0.6]),
    smq.Discrete([0.3, 0.8], [1, 2]),
]


def terms_of(laws):
    market = smq.Market(np.ones(len(laws)), smq.ByOwner(laws), groups={"g": [0] * len(laws)})
    return state(market, [smq.CommonPrice("g")]).blocks.terms


@cache
def smooth():
    return terms_of(SMOOTH)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_price_of_a_cell_gains_more(data):
    sign = st.floats(-2, 2).map(lambda x: x if abs(x) > 1e-6 else 0.0)
    a, c = (np.array(data.draw(st.lists(sign, min_size=len(SMOOTH), max_size=len(SMOOTH)))) for _ in range(2))
    low = data.draw(st.floats(0, 0.95))
    high = data.draw(st.floats(low, 1).filter(lambda p: p > low))
    terms = smooth()
    a, c = (column[terms.row] * terms.weight for column in (a, c))
    cells = terms.cells(np.zeros(1, np.intp), np.array([low]), np.array([high]), a, c)
    (bound,) = terms.by_series(cells, a, c)
    price = np.linspace(low, np.nextafter(high, 0), 400)
    F = terms.at(np.zeros(400, np.intp), price)[2].reshape(400, -1) / terms.weight
    h = F @ a - price * (F @ c)
    assert np.isnan(bound) or bound >= h.max() - 1e-14 * (abs(a).sum() + abs(c).sum())


def test_what_cancels_is_seen_on_a_wide_cell():
    terms = terms_of([smq.Power(3), smq.Power(4)])
    a, c = np.array([0.0, 2.0]), np.array([2.0, 0.0])
    cells = terms.cells(np.zeros(1, np.intp), np.array([0.5]), np.array([0.6]), a, c)
    assert cells.ceilings()[0] > 1e-3
    assert abs(terms.by_series(cells, a, c)) < 1e-15


def dearest_first(epsilon, budget):
    """What a budget buys at 1 an acceptance."""
    best = -np.sort(-epsilon)
    return float(best @ np.clip(budget - np.arange(best.size), 0, 1))


@pytest.mark.parametrize(
    "laws", FLAT[:2] + [pytest.param(laws, marks=pytest.mark.slow) for laws in FLAT[2:]], ids=lambda laws: laws[0].name
)
@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (2, 1e-3), (7, 0.3), (30, 0.99)])
def test_an_acceptance_costs_the_same_at_any_price(laws, n, share, monkeypatch):
    monkeypatch.setattr(_branch_and_bound, "_MOST_WORK", 1 << 14)  # a thousandth of what it was
    epsilon = np.random.default_rng(n).uniform(0.1, 2, n)
    solution = smq.solve(smq.Market(epsilon, smq.Scenarios(laws)), share * n)
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.upper_bound == pytest.approx(dearest_first(epsilon, share * n), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("aim", [smq.DiminishingReturns(0.3), smq.InverseProbabilityVariance()], ids=lambda a: a.kind)
def test_thirty_owners_with_an_objective_that_bends(aim):
    epsilon = np.random.default_rng(1).uniform(0.1, 2, 30)
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0.1, 1.5)])
    assert smq.verify(smq.solve(smq.Market(epsilon, laws), 6.0, objective=aim)).valid


def test_a_millionth_of_the_money_is_proved():
    """Prices of rows are raised by more than roundings in doubles leave open."""
    solution = smq.solve(smq.Market([1.0, 0.4], smq.Scenarios(FLAT[0])), 1e-6)
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.grade == "proved"
    assert certificate.upper_bound == pytest.approx(1e-6, rel=1e-10)
    assert smq.verify(solution, prove=False).valid


def test_where_work_ends_the_bracket_that_was_found_is_returned(monkeypatch):
    """No cell may be halved any more: bounds are as wide as they are, and no error takes the offers away."""
    wavy = smq.from_cdf("theta + a*sin(2*pi*theta)/7", 0, 1, a=0.9)
    laws = smq.ByOwner([wavy, smq.Beta(0.7, 1.5)] * 2)
    market = smq.Market([0.5, 0.7, 0.9, 0.3], laws, groups={"g": list("abab")})
    best = smq.solve(market, 0.6, constraints=[smq.CommonPrice("g")]).purchased_privacy
    monkeypatch.setattr(_branch_and_bound, "work_left", lambda: 0)
    solution = smq.solve(market, 0.6, constraints=[smq.CommonPrice("g")])
    certificate = smq.verify(solution, prove=False)
    assert certificate.gap > 1e-9
    assert {check.name for check in certificate.checks if check.fails} <= {"gap"}
    assert certificate.lower_bound <= best * (1 + 1e-12)
    assert best <= certificate.upper_bound * (1 + 1e-12)


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5, 3.0])
@pytest.mark.parametrize("bend", [2.0, 0.0, -2.0])
def test_no_polynomial_is_above_its_bound(slope, bend, monkeypatch):
    """At an even bend upwards the top is at both ends, whatever sign rounding gives the slope."""
    x = np.linspace(-1, 1, 201)
    top = float(np.max(1.0 + slope * x + bend * (2 * x * x - 1)))
    series = np.array([1.0, slope, bend, 0.0, 0.0, 0.0, 0.0])[:, np.newaxis]
    monkeypatch.setattr("smqopt.market.pooling._chebyshev._TO_SERIES", np.eye(7))  # coefficients to the last bit
    assert top <= float(tops_of_series(series)[0]) <= top + 1e-3
    monkeypatch.undo()
    at = 2.0 * PLACES - 1.0
    values = (1.0 + slope * at + bend * (2 * at * at - 1))[:, np.newaxis]
    assert float(tops_of_series(values)[0]) == pytest.approx(top, abs=1e-3)


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.9), (0.5, 0.501)])
def test_what_a_polynomial_misses_is_bounded_as_near_as_can_be(low, high):
    """F = θ⁷ is missed by r⁷/2⁶ times a Chebyshev polynomial, exactly."""
    nowhere = np.zeros(1, dtype=np.intp)
    of_F, of_f = Remainders((smq.Power(7),), 7).at(nowhere, nowhere, np.array([low]), np.array([high]))
    most = 2.0 * ((high - low) / 4.0) ** 7
    assert most <= of_F[0] <= most * (1 + 1e-12)
    assert 7.0 * high * most <= of_f[0] <= 7.0 * high * most * (1 + 1e-6)
