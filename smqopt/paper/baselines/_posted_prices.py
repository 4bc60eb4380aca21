"""Posted prices: thresholds that depend on announced requirements alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Market
from smqopt.numeric import Floats
from smqopt.paper.baselines._allocation import Allocation, paid
from smqopt.solvers import solve
from smqopt.valuation import Uniform


@dataclass(frozen=True, eq=False)
class Offer:
    """A take-it-or-leave-it price an owner."""

    threshold: Floats
    """Shape (n,)."""
    chance: Floats | None = None
    """The probability with which each offer is made, shape (n,); None where all are."""
    made: NDArray[np.bool_] | None = None
    """Who gets an offer at all, shape (n,); None where everybody does."""

    def accept(self, theta: Floats, rng: np.random.Generator) -> Allocation:
        """Let every owner sell whose valuation is at most her threshold.

        Parameters
        ----------
        theta
            Valuations, shape (n,).
        rng
            Decides which of the offers with a chance below 1 are made.
        """
        bought = theta <= self.threshold
        if self.made is not None:
            bought &= self.made
        if self.chance is not None:
            bought &= rng.random(theta.size) < self.chance
        return paid(bought, self.threshold)


def marginal_offer(epsilon: Floats, budget: float) -> Offer:
    """Solve OP2 with the marginal law, θ ~ U(0, 1), whatever ε says: SMQ as printed."""
    solution = solve(Market(epsilon, Uniform(0, 1)), budget)
    return Offer(solution.thresholds, made=solution.acceptance > 0)


def known_valuation_offer(epsilon: Floats, theta: Floats, budget: float) -> Offer:
    """Solve OP2 where ε tells θ, as at ρ = −1: point masses, so a fractional knapsack.

    Owners are offered θ_i exactly, in the order of ε_i/θ_i, until the budget is spent; the last is
    made her offer with the probability that spends the rest in expectation.

    Parameters
    ----------
    epsilon
        Shape (n,).
    theta
        What ε tells, shape (n,).
    budget
        B.
    """
    gain = np.full_like(epsilon, np.inf)
    np.divide(epsilon, theta, out=gain, where=theta > 0)
    gain = np.where(epsilon > 0, gain, -1.0)
    order = np.argsort(-gain, kind="stable")
    spent = np.cumsum(theta[order])
    before = spent - theta[order]
    chance = np.ones_like(theta)
    share = np.ones_like(theta)
    np.divide(budget - before, theta[order], out=share, where=theta[order] > 0)
    chance[order] = np.clip(share, 0.0, 1.0)
    return Offer(theta, chance=np.where(epsilon > 0, chance, 0.0))


def uniform_price(n: int, budget: float) -> Offer:
    """Offer everybody the one price p with n p F(p) = B, for θ ~ U(0, 1)."""
    return Offer(np.full(n, min(float(np.sqrt(budget / n)), 1.0)))
