"""Whether a solution is one of OP2 itself, which is what derivations speak of."""

from __future__ import annotations

from smqopt.market import PurchasedPrivacy, Solution


def is_of_op2(solution: Solution) -> bool:
    """Say whether purchased privacy was made as large as the budget allows, without side constraints."""
    return isinstance(solution.objective, PurchasedPrivacy) and not solution.constraints
