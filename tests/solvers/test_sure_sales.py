"""Who must sell for sure, where the last percent of acceptance costs without bound, and the work that a search may take."""

from pathlib import Path

import pytest

import smqopt as smq
from smqopt.solvers.columns import _column_search
from smqopt.solvers.structured import _newton

MARKET = smq.Market([0.4, 0.27, 0.05, 0.27, 0.26], smq.Beta(2, 3), groups={"h": list("aabac")})


def rest(budget):
    """What the two others sell: OP2 without those who are bought for 1 each."""
    return smq.solve(smq.Market([0.05, 0.26], smq.Beta(2, 3)), budget - 3).purchased_privacy


@pytest.mark.parametrize(
    "records",
    [
        [smq.Coverage("h", "a", at_least=3)],
        [smq.AcceptanceRange(at_least=1, column="h", label="a")],
        [smq.LinearRow(-3.0, acceptance=((0, -1.0), (1, -1.0), (3, -1.0)))],
        [smq.LinearRow(3.0, acceptance=((0, 1.0), (1, 1.0), (3, 1.0)), equal=True)],
    ],
    ids=["coverage", "range", "row", "equation"],
)
@pytest.mark.parametrize("budget", [3.05, 3.2, 4.0])
def test_all_of_a_group_is_bought(records, budget):
    solution = smq.solve(MARKET, budget, constraints=records)
    certificate = smq.verify(solution)
    assert solution.thresholds[[0, 1, 3]].tolist() == [1.0, 1.0, 1.0]
    assert solution.purchased_privacy == pytest.approx(0.94 + rest(budget), rel=1e-10)
    assert (certificate.valid, certificate.grade) == (True, "proved"), certificate.reasons


@pytest.mark.parametrize(("budget", "least", "feasible"), [(2.9, 3, False), (2.9, 2.9, True), (9, 3.5, False)])
def test_what_cannot_be_bought_is_infeasible(budget, least, feasible):
    solution = smq.solve(MARKET, budget, constraints=[smq.Coverage("h", "a", at_least=least)])
    assert (solution.status is not smq.Status.INFEASIBLE) is feasible


def test_a_law_that_ends_before_its_support_is_not_bought_too_dear():
    """The bound asks for the price that is accepted for sure, not for the end of the support."""
    law = smq.PiecewiseUniform([0, 1, 2], [1, 0])
    solution = smq.solve(smq.Market([1.0, 0.5], law), 1.5, constraints=[smq.AcceptanceRange(at_least=1)])
    assert solution.status is smq.Status.INFEASIBLE
    solution = smq.solve(smq.Market([1.0, 0.5], law), 2.0, constraints=[smq.AcceptanceRange(at_least=1)])
    assert smq.verify(solution).upper_bound >= 1.5


def test_the_least_budget_is_not_called_infeasible():
    """48 owners of U(0, 1), 6 of 16 in each city: at least 3 · 16 · .375² is spent."""
    table = Path(__file__).parents[2] / "models" / "tables" / "panel.csv"
    market = smq.Market.from_table(table, epsilon="epsilon", valuation=smq.Uniform(0, 1), groups=["city"])
    records = [smq.Coverage("city", label, at_least=6) for label in dict.fromkeys(market.groups["city"])]
    solution = smq.solve(market, 6.75, constraints=records)
    assert solution.status is smq.Status.BINDING
    assert solution.purchased_privacy == pytest.approx(0.375 * market.epsilon.sum(), rel=1e-5)
    assert smq.solve(market, 6.7499, constraints=records).status is smq.Status.INFEASIBLE


def test_a_search_ends_at_its_limit_of_work(monkeypatch):
    """It says how far its answer is from the bound, and nothing calls that a solution."""
    monkeypatch.setattr(_column_search, "_ROUNDS", 1)
    monkeypatch.setattr(_newton, "_ROUNDS", 1)
    solution = smq.solve(MARKET, 0.4, constraints=[smq.Coverage("h", "a", at_least=1.2)])
    assert solution.details["gap"] > 1e-6
    assert not smq.verify(solution).valid


def test_the_conic_solver_pays_for_sure_sales_where_no_tangent_tells_what_they_cost():
    market = smq.Market([1.74, 1.96, 1.92, 0.38, 1.95, 1.79, 1.66], smq.Beta(2, 3), groups={"city": list("abbbbbb")})
    all_of_a = smq.AcceptanceRange(at_least=1.0, column="city", label="a")
    solution = smq.solve(market, 1.1491964979042713, solver="conic", constraints=[all_of_a])
    assert solution.thresholds[0] == 1.0
    assert smq.verify(solution, gap_tolerance=1e-7).valid
