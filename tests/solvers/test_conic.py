import json
import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import REFERENCE, reference_market

import smqopt as smq
from smqopt.errors import InputError, SolverError
from smqopt.market import status_of
from smqopt.program import Program
from smqopt.solvers.conic._conic_route import solve_program
from smqopt.solvers.conic._conic_solver import ConicSolver


def solve_market(market, budget, **options):
    return ConicSolver(**options).solve(market, budget, smq.PurchasedPrivacy())


@pytest.mark.parametrize("instance", REFERENCE, ids=lambda instance: instance["name"])
@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("epsilon_unit", [1e-8, 1.0, 1e8])
def test_reference_optima_in_all_units(instance, unit, epsilon_unit):
    plain = reference_market(instance)
    market = smq.Market(epsilon_unit * plain.epsilon, plain.valuation.rescale(unit))
    budget = unit * float(instance["budget"])
    polished = solve_market(market, budget)
    solution = polished.raw
    thresholds = unit * np.array([float(x) for x in instance["thresholds"]])
    assert solution.purchased_privacy == pytest.approx(epsilon_unit * float(instance["objective"]), rel=1e-6, abs=0)
    assert np.max(np.abs(solution.thresholds - thresholds) / (market.high - market.low)) <= 1e-3
    price = epsilon_unit / unit * float(instance["budget_price"])
    assert solution.budget_price == pytest.approx(price, rel=1e-3, abs=0)
    assert solution.total_spend <= budget * (1 + 1e-6)
    assert solution.status is status_of(market, budget)
    assert np.max(np.abs(polished.thresholds - thresholds) / (market.high - market.low)) <= 1e-9
    assert smq.verify(polished).valid


# --- an independent answer: bisection on the price, with formulas written out here ---------------------------------


def cost_and_slope(kind, parameter, low, width):
    """C and C′ as functions of acceptance, from the law's definition."""
    if kind == "uniform":
        return (lambda q: low * q + width * q * q), (lambda q: low + 2 * width * q)
    if kind == "power":
        p = 1 + 1 / parameter
        return (lambda q: low * q + width * q**p), (lambda q: low + p * width * q ** (p - 1))
    z = -np.expm1(-parameter * width)
    return (
        lambda q: low * q - q * np.log1p(-z * q) / parameter,
        lambda q: low - np.log1p(-z * q) / parameter + q * z / (1 - z * q) / parameter,
    )


def best_privacy(owners, budget):
    """The optimum of OP2, by bisection on the price and on each acceptance."""
    curves = [cost_and_slope(*law) for _, _, law in owners]

    def acceptance(price):
        out = []
        for (epsilon, _, _), (_, slope) in zip(owners, curves, strict=True):
            low, high = 0.0, 1.0
            if price * slope(1.0) <= epsilon:
                low = high = 1.0
            for _ in range(60):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if price * slope(middle) < epsilon else (low, middle)
            out.append(low)
        return out

    def spend(q):
        return sum(count * cost(x) for (_, count, _), (cost, _), x in zip(owners, curves, q, strict=True))

    low, high = 1e-12, 1e12
    for _ in range(120):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if spend(acceptance(middle)) > budget else (low, middle)
    return sum(epsilon * count * x for (epsilon, count, _), x in zip(owners, acceptance(high), strict=True))


lows = st.one_of(st.just(0.0), st.floats(0.01, 2.0))
widths = st.floats(0.25, 2.0)
laws = st.one_of(
    st.tuples(st.just("uniform"), st.just(0.0), lows, widths),
    st.tuples(st.just("power"), st.one_of(st.sampled_from([0.5, 1.0, 2.0]), st.floats(0.4, 5.0)), lows, widths),
    st.tuples(st.just("truncated-exponential"), st.one_of(st.just(1e-6), st.floats(0.05, 10.0)), lows, widths),
)
owners_of_all_laws = st.lists(
    st.tuples(st.one_of(st.just(0.0), st.just(0.5), st.floats(0.05, 1.0)), st.integers(1, 4), laws),
    min_size=1,
    max_size=6,
).filter(lambda owners: any(epsilon > 0 for epsilon, _, _ in owners))


def law_of(kind, parameter, low, width):
    if kind == "uniform":
        return smq.Uniform(low, low + width)
    if kind == "power":
        return smq.Power(parameter, low, low + width)
    return smq.TruncatedExponential(parameter, low, low + width)


@settings(max_examples=40)
@given(owners_of_all_laws, st.one_of(st.floats(0.02, 1.0), st.sampled_from([1.0, 3.0, 1e6])), st.integers(-8, 8))
def test_as_good_as_bisection_on_the_price(owners, share, decade):
    epsilon, counts, given_laws = zip(*owners, strict=True)
    unit = 10.0**decade
    market = smq.Market(epsilon, smq.ByOwner([law_of(*law) for law in given_laws]).rescale(unit), multiplicity=counts)
    budget = share * market.most_that_can_be_spent
    polished = solve_market(market, budget)
    solution = polished.raw or polished
    assert solution.purchased_privacy == pytest.approx(best_privacy(owners, budget / unit), rel=1e-6, abs=0)
    assert solution.total_spend <= budget * (1 + 1e-6)
    assert np.all((solution.thresholds >= market.low) & (solution.thresholds <= market.high))
    assert np.array_equal(solution.acceptance, market.valuation.cdf(solution.thresholds))
    assert solution.status is status_of(market, budget)


def by_owner_market(n, seed=3):
    rng = np.random.default_rng(seed)
    return smq.Market(rng.random(n), smq.Power(rng.uniform(0.5, 3, n), rng.random(n), 2.0))


@pytest.mark.parametrize(
    "law", [smq.Uniform(), smq.Power(2), smq.TruncatedExponential(2)], ids=["uniform", "power", "truncated-exponential"]
)
def test_two_thousand_owners(law):
    market = smq.Market(np.random.default_rng(0).random(2000), law)
    budget = 0.5 * market.n
    solution, other = solve_market(market, budget).raw, smq.solve(market, budget)
    assert solution.purchased_privacy == pytest.approx(other.purchased_privacy, rel=1e-6, abs=0)
    assert np.max(np.abs(solution.thresholds - other.thresholds)) <= 1e-3
    assert solution.budget_price == pytest.approx(other.budget_price, rel=1e-3)


@pytest.mark.parametrize("k", [0.05, 50.0])
def test_extreme_exponents(k):
    market = smq.Market([0.2, 0.5, 1.0], smq.Power([k, 1.3, k]))
    solution = solve_market(market, 0.7).raw
    assert solution.purchased_privacy == pytest.approx(smq.solve(market, 0.7).purchased_privacy, rel=1e-6)


def test_one_owner():
    solution = solve_market(smq.Market([2.0], smq.Uniform(0, 4)), 1.0).raw
    assert solution.thresholds[0] == pytest.approx(2.0, rel=1e-6)  # θ²/4 = 1
    assert solution.budget_price == pytest.approx(0.5, rel=1e-4)  # ε/J = 2/4


# --- prices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("extended", [False, True])
def test_the_price_is_the_derivative_of_the_value(unit, extended):
    plain = by_owner_market(8)
    market = smq.Market(plain.epsilon * 1e3, plain.valuation.rescale(unit), multiplicity=np.arange(1, 9))
    budget = 0.3 * market.most_that_can_be_spent
    step = 1e-3 * budget

    def solved(budget):
        program = Program(market, budget)
        if extended:
            program.constraints += [cp.sum(program.acceptance[:4]) >= 3, program.spend[7] <= unit]
        return solve_program(program)

    slope = (solved(budget + step).purchased_privacy - solved(budget - step).purchased_privacy) / (2 * step)
    price = solved(budget).budget_price
    assert price > 0
    assert price == pytest.approx(slope, rel=1e-3)


def test_the_price_of_an_added_constraint_is_a_derivative_too():
    market = by_owner_market(8)

    def program(cap):
        program = Program(market, 4.0)
        program.constraints += [cp.sum(program.spend[:4]) <= cap]
        return program

    at = program(1.0)
    solve_program(at)
    slope = (solve_program(program(1.001)).purchased_privacy - solve_program(program(0.999)).purchased_privacy) / 0.002
    assert at.constraints[-1].dual_value == pytest.approx(slope, rel=1e-3)


# --- edges ---------------------------------------------------------------------------------------------------------


def test_a_zero_budget_buys_nothing_and_asks_no_solver(monkeypatch):
    monkeypatch.setattr(cp.Problem, "solve", lambda *_, **__: pytest.fail("a solver was asked"))
    market = smq.Market([0.2, 1.0], smq.Uniform(1, 2))
    for solution in (solve_market(market, 0.0), solve_program(Program(market, 0.0))):
        assert solution.status is smq.Status.ZERO_BUDGET
        assert not solution.acceptance.any()
        assert np.array_equal(solution.thresholds, market.low)
        assert solution.budget_price == np.inf
        assert solution.purchased_privacy == 0.0


def test_a_zero_budget_with_constraints():
    program = Program(smq.Market([0.2, 1.0], smq.Uniform(1, 2)), 0.0)
    program.constraints += [program.acceptance[0] <= 0.5]
    solution = solve_program(program)
    assert solution.status is smq.Status.ZERO_BUDGET
    assert solution.constraints == program.extensions != ()
    program.constraints += [cp.sum(program.acceptance) >= 0.5]
    solution = solve_program(program)
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.conflict == (str(program.constraints[-1]), "the budget")


@pytest.mark.parametrize("budget", [0.5, 5.0])
def test_nobody_has_privacy_to_sell(budget):
    solution = solve_market(smq.Market([0.0, 0.0], smq.Uniform()), budget)
    assert solution.status is smq.Status.SLACK
    assert solution.purchased_privacy == 0.0
    assert solution.budget_price == 0.0
    assert solution.total_spend <= budget


@pytest.mark.parametrize("times", [1.0, 1.5, 1e6, 1e12])
def test_slack_budgets(times):
    market = by_owner_market(5)
    solution = solve_market(market, times * market.most_that_can_be_spent).raw
    assert solution.status is smq.Status.SLACK
    assert solution.budget_price == 0.0
    assert solution.purchased_privacy == pytest.approx(float(np.sum(market.epsilon)), rel=1e-6)
    assert np.max(np.abs(solution.thresholds - market.high)) <= 2e-3


def test_an_owner_without_privacy_gets_next_to_nothing_where_the_budget_binds():
    solution = solve_market(smq.Market([0.0, 0.5, 1.0], smq.Uniform()), 0.5).raw
    assert 0 <= solution.acceptance[0] <= 1e-4


def test_tiny_budgets_are_accurate_or_refused():
    market = by_owner_market(20)
    for share in (1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-15):
        budget = share * market.most_that_can_be_spent
        try:
            solution = solve_market(market, budget).raw
        except SolverError:
            assert share < 1e-2
            continue
        assert solution.total_spend <= budget * (1 + 1e-6)
        assert solution.purchased_privacy == pytest.approx(smq.solve(market, budget).purchased_privacy, rel=1e-5)


# --- extended programs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("epsilon_unit", [1e-8, 1.0, 1e8])
def test_constraints_in_currency_and_in_privacy_at_all_scales(unit, epsilon_unit):
    rng = np.random.default_rng(3)
    plain = smq.Market(rng.random(20), smq.Uniform(low := rng.random(20), low + rng.uniform(0.5, 1.5, 20)))
    reference = solved_with_extras(plain, 1.0, 1.0)
    market = smq.Market(epsilon_unit * plain.epsilon, plain.valuation.rescale(unit))
    solution = solved_with_extras(market, unit, epsilon_unit)
    assert solution.purchased_privacy == pytest.approx(epsilon_unit * reference.purchased_privacy, rel=1e-7)
    assert np.max(np.abs(solution.acceptance - reference.acceptance)) < 1e-4
    assert float(np.sum(solution.spend[:10])) <= 2.0 * unit * (1 + 1e-6)
    assert float(market.epsilon[10:] @ solution.acceptance[10:]) >= 2.0 * epsilon_unit * (1 - 1e-6)
    assert solution.acceptance[12] == pytest.approx(solution.acceptance[13], rel=1e-4)


def solved_with_extras(market, unit, epsilon_unit):
    program = Program(market, 8.0 * unit)
    program.constraints += [
        cp.sum(program.spend[:10]) <= 2.0 * unit,
        market.epsilon[10:] @ program.acceptance[10:] >= 2.0 * epsilon_unit,
        program.acceptance[12] - program.acceptance[13] == 0,
        cp.norm(program.spend[14:16] / unit) <= 1.0,
        cp.SOC(1.5 * unit, program.spend[16:18]),
    ]
    solution = solve_program(program)
    assert solution.status is smq.Status.BINDING
    assert len(solution.constraints) == 5
    return solution


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_a_nonlinear_term_far_from_one_is_the_same_as_near_it(unit):
    program = Program(smq.Market([0.5, 1.0], smq.Uniform(0, unit)), unit)
    for row in (cp.norm(program.spend) <= 0.1 * unit, cp.norm(program.spend / unit) <= 0.1):
        program.constraints = [*program.constraints[:5], row]
        assert np.linalg.norm(solve_program(program).spend) == pytest.approx(0.1 * unit, rel=1e-6)


@pytest.mark.parametrize("k", [1e-4, 5000.0])
@pytest.mark.parametrize(
    "row",
    [
        lambda q, k: cp.sum_squares(k * q) <= 0.5 * k**2,
        lambda q, k: cp.sum(cp.power(k * q, 1.5)) <= k**1.5,
        lambda q, k: cp.norm(k * q, 3) + cp.max(k * q) <= k,
        lambda q, k: cp.sum(cp.maximum(k * q, 0.3 * k)) <= 1.5 * k,
    ],
    ids=["squares", "power", "norm", "maximum"],
)
def test_what_a_row_is_multiplied_with_does_not_matter(row, k):
    found = []
    for factor in (1.0, k):
        program = Program(smq.Market([0.4, 0.7, 1.0], smq.Uniform(0, 1)), 0.6)
        program.constraints.append(row(program.acceptance, factor))
        found.append(solve_program(program))
        assert smq.verify(found[-1]).valid
    assert found[1].objective_value == pytest.approx(found[0].objective_value, rel=1e-8)


def test_an_exponential_of_large_numbers_is_refused():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    program.constraints.append(cp.sum(cp.exp(100 * program.acceptance)) <= 1e30)
    with pytest.raises(InputError, match="divide inside the term"):
        solve_program(program)


def test_a_coverage_constraint_against_a_grid():
    """Two owners, uniform on [0, 1], at least a share of the first: the rest of the budget goes to the second."""
    program = Program(smq.Market([0.1, 1.0], smq.Uniform()), 0.5)
    program.constraints += [program.acceptance[0] >= 0.4]
    solution = solve_program(program)
    assert solution.acceptance == pytest.approx([0.4, np.sqrt(0.5 - 0.16)], abs=1e-6)
    assert solution.budget_price == pytest.approx(1.0 / (2 * np.sqrt(0.34)), rel=1e-4)
    assert solution.constraints == ("0.4 <= acceptance[0]",)


def test_an_added_cap_can_make_the_budget_slack():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 1.0)
    program.constraints += [program.acceptance <= 0.25]
    solution = solve_program(program)
    assert solution.status is smq.Status.SLACK
    assert solution.budget_price == 0.0
    assert solution.acceptance == pytest.approx([0.25, 0.25], abs=1e-6)


def test_without_the_budget():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.1)
    program.constraints = [c for c in program.constraints if c is not program.budget_constraint]
    solution = solve_program(program)
    assert solution.status is smq.Status.SLACK
    assert solution.constraints == ("without the budget",)
    assert solution.acceptance == pytest.approx([1.0, 1.0], abs=1e-6)


def test_infeasible():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.1)
    program.constraints += [cp.sum(program.acceptance) >= 1.5]
    solution = solve_program(program)
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.conflict == (str(program.constraints[-1]), "the budget")
    assert not solution.offered.any()
    program.budget.value = 3.0
    assert solve_program(program).status is not smq.Status.INFEASIBLE


def test_a_constraint_that_cannot_be_proved_convex_is_named():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.1)
    program.constraints += [cp.square(program.acceptance[0]) >= 0.5]
    with pytest.raises(
        InputError, match=r"could not be proved convex.*acceptance\[0\].* is convex, and stands where a concave one"
    ):
        solve_program(program)


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (lambda q, b: cp.multiply(q, b)[0] <= 1, "is a product of two quantities that both vary.*θ F"),
        (lambda q, b: b[0] / q[0] <= 1, "divides by what varies.*spend <= p . acceptance"),
        (lambda q, b: cp.sum(cp.square(q) + cp.sqrt(b)) <= 1, "mixes convex and concave parts.*split it"),
        (lambda q, _: cp.sum_squares(q) == 0.5, "convex, and in an equation all must be affine"),
        (lambda q, _: cp.sum(cp.sqrt(q)) <= 0.5, "is concave, and stands where a convex one must"),
    ],
)
def test_a_mistake_in_convexity_is_explained(constraint, words):
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.1)
    program.constraints += [constraint(program.acceptance, program.spend)]
    with pytest.raises(InputError, match=words):
        smq.solve(program)


@pytest.mark.parametrize("route", [None, "conic", "structured"])
def test_floors_on_spend_are_refused(route):
    for floor in (lambda b: b[0] >= 0.4, lambda b: b[0] + b[1] == 0.4, lambda b: 0.5 * b[1] <= b[0]):
        program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 1.5)
        program.constraints += [floor(program.spend), program.acceptance[0] <= 0.3]
        with pytest.raises(InputError, match=r"asks for more spend.*PriceRange\(at_most"):
            smq.solve(program, solver=route)


def test_burnt_money_is_refused():
    """√b ≥ 0.6 with q ≤ 0.3 needs a payment of 0.36 where offers cost 0.09; with q free a dearer offer may do better."""
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 1.5)
    program.constraints += [cp.sqrt(program.spend[0]) >= 0.6]
    with pytest.raises(InputError, match="asks for more spend"):
        smq.solve(program)
    program.constraints += [program.acceptance[0] <= 0.3]
    with pytest.raises(InputError, match="met by burning money alone"):
        smq.solve(program)


def test_acceptances_beyond_one_are_refused_even_if_optimal():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 10.0)
    program.constraints = [c for c in program.constraints if str(c) != "acceptance <= 1.0"]
    assert program.removed == ("acceptance <= 1",)
    with pytest.raises(SolverError, match=r"outside \[0, 1\]"):
        solve_program(program)


def test_thresholds_beyond_the_budget_are_refused_even_if_optimal():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.5)
    del program.constraints[2]
    assert program.removed == ("C(q) <= b for 2 owners (uniform)",)
    with pytest.raises(SolverError, match="spend more than the budget"):
        solve_program(program)


# --- options, statuses, chatter ------------------------------------------------------------------------------------


def test_details_say_what_was_met():
    details = solve_market(smq.Market([0.5, 1.0], smq.Uniform()), 0.5).details
    assert details["cvxpy_status"] == "optimal"
    assert details["cvxpy_solver"] == "CLARABEL"
    assert details["tol_feas"] == details["tol_gap_rel"] == 1e-10
    json.dumps(dict(details))


def test_options_reach_the_solver_and_a_status_short_of_optimal_is_an_error():
    market = by_owner_market(10)
    with pytest.raises(SolverError, match="user_limit"):
        solve_market(market, 1.0, max_iter=2)
    with pytest.raises(SolverError, match="optimal_inaccurate"):
        solve_market(market, 1.0, tol_gap_rel=0.0, tol_gap_abs=0.0, tol_feas=0.0)
    solution = solve_market(market, 1.0, tol_gap_rel=0.0, tol_gap_abs=0.0, tol_feas=0.0, accept_inaccurate=True)
    assert solution.details["cvxpy_status"] == "optimal_inaccurate"
    assert solution.details["tol_gap_rel"] == 0.0


def test_looser_attempts_follow_in_order_and_are_recorded(monkeypatch):
    seen = []
    original = cp.Problem.solve

    def stubborn(self, *args, **options):
        seen.append(options["tol_feas"])
        if len(seen) < 4:
            raise cp.error.SolverError("stalled")
        return original(self, *args, **options)

    monkeypatch.setattr(cp.Problem, "solve", stubborn)
    solution = solve_market(smq.Market([0.5, 1.0], smq.Uniform()), 0.5)
    assert seen == [1e-10, 1e-10, 1e-8, 1e-8]
    assert solution.details["tol_feas"] == 1e-8


def test_a_solver_that_always_fails_is_named(monkeypatch):
    def failing(self, *args, **options):
        raise cp.error.SolverError("no progress at all")

    monkeypatch.setattr(cp.Problem, "solve", failing)
    with pytest.raises(SolverError, match="no progress at all"):
        solve_market(smq.Market([0.5, 1.0], smq.Uniform()), 0.5)


def test_another_solver_by_name():
    market = smq.Market([0.5, 1.0], smq.Uniform())
    solution = solve_market(market, 0.5, solver="SCS", eps=1e-9)
    assert solution.details["cvxpy_solver"] == "SCS"
    assert solution.raw.purchased_privacy == pytest.approx(smq.solve(market, 0.5).purchased_privacy, rel=1e-6)
    with pytest.raises(SolverError, match="NONESUCH"):
        solve_market(market, 0.5, solver="NONESUCH")


def test_through_the_front_door():
    market = smq.Market([0.2, 0.5, 1.0], smq.Uniform())
    by_name, by_program = smq.solve(market, 0.5, solver="conic"), smq.solve(smq.Program(market, 0.5))
    assert by_name.solver == by_program.solver == "conic"
    assert np.array_equal(by_name.thresholds, by_program.thresholds)


@pytest.mark.parametrize("options", ["solver='CLARABEL'", "solver='SCS', eps=1e-9"])
def test_chatter_stays_off_standard_output(options):
    program = f"""
import sys
import smqopt as smq
from smqopt.solvers.conic._conic_solver import ConicSolver
smq.solve(smq.Market([0.5, 1.0], smq.Uniform()), 0.5, solver=ConicSolver({options}, verbose=True))
sys.stdout.write("mine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "mine"
    assert len(done.stderr) > 200


# --- polishing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [smq.Uniform(), smq.Beta(2, 3)], ids=["exact cone", "straight pieces"])
@pytest.mark.parametrize("extended", [False, True])
def test_an_answer_is_polished_and_the_raw_one_kept(law, extended):
    market = smq.Market([0.2, 0.5, 1.0], law)
    program = Program(market, 0.4)
    if extended:
        program.constraints += [program.acceptance[0] >= 0.3, cp.sum(program.spend[:2]) <= 0.3]
    solution = solve_program(program)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.gap <= 1e-12
    assert solution.solver == solution.raw.solver == "conic"
    assert solution.constraints == solution.raw.constraints
    assert solution.details["polished"]
    assert solution.raw.raw is None
    assert (
        np.array_equal(solution.raw.thresholds, market.valuation.ppf(np.clip(program.acceptance.value, 0, 1)))
        or not extended
    )
    distance = np.max(np.abs(solution.thresholds - solution.raw.thresholds))
    assert 1e-12 < distance < 1e-2
    check = next(check for check in certificate.checks if check.name == "agreement with conic before polishing")
    assert check.value == pytest.approx(distance, rel=1e-9)
    assert check.passed is None
    assert not check.required


def test_other_routes_are_compared_with_the_raw_answer():
    market = smq.Market([0.2, 0.5, 1.0], smq.Uniform())
    dual, conic = smq.solve(market, 0.5), smq.solve(market, 0.5, solver="conic")
    check = next(check for check in smq.verify(dual, conic).checks if check.name == "agreement with conic")
    assert check.value == pytest.approx(np.max(np.abs(dual.thresholds - conic.raw.thresholds)))
    assert check.value > 0 == np.max(np.abs(dual.thresholds - conic.thresholds).round(14))


def test_what_is_not_linear_is_polished_by_rows_that_touch_it():
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.4)
    program.constraints += [cp.sum_squares(program.acceptance) <= 0.3]
    solution = solve_program(program)
    assert solution.details["polished"]
    assert solution.raw.acceptance == pytest.approx(solution.acceptance, abs=1e-5)
    assert solution.acceptance == pytest.approx(np.sqrt(0.3 / 1.25) * np.array([0.5, 1.0]), abs=1e-8)


def test_a_certificate_of_a_polished_answer_is_read_back(tmp_path):
    solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Beta(2, 3)), 0.4, solver="conic")
    smq.verify(solution).save(tmp_path / "certificate.json")
    solution.save(tmp_path)
    read = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert read.valid
    assert read.solution.raw is None


def test_where_polishing_fails_the_raw_answer_stands(monkeypatch):
    def failing(*_, **__):
        raise SolverError("structured solver", "could not", remedy="nothing")

    monkeypatch.setattr("smqopt.solvers.conic.cuts._under_cuts.solve_statement", failing)
    program = Program(smq.Market([0.5, 1.0], smq.Uniform()), 0.4)
    program.constraints += [program.acceptance[0] >= 0.3]
    solution = solve_program(program)
    assert solution.raw is None
    assert solution.details["polished"] is False
    assert "could not" in solution.details["why_not"]
    assert solution.acceptance[0] == pytest.approx(0.3, abs=1e-7)
