"""Theorem 1 against all mechanisms: OP2's optimum lies between two linear programs that know no thresholds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import markets

import smqopt as smq
from smqopt.mechanism import Types, best_mechanism
from smqopt.mechanism.bounds._every_mechanism import _least_payments, _truth
from smqopt.mechanism.bounds._rounded_types import cell_edges, rounded_down, rounded_up
from smqopt.numeric import ACCEPTANCE

REGULAR = {
    "uniform": lambda: smq.Uniform(0, 1),
    "uniform from 1": lambda: smq.Uniform(1, 2),
    "power": lambda: smq.Power(3, low=0.2, high=1),
    "infinite density at the low end": lambda: smq.Power(0.5),
    "no density at the high end": lambda: smq.Beta(2, 3),
    "truncated exponential": lambda: smq.TruncatedExponential(3),
    "formula": lambda: smq.from_cdf("theta**2 * (3 - 2*theta)", low=0, high=1),
    "by owner": lambda: smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.TruncatedExponential(2, 0.5, 2)]),
}
IRREGULAR = {
    "histogram": lambda: smq.PiecewiseUniform([0, 1, 2], [1, 4]),
    "histogram with a gap": lambda: smq.PiecewiseUniform([0, 1, 2, 3], [2, 0, 1]),
    "atoms": lambda: smq.Discrete([1, 2, 5], [1, 2, 1]),
    "copula": lambda: smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), -0.5).given([0.1, 0.5, 0.95]),
    "steep at the high end": lambda: smq.from_cdf(
        "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)", low=0, high=1, c=0.99
    ),
}
LAWS = REGULAR | IRREGULAR


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("law", LAWS)
def test_the_optimum_of_op2_is_the_best_of_all_mechanisms(law, share):
    market = smq.Market([0.2, 0.5, 1.0], LAWS[law]())
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    coarse = smq.mechanism_bounds(market, budget, cells=12)
    fine = smq.mechanism_bounds(market, budget, cells=48, incentives="neighbours")
    for bounds in (coarse, fine):
        assert bounds.lower <= solution.purchased_privacy <= bounds.upper
        assert bounds.holds(solution.purchased_privacy)
        assert not bounds.holds(bounds.upper * 1.001)
        assert not bounds.holds(bounds.lower * 0.999)
    assert fine.gap < 0.37 * coarse.gap  # as 1/cells, within what the cells' places do


@pytest.mark.parametrize("law", ["histogram", "atoms"])
def test_posted_prices_alone_fall_short_of_what_some_mechanism_buys(law):
    """E17: for an irregular law the best posted price is beaten, with certainty, by a mechanism that the program found."""
    market = smq.Market([1.0], LAWS[law]())
    budget = {"histogram": 0.2, "atoms": 1.0}[law]
    drawn = smq.solve(market, budget)
    assert drawn.lottery is not None
    prices = np.linspace(float(market.low[0]), float(market.high[0]), 200_001)
    if law == "atoms":
        prices = market.valuation.values
    affordable = prices * market.valuation.cdf(prices) <= budget
    posted = float(np.max(market.valuation.cdf(prices[affordable])))
    bounds = smq.mechanism_bounds(market, budget, cells=200, incentives="neighbours")
    assert smq.solve(market, budget, lotteries=False).purchased_privacy <= posted * (1 + 1e-4)
    assert posted < 0.97 * bounds.lower
    assert bounds.holds(drawn.purchased_privacy)


def test_the_bounds_close_as_one_over_the_number_of_cells():
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1))
    optimum = smq.solve(market, 0.4).purchased_privacy
    gaps, over, under = [], [], []
    for cells in (8, 16, 32, 64, 128):
        bounds = smq.mechanism_bounds(market, 0.4, cells=cells, incentives="neighbours")
        gaps.append(bounds.gap)
        over.append(bounds.upper - optimum)
        under.append(optimum - bounds.lower)
    ratios = np.array(gaps[1:]) / gaps[:-1]
    assert np.all(ratios < 0.6)
    assert abs(ratios[-1] - 0.5) < 0.05
    assert min(*over, *under) > 0
    assert under[-1] < 1e-3 * optimum


def test_thresholds_are_found_and_not_assumed():
    """For a regular law the best Q steps from 1 to 0 within a cell of the threshold, and the payment is the threshold."""
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1))
    solution = smq.solve(market, 0.4)
    bounds = smq.mechanism_bounds(market, 0.4, cells=50, incentives="neighbours")
    for i, theta in enumerate(solution.thresholds):
        v, Q = bounds.types[i].valuation, bounds.allocation[i]
        assert np.allclose(Q[v < theta - 0.04], 1.0, atol=1e-6)
        assert np.allclose(Q[v > theta + 0.04], 0.0, atol=1e-6)
        assert abs(bounds.payment[i][0] - theta) < 0.04


@settings(max_examples=12)
@given(markets(most=3), st.floats(0.05, 0.95))
def test_the_optimum_lies_between_for_random_markets(market, share):
    budget = share * market.most_that_can_be_spent
    bounds = smq.mechanism_bounds(market, budget, cells=14)
    assert bounds.holds(smq.solve(market, budget).purchased_privacy)


@pytest.mark.exhaustive
@settings(max_examples=300)
@given(markets(most=4), st.floats(0.01, 1.05), st.integers(1, 30))
def test_the_optimum_lies_between_for_random_markets_at_length(market, share, cells):
    budget = share * market.most_that_can_be_spent
    bounds = smq.mechanism_bounds(market, budget, cells=cells)
    assert bounds.holds(smq.solve(market, budget).purchased_privacy)


@settings(max_examples=10)
@given(markets(most=3), st.floats(0.05, 0.95), st.integers(1, 12))
def test_truth_against_neighbours_implies_truth_against_all(market, share, cells):
    budget = share * market.most_that_can_be_spent
    every = smq.mechanism_bounds(market, budget, cells=cells)
    local = smq.mechanism_bounds(market, budget, cells=cells, incentives="neighbours")
    assert local.lower == pytest.approx(every.lower, rel=1e-6, abs=1e-9)
    assert local.upper == pytest.approx(every.upper, rel=1e-6, abs=1e-9)
    for types, Q, P in zip(local.types, local.allocation, local.payment, strict=True):
        v = types.valuation
        utility = P[np.newaxis] - v[:, np.newaxis] * Q[np.newaxis]  # of type k, reporting j
        assert np.all(utility <= np.diag(utility)[:, np.newaxis] + 1e-6 * v[-1])


@pytest.mark.parametrize("budget", [0.3, 0.75, 1.6])
def test_the_program_against_brute_force(budget):
    """Two owners, three types each: every pair of lotteries over posted prices on a fine grid of Q is tried."""
    owners = [
        Types(np.array([0.2, 0.5, 1.0]), np.array([0.3, 0.3, 0.4])),
        Types(np.array([0.1, 0.9]), np.array([0.5, 0.5])),
    ]
    epsilon, counts = np.array([1.0, 0.6]), np.array([1.0, 2.0])
    steps = np.linspace(0, 1, 21)

    def rules(types, utility, count):
        """Privacy and spend of every falling Q on the grid, with the least payments; from the constraints alone."""
        found = []
        for Q in itertools.combinations_with_replacement(steps[::-1], types.valuation.size):
            q = np.array(Q)
            paid, payments = 0.0, np.zeros(q.size)
            for k in range(q.size - 1, -1, -1):
                above = q[k + 1] if k + 1 < q.size else 0.0
                paid += types.valuation[k] * (q[k] - above)
                payments[k] = paid
            found.append((utility * count * types.probability @ q, count * types.probability @ payments))
        return np.array(found)

    one, two = (rules(t, e, c) for t, e, c in zip(owners, epsilon, counts, strict=True))
    spend = one[:, 1][:, np.newaxis] + two[:, 1][np.newaxis]
    privacy = np.where(spend <= budget + 1e-12, one[:, 0][:, np.newaxis] + two[:, 0][np.newaxis], 0.0)
    best = best_mechanism(owners, epsilon, counts, budget)
    assert best.lower <= best.upper
    assert best.value == pytest.approx(best.upper, abs=1e-9)
    assert privacy.max() <= best.upper
    assert best.lower - privacy.max() < 0.1


def test_rounding_moves_every_valuation_by_at_most_a_cell_and_keeps_the_mass():
    laws = [smq.Uniform(0, 1), smq.Discrete([1, 2, 5], [1, 2, 1]), smq.TruncatedExponential(2, 0.5, 2)]
    market = smq.Market([1.0, 1.0, 1.0], smq.ByOwner(laws))
    for row, (edges, heaped) in enumerate(cell_edges(market, 9)):
        law = laws[row]
        assert (edges[0], edges[-1], edges.size) == (market.low[row], market.high[row], 10)
        assert np.all(np.diff(edges) > 0)
        assert np.allclose(heaped, law.cdf(edges), atol=1e-15)
        up, down = rounded_up(edges, heaped), rounded_down(edges, heaped)
        for types, ends in ((up, edges[1:]), (down, edges[:-1])):
            assert types.probability.sum() == pytest.approx(1.0, abs=1e-15)
            assert np.all(np.isin(types.valuation, ends))
        for theta in np.linspace(edges[0], edges[-1], 101)[
            :-1
        ]:  # F of rounded up ≤ F ≤ F of rounded down, by more than F may be off
            F = float(law.cdf(theta))
            assert up.probability[up.valuation <= theta].sum() <= max(F - 0.7 * ACCEPTANCE.value, 0.0)
            assert down.probability[down.valuation <= theta].sum() >= min(F + 0.7 * ACCEPTANCE.value, 1.0 - 1e-15)


def test_edges():
    zero = smq.mechanism_bounds(smq.Market([1.0, 0.5], smq.Uniform(1, 2)), 0.0, cells=5)
    assert zero.lower == 0.0
    assert 0.0 <= zero.upper < 1e-12
    assert zero.holds(0.0)
    assert smq.mechanism_bounds(smq.Market([1.0], smq.Uniform(0, 1)), 0.0, cells=10).upper == pytest.approx(0.1)
    slack = smq.mechanism_bounds(smq.Market([1.0, 0.5], smq.Uniform(0, 1)), 5.0, cells=5)
    assert slack.lower == pytest.approx(1.5, rel=1e-9)
    assert slack.holds(1.5)
    nothing = smq.mechanism_bounds(smq.Market([0.0, 0.0], smq.Uniform(0, 1)), 1.0, cells=5)
    assert (nothing.lower, nothing.gap) == (0.0, 0.0)
    point = smq.mechanism_bounds(smq.Market([1.0], smq.PointMass(2.0)), 1.0, cells=5)
    assert point.holds(0.5)
    assert point.gap < 1e-6
    one = smq.mechanism_bounds(smq.Market([1.0], smq.Uniform(0, 1)), 0.25, cells=1)
    assert one.lower == pytest.approx(0.25)  # everybody at 1, with probability 1/4
    assert one.upper == pytest.approx(1.0)  # everybody at 0


def test_alike_owners_count():
    rows = smq.Market([0.5, 0.5, 1.0], smq.Uniform(0, 1))
    counted = smq.Market([0.5, 1.0], smq.Uniform(0, 1), multiplicity=[2, 1])
    one, other = (smq.mechanism_bounds(market, 0.6, cells=12) for market in (rows, counted))
    assert one.lower == pytest.approx(other.lower, rel=1e-7)
    assert one.upper == pytest.approx(other.upper, rel=1e-7)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_of_currency_do_not_matter(unit):
    market = smq.Market([0.2, 1.0], smq.Uniform(0, 1))
    scaled = smq.Market([2e-7, 1e-6], smq.Uniform(0, unit))
    one, other = smq.mechanism_bounds(market, 0.3, cells=12), smq.mechanism_bounds(scaled, 0.3 * unit, cells=12)
    assert other.lower == pytest.approx(1e-6 * one.lower, rel=1e-7)
    assert other.upper == pytest.approx(1e-6 * one.upper, rel=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": -1.0}, "finite number ≥ 0"),
        ({"budget": "1"}, "must be a number"),
        ({"cells": 0}, "whole number ≥ 1"),
        ({"cells": 2.5}, "whole number ≥ 1"),
        ({"cells": True}, "whole number ≥ 1"),
        ({"incentives": "some"}, "must be 'all' or 'neighbours'"),
        ({"cells": 100_000}, "at most 1000000 rows"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(smq.InputError, match=message):
        smq.mechanism_bounds(smq.Market([1.0], smq.Uniform(0, 1)), **{"budget": 0.5, **arguments})


@pytest.mark.parametrize(("every_pair", "rows"), [(True, 4 * 3 + 4), (False, 2 * 3 + 4)])
def test_the_rows_are_the_constraints(every_pair, rows):
    """Row by row: truth against every other type, or the two next ones, and participation."""
    v = np.array([0.1, 0.3, 0.6, 1.0])
    Q, P = np.array([0.9, 0.2, 0.5, 0.1]), np.array([0.7, 0.4, 0.6, 0.2])
    found = np.sort(_truth(v, every_pair=every_pair) @ np.concatenate([Q, P]))
    pairs = [(k, j) for k in range(4) for j in range(4) if k != j and (every_pair or abs(k - j) == 1)]
    wanted = [P[j] - v[k] * Q[j] - (P[k] - v[k] * Q[k]) for k, j in pairs] + [v[k] * Q[k] - P[k] for k in range(4)]
    assert found.shape == (rows,)
    assert found == pytest.approx(np.sort(wanted), abs=1e-15)


def test_least_payments_of_falling_allocations():
    """Each type is paid what she forgoes by the report of the next one; the last one her valuation."""
    v, Q = np.array([1.0, 2.0, 4.0]), np.array([0.9, 0.5, 0.25])
    assert _least_payments(v, Q).tolist() == pytest.approx([4 * 0.25 + 2 * 0.25 + 0.4, 4 * 0.25 + 2 * 0.25, 4 * 0.25])
