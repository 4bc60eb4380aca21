"""Bounds on the optimum: from below by the thresholds, from above by duality."""

from __future__ import annotations

import math

from smqopt.market import (
    InCvxpy,
    PurchasedPrivacy,
    Solution,
    Statement,
)
from smqopt.numeric import ROUNDING
from smqopt.verification.checks._concave import (
    concave_bound,
    concave_side_bound,
    plane_bound,
)
from smqopt.verification.checks._side_constraints import side_bound
from smqopt.verification.checks._weak_duality import Tops, purchased_privacy, tops, upper_bound


def bounds(solution: Solution, form: Statement | None, *, keeps: bool, tops_of: Tops = tops) -> tuple[float, float]:
    """Bound the optimum from below by the thresholds, from above by duality.

    Parameters
    ----------
    solution
        A well-formed solution.
    form
        What `stated` gives for its market and records.
    keeps
        Whether the thresholds keep budget and constraints.
    tops_of
        What bounds each owner's top.

    Returns
    -------
    lower, upper
        In the unit of the objective.
    """
    market, objective = solution.market, solution.objective
    budget, price, prices = solution.budget, solution.budget_price, solution.constraint_prices
    if isinstance(objective, PurchasedPrivacy):
        upper = (
            upper_bound(market, budget, price, tops_of)
            if form is None
            else side_bound(form, budget, price, prices, tops_of)
        )
        return (purchased_privacy(market, solution.acceptance) * (1.0 - ROUNDING.value) if keeps else 0.0), upper
    if isinstance(objective, InCvxpy):
        beyond = plane_bound(solution, objective, form)
    elif form is None:
        beyond = concave_bound(market, objective.utility(market), budget, price, tops_of)
    else:
        beyond = concave_side_bound(form, form.utility(objective), budget, price, prices, solution, tops_of)
    value = objective.value(market, solution.acceptance)
    against_us = value + ROUNDING.value * abs(value) * (1.0 if objective.smallest else -1.0)
    if objective.smallest:
        return -beyond, against_us if keeps else math.inf
    return against_us if keeps else -math.inf, beyond
