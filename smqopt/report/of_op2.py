"""Whether a solution is one of OP2 itself, which is what derivations speak of."""

from __future__ import annotations

from smqopt.program.objectives.purchased_privacy import PurchasedPrivacy
from smqopt.program.solution import Solution

__all__ = ["is_of_op2"]


def is_of_op2(solution: Solution) -> bool:
    """Say whether purchased privacy was made as large as the budget allows, without side constraints."""
    return isinstance(solution.objective, PurchasedPrivacy) and not solution.constraints
