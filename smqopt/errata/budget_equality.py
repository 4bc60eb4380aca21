"""E3: the budget is an inequality."""

from __future__ import annotations

import numpy as np

from smqopt.errata.entry import Entry, Evidence
from smqopt.program.market import Market
from smqopt.program.status import Status
from smqopt.solvers.solve import solve
from smqopt.valuation.uniform import Uniform
from smqopt.verification.verify import verify

__all__ = ["BUDGET_EQUALITY"]


def _check() -> Evidence:
    market = Market([0.0, 0.2, 0.5, 1.0], Uniform(0, 1))
    budget = 3.5
    slack = solve(market, budget)
    # Equality needs the first owner at θ F(θ) = 0.5: money for no privacy.
    wasted = budget - slack.total_spend
    equal = np.array([np.sqrt(wasted), 1.0, 1.0, 1.0])
    gained = float(market.epsilon @ equal) - slack.purchased_privacy
    return Evidence(
        printed_fails=wasted > 0 and gained == 0,
        corrected_holds=slack.status is Status.SLACK and verify(slack).valid,
        detail=f"spending the last {wasted:g} of {budget:g} buys {gained:g}",
    )


BUDGET_EQUALITY = Entry(
    3,
    "OP2",
    "The budget holds with equality.",
    "It is an inequality: equality is infeasible for B > Σ θ̄_i, and pointless once every owner with ε_i > 0 is at θ̄_i.",
    _check,
)
