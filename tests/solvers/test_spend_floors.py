"""Floors on spend: a higher posted price, up to a stated one, against a linear program over the listed prices."""

import dataclasses
import math

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import smqopt as smq
from smqopt.market import under_each_law

PRICES = np.array([0.0, 0.2, 0.35, 0.5, 0.8, 1.0, 1.3, 2.0])
LAWS = (
    smq.Uniform(0, 1),
    smq.Discrete([0.2, 0.5, 0.9], [0.3, 0.3, 0.4]),
    smq.Beta(2, 3),
    smq.PiecewiseUniform([0, 0.9, 1], [1, 1]),
)
MARKET = smq.Market([0.4, 0.6, 0.8, 1.0], smq.Uniform(0, 1))


def best_over_prices(epsilon, law, budget, rows):
    F = np.where(law.high <= PRICES, 1.0, law.cdf(np.minimum(PRICES, law.high)))
    n, k = epsilon.size, PRICES.size
    upper, limits, equal, values = [np.tile(F * PRICES, n)], [budget], [], []
    for i in range(n):
        upper.append(np.repeat(np.eye(n)[i], k))
        limits.append(1.0)
    for a, s, r, is_equal in rows:
        (equal if is_equal else upper).append((a[:, None] * F + s[:, None] * F * PRICES).ravel())
        (values if is_equal else limits).append(r)
    found = linprog(
        -(epsilon[:, None] * F).ravel(), A_ub=upper, b_ub=limits, A_eq=equal or None, b_eq=values or None, method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )  # fmt: skip
    return None if found.status == 2 else -found.fun


def agree(seed):
    rng = np.random.default_rng([seed, 5])
    n, law = int(rng.integers(1, 6)), LAWS[seed % 4]
    epsilon, budget = np.round(rng.uniform(0.1, 1, n), 2), float(rng.choice([0.1, 0.4, 1.0]) * n)
    records, rows = [smq.PriceMenu(prices=tuple(PRICES.tolist()))], []
    for _ in range(int(rng.integers(1, 3))):
        s, a = np.round(rng.normal(size=n), 2), np.round(rng.normal(size=n), 2) * (rng.random() < 0.4)
        r, equal = float(np.round(rng.normal() * 0.3, 2)), bool(rng.random() < 0.25)
        rows.append((a, s, r, equal))
        pairs = [[(i, float(x)) for i, x in enumerate(values)] for values in (a, s)]
        records.append(smq.LinearRow(r, acceptance=pairs[0], spend=pairs[1], equal=equal))
    solution = smq.solve(smq.Market(epsilon, law), budget, constraints=records)
    best = best_over_prices(epsilon, law, budget, rows)
    assert (best is None) == (solution.status is smq.Status.INFEASIBLE)
    if best is not None:
        assert solution.objective_value == pytest.approx(best, rel=1e-8, abs=1e-12)
        assert smq.verify(solution).valid


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_both_signs_agree_with_a_linear_program(seed):
    agree(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_rows_of_both_signs_agree_with_a_linear_program(seed):
    agree(seed)


def test_a_floor_above_the_support_is_paid():
    """Nobody asks for more than 1, so that 1.2 is paid by a price of 1.2."""
    records = [smq.LinearRow(-1.2, spend=[(0, -1.0)]), smq.PriceRange(at_most=1.5)]
    solution = smq.solve(MARKET, 2.0, constraints=records)
    assert smq.verify(solution).valid
    assert solution.spend[0] == pytest.approx(1.2, rel=1e-9)
    assert solution.acceptance[0] <= 1
    alone = smq.solve(smq.Market([0.6, 0.8, 1.0], smq.Uniform(0, 1)), 0.8)
    assert solution.purchased_privacy == pytest.approx(0.4 + alone.purchased_privacy, rel=1e-9)


def test_what_no_price_reaches_is_infeasible_and_the_range_is_blamed():
    highest = smq.PriceRange(at_most=1.1)
    solution = smq.solve(MARKET, 2.0, constraints=[smq.LinearRow(-1.2, spend=[(0, -1.0)], name="a floor"), highest])
    assert set(solution.conflict) == {"a floor", highest.words}


def test_the_highest_price_must_be_stated():
    with pytest.raises(smq.InputError, match=r"owner 1 has none.*PriceRange\(at_most"):
        smq.solve(MARKET, 1.0, constraints=[smq.LinearRow(-0.5, spend=[(0, -1.0)])])


WAYS = {
    "a floor": lambda p: p.spend[0] >= 0.5,
    "of all": lambda p: cp.sum(p.spend) >= 0.9,
    "a modulus": lambda p: cp.abs(p.spend[0] - p.spend[3]) <= 0.02,
    "moduli": lambda p: cp.abs(p.spend[:2] - p.spend[2:]) <= 0.02,
    "an equation": lambda p: p.spend[0] == 0.2,
}


@pytest.mark.parametrize("name", WAYS)
def test_programs_take_floors_on_spend(name):
    program = smq.Program(MARKET, 1.0, constraints=[smq.PriceRange(at_most=1.0)])
    program.constraints += [WAYS[name](program)]
    solution = smq.solve(program)
    assert smq.verify(solution).valid
    assert np.max(program.constraints[-1].violation()) <= 1e-10


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Scenarios([smq.Uniform(0, 1), smq.Beta(2, 3)])])
@pytest.mark.parametrize("within", [0.0, 0.05])
def test_parity_of_payments_is_a_row_between_each_two_groups(law, within):
    market = smq.Market([0.2, 0.6, 0.8, 1.0, 0.3], law, groups={"sex": list("ffmmm")}, multiplicity=[1, 2, 1, 1, 3])
    menu = smq.PriceMenu(prices=tuple(PRICES.tolist()))
    m, women = market.weights, market.groups["sex"] == "f"
    apart = m * np.where(women, 1 / m[women].sum(), -1 / m[~women].sum())
    signs = (1,) if within == 0 else (1, -1)
    rows = [smq.LinearRow(within, spend=[(i, s * x) for i, x in enumerate(apart)], equal=not within) for s in signs]
    parity = smq.Parity("sex", within=within, of="payment")
    found, stated = (smq.solve(market, 1.5, constraints=[menu, *some]) for some in ([parity], rows))
    assert smq.verify(found).valid
    assert found.objective_value == pytest.approx(stated.objective_value, rel=1e-9)
    for one in under_each_law(found):
        assert abs(apart @ one.solution.spend) <= within + 1e-9
    forged = dataclasses.replace(found, records=(smq.Parity("sex", within=within / 2, of="payment"), menu))
    assert within == 0 or not smq.verify(forged).valid


def test_parity_says_what_is_compared():
    assert "mean payment by sex" in smq.Parity("sex", within=2.0, of="payment").words
    with pytest.raises(smq.InputError, match="'acceptance' or 'payment'"):
        smq.Parity("sex", within=0.1, of="spend")
    with pytest.raises(smq.InputError, match="from 0 to 1"):
        smq.Parity("sex", within=2.0)
    market = smq.Market([0.4, 1.0], smq.Uniform(0, 1), groups={"sex": ["f", "m"]})
    with pytest.raises(smq.InputError, match="highest one must be stated"):
        smq.solve(market, 0.5, constraints=[smq.Parity("sex", within=0.0, of="payment")])


@pytest.mark.parametrize(
    ("epsilon", "budget", "records", "best"),
    [
        ([1.993], 0.3, [smq.LinearRow(0.0, spend=((0, -1.0),)), smq.AcceptanceRange(0.0, 0.5)], 0.5 * 1.993),
        (
            [1.474, 0.758, 1.987],
            3.9,
            [smq.LinearRow(-3.51, acceptance=((2, 0.43),), spend=((0, -1.0), (1, -1.0), (2, -1.0)))],
            1.474 + 0.758 + 1.987 * 0.39 / 0.43,
        ),
    ],
)
def test_prices_that_hardly_anybody_accepts_do_not_blur_the_rows(epsilon, budget, records, best):
    """F is 1e-9 and less there: a linear program that leaves such coefficients out buys for nothing."""
    law = smq.Triangular(0, 0.4, 1)
    solution = smq.solve(smq.Market(epsilon, law), budget, constraints=[smq.PriceRange(at_most=1.5), *records])
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(best, rel=1e-10)


def test_a_floor_above_a_support_leaves_the_higher_prices_that_rows_ask_for():
    market = smq.Market([1.0, 2.0], smq.PointMass(0.25))
    row = smq.LinearRow(0.0, acceptance=[(1, 1.0)], spend=[(0, -1.0)])  # q₁ ≤ b₀
    floor = smq.PriceRange(at_least=0.25, at_most=1.0)
    certificate = smq.verify(smq.solve(market, 1.25, constraints=[floor, row]))
    assert certificate.grade == "proved"
    assert certificate.lower_bound == pytest.approx(3.0, rel=1e-12)  # prices of 1 and .25
    with pytest.raises(smq.InputError, match="the highest one must be stated"):
        smq.solve(market, 1.25, constraints=[smq.PriceRange(at_least=0.3), row])


def test_who_shares_a_price_with_whom_rows_ask_more_for_has_the_higher_prices_too():
    market = smq.Market([1.0, 2.0, 1.0], smq.Uniform(0, 1), groups={"g": ["a", "a", "b"]})
    row = smq.LinearRow(-1.5, spend=[(0, -1.0)])
    records = [smq.CommonPrice("g"), smq.PriceRange(at_least=1.2, at_most=2.0), row]
    solution = smq.solve(market, 4.2, constraints=records)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert solution.spend[0] >= 1.5 * (1 - 1e-9)
    assert certificate.lower_bound == pytest.approx(4.0, rel=1e-9)


def test_a_menu_states_the_highest_price_also_where_it_stands_against_acceptances():
    """Which constraints conflict is asked of some of them, and some state no highest price."""
    laws = smq.ByOwner([smq.Discrete([0.25, 0.75], [1, 1]), smq.PointMass(0.5)])
    pair = smq.Market([0.5, 1.0], laws, groups={"h": ["x", "y"]})
    menu, range_ = smq.PriceMenu((0.3, 0.4)), smq.AcceptanceRange(at_least=0.3)
    for aim in (None, smq.WorstGroup("h")):
        records = [menu, smq.Parity("h", within=0.0, of="payment"), range_]
        solution = smq.solve(pair, 0.5, constraints=records, objective=aim)
        assert solution.conflict == (menu.words, range_.words)


@pytest.mark.parametrize("budget", [1.5, 1.7, 1.788])
def test_the_last_digit_of_the_budget_holds_where_what_is_left_counts(budget):
    market = smq.Market([0.518, 0.351, 0.0], smq.Discrete([0.125, 0.5, 0.875], [1, 2, 1]), groups={"g": list("bbb")})
    aim = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.2, smq.LeastSpend())])
    records = [smq.PriceMenu((0.125, 1.075)), smq.CommonPrice("g"), smq.LinearRow(5.0, spend=[(0, -1.0)])]
    certificate = smq.verify(smq.solve(market, budget, constraints=records, objective=aim))
    assert (certificate.valid, certificate.grade) == (True, "proved"), certificate.reasons


def test_what_states_the_highest_price_is_blamed_for_no_other_conflict():
    market = smq.Market([0.9, 0.4], smq.Uniform(0, 1), groups={"g": ["a", "b"]})
    most, least = smq.ExpectedOwners(at_most=0.9), smq.AcceptanceRange(at_least=0.5)
    records = [smq.PriceRange(at_most=2.0), most, least, smq.LinearRow(0.1, spend=[(0, -1.0)])]
    solution = smq.solve(market, 3.0, constraints=records)
    assert solution.conflict == (most.words, least.words)
    assert solution.details["relax_by"][most.words] == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("aim", [None, smq.LeastSpend(), smq.WorstGroup("g")])
@pytest.mark.parametrize("budget", [0.0, 0.4])
def test_the_budget_under_laws_in_doubt_is_blamed_and_relaxed_once(aim, budget):
    law = smq.Scenarios([smq.Uniform(0, 1.7), smq.Uniform(0, 1.5)])
    market = smq.Market([1.0], law, groups={"g": ["a"]})
    record = smq.Coverage("g", "a", at_least=1)
    solution = smq.solve(market, budget, constraints=[record], objective=aim)
    assert solution.conflict == (record.words, "the budget")
    if budget > 0:
        assert solution.details["relax_by"]["the budget"] == pytest.approx(1.7 - budget, abs=1e-6)


def test_neighbours_stay_where_one_price_in_their_place_breaks_rows():
    """Payment parity of groups of 10 and 10⁶: parted prices are within 1e-4 of each other."""
    market = smq.Market([1.0] * 4, smq.Uniform(0, 1), groups={"h": list("abac")}, multiplicity=[10**6, 10, 10, 10**6])
    records = [
        smq.AcceptanceRange(at_most=0.1, column="h", label="a"),
        smq.Parity("h", within=0.0, of="payment"),
        smq.PriceRange(at_most=1.0),
    ]
    solution = smq.solve(market, 540006.21, constraints=records)
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(100001 + 1000010 * math.sqrt(0.1), rel=1e-9)


def test_money_that_is_worth_next_to_nothing_moves_no_row():
    """Who sells for what is left is worth 1e-6, beside 1000 that equations and a ceiling leave."""
    market = smq.Market([1000.0, 1e-6, 1000.0, 1000.0], smq.Uniform(0, 1), groups={"s": list("xyxx")})
    records = [
        smq.ExpectedOwners("s", "x", at_most=1.0),
        smq.LinearRow(-0.25, spend=[(2, -1.0), (0, -1.0)], equal=True),
        smq.PriceRange(at_most=2.0),
    ]
    solution = smq.solve(market, 0.5000005, constraints=records)
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(1000.0, rel=1e-9)
