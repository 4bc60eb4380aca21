"""Budgets that are tiny beside the money in play: no one double spends them, and draws between two do."""

import contextlib
import itertools

import numpy as np
import pytest

import smqopt as smq

LAWS = {
    "uniform": [smq.Uniform(0.7, 2.7)],
    "beta": [smq.Beta(2, 3)],
    "triangular": [smq.Triangular(0.2, 0.6, 1)],
    "uniforms": [smq.Uniform(0.7, 2.7), smq.Uniform(0.8, 2)],
    "discrete": [smq.Discrete([0.3, 1], [0.4, 0.6]), smq.Uniform(0.2, 1)],
    "from 0": [smq.Uniform(0, 1), smq.Power(2)],
}
RECORDS = {
    "common price": lambda _: [smq.CommonPrice("h")],
    "menu": lambda _: [smq.PriceMenu(prices=(0.3, 0.8, 1, 2))],
    "expected owners": lambda _: [smq.CommonPrice("h"), smq.ExpectedOwners("h", "a", at_most=0.3)],
    "parity": lambda _: [smq.Parity("h", within=0.1)],
    "group budget": lambda budget: [smq.GroupBudget("h", "a", at_most=0.3 * budget)],
}
BUDGETS = (1e-7, 1e-12)


def market(laws):
    law = laws[0] if len(laws) == 1 else smq.ByOwner([laws[0], laws[1]] * 2)
    return smq.Market([0.4, 0.6, 0.8, 1.0], law, groups={"h": list("aabb")})


@pytest.mark.parametrize(("law", "record"), list(itertools.product(LAWS, RECORDS)))
def test_a_tiny_budget_is_spent_and_proved(law, record):
    for budget in BUDGETS:
        solution = smq.solve(market(LAWS[law]), budget, constraints=RECORDS[record](budget))
        certificate = smq.verify(solution)
        assert certificate.valid, (budget, certificate.reasons)
        assert budget * (1 - 1e-9) <= solution.total_spend <= budget or solution.status is smq.Status.SLACK


@pytest.mark.parametrize("law", ["uniform", "beta", "triangular", "uniforms", "discrete"])
@pytest.mark.parametrize("budget", [1e-6, 1e-10])
def test_a_tiny_budget_under_a_concave_objective(law, budget):
    """What little is bought is worth ε/.3 a unit, of whoever has the least price for that."""
    menu = smq.PriceMenu(prices=(0.3, 0.8, 1, 2))
    solution = smq.solve(market(LAWS[law]), budget, constraints=[menu], objective=smq.DiminishingReturns(0.3))
    assert smq.verify(solution).valid


@pytest.mark.parametrize("budget", [1e-20, 1e-60, 1e-99])
def test_a_budget_at_the_end_of_the_doubles_buys_of_whom_it_pays_most_to(budget):
    """One price for both of a group: at the low end of the support, ε̄ = .9 for .7."""
    solution = smq.solve(market(LAWS["uniform"]), budget, constraints=[smq.CommonPrice("h")])
    assert smq.verify(solution).valid
    assert solution.purchased_privacy == pytest.approx(budget * 0.9 / 0.7, rel=1e-9)


def test_many_owners_whose_roundings_cancel_draw_nothing():
    """Each price is rounded by a share of 1e-9 of what it buys, all together by less than counts."""
    many = smq.Market(np.linspace(0.9, 1.0, 300), smq.Uniform(0, 1))
    solution = smq.solve(many, 1.0, constraints=[smq.PriceRange(at_most=0.5)])
    assert solution.lottery is None
    assert smq.verify(solution).valid


@pytest.mark.parametrize("budget", [1e-9, 1e-20])
@pytest.mark.parametrize("n", [1, 2])
def test_steep_lines_of_a_variance_end_in_an_answer_or_a_clear_error(n, budget):
    """Slopes of 1/q² beyond 1e15 were refused as coefficients, and the search lost count of its lines."""
    laws = smq.Scenarios([smq.Uniform(0.5, 1), smq.Beta(2, 3)])
    market, spent = smq.Market([0.5] * n, laws), 0.0
    with contextlib.suppress(smq.SolverError):
        spent = smq.solve(market, budget, objective=smq.InverseProbabilityVariance()).total_spend
    assert spent <= budget


def test_a_slope_beyond_the_doubles_is_infinite():
    utility = smq.InverseProbabilityVariance().utility(smq.Market([1.0], smq.Uniform(0, 1)))
    assert utility.slope(np.array([1e-200])) == utility.curvature(np.array([1e-320])) == np.inf


def test_a_tiny_quota_that_can_be_met_is_not_called_infeasible():
    """Posting 1.25 to group b with chance 7.5e-11 meets it for 3.75e-10; rows made tighter had no offers."""
    laws = [
        smq.Beta(1, 3, 0, 0.5),
        smq.Power(2, 0.1, 0.6),
        smq.PointMass(1.25),
        smq.PointMass(0.2),
        smq.Uniform(0.1, 1.6),
    ]
    groups = {"g": list("babaa"), "h": list("yxyyx")}
    few = smq.Market([0.5, 0.25, 1, 2, 0.25], smq.ByOwner(laws), groups=groups, multiplicity=[3, 3, 1, 2, 1])
    quota = smq.Coverage("h", "y", at_least=3e-10)
    records, status = [smq.CommonPrice("g"), quota, smq.PriceMenu([1.25, 1.5, 1.75, 2.0])], None
    with contextlib.suppress(smq.SolverError):
        status = smq.solve(few, 1e-9, constraints=records).status
    assert status is not smq.Status.INFEASIBLE


@pytest.mark.parametrize("budget", [1e-300, 1e-30])
@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.PiecewiseUniform([0, 0.4, 0.9, 1], [1, 2, 7])])
def test_what_no_tiny_budget_pays_for_is_infeasible(law, budget):
    """It is with 2⁴⁰ times the money, where the dual shows it in doubles."""
    market = smq.Market([0.4, 0.9], law, groups={"g": [0, 1]})
    solution = smq.solve(market, budget, constraints=[smq.Coverage("g", 0, at_least=0.5)])
    assert solution.status is smq.Status.INFEASIBLE
    assert "the budget" in solution.conflict
