"""Budgets and limits of 0, and demands for everybody: what they leave, and whom they leave nothing."""

from __future__ import annotations

import pytest

import smqopt as smq

AT_NOTHING = smq.Discrete([0, 0.5, 1], [0.6, 0.2, 0.2])
MIXED = smq.ByOwner([AT_NOTHING, smq.PointMass(0), smq.Uniform(0, 1)])


def market(law):
    return smq.Market([0.5, 1, 0.7], law, groups={"h": list("aab")})


@pytest.mark.parametrize(
    ("law", "records", "best"),
    [
        (AT_NOTHING, [smq.ExpectedOwners(at_most=1)], 0.6 + 0.4 * 0.7),
        (MIXED, [smq.ExpectedOwners(at_most=1)], 1.0),
        (AT_NOTHING, [smq.Coverage("h", "a", at_least=1)], 0.6 * 2.2),
        (MIXED, [smq.Coverage("h", "a", at_least=1.5)], 0.3 + 1.0),
        (AT_NOTHING, [smq.Parity("h", within=0)], 0.6 * 2.2),
        (MIXED, [smq.Parity("h", within=0)], 0.0),
        (AT_NOTHING, [smq.CommonPrice("h"), smq.ExpectedOwners(at_most=1)], 0.75),
        (MIXED, [smq.CommonPrice("h"), smq.ExpectedOwners(at_most=1)], (0.5 * 0.6 + 1.0) / 1.6),
    ],
)
def test_a_budget_of_nothing_buys_the_best_that_rows_allow(law, records, best):
    solution = smq.solve(market(law), 0, constraints=records)
    certificate = smq.verify(solution)
    assert solution.status is smq.Status.ZERO_BUDGET
    assert solution.total_spend == 0
    assert certificate.valid
    assert certificate.grade == "proved"
    assert solution.objective_value == pytest.approx(best, abs=1e-12)
    assert certificate.upper_bound == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("records", [[], [smq.ExpectedOwners(at_most=1)], [smq.Coverage("h", "a", at_least=1)]])
@pytest.mark.parametrize("objective", [smq.PurchasedPrivacy(), smq.InverseProbabilityVariance()])
def test_every_route_sells_for_nothing(records, objective):
    ways = [
        smq.solve(market(AT_NOTHING), 0, constraints=records, objective=objective, solver=solver)
        for solver in ("structured" if records else "dual", "conic")
    ]
    assert all(smq.verify(one).valid for one in ways)
    assert ways[1].objective_value == pytest.approx(ways[0].objective_value, rel=1e-10)
    assert ways[0].acceptance.sum() == pytest.approx(1.0 if records and records[0].kind == "expected-owners" else 1.8)


def test_more_than_sells_for_nothing_is_infeasible_at_nothing():
    asked = smq.Coverage("h", "a", at_least=1.5)
    solution = smq.solve(market(AT_NOTHING), 0, constraints=[asked])
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.conflict == (asked.words, "the budget")


def test_whoever_is_left_nothing_leaves_others_nothing():
    """No money for one group, as many of each, so nobody of the other; whoever shares her price neither."""
    people = smq.Market(
        [0.5, 1, 0.7, 0.4],
        smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0, 1), smq.Uniform(0.5, 1)]),
        groups={"h": list("abbc"), "s": list("xyzz"), "t": list("uvww")},
    )
    records = [smq.GroupBudget("h", "a", at_most=0), smq.Parity("h", within=0, labels=["a", "b"]), smq.CommonPrice("t")]
    for objective in (None, smq.DiminishingReturns(scale=0.3)):
        solution = smq.solve(people, 1.0, constraints=records, objective=objective)
        assert solution.acceptance.tolist() == [0, 0, 0, 0]
        assert smq.verify(solution).valid
    wanted = smq.Coverage("h", "b", at_least=0.1)
    without = smq.solve(people, 1.0, constraints=[*records, wanted])
    assert without.status is smq.Status.INFEASIBLE
    assert without.conflict == (records[0].words, records[1].words, wanted.words)


@pytest.mark.parametrize("sure", [smq.Coverage("h", "a", at_least=3), smq.AcceptanceRange(1, 1, column="h", label="a")])
def test_the_conic_route_buys_for_sure_where_slopes_are_infinite(sure):
    people = smq.Market([0.4, 0.27, 0.05, 0.27, 0.26], smq.Beta(2, 3), groups={"h": list("aabac")})
    ways = [smq.solve(people, 3.2, constraints=[sure], solver=solver) for solver in ("structured", "conic")]
    assert all(smq.verify(one).grade == "proved" for one in ways)
    assert ways[1].acceptance == pytest.approx(ways[0].acceptance, abs=1e-9)


def test_whoever_shares_a_price_that_is_too_low_sells_to_nobody():
    """No money for one means a price up to .1 for both, at which the other never sells, nor whom parity holds to her."""
    laws = smq.ByOwner([smq.Uniform(0.1, 1), smq.Uniform(0.5, 1), smq.Uniform(0, 1), smq.Uniform(0, 1)])
    people = smq.Market([0.5, 1, 0.7, 0.4], laws, groups={"h": list("abcd"), "s": list("xxyz")})
    records = [smq.GroupBudget("h", "a", at_most=0), smq.CommonPrice("s"), smq.Parity("h", within=0, labels=["b", "c"])]
    solution = smq.solve(people, 2.0, constraints=records)
    assert solution.acceptance.tolist() == [0, 0, 0, 1]
    assert smq.verify(solution).valid


def test_who_costs_a_row_more_than_she_brings_it_gets_no_offer():
    """Each acceptance of the second takes .9 from a row and gives .5, at the least price there is; the first only takes."""
    market = smq.Market([1.8, 1.1], smq.PointMass(1.0))
    row = smq.LinearRow(0.0, acceptance=((1, -0.5),), spend=((0, 1.0), (1, 0.9)))
    solution = smq.solve(market, 0.6, constraints=[row])
    assert solution.acceptance.tolist() == [0.0, 0.0]
    assert smq.verify(solution).valid
    variance = smq.InverseProbabilityVariance(weights=[1.29, 0.41])
    solution = smq.solve(market, 0.6, constraints=[row], objective=variance)
    assert solution.status is smq.Status.INFEASIBLE


@pytest.mark.parametrize(
    "limit",
    [
        smq.PriceMenu(prices=[0.1]),
        smq.PriceMenu(prices=[0.1, 0.25]),
        smq.PriceRange(at_most=0.25),
        smq.PriceRange(at_most=0.5),
    ],
)
@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Power(3, low=0, high=1), smq.Beta(2, 3)])
@pytest.mark.parametrize("objective", [smq.PurchasedPrivacy(), smq.DiminishingReturns(scale=1.0)])
def test_whoever_brings_a_row_less_than_she_takes_gets_no_offer(law, limit, objective):
    row = smq.LinearRow(0.0, acceptance=[(0, 1.0)], spend=[(0, -1.0)])
    solution = smq.solve(smq.Market([1.0], law), 0.1, constraints=[row, limit], objective=objective)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.acceptance.tolist() == [0.0]
    assert certificate.upper_bound == 0.0


def test_the_least_error_without_money_is_bounded_at_the_prices_of_each_half_plane():
    market = smq.Market([1.0, 1.0], smq.PointMass(0))
    aim = smq.MeanSquaredError(range=1.0, variance=0.1)
    solution = smq.solve(market, 0.0, constraints=[smq.ExpectedOwners(at_most=1.5)], objective=aim)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert solution.objective_value == pytest.approx(4 * (0.1 * 1.5 + 2) / 1.5**2 - 0.2, rel=1e-12)
