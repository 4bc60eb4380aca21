"""E15: stationarity in θ is vacuous where the density vanishes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.market import Market
from smqopt.numeric import STATIONARITY, Floats
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.solvers import solve
from smqopt.valuation import Power, Valuation

Margin = Callable[[Floats, Valuation, Floats, float], Floats]
"""From ε, the law, thresholds and λ to the marginal gain that stationarity tests: ≤ 0 at θ̲, 0
inside, ≥ 0 at θ̄."""


def in_thresholds(epsilon: Floats, law: Valuation, theta: Floats, price: float) -> Floats:
    """Return ε f − λ(F + θ f)."""
    return epsilon * law.pdf(theta) - price * (law.cdf(theta) + theta * law.pdf(theta))


def in_acceptance(epsilon: Floats, law: Valuation, theta: Floats, price: float) -> Floats:
    """Return ε − λJ."""
    return epsilon - price * law.virtual_cost(theta)


def _trial(margin: Margin) -> Finding:
    law = Power(2)
    market = Market([1.0, 1.0], law)
    budget = 1.0
    best = solve(market, budget)

    def stationary(theta: Floats, price: float) -> bool:
        gain = margin(market.epsilon, law, theta, price)
        small = STATIONARITY.value
        return bool(
            np.all(np.where(theta <= law.low, gain <= small, True) & np.where(theta >= law.high, gain >= -small, True))
            and np.all(np.abs(gain[(theta > law.low) & (theta < law.high)]) <= small)
        )

    spurious = np.array([0.0, 1.0])  # spends the budget, and the second owner is stationary at λ = 1/J(1) = 2/3
    utility = float(market.epsilon @ law.cdf(spurious))
    if not stationary(best.thresholds, best.budget_price):
        return Finding(False, "the optimum does not meet the condition")
    if stationary(spurious, 2.0 / 3.0):
        return Finding(
            False, f"θ = (0, 1) meets the system with value {utility:g}; the optimum is {best.purchased_privacy:.6f}"
        )
    return Finding(
        best.purchased_privacy > utility, f"the optimum, {best.purchased_privacy:.6f}, meets it; θ = (0, 1) does not"
    )


VACUOUS_STATIONARITY = Entry(
    "E15",
    "eqn:first order, KKT",
    Claim("sufficient for the optimum, in θ", in_thresholds),
    Claim("vacuous where f(θ_i) = 0; test ε_i − λJ(θ_i), the condition in acceptance", in_acceptance),
    _trial,
)
