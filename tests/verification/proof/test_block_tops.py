"""Proofs of common prices: at any multipliers the bound lies above the dual on a fine grid of prices, and near it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from random_programs import draft, fault_of

import smqopt as smq
from smqopt.market import state
from smqopt.second_checker import check as check_folder
from smqopt.verification.proof._proof import prove

KINDS = ("coverage", "parity", "group-budget", "price-range", "price-menu", "linear-row")


def drawn(seed):
    rng = np.random.default_rng([seed, 99])
    kinds = ["common-price", *rng.choice(KINDS, int(rng.integers(0, 3)), replace=False)]
    one = draft(seed, kinds, int(rng.choice([2, 3, 5, 8])))
    records, ceiling = list(one.records), np.inf
    if rng.random() < 0.4:
        ceiling = float(rng.choice([0.7, 1.5, 4.0]))
        records += [smq.LinearRow(-0.1, spend=[(0, -1.0)]), smq.PriceRange(at_most=ceiling)]
    return rng, one, records, ceiling


def dual_on_a_grid(one, records, ceiling, price, y):
    """What the best of many prices adds, group by group: never more than the dual."""
    form = state(one.market, records)
    A, S = form.owner_rows()
    m = one.market.weights
    a, c = m * one.market.epsilon - A.T @ y, m * price + S.T @ y
    total = price * one.budget + y @ form.at_most
    for g in np.unique(one.group):
        mine = np.flatnonzero(one.group == g)
        lists = [one.lists[i] for i in mine if one.lists[i] is not None]
        top = max(one.ends[i][-1] for i in mine)
        most = min(one.ceiling[mine].min(), ceiling)
        p = np.unique(np.concatenate([np.linspace(0, top, 40_001), *(one.ends[i] for i in mine)]))
        p = np.append(p, [one.floor[mine].max(), most] if most < np.inf else [one.floor[mine].max()])
        for k, listed in enumerate(lists):
            p = listed if k == 0 else np.intersect1d(p, listed)
        p = p[(p >= one.floor[mine].max()) & (p <= most)]
        h = sum((a[i] - c[i] * p) * one.cdfs[i](p) for i in mine)
        total += max(0.0, np.max(h, initial=0.0))
    return total


def check(seed):
    """Compare, and return in how many cases."""
    rng, one, records, ceiling = drawn(seed)
    solution = smq.solve(one.market, one.budget, constraints=records)
    form = state(one.market, records)
    if solution.status is smq.Status.INFEASIBLE or form.blocks is None or form.rigid.any():
        return 0
    compared = 0
    for t in range(3):
        y = solution.constraint_prices * rng.choice([1.0, 0.5, 2.0], form.at_most.size)
        y = y + (0.3 * rng.random(y.size) if t > 1 else 0.0)
        price = solution.budget_price * float(rng.choice([0.3, 1.0, 1.5]))
        other = dataclasses.replace(solution, constraint_prices=y, budget_price=price)
        found = prove(other, 1e9, limited=False)
        if found.upper_bound < np.inf:
            grid = dual_on_a_grid(one, records, ceiling, price, y)
            in_doubles = smq.verify(other, prove=False).upper_bound
            assert grid * (1 - 1e-13) - 1e-13 <= found.upper_bound <= in_doubles * (1 + 1e-9) + 1e-9
            compared += 1
    certificate = smq.verify(solution)
    assert certificate.valid, certificate.reasons
    return compared


def test_the_dual_on_a_grid_is_never_above():
    assert sum(check(seed) for seed in (0, 1, 5)) > 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(20))
def test_the_dual_on_a_grid_is_never_above_at_length(block):
    assert sum(check(seed) for seed in range(20 * block, 20 * block + 20)) > 10


def test_laws_in_doubt_are_proved_and_the_budget_under_each(tmp_path):
    market = smq.Market([0.4, 1.0, 0.7], smq.Scenarios([smq.Beta(2, 3), smq.Uniform(0, 1.5)]))
    certificate = smq.verify(smq.solve(market, 0.4))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.proof.spend[1] == 0.4
    certificate.solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    assert smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv").grade == "proved"
    assert check_folder(tmp_path)[0] == "not checked"
    low, high = (smq.verify(certificate.solution, prove=proving) for proving in (False, True))
    assert high.upper_bound == pytest.approx(low.upper_bound, rel=1e-9)
    drawn = smq.solve(market, 0.4 * (1 + 1e-9))
    forged = dataclasses.replace(drawn, budget=0.4)
    assert not smq.verify(forged).valid


@pytest.mark.parametrize("aim", [smq.DiminishingReturns(scale=0.3), smq.InverseProbabilityVariance()])
@pytest.mark.parametrize(
    "records", [[], [smq.AcceptanceRange(at_least=0.1, at_most=0.8)], [smq.PriceMenu((0.2, 0.5, 1.5))]]
)
def test_objectives_that_bend_are_proved_where_owners_share_prices(records, aim):
    """Against an even grid of prices, of which two are drawn: the optimum is no better than the bound."""
    laws = smq.ByOwner([smq.Uniform(0, 1), smq.Power(2), smq.Uniform(0.2, 1.4)])
    market = smq.Market([0.4, 1.0, 0.7], laws, groups={"city": ["a", "a", "b"]})
    solution = smq.solve(market, 0.5, objective=aim, constraints=[smq.CommonPrice("city"), *records])
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-10
    sign = -1.0 if aim.smallest else 1.0
    best = -certificate.lower_bound if aim.smallest else certificate.upper_bound
    utility = aim.utility(market)
    prices = np.array([0.2, 0.5, 1.5]) if records and records[0].kind == "price-menu" else np.linspace(0.02, 1.4, 80)
    for one in prices:
        for other in prices:
            theta = np.array([one, one, other])
            q = np.asarray(market.valuation.cdf(theta))
            within = not records or records[0].kind == "price-menu" or bool(np.all((q >= 0.1) & (q <= 0.8)))
            if within and float(np.sum(theta * q)) <= 0.5:
                assert float(np.sum(utility.value(q))) <= best + 1e-12
    for moved in (0.9, 1.1):
        other = smq.verify(dataclasses.replace(solution, budget_price=moved * solution.budget_price))
        assert (other.upper_bound, sign) >= (certificate.lower_bound, sign)


@pytest.mark.parametrize("aim", [smq.DiminishingReturns(scale=0.3), smq.InverseProbabilityVariance()])
@pytest.mark.parametrize("weights", [None, [0.3, 0.7]])
def test_objectives_that_bend_are_proved_under_laws_in_doubt(aim, weights, tmp_path):
    """The worst law, or the mean: what is bought under each, in balls, against what any price can buy."""
    laws = [smq.Uniform(0, 1), smq.Beta(2, 3), smq.Uniform(0, 1.5)][: 3 if weights is None else 2]
    market = smq.Market([0.4, 1.0], smq.Scenarios(laws, weights=weights))
    solution = smq.solve(market, 0.3, objective=aim)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved", certificate.unproved
    best = -certificate.lower_bound if aim.smallest else certificate.upper_bound
    utility = aim.utility(market)
    prices = np.linspace(0.02, 1.0, 60)
    for theta in (np.array([one, other]) for one in prices for other in prices):
        q = [np.asarray(law.cdf(theta)) for law in laws]
        if all(float(np.sum(theta * each)) <= 0.3 for each in q):
            values = [float(np.sum(utility.value(each))) for each in q]
            found = min(values) if weights is None else float(np.dot(weights, values))
            assert found <= best + 1e-12
    assert certificate.to_dict()["proof"]["objective"] == aim.kind
    certificate.solution.save(tmp_path)
    certificate.save(tmp_path / "certificate.json")
    assert smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv").grade == "proved"
    dearer = dataclasses.replace(solution, budget=solution.budget * (1 - 1e-9))
    assert not smq.verify(dearer).valid


def test_a_point_mass_posted_with_others_solves_without_a_warning():
    assert fault_of(draft(45, ["common-price", "price-range"], 13)) is None
