"""E15: stationarity in θ is vacuous where the density vanishes."""

from __future__ import annotations

import numpy as np

from smqopt.errata.entry import Entry, Evidence
from smqopt.program.market import Market
from smqopt.solvers.solve import solve
from smqopt.valuation.power import Power
from smqopt.verification.verify import verify

__all__ = ["VACUOUS_STATIONARITY"]


def _check() -> Evidence:
    law = Power(2)
    market = Market([1.0, 1.0], law)
    spurious = np.array([0.0, 1.0])
    price = 2.0 / 3.0  # makes the second owner stationary: J(1) = 3/2
    residual = market.epsilon * law.pdf(spurious) - price * (law.cdf(spurious) + spurious * law.pdf(spurious))
    meets_printed = bool(np.max(np.abs(residual)) <= np.spacing(2.0)) and float(spurious @ law.cdf(spurious)) == 1.0
    best = solve(market, 1.0)
    better = best.purchased_privacy > float(market.epsilon @ law.cdf(spurious))
    gains = market.epsilon - price * law.virtual_cost(spurious)
    return Evidence(
        printed_fails=meets_printed and better,
        corrected_holds=verify(best).valid and bool(gains[0] > 0),
        detail=f"θ = (0, 1) meets the printed system with value 1; the optimum is {best.purchased_privacy:.6f}",
    )


VACUOUS_STATIONARITY = Entry(
    15,
    "eqn:first order, KKT",
    "The first-order system in θ is sufficient for the optimum.",
    "Not where f(θ_i) = 0. Judge ε_i − λJ(θ_i), the condition in acceptance.",
    _check,
)
