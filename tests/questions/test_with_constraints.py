"""Questions to a market with constraints: the frontier and the least budget, against single solves and closed forms."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.market import Status
from smqopt.questions.frontiers._at_budgets import AtBudgets

MARKET = smq.Market([0.5, 1.0, 1.5, 2.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Oslo", "Bergen", "Bergen"]})
COVERAGE = smq.Coverage("city", "Oslo", at_least=1)
"""Costs at least 2 · (1/2)² = 1/2."""


def test_each_budget_is_what_a_solve_of_its_own_gives() -> None:
    found = smq.frontier(MARKET, [0.2, 0.4, 1.0, 1.5, 4.0], constraints=[COVERAGE])
    assert [status.name for status in found.status] == ["INFEASIBLE"] * 2 + ["BINDING"] * 2 + ["SLACK"]
    assert found.purchased_privacy[:2].tolist() == [-math.inf] * 2
    assert np.isnan(found.spend[:2]).all()
    assert list(found.conflict) == [COVERAGE.words, "the budget"]
    for at in (2, 3):
        solution = smq.solve(MARKET, float(found.budgets[at]), constraints=[COVERAGE])
        assert found.purchased_privacy[at] == pytest.approx(solution.purchased_privacy, rel=1e-12)
        assert found.budget_price[at] == pytest.approx(solution.budget_price, rel=1e-9)
    assert found.gap < 1e-10
    lower, upper = found.bounds([0.4, 0.8, 1.2, 3.0])
    assert lower[:2].tolist() == [-math.inf] * 2
    for budget, low, high in zip([0.8, 1.2, 3.0], lower[1:], upper[1:], strict=True):
        V = smq.solve(MARKET, budget, constraints=[COVERAGE]).purchased_privacy
        assert low <= V * (1 + 1e-12)
        assert high * (1 + 1e-12) >= V


def test_constraints_that_say_nothing_leave_the_frontier_as_it_is() -> None:
    plain = smq.frontier(MARKET, [0.5, 1.0, 2.0])
    found = smq.frontier(MARKET, [0.5, 1.0, 2.0], constraints=[smq.ExpectedOwners(at_most=4)])
    assert found.purchased_privacy == pytest.approx(plain.purchased_privacy, rel=1e-11)
    assert found.conflict == ()


@pytest.mark.parametrize("target", [3.0, 4.0, 4.9])
def test_the_least_budget_reaches_and_nothing_less_does(target: float) -> None:
    found = smq.least_budget(MARKET, target, constraints=[COVERAGE])
    assert found.solution.purchased_privacy >= target
    assert found.certificate.valid
    assert 0 <= found.gap < 1e-10
    less = smq.solve(MARKET, 0.999 * found.budget, constraints=[COVERAGE])
    assert less.purchased_privacy < target


def test_the_least_budget_is_that_of_the_constraints_where_they_buy_more_than_is_asked() -> None:
    found = smq.least_budget(MARKET, 0.1, constraints=[COVERAGE])
    assert found.budget == pytest.approx(0.5, rel=1e-6)
    assert found.lower_bound <= 0.5
    assert found.certificate.valid


def test_what_no_budget_reaches() -> None:
    cap = smq.ExpectedOwners(at_most=1)
    found = smq.least_budget(MARKET, 3.0, constraints=[cap])
    assert (found.status, found.budget, found.solution) == (Status.UNREACHABLE, math.inf, None)
    found = smq.least_budget(MARKET, 1.0, constraints=[COVERAGE, smq.ExpectedOwners("city", "Oslo", at_most=0.5)])
    assert (found.status, found.budget, found.solution) == (Status.INFEASIBLE, math.inf, None)


def test_all_money_at_the_highest_acceptance_is_slack_and_within_the_budget() -> None:
    """Where everybody stands at the highest acceptance the budget is spent to the last unit, and rounding must give way."""
    market = smq.Market(np.random.default_rng(0).random(200), smq.Uniform(0, 1))
    solution = smq.solve(market, 162.0, constraints=[smq.AcceptanceRange(0, 0.9)])
    assert solution.total_spend <= 162.0
    assert smq.verify(solution, prove=False).valid


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("pooled", [True, False])
def test_a_frontier_states_its_records_once_and_verifies_where_it_is_asked_to(
    verified: bool, pooled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    law = (
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0, 1), smq.Power(2)]) if pooled else smq.Uniform(0, 1)
    )
    market = smq.Market(MARKET.epsilon, law, groups=MARKET.groups)
    record = smq.CommonPrice("city") if pooled else COVERAGE
    counts = {"state": 0, "assess": 0}
    for module in [module for name, module in sys.modules.items() if name.startswith("smqopt.")]:
        for name in counts.keys() & vars(module).keys():
            if callable(getattr(module, name)):
                monkeypatch.setattr(module, name, _counted(counts, name, getattr(module, name)))
    found = smq.frontier(market, [1.0, 1.5, 2.0], constraints=[record], verified=verified)
    assert all(found.feasible)
    assert found.gap < (1e-9 if pooled else 1e-12)
    assert counts == {"state": 1, "assess": 3 if verified else 0}
    assert ("certified" in found.method) is verified


def _counted(counts: dict[str, int], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*arguments: Any, **options: Any) -> Any:
        counts[name] += 1
        return function(*arguments, **options)

    return counted


def test_a_program_is_asked_as_its_market_and_records_are() -> None:
    program = smq.Program(MARKET, 1.0, constraints=[COVERAGE])
    program.constraints += [program.acceptance <= 0.9]
    records = [COVERAGE, smq.AcceptanceRange(0.0, 0.9)]
    curve, same = (smq.frontier(program, [1.0, 1.5]), smq.frontier(MARKET, [1.0, 1.5], constraints=records))
    assert curve.purchased_privacy == pytest.approx(same.purchased_privacy, rel=1e-9)
    target = 0.9 * float(curve.purchased_privacy[0])
    found, other = (smq.least_budget(program, target), smq.least_budget(MARKET, target, constraints=records))
    assert found.budget == pytest.approx(other.budget, rel=1e-9)
    assert program.budget.value == 1.0
    program.constraints += [cp.sum_squares(program.acceptance) <= 1]
    with pytest.raises(InputError, match="linear constraints"):
        smq.frontier(program)
    with pytest.raises(InputError, match="belongs to the program"):
        smq.least_budget(program, target, constraints=records)


@pytest.mark.parametrize(
    ("objective", "sign"), [(smq.DiminishingReturns(scale=0.3), 1.0), (smq.InverseProbabilityVariance(), -1.0)]
)
@pytest.mark.parametrize("records", [[], [COVERAGE]])
def test_other_objectives(objective: Any, sign: float, records: list[Any]) -> None:
    """V at budgets is what single solves find; the least budget for a value solves to it, and there is its inverse."""
    curve = smq.frontier(MARKET, [1.0, 1.5], constraints=records, objective=objective)
    alone = [
        smq.solve(MARKET, budget, constraints=records, objective=objective).objective_value for budget in (1.0, 1.5)
    ]
    assert curve.purchased_privacy == pytest.approx(sign * np.array(alone), rel=1e-9)
    assert curve.gap < 1e-9
    found = smq.least_budget(MARKET, alone[0], constraints=records, objective=objective)
    assert found.budget == pytest.approx(1.0, rel=1e-8)
    assert found.lower_bound <= found.budget
    assert found.excess >= 0
    assert found.certificate is not None
    assert found.certificate.valid
    program = smq.Program(MARKET, 1.0, constraints=records, objective=objective)
    assert smq.frontier(program, [1.0]).purchased_privacy == pytest.approx([sign * alone[0]], rel=1e-9)
    with pytest.raises(InputError, match="belongs to the program"):
        smq.frontier(program, [1.0], objective=objective)


NET = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.8, smq.LeastSpend())])


@pytest.mark.parametrize("budget", [0.01, 0.3, 0.6])
def test_the_price_of_a_budget_that_counts_itself(budget: float) -> None:
    """Σ ε q − .8 Σ q² under Σ q² ≤ B, without an upper end: q = ε/(2(λ + .8)), and V = √(B Σ ε²) − .8 B."""
    market = smq.Market([0.5, 1.0, 1.5], smq.Uniform(0, 1))
    root = math.sqrt(0.25 + 1.0 + 2.25)
    solution = smq.solve(market, budget, objective=NET)
    assert solution.status is Status.BINDING
    assert solution.budget_price == pytest.approx(0.5 * root / math.sqrt(budget) - 0.8, rel=1e-4)
    assert smq.sensitivity(solution).budget == solution.budget_price
    curve = smq.frontier(market, [budget], objective=NET)
    assert curve.budget_price[0] == pytest.approx(solution.budget_price, rel=1e-4)
    found = smq.least_budget(market, root * math.sqrt(budget) - 0.8 * budget, objective=NET)
    assert found.budget == pytest.approx(budget, rel=1e-9)
    assert found.gap < 1e-9


@pytest.mark.parametrize("weights", [None, [1, 2]])
def test_the_price_of_a_budget_that_counts_itself_under_laws_in_doubt(weights: list[int] | None) -> None:
    market = smq.Market([0.5, 1.0, 1.5, 2.0], smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 1.5)], weights))
    low, middle, high = (smq.solve(market, B, objective=NET) for B in (0.2999, 0.3, 0.3001))
    slope = (high.objective_value - low.objective_value) / 2e-4
    assert middle.budget_price == pytest.approx(slope, rel=1e-4)
    assert smq.solve(market, 50.0, objective=NET).objective_value > high.objective_value


def test_a_small_value_beside_costly_constraints_is_certified() -> None:
    """Rows that ask for much are stated as they are: a share of their limits less would cost more than the gap."""
    law = smq.PiecewiseUniform([0, 0.25, 0.5, 0.7, 1.0], [0.2, 0.3, 0.3, 0.2])
    market = smq.Market([0.46, 1.25], law, groups={"h": ["a", "b"]})
    records = [smq.Coverage("h", "a", at_least=0.9), smq.PriceMenu(prices=(0.25, 0.5), column="h", label="b")]
    aim = smq.WorstGroup("h", of="privacy")
    least = 0.9 * 0.85  # .9 = F(.85)
    for budget in (least + 1e-4, least + 1e-3):
        certificate = smq.verify(smq.solve(market, budget, objective=aim, constraints=records))
        assert certificate.valid, certificate.reasons
        # b sells at .25, for each unit of spend with acceptance 4
        assert certificate.lower_bound == pytest.approx(1.25 * 4 * (budget - least), rel=1e-8)
    target = 1.25 * 4 * 1e-3
    found = smq.least_budget(market, target, objective=aim, constraints=records)
    assert found.budget == pytest.approx(least + 1e-3, rel=1e-11)


def test_a_least_budget_ends_where_no_smaller_one_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a certificate leaves open took as many solves again, by halves."""
    law = smq.Mixture([smq.Beta(2, 3), smq.PointMass(0.25)], weights=[0.7, 0.3])
    market = smq.Market([0.5, 1.0, 1.5], law, groups={"h": list("aab")})
    records = [smq.CommonPrice("h")]
    asked: list[float] = []
    solve = AtBudgets.solve

    def counted(self: AtBudgets, budget: float, **options: Any) -> Any:
        asked.append(budget)
        return solve(self, budget, **options)

    monkeypatch.setattr(AtBudgets, "solve", counted)
    found = smq.least_budget(market, 0.8, constraints=records)
    assert len(asked) <= 15  # 31
    assert found.gap < 1e-11
    less = smq.solve(market, found.budget * (1.0 - 1e-10), constraints=records)
    assert less.purchased_privacy < 0.8 <= found.solution.purchased_privacy
