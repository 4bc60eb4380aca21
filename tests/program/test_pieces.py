"""Straight pieces in place of cost curves: on which side of the curve they lie, how near the bounds come."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.errors import InputError, SolverError
from smqopt.program.cones._pieces import Pieces

Q = np.unique(np.concatenate([[0.0, 1.0], np.geomspace(1e-9, 0.5, 40), 1.0 - np.geomspace(1e-9, 0.5, 40)]))
REGULAR = {
    "beta": smq.Beta(2, 3),
    "beta, low > 0": smq.Beta(0.5, 4, 1, 3),
    "kumaraswamy": smq.Kumaraswamy(2, 3),
    "gamma": smq.Gamma(2, 1, 0, 5),
    "pareto": smq.Pareto(0.5, 1, 4),
    "log-normal": smq.LogNormal(0, 0.5, 0.25, 3),
    "a jump of J": smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], [1, 1]),
    "formula": smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1),
}
IRREGULAR = {
    "beta": smq.Beta(2, 0.5),
    "formula": smq.from_cdf("((1 - 99*theta/100)**(-1/2) - 1)/9", 0, 1),
    "a gap": smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [1, 1]),
}


def hull(law):
    """C̄ at `Q`, from the lower hull of many points of C; never below it."""
    theta = np.unique(np.concatenate([np.linspace(law.low, law.high, 4001), law.ppf(Q)]))
    x = law.cdf(theta)
    x[0] = 0.0
    y = theta * x
    stack = [0]
    for k in range(1, x.size):
        while len(stack) > 1 and (y[stack[-1]] - y[stack[-2]]) * (x[k] - x[stack[-1]]) >= (y[k] - y[stack[-1]]) * (
            x[stack[-1]] - x[stack[-2]]
        ):
            stack.pop()
        stack.append(k)
    return np.interp(Q, x[stack], y[stack])


@pytest.mark.parametrize(
    "law", [*REGULAR.values(), *IRREGULAR.values()], ids=[*REGULAR, *(f"{x}, irregular" for x in IRREGULAR)]
)
@pytest.mark.parametrize("centre", [1e-7, 0.02, 0.5, 0.97, 1.0])
def test_tangents_lie_below_the_hull_and_chords_above(law, centre):
    unit = 4.0
    pieces = Pieces(law, cp.Variable(1), np.array([unit]))
    pieces.start(centre)
    curve = hull(law) / unit

    def highest():
        return np.max(pieces.slopes.value[:, None] * Q + pieces.offsets.value[:, None], axis=0)

    pieces.set_tangents()
    below = highest()
    pieces.set_chords()
    above = highest()
    assert np.all(below <= curve + 1e-14)
    exact = law.ppf(Q) * Q / unit if law in REGULAR.values() else curve
    assert np.all(above >= exact - (1e-14 if law in REGULAR.values() else 1e-6))  # the brute hull is a little too high
    near = int(np.argmin(np.abs(Q - centre)))
    if centre < 1.0:  # next to 1 the bound q ≤ 1 does what a steep tangent would
        assert below[near] == pytest.approx(curve[near], abs=1e-2 * law.high / unit)


LAWS = st.sampled_from([*REGULAR.values(), *IRREGULAR.values(), smq.Uniform(), smq.Discrete([1, 2, 5], [1, 2, 1])])


@settings(max_examples=4, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(LAWS, st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.integers(1, 3)), min_size=1, max_size=5).filter(
        lambda owners: any(epsilon > 0 for _, epsilon, _ in owners)
    ),
    st.one_of(st.floats(0.02, 1.0), st.sampled_from([1.0, 3.0])),
    st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_bounds_from_both_sides_meet_at_the_optimum(owners, share, unit):
    laws, epsilon, counts = zip(*owners, strict=True)
    market = smq.Market(epsilon, smq.ByOwner(laws).rescale(unit), multiplicity=counts)
    budget = share * market.most_that_can_be_spent
    solution = smq.solve(market, budget, solver="conic")
    assert solution.details.get("two_sided_gap", 0.0) <= 1e-7
    raw = solution.raw or solution
    dual = smq.solve(market, budget)
    assert raw.purchased_privacy == pytest.approx(dual.purchased_privacy, rel=2e-7)
    assert smq.verify(raw, gap_tolerance=3e-7).valid
    assert smq.verify(solution).valid


POWER_BY_PIECES = smq.from_cdf("theta**2", 0, 1)
"""The power law as a formula, which has no cone form of its own."""


def solved(law, *constraints):
    program = smq.Program(smq.Market([0.2, 0.4, 0.5, 0.9, 1.0], law), 1.2)
    program.constraints += [constraint(program.acceptance, program.spend) for constraint in constraints]
    return program, smq.solve(program, solver="conic")


@pytest.mark.parametrize(
    "constraint",
    [
        lambda q, _: cp.sum_squares(q) <= 1.0,
        lambda _, b: cp.norm(b[:3]) <= 0.2,
        lambda q, _: cp.sum(cp.sqrt(q[:2])) >= 1.6,
        lambda q, b: cp.sum(cp.square(b)) + cp.sum(cp.square(q)) <= 1.2,
        lambda q, _: q[4] - q[0] <= 0.1,
        lambda q, b: b[4] <= 0.5 * q[4],
    ],
    ids=["norm of acceptance", "norm of spend", "roots", "both", "parity", "price"],
)
def test_the_users_constraints_are_met_as_with_an_exact_form(constraint):
    (exact, _), (program, solution) = solved(smq.Power(2), constraint), solved(POWER_BY_PIECES, constraint)
    assert exact.problem.refinement is None
    assert solution.details["two_sided_gap"] <= 1e-7
    assert program.problem.value == pytest.approx(exact.problem.value, rel=2e-7)
    assert program.problem.value <= exact.problem.value * (1 + 1e-8)  # what chords find is feasible
    assert program.constraints[-1].violation() <= 1e-8
    assert np.all(
        program.spend.value
        >= solution.market.valuation.ppf(program.acceptance.value.clip(0, 1)) * program.acceptance.value - 1e-8
    )
    assert program.constraints[-1].dual_value == pytest.approx(exact.constraints[-1].dual_value, rel=2e-2, abs=1e-4)
    assert program.budget_price == pytest.approx(exact.budget_price, rel=1e-2, abs=1e-6)


def test_burnt_money_is_refused_after_refinement():
    program = smq.Program(smq.Market([0.5, 1.0], smq.Beta(2, 3)), 1.5)
    program.constraints += [cp.sqrt(program.spend[0]) >= 0.3]
    with pytest.raises(InputError, match="asks for more spend"):
        smq.solve(program)
    program.constraints += [program.acceptance[0] <= 0.1]
    with pytest.raises(InputError, match="met by burning money alone"):
        smq.solve(program)


def test_what_is_infeasible_has_a_conflict():
    program = smq.Program(smq.Market([0.5, 1.0], smq.Beta(2, 3)), 0.1)
    program.constraints += [cp.sum(program.acceptance) >= 1.5, cp.sum_squares(program.acceptance) <= 5.0]
    solution = smq.solve(program)
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.conflict == (str(program.constraints[-2]), "the budget")


def test_a_program_with_a_single_feasible_point():
    program = smq.Program(smq.Market([0.5, 1.0], smq.Beta(2, 3)), 1.0)
    program.constraints += [program.acceptance == np.array([0.3, 0.6]), cp.norm(program.acceptance) <= 1.0]
    assert smq.solve(program).acceptance == pytest.approx([0.3, 0.6], abs=1e-8)


def count_compilations(monkeypatch):
    seen = []
    original = cp.Problem._construct_chain
    monkeypatch.setattr(
        cp.Problem, "_construct_chain", lambda self, *a, **k: seen.append(self) or original(self, *a, **k)
    )
    return seen


@pytest.mark.parametrize(
    "law",
    [
        smq.Power(1.7),
        smq.Beta(2, 3),
        pytest.param(
            smq.ByOwner([smq.Beta(2, 3), smq.Uniform(), smq.Gamma(2, 1, 0, 5)] * 2),
            marks=pytest.mark.slow,
            id="by owner",
        ),
    ],
)
def test_a_sweep_of_nine_budgets_compiles_exact_forms_once(monkeypatch, law):
    market = smq.Market(np.random.default_rng(0).random(6), law)
    program = smq.Program(market, 1.0)
    program.constraints += [cp.sum_squares(program.acceptance) <= 4.0]
    seen = count_compilations(monkeypatch)
    for share in np.linspace(0.1, 0.9, 9):
        program.budget.value = share * market.most_that_can_be_spent
        solution = smq.solve(program)
        assert solution.details.get("two_sided_gap", 0.0) <= 1e-7
        assert solution.details["polished"]
    if program.problem.refinement is None:
        assert len(seen) <= 3  # the program; the constraint alone, which rows are to touch; a point strictly inside


def test_a_constraint_added_after_a_solve_is_met():
    program = smq.Program(smq.Market([0.2, 0.5, 1.0], smq.Beta(2, 3)), 0.5)
    before = smq.solve(program, solver="conic").acceptance
    program.constraints += [program.acceptance[0] >= before[0] + 0.1]
    after = smq.solve(program, solver="conic")
    assert after.raw.acceptance[0] == pytest.approx(before[0] + 0.1, abs=1e-7)
    assert smq.verify(after).valid


def test_the_target_is_stated_and_met_or_refused():
    market = smq.Market([0.2, 0.5, 1.0], smq.Beta(2, 3))
    for target in (1e-2, 1e-5, 1e-8):
        solution = smq.solve(market, 0.5, solver="conic", target_gap=target)
        assert solution.details["two_sided_gap"] <= target
        assert solution.raw.purchased_privacy == pytest.approx(smq.solve(market, 0.5).purchased_privacy, rel=2 * target)
    with pytest.raises(SolverError, match=r"came within .*, not 1\.0e-15.*larger target_gap"):
        smq.solve(market, 0.5, solver="conic", target_gap=1e-15)
    taken = smq.solve(market, 0.5, solver="conic", target_gap=1e-15, accept_inaccurate=True)
    assert taken.details["cvxpy_status"] == "optimal_inaccurate"
    for bad in (0.0, 1.0, -1e-7, np.nan):
        with pytest.raises(InputError, match="must lie between 0 and 1"):
            smq.Program(market, 0.5, target_gap=bad)


def test_a_solver_is_named_by_keyword():
    program = smq.Program(smq.Market([0.5], smq.Beta(2, 3)), 0.1)
    assert program.problem.refinement is None
    with pytest.raises(InputError, match="by name"):
        program.problem.solve("CLARABEL")
