"""The certified grid: what certificates at knots prove between them."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.questions import CertifiedGrid, certified_grid, movable_limit

FEW = 7


@cache
def grid_of(name: str, knots: int = FEW) -> tuple[smq.Instance, CertifiedGrid]:
    instance = smq.load_model(name)
    records = tuple(instance.constraints)
    most = max(instance.market.most_that_can_be_spent, instance.budget)
    budgets = most * (np.arange(knots) / (knots - 1)) ** 2
    return instance, certified_grid(instance.market, records, budgets, movable_limit(instance.market, records))


PLAIN, COVERED = "irregular-lotteries", "frontier-with-coverage"


@pytest.mark.parametrize("name", [PLAIN, COVERED, "group-budgets"])
@settings(max_examples=15)
@given(data=st.data())
def test_the_frontier_lies_between_triangles_and_planes(name: str, data: Any) -> None:
    instance, grid = grid_of(name)
    budget = data.draw(st.floats(0, float(grid.budgets[-1])))
    limit = 0.0 if grid.limit is None else data.draw(st.floats(float(grid.limits[0]), float(grid.limits[-1])))
    lower, upper = grid.bounds(budget, limit)
    records = instance.constraints if grid.limit is None else grid.limit.at(limit)
    solution = smq.solve(instance.market, budget, constraints=records)
    if solution.status is smq.Status.INFEASIBLE:
        assert lower == -math.inf
    else:
        certificate = smq.verify(solution)
        assert lower <= certificate.upper_bound
        assert upper >= certificate.lower_bound


def test_bounds_at_knots_are_those_of_the_certificates() -> None:
    for _, grid in map(grid_of, (PLAIN, COVERED)):
        for k, limit in enumerate(grid.limits.tolist()):
            for j, budget in enumerate(grid.budgets.tolist()):
                found = grid.certificates[k][j]
                if found is not None:
                    lower, upper = grid.bounds(budget, limit)
                    assert lower == found.lower_bound
                    assert lower <= upper <= found.upper_bound


def test_limits_that_can_be_moved() -> None:
    market = smq.Market([0.2, 0.5, 1.0, 1.5], smq.Uniform(0, 1), groups={"city": list("abab")})
    coverage, budget = smq.Coverage("city", "a", at_least=0.5), smq.GroupBudget("city", "b", at_most=0.2)
    moved = movable_limit(market, [smq.PriceMenu([0.5, 1.0]), coverage, budget])
    assert moved is not None
    assert (moved.place, moved.field, float(moved.values[moved.own])) == (1, "at_least", 0.5)
    assert moved.slopes.tolist() == [-1.0, 0.0]
    assert moved.at(0.75)[1] == smq.Coverage("city", "a", at_least=0.75)
    for fixed in (
        smq.PriceMenu([0.5, 1.0]),
        smq.CommonPrice("city"),
        smq.PriceRange(0.1, 0.9),
        smq.AcceptanceRange(0.1, 0.9),
    ):
        assert movable_limit(market, [fixed]) is None


def test_equal_rates_can_be_loosened() -> None:
    rng = np.random.default_rng(4)
    groups = {"city": list("abc" * 4), "sex": list("mw" * 6)}
    market = smq.Market(rng.random(12), smq.Power(1.0 + rng.random(12)), groups=groups)
    records = (
        smq.Coverage("city", "a", at_least=0.0),
        smq.GroupBudget("sex", "m", at_most=1.0),
        smq.Parity("city", within=0),
    )
    assert movable_limit(market, records[1:]).field == "at_most"
    moved = movable_limit(market, records[2:])
    assert (moved.place, moved.field, moved.own, moved.values[0]) == (0, "within", 0, 0.0)
    assert (moved.slopes.tolist(), moved.slopes_at_zero.tolist()) == ([1.0] * 6, [1.0, 1.0])
    grid = certified_grid(market, records[2:], np.array([0.5, 1.0, 2.0]), moved)
    assert all(one is not None for row in grid.certificates for one in row)
    assert (np.diff(grid.lower, axis=0) >= -1e-9).all()
    assert (grid.prices[1] >= 0).all()
    assert grid.prices[1][0].max() > 0
    for budget, within in ((0.7, 1 / 300), (1.5, 0.02), (1.0, 0.2)):
        lower, upper = grid.bounds(budget, within)
        certificate = smq.verify(smq.solve(market, budget, constraints=moved.at(within)))
        assert lower <= certificate.upper_bound
        assert upper >= certificate.lower_bound
        at_zero = [
            grid.upper[0, j] + p * (budget - b) + s * within
            for j, (b, p, s) in enumerate(zip(grid.budgets, grid.prices[0][0], grid.prices[1][0], strict=True))
        ]
        assert min(at_zero) >= certificate.lower_bound  # the planes of the equation alone hold, too
