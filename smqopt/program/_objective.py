"""Objectives in cvxpy.

Those of records, and a user's own, which must be concave in acceptance alone.
"""

from __future__ import annotations

from typing import TypeAlias

import cvxpy as cp
import numpy as np

from smqopt.errors import InputError
from smqopt.market import DiminishingReturns, InverseProbabilityVariance, Market, Objective
from smqopt.program.dcp._curvature import require_concave

Aim: TypeAlias = "cp.Maximize | cp.Minimize"


def state_objective(objective: Objective, market: Market, acceptance: cp.Variable, spend: cp.Variable) -> Aim:
    """State a record in acceptance and spend, in the user's units.

    Records that are neither a worth for each owner, nor of linear terms and minima, are refused.
    """
    if not objective.separable:
        if type(objective).linear_form is not Objective.linear_form:
            return _state_terms(objective, market, acceptance, spend)
        rule = "is no sum over owners of functions of acceptance, nor of minima, which programs state"
        remedy = "ask `solve` and `verify` without a Program"
        raise InputError("program: objective", rule, value=objective.kind, remedy=remedy)
    counts = market.weights
    utility = objective.utility(market)
    rows = np.flatnonzero(utility.wanted)
    q = acceptance if rows.size == market.n else acceptance[rows]
    match objective:
        case InverseProbabilityVariance():
            w = objective.utility(market).w
            return cp.Minimize(cp.sum(cp.multiply((counts * w**2)[rows], cp.inv_pos(q))) if rows.size else 0.0)
        case DiminishingReturns():
            log = objective.utility(market)
            terms = cp.log1p(cp.multiply(log.x[rows], q))
            return cp.Maximize(cp.sum(cp.multiply((counts * log.w)[rows], terms)) if rows.size else 0.0)
        case _:
            return cp.Maximize((counts * utility.slope(np.zeros(market.n))) @ acceptance)


def _state_terms(objective: Objective, market: Market, acceptance: cp.Variable, spend: cp.Variable) -> Aim:
    terms, m = objective.linear_form(market), market.weights
    value = (m * terms.each) @ acceptance + sum(one.weight * cp.min(one.forms @ acceptance) for one in terms.least)
    value = value - terms.price * (m @ spend)
    return cp.Minimize(-value) if objective.smallest else cp.Maximize(value)


def check_objective(aim: object, acceptance: cp.Variable) -> Aim:
    """Take a user's objective.

    It must speak of acceptance alone, and be proved concave (convex where it is minimised).
    """
    where = "program: objective"
    if not isinstance(aim, (cp.Maximize, cp.Minimize)):
        remedy = "write program.objective = cp.Maximize(...), of a concave function of program.acceptance"
        raise InputError(
            where, "must be an objective record or a cvxpy objective", value=type(aim).__name__, remedy=remedy
        )
    others = [variable.name() for variable in aim.variables() if variable.id != acceptance.id]
    if others:
        remedy = "bound spend by a constraint; the budget does so already" if "spend" in others else "leave it out"
        raise InputError(where, "must be a function of acceptance alone", value=others[0], remedy=remedy)
    require_concave(aim)
    return aim
