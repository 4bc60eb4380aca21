"""Three routes to one answer: price search, closed form, conic program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smqopt.market import Solution
from smqopt.numeric import Floats, exact_dot

if TYPE_CHECKING:
    from smqopt.derivation import Derivation


@dataclass(frozen=True)
class Route:
    """What one route found, and how far it lies from the solution."""

    name: str
    price: float | None
    """λ, in privacy per unit of currency."""
    privacy: float | None
    """Expected purchased privacy, in units of ε."""
    distance: float | None
    """Largest distance in θ from the solution, in widths of the support, over owners whom either
    makes an offer."""
    note: str = ""
    """How it was come by, or why there is none."""


def compare_routes(
    solution: Solution, derivation: Derivation | None, other: Solution | None = None, note: str = ""
) -> tuple[Route, ...]:
    """Set a solution beside the closed form and another solver's answer.

    Parameters
    ----------
    solution
        What is reported.
    derivation
        Of the market's law; None where there is none.
    other
        The same market and budget by another route, of which the answer before polishing is
        compared; None where it was not run.
    note
        Why it was not run.
    """
    own = Route(
        f"{solution.solver} solver", solution.budget_price, solution.purchased_privacy, None, "what is reported"
    )
    if other is None:
        conic = Route("conic program", None, None, None, note or "not run")
    else:
        found = other.raw or other  # a polished answer comes from the price search, so it is no second route
        conic = Route(
            f"{other.solver} program",
            found.budget_price,
            found.purchased_privacy,
            _distance(solution, found.thresholds, found.acceptance),
            "stated in cvxpy, solved anew" + ("" if other.raw is None else ", before polishing"),
        )
    return own, _closed_form(solution, derivation), conic


def _closed_form(solution: Solution, derivation: Derivation | None) -> Route:
    market = solution.market
    rule = None if derivation is None else derivation.threshold_function()
    if derivation is None or rule is None:
        return Route("closed form", None, None, None, "none is proved for this law")
    function = derivation.budget_price_function()
    price = None
    if function is not None:
        price = function(market.epsilon, solution.budget, market.valuation, market.multiplicity)
    note = "λ and thresholds in closed form" if price is not None else "thresholds in closed form, at the solver’s λ"
    used = solution.budget_price if price is None else price
    if not 0 < used < math.inf:
        return Route("closed form", None, None, None, "no positive finite price to evaluate it at")
    thresholds = np.asarray(rule(market.epsilon / used, market.valuation), dtype=np.float64)
    acceptance = np.where(market.epsilon > 0, market.valuation.cdf(thresholds), 0.0)
    counts = market.weights
    return Route(
        "closed form",
        price,
        exact_dot(acceptance * counts, market.epsilon),
        _distance(solution, thresholds, acceptance),
        note,
    )


def _distance(solution: Solution, thresholds: Floats, acceptance: Floats) -> float:
    market = solution.market
    width = np.where(market.high > market.low, market.high - market.low, 1.0)
    matters = (market.epsilon > 0) & ((solution.acceptance > 0) | (acceptance > 0))
    return float(np.max(np.abs(solution.thresholds - thresholds) / width, where=matters, initial=0.0))
