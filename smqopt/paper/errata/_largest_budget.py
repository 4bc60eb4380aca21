"""E13: the largest budget of the experiments."""

from __future__ import annotations

import math

from smqopt.market import Market
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.paper.errata._law_given_requirement import midpoints
from smqopt.solvers import solve
from smqopt.valuation import Uniform
from smqopt.verification import verify

Shares = tuple[float, ...]
"""Budgets that are run, as shares of θ̄n."""

OWNERS = 50


def _trial(shares: Shares) -> Finding:
    """Check that budgets reach from binding to buying everything."""
    market = Market(midpoints(OWNERS), Uniform(0, 1))
    solutions = [solve(market, share * OWNERS) for share in shares]
    if not all(verify(solution).valid for solution in solutions):
        return Finding(False, "a budget could not be solved")
    bought = [solution.purchased_privacy / math.fsum(market.epsilon) for solution in solutions]
    told = f"from {shares[0]:g} to {shares[-1]:g} θ̄n, {bought[0]:.1%} to {bought[-1]:.1%} of the privacy on offer is bought"
    return Finding(bought == sorted(bought) and bought[0] < 1.0 == bought[-1], told)


LARGEST_BUDGET = Entry(
    "E13",
    "Table 1 and text",
    Claim("B up to 0.9 θ̄n in the text, up to θ̄n in the table", tuple(share / 10 for share in range(1, 10))),
    Claim("both ends are to be run", tuple(share / 10 for share in range(1, 11))),
    _trial,
)
