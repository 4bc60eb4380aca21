"""Programs of round numbers, whose limits are met exactly or leave some owners one offer."""

import numpy as np
import pytest

import smqopt as smq

GAP_IN_SUPPORT = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], weights=[0.5, 0.5])
ATOM = smq.Mixture([smq.Uniform(0, 1), smq.PointMass(1)], weights=[0.5, 0.5])


@pytest.mark.parametrize("law", [smq.Uniform(0, 1), ATOM, smq.Discrete([0.2, 0.5], [0.5, 0.5]), smq.PointMass(0.3)])
@pytest.mark.parametrize("weights", [[1.0, 0.0], [0.0, 0.0]])
@pytest.mark.parametrize("aim", [smq.InverseProbabilityVariance, smq.DiminishingReturns])
def test_an_owner_of_no_weight_is_left_alone(law, weights, aim):
    """At a price of 0 she could have everything for nothing; she is offered nothing."""
    given = {"weights": weights} if aim is smq.InverseProbabilityVariance else {"weights": weights, "scale": 1.0}
    solution = smq.solve(smq.Market([1.0, 1.0], law), 5.0, objective=aim(**given))
    assert smq.verify(solution).valid
    np.testing.assert_array_equal(solution.acceptance, [weights[0], 0.0])


def test_a_bound_of_acceptance_that_no_double_meets():
    """F = (p − 1)^¼ moves by 5e-14 in one spacing of doubles at F = .1."""
    market = smq.Market([1.0] * 6, smq.Power(0.25, low=1, high=2), groups={"s": list("yxyyyx")})
    least = 4 * 0.1 * 1.0001
    record = smq.AcceptanceRange(column="s", label="y", at_least=0.1)
    solution = smq.solve(market, least * 1.1, constraints=[record])
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    np.testing.assert_allclose(solution.acceptance[[0, 2, 3, 4]].min(), 0.1, rtol=1e-9)


def test_an_equation_for_all_the_money():
    """What rounding of F adds may not exceed the budget: an equation gives way by a last digit."""
    records = [smq.LinearRow(0.5, spend=[(0, 1.0)], equal=True), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(smq.Market([1.0], smq.Beta(0.5, 0.5)), 0.5, constraints=records)
    assert smq.verify(solution).grade == "proved"
    assert solution.objective_value == pytest.approx(0.670800670052, rel=1e-11)


def test_a_share_of_all_leaves_the_others_nothing():
    """Rows charge them what nobody asks of them: a proof leaves it out, as the answer does."""
    market = smq.Market([0.5, 0.25, 0.25, 10.0, 0.5], GAP_IN_SUPPORT, groups={"h": ["b"] * 5, "s": list("yyyxy")})
    records = [smq.Coverage("h", "b", at_least=1.25), smq.Coverage("s", "y", share=1.0)]
    solution = smq.solve(market, 0.78125 * 1.001, constraints=records)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert solution.acceptance[3] == 0


def test_sure_sales_at_a_price_that_few_would_ask():
    """J at the top is 5e7 times it: the demand stands as a bound, not as a row with a multiplier."""
    law = smq.TruncatedExponential(10.0, low=1, high=3)
    market = smq.Market([1.0, 1.0], law, groups={"h": ["a", "c"]}, multiplicity=[1_000_000, 2])
    solution = smq.solve(market, 12.0, constraints=[smq.Coverage("h", "c", at_least=2.0)])
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert certificate.gap <= 1e-10


def test_what_is_drawn_by_rounding_is_no_tie():
    """One price is posted but for a chance of 1e-9; as ties, the two would bound 6e-4 too high."""
    law = smq.PiecewiseUniform([0.0, 5e5, 1e6], [3, 1])
    groups = {"h": list("acbabc"), "s": list("xxxyyx")}
    market = smq.Market([1.0, 1e-6, 1.0, 1e-6, 1.0, 1e-6], law, groups=groups)
    records = [
        smq.LinearRow(250_000.0, spend=[(3, 1.0), (1, 1.0)]),
        smq.CommonPrice("h"),
        smq.Parity("s", within=0.0, of="payment"),
        smq.PriceRange(at_most=2e6),
    ]
    aim = smq.DiminishingReturns(scale=0.1, weights=[2.0, 2.0, 2.0, 0.0, 1.0, 1.0])
    solution = smq.solve(market, 1.2e6, constraints=records, objective=aim)
    assert smq.verify(solution).valid


def test_a_small_group_beside_a_large_one_has_an_answer():
    """Ten copies weigh 1e-5 of the variance, and their acceptance falls far in a step."""
    market = smq.Market(
        [1.0, 1.0], smq.Power(0.5, low=1e6, high=2e6), groups={"h": ["a", "b"]}, multiplicity=[10, 10**6]
    )
    records = [smq.Parity("h", within=1e5, of="payment"), smq.PriceRange(at_most=2e6)]
    solution = smq.solve(market, 1e6, constraints=records, objective=smq.InverseProbabilityVariance())
    certificate = smq.verify(solution)
    assert certificate.gap <= 1e-6
    np.testing.assert_allclose(solution.acceptance, 1e-6, rtol=1e-4)


def test_a_budget_of_just_the_sure_sales_leaves_the_least_at_nothing():
    market = smq.Market([1.0, 1.0], smq.PointMass(1), groups={"g": ["a", "b"]})
    aim = smq.WorstGroup("g")
    solution = smq.solve(market, 1.0, constraints=[smq.Coverage("g", "a", at_least=1)], objective=aim)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert solution.objective_value == certificate.upper_bound == 0
