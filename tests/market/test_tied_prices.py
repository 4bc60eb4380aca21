"""Owners of different laws who share a price and must sell alike: what is left is exact.

Beta(2, 3) lies above the triangular law with mode .4 everywhere, and touches it twice to the second
order: no multiplier of the rows makes the bound of prices in between meet what is bought.
"""

import numpy as np
import pytest

import smqopt as smq
from smqopt.market.statement._positive_sums import is_positive
from smqopt.market.statement._state import state

BETA, TRIANGULAR = smq.Beta(2, 3), smq.Triangular(0, 0.4, 1)
COMMON = smq.CommonPrice("h")


def market_of(*laws):
    n = len(laws)
    groups = {"h": ["one"] * n, "s": [f"s{i % 2}" for i in range(n)]}
    return smq.Market(np.linspace(1.0, 0.7, n), smq.ByOwner(list(laws)), groups=groups)


def floor_of(market, *records):
    blocks = state(market, records).blocks
    return blocks.floor.tolist()


@pytest.mark.parametrize(
    "records",
    [
        [smq.AcceptanceRange(at_least=0.25, at_most=0.25)],
        [
            smq.AcceptanceRange(at_most=0.25, column="s", label="s0"),
            smq.AcceptanceRange(at_least=0.25, column="s", label="s1"),
        ],
        [smq.Parity("s", within=0.0), smq.Coverage("s", "s0", at_least=0.25)],
        [
            smq.Parity("s", within=0.0, of="payment"),
            smq.PriceRange(at_most=1.0),
            smq.Coverage("s", "s0", at_least=0.25),
        ],
    ],
    ids=["equal", "between", "parity", "payment"],
)
def test_what_ties_leave_costs_the_top_of_the_support(records):
    market = market_of(BETA, TRIANGULAR)
    solution = smq.solve(market, 2.0, constraints=[COMMON, *records], objective=smq.LeastSpend())
    certificate = smq.verify(solution)
    assert certificate.valid
    assert certificate.grade == "proved"
    assert solution.objective_value == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose(solution.acceptance, 0.25, atol=1e-12)
    posted = solution.lottery.prices[solution.lottery.acceptances > 0]
    np.testing.assert_array_equal(posted, 1.0)


@pytest.mark.parametrize("budget", [0.1, 0.5, 1.7, 3.0])
@pytest.mark.parametrize("objective", [None, smq.DiminishingReturns(scale=0.3), smq.WorstGroup("s")])
def test_parity_of_ordered_laws_sells_to_all_or_nobody(budget, objective):
    solution = smq.solve(
        market_of(BETA, TRIANGULAR),
        budget,
        constraints=[COMMON, smq.Parity("s", within=0.0)],
        objective=objective,
    )
    assert smq.verify(solution).valid
    np.testing.assert_allclose(solution.acceptance, min(budget / 2, 1.0), rtol=1e-9)


def test_who_is_sure_to_sell_at_the_top_alone_counts():
    """The third owner jumps at the top: just below it she would sell less often, and cheaper."""
    steps = smq.Discrete([0.2, 0.5, 1.0], [0.3, 0.3, 0.4])
    market = smq.Market([1.0, 0.7, 0.5], smq.ByOwner([BETA, TRIANGULAR, steps]), groups={"h": ["one"] * 3})
    alike = smq.AcceptanceRange(at_least=0.3, at_most=0.3, column=np.array([True, True, False]))
    solution = smq.solve(market, 3.0, constraints=[COMMON, alike], objective=smq.LeastSpend())
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(0.9, abs=1e-12)


def test_a_price_range_below_the_top_leaves_nothing():
    alike = smq.AcceptanceRange(at_least=0.3, at_most=0.3)
    solution = smq.solve(market_of(BETA, TRIANGULAR), 2.0, constraints=[COMMON, alike, smq.PriceRange(at_most=0.9)])
    assert solution.status is smq.Status.INFEASIBLE
    assert len(solution.conflict) == 3


def test_laws_that_cross_are_left_as_they_are():
    """Uniform and triangular laws cross: there is a price at which both sell alike."""
    market = market_of(smq.Uniform(0, 1), TRIANGULAR)
    alike = smq.AcceptanceRange(at_least=0.25, at_most=0.25)
    assert floor_of(market, COMMON, alike) == [0.0]
    solution = smq.solve(market, 2.0, constraints=[COMMON, alike], objective=smq.LeastSpend())
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(0.2, abs=1e-12)  # .4 with the chance 5/8


def test_cheap_prices_for_others_are_left():
    """Below both supports a third owner may still be bought from."""
    low, high = smq.Uniform(0.5, 1), smq.Uniform(0.6, 1.2)
    market = market_of(low, high, smq.Uniform(0, 0.4))
    alike = smq.AcceptanceRange(at_least=0.25, at_most=0.25, column=np.array([True, True, False]))
    assert floor_of(market, COMMON, alike) == [0.0]


def test_a_price_of_nothing_for_others_is_left():
    """The third owner gives for nothing with probability 1/2."""
    gives = smq.Mixture([smq.PointMass(0), smq.Uniform(0, 1)], weights=[0.5, 0.5])
    alike = smq.AcceptanceRange(at_least=0.25, at_most=0.25, column=np.array([True, True, False]))
    assert floor_of(market_of(BETA, TRIANGULAR, gives), COMMON, alike) == [0.0]


@pytest.mark.parametrize(
    "row",
    [
        smq.Parity("s", within=0.05),
        smq.LinearRow(0.05, acceptance=[(0, 1.0), (1, -1.0)]),
        smq.LinearRow(0.0, acceptance=[(0, 1.0), (1, -1.0)], spend=[(2, 1.0)]),
        smq.LinearRow(0.0, acceptance=[(1, 1.0), (0, -1.0)]),
    ],
    ids=["within", "limit", "paid", "other way"],
)
def test_rows_that_leave_room_are_no_ties(row):
    assert floor_of(market_of(BETA, TRIANGULAR, TRIANGULAR), COMMON, row) == [0.0]


def test_unequal_demands_are_no_tie():
    records = (
        smq.AcceptanceRange(at_least=0.2, at_most=0.2, column="s", label="s0"),
        smq.AcceptanceRange(at_least=0.25, at_most=0.25, column="s", label="s1"),
    )
    assert floor_of(market_of(TRIANGULAR, BETA), COMMON, *records) == [0.0]


@pytest.mark.parametrize(
    ("laws", "expected"),
    [
        ((BETA, TRIANGULAR), True),
        ((TRIANGULAR, BETA), False),
        ((smq.Uniform(0, 1), smq.Power(2)), True),
        ((smq.Uniform(0, 1), smq.Uniform(0.5, 1)), True),
        ((smq.Uniform(0, 1), TRIANGULAR), False),
        ((BETA, BETA), False),
        ((smq.TruncatedExponential(2), smq.Uniform(0, 1)), True),
        ((smq.Discrete([0.2, 1.0], [0.5, 0.5]), smq.Discrete([0.4, 1.0], [0.5, 0.5])), False),  # 0 below .2
        ((smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1), smq.Power(3)), True),
        ((smq.Beta(2.5, 3.5), smq.Beta(3.5, 2.5)), False),  # true, but not decided at the ends
        ((smq.Discrete([0.0, 1.0], [0.6, 0.4]), smq.Power(8)), False),  # .6 just below 1
        (
            (
                smq.Uniform(0, 1),
                smq.from_cdf("theta - theta*(1-theta)*((theta-337/1000)**2 - 1/10**6)/4", low=0, high=1),
            ),
            False,
        ),
        (
            (
                smq.Uniform(0, 1),
                smq.from_cdf("theta - theta*(1-theta)*((theta-337/1000)**2 + 1/10**6)/4", low=0, high=1),
            ),
            True,
        ),
    ],
)
def test_what_is_proved_of_differences(laws, expected):
    market = market_of(*laws)
    assert is_positive(market, ((0, 1.0), (1, -1.0)), 0.0, 1.0) is expected


def test_differences_that_touch_inside_are_not_positive():
    """Both are half at the middle."""
    market = market_of(smq.Uniform(0, 1), smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1))
    assert not is_positive(market, ((0, 1.0), (1, -1.0)), 0.0, 1.0)
    assert not is_positive(market, ((1, 1.0), (0, -1.0)), 0.0, 1.0)


@pytest.mark.parametrize("share", [0.25, 0.29, 0.5, 0.62])
def test_a_step_that_meets_the_other_law_is_a_price_to_sell_alike_at(share):
    """Uniform and steps meet at the step itself, but for the rounding of the step."""
    steps = smq.Discrete([share, 1.0], [share, 1.0 - share])
    market = market_of(smq.Uniform(0, 1), steps)
    alike = smq.AcceptanceRange(at_least=0.125, at_most=0.125)
    assert floor_of(market, COMMON, alike) == [0.0]
    solution = smq.solve(market, 2.0, constraints=[COMMON, alike], objective=smq.LeastSpend())
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(0.25 * share, abs=1e-12)


POWERS = smq.Power(2), smq.Power(3), smq.Power(0.25)
"""Near 0 the first two hardly differ, and the third sells often."""


@pytest.mark.parametrize(
    "rows",
    [
        [smq.LinearRow(0.0, acceptance=[(0, 1.0), (1, -1.0 - 2.0**-46)])],
        [smq.LinearRow(0.9, acceptance=[(0, 3.0)]), smq.LinearRow(-0.3, acceptance=[(1, -1.0)])],
    ],
    ids=["coefficients", "quotients"],
)
def test_rows_that_nearly_cancel_are_no_ties(rows):
    """What they leave over buys from the third owner near 0."""
    assert floor_of(market_of(*POWERS), COMMON, *rows) == [0.0]


def test_rows_that_cancel_are_ties():
    row = smq.LinearRow(0.0, acceptance=[(0, 1.0), (1, -1.0)])
    assert floor_of(market_of(*POWERS), COMMON, row) == [1.0]


def test_groups_of_three_and_seven_are_tied():
    """Shares of 1/3 and 1/7 sum to 1 but for their rounding."""
    groups = {"h": ["one"] * 10, "s": ["few"] * 3 + ["many"] * 7}
    laws = smq.ByOwner([smq.Uniform(0, 1)] * 3 + [smq.Power(2), smq.Power(3)] * 3 + [smq.Power(4)])
    market = smq.Market(np.ones(10), laws, groups=groups)
    assert floor_of(market, COMMON, smq.Parity("s", within=0.0)) == [1.0]


@pytest.mark.parametrize(
    "tie",
    [smq.Parity("s", within=0.0), smq.AcceptanceRange(at_most=0.3, column="s", label="s0")],
    ids=["parity", "bounds"],
)
def test_ties_that_give_way_leave_prices_below_the_top(tie):
    """Just below .9 the first owner sells little more often than the other, who has to."""
    records = [COMMON, tie, smq.AcceptanceRange(at_least=0.3, column="s", label="s1"), smq.PriceRange(at_most=0.9)]
    market = market_of(BETA, TRIANGULAR)
    solution = smq.solve(market, 2.0, constraints=records)
    assert solution.status is smq.Status.INFEASIBLE
    q = [float(law.cdf(np.array([0.9]))[0]) for law in (BETA, TRIANGULAR)]
    assert 0 < solution.details["relax_by"][tie.words] < 0.3 * q[0] / q[1] - 0.3 + 1e-9
