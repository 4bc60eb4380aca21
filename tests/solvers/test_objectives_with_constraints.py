"""Concave objectives under side constraints: the structured route against the conic one, its certificates, and its conflicts."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "uniform from 1": smq.Uniform(1, 3),
    "power": smq.Power(2),
    "irregular histogram": smq.PiecewiseUniform([0, 0.4, 0.9, 1], [0.1, 0.2, 0.7]),
    "atoms": smq.Discrete([1, 2, 3, 5], [1, 2, 3, 4]),
}


@st.composite
def instances(draw):
    """A small market of three groups, a budget, an objective and one or two constraints of different kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(4, 12))
    labels = np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])
    counts = rng.integers(1, 4, n)
    market = smq.Market(
        rng.random(n), LAWS[draw(st.sampled_from(list(LAWS)))], groups={"g": labels}, multiplicity=counts
    )
    budget = float(rng.uniform(0.1, 0.8) * np.sum(market.high * counts))
    weights = rng.random(n) * (rng.random(n) < 0.9)
    weights[0] = 0.5
    variance = draw(st.booleans())
    objective = (
        smq.InverseProbabilityVariance(weights=weights)
        if variance
        else smq.DiminishingReturns(float(10 ** rng.uniform(-1.5, 1)), weights=weights)
    )
    mine = float(counts[labels == 0].sum())
    records = {
        "coverage": smq.Coverage("g", 0, at_least=float(rng.uniform(0.1, 0.8)) * mine),
        "parity": smq.Parity("g", within=float(rng.choice([0, 0.05]))),
        "group-budget": smq.GroupBudget("g", 1, at_most=budget * float(rng.uniform(0.05, 0.4))),
        "owners": smq.ExpectedOwners(at_most=float(rng.uniform(0.2, 0.9)) * market.population),
        "range": smq.AcceptanceRange(0.02, 0.9),
        "price": smq.CommonPrice("g"),
    }
    kinds = draw(st.lists(st.sampled_from(list(records)), min_size=1, max_size=2, unique=True))
    return market, budget, objective, [records[kind] for kind in kinds]


def agree(market, budget, objective, records):
    structured = smq.solve(market, budget, objective=objective, constraints=records)
    conic = smq.solve(market, budget, objective=objective, constraints=records, solver="conic")
    assert structured.solver == "structured"
    assert (structured.status is smq.Status.INFEASIBLE) == (conic.status is smq.Status.INFEASIBLE)
    if structured.status is smq.Status.INFEASIBLE:
        assert structured.conflict
        return
    certificate = smq.verify(structured)
    assert certificate.valid, certificate.reasons
    assert structured.objective_value == pytest.approx(conic.objective_value, rel=1e-6)


@settings(max_examples=5)
@given(instances())
def test_structured_and_conic_agree(instance):
    agree(*instance)


@pytest.mark.slow
@settings(max_examples=25)
@given(instances())
def test_structured_and_conic_agree_on_twenty_five(instance):
    agree(*instance)


@pytest.mark.exhaustive
@settings(max_examples=500)
@given(instances())
def test_structured_and_conic_agree_on_five_hundred(instance):
    agree(*instance)


def two_groups(law=LAWS["uniform"]):
    return smq.Market(np.linspace(0.1, 1, 10), law, groups={"city": ["Oslo"] * 4 + ["Rome"] * 6})


def test_without_constraints_it_is_the_dual_route():
    for objective in (smq.InverseProbabilityVariance(), smq.DiminishingReturns(0.3)):
        structured = smq.solve(two_groups(), 2.0, objective=objective, solver="structured")
        dual = smq.solve(two_groups(), 2.0, objective=objective)
        assert structured.thresholds == pytest.approx(dual.thresholds, abs=1e-12)
        assert structured.budget_price == pytest.approx(dual.budget_price, rel=1e-11)


def test_a_multiplier_is_what_one_more_unit_of_the_limit_is_worth():
    def value(at_most, objective):
        record = smq.GroupBudget("city", "Oslo", at_most)
        return smq.solve(two_groups(), 3.0, objective=objective, constraints=[record])

    for objective in (smq.InverseProbabilityVariance(), smq.DiminishingReturns(0.3)):
        h, sign = 1e-4, -1 if objective.smallest else 1
        above, below = (value(0.3 + d, objective).objective_value for d in (h, -h))
        slope = sign * (above - below) / (2 * h)
        assert value(0.3, objective).constraint_prices[0] == pytest.approx(slope, rel=1e-5)


def test_owners_who_share_a_price_are_worth_the_sum_of_what_each_is():
    """One group, one acceptance q: Σ w²/q is least where q spends the budget; different ε and w in a row are not averaged away."""
    market = smq.Market([0.1, 0.9, 2.0], smq.Uniform(0, 1), groups={"g": ["a"] * 3}, multiplicity=[1, 2, 1])
    q = np.sqrt(0.6 / 4)
    variance = smq.InverseProbabilityVariance(weights=[1, 2, 3])
    solution = smq.solve(market, 0.6, objective=variance, constraints=[smq.CommonPrice("g")])
    assert solution.objective_value == pytest.approx((1 + 2 * 4 + 9) / q, rel=1e-12)
    logs = smq.DiminishingReturns(0.5)
    solution = smq.solve(market, 0.6, objective=logs, constraints=[smq.CommonPrice("g")])
    expected = np.sum([1, 2, 1] * np.log1p(market.epsilon / 0.5 * q))
    assert solution.objective_value == pytest.approx(expected, rel=1e-12)
    assert smq.verify(solution).valid


def test_a_variance_that_no_offers_make_finite_is_in_the_conflict():
    variance = smq.InverseProbabilityVariance()
    nobody = smq.GroupBudget("city", "Oslo", 0.0, name="nothing for Oslo")
    solution = smq.solve(two_groups(), 2.0, objective=variance, constraints=[smq.ExpectedOwners(at_most=9), nobody])
    assert solution.status is smq.Status.INFEASIBLE
    assert solution.conflict == ("nothing for Oslo", f"a finite value of {variance.words}")
    broke = smq.solve(two_groups(), 0.0, objective=variance, constraints=[smq.ExpectedOwners(at_most=9)])
    assert broke.conflict == ("the budget", f"a finite value of {variance.words}")
    short = smq.solve(two_groups(), 0.5, objective=variance, constraints=[smq.Coverage("city", "Oslo", at_least=3)])
    assert short.conflict == ("at least 3 expected owners of city = Oslo", "the budget")
    rich = smq.solve(two_groups(), 2.0, objective=smq.DiminishingReturns(1.0), constraints=[nobody])
    assert rich.acceptance[:4].tolist() == [0.0] * 4


def test_posted_prices_keep_the_constraints():
    market = two_groups(LAWS["atoms"])
    record = smq.Coverage("city", "Oslo", at_least=2)
    for objective in (smq.InverseProbabilityVariance(), smq.DiminishingReturns(0.3)):
        drawn = smq.solve(market, 20.0, objective=objective, constraints=[record])
        fixed = smq.solve(market, 20.0, objective=objective, constraints=[record], lotteries=False)
        assert fixed.lottery is None
        assert fixed.total_spend <= 20.0
        assert float(fixed.acceptance[:4].sum()) >= 2 * (1 - 1e-9)
        worse = fixed.objective_value - drawn.objective_value
        assert (worse if objective.smallest else -worse) >= -1e-9


@settings(max_examples=10)
@given(instances(), st.sampled_from([1e-8, 1e-3, 1e8]))
def test_money_in_other_units_changes_nothing_but_units(instance, unit):
    market, budget, objective, records = instance
    records = [
        smq.GroupBudget("g", 1, unit * record.at_most) if isinstance(record, smq.GroupBudget) else record
        for record in records
    ]
    other = smq.Market(
        market.epsilon, market.valuation.rescale(unit), groups=market.groups, multiplicity=market.multiplicity
    )
    plain = smq.solve(market, budget, objective=objective, constraints=instance[3])
    scaled = smq.solve(other, unit * budget, objective=objective, constraints=records)
    assert scaled.status is plain.status
    if plain.status is not smq.Status.INFEASIBLE:
        assert scaled.objective_value == pytest.approx(plain.objective_value, rel=2e-9)
        assert smq.verify(scaled).valid


def test_nobody_without_weight_sets_the_unit_of_a_variance():
    """One owner counts, on her own; those who share prices weigh 0 and bend nothing."""
    law = smq.Mixture([smq.Uniform(0, 1), smq.PointMass(0.5)], weights=[0.5, 0.5])
    market = smq.Market([1.0] * 3, law, groups={"h": list("cbb"), "s": list("xyy")})
    records = [
        smq.LinearRow(0.5, acceptance=[(0, 2.0)], spend=[(0, 1.0)]),
        smq.Parity("s", within=0.0),
        smq.Coverage("h", "c", share=0.1),
        smq.LinearRow(1.0, acceptance=[(2, 2.0), (1, 0.5), (0, 0.5)], spend=[(2, 0.5)], equal=True),
        smq.PriceRange(at_most=1.0),
    ]
    aim = smq.InverseProbabilityVariance(weights=[1.0, 0.0, 0.0])
    solution = smq.solve(market, 0.3, constraints=records, objective=aim)
    assert smq.verify(solution).valid
    below = (3 - np.sqrt(6)) / 4  # she draws between .5 and a price that sells with this chance
    assert solution.objective_value == pytest.approx((2 + 4 * below) / (0.5 + 2 * below**2), rel=1e-9)
