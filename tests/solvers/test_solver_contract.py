"""What every route promises, over the registry: a certified answer, chosen by name or by instance."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.solvers._solver_registry import SOLVERS

MARKET = smq.Market([0.2, 0.5, 1.0, 0.7], smq.Uniform(0, 1), groups={"city": ["a", "a", "b", "b"]})
EACH = pytest.mark.parametrize("route", SOLVERS)


@EACH
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.5])
def test_an_answer_keeps_the_budget_and_is_certified(route, share):
    budget = share * MARKET.most_that_can_be_spent
    solution = smq.solve(MARKET, budget, solver=route)
    reference = smq.solve(MARKET, budget)
    assert solution.solver == route
    assert solution.total_spend <= budget
    assert solution.status is reference.status
    assert solution.purchased_privacy == pytest.approx(reference.purchased_privacy, rel=1e-9)
    assert smq.verify(solution).valid


@EACH
@pytest.mark.parametrize("objective", [smq.PurchasedPrivacy(), smq.DiminishingReturns(0.3)], ids=lambda o: o.kind)
def test_a_name_and_an_instance_are_the_same_route(route, objective):
    named = smq.solve(MARKET, 0.7, solver=route, objective=objective)
    given = smq.solve(MARKET, 0.7, solver=SOLVERS[route](), objective=objective)
    assert np.array_equal(named.thresholds, given.thresholds)
    assert smq.verify(given).valid


@EACH
def test_constraints_are_kept_or_refused(route):
    record = smq.Coverage("city", "a", at_least=1.5)
    if route == "dual":
        with pytest.raises(InputError, match="does not take constraints"):
            smq.solve(MARKET, 1.5, solver=route, constraints=[record])
        return
    solution = smq.solve(MARKET, 1.5, solver=route, constraints=[record])
    assert solution.acceptance[:2].sum() >= 1.5 * (1 - 1e-9)
    assert smq.verify(solution).valid


@EACH
def test_a_program_is_solved_or_refused(route):
    program = smq.Program(MARKET, 0.7)
    if route == "dual":
        with pytest.raises(InputError, match="takes markets without constraints"):
            smq.solve(program, solver=route)
        return
    assert smq.solve(program, solver=SOLVERS[route]()).solver == route


def test_options_belong_to_the_instance():
    with pytest.raises(InputError, match="is not known to the dual solver"):
        smq.solve(MARKET, 0.7, solver=SOLVERS["dual"](), lotteries=False)
    with pytest.raises(InputError, match="is not known to the structured solver"):
        smq.solve(MARKET, 0.7, solver="structured", max_iter=3)
    with pytest.raises(InputError, match="is unknown"):
        smq.solve(MARKET, 0.7, solver="newton")


@pytest.mark.parametrize("wrong", ["no", 0, None, 1.0])
def test_lotteries_are_allowed_or_not(wrong):
    with pytest.raises(InputError, match="must be True or False"):
        smq.solve(MARKET, 0.7, lotteries=wrong)


def test_a_gap_is_a_number():
    with pytest.raises(InputError, match="must lie in"):
        smq.solve(MARKET, 0.7, constraints=[smq.PriceMenu((0.3,))], lotteries=False, gap="small")
