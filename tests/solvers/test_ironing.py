"""Irregular laws: lotteries against a linear program over posted prices, ties, and what forbidding lotteries costs."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from lotteries import lottery_with
from scipy.optimize import linprog

import smqopt as smq
from smqopt.numeric import HIDDEN_GAP
from smqopt.valuation import Ironed, flat_pieces, iron, threshold_on_stretch


class Histogram(smq.Valuation):
    """A density that is constant between edges; written anew here, as an oracle's law."""

    name = "test-histogram"

    def __init__(self, edges, masses):
        self.edges, self.heights = np.asarray(edges, dtype=float), np.asarray(masses) / np.diff(edges)
        self.cumulated = np.concatenate([[0.0], np.cumsum(masses)])
        self.cumulated[-1] = 1.0
        self.low, self.high = float(edges[0]), float(edges[-1])

    def cdf(self, t):
        return np.interp(np.asarray(t, dtype=float), self.edges, self.cumulated)

    def pdf(self, t):
        theta = np.asarray(t, dtype=float)
        piece = np.clip(np.searchsorted(self.edges, theta, side="left") - 1, 0, self.heights.size - 1)
        return np.where((theta >= self.low) & (theta <= self.high), self.heights[piece], 0.0)


class Waves(smq.Valuation):
    """Density 1 + 0.9 cos 6πθ on [0, 1]."""

    name = "test-waves"
    low, high = 0.0, 1.0

    def cdf(self, t):
        theta = np.clip(np.asarray(t, dtype=float), 0, 1)
        return theta + 0.9 * np.sin(6 * np.pi * theta) / (6 * np.pi)

    def pdf(self, t):
        theta = np.asarray(t, dtype=float)
        return np.where((theta >= 0) & (theta <= 1), 1 + 0.9 * np.cos(6 * np.pi * theta), 0.0)


def posted_price_program(market, budget, steps=600):
    """The best lottery over a grid of posted prices, by HiGHS: never above the optimum."""
    law = market.valuation
    prices = np.linspace(float(law.low), float(law.high), steps)
    if isinstance(law, Histogram):
        prices = np.union1d(prices, law.edges)
    q = law.cdf(prices)
    n = market.n
    done = linprog(
        -np.concatenate([e * q for e in market.epsilon]),
        A_ub=[np.tile(prices * q, n)],
        b_ub=[budget],
        A_eq=np.kron(np.eye(n), np.ones(prices.size)),
        b_eq=np.ones(n),
        method="highs",
    )
    assert done.success
    return -done.fun, prices[1] - prices[0]


@st.composite
def irregular_markets(draw, make=Histogram):
    pieces = draw(st.integers(2, 4))
    masses = np.array(draw(st.lists(st.integers(1, 20), min_size=pieces, max_size=pieces)), dtype=float)
    edges = (
        np.concatenate([[0.0], np.cumsum(draw(st.lists(st.integers(1, 5), min_size=pieces, max_size=pieces)))]) / 4.0
    )
    law = make(edges + draw(st.sampled_from([0.0, 0.5])), masses / masses.sum())
    epsilon = draw(st.lists(st.sampled_from([0.2, 0.5, 0.8, 1.0]), min_size=3, max_size=6))
    return smq.Market(epsilon, law)


@settings(max_examples=20)
@given(irregular_markets(), st.floats(0.02, 0.98))
def test_the_optimum_is_the_linear_programs(market, share):
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.total_spend <= budget
    best, step = posted_price_program(market, budget)
    assert solution.purchased_privacy >= best * (1 - 1e-9)
    density = np.max(market.valuation.heights)
    assert solution.purchased_privacy <= best + step * density * np.sum(market.epsilon)


@pytest.mark.exhaustive
@settings(max_examples=400)
@given(irregular_markets(), st.floats(0.02, 0.98))
def test_the_optimum_is_the_linear_programs_at_length(market, share):
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget)
    assert smq.verify(solution).valid
    best, _ = posted_price_program(market, budget)
    assert solution.purchased_privacy >= best * (1 - 1e-9)


@settings(max_examples=15)
@given(irregular_markets(smq.PiecewiseUniform), st.floats(0.02, 0.98))
def test_forbidding_lotteries_costs_at_most_one_jump(market, share):
    budget = share * market.most_that_can_be_spent
    free, bound = smq.solve(market, budget), smq.solve(market, budget, solver="dual", lotteries=False)
    assert bound.lottery is None
    assert bound.total_spend <= budget
    assert bound.purchased_privacy <= free.purchased_privacy * (1 + 1e-12)
    jump = 0.0
    if free.lottery is not None:
        jump = float(
            np.max(market.epsilon[free.lottery.owner] * (free.lottery.high_acceptance - free.lottery.low_acceptance))
        )
    certificate = smq.verify(bound, gap_tolerance=0.999)
    assert certificate.valid, certificate.reasons
    assert certificate.privacy_forgone <= jump + 1e-9
    # the price of forbidding lotteries is known without solving with them
    price = free.purchased_privacy - bound.purchased_privacy
    assert certificate.privacy_forgone == pytest.approx(price, rel=1e-9, abs=1e-11)
    left = (budget - bound.total_spend) * bound.budget_price
    assert price == pytest.approx(left, rel=1e-9, abs=1e-11)


@settings(max_examples=15)
@given(irregular_markets(), st.floats(0.02, 0.98))
def test_what_forbidding_lotteries_costs_is_bounded_where_nothing_but_F_is_known(market, share):
    budget = share * market.most_that_can_be_spent
    free, bound = smq.solve(market, budget), smq.solve(market, budget, solver="dual", lotteries=False)
    price = free.purchased_privacy - bound.purchased_privacy
    left = (budget - bound.total_spend) * bound.budget_price
    assert price == pytest.approx(left, rel=1e-9, abs=1e-11)
    certificate = smq.verify(bound, gap_tolerance=0.999)
    assert certificate.valid, certificate.reasons
    hidden = HIDDEN_GAP.value * certificate.upper_bound
    assert price <= certificate.privacy_forgone + 1e-11
    assert certificate.privacy_forgone <= price + hidden


def test_the_price_of_forbidding_lotteries_by_hand():
    """Density 5/9 on [0, 0.9], 5 on [0.9, 1]; one owner, ε = 1: at 5/6 she is at θ = 0.6, or by lottery further on the piece of slope 6/5.

    One price p > .9 costs p(5p − 4), so that .5 buys 5(4 + √26)/10 − 4.
    """
    market = smq.Market([1.0], smq.PiecewiseUniform([0, 0.9, 1], [1, 1]))
    solution = smq.solve(market, 0.5, solver="dual", lotteries=False)
    certificate = smq.verify(solution, gap_tolerance=0.5)
    assert certificate.valid, certificate.reasons
    assert solution.lottery is None
    assert solution.thresholds[0] == pytest.approx(0.6)
    assert certificate.privacy_forgone == pytest.approx((0.5 - 0.2) / 1.2, rel=1e-12)
    assert not smq.verify(solution).valid  # by the default tolerance it is no optimum
    best = 5 * (4 + np.sqrt(26)) / 10 - 4
    posted = smq.solve(market, 0.5, lotteries=False)
    assert 0.99 * best <= posted.purchased_privacy <= best
    assert smq.verify(posted).valid  # within the bracket that it states


def test_alike_rows_pay_for_forbidding_lotteries_at_most_one_jump():
    """Forty tied owners of a price list: all but one of them can be served."""
    market = smq.Market(np.full(40, 0.5), smq.Discrete([1.0, 2.0, 5.0], [1, 2, 1]))
    free, bound = smq.solve(market, 47.0), smq.solve(market, 47.0, lotteries=False)
    forgone = smq.verify(bound, gap_tolerance=0.1).privacy_forgone
    assert forgone == pytest.approx(free.purchased_privacy - bound.purchased_privacy, rel=1e-9)
    assert 0 < forgone <= 0.5 * 0.75


@settings(max_examples=30)
@given(irregular_markets(), st.floats(0.02, 0.98))
def test_tied_owners_get_the_same_lottery(market, share):
    lottery = smq.solve(market, share * market.most_that_can_be_spent).lottery
    if lottery is not None:
        assert np.ptp(lottery.probability_of_low) == 0
        assert np.ptp(market.epsilon[lottery.owner]) == 0
        assert np.count_nonzero(market.epsilon == market.epsilon[lottery.owner[0]]) == len(lottery)


def test_flat_pieces_of_a_histogram_are_exact():
    """Density 5/9 on [0, 0.9] and 5 on [0.9, 1]: by hand, the hull is straight from θ = 0.6 to the top, with slope 6/5."""
    pieces = flat_pieces(Histogram([0, 0.9, 1], [0.5, 0.5]))
    assert len(pieces) == 1
    assert pieces.low[0] == pytest.approx(0.6, rel=1e-7)  # a double root: half of the digits
    assert pieces.high[0] == 1.0
    assert pieces.slope[0] == pytest.approx(1.2, rel=1e-14)


def test_flat_pieces_touch_the_curve_from_below():
    law = Waves()
    pieces = flat_pieces(law)
    assert len(pieces) == 3
    theta = np.linspace(0, 1, 20001)
    q = law.cdf(theta)
    for k in range(3):
        chord = pieces.low[k] * pieces.low_acceptance[k] + pieces.slope[k] * (q - pieces.low_acceptance[k])
        assert np.min(theta * q - chord) >= -1e-13
    inner = law.virtual_cost(np.array([pieces.low[0], pieces.high[0]]))
    assert inner == pytest.approx([pieces.slope[0]] * 2, rel=1e-9)


def test_answers_rise_with_the_price_and_leave_flat_pieces_out():
    hull = iron(Waves())
    assert isinstance(hull, Ironed)
    theta, q = hull.offer(np.linspace(0, 3, 5001))
    assert np.all(np.diff(q) >= 0)
    pieces = hull.pieces
    for k in range(len(pieces)):
        assert not np.any((theta > pieces.low[k] + 1e-9) & (theta < pieces.high[k] - 1e-9))


def test_lotteries_are_drawn_recorded_and_meet_the_budget_in_expectation(tmp_path):
    market = smq.Market(np.full(400, 0.5), Waves())
    budget = 0.25 * 400
    solution = smq.solve(market, budget)
    assert solution.lottery is not None
    assert solution.total_spend == pytest.approx(budget, rel=1e-12)
    certificate = smq.verify(solution)
    rng = np.random.default_rng(5)
    realised = []
    for _ in range(200):
        outcome = smq.procure(certificate, market.valuation.sample(rng, market.n), rng=rng)
        realised.append(outcome.total_payment)
        assert set(np.unique(outcome.thresholds)) <= {solution.lottery.low[0], solution.lottery.high[0]}
    error = np.std(realised) / np.sqrt(len(realised))
    assert abs(np.mean(realised) - budget) <= 3 * error
    outcome.save(tmp_path / "outcome.csv")
    again = smq.Outcome.load(tmp_path / "outcome.csv", certificate)
    assert np.array_equal(again.payments, outcome.payments)


def test_a_tampered_lottery_is_not_certified():
    import dataclasses

    solution = smq.solve(smq.Market(np.full(5, 0.5), Waves()), 1.25)
    lottery = solution.lottery
    for change in (
        {"probability_of_high": lottery.probability_of_high + 1e-8},
        {"probability_of_high": lottery.probability_of_high - 1e-8},
        {"high": lottery.high - 1e-8},
        {"low": lottery.low + 1e-8},
        {"high_acceptance": lottery.high_acceptance + 1e-8},
    ):
        forged = dataclasses.replace(solution, lottery=lottery_with(lottery, **change))
        assert not smq.verify(forged).valid
        mixed = solution.acceptance.copy()
        mixed[lottery.owner] = forged.lottery.acceptance
        assert not smq.verify(dataclasses.replace(forged, acceptance=mixed)).valid
    assert not smq.verify(dataclasses.replace(solution, lottery=None)).valid


@pytest.mark.parametrize("budget", [0.1, 0.5, 1.0, 2.0, 3.0, 3.9])
def test_a_lottery_travels_through_files(tmp_path, budget):
    """Errata E1's law; the folder that is written must be the solution that was judged, to the last bit."""
    law = smq.from_cdf("((1 - 99*theta/100)**(-1/2) - 1)/9", low=0, high=1)
    solution = smq.solve(smq.Market([1.0, 1.0, 1.0, 1.0], law), budget)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    assert certificate.covers(smq.Solution.load(tmp_path))
    assert smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv").valid


@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_a_formula_answers_on_a_stretch_as_any_law_does(unit):
    """Between two flat pieces; the class without a formula bisects with its own J."""
    law, plain = smq.from_cdf("theta + 9*sin(6*pi*theta)/(60*pi)", 0, 1).rescale(unit), Waves()
    pieces = iron(plain).pieces
    low, high = pieces.high[:-1], pieces.low[1:]
    for share in (-0.1, 0.0, 1e-9, 0.3, 1.0, 1.1):
        price = plain.virtual_cost(low) + share * (plain.virtual_cost(high) - plain.virtual_cost(low))
        found = threshold_on_stretch(law, unit * price, unit * low, unit * high) / unit
        assert found == pytest.approx(threshold_on_stretch(plain, price, low, high), rel=1e-13)
        assert np.all((found >= low * (1 - 1e-15)) & (found <= high * (1 + 1e-15)))


def test_a_formula_answers_on_a_stretch_for_each_owner():
    law = smq.from_cdf("(1 - (1 - c*theta)**(1/2))/(1 - (1 - c)**(1/2))", 0, 1, c=[0.5, 0.75])
    price = law.virtual_cost(np.array([0.25, 0.5]))
    found = threshold_on_stretch(law, price, np.array([0.125, 0.25]), np.array([0.75, 0.75]))
    assert found == pytest.approx([0.25, 0.5], rel=1e-14)
