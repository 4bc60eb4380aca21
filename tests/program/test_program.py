import cvxpy as cp
import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.market import even_acceptance, units_of
from smqopt.program import Program


def market(n: int = 6, unit: float = 1.0, epsilon_unit: float = 1.0):
    rng = np.random.default_rng(7)
    law = smq.ByOwner([[smq.Uniform(0.5, 2), smq.Power(1.7), smq.TruncatedExponential(2)][i % 3] for i in range(n)])
    return smq.Market(epsilon_unit * rng.random(n), law.rescale(unit), multiplicity=rng.integers(1, 4, n))


def test_variables_parameter_and_problem_are_cvxpys():
    program = Program(market(), 1.0)
    assert isinstance(program.acceptance, cp.Variable)
    assert isinstance(program.spend, cp.Variable)
    assert program.acceptance.shape == program.spend.shape == (6,)
    assert isinstance(program.budget, cp.Parameter)
    assert isinstance(program.problem, cp.Problem)
    assert program.problem.is_dcp()
    assert program.problem.is_dpp()
    assert program.problem._sibling.is_dpp()
    assert all(a is b for a, b in zip(program.problem.constraints, program.constraints, strict=True))


def test_the_stated_problem_and_its_sibling_are_one_problem():
    program = Program(market(), 1.0)
    program.constraints += [program.spend[1] + program.spend[2] <= 0.2, cp.sum(program.acceptance) >= 1]
    value = program.problem.solve()
    sibling_duals = [constraint.dual_value for constraint in program.constraints]
    plain = cp.Problem(program.problem.objective, program.problem.constraints)
    assert plain.solve(solver=cp.CLARABEL) == pytest.approx(value, rel=1e-6)
    for constraint, dual in zip(program.constraints, sibling_duals, strict=True):
        for here, there in zip(np.atleast_1d(constraint.dual_value), np.atleast_1d(dual), strict=True):
            assert np.allclose(here, there, rtol=1e-3, atol=1e-5), str(constraint)


def test_value_is_in_units_of_epsilon_and_spend_in_currency():
    here, there = Program(market(), 1.0), Program(market(unit=1e8, epsilon_unit=1e-8), 1e8)
    assert there.problem.solve() == pytest.approx(1e-8 * here.problem.solve(), rel=1e-6)
    assert there.purchased_privacy.value == there.problem.value
    assert np.allclose(there.spend.value, 1e8 * here.spend.value, rtol=1e-3, atol=1e8 * 1e-5)
    assert there.budget_price == pytest.approx(1e-16 * here.budget_price, rel=1e-3)


def test_a_budget_sweep_compiles_once(monkeypatch):
    program = Program(market(), 0.5)
    problem = program.problem
    problem.solve()
    chain = problem._sibling._cache.param_prog
    assert chain is not None
    values = []
    for budget in (0.1, 1.0, 5.0, 100.0):
        program.budget.value = budget
        values.append(program.problem.solve())
        assert program.problem is problem
        assert problem._sibling._cache.param_prog is chain
        expected = smq.solve(program.market, budget).purchased_privacy
        assert values[-1] == pytest.approx(expected, rel=1e-6)
    assert values == sorted(values)


def test_the_problem_is_made_anew_where_constraints_change():
    program = Program(market(), 0.5)
    first = program.problem
    program.constraints += [program.acceptance[0] >= 0.5]
    second = program.problem
    assert second is not first
    program.constraints.append(program.acceptance[1] >= 0.5)
    assert program.problem is not second
    assert len(program.problem.constraints) == len(second.constraints) + 1
    del program.constraints[-2:]
    assert len(program.problem.constraints) == len(first.constraints)
    assert not program.is_extended


def test_extensions_in_words():
    program = Program(market(), 0.5)
    assert program.extensions == ()
    assert not program.is_extended
    program.constraints += [program.acceptance[0] >= 0.5]
    assert program.extensions == ("0.5 <= acceptance[0]",)
    assert program.is_extended
    program.constraints += [np.arange(6.0) @ program.acceptance <= 1e3, cp.norm(program.spend) <= 1]
    assert all(len(words) <= 100 and "\n" not in words for words in program.extensions)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([-1], ("without the budget",)),
        ([0], ("without acceptance >= 0",)),
        ([2], ("without C(q) <= b for 2 owners (uniform)",)),
        ([3, 4], ("without C(q) <= b for 2 owners (power)",)),
        ([4], ("without C(q) <= b for 2 owners (power)",)),
        ([1, 5], ("without acceptance <= 1", "without C(q) <= b for 2 owners (truncated-exponential)")),
    ],
)
def test_what_was_taken_out_is_named(places, words):
    program = Program(market(), 0.5)
    assert len(program.constraints) == 7  # bounds, uniform, power and its cone, truncated exponential, budget
    gone = [id(program.constraints[place]) for place in places]
    program.constraints = [constraint for constraint in program.constraints if id(constraint) not in gone]
    assert program.extensions == words
    assert program.is_extended


def test_without_the_budget_all_is_bought():
    program = Program(market(), 1e-3)
    program.constraints = [c for c in program.constraints if c is not program.budget_constraint]
    counts = program.market.multiplicity
    assert program.problem.solve() == pytest.approx(float(counts @ program.market.epsilon), rel=1e-6)
    assert program.budget_price == 0.0


def test_booleans_and_the_users_own_variables_may_stand_among_constraints():
    program = Program(market(), 1.0)
    common = cp.Variable()
    program.constraints += [True, program.acceptance[:3] == common]
    program.problem.solve()
    assert np.ptp(program.acceptance.value[:3]) < 1e-7
    assert common.value == pytest.approx(program.acceptance.value[0], abs=1e-7)
    assert "True" not in program.extensions  # it changes nothing


def test_infeasible_and_unsolved_programs_have_no_values():
    program = Program(market(), 1.0)
    assert program.budget_price is None
    program.constraints += [program.acceptance[0] >= 2]
    program.problem.solve()
    assert program.problem.status == cp.INFEASIBLE
    assert program.problem.value == -np.inf
    assert program.acceptance.value is None


@pytest.mark.parametrize("budget", [-1.0, np.nan, np.inf, "1", None, True])
def test_bad_budgets(budget):
    with pytest.raises(InputError, match="budget"):
        Program(market(), budget)


def test_a_budget_that_was_unset():
    program = Program(market(), 1.0)
    program.budget.value = None
    with pytest.raises(InputError, match="is not set"):
        program.current_budget()


def test_units_are_powers_of_two_near_the_tops():
    rich = market(unit=3e7)
    units = units_of(rich)
    assert np.all(np.frexp(units.currency)[0] == 0.5)
    assert np.all((rich.high / units.currency >= 1) & (rich.high / units.currency < 2))
    assert np.sum(units.weights) == pytest.approx(1.0)
    assert np.sum(units.values) == pytest.approx(1.0)
    nothing = units_of(smq.Market([0.0, 0.0], smq.Uniform()))
    assert nothing.privacy == 1.0
    assert not nothing.values.any()


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.1, 0.9, 1.0, 50.0])
def test_the_even_acceptance_is_paid_for_and_nearly_the_largest(share):
    some = market()
    counts = some.multiplicity
    budget = share * float(counts @ some.high)
    q = even_acceptance(some, budget)
    cost = lambda q: float(counts @ (q * some.valuation.ppf(np.full(some.n, q))))  # noqa: E731
    assert 0 < q <= 1
    assert cost(q) <= budget
    assert q == 1.0 or cost(min(1.0, 1.02 * q)) >= budget
