"""The structured route: against the conic one, against HiGHS where hulls are straight, in other units, and in the conflicts it names."""

import dataclasses

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

import smqopt as smq
from smqopt.errors import InputError
from smqopt.market import BUDGET_WORDS, state
from smqopt.solvers.structured._dual import Dual
from smqopt.solvers.structured._response import Owners

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "uniform from 1": smq.Uniform(1, 3),
    "power": smq.Power(2),
    "truncated exponential": smq.TruncatedExponential(2),
    "histogram": smq.PiecewiseUniform([0, 0.5, 1], [0.7, 0.3]),
    "irregular histogram": smq.PiecewiseUniform([0, 0.4, 0.9, 1], [0.1, 0.2, 0.7]),
    "atoms": smq.Discrete([1, 2, 3, 5], [1, 2, 3, 4]),
}
IRREGULAR = ("irregular histogram", "atoms")
KINDS = (
    "coverage",
    "parity",
    "group-budget",
    "price-range",
    "acceptance-range",
    "expected-owners",
    "common-price",
    "linear",
)


@st.composite
def instances(draw):
    """A small market, a budget and one to three constraints of different kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(2, 16))
    name = draw(st.sampled_from(list(LAWS)))
    law = LAWS[name]
    labels = rng.integers(0, 3, n)
    counts = rng.integers(1, 4, n) if rng.random() < 0.5 else None
    epsilon = rng.random(n) * (rng.random(n) < 0.9)
    epsilon[0] = 0.5
    market = smq.Market(epsilon, law, groups={"g": labels}, multiplicity=counts)
    budget = float(rng.uniform(0.05, 1.2) * np.sum(market.high * (1 if counts is None else counts)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    records = [record for kind in kinds if (record := _record(kind, rng, market, budget, name)) is not None]
    return market, budget, records


def _record(kind, rng, market, budget, name):
    labels = market.groups["g"]
    group = int(labels[rng.integers(market.n)])
    counts = np.ones(market.n) if market.multiplicity is None else market.multiplicity
    mine = float(counts[labels == group].sum())
    law = LAWS[name]
    match kind:
        case "coverage":
            return smq.Coverage("g", group, at_least=float(rng.uniform(0, 0.9)) * mine)
        case "parity" if len(set(labels.tolist())) > 1:
            return smq.Parity("g", within=float(rng.choice([0, 0.05, 0.3])))
        case "group-budget":
            return smq.GroupBudget("g", group, at_most=budget * float(rng.uniform(0.05, 0.6)))
        case "price-range" if name not in IRREGULAR:
            return smq.PriceRange(
                at_least=law.low + 0.05 * law.width, at_most=law.low + rng.uniform(0.3, 1) * law.width
            )
        case "acceptance-range":
            return smq.AcceptanceRange(0.05, float(rng.uniform(0.2, 1)))
        case "expected-owners":
            return smq.ExpectedOwners(at_most=float(rng.uniform(0.1, 1)) * float(counts.sum()))
        case "common-price":
            return smq.CommonPrice("g")
        case "linear":
            rows = rng.choice(market.n, size=min(3, market.n), replace=False).tolist()
            q, b = rng.normal(size=len(rows)), rng.random(len(rows)) / law.high
            pairs = [tuple(zip(rows, values.tolist(), strict=True)) for values in (q, b)]
            return smq.LinearRow(float(rng.uniform(0, 1)), acceptance=pairs[0], spend=pairs[1])
    return None


def agree(market, budget, records):
    """Both routes say infeasible, or both give the same value, keep all constraints, and have a valid certificate."""
    structured = smq.solve(market, budget, constraints=records, solver="structured")
    conic = smq.solve(market, budget, constraints=records, solver="conic")
    infeasible = [solution.status is smq.Status.INFEASIBLE for solution in (structured, conic)]
    assert infeasible[0] == infeasible[1], (structured, conic)
    if infeasible[0]:
        assert structured.conflict
        return
    scale = float(np.sum(market.epsilon * (1 if market.multiplicity is None else market.multiplicity)))
    assert structured.purchased_privacy == pytest.approx(conic.purchased_privacy, rel=1e-6, abs=1e-7 * scale)
    assert keeps(structured, budget, records, 1e-9)
    assert keeps(conic, budget * (1 + 1e-6), records, 1e-5)
    for solution in (structured, conic):
        certificate = smq.verify(solution, prove=False)
        assert certificate.valid, certificate.reasons


def keeps(solution, budget, records, tolerance):
    """Judge an answer by the constraints' own words, not by the solver's matrices."""
    market = solution.market
    counts = np.ones(market.n) if market.multiplicity is None else market.multiplicity
    statement = state(market, records)
    first = np.arange(market.n)
    if statement.row_of_owner is not None:
        first = np.unique(statement.row_of_owner, return_index=True)[1]
    q, b = solution.acceptance[first], solution.spend[first]
    used = statement.usage(q, b)
    size = 1 + np.abs(statement.at_most) + abs(statement.acceptance) @ q + statement.spend @ b
    over = np.where(statement.equal, np.abs(used - statement.at_most), used - statement.at_most) / size
    shared = statement.expand(solution.acceptance[first])
    return (
        float(counts @ solution.spend) <= budget
        and bool(np.all(over <= tolerance))
        and bool(np.all(q >= statement.lowest - tolerance) and np.all(q <= statement.highest + tolerance))
        and bool(np.all(np.abs(shared - solution.acceptance) <= tolerance))
    )


@settings(max_examples=10)
@given(instances())
def test_structured_and_conic_agree(instance):
    agree(*instance)


@pytest.mark.slow
@settings(max_examples=50)
@given(instances())
def test_structured_and_conic_agree_on_fifty(instance):
    agree(*instance)


@pytest.mark.exhaustive
@settings(max_examples=500)
@given(instances())
def test_structured_and_conic_agree_on_five_hundred(instance):
    agree(*instance)


# --- straight hulls: a linear program over the pieces, written out here --------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_atoms_against_a_linear_program(seed):
    rng = np.random.default_rng(seed)
    n = 12
    values, masses = np.array([1.0, 2.0, 4.0, 7.0]), rng.integers(1, 9, 4).astype(float)
    labels = rng.integers(0, 2, n)
    labels[:2] = 0, 1
    market = smq.Market(rng.random(n), smq.Discrete(values, masses), groups={"g": labels})
    budget = float(rng.uniform(5, 40))
    need, cap = 0.4 * np.sum(labels == 0), 0.5 * budget
    solution = smq.solve(
        market, budget, constraints=[smq.Coverage("g", 0, at_least=need), smq.GroupBudget("g", 1, at_most=cap)]
    )
    heaped = np.concatenate([[0.0], np.cumsum(masses) / masses.sum()])  # posted prices: no offer, or an atom
    cost = np.concatenate([[0.0], heaped[1:] * values])
    utility = (market.epsilon[:, None] * heaped).ravel()
    zero, one = (labels == 0)[:, None], (labels == 1)[:, None]
    rows = [np.tile(cost, n), -(zero * heaped).ravel(), (one * cost).ravel()]
    answer = linprog(
        -utility, A_ub=rows, b_ub=[budget, -need, cap], A_eq=np.kron(np.eye(n), np.ones(5)), b_eq=np.ones(n)
    )
    if answer.status == 2:
        assert solution.status is smq.Status.INFEASIBLE
    else:
        assert solution.purchased_privacy == pytest.approx(-answer.fun, rel=1e-9)


# --- statuses and conflicts -----------------------------------------------------------------------------------------


def test_without_constraints_it_is_the_dual_route():
    market = smq.Market(np.linspace(0, 1, 30), smq.Power(1.5))
    structured, dual = smq.solve(market, 4.0, solver="structured"), smq.solve(market, 4.0)
    assert structured.thresholds == pytest.approx(dual.thresholds, abs=1e-12)
    assert structured.budget_price == pytest.approx(dual.budget_price, rel=1e-12)
    assert structured.solver == "structured"


def market_of_two_groups():
    return smq.Market(np.linspace(0.1, 1, 10), smq.Uniform(0, 1), groups={"city": ["Oslo"] * 4 + ["Bergen"] * 6})


def test_statuses():
    market = market_of_two_groups()
    floor = smq.Coverage("city", "Oslo", at_least=2)
    assert smq.solve(market, 0.0, constraints=[smq.ExpectedOwners(at_most=3)]).status is smq.Status.ZERO_BUDGET
    assert smq.solve(market, 2.0, constraints=[floor]).status is smq.Status.BINDING
    assert smq.solve(market, 20.0, constraints=[floor]).status is smq.Status.SLACK
    assert smq.solve(market, 0.5, constraints=[floor]).status is smq.Status.INFEASIBLE
    assert smq.solve(market, 0.0, constraints=[floor]).status is smq.Status.INFEASIBLE


def test_a_multiplier_is_what_one_more_unit_of_the_limit_is_worth():
    market = market_of_two_groups()

    def bought(at_least, within=0.2):
        records = [smq.Coverage("city", "Oslo", at_least=at_least), smq.Parity("city", within=within)]
        return smq.solve(market, 3.0, constraints=records)

    h = 1e-4
    slope = (bought(2.5 - h).purchased_privacy - bought(2.5 + h).purchased_privacy) / (2 * h)
    assert bought(2.5).constraint_prices[0] == pytest.approx(slope, rel=1e-5)
    slope = (bought(0, 0.2 + h).purchased_privacy - bought(0, 0.2 - h).purchased_privacy) / (2 * h)
    assert np.max(bought(0).constraint_prices) == pytest.approx(slope, rel=1e-5)


@settings(max_examples=30)
@given(instances())
def test_a_conflict_is_irreducible(instance):
    market, budget, records = instance
    labels = market.groups["g"]
    impossible = smq.Coverage(
        "g", int(labels[0]), at_least=0.95 * float(np.sum(labels == labels[0])), name="most of them"
    )
    records = [dataclasses.replace(record, name=f"{k}") for k, record in enumerate(records)] + [impossible]
    solution = smq.solve(market, 0.2 * budget, constraints=records)
    if solution.status is not smq.Status.INFEASIBLE:
        return
    in_conflict = [record for record in records if record.words in solution.conflict]
    assert len(in_conflict) + (BUDGET_WORDS in solution.conflict) == len(solution.conflict)
    plenty = 1e3 * (1 + float(np.sum(market.high)))
    amount = 0.2 * budget if BUDGET_WORDS in solution.conflict else plenty
    assert smq.solve(market, amount, constraints=in_conflict, solver="structured").status is smq.Status.INFEASIBLE
    for record in in_conflict:
        others = [other for other in in_conflict if other is not record]
        assert smq.solve(market, amount, constraints=others, solver="structured").status is not smq.Status.INFEASIBLE
    if BUDGET_WORDS in solution.conflict:
        assert (
            smq.solve(market, plenty, constraints=in_conflict, solver="structured").status is not smq.Status.INFEASIBLE
        )


def test_both_routes_name_the_same_conflict():
    market = market_of_two_groups()
    records = [
        smq.ExpectedOwners(at_most=9),
        smq.Coverage("city", "Oslo", at_least=3, name="enough of Oslo"),
        smq.GroupBudget("city", "Oslo", at_most=0.5, name="cheap Oslo"),
    ]
    for route in ("structured", "conic"):
        solution = smq.solve(market, 5.0, constraints=records, solver=route)
        assert solution.status is smq.Status.INFEASIBLE
        assert solution.conflict == ("enough of Oslo", "cheap Oslo")


# --- units ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("epsilon_unit", [1e-8, 1e8])
@pytest.mark.parametrize("law", ["power", "irregular histogram", "atoms"])
def test_other_units_change_nothing_but_units(unit, epsilon_unit, law):
    rng = np.random.default_rng(4)
    epsilon, groups = rng.random(14), {"g": rng.integers(0, 2, 14)}

    def solved(unit, epsilon_unit):
        market = smq.Market(epsilon_unit * epsilon, LAWS[law].rescale(unit), groups=groups)
        budget = 0.3 * float(np.sum(market.high))
        records = [
            smq.Coverage("g", 0, at_least=1.5),
            smq.GroupBudget("g", 1, at_most=0.3 * budget),
            smq.Parity("g", 0.4),
        ]
        return smq.solve(market, budget, constraints=records)

    plain, other = solved(1.0, 1.0), solved(unit, epsilon_unit)
    assert plain.status is not smq.Status.INFEASIBLE
    assert other.status is plain.status
    assert other.purchased_privacy == pytest.approx(epsilon_unit * plain.purchased_privacy, rel=1e-9)
    if law == "power":
        assert other.thresholds == pytest.approx(unit * plain.thresholds, rel=1e-6)


# --- programs ------------------------------------------------------------------------------------------------------


def test_a_linear_program_leaves_cvxpy_with_its_values_and_multipliers():
    market = market_of_two_groups()
    oslo = np.arange(4)

    def program():
        one = smq.Program(market, 2.0, constraints=[smq.Parity("city", within=0.1)])
        q, b = one.acceptance, one.spend
        one.constraints += [cp.sum(q[oslo]) >= 1.6, q[7:] <= 0.45, cp.sum(b[oslo]) <= 0.9, q[5] == 0.3, q[0] >= 0.42]
        return one

    structured, conic = program(), program()
    ours, theirs = smq.solve(structured), smq.solve(conic, solver="conic")
    assert (ours.solver, theirs.solver) == ("structured", "conic")
    assert ours.constraints == theirs.constraints == structured.extensions
    assert len(ours.records) == len(theirs.records) == 1 + 5
    assert ours.purchased_privacy == pytest.approx(theirs.purchased_privacy, rel=1e-7)
    assert structured.acceptance.value == pytest.approx(conic.acceptance.value, abs=1e-5)
    assert structured.budget_price == pytest.approx(conic.budget_price, rel=1e-4)
    assert ours.constraint_prices == pytest.approx(theirs.constraint_prices, abs=1e-4)
    for mine, other in zip(structured.added, conic.added, strict=True):
        assert mine.dual_value == pytest.approx(other.dual_value, abs=1e-4)


def test_what_is_not_linear_goes_through_cvxpy():
    program = smq.Program(market_of_two_groups(), 2.0)
    program.constraints += [cp.sum_squares(program.acceptance) <= 1.0]
    assert program.linear_constraints() is None
    assert smq.solve(program).solver == "conic"
    with pytest.raises(InputError, match="linear constraints in acceptance and spend"):
        smq.solve(program, solver="structured")


def test_arguments_that_do_not_belong_together():
    market = market_of_two_groups()
    record = smq.ExpectedOwners(at_most=3)
    with pytest.raises(InputError, match="does not take constraints"):
        smq.solve(market, 1.0, constraints=[record], solver="dual")
    with pytest.raises(InputError, match="belongs to the program"):
        smq.solve(smq.Program(market, 1.0), constraints=[record])
    with pytest.raises(InputError, match="not known to the structured solver"):
        smq.solve(market, 1.0, constraints=[record], verbose=True)
    with pytest.raises(InputError, match="must be a constraint record"):
        smq.solve(market, 1.0, constraints=["Oslo"])


def test_a_solution_with_constraints_is_saved_and_loaded(tmp_path):
    market = market_of_two_groups()
    records = [smq.Coverage("city", "Oslo", at_least=2), smq.Parity("city", 0), smq.LinearRow(0.5, spend=((0, 1.0),))]
    for budget in (2.0, 0.1):
        solution = smq.solve(market, budget, constraints=records)
        solution.save(tmp_path)
        loaded = smq.Solution.load(tmp_path)
        assert loaded.records == solution.records
        assert loaded.constraint_prices.tolist() == solution.constraint_prices.tolist()
        assert (loaded.conflict, loaded.status) == (solution.conflict, solution.status)
        assert loaded.thresholds.tolist() == solution.thresholds.tolist()


def test_coefficients_stay_beside_their_owners():
    """SciPy sorts places, and with them data that others share, in place where it slices or multiplies."""
    shares = [0.9, 0.1, 0.7, 0.2, 0.5]
    statement = state(
        smq.Market(np.full(5, 0.5), smq.Uniform(0, 1)), [smq.LinearRow(1.0, acceptance=[*enumerate(shares)])]
    )
    dual = Dual(Owners(statement, statement.utility(smq.PurchasedPrivacy())), 1.0)
    dual.A.sort_indices()
    z = np.array([0.8, 0.2])
    point = dual.at(z)
    bend = dual.bend(point.answer.v, dual.curvature(point))
    steps = 1e-6 * np.eye(2)
    differences = [(dual.at(z + step).left - dual.at(z - step).left) / 2e-6 for step in steps]
    assert bend == pytest.approx(np.array(differences), rel=1e-6)
