"""Whether a solution is one of OP2 itself, which is what derivations speak of."""

from __future__ import annotations

from smqopt.market import PurchasedPrivacy, Solution


def is_of_op2(solution: Solution) -> bool:
    """Tell whether purchased privacy was maximised, without side constraints."""
    return isinstance(solution.objective, PurchasedPrivacy) and not solution.constraints
