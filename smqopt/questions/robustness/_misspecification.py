"""What thresholds do where the law is another, or known from a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.market import Market, Solution
from smqopt.numeric import exact_dot
from smqopt.questions.payment._posted_offers import (
    accepted_under,
    offers_of,
    require_purchased_privacy,
)
from smqopt.solvers import solve
from smqopt.valuation import SampleLaw, Valuation
from smqopt.verification import upper_bound


@dataclass(frozen=True, eq=False)
class Misspecification:
    """A solution's thresholds under another law than the one they were made for.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.misspecification(smq.solve(market, 0.5), smq.Power(2))
    >>> round(found.expected_spend, 3), found.purchased_privacy <= found.optimum_bound
    (0.273, True)
    """

    solution: Solution
    law: Valuation
    """The other law."""
    expected_spend: float
    """Σ m_i θ_i F_i(θ_i) under the other law, in currency."""
    purchased_privacy: float
    """Σ m_i ε_i F_i(θ_i) under the other law, in units of ε."""
    optimum: float
    """The most that the budget buys under the other law, in units of ε."""
    optimum_bound: float
    """No thresholds that keep the budget buy more under the other law (weak duality)."""
    optimum_for_the_spend: float
    """The most that the expected spend would buy under the other law, in units of ε."""

    @property
    def over_budget(self) -> float:
        """The expected spend beyond the budget, in currency; 0 where it keeps it."""
        return max(0.0, self.expected_spend - self.solution.budget)

    @property
    def gap(self) -> float:
        """What the optimum at the same budget buys more, in units of ε.

        Negative where the thresholds buy more because they spend more.
        """
        return self.optimum - self.purchased_privacy

    @property
    def gap_for_the_spend(self) -> float:
        """What the same spend would buy more, in units of ε."""
        return self.optimum_for_the_spend - self.purchased_privacy


@dataclass(frozen=True, eq=False)
class SamplingError:
    """A solution's thresholds under every law that its sample leaves open.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> law = smq.from_samples(np.random.default_rng(1).random(200), low=0, high=1)
    >>> found = smq.sampling_error(smq.solve(smq.Market([0.2, 0.5, 1.0], law), 0.5))
    >>> found.confidence, found.spend_bounds[0] <= 0.5 <= found.spend_bounds[1]
    (0.95, True)
    """

    solution: Solution
    confidence: float
    """With this probability, over the sample, all bounds hold together."""
    half_width: float
    """The true F is no further than this from the law used, anywhere, in probability: sampling and
    smoothing error."""
    spend_bounds: tuple[float, float]
    """Bounds on the expected spend, in currency."""
    privacy_bounds: tuple[float, float]
    """Bounds on purchased privacy, in units of ε."""
    optimum_bound: float
    """The optimum under the true law is no more, in units of ε."""

    @property
    def over_budget_at_most(self) -> float:
        """By how much the expected spend can exceed the budget, in currency."""
        return max(0.0, self.spend_bounds[1] - self.solution.budget)

    @property
    def gap_at_most(self) -> float:
        """How much more the optimum under the true law can buy, in units of ε."""
        return max(0.0, self.optimum_bound - self.privacy_bounds[0])


def misspecification(solution: Solution, law: Valuation) -> Misspecification:
    """Report what thresholds spend and buy where valuations follow another law.

    Owners without an offer stay without one; lotteries are drawn as they are.

    Parameters
    ----------
    solution
        Thresholds for a market and a budget.
    law
        The law that valuations have: common, or one an owner.

    Raises
    ------
    InputError
        If the law does not fit the market, or the solution is one for another objective than
        purchased privacy.

    Examples
    --------
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1)), 0.5)
    >>> found = misspecification(solution, smq.Uniform(0, 0.8))
    >>> round(found.expected_spend, 6), round(found.over_budget, 6), round(found.gap, 6)
    (0.625, 0.125, -0.105984)
    """
    check_kind(solution, Solution, "misspecification: argument 'solution'", "a Solution", "give what `solve` returns")
    require_purchased_privacy(solution, "misspecification")
    market = solution.market
    other = Market(
        market.epsilon,
        law,
        owner_ids=market.owner_ids,
        groups=market.groups,
        multiplicity=market.multiplicity,
    )
    offers = offers_of(solution)
    q = offers.chance * accepted_under(other.valuation, offers) * market.weights[offers.row]
    spend = exact_dot(offers.threshold, q)
    best = solve(other, solution.budget)
    return Misspecification(
        solution=solution,
        law=other.valuation,
        expected_spend=spend,
        purchased_privacy=exact_dot(market.epsilon[offers.row], q),
        optimum=best.purchased_privacy,
        optimum_bound=upper_bound(other, solution.budget, best.budget_price),
        optimum_for_the_spend=solve(other, spend).purchased_privacy,
    )


def sampling_error(solution: Solution, *, confidence: float = 0.95) -> SamplingError:
    """Report how far an estimated law's thresholds can be from their promise.

    With the stated confidence the true F is within h of the law used, everywhere at once
    (Dvoretzky, Kiefer and Wolfowitz; Massart 1990). So each acceptance is within h, and Σ m θ F
    within Σ m θ h; and by weak duality the optimum under the true law is at most the bound under
    the law used plus h Σ m ε.

    Parameters
    ----------
    solution
        Thresholds for a market whose common law was made by `from_samples`.
    confidence
        In (0, 1).

    Raises
    ------
    InputError
        If the market's law keeps no sampling error, or the confidence does not lie in (0, 1).

    Examples
    --------
    >>> import smqopt as smq
    >>> law = smq.from_samples([1, 2, 2, 3, 4], low=0, high=5, pieces=2)
    >>> found = smq.sampling_error(smq.solve(smq.Market([0.5, 1.0], law), 1.0))
    >>> found.half_width > 0, found.privacy_bounds[0] <= found.privacy_bounds[1]
    (True, True)
    """
    check_kind(solution, Solution, "sampling_error: argument 'solution'", "a Solution", "give what `solve` returns")
    market = solution.market
    law = market.valuation
    if not isinstance(law, SampleLaw):
        raise InputError(
            "sampling_error: the market's law",
            "must come from a sample",
            value=law.name,
            remedy="make it with from_samples, or give another law to `misspecification`",
        )
    h = law.half_width(confidence) + law.smoothing_error
    offers = offers_of(solution)
    counts = market.weights
    weight = offers.chance * counts[offers.row]
    least, greatest = (weight * np.clip(offers.acceptance + sign * h, 0.0, 1.0) for sign in (-1.0, 1.0))
    epsilon = market.epsilon[offers.row]
    every = exact_dot(market.epsilon, counts)
    bound = upper_bound(market, solution.budget, solution.budget_price) + min(h, 1.0) * every
    return SamplingError(
        solution=solution,
        confidence=confidence,
        half_width=h,
        spend_bounds=(exact_dot(offers.threshold, least), exact_dot(offers.threshold, greatest)),
        privacy_bounds=(exact_dot(epsilon, least), exact_dot(epsilon, greatest)),
        optimum_bound=min(bound, every),
    )
