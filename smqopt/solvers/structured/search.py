"""The search for multipliers and offers: each way that may lead to the optimum in turn, until bound and offers meet."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric.sums import exact_dot
from smqopt.numeric.tolerances import BUDGET_MARGIN, SIDE_GAP
from smqopt.program.constraints.statement import Statement
from smqopt.program.market import Market
from smqopt.solvers.dual import solve_market
from smqopt.solvers.structured.barrier import follow
from smqopt.solvers.structured.dual_newton import Dual, Point, dot, minimise
from smqopt.solvers.structured.recovery import Offers, active_rows, recovered
from smqopt.solvers.structured.responses import Owners

__all__ = ["Found", "search"]

Floats = NDArray[np.float64]

_ROUNDING = 2.0**-44
_FEW = 256
"""Rows up to which a linear program over chords is quicker than following the barrier."""
_GOOD = 2.0**-38
"""A gap so small is not worth more work."""


@dataclass(frozen=True)
class Found:
    """Multipliers and offers, and how near they are to each other."""

    point: Point
    offers: Offers
    gap: float
    """The bound less what is bought, relative to the bound; or what a row is broken by, if that is more."""
    binding: bool
    """Whether the budget is spent and has a price."""


def search(statement: Statement, budget: float, start: Floats | None = None) -> Found | None:
    """Find multipliers and offers; None where the dual shows that no offers satisfy the constraints.

    Purchased privacy is at least 0, so a negative value of the dual, which bounds it from above, proves that there is none.
    """
    owners = Owners(statement)
    m, epsilon = statement.weights(), statement.reduced.epsilon
    all_privacy = dot(m, epsilon) or 1.0
    impossible = -_ROUNDING * all_privacy
    if start is None or start.shape != (1 + len(statement.names),) or not start[0] > 0:
        start = np.zeros(1 + len(statement.names))
        start[0] = _plain_price(statement.reduced, budget, all_privacy / dot(m, statement.reduced.high))
    margin = BUDGET_MARGIN.value
    while True:
        dual = Dual(owners, budget * (1.0 - margin))
        found: Found | None = None
        for point, acceptance in _candidates(dual, start, all_privacy, impossible):
            if _proves_infeasible(point, impossible):
                return None
            other = _judged(statement, dual, point, acceptance)
            if found is None or other.gap < found.gap:
                found = other
            if found.gap <= _GOOD:
                break
        while found is not None and found.gap <= SIDE_GAP.value and _total(statement, found.offers) > budget:
            margin *= 4  # what rounding added is taken back from the same answer
            dual = Dual(owners, budget * (1.0 - margin))
            found = _judged(statement, dual, dual.at(found.point.z, 0.0), found.offers.acceptance)
        if found is None or _total(statement, found.offers) <= budget or margin > SIDE_GAP.value:
            return found
        margin *= 4


def _candidates(
    dual: Dual, start: Floats, all_privacy: float, impossible: float
) -> Iterator[tuple[Point, Floats | None]]:
    """Give points, and acceptances where they are not the answers there, each way that may lead to the optimum in turn."""
    owners = dual.owners
    if not owners.jumps:
        yield minimise(dual, start, 0.0, impossible), None
    if owners.n <= _FEW:
        yield from _by_columns(dual, all_privacy, None)
    point: Point | None = None
    for point in follow(dual, start, all_privacy, impossible=impossible):
        yield point, None
    if owners.n > _FEW:
        yield from _by_columns(dual, all_privacy, point)


def _by_columns(dual: Dual, all_privacy: float, near: Point | None) -> Iterator[tuple[Point, Floats | None]]:
    for one in importlib.import_module("smqopt.solvers.structured.columns").priced(dual, all_privacy, near):
        yield dual.at(one.z, 0.0), one.acceptance


def _proves_infeasible(point: Point, impossible: float) -> bool:
    return point.value < min(impossible, -_ROUNDING * point.size)


def _judged(statement: Statement, dual: Dual, point: Point, acceptance: Floats | None = None) -> Found:
    """Give the offers for a point, and how far they are from the bound, or from keeping a row."""
    offers = recovered(dual, point, acceptance)
    m, epsilon = statement.weights(), statement.reduced.epsilon
    bound = point.value if not dual.owners.jumps else dual.at(point.z, 0.0).value
    unit = max(abs(bound), _ROUNDING * dot(m, epsilon), np.finfo(float).tiny)
    gap = abs(bound - dot(m, epsilon * offers.acceptance)) / unit
    left = dual.left(offers.acceptance, offers.spend)
    broken = float(
        np.max(
            np.where(dual.equal, np.abs(left), np.maximum(-left, 0.0)) / np.maximum(point.scale, np.finfo(float).tiny)
        )
    )
    return Found(point, offers, max(gap, broken), bool(active_rows(dual, point, left)[0]))


def _plain_price(market: Market, budget: float, unit: float) -> float:
    """Start from the budget price without side constraints."""
    price = solve_market(market, budget).budget_price
    return price if 0 < price < math.inf else unit


def _total(statement: Statement, offers: Offers) -> float:
    return exact_dot(offers.spend, statement.weights(), up=True)
