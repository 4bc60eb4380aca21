"""Constraints that ask for as much as there is, and what they leave."""

import math

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import at_budget, state
from smqopt.second_checker import check

ALONE = {"g": list("abc")}


def market_of(law, n=3, counts=None):
    return smq.Market([1.0, 0.6, 0.3][:n], law, groups={"g": ALONE["g"][:n]}, multiplicity=counts)


def spent_on(owners, least, **more):
    return smq.LinearRow(-least, spend=[(i, -1.0) for i in owners], **more)


AIMS = {
    "privacy": smq.PurchasedPrivacy(),
    "owners": smq.BoughtOwners(),
    "bends": smq.DiminishingReturns(scale=0.5),
    "worst": smq.WorstGroup("g"),
}


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("equal", [False, True])
def test_a_row_that_asks_for_the_budget_leaves_the_others_none(aim, equal):
    """All of .5 goes to the first two, who cost q² each; the third is left without money."""
    records = [spent_on((0, 1), 0.5, equal=equal), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(market_of(smq.Uniform(0, 1)), 0.5, constraints=records, objective=AIMS[aim])
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.gap <= 1e-10
    assert solution.acceptance[2] == 0
    assert solution.budget_price > 0
    if aim == "privacy":
        np.testing.assert_allclose(solution.acceptance[:2], np.sqrt(0.5) * np.array([1.0, 0.6]) / np.hypot(1.0, 0.6))
    elif aim == "owners":
        np.testing.assert_allclose(solution.acceptance[:2], 0.5, rtol=1e-9)
    elif aim == "worst":
        assert solution.objective_value == 0


def test_copies_count_as_often_as_they_are_paid():
    """The row counts a payment once, the budget twice: b₀ + b₁ = .5 is all of 1."""
    records = [spent_on((0, 1), 0.5), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(market_of(smq.Uniform(0, 1), counts=[2, 2, 1]), 1.0, constraints=records)
    assert smq.verify(solution).valid
    assert solution.acceptance[2] == 0


def test_whom_the_row_counts_less_gets_nothing():
    """Money for the second owner is counted half, so that none of it may be spent on her."""
    row = smq.LinearRow(-0.25, spend=[(0, -1.0), (1, -0.5)])
    solution = smq.solve(market_of(smq.Uniform(0, 1)), 0.25, constraints=[row, smq.PriceRange(at_most=1.0)])
    assert smq.verify(solution).valid
    np.testing.assert_allclose(solution.acceptance, [0.5, 0.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize("law", [smq.from_cdf("sqrt(theta)", low=0, high=1), smq.Beta(0.5, 0.5), smq.PointMass(1)])
def test_sure_sales_that_cost_the_budget(law):
    """The others' first sale costs next to nothing, so that no price of the budget is large enough."""
    records = [smq.Coverage("g", "a", at_least=1), smq.Coverage("g", "b", at_least=1)]
    solution = smq.solve(market_of(law), 2.0, constraints=records)
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.gap <= 1e-10
    np.testing.assert_allclose(solution.acceptance, [1.0, 1.0, 0.0], rtol=1e-12)


def test_a_little_more_buys_the_others():
    records = [spent_on((0, 1), 0.5), smq.PriceRange(at_most=1.0)]
    market = market_of(smq.Uniform(0, 1))
    for more in (1e-2, 1e-4):
        solution = smq.solve(market, 0.5 * (1.0 + more), constraints=records)
        assert smq.verify(solution).valid
        assert 0 < solution.acceptance[2] <= math.sqrt(0.5 * more)


def test_the_price_of_the_budget_is_what_the_first_sale_costs():
    """The third owner sells from 2 on: dV/dB is .3/2 where money becomes more."""
    laws = smq.ByOwner([smq.Uniform(0, 1), smq.Uniform(0, 1), smq.Uniform(2, 3)])
    records = [spent_on((0, 1), 2.0), smq.PriceRange(at_most=3.0)]
    solution = smq.solve(market_of(laws), 2.0, constraints=records)
    assert smq.verify(solution).valid
    assert solution.budget_price >= 0.15
    more = smq.solve(market_of(laws), 2.001, constraints=records)
    assert (more.objective_value - solution.objective_value) / 1e-3 == pytest.approx(0.15, rel=1e-2)


def test_less_than_is_asked_for_is_infeasible():
    records = [spent_on((0, 1), 0.5), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(market_of(smq.Uniform(0, 1)), 0.49, constraints=records)
    assert solution.status is smq.Status.INFEASIBLE
    assert "the budget" in solution.conflict


def test_the_second_checker_leaves_such_rows_open(tmp_path):
    """It knows no money that is left to nobody, and says so."""
    records = [spent_on((0, 1), 0.5), smq.PriceRange(at_most=1.0)]
    for budget, said in ((0.5, "not checked"), (0.6, "proved")):
        solution = smq.solve(market_of(smq.Uniform(0, 1)), budget, constraints=records)
        certificate = smq.verify(solution)
        assert certificate.grade == "proved"
        folder = tmp_path / str(budget)
        solution.save(folder)
        certificate.save(folder / "certificate.json")
        assert check(folder)[0] == said


@pytest.mark.parametrize("aim", ["privacy", "bends"])
def test_a_row_that_asks_for_all_of_a_group_s_budget(aim):
    """The second of the group is left nothing, though money is left; the third buys with it."""
    groups = {"g": ["a", "a", "b"]}
    market = smq.Market([1.0, 0.6, 0.3], smq.Uniform(0, 1), groups=groups)
    records = [smq.GroupBudget("g", "a", at_most=0.25), spent_on((0,), 0.25), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(market, 0.5, constraints=records, objective=AIMS[aim])
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.gap <= 1e-10
    np.testing.assert_allclose(solution.acceptance, [0.5, 0.0, 0.5], rtol=1e-9)


def test_many_limits_take_little_time():
    """What is compared has a limit; where nothing asks for spend nothing is."""
    n = 3000
    market = smq.Market(np.linspace(0.5, 1.0, n), smq.Uniform(0, 1), groups={"g": np.arange(n) // 2})
    records = [smq.GroupBudget("g", str(k), at_most=0.01) for k in range(0, n // 2, 3)]
    statement = state(market, records)
    assert at_budget(statement, 1.0) is statement


@pytest.mark.parametrize("aim", ["privacy", "spend"])
def test_sure_sales_of_owners_who_are_posted_the_same_in_all_laws(aim):
    """Their bounds are rows under laws in doubt: the budget's price needs no more of them."""
    laws = smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 2)])
    market = smq.Market([1.0, 1.0], laws, groups={"g": ["a", "b"]})
    objective = AIMS["privacy"] if aim == "privacy" else smq.LeastSpend()
    solution = smq.solve(market, 2.0, constraints=[smq.Coverage("g", "a", at_least=1)], objective=objective)
    np.testing.assert_allclose(solution.acceptance, [1.0, 0.0], atol=1e-7)
    assert smq.verify(solution).gap <= 1e-7


def test_a_row_for_all_the_money_of_an_owner_who_draws():
    """Her two prices sum to the budget but for a rounding, which is kept below it."""
    market = smq.Market([1.0, 1.0], smq.ByOwner([smq.PointMass(0.0), smq.PointMass(2.0)]), groups={"g": ["a", "b"]})
    solution = smq.solve(market, 1.0, constraints=[spent_on((0,), 1.0), smq.PriceRange(at_most=3.0)])
    assert smq.verify(solution).valid


def test_sure_sales_of_those_who_are_asked_to_be_paid_more_add_no_rows():
    """The bound of an owner in a block is a row, which no record would have set."""
    market = smq.Market([1.0, 1.0], smq.Uniform(0, 1), groups={"g": ["a", "b"]})
    records = [smq.Coverage("g", "a", at_least=1), spent_on((0,), 0.5), smq.PriceRange(at_most=1.0)]
    statement = state(market, records)
    assert at_budget(statement, 1.0).names == statement.names
    solution = smq.solve(market, 1.0, constraints=records)
    assert smq.verify(solution).valid
    np.testing.assert_allclose(solution.acceptance, [1.0, 0.0], atol=1e-12)
