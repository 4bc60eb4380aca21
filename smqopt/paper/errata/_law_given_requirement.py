"""E4: thresholds come from the law of θ given the announced ε."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.market import Market
from smqopt.numeric import GAP, Floats
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.solvers import solve
from smqopt.valuation import GaussianCopula, Uniform, Valuation

AnnouncedLaw = Callable[[GaussianCopula, Floats], Valuation]
"""From the joint law and the announced requirements to the laws that thresholds are computed from.
"""

OWNERS = 1500
CASES = ((-0.5, 0.1), (-0.5, 0.3), (-1.0, 0.1), (-1.0, 0.3))
"""Pairs (ρ, B/n)."""


def copula(correlation: float) -> GaussianCopula:
    """Return the experiments' joint law: uniform margins, correlation ρ."""
    return GaussianCopula(Uniform(0, 1), Uniform(0, 1), correlation)


def midpoints(n: int) -> Floats:
    """Return the midpoints of n equal parts of (0, 1), shape (n,)."""
    return (np.arange(n) + 0.5) / n


def marginal(joint: GaussianCopula, epsilon: Floats) -> Valuation:  # noqa: ARG001
    """Return F, whatever is announced."""
    return joint.valuation


def conditional(joint: GaussianCopula, epsilon: Floats) -> Valuation:
    """Return F_i, the law of θ_i given ε_i."""
    return joint.given(epsilon)


def realised_share(law: AnnouncedLaw, correlation: float, share: float, n: int = OWNERS) -> float:
    """Return E[Σ p_i | ε]/B under the true law, for B = share · n."""
    joint, epsilon = copula(correlation), midpoints(n)
    budget = share * n
    market = Market(epsilon, law(joint, epsilon))
    solution = solve(market, budget)
    if solution.lottery is not None:  # the market's law is the true one: no other here has flat pieces
        return solution.total_spend / budget
    return float(solution.thresholds @ joint.given(epsilon).cdf(solution.thresholds)) / budget


def _trial(law: AnnouncedLaw) -> Finding:
    shares = {case: realised_share(law, *case) for case in CASES}
    told = ", ".join(f"{spent:.2f} B at ρ = {rho:g}, B = {share:g} n" for (rho, share), spent in shares.items())
    return Finding(all(spent <= 1.0 + GAP.value for spent in shares.values()), f"expected payments: {told}")


LAW_GIVEN_REQUIREMENT = Entry(
    "E4",
    "Experiments, ρ < 0",
    Claim("thresholds are computed from the marginal law of θ", marginal),
    Claim(
        "F_i must be the law of θ_i given the announced ε_i; with the marginal law the budget is broken", conditional
    ),
    _trial,
)
