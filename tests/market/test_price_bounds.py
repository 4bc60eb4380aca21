"""Floors and ceilings of prices that cut a flat piece of an ironed law: the hull is that of the allowed prices alone."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import linprog

import smqopt as smq
from smqopt.market import state
from smqopt.valuation import PriceBounded, flat_pieces

RISING = smq.PiecewiseUniform([0, 0.9, 1], [1, 1])
STEEP = smq.PiecewiseUniform([0, 1, 2], [1, 3])
GAP = smq.PiecewiseUniform([0, 0.5, 1, 2], [1, 0, 2])
ATOMS = smq.Discrete([0.3, 0.8, 1.2], [2, 1, 4])
LAWS = {
    "one histogram": RISING,
    "histograms": smq.ByOwner([RISING, STEEP, STEEP, RISING]),
    "with a gap": smq.ByOwner([STEEP, GAP, RISING, smq.Uniform(0, 2)]),
    "atoms": ATOMS,
    "mixed": smq.ByOwner([ATOMS, GAP, STEEP, RISING]),
}
EPSILON = np.array([0.2, 0.5, 1.0, 0.8])


def best_on_grid(law, budget, least, most):
    """The optimum over lotteries between allowed prices of a grid and no offer, by HiGHS."""
    market = smq.Market(EPSILON, law)
    V, S = [], []
    for i in range(4):
        prices = np.unique(
            np.concatenate([np.linspace(0, 2, 241), [0.3, 0.9, 1.0, market.low[i], market.high[i], least, most]])
        )
        prices = prices[(prices >= least) & (prices <= most)]
        F = np.array([law.cdf(np.full(4, price))[i] for price in prices])
        V.append(EPSILON[i] * F)
        S.append(prices * F)
    shares = np.zeros((4, sum(map(len, V))))
    start = 0
    for i in range(4):
        shares[i, start : start + len(V[i])] = 1.0
        start += len(V[i])
    rows = np.vstack([np.concatenate(S), shares])
    return -linprog(-np.concatenate(V), A_ub=rows, b_ub=[budget, 1, 1, 1, 1], method="highs").fun


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("least", "most", "budgets"),
    [
        (0.0, 0.95, (0.3,)),
        (0.4, 0.9, (0.8,)),
        (0.25, 1.5, (1.6,)),
        pytest.param(0.0, 0.8, np.arange(1, 20) / 10, marks=pytest.mark.exhaustive),
        pytest.param(0.3, 0.95, np.arange(1, 20) / 10, marks=pytest.mark.exhaustive),
    ],
)
def test_prices_between_bounds_against_a_linear_program_over_a_grid(name, least, most, budgets):
    for budget in budgets:
        record = smq.PriceRange(at_least=least, at_most=most)
        solution = smq.solve(smq.Market(EPSILON, LAWS[name]), budget, constraints=[record])
        on_grid = best_on_grid(LAWS[name], budget, least, most)
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert solution.purchased_privacy == pytest.approx(on_grid, rel=1e-3)  # the grid's steps
        assert solution.purchased_privacy >= on_grid * (1 - 1e-8)
        offered, drawn = solution.offered.copy(), solution.lottery
        if drawn is not None:
            offered[drawn.owner] = False
            assert np.all(drawn.low[drawn.low_acceptance > 0] >= least)
            assert np.all(drawn.high[drawn.probability_of_low < 1 - 1e-9] <= most)
        assert np.all(solution.thresholds[offered] <= most)
        assert np.all(solution.thresholds[offered] >= least)


def test_the_conic_route_says_the_same():
    market, record = smq.Market(EPSILON, LAWS["histograms"]), smq.PriceRange(at_least=0.65, at_most=0.95)
    one = smq.solve(market, 1.6, constraints=[record])
    other = smq.solve(smq.Program(market, 1.6, constraints=[record], ironed=True), solver="conic")
    assert other.raw.purchased_privacy == pytest.approx(one.purchased_privacy, rel=1e-7)
    assert smq.verify(other).valid


def test_where_no_bound_cuts_a_flat_piece_the_hull_is_the_laws_own():
    whole = PriceBounded(RISING, 0.0, 1.0).flat_pieces()
    for name in ("low", "high", "low_acceptance", "high_acceptance", "slope"):
        assert getattr(whole, name) == pytest.approx(getattr(flat_pieces(RISING), name), rel=1e-14)
    market = smq.Market(EPSILON, RISING)
    assert state(market, [smq.PriceRange(at_most=0.4)]).listed is market


def test_units_change_nothing():
    for unit in (1e-6, 1e6):
        law = smq.ByOwner([RISING.rescale(unit), STEEP.rescale(unit), RISING.rescale(unit), STEEP.rescale(unit)])
        bounds = smq.PriceRange(at_least=0.25 * unit, at_most=0.95 * unit)
        solution = smq.solve(smq.Market(EPSILON, law), 0.8 * unit, constraints=[bounds])
        plain = smq.ByOwner([RISING, STEEP, RISING, STEEP])
        same = smq.solve(smq.Market(EPSILON, plain), 0.8, constraints=[smq.PriceRange(at_least=0.25, at_most=0.95)])
        assert solution.purchased_privacy == pytest.approx(same.purchased_privacy, rel=1e-11)
    law = PriceBounded(RISING, 0.25, 0.95).rescale(2.0)
    assert law.flat_pieces().slope == pytest.approx(2 * PriceBounded(RISING, 0.25, 0.95).flat_pieces().slope, rel=1e-13)


def test_a_floor_between_two_atoms_is_kept():
    """The cheaper atom below the floor is accepted as often, and is not allowed."""
    solution = smq.solve(smq.Market([0.5, 1.0], ATOMS), 1.0, constraints=[smq.PriceRange(at_least=0.5)])
    assert np.all(solution.lottery.high >= 0.5)
    assert smq.verify(solution).valid


def test_what_no_hull_tells_is_a_matter_of_posted_prices():
    """A floor in a gap of the support, and a ceiling inside a flat piece of a smooth law."""
    solution = smq.solve(smq.Market([0.5, 1.0], GAP), 1.0, constraints=[smq.PriceRange(at_least=0.7)])
    assert smq.verify(solution).valid
    assert solution.thresholds[solution.offered].min(initial=1.0) >= 0.7
    smooth = smq.Mixture([smq.Beta(2, 12), smq.Beta(12, 2)], weights=[0.5, 0.5])
    solution = smq.solve(smq.Market([0.5, 1.0], smooth), 0.5, constraints=[smq.PriceRange(at_most=0.6)])
    assert smq.verify(solution).valid
    assert solution.thresholds.max() <= 0.6


@pytest.mark.parametrize("budget", [0.4, 0.7])
@pytest.mark.parametrize("forged", [0.5, 0.52, 0.69])
def test_a_price_below_its_floor_is_refused_where_acceptance_hides_it(budget, forged):
    """Between 0.5 and 0.8 nobody's valuation lies: all prices there are accepted alike."""
    law = smq.Mixture([smq.Uniform(0, 0.5), smq.Uniform(0.8, 1)], weights=[0.5, 0.5])
    solution = smq.solve(smq.Market([0.5, 0.6], law), budget, constraints=[smq.PriceRange(at_least=0.7)])
    assert smq.verify(solution).valid
    theta = np.where(solution.thresholds == 0.7, forged, solution.thresholds)
    assert not np.array_equal(theta, solution.thresholds)
    certificate = smq.verify(dataclasses.replace(solution, thresholds=theta))
    assert "bounds of acceptance" in [check.name for check in certificate.checks if check.fails]


@pytest.mark.parametrize(
    ("floor", "ceiling"),
    [(a, b) for a in (0.25, 0.375, 0.5, 0.75) for b in (0.25, 0.375, 0.5, 0.75, None) if b is None or a <= b],
)
def test_a_floor_at_an_end_of_a_gap_of_a_histogram_is_posted(floor, ceiling):
    """The floor itself buys what nobody sells for less than the gap's upper end."""
    edges, law = [0, 0.25, 0.5, 1.0], smq.PiecewiseUniform([0, 0.25, 0.5, 1.0], [1, 0, 1])
    prices = np.unique([*np.linspace(floor, 1 if ceiling is None else ceiling, 601), *edges])
    prices = prices[(prices >= floor) & (ceiling is None or prices <= ceiling)]
    F = np.interp(prices, edges, [0, 0.5, 0.5, 1])
    for budget in (0.06, 0.2):
        best = -linprog(-F, A_ub=[prices * F, np.ones(prices.size)], b_ub=[budget, 1]).fun
        record = smq.PriceRange(at_least=floor, at_most=ceiling)
        certificate = smq.verify(smq.solve(smq.Market([1.0], law), budget, constraints=[record]))
        assert (certificate.valid, certificate.grade) == (True, "proved"), certificate.reasons
        assert certificate.upper_bound >= best * (1 - 1e-8)
        assert certificate.lower_bound == pytest.approx(best, rel=1e-4)


def test_a_gap_that_a_ceiling_leaves_no_price_in_is_no_offer_to_an_objective():
    laws = smq.ByOwner([smq.Kumaraswamy(2, 3), smq.PiecewiseUniform([0, 0.3, 1.1, 1.3], [2, 0, 1])])
    market = smq.Market([0.4, 0.8], laws, groups={"g": ["a", "b"]})
    records = [smq.PriceRange(at_least=0.9), smq.PriceRange(at_most=0.6, column="g", label="b")]
    for aim in (smq.BoughtOwners(), smq.DiminishingReturns(0.3), None):
        certificate = smq.verify(smq.solve(market, 2.0, constraints=records, objective=aim))
        assert certificate.valid, certificate.reasons
        assert certificate.solution.acceptance[1] == 0
