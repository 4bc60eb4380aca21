"""Other units of money and of privacy change nothing but units in programs with side constraints, as in the plain one."""

import dataclasses

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
    """A small market of three groups, a budget, and one or two constraints of different kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(3, 12))
    labels = np.concatenate([[0, 1], rng.integers(0, 3, n - 2)])
    counts = rng.integers(1, 4, n)
    name = draw(st.sampled_from(list(LAWS)))
    market = smq.Market(rng.random(n) + 0.01, LAWS[name], groups={"g": labels}, multiplicity=counts)
    budget = float(rng.uniform(0.1, 0.8) * np.sum(market.high * counts))
    mine = float(counts[labels == 0].sum())
    records = {
        "coverage": smq.Coverage("g", 0, at_least=float(rng.uniform(0.1, 0.6)) * mine),
        "parity": smq.Parity("g", within=float(rng.choice([0, 0.05]))),
        "group-budget": smq.GroupBudget("g", 1, at_most=budget * float(rng.uniform(0.05, 0.4))),
        "owners": smq.ExpectedOwners(at_most=float(rng.uniform(0.2, 0.9)) * market.population),
        "range": smq.AcceptanceRange(0.02, 0.9),
        "price": smq.CommonPrice("g"),
        "ceiling": smq.PriceRange(at_most=3.0 if name == "atoms" else float(market.low[0] + 0.9)),
        "row": smq.LinearRow(budget, acceptance=((0, 0.5),), spend=((1, 1.0), (2, 2.0))),
    }
    if name == "irregular histogram":
        records.pop("ceiling")  # it would cut a flat piece
    kinds = draw(st.lists(st.sampled_from(list(records)), min_size=1, max_size=2, unique=True))
    return market, budget, [records[kind] for kind in kinds]


def in_money(record, unit):
    """The same record with all amounts of money in another unit."""
    match record:
        case smq.GroupBudget() | smq.PriceRange():
            return dataclasses.replace(record, at_most=unit * record.at_most)
        case smq.LinearRow():
            acceptance = tuple((row, unit * a) for row, a in record.acceptance)
            return dataclasses.replace(record, at_most=unit * record.at_most, acceptance=acceptance)
    return record


def agree(plain, other, privacy, money):
    assert other.status is plain.status
    if plain.status is smq.Status.INFEASIBLE:
        assert len(other.conflict) == len(plain.conflict)
        return
    assert other.purchased_privacy == pytest.approx(privacy * plain.purchased_privacy, rel=2e-9)
    assert other.total_spend <= other.budget
    certificate = smq.verify(other, prove=False)
    assert certificate.valid == smq.verify(plain, prove=False).valid, certificate.reasons
    assert certificate.upper_bound == pytest.approx(privacy * smq.verify(plain, prove=False).upper_bound, rel=2e-9)
    if plain.market.valuation.name in ("uniform", "power"):  # elsewhere owners may be tied, and any of them may draw
        assert other.thresholds == pytest.approx(money * plain.thresholds, rel=1e-4, abs=1e-6 * money)


@settings(max_examples=15)
@given(instances(), st.floats(-8, 8))
def test_money_in_other_units(instance, decades):
    check_money(*instance, 10.0**decades)


@pytest.mark.exhaustive
@settings(max_examples=300)
@given(instances(), st.floats(-8, 8))
def test_money_in_other_units_three_hundred_times(instance, decades):
    check_money(*instance, 10.0**decades)


def check_money(market, budget, records, unit):
    other = smq.Market(
        market.epsilon, market.valuation.rescale(unit), groups=market.groups, multiplicity=market.multiplicity
    )
    scaled = [in_money(record, unit) for record in records]
    plain = smq.solve(market, budget, constraints=records)
    agree(plain, smq.solve(other, unit * budget, constraints=scaled), 1.0, unit)


@settings(max_examples=15)
@given(instances(), st.floats(-8, 8))
def test_privacy_in_other_units(instance, decades):
    market, budget, records = instance
    unit = 10.0**decades
    other = smq.Market(unit * market.epsilon, market.valuation, groups=market.groups, multiplicity=market.multiplicity)
    plain = smq.solve(market, budget, constraints=records)
    agree(plain, smq.solve(other, budget, constraints=records), unit, 1.0)
