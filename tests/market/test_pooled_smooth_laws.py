"""Common prices for owners of different laws that bend: against brute force over a grid of prices, with bounds that hold at any price of the budget."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest
import scipy.stats
from lotteries import lottery_with
from pooled_oracle import best_on_grid, tables

import smqopt as smq
from smqopt.market import state
from smqopt.market.pooling._chord_bounds import Bend
from smqopt.verification.checks._side_constraints import side_bound

CITY = smq.CommonPrice("city")
CUBIC = smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)
LAWS = {
    "regular": [smq.Power(2), smq.Beta(2, 3), smq.TruncatedExponential(2, 0.2, 1.5), CUBIC, smq.Normal(1, 0.3, 0, 2)],
    "infinite densities": [smq.Kumaraswamy(0.5, 2), smq.Beta(0.4, 0.6), smq.Power(0.3, 0.2, 1), smq.Beta(2, 0.5)],
    "no density at the top": [smq.Beta(2, 4), smq.Triangular(0, 0.2, 1), smq.Kumaraswamy(2, 3, 0.5, 2)],
    "apart": [smq.Beta(2, 2, 0, 0.5), smq.Power(2, 1, 1.5), smq.Pareto(2, 2, 3), smq.Power(2, 0, 0.5)],
    "with atoms and histograms": [
        smq.PointMass(0.7),
        smq.Beta(2, 3),
        smq.Discrete([0.2, 1.5], [1, 1]),
        smq.PiecewiseUniform([0, 0.9, 1], [1, 4]),
        smq.Power(3, 0, 2),
    ],
    "mixtures": [
        smq.Mixture([smq.Beta(2, 9), smq.Beta(9, 2)], [0.5, 0.5]),
        smq.Uniform(0, 1),
        smq.Mixture([smq.Uniform(0, 0.2), smq.Beta(20, 20, 0, 2)], [0.3, 0.7]),
    ],
    "cuts of mixtures": [
        smq.Truncated(smq.Mixture([smq.Uniform(0, 0.5), smq.Power(3, 0.2, 1.5)], [0.6, 0.4]), 0.1, 1.2),
        smq.Truncated(smq.Mixture([smq.Beta(2, 9), smq.Beta(9, 2)], [0.5, 0.5]), 0.15, 0.8),
    ],
    "little known": [smq.from_cdf("theta/10 + 9*theta**10/10", 0, 1), smq.Beta(2, 2)],
    "from elsewhere": [smq.from_scipy(scipy.stats.vonmises(3, loc=1), low=0, high=2), smq.Uniform(0, 1)],
}

SLOW = ["little known", "from elsewhere", "cuts of mixtures"]
"""Laws of which it is only known that F rises: 10⁵ cells each; and cuts, whose F is four others."""
QUICK = [name for name in LAWS if name not in SLOW]


def market(laws, epsilon=None, multiplicity=None, groups=None):
    n = len(laws)
    epsilon = (0.1 + 0.8 * (np.arange(n) * 0.37 % 1)) if epsilon is None else np.array(epsilon)
    labels = ["Oslo"] * (n - n // 3) + ["Rome"] * (n // 3) if groups is None else groups
    counts = 1 + np.arange(n) % 3 if multiplicity is None else np.array(multiplicity)
    return smq.Market(epsilon, smq.ByOwner(laws), groups={"city": labels}, multiplicity=counts)


@cache
def known(name):
    return market(LAWS[name])


def test_each_gap_between_knots_begins_as_equal_cells():
    blocks = state(market([smq.Beta(2, 3, 0.5, 1), smq.Power(2, 0.2, 2)], groups=["Oslo"] * 2), [CITY]).blocks
    knots, prices = blocks.terms.knots_of(0), blocks.nodes[0]
    assert set(knots) >= {0.2, 0.5, 1.0, 2.0}
    pieces = (prices.size - 1) // (knots.size - 1)
    equal = [np.linspace(low, high, pieces, endpoint=False) for low, high in itertools.pairwise(knots)]
    assert prices == pytest.approx(np.append(np.concatenate(equal), 2.0), rel=1e-15)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in SLOW[1:])])
def test_against_a_linear_program_over_a_grid(name):
    m = known(name)
    most = max(float(S.max()) for _, S in tables(m, 3))
    for share in (0.02, 0.4):
        solution = smq.solve(m, share * most, constraints=[CITY])
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert certificate.grade == ("numerical" if name == "from elsewhere" else "proved"), certificate.unproved
        on_grid = best_on_grid(m, share * most)
        assert on_grid <= certificate.upper_bound * (1 + 1e-9)  # HiGHS is that exact
        assert on_grid * (1 - 1e-9) <= solution.purchased_privacy <= on_grid * (1 + 3e-3)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in SLOW)])
def test_the_bound_holds_at_any_price_of_the_budget(name):
    m = known(name)
    statement, curves = state(m, [CITY]), list(tables(m, 1501))
    for price in (1e-6, 0.05, 0.3, 1.0, 4.0, 1e6):
        if name in SLOW and price != 0.3:
            continue  # 10⁵ cells each
        at_best = sum(float(np.max(V - price * S)) for V, S in curves)
        bound = side_bound(statement, 1.0, price, np.zeros(0)) - price
        assert at_best <= bound + 4e-16 * price
        assert price > 10 or bound <= at_best * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("name", [*QUICK, "one is worth something, the other costs"])
def test_each_cell_is_bounded_by_itself(name):
    m = known(name) if name in LAWS else market([smq.Uniform(0, 1), smq.Power(3)], [1.0, 0.0])
    blocks = state(m, [CITY]).blocks
    terms, rng = blocks.terms, np.random.default_rng(3)
    for sign in (1.0, -1.0):
        a, c = sign * rng.normal(size=terms.row.size), rng.random(terms.row.size) * rng.choice([0.01, 1.0, 30.0])
        cells = blocks.cells(a, c)
        ceiling, rounding = cells.ceilings()
        for t in np.linspace(0.0, 1.0, 9, endpoint=False):
            price = cells.price + t * cells.width
            cell, term = terms._pairs(cells.group)
            F = terms._cdf(term, price[cell])
            height = np.bincount(cell, weights=(a[term] - c[term] * price[cell]) * F)
            assert np.all(height <= ceiling + rounding)


@pytest.mark.parametrize("seed", [pytest.param(k, marks=[] if k < 2 else pytest.mark.exhaustive) for k in range(80)])
def test_random_groups_are_certified(seed):
    rng = np.random.default_rng(seed)
    choices = [law for name, laws in LAWS.items() if name in QUICK for law in laws]
    n = int(rng.integers(2, 8))
    laws = [choices[k] for k in rng.choice(len(choices), n, replace=False)]
    epsilon = np.where(rng.random(n) < 0.2, 0.0, rng.random(n))
    m = market(laws, epsilon, rng.integers(1, 4, n), ["a", "a", *rng.choice(["a", "b", "c"], n - 2)])
    for share in (1e-6, 0.05, 0.3):
        budget = share * m.most_that_can_be_spent + 1e-9
        solution = smq.solve(m, budget, constraints=[CITY])
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert solution.purchased_privacy >= best_on_grid(m, budget, 101) * (1 - 1e-8) - 1e-9


@pytest.mark.slow
def test_narrow_laws_between_prices_are_found():
    """Between the prices that a search begins with several tops are hidden; what the bound finds beside is put in."""
    narrow = [smq.Normal(0.2 + 0.1 * k, 0.004, 0, 1) for k in range(4)] + [smq.Uniform(0, 1)]
    m = market(narrow, np.full(5, 0.5), groups=["Oslo"] * 5)
    for budget in (0.5, 2.0):
        solution = smq.solve(m, budget, constraints=[CITY])
        assert smq.verify(solution).valid, smq.verify(solution).reasons
        assert solution.purchased_privacy >= best_on_grid(m, budget) * (1 - 1e-9)


def test_equal_laws_and_parts_of_mixtures_are_one_term():
    laws = [smq.Beta(2, 3), smq.Beta(3, 2), smq.Mixture([smq.Uniform(0, 1), smq.Beta(2, 2)], [0.25, 0.75])] * 50
    m = market(laws, groups=["Oslo"] * 150)
    statement = state(m, [CITY])
    terms = statement.blocks.terms
    assert statement.reduced.n == 3
    assert terms.sizes.tolist() == [4]
    assert terms.weight.sum() == pytest.approx(3.0, rel=1e-14)
    assert statement.weights().sum() == m.population
    assert sorted(terms.bend.tolist()) == [Bend.STRAIGHT] + [Bend.REGULAR] * 3
    solution = smq.solve(m, 20.0, constraints=[CITY])
    assert np.unique(solution.thresholds[solution.offered]).size == 1
    assert smq.verify(solution).valid


def test_the_best_price_is_where_the_slope_vanishes():
    """Two powers: V′ = λ(N + pN′) in closed form at the price of the budget."""
    m = market([smq.Power(2), smq.Power(3)], (0.5, 1.0), (1, 1), ["Oslo", "Oslo"])
    solution = smq.solve(m, 0.5, constraints=[CITY])
    p, price = solution.thresholds[0], solution.budget_price
    assert p**3 + p**4 == pytest.approx(0.5, rel=1e-11)
    assert price == pytest.approx((p + 3 * p**2) / (3 * p**2 + 4 * p**3), rel=1e-10)
    assert solution.lottery is None


def test_edges_of_the_budget():
    m = market(LAWS["infinite densities"])
    nothing = smq.solve(m, 0.0, constraints=[CITY])
    assert nothing.status is smq.Status.ZERO_BUDGET
    assert nothing.purchased_privacy == 0
    slack = smq.solve(m, 1e6, constraints=[CITY])
    assert slack.status is smq.Status.SLACK
    assert slack.acceptance.tolist() == [1.0] * 4
    for budget in (1e-12, 1e-6):
        solution = smq.solve(market([smq.Power(2), smq.Beta(0.5, 2), smq.Power(3, 0, 2)]), budget, constraints=[CITY])
        assert smq.verify(solution).valid, smq.verify(solution).reasons
        assert solution.status is smq.Status.BINDING
    for solution in (nothing, slack):
        assert smq.verify(solution).valid, smq.verify(solution).reasons
    without = market(LAWS["regular"], np.zeros(5))
    for budget in (0.0, 1.0):
        solution = smq.solve(without, budget, constraints=[CITY])
        assert solution.purchased_privacy == 0
        assert smq.verify(solution).valid


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_change_nothing(unit):
    m, budget = known("with atoms and histograms"), 2.0
    other = smq.Market(
        m.epsilon, m.valuation.rescale(unit), groups={"city": list(m.groups["city"])}, multiplicity=m.multiplicity
    )
    one = smq.solve(m, budget, constraints=[CITY])
    scaled = smq.solve(other, unit * budget, constraints=[CITY])
    assert smq.verify(scaled).valid
    # a top is flat: its price is known to the root of the gap
    assert scaled.acceptance == pytest.approx(one.acceptance, rel=1e-5)
    assert scaled.thresholds == pytest.approx(unit * one.thresholds, rel=1e-5)
    assert scaled.budget_price == pytest.approx(one.budget_price / unit, rel=1e-5)
    assert scaled.purchased_privacy == pytest.approx(one.purchased_privacy, rel=1e-11)


def moved(solution, row, price):
    """The solution with another price for the group of an owner, with the acceptance that goes with it."""
    m = solution.market
    mine = np.asarray(m.groups["city"]) == m.groups["city"][row]
    at = np.where(mine, price, solution.thresholds)
    F = m.valuation.cdf(np.clip(at, m.low, m.high))
    q = np.where(mine, np.where(at < m.low, 0.0, np.where(at >= m.high, 1.0, F)), solution.acceptance)
    return dataclasses.replace(solution, thresholds=np.where(q > 0, at, m.low), acceptance=q)


def test_forged_answers_are_refused():
    m = known("regular")
    solution = smq.solve(m, 1.0, constraints=[CITY])
    assert smq.verify(solution).valid
    assert solution.lottery is None
    for row in (0, 4):
        price = float(solution.thresholds[row])
        for step in (1e-9, -1e-8, 1e-3, -1e-3):  # the gap that is allowed is 1e-10
            assert not smq.verify(moved(solution, row, price * (1 + step))).valid
        assert smq.verify(moved(solution, row, price)).valid
    for step in (1e-3, -1e-3, 1.0):
        certificate = smq.verify(dataclasses.replace(solution, budget_price=solution.budget_price * (1 + step)))
        assert any(reason.startswith("gap") for reason in certificate.reasons)


def test_a_drawn_price_that_is_moved_is_refused():
    m = market([smq.Beta(2, 2), smq.Power(2, 2, 3)], (1.0, 1.0), (1, 1), ["Oslo"] * 2)
    solution = smq.solve(m, 2.5, constraints=[CITY])
    drawn = solution.lottery
    assert smq.verify(solution).valid
    assert drawn is not None
    assert np.unique(drawn.high).size == 1
    assert drawn.low_acceptance[1] == 0  # the lower price is below her support
    for step in (1e-9, -1e-9):
        other = lottery_with(drawn, probability_of_high=drawn.probability_of_high + step)
        q = solution.acceptance.copy()
        q[other.owner] = other.acceptance
        assert not smq.verify(dataclasses.replace(solution, lottery=other, acceptance=q)).valid
    for step in (1e-3, -1e-3):
        high = drawn.high * (1 + step)
        other = lottery_with(
            drawn, high=high, high_acceptance=m.valuation.cdf(np.clip(high, m.low, m.high))[drawn.owner]
        )
        q = solution.acceptance.copy()
        q[other.owner] = other.acceptance
        assert not smq.verify(dataclasses.replace(solution, lottery=other, acceptance=q)).valid


def test_owners_of_one_law_and_lists_stand_beside_smooth_groups():
    laws = [smq.Beta(2, 3), smq.Power(2), smq.Beta(2, 2), smq.Beta(2, 2), smq.Gamma(2, 0.2, 0, 1), smq.Power(3)]
    m = market(laws, groups=["Oslo", "Oslo", "Rome", "Rome", "Bergen", "Bergen"])
    menu = smq.PriceMenu(prices=(0.2, 0.4, 0.6, 1.0), column="city", label="Bergen")
    solution = smq.solve(m, 1.5, constraints=[CITY, menu])
    assert smq.verify(solution).valid, smq.verify(solution).reasons
    listed = solution.thresholds[4:] if solution.lottery is None else np.append(solution.thresholds[4:], 0.2)
    assert np.isin(listed, menu.prices).all()


@pytest.mark.slow
def test_the_frontier_and_the_least_budget_of_pooled_groups():
    m = known("no density at the top")
    found = smq.frontier(m, [0.0, 0.1, 0.5, 1.5, 50.0], constraints=[CITY])
    assert [status.name for status in found.status] == ["ZERO_BUDGET", "BINDING", "BINDING", "BINDING", "SLACK"]
    assert found.gap < 1e-10
    for k in (1, 2, 3):
        budget = float(found.budgets[k])
        alone = smq.solve(m, budget, constraints=[CITY])
        assert found.purchased_privacy[k] == pytest.approx(alone.purchased_privacy, rel=1e-11)
        assert found.budget_price[k] == pytest.approx(alone.budget_price, rel=1e-8)
        assert best_on_grid(m, budget) <= found.upper_bound[k] * (1 + 1e-9)
    lower, upper = found.bounds([0.3, 1.0])
    for budget, low, high in zip((0.3, 1.0), lower, upper, strict=True):
        assert low <= smq.solve(m, budget, constraints=[CITY]).purchased_privacy <= high
    far = market([smq.Uniform(0, 1), smq.Beta(1, 2, 2, 3)], (1.0, 1.0), (1, 1), ["Oslo"] * 2)
    nearly_all = smq.least_budget(far, 1.9, constraints=[CITY])  # who accepts is paid the price of the dearest
    assert nearly_all.certificate.valid
    assert nearly_all.budget > far.most_that_can_be_spent


def test_cells_are_not_halved_for_roundings_that_stay(monkeypatch):
    """What one law gains another one loses, at any price: ten million cells were made, for nothing."""
    law = smq.ByOwner([smq.PointMass(0.25), smq.Discrete([0.25, 1.5], [0.5, 0.5])])
    blocks = state(smq.Market([1.0, 1.0], law, groups={"city": ["Oslo", "Oslo"]}), [CITY]).blocks
    made, cells = [], type(blocks.terms).cells
    monkeypatch.setattr(
        type(blocks.terms), "cells", lambda terms, group, *more: made.append(group.size) or cells(terms, group, *more)
    )
    a, c = 1e6 * np.array([1.0, -2.0]), np.array([1.0, -2.0])
    found = blocks.enclose(a, c, 1e-12)
    assert 0 <= found.top[0] - found.height[0] <= 1e-8  # some units of the last place of a
    assert sum(made) < 20


def test_cuts_of_mixtures_are_bounded_part_by_part():
    """Taken whole it is only known of them that F rises, and ten million cells met the limit of work."""
    m = market(LAWS["cuts of mixtures"], groups=["Oslo", "Oslo"])
    certificate = smq.verify(smq.solve(m, 0.3, constraints=[CITY, smq.Coverage("city", "Oslo", at_least=0.2)]))
    assert (certificate.valid, certificate.grade) == (True, "proved")
    assert certificate.gap < 1e-13


@pytest.mark.exhaustive
def test_a_hundred_groups_of_ten_laws():
    rng = np.random.default_rng(7)
    a, b = np.exp(rng.normal(0, 0.7, (2, 1000)))
    low = np.where(rng.random(1000) < 0.5, 0.0, 0.3 * rng.random(1000))
    high = low + 0.3 + rng.random(1000)
    kinds = [
        lambda k: smq.Power(a[k], low[k], high[k]),
        lambda k: smq.Beta(a[k], b[k], low[k], high[k]),
        lambda k: smq.Kumaraswamy(a[k], b[k], low[k], high[k]),
        lambda k: smq.TruncatedExponential(a[k], low[k], high[k]),
        lambda k: smq.Weibull(a[k], b[k], low[k], high[k]),
        lambda k: smq.LogNormal(0.0, 0.5 * a[k], low[k], high[k]),
        lambda k: smq.Normal(0.5, 0.2 * a[k], low[k], high[k]),
        lambda k: smq.Logistic(0.5, 0.2 * a[k], low[k], high[k]),
        lambda k: smq.Triangular(low[k], low[k] + 0.3 * (high[k] - low[k]), high[k]),
        lambda k: smq.Gamma(2 * a[k], 0.3 * b[k], low[k], high[k]),
    ]
    laws = [kinds[k % 10](k) for k in range(1000)]
    m = market(laws, rng.random(1000), rng.integers(1, 5, 1000), np.repeat(np.arange(100), 10).tolist())
    for share in (0.02, 0.2, 0.6):
        solution = smq.solve(m, share * m.most_that_can_be_spent, constraints=[CITY])
        certificate = smq.verify(solution)
        assert certificate.valid, certificate.reasons
        assert certificate.gap <= 1e-10


def test_a_law_without_derivatives_leaves_work_for_the_others():
    """Laws beside it are not followed to their seventh derivatives in vain, until the work is spent."""
    assert smq.verify(smq.solve(known("from elsewhere"), 0.1, constraints=[CITY])).valid
