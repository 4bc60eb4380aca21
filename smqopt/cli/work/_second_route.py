"""A second route to the thresholds, for comparison: where the market is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smqopt.errors import SolverError
from smqopt.market import ConstraintRecord, Market, Objective, PurchasedPrivacy, Solution, state
from smqopt.solvers import solve
from smqopt.valuation import PiecewiseUniform, possible_laws

LARGEST_COMPARED = 2_000
"""Up to so many rows, times pieces of a histogram, the conic route is run beside the price search
if nobody asks; beyond, it takes minutes."""


@dataclass(frozen=True)
class SecondRoute:
    """What the conic route gave."""

    solution: Solution | None
    note: str = ""
    """Why there is no solution; empty where there is one."""


def second_route(
    market: Market,
    budget: float,
    constraints: Sequence[ConstraintRecord] = (),
    objective: Objective | None = None,
    compare: str = "auto",
) -> SecondRoute:
    """Solve by the conic route; a failure is a note and not an error.

    Parameters
    ----------
    market
        The market.
    budget
        B ≥ 0, in currency.
    constraints
        Constraint records.
    objective
        What is to be as good as the budget allows; purchased privacy by default.
    compare
        "auto": by size; "yes", whatever the size; "no".
    """
    if compare == "no":
        return SecondRoute(None, "not asked for")
    if compare == "auto" and market.n > LARGEST_COMPARED:
        return SecondRoute(None, f"more than {LARGEST_COMPARED} rows")
    if compare == "auto" and market.n * _pieces(market) > LARGEST_COMPARED:
        return SecondRoute(None, f"more than {LARGEST_COMPARED} pieces of cost curves")
    if objective is not None and not isinstance(objective, PurchasedPrivacy):
        return SecondRoute(None, "the objective is another than purchased privacy")
    if possible_laws(market.valuation) is not None:
        return SecondRoute(None, "prices are sought under several laws at once, which no conic program states")
    if constraints and state(market, constraints).blocks is not None:
        return SecondRoute(None, "owners of different laws share a price, which no conic program states")
    try:
        return SecondRoute(solve(market, budget, constraints=constraints, solver="conic"))
    except SolverError as error:
        return SecondRoute(None, str(error))


def _pieces(market: Market) -> int:
    """Return the most pieces that a cost curve has, where that is known beforehand."""
    histograms = [law for law, _ in market.valuation.parts() if isinstance(law, PiecewiseUniform)]
    return max((law.masses.size for law in histograms), default=1)
