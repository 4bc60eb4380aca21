"""How much to hold ready, so that a purchase rarely costs more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.market import Solution, require_one_law
from smqopt.numeric import ROUNDING, Floats, exact_dot
from smqopt.questions.payment._payment_grid import MOST_OWNERS, grid_amount
from smqopt.questions.payment._posted_offers import OffersMade, offers_of
from smqopt.questions.payment._realised_payments import realised_payments
from smqopt.questions.payment._tail_bounds import (
    bennett,
    bernstein,
    chernoff,
    hoeffding,
    largest_payments,
)
from smqopt.verification import Certificate

_ACCEPTANCE_ROUNDING = 2.0**-49
"""Added to each acceptance, against us: above what certified ones may lie off F(θ)."""


@dataclass(frozen=True)
class Reserve:
    """Amounts that one purchase exceeds with probability at most `probability`.

    Owners are independent and their laws the certified ones.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> held = smq.reserve(smq.solve(market, 0.5), 0.05)
    >>> held.expected <= held.amount <= held.most
    True
    """

    probability: float
    """δ."""
    budget: float
    """B of the solution, in currency."""
    expected: float
    """The expected total, in currency."""
    most: float
    """What is paid if everybody sells at her dearest threshold, rounded up, in currency: never
    exceeded."""
    hoeffding: float
    """The amount by Hoeffding's bound, in currency."""
    bernstein: float
    """By Bernstein's bound."""
    bennett: float
    """By Bennett's bound."""
    chernoff: float
    """By the exact moment generating function, at the best s found."""
    grid: float | None
    """By the law of the total itself, up to a grid; None where there are too many owners."""

    @property
    def amount(self) -> float:
        """The least of them: what to hold ready, in currency."""
        found = min(self.most, self.hoeffding, self.bernstein, self.bennett, self.chernoff)
        return found if self.grid is None else min(found, self.grid)

    @property
    def beyond_expected(self) -> float:
        """What to hold ready beyond the expected total, in currency."""
        return max(0.0, self.amount - self.expected)

    @property
    def beyond_budget(self) -> float:
        """What to hold ready beyond the budget, in currency; 0 if the budget is enough."""
        return max(0.0, self.amount - self.budget)

    @property
    def is_enough(self) -> bool:
        """Whether one purchase exceeds the budget with probability at most δ."""
        return self.amount <= self.budget


def reserve(of: Certificate | Solution, probability: float) -> Reserve:
    """Bound what one purchase at posted thresholds costs.

    The total is a sum of independent payments, a threshold if its owner sells and 0 else. The
    bounds are proved for independent owners whose laws are the certified ones, and round against
    the broker; they say nothing where valuations depend on each other beyond the announced
    requirements. Alike owners of one row count as independent ones. Payments by the rule
    "ex-post-budget" need no reserve.

    Parameters
    ----------
    of
        A certificate, or a solution.
    probability
        δ in (0, 1).

    Raises
    ------
    InputError
        If it is neither, or the probability does not lie in (0, 1).

    Examples
    --------
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([1.0] * 100, smq.Uniform(0, 1)), 25.0)
    >>> held = reserve(solution, 0.01)
    >>> round(held.expected, 6), round(held.amount, 6), round(held.chernoff, 2), held.is_enough
    (25.0, 31.0, 32.53, False)
    """
    check_kind(of, (Certificate, Solution), "reserve: argument 'of'", "a certificate or a solution", "solve first")
    solution = of.solution if isinstance(of, Certificate) else of
    require_one_law(solution.market, "reserve: argument 'of'")
    delta = checked_probability(probability, "reserve: argument 'probability'")
    log_odds = -math.log(delta) * (1.0 + ROUNDING.value)
    paid = realised_payments(solution)
    counts = solution.market.weights
    offers = _raise_acceptance(offers_of(solution))
    most = exact_dot(largest_payments(offers, counts.size), counts, up=True)
    largest = float(np.max(offers.threshold, initial=0.0))
    mean = _mean(offers, counts)
    variance = paid.variance + _variance_allowance(offers, counts)
    if paid.variance == 0 and bool(np.all(offers_of(solution).acceptance == 1)):
        variance = 0.0  # everybody with an offer sells
    distances = {
        "hoeffding": hoeffding(offers, counts, log_odds) if variance > 0 else 0.0,
        "bernstein": bernstein(variance, largest, log_odds) if variance > 0 else 0.0,
        "bennett": bennett(variance, largest, log_odds),
        "chernoff": chernoff(offers, counts, mean, variance, log_odds),
    }
    amounts = {name: _up(mean + distance, mean) for name, distance in distances.items()}
    grid = None
    if variance > 0 and counts[np.unique(offers.row)].sum() <= MOST_OWNERS:
        grid = _up(grid_amount(offers, counts, min(most, *amounts.values()), delta), mean)
    return Reserve(delta, solution.budget, paid.mean, most, grid=grid, **amounts)


def checked_probability(probability: object, where: str) -> float:
    """Check a probability in (0, 1).

    Raises
    ------
    InputError
        If it is anything else.
    """
    if (
        isinstance(probability, bool)
        or not isinstance(probability, (int, float, np.floating))
        or not 0 < probability < 1
    ):
        raise InputError(where, "must lie between 0 and 1", value=probability, remedy="give, say, 0.01")
    return float(probability)


def _raise_acceptance(offers: OffersMade) -> OffersMade:
    """Raise acceptances to what they are at most: a larger total of sellers."""
    raised = np.minimum(offers.acceptance + _ACCEPTANCE_ROUNDING, 1.0)
    return OffersMade(offers.row, offers.threshold, offers.chance, raised)


def _mean(offers: OffersMade, counts: Floats) -> float:
    return exact_dot(offers.chance * offers.acceptance * offers.threshold, counts[offers.row])


def _variance_allowance(offers: OffersMade, counts: Floats) -> float:
    """Bound what the raised acceptances add to the variance."""
    return _ACCEPTANCE_ROUNDING * 4.0 * exact_dot(offers.threshold * offers.threshold, counts[offers.row])


def _up(amount: float, mean: float) -> float:
    return amount + ROUNDING.value * (abs(amount) + mean)
