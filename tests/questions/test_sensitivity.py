"""Derivatives in closed form against differences of optima that are solved anew."""

from __future__ import annotations

import math

import numpy as np
import pytest

import smqopt as smq

FAMILIES = {
    "uniform": (smq.Uniform, {"low": 0.1, "high": 1.0}),
    "power": (smq.Power, {"k": 2.0, "low": 0.1, "high": 1.0}),
    "exponential": (smq.TruncatedExponential, {"rate": 2.0, "low": 0.1, "high": 1.5}),
    "kumaraswamy": (smq.Kumaraswamy, {"a": 2.0, "b": 3.0, "low": 0.1, "high": 1.0}),
    "irregular, with lotteries": (smq.Kumaraswamy, {"a": 2.0, "b": 0.5, "low": 0.1, "high": 1.0}),
    "pareto": (smq.Pareto, {"a": 2.0, "low": 1.0, "high": 3.0}),
    "log-normal": (smq.LogNormal, {"mu": 0.2, "sigma": 1.0, "low": 0.1, "high": 5.0}),
    "triangular": (smq.Triangular, {"low": 0.1, "mode": 0.5, "high": 1.0}),
    "beta": (smq.Beta, {"a": 2.0, "b": 3.0, "low": 0.2, "high": 1.1}),
}
RNG = np.random.default_rng(1)
EPSILON = RNG.random(40) * (RNG.random(40) < 0.9)
COUNTS = RNG.integers(1, 4, 40)


def market_of(law, epsilon=EPSILON):
    return smq.Market(epsilon, law, multiplicity=COUNTS)


def optimum(law, budget, epsilon=EPSILON):
    return smq.solve(market_of(law, epsilon), budget).purchased_privacy


def slope(value, h=1e-4):
    """Central differences of the fourth order."""
    return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h)


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters(name):
    family, given = FAMILIES[name]
    law = family(**given)
    budget = 0.4 * market_of(law).most_that_can_be_spent
    solution = smq.solve(market_of(law), budget)
    found = smq.sensitivity(solution)
    assert (solution.lottery is not None) == ("lotteries" in name)
    assert [one.parameter for one in found.parameters] == list(law.parameters)
    for parameter, value in given.items():
        one = found.parameter(parameter)
        by_differences = slope(lambda h, p=parameter, v=value: optimum(family(**{**given, p: v + h}), budget))
        assert one.total == pytest.approx(by_differences, abs=1e-8)
        assert one.method == ("closed form" if law.formula else "differences of F, extrapolated")


def test_a_parameter_of_one_owner():
    high = 1.0 + RNG.random(40)
    solution = smq.solve(market_of(smq.Uniform(0.1, high)), 20.0)
    found = smq.sensitivity(solution).parameter("high")

    def moved(h, owner):
        return optimum(smq.Uniform(0.1, high + h * (np.arange(40) == owner)), 20.0)

    for owner in (0, 7, int(np.argmax(EPSILON)), int(np.argmin(EPSILON))):
        assert found.by_owner[owner] == pytest.approx(slope(lambda h, i=owner: moved(h, i)), abs=1e-8)


def test_two_families():
    laws = [smq.Uniform(0, 1), smq.Power(2)] * 20
    solution = smq.solve(market_of(smq.ByOwner(laws)), 20.0)
    found = smq.sensitivity(solution)
    k = found.parameter("k")
    by_differences = slope(lambda h: optimum(smq.ByOwner([smq.Uniform(0, 1), smq.Power(2 + h)] * 20), 20.0))
    assert k.total == pytest.approx(by_differences, abs=1e-8)
    with pytest.raises(KeyError, match="2 families"):
        found.parameter("high")


def test_requirements_and_budget():
    solution = smq.solve(market_of(smq.Uniform(0.1, 1)), 20.0)
    found = smq.sensitivity(solution)
    assert found.budget == pytest.approx(slope(lambda h: optimum(smq.Uniform(0.1, 1), 20.0 + h)), rel=1e-8)
    for owner in (3, int(np.argmax(EPSILON))):
        row = np.arange(40) == owner
        by_differences = slope(lambda h, r=row: optimum(smq.Uniform(0.1, 1), 20.0, EPSILON + h * r))
        assert found.epsilon[owner] == pytest.approx(by_differences, abs=1e-8)


def test_a_difference_to_one_side_where_the_law_ends():
    solution = smq.solve(market_of(smq.Beta(2, 3)), 10.0)
    found = smq.sensitivity(solution).parameter("low").total
    h = 1e-4
    values = [optimum(smq.Beta(2, 3, k * h, 1.0), 10.0) for k in range(4)]
    assert found == pytest.approx(
        (-11 * values[0] + 18 * values[1] - 9 * values[2] + 2 * values[3]) / (6 * h), abs=1e-5
    )
    with_mode_at_the_low_end = smq.solve(market_of(smq.Triangular(0.1, 0.1, 1)), 10.0)
    assert math.isfinite(smq.sensitivity(with_mode_at_the_low_end).parameter("mode").total)


def test_the_ends():
    market = market_of(smq.Uniform(0.1, 1))
    slack = smq.sensitivity(smq.solve(market, 1e6))
    assert slack.budget == 0.0
    assert slack.epsilon.tolist() == np.where(EPSILON > 0, COUNTS, 0).tolist()
    assert slack.parameter("high").total == 0.0
    zero = smq.sensitivity(smq.solve(market, 0.0))
    assert zero.budget == math.inf
    assert zero.epsilon.tolist() == [0.0] * 40
    assert zero.parameter("low").total == 0.0


def test_what_a_law_does_not_say_is_not_made_up():
    law = smq.Mixture([smq.Beta(2, 3), smq.Uniform(0, 2)], weights=[0.5, 0.5])
    found = smq.sensitivity(smq.solve(market_of(law), 10.0))
    for one in found.parameters:
        assert math.isnan(one.total)
        assert "not known" in one.method


@pytest.mark.parametrize(
    ("ends", "unknown"),
    [((0, 0, 1), {"low"}), ((0, 1, 1), set()), ((1, 1, 2), set()), ((0, 0.5, 1), set()), ((0, 1e-300, 1), {"low"})],
)
def test_a_parameter_that_cannot_move_has_no_derivative(ends, unknown):
    """The low end of a triangular law of mode 0 moves neither down, below 0, nor up, beyond the mode."""
    found = smq.sensitivity(smq.solve(smq.Market([1.0, 0.5], smq.Triangular(*ends)), 0.2))
    assert {name for name in ("low", "mode", "high") if np.isnan(found.parameter(name).by_owner).all()} == unknown


def test_owners_whose_parameter_moves_to_different_sides():
    """The mode of the first moves up alone, of the second down alone; each slope is that of the law taken by itself."""
    epsilon, ends = [1.0, 0.5, 0.3], ([0, 0, 0], [0.0, 1.0, 0.5], [1, 1, 1])
    together = smq.sensitivity(smq.solve(smq.Market(epsilon, smq.Triangular(*ends)), 0.2))
    assert np.all(np.isfinite(together.parameter("mode").by_owner))
    assert np.isnan(together.parameter("low").by_owner[0])
    h = 1e-5
    for owner, (up, down) in enumerate([(h, 0.0), (0.0, h), (h, h)]):
        values = []
        for step in (up, -down):
            mode = np.array(ends[1])
            mode[owner] += step
            values.append(smq.solve(smq.Market(epsilon, smq.Triangular(ends[0], mode, ends[2])), 0.2).purchased_privacy)
        slope = (values[0] - values[1]) / (up + down)
        assert together.parameter("mode").by_owner[owner] == pytest.approx(slope, rel=5e-3, abs=1e-5)


GROUPS = {"city": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]}
MENU, FEW = smq.PriceMenu((0.3, 0.6, 1.1)), smq.AcceptanceRange(at_most=0.2)
RECORDS = {
    "nothing": [],
    "coverage": [smq.Coverage("city", "b", at_least=0.7)],
    "share": [smq.Coverage("city", "a", share=0.7)],
    "group budget": [smq.GroupBudget("city", "a", at_most=0.15)],
    "menu": [MENU],
    "ceiling": [smq.PriceRange(at_most=0.8)],
    "floor": [smq.PriceRange(at_least=1.0)],
    "acceptance": [smq.AcceptanceRange(at_least=0.2, at_most=0.35)],
    "common price": [smq.CommonPrice("city")],
    "expected owners": [smq.ExpectedOwners(at_most=1.1)],
    "parity": [smq.Parity("city", within=0.05)],
    "row": [smq.LinearRow(0.02, acceptance=((0, 1.0), (3, -0.5)))],
    "menu and coverage": [MENU, smq.Coverage("city", "b", at_least=0.7)],
    "menu and acceptance": [MENU, FEW],
    "common price and budget": [smq.CommonPrice("city"), smq.GroupBudget("sex", "f", at_most=0.1)],
    "common price and acceptance": [smq.CommonPrice("sex"), smq.AcceptanceRange(at_most=0.3, column="city", label="a")],
}
AIMS = {
    "privacy": smq.PurchasedPrivacy(),
    "owners": smq.BoughtOwners(),
    "log": smq.DiminishingReturns(0.5),
    "inverse": smq.InverseProbabilityVariance(),
    "worst group": smq.WorstGroup("city", of="privacy"),
    "spend": smq.LeastSpend(),
    "weighted": smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (0.5, smq.WorstGroup("sex", of="privacy"))]),
}


def solved(aim, records, budget=1.0, high=3.0, first=1.0):
    market = smq.Market([first, 2.0, 1.5, 0.7], smq.Uniform(0, high), groups=GROUPS)
    return smq.solve(market, budget, objective=aim, constraints=records)


def agrees(name, record):
    """Budget, a parameter of the law and a requirement, against central differences of what is solved anew."""
    aim, records, h = AIMS[name], RECORDS[record], 1e-4
    found = smq.sensitivity(solved(aim, records))
    sign = -1.0 if aim.smallest else 1.0

    def rises(**moved):
        ahead, behind = ({key: value + step for key, value in moved.items()} for step in (h, -h))
        return (
            sign
            * (solved(aim, records, **ahead).objective_value - solved(aim, records, **behind).objective_value)
            / (2 * h)
        )

    expected = rises(budget=1.0), rises(high=3.0), rises(first=1.0)
    got = found.budget, found.parameter("high").total, found.epsilon[0]
    assert got == pytest.approx(expected, rel=1e-4, abs=1e-4)


SHORT = [("privacy", record) for record in RECORDS] + [
    (name, record) for name in AIMS for record in ("group budget", "menu") if name != "privacy"
]


@pytest.mark.parametrize(("name", "record"), SHORT)
def test_objectives_with_records(name, record):
    agrees(name, record)


@pytest.mark.exhaustive
@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("name", AIMS)
def test_every_objective_with_every_record(name, record):
    agrees(name, record)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda m: smq.solve(m, 0.01, constraints=[smq.Coverage("city", "a", at_least=2)]), "infeasible"),
        (lambda m: smq.solve(m, 1.0, objective=smq.MeanSquaredError(range=1)), "no slopes"),
        (lambda m: smq.solve(m, 1.0, objective=smq.WorstCaseError(range=1)), "posted prices"),
    ],
)
def test_what_has_no_slope_is_refused(make, says):
    market = smq.Market([1.0, 2.0, 1.5, 0.7], smq.Uniform(0, 3), groups=GROUPS)
    with pytest.raises(smq.InputError, match=says):
        smq.sensitivity(make(market))
