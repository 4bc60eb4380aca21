"""Any price may be posted, above a support too, or none: menus, floors and ceilings against a linear program over posted prices."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import linprog

import smqopt as smq

EPSILON = [0.5, 1.0, 2.0]
WIDE, UNIT, NARROW = smq.Uniform(0, 1.6), smq.Uniform(0, 1), smq.Uniform(0.1, 0.4)
MENU, FLOOR = smq.PriceMenu, smq.PriceRange(at_least=2)


@pytest.mark.parametrize(
    ("law", "budget", "records", "best", "spend"),
    [
        (WIDE, 100, [MENU((1, 2, 5))], 3.5, 6.0),
        (WIDE, 5, [MENU((1, 2, 5))], 3 + 4 / 11, 5.0),
        (smq.PointMass(0.43), 100, [MENU((1,))], 3.5, 3.0),
        (smq.PointMass(0.43), 2, [MENU((1,))], 3.0, 2.0),
        (NARROW, 100, [MENU(step=0.5)], 3.5, 1.5),
        (NARROW, 100, [MENU(step=0.5), smq.Coverage("city", "Oslo", at_least=3)], 3.5, 1.5),
        (UNIT, 1, [MENU((0.1, 0.25, 0.5, 0.75)), smq.PriceRange(at_least=0.3)], 2.1875, 1.0),
        (UNIT, 100, [MENU((2, 3, 4)), FLOOR], 3.5, 6.0),
        (UNIT, 100, [FLOOR], 3.5, 6.0),
        (UNIT, 3, [FLOOR], 2.5, 3.0),
        (UNIT, 0.2, [smq.PriceRange(at_least=0.5)], 0.8, 0.2),
        (UNIT, 1, [smq.PriceRange(at_least=0.5)], 0.5 + np.sqrt(3.0), 1.0),  # .25 + θ² = 1 without the first
        (UNIT, 5, [FLOOR, smq.PriceRange(at_most=1)], 0.0, 0.0),
    ],
)
def test_known_answers(law, budget, records, best, spend):
    market = smq.Market(EPSILON, law, groups={"city": ["Oslo"] * 3})
    solution = smq.solve(market, budget, constraints=records)
    certificate = smq.verify(solution)
    assert solution.purchased_privacy == pytest.approx(best, rel=1e-9)
    assert solution.total_spend == pytest.approx(spend, rel=1e-9)
    assert (certificate.valid, certificate.grade) == (True, "proved"), certificate.reasons


def test_an_acceptance_floor_forbids_no_offer():
    market = smq.Market(EPSILON, UNIT)
    records = [FLOOR, smq.AcceptanceRange(at_least=0.5)]
    assert smq.solve(market, 2.9, constraints=records).status is smq.Status.INFEASIBLE  # 3 owners, half of them for 2
    solution = smq.solve(market, 4, constraints=records)
    assert solution.purchased_privacy == pytest.approx(0.5 * 0.5 + 0.5 * 1.0 + 1.0 * 2.0, rel=1e-9)
    assert smq.verify(solution).valid


def test_owners_who_share_a_price_share_its_floor():
    market = smq.Market(EPSILON, UNIT, groups={"city": ["Oslo"] * 3, "sex": ["f", "m", "m"]})
    records = [smq.CommonPrice("city"), smq.PriceRange(at_least=0.5, column="sex", label="f")]
    solution = smq.solve(market, 0.6, constraints=records)
    assert solution.purchased_privacy == pytest.approx(3.5 * 0.6 / 1.5, rel=1e-9)  # a chance to be offered .5 of .8
    assert smq.verify(solution).valid


@pytest.mark.parametrize("edit", ["below the floor", "off the list"])
def test_a_price_that_may_not_be_posted_is_refused(edit):
    records = (
        [smq.PriceRange(at_least=0.5)]
        if edit == "below the floor"
        else [MENU((0.4, 2.0)), smq.PriceRange(at_least=0.5)]
    )
    market = smq.Market(EPSILON, UNIT)
    forged = smq.solve(market, 0.5, constraints=[smq.PriceMenu((0.4,))])
    honest = smq.solve(market, 0.5, constraints=records)
    assert smq.verify(honest).valid
    forged = dataclasses.replace(
        forged, records=honest.records, constraints=honest.constraints, constraint_prices=honest.constraint_prices
    )
    assert not smq.verify(forged).valid


LAWS = {
    "uniform": lambda rng: smq.Uniform(low := rng.uniform(0, 0.5), low + rng.uniform(0.2, 2)),
    "power": lambda rng: smq.Power(rng.uniform(0.5, 3)),
    "histogram": lambda rng: smq.PiecewiseUniform(np.sort(rng.uniform(0, 2, 5)), rng.random(4) + 0.05),
    "atoms": lambda rng: smq.Discrete(np.sort(rng.uniform(0.1, 2, 4)), rng.random(4) + 0.05),
    "known": lambda rng: smq.PointMass(rng.uniform(0.1, 1)),
    "beta": lambda rng: smq.Beta(rng.uniform(1, 3), rng.uniform(1, 3)),
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", LAWS)
def test_random_menus_and_floors_against_a_linear_program(name, seed):
    rng = np.random.default_rng([seed, *map(ord, name)])
    law, n = LAWS[name](rng), int(rng.integers(1, 8))
    market = smq.Market(rng.random(n), law, multiplicity=rng.integers(1, 4, n))
    top, least = float(np.max(law.high)), 0.0
    prices = np.unique(rng.uniform(0, 2 * top, rng.integers(1, 7)))
    records = [MENU(tuple(prices))]
    if rng.random() < 0.5:
        least = rng.uniform(0, 1.5 * top)
        records.append(smq.PriceRange(at_least=least))
    m = market.multiplicity.astype(float)
    budget = rng.uniform(0, 1.2) * float(np.sum(m) * min(2 * top, prices[-1])) + 1e-3
    solution = smq.solve(market, budget, constraints=records)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    allowed = prices[prices >= least]
    best = 0.0
    if allowed.size:
        F = law.cdf(allowed)
        spend = np.append([np.outer(m, allowed * F).ravel()], np.kron(np.eye(n), np.ones(allowed.size)), axis=0)
        gain = np.outer(m * market.epsilon, F).ravel()
        best = -linprog(-gain, A_ub=spend, b_ub=np.append(budget, np.ones(n)), method="highs").fun
    assert solution.purchased_privacy == pytest.approx(best, rel=1e-8, abs=1e-9)


def test_a_floor_in_a_gap_is_paid():
    """F is 1/3 at 0.5 and at 0.7: the dearer one is paid, by a draw with no offer."""
    gap = smq.PiecewiseUniform([0, 0.5, 1, 2], [1, 0, 2])
    solution = smq.solve(smq.Market([0.5], gap), 0.1, constraints=[smq.PriceRange(at_least=0.7)])
    assert smq.verify(solution).valid
    assert solution.purchased_privacy == pytest.approx(0.1 / 0.7 * 0.5, rel=1e-9)
    assert solution.lottery.high.tolist() == [0.7]


def drawn_law(rng):
    low = float(rng.uniform(0, 0.5))
    high = low + float(rng.uniform(0.2, 1.5))
    makes = (
        lambda: smq.Uniform(low, high),
        lambda: smq.Power(float(rng.uniform(0.5, 3)), low=low, high=high),
        lambda: smq.Discrete(np.sort(rng.uniform(0.1, 2, 3)).tolist(), (rng.random(3) + 0.1).tolist()),
        lambda: smq.PointMass(float(rng.uniform(0.1, 1))),
        lambda: smq.Mixture([smq.Uniform(0, 0.4), smq.Uniform(1.0, 1.5)], weights=[0.5, 0.5]),
        lambda: smq.Beta(float(rng.uniform(0.6, 3)), float(rng.uniform(0.6, 3))),
    )
    return makes[int(rng.integers(len(makes)))]()


def accepted(law, prices):
    low, high = float(law.low), float(law.high)
    return np.where(prices < low, 0.0, np.where(prices >= high, 1.0, law.cdf(np.clip(prices, low, high))))


def menus_agree(seed):
    """Laws by owner: prices above, inside and between their supports, a floor and a group budget, against a linear program."""
    rng = np.random.default_rng([seed, 17])
    n, laws = int(rng.integers(1, 8)), [drawn_law(rng) for _ in range(int(rng.integers(1, 4)))]
    own = [laws[int(k)] for k in rng.integers(len(laws), size=n)]
    m, epsilon = rng.integers(1, 4, n), rng.random(n) + 0.01
    market = smq.Market(epsilon, smq.ByOwner(own), multiplicity=m, groups={"g": ["x"] + ["y"] * (n - 1)})
    prices = np.unique(np.round(rng.uniform(0.05, 2.5, int(rng.integers(1, 6))), 3))
    least = float(np.round(rng.uniform(0, 2), 2)) if rng.random() < 0.5 else 0.0
    most = float(rng.uniform(0.05, 1)) if rng.random() < 0.3 else np.inf
    records = [MENU(tuple(prices.tolist()))]
    records += [smq.PriceRange(at_least=least)] if least else []
    records += [smq.GroupBudget("g", "x", at_most=most)] if most < np.inf else []
    budget = float(rng.uniform(0, 1) * m.sum() * prices[-1]) + 1e-3
    solution = smq.solve(market, budget, constraints=records)
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    allowed, best = prices[prices >= least], 0.0
    if allowed.size:
        F = np.array([accepted(law, allowed) for law in own])
        paid = m[:, np.newaxis] * F * allowed
        first = np.where(np.arange(n)[:, np.newaxis] == 0, paid, 0.0)
        rows = np.vstack([paid.ravel(), first.ravel(), np.kron(np.eye(n), np.ones(allowed.size))])
        limits = np.concatenate([[budget, min(most, 1e9)], np.ones(n)])
        gain = (m[:, np.newaxis] * epsilon[:, np.newaxis] * F).ravel()
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        best = -linprog(-gain, A_ub=rows, b_ub=limits, method="highs", options=tight).fun
    assert solution.purchased_privacy == pytest.approx(best, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_menus_over_laws_by_owner(seed):
    menus_agree(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(12, 500))
def test_five_hundred_menus_over_laws_by_owner(seed):
    menus_agree(seed)
