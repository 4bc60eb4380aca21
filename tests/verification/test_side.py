"""The judgement of solutions with side constraints: bounds hold, honest answers pass, broken constraints do not."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

import smqopt as smq
from smqopt.market import (
    AcceptanceRange,
    CommonPrice,
    Coverage,
    ExpectedOwners,
    GroupBudget,
    Parity,
    PriceMenu,
    PriceRange,
    state,
)
from smqopt.solvers import StructuredSolver
from smqopt.verification._owner_sums import _by_balls, way_of
from smqopt.verification.certificate._error_assessment import error_gap
from smqopt.verification.checks._side_constraints import _rows, side_bound

LAWS = [smq.Uniform(0, 1), smq.Uniform(1, 3), smq.Power(2), smq.Discrete([1, 2, 3, 5], [1, 2, 3, 4])]


def market(law=LAWS[0], n=12):
    epsilon = np.linspace(0.0, 1.0, n)
    return smq.Market(epsilon, law, groups={"city": ["Rome"] * (n // 3) + ["Oslo"] * (n - n // 3)})


def solved(records, law=LAWS[0], share=0.3):
    owners = market(law)
    return StructuredSolver().solve(state(owners, records), share * float(owners.high.sum()), smq.PurchasedPrivacy())


KINDS = {
    "coverage": [Coverage("city", "Rome", at_least=3.0)],
    "parity": [Parity("city", within=0.05)],
    "equal rates": [Parity("city", within=0.0)],
    "group budget": [GroupBudget("city", "Oslo", at_most=0.7)],
    "acceptance range": [AcceptanceRange(0.1, 0.8)],
    "expected owners": [ExpectedOwners(at_most=4.0)],
    "common price": [CommonPrice("city")],
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name} {law.low}")
@pytest.mark.parametrize("records", KINDS.values(), ids=KINDS)
def test_an_honest_answer_is_valid(records, law):
    solution = solved(records, law)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.lower_bound <= certificate.upper_bound


@pytest.mark.parametrize(
    "records", [*KINDS.values(), [PriceRange(at_least=0.1, at_most=0.5)]], ids=[*KINDS, "price range"]
)
def test_thresholds_of_the_plain_program_break_the_constraint(records):
    plain = smq.solve(market(), 0.3 * 12)
    claimed = dataclasses.replace(solved(records), thresholds=plain.thresholds, acceptance=plain.acceptance)
    certificate = smq.verify(claimed)
    assert not certificate.valid
    assert any(reason.startswith(("constraint", "bounds", "common", "gap")) for reason in certificate.reasons)
    assert certificate.lower_bound == 0.0


@cache
def certified(k):
    """A statement under a law, its budget, and a bound from below on what it can buy."""
    statement = state(
        market(LAWS[k]), [Coverage("city", "Rome", at_least=2.0), GroupBudget("city", "Oslo", at_most=1.5)]
    )
    budget = 0.3 * float(statement.market.high.sum())
    certificate = smq.verify(StructuredSolver().solve(statement, budget, smq.PurchasedPrivacy()))
    assert certificate.valid, certificate.reasons
    return statement, budget, certificate.lower_bound


@given(
    price=st.floats(0.0, 5.0),
    multipliers=st.tuples(st.floats(0.0, 3.0), st.floats(0.0, 3.0)),
    law=st.sampled_from(range(len(LAWS))),
)
def test_the_bound_holds_for_all_multipliers(price, multipliers, law):
    statement, budget, bought = certified(law)
    assert side_bound(statement, budget, price, np.array(multipliers)) >= bought > 0


@pytest.mark.parametrize("multipliers", [[-0.1], [np.nan], [np.inf], [], [0.1, 0.1]], ids=str)
def test_what_is_no_multiplier_bounds_nothing(multipliers):
    statement = state(market(), KINDS["coverage"])
    assert side_bound(statement, 1.0, 0.5, np.array(multipliers)) == np.inf


def test_a_negative_multiplier_of_an_equation_bounds():
    statement = state(market(), KINDS["equal rates"])
    assert side_bound(statement, 1.0, 0.5, np.array([-0.1])) < np.inf


def test_wrong_multipliers_open_the_gap():
    solution = solved(KINDS["coverage"])
    assert solution.constraint_prices[0] > 0
    wrong = dataclasses.replace(solution, constraint_prices=solution.constraint_prices * 1.1)
    assert [reason.split(":")[0] for reason in smq.verify(wrong).reasons] == ["gap"]


def test_a_constraint_without_record_keeps_a_certificate_from_being_valid():
    solution = solved(KINDS["coverage"])
    more = dataclasses.replace(solution, constraints=(*solution.constraints, "something else"))
    assert any(reason.startswith("side constraints") for reason in smq.verify(more).reasons)


def test_the_same_constraint_twice_is_read_back(tmp_path):
    solution = smq.solve(market(), 2.0, constraints=[Coverage("city", "Oslo", at_least=0.5)] * 2)
    solution.save(tmp_path)
    certificate = smq.verify(solution)
    assert certificate.valid
    certificate.save(tmp_path / "certificate.json")
    assert smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv").valid


def test_a_record_that_the_market_cannot_state_is_a_reason():
    solution = dataclasses.replace(solved(KINDS["coverage"]), records=(Coverage("town", "Rome", at_least=1),))
    certificate = smq.verify(solution)
    assert not certificate.valid
    assert any("town" in reason for reason in certificate.reasons)


def test_prices_off_a_list_are_seen():
    solution = smq.solve(market(), 3.0)
    listed = dataclasses.replace(
        solution, records=(PriceMenu(prices=(0.25, 0.5)),), constraints=("prices",), constraint_prices=np.zeros(0)
    )
    assert any(reason.startswith("price list") for reason in smq.verify(listed).reasons)


def test_a_wrong_status_is_seen():
    solution = solved(KINDS["coverage"])
    wrong = dataclasses.replace(solution, status=smq.Status.SLACK)
    assert any(reason.startswith("status") for reason in smq.verify(wrong).reasons)


def test_an_infeasible_program_has_no_valid_certificate():
    solution = solved([Coverage("city", "Rome", at_least=4.0)], share=0.05)
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.conflict == ("at least 4 expected owners of city = Rome", "the budget")
    assert not smq.verify(solution).valid


def test_how_far_a_row_is_broken_is_relative_to_its_terms():
    two = smq.Market([1.0, 1.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Rome"]})
    form = state(two, [GroupBudget("city", "Oslo", at_most=0.1)])
    (found,) = _rows(form, np.array([0.5, 0.5]), np.array([0.25, 0.25]))
    assert not found.passed
    assert found.value == pytest.approx(0.15 / (0.1 + 0.25), rel=1e-12)


def test_whoever_sells_for_sure_is_counted_as_one():
    law = smq.Normal(0.5, 0.25, 0, 1)
    least, most, *_ = _by_balls(law, way_of(law, few=True), np.ones(2), 1.0, np.array([0.5, 1.0]), np.array([0.5, 1.0]))
    assert least[1] == most[1] == 1.0
    assert least[0] <= 0.5 <= most[0]


@pytest.mark.parametrize("proving", [False, True])
def test_who_may_be_paid_nothing_is_paid_nothing(proving):
    """She sells at 0 as often as at .3: her acceptance does not tell what she is paid."""
    market = smq.Market([1.0, 0.7], smq.Discrete([0, 1], [0.5, 0.5]), groups={"g": ["a", "b"]})
    solution = smq.solve(market, 2.0, constraints=[smq.GroupBudget("g", "a", at_most=0.0)])
    assert smq.verify(solution, prove=proving).valid
    forged = dataclasses.replace(solution, thresholds=np.array([0.3, solution.thresholds[1]]))
    certificate = smq.verify(forged, prove=proving)
    assert "at most 0 spent on g = a" in certificate.reasons[0]


def test_bounds_of_an_error_that_meet_leave_no_gap():
    aim = smq.MeanSquaredError(range=1)
    assert error_gap(aim, 2.0, 2.0, 1e-6, "").passed
    assert not error_gap(aim, 2.0, 2.1, 1e-6, "").passed
    assert not error_gap(aim, 2.1, 2.0, 1e-6, "").passed


@pytest.mark.parametrize("highest", [0.5, 1.2, 2.0])
@pytest.mark.parametrize(
    "law",
    [
        smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0.5, 2)], [0.5, 0.5]),
        smq.Mixture([smq.Discrete([0.0, 1.0], [0.3, 0.7]), smq.Uniform(0.5, 2)], [0.5, 0.5]),
        smq.PiecewiseUniform([0, 0.3, 0.5, 2], [0.5, 0, 0.5]),
    ],
    ids=["intervals", "atoms", "histogram"],
)
def test_a_floor_at_the_upper_end_of_a_gap_is_kept(law, highest):
    market = smq.Market([1.0], law)
    solution = smq.solve(market, 0.5, constraints=[smq.PriceRange(at_least=0.5, at_most=highest)])
    assert solution.thresholds[0] >= 0.5
    assert smq.verify(solution).valid
