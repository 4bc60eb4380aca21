"""Linear rows proved all owners at once agree with balls, one owner at a time."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import smqopt as smq
from smqopt.verification.enclosures._support_lines import support_lines
from smqopt.verification.proof import _sums_in_doubles
from smqopt.verification.proof._case import case_of
from smqopt.verification.proof._proof import _enclose, _read, precision, prove, prove_in_doubles

LAWS = (
    smq.Uniform(0, 1),
    smq.Uniform(0.2, 1.4),
    smq.Beta(2, 3),
    smq.Power(2, 0, 1),
)


def in_balls(solution):
    with precision(128):
        return _read(solution, _enclose(case_of(solution)), (), 1e-10, 128)


def meets(a, b):
    return a[0] <= b[1] and b[0] <= a[1]


def program(rng):
    n = int(rng.integers(2, 9))
    group, many = rng.integers(0, 3, n), rng.integers(1, 4, n) if rng.random() < 0.4 else None
    market = smq.Market(
        rng.uniform(0.1, 2, n), LAWS[rng.integers(len(LAWS))], groups={"h": [f"g{k}" for k in group]}, multiplicity=many
    )
    total, records = float(market.weights.sum()), [smq.ExpectedOwners(at_most=float(rng.uniform(0.3, 1)) * n)]
    for label in sorted({f"g{k}" for k in group}):
        records += [smq.Coverage("h", label, at_least=float(rng.uniform(0, 0.1)) * total)]
        records += [smq.GroupBudget("h", label, at_most=float(rng.uniform(0.02, 0.4)) * total)]
    return market, float(rng.uniform(0.1, 0.7)) * total, records


def altered(rng, solution):
    """Other multipliers, another price, other thresholds."""
    market, y = solution.market, solution.constraint_prices
    yield dataclasses.replace(solution, constraint_prices=y * rng.uniform(0, 1.5, y.size))
    yield dataclasses.replace(solution, budget_price=solution.budget_price * float(rng.choice([0.3, 0.9, 1.1])))
    theta = np.clip(solution.thresholds * rng.uniform(0.7, 1.2, market.n), market.low, market.high)
    yield dataclasses.replace(solution, thresholds=theta, acceptance=market.valuation.cdf(theta), lottery=None)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_proved_at_once_is_what_balls_prove(seed, monkeypatch):
    monkeypatch.setattr(_sums_in_doubles, "MANY", 1)  # tables are made of few owners' laws too
    rng = np.random.default_rng(seed)
    market, budget, records = program(rng)
    solution = smq.solve(market, budget, constraints=records)
    if solution.status is smq.Status.INFEASIBLE:
        return
    for one in (solution, *altered(rng, solution)):
        quick, slow = prove_in_doubles(one, 1e-10), in_balls(one)
        assert quick is not None
        assert meets(quick.purchased_privacy, slow.purchased_privacy)
        assert meets(quick.spend, slow.spend)
        assert quick.upper_bound >= slow.upper_bound * (1 - 1e-14)
        assert quick.contradict <= slow.contradict
        for a, b in zip(quick.constraints, slow.constraints, strict=True):
            assert meets(a.over, b.over)
            assert None in (a.kept, b.kept) or a.kept == b.kept
        assert not quick.holds or slow.holds


def test_bounds_of_acceptance_and_common_prices_are_left_to_balls():
    market = smq.Market(np.ones(4), smq.Uniform(0, 1), groups={"h": list("aabb")})
    for record in (
        smq.AcceptanceRange(at_least=0.1, column="h", label="a"),
        smq.PriceRange(at_most=0.3, column="h", label="a"),
        smq.CommonPrice("h"),
    ):
        solution = smq.solve(market, 0.5, constraints=[record])
        assert prove_in_doubles(solution, 1e-10) is None
        assert smq.verify(solution).grade == "proved"


@pytest.mark.parametrize(
    ("law", "theta"),
    [
        (smq.Power(4.0, 0, 1e180), 1.0001e100),  # F is 1e-320, a double of few digits
        (smq.Power(0.5, 0, 1e200), 3.3e-121),  # so is the share whose root F is
        (smq.Power(0.5, 0, 1e200), 3.3e-131),  # it is 0 in doubles
        (smq.Uniform(0, 1e300), 7e-21),
    ],
)
def test_acceptances_that_underflow_lie_between_their_doubles(law, theta):
    lines = support_lines(law).at(np.array([theta]), slice(0, 1))
    square = (Fraction(theta) / Fraction(law.high)) ** int(2 * getattr(law, "k", 1))
    assert Fraction(lines.low[0]) ** 2 <= square <= Fraction(lines.high[0]) ** 2


@pytest.mark.parametrize(
    ("epsilon", "law", "many", "budget", "theta"),
    [
        (1e100, smq.Power(4.0, 0, 1e180), 1, 1e-220, 1.00001113e100),  # F underflows
        (1e-80, smq.Uniform(0, 1), 4 * 10**15, 5e-324, 1e-162),  # θF does, for each of many owners
    ],
)
def test_a_spend_that_underflows_is_not_proved_within_the_budget(epsilon, law, many, budget, theta):
    market = smq.Market([epsilon], law, multiplicity=[many])
    power = int(getattr(law, "k", 1))
    price = smq.solve(market, budget).budget_price if power > 1 else epsilon / (2 * theta)
    given = dataclasses.replace(
        smq.solve(market, budget),
        thresholds=np.array([theta]),
        acceptance=law.cdf(np.array([theta])),
        budget_price=price,
    )
    assert many * Fraction(theta) ** (power + 1) / Fraction(law.high) ** power > budget
    assert not prove(given).holds
    assert prove(given).within_budget is not True


def test_no_offer_is_touched_at_the_low_end_whatever_threshold_stands_beside_it():
    market = smq.Market([1.0], smq.Uniform(0.2, 1))
    (part,) = _sums_in_doubles.lined_parts(market, 1.0)
    lines = _sums_in_doubles.lines_at_offers(part, (np.array([0.9]), np.zeros(1)), slice(0, 1), slice(0, 1))
    assert lines.high[0] == 0
    assert lines.slope_above[0] <= 0.2
