"""E2: signs, pairs and sums in the Lagrangian and its first-order condition."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from smqopt.paper.errata._entry import Claim, Entry, Finding

OWNERS = 3

theta, low, high, epsilon, price, mu, gamma, budget = sp.symbols("theta low high epsilon lambda mu gamma B", real=True)


@dataclass(frozen=True)
class System:
    """Claims about L = Σ ε_i F_i − λ(Σ θ_i F_i − B) − μ_i(θ_i − θ̄) − γ_i(θ̲ − θ_i)."""

    multipliers: sp.Expr
    """What stands beside ε f − λ(F + θ f) in ∂L/∂θ_i."""
    slack_of_mu: sp.Expr
    """What is 0 unless μ is."""
    slack_of_gamma: sp.Expr
    budgets: int
    """How often L adds λB for the owners together."""


def _trial(system: System) -> Finding:
    F = sp.Function("F")(theta)
    lagrangian = epsilon * F - price * (theta * F - budget) - mu * (theta - high) - gamma * (low - theta)
    core = epsilon * F.diff(theta) - price * (F + theta * F.diff(theta))
    residual = sp.simplify(lagrangian.diff(theta) - core - system.multipliers)
    if residual != 0:
        return Finding(False, f"∂L/∂θ minus the condition is {residual}")
    for letter, slack in ((mu, system.slack_of_mu), (gamma, system.slack_of_gamma)):
        if sp.simplify(lagrangian.diff(letter) ** 2 - slack**2) != 0:
            return Finding(False, f"L multiplies {letter} by {lagrangian.diff(letter)}, not by {slack}")
    spends = sp.symbols(f"b1:{OWNERS + 1}", real=True)
    left = sp.simplify(sum(spends) - (sum(spends) - system.budgets * budget))
    return Finding(bool(left == budget), f"∂L/∂θ and the pairs agree; ∂L/∂λ = 0 makes the total spend {left}")


LAGRANGIAN = Entry(
    "E2",
    "eqn:first order, KKT",
    Claim(
        "∂L/∂θ_i has + μ_i − γ_i; μ_i pairs with θ̲, γ_i with θ̄; B stands inside the sum",
        System(mu - gamma, low - theta, theta - high, OWNERS),
    ),
    Claim(
        "as L is printed it has − μ_i + γ_i, and μ_i pairs with θ̄, γ_i with θ̲; the budget is subtracted once",
        System(gamma - mu, theta - high, low - theta, 1),
    ),
    _trial,
)
