"""Side constraints at their edges: what they leave is nothing, or next to nothing, or what sells for nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import smqopt as smq

EPSILON = [0.2, 0.5, 0.7, 1.0]
CITY = {"city": ["a", "a", "b", "b"]}
ATOM = smq.Discrete([0, 1, 2], [0.3, 0.3, 0.4])


def market(law):
    return smq.Market(EPSILON, law, groups=CITY)


def certified(law, budget, *constraints):
    solution = smq.solve(market(law), budget, constraints=constraints)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "proved", certificate.unproved
    return solution


@pytest.mark.parametrize(
    "constraint", [smq.PriceMenu([0.2, 0.5]), smq.AcceptanceRange(at_most=0.0), smq.ExpectedOwners(at_most=0.0)]
)
def test_nothing_is_left(constraint):
    solution = certified(smq.Uniform(1, 2), 1.0, constraint)
    assert solution.acceptance.tolist() == [0.0] * 4
    assert solution.thresholds.tolist() == [1.0] * 4  # no offer is shown at the low end


@pytest.mark.parametrize("share", [1.0, 1.0 - 2.0**-53, 1.0 - 1e-13, 1.0 - 1e-10])
@pytest.mark.parametrize("constraint", [smq.PriceRange(at_most=0.7), smq.AcceptanceRange(at_most=0.3)])
@pytest.mark.parametrize("law", [smq.Uniform(0, 1), smq.Beta(2, 3), smq.TruncatedExponential(2, 0, 1)])
def test_a_budget_that_just_pays_for_everybody_at_the_ceiling(law, constraint, share):
    plenty = certified(law, 1e9, constraint)
    just = certified(law, share * plenty.total_spend, constraint)
    assert just.purchased_privacy == pytest.approx(plenty.purchased_privacy, rel=1e-9)


def test_a_group_without_money_sells_what_sells_for_nothing():
    solution = certified(ATOM, 1.0, smq.GroupBudget("city", "a", at_most=0.0))
    assert solution.acceptance[:2].tolist() == [0.3, 0.3]
    assert solution.spend[:2].tolist() == [0.0, 0.0]
    # the others: each unit of money buys 0.3 more for the first 0.6, so 0.7·0.5 + 1·0.6 for all of the budget
    assert solution.purchased_privacy == pytest.approx(0.3 * 0.7 + 0.7 * 0.5 + 0.6, rel=1e-12)


def test_a_group_without_money_sells_nothing_where_nothing_is_free():
    solution = certified(smq.Uniform(0, 1), 1.0, smq.GroupBudget("city", "a", at_most=0.0))
    assert solution.acceptance[:2].tolist() == [0.0, 0.0]


def test_a_cap_on_owners_who_sell_for_nothing():
    solution = certified(ATOM, 1.0, smq.ExpectedOwners(at_most=0.5))
    assert solution.purchased_privacy == pytest.approx(0.5, rel=1e-12)  # of the dearest alone
    assert solution.acceptance.sum() <= 0.5 * (1 + 1e-10)


@pytest.mark.parametrize("budget", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(
    "constraint",
    [smq.AcceptanceRange(at_most=0.5), smq.GroupBudget("city", "a", at_most=1.0), smq.Parity("city", within=0.5)],
    ids=lambda record: record.kind,
)
def test_a_budget_of_next_to_nothing_as_without_constraints_that_do_not_bind(budget, constraint):
    plain = smq.solve(market(smq.Uniform(0, 1)), budget).purchased_privacy
    assert certified(smq.Uniform(0, 1), budget, constraint).purchased_privacy == pytest.approx(plain, rel=1e-10)


def test_a_conflict_says_by_how_much_each_must_give_way():
    """One of two owners U(0, 1) who sell with a mean of 1/2 each costs 2/4; at .3 both sell with √.15."""
    market = smq.Market([0.5, 1.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Oslo"]})
    quota, cap = smq.Coverage("city", "Oslo", at_least=1), smq.ExpectedOwners("city", "Oslo", at_most=0.7)
    poor = smq.solve(market, 0.3, constraints=[quota, smq.Coverage("city", "Oslo", at_least=0.1)])
    assert poor.conflict == (quota.words, "the budget")
    relax = poor.details["relax_by"]
    assert 0.2 * (1 - 1e-8) < relax["the budget"] <= 0.2
    assert (1 - 2 * 0.15**0.5) * (1 - 1e-8) < relax[quota.words] <= 1 - 2 * 0.15**0.5
    for tiny in (1e-300, 1e-30, 1e-9):  # the whole quota must go, but for what next to nothing buys
        relax = smq.solve(market, tiny, constraints=[quota]).details["relax_by"]
        assert 1 - 1e-3 < relax[quota.words] <= 1 - (2 * tiny) ** 0.5
        assert 0 < relax["the budget"] <= 0.5
    opposed = smq.solve(market, 3.0, constraints=[quota, cap])
    assert opposed.details["relax_by"] == pytest.approx({quota.words: 0.3, cap.words: 0.3}, rel=1e-8)


def test_a_row_goes_by_the_names_of_its_owners():
    named = smq.Market(EPSILON, smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    by_row, by_name = (
        smq.solve(named, 0.5, constraints=[smq.LinearRow(0.1, acceptance=[(who, 1.0), (0, 0.5)])]) for who in (2, "cy")
    )
    assert by_name.acceptance.tolist() == by_row.acceptance.tolist()
    assert smq.verify(by_name).valid
    for pairs, says in (
        ([("cyx", 1.0)], "must name owners of the market.*'cy'"),
        ([("cy", 1.0), (2, 1.0)], "must name each row once"),
        ([(10**400, 1.0)], "must name rows 0 to 3"),
    ):
        with pytest.raises(smq.InputError, match=says):
            smq.solve(named, 0.5, constraints=[smq.LinearRow(0.1, acceptance=pairs)])


@pytest.mark.parametrize("share", [0.9, 1.0])
def test_a_ceiling_of_acceptance_where_a_flat_piece_begins(share):
    """At q = .5 the density falls, J jumps beyond the slope of the piece: all slopes up to that are the hull's."""
    law = smq.PiecewiseUniform([0, 0.2, 0.5, 1.0], [0.5, 0.1, 0.4])
    solution = certified(law, share * 0.4, smq.AcceptanceRange(at_most=0.5))
    assert solution.acceptance[2:].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "law", [smq.PiecewiseUniform([0, 0.3, 1], [0.7, 0.3]), smq.Uniform(0, 1)], ids=lambda x: x.name
)
def test_a_floor_of_prices_below_which_a_regular_law_sells(law):
    """Who is to sell with .02 draws between no offer and the floor, at which she sells with more."""
    records = [smq.PriceRange(0.05, 0.9), smq.AcceptanceRange(0.02, 0.5)]
    one = smq.Market([0.0, 0.5], law)
    for solver in ("structured", "conic"):
        solution = smq.solve(one, 0.02, constraints=records, solver=solver)
        assert smq.verify(solution).valid
        assert solution.lottery.prices.tolist() == [[0.0, 0.05]]
    assert smq.verify(smq.solve(smq.Program(one, 0.02, constraints=records))).valid


@pytest.mark.parametrize("tiny", [0.0, 6.6e-16, 1e-13, 1e-10])
@pytest.mark.parametrize("seed", range(6))
def test_limits_that_rounding_leaves_of_rows_of_both_signs(tiny, seed):
    """What a row takes back may be used: a limit of .1 + .2 − .3 says nothing of how much that is."""
    rng = np.random.default_rng([seed, 3])
    epsilon, shares = rng.uniform(0.05, 1, 5), rng.uniform(0.1, 0.8, 5)
    market = smq.Market(epsilon, smq.Uniform(0, 1))
    i, j = rng.choice(5, 2, replace=False).tolist()
    of_both = rng.uniform(0.3, 1.0, 2)
    main = smq.LinearRow(float(rng.uniform(0.3, 1.5)), acceptance=[*enumerate(shares.tolist())])
    both = smq.LinearRow(tiny, acceptance=[(i, float(of_both[0])), (j, -float(of_both[1]))])
    always = smq.LinearRow(tiny, acceptance=[(i, -0.84)])
    solution = smq.solve(market, 20.0, constraints=[main, both, always])
    assert smq.verify(solution).grade == "proved"
    row = np.zeros(5)
    row[[i, j]] = of_both[0], -of_both[1]
    best = linprog(-epsilon, A_ub=[shares, row], b_ub=[main.at_most, tiny], bounds=(0, 1))
    assert solution.purchased_privacy == pytest.approx(-best.fun, rel=1e-9)


@pytest.mark.parametrize("n", [2, 5, 7])
def test_a_budget_that_is_the_least_but_for_its_last_digit(n):
    """In exact numbers .05 of each, bought at .4, cost more than the double .02 n; one double more is enough."""
    least, budget = n * Fraction(0.05) * Fraction(0.4), 0.02 * n
    market = smq.Market(np.linspace(0.1, 1, n), smq.Uniform(0.3, 1.2))
    records = [smq.AcceptanceRange(at_least=0.05, at_most=0.8), smq.PriceMenu(step=0.1)]
    above = np.nextafter(budget, 1.0)
    assert Fraction(budget) < least < Fraction(above)
    for amount in (budget, float(above)):  # the least acceptance gives way by less than certificates let pass
        certificate = smq.verify(smq.solve(market, amount, constraints=records))
        assert certificate.valid, certificate.reasons
        assert certificate.lower_bound == pytest.approx(0.05 * np.sum(market.epsilon), rel=1e-10)


UNDER_LAWS = smq.Scenarios([smq.Uniform(0.1, 2.1), smq.Power(2, low=0, high=1.3)])


@pytest.mark.parametrize(
    ("law", "record", "budget", "best"),
    [
        (smq.Triangular(0, 0.4, 1), smq.AcceptanceRange(at_least=0.1, at_most=0.9), 0.08, 0.24),
        (smq.Power(2), smq.AcceptanceRange(at_least=1.0), 4.0, 2.4),
        (smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 1.3)]), smq.Coverage("city", ["a", "b"], at_least=4), 5.2, 2.4),
        (UNDER_LAWS, smq.AcceptanceRange(at_least=1.0), 8.4, 2.4),
        (UNDER_LAWS, smq.AcceptanceRange(at_least=1.0), 4 * 2.1, 2.4),
    ],
)  # fmt: skip
@pytest.mark.parametrize("off", [0.0, 2.0**-50, -(2.0**-50)])
def test_a_budget_of_just_what_is_asked_for(law, record, budget, best, off):
    certificate = smq.verify(smq.solve(market(law), budget * (1.0 + off), constraints=[record]))
    assert certificate.valid, certificate.reasons
    assert certificate.lower_bound == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("least", [0.1, 0.2, 0.3])
def test_doubles_that_spend_just_the_budget_may_cost_more(least):
    """F of a Beta law is rounded: balls showed that the offers cost more than the budget."""
    law, record = smq.Beta(2, 3), smq.AcceptanceRange(at_least=least)
    one = smq.Market([0.3], law)
    spend = float(law.ppf(least)) * least
    for budget in spend * (1.0 + np.arange(-2, 3) * 2.0**-52):
        certificate = smq.verify(smq.solve(one, float(budget), constraints=[record]))
        assert certificate.valid, certificate.reasons
        assert certificate.lower_bound == pytest.approx(0.3 * least, rel=1e-9)


def test_the_least_spend_at_the_least_budget():
    """Under three laws, of which HiGHS solves no program in its own scaling."""
    laws = smq.Scenarios(
        [smq.Discrete([0.2, 0.5, 1.0], [0.3, 0.3, 0.4]), *(smq.Triangular(0, 0.4, h) for h in (1.3, 1.0))]
    )
    market_of_two = smq.Market([1.827, 0.436], laws, groups={"h": ["h1", "h0"]})
    half = smq.Coverage("h", "h1", at_least=0.5)
    least = smq.solve(market_of_two, 1e3, constraints=[half], objective=smq.LeastSpend()).objective_value
    certificate = smq.verify(smq.solve(market_of_two, least, constraints=[half], objective=smq.LeastSpend()))
    assert certificate.valid, certificate.reasons
    assert certificate.upper_bound == pytest.approx(0.342415421, rel=1e-9)


@pytest.mark.parametrize("law", [smq.Triangular(0, 0.4, 1), UNDER_LAWS])
def test_a_budget_below_what_is_asked_for(law):
    record = smq.AcceptanceRange(at_least=0.5)
    least = smq.least_budget(market(law), 0.0, constraints=[record]).budget
    assert smq.solve(market(law), least * (1 - 1e-6), constraints=[record]).conflict == (record.words, "the budget")


@pytest.mark.parametrize("unit", [1.0, 4.0, 0.7])
@pytest.mark.parametrize("goal", [smq.PurchasedPrivacy(), smq.WorstGroup("g"), smq.DiminishingReturns(0.3)])
def test_who_must_be_paid_no_more_than_the_lowest_price_on_average_never_sells(goal, unit):
    """Multipliers would have to be infinite: with F(low) = 0 every sale costs more than the row allows."""
    low = 0.5  # times .7 is a double
    market = smq.Market([0.5, 1.0, 0.7], smq.Uniform(low, 1.2), groups={"g": ["a", "a", "b"]})
    row = smq.LinearRow(0.0, acceptance=[(i, -unit * low) for i in (0, 1)], spend=[(i, unit) for i in (0, 1)])
    solution = smq.solve(market, 0.8, constraints=[row], objective=goal)
    assert solution.acceptance[:2].tolist() == [0.0, 0.0]
    assert smq.verify(solution).grade == "proved"
    nearly = smq.LinearRow(0.0, acceptance=[(i, -unit * low * 1.01) for i in (0, 1)], spend=row.spend)
    assert smq.solve(market, 0.8, constraints=[nearly], objective=smq.PurchasedPrivacy()).acceptance[1] > 0


@pytest.mark.parametrize("unit", [1.0, 4.0, 0.7])
def test_who_may_be_paid_her_lowest_price_on_average_sells_where_it_has_an_atom(unit):
    market = smq.Market([0.5, 1.0], smq.Discrete([0.5, 1.2], [1, 3]))
    row = smq.LinearRow(0.0, acceptance=[(i, -unit * 0.5) for i in (0, 1)], spend=[(i, unit) for i in (0, 1)])
    certificate = smq.verify(smq.solve(market, 0.8, constraints=[row]))
    assert certificate.grade == "proved"
    assert certificate.lower_bound == pytest.approx(1.5 * 0.25, rel=1e-12)


@pytest.mark.parametrize("share", [1.2, 1.5, 1.9])
def test_what_owners_of_a_common_price_bring_counts_for_each(share):
    """At a price of share · low, F of it of both: what the two are paid is what the row allows."""
    market = smq.Market([0.5, 1.0], smq.Uniform(0.3, 1.2), groups={"g": ["a", "a"]})
    row = smq.LinearRow(0.0, acceptance=[(i, -share * 0.3) for i in (0, 1)], spend=[(0, 1.0), (1, 1.0)])
    certificate = smq.verify(smq.solve(market, 1.0, constraints=[row, smq.CommonPrice("g")]))
    assert certificate.grade == "proved"
    assert certificate.lower_bound == pytest.approx(1.5 * (share * 0.3 - 0.3) / 0.9, rel=1e-9)


def test_rows_of_both_signs_that_allow_nothing_of_a_common_price():
    """Above 1 the first owner costs more than .34 and the second than 1; below, the second sells nothing."""
    laws = smq.ByOwner([smq.Discrete([0.2, 0.5, 1.0], [1, 2, 1]), smq.Pareto(2, 1, 4)])
    market = smq.Market([0.81, 0.23], laws, groups={"g": ["a", "a"]})
    rows = [
        smq.LinearRow(0.0, acceptance=[(0, -0.34), (1, -1.0)], spend=[(0, 1.0), (1, 1.0)]),
        smq.LinearRow(0.0, acceptance=[(0, 1.0), (1, -1.03)]),
    ]
    certificate = smq.verify(smq.solve(market, 1.0, constraints=[*rows, smq.CommonPrice("g")]))
    assert certificate.valid
    assert certificate.upper_bound == 0
