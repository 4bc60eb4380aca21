"""Which budget to solve for, so that a purchase rarely exceeds that in hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord, Market, Solution, Status, checked_budget
from smqopt.questions.payment._reserve import Reserve, checked_probability, reserve
from smqopt.solvers import solve

_NEAR = 1e-5
"""The search stops when it knows the budget to this part of the one in hand."""
_MOST_SOLVES = 40
_SOLVED = (Status.BINDING, Status.SLACK, Status.ZERO_BUDGET)


@dataclass(frozen=True, eq=False)
class ReservedBudget:
    """A budget to solve for, and the solution for it.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market(np.full(100, 0.5), smq.Uniform(0, 1))
    >>> kept = smq.reserved_budget(market, 20.0, 0.05)
    >>> kept.amount.amount <= 20.0, kept.reserve > 0
    (True, True)
    """

    budget: float
    """B in hand, in currency."""
    probability: float
    """δ: one purchase costs more than B with at most this probability."""
    solution: Solution
    """For the budget less the reserve: to be verified and bought with."""
    amount: Reserve
    """What a purchase with this solution costs; its `amount` is at most B."""

    @property
    def reserve(self) -> float:
        """What is held back: B less the budget solved for, in currency."""
        return self.budget - self.solution.budget

    def to_dict(self) -> dict[str, float]:
        """Return what a folder of outputs records."""
        return {
            "budget": self.budget,
            "solved_for": self.solution.budget,
            "reserve": self.reserve,
            "probability": self.probability,
            "amount": self.amount.amount,
        }


def reserved_budget(
    market: Market,
    budget: float,
    probability: float,
    *,
    constraints: Sequence[ConstraintRecord] = (),
    **solver_options: Any,
) -> ReservedBudget:
    """Find a large budget whose solution costs more than B with chance ≤ δ.

    The expected total is then below B by the reserve. What is proved is the bound of the solution
    that is given back (`reserve`), under the same assumptions; that no larger budget would do is
    not.

    Parameters
    ----------
    market, budget, constraints, solver_options
        As for `solve`.
    probability
        δ in (0, 1).

    Raises
    ------
    InputError
        If an argument is bad, or no budget was found for which the constraints hold together and
        the bound is kept.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0] * 50, smq.Uniform(0, 1))
    >>> held = reserved_budget(market, 30.0, 0.01)
    >>> held.amount.amount <= 30.0, 0 < held.reserve < 10
    (True, True)
    """
    where = "reserved_budget: argument"
    most = checked_budget(budget, f"{where} 'budget'")
    delta = checked_probability(probability, f"{where} 'probability'")
    best: ReservedBudget | None = None
    low, high, guess = 0.0, most, most
    for _ in range(_MOST_SOLVES):
        solution = solve(market, guess, constraints=constraints, **solver_options)
        fits = False
        if solution.status in _SOLVED:
            found = reserve(solution, delta)
            fits = found.amount <= most
        if fits:
            best, low = ReservedBudget(most, delta, solution, found), guess
        else:
            high = guess
        if high - low <= _NEAR * most:
            break
        beyond = found.amount - most if solution.status in _SOLVED else 0.0
        guess = guess - beyond  # the reserve hardly changes with the budget
        if not low < guess < high or abs(guess - (low if fits else high)) < _NEAR * most:
            guess = 0.5 * (low + high)
    if best is None:
        solution = solve(market, 0.0, constraints=constraints, **solver_options)
        if solution.status not in _SOLVED:
            raise InputError(
                "reserved_budget",
                f"no budget up to {most!r} keeps both the constraints and a probability of {delta!r}",
                remedy="raise the budget or the probability, or loosen the constraints",
            )
        best = ReservedBudget(most, delta, solution, reserve(solution, delta))
    return best
