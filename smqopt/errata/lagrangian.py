"""E2: signs and sums in the Lagrangian and its first-order condition."""

from __future__ import annotations

import sympy as sp

from smqopt.errata.entry import Entry, Evidence

__all__ = ["LAGRANGIAN"]


def _check() -> Evidence:
    theta, low, high, epsilon, price, mu, gamma, budget = sp.symbols(
        "theta low high epsilon lambda mu gamma B", real=True
    )
    F = sp.Function("F")(theta)
    printed = epsilon * F - price * (theta * F - budget) - mu * (theta - high) - gamma * (low - theta)
    derivative = sp.diff(printed, theta)
    core = epsilon * F.diff(theta) - price * (F + theta * F.diff(theta))
    as_printed = sp.simplify(derivative - (core + mu - gamma))
    corrected = sp.simplify(derivative - (core - mu + gamma))
    return Evidence(
        as_printed != 0,
        corrected == 0,
        f"∂L/∂θ minus the printed condition is {as_printed}, minus the corrected one {corrected}",
    )


LAGRANGIAN = Entry(
    2,
    "eqn:first order, KKT",
    "∂L/∂θ_i has + μ_i − γ_i; the budget stands inside the sum.",
    "As L is printed it has − μ_i + γ_i. The printed system is consistent once μ belongs to the lower bound and γ to the upper; the budget is subtracted once.",
    _check,
)
