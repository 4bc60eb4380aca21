"""Whether a solution is one of OP2 itself, which is what derivations speak of."""

from __future__ import annotations

from smqopt.market import PurchasedPrivacy, Solution
from smqopt.valuation import possible_laws


def is_of_op2(solution: Solution) -> bool:
    """Tell whether privacy was maximised, without side constraints, under one law."""
    plain = isinstance(solution.objective, PurchasedPrivacy) and not solution.constraints
    return plain and not is_in_doubt(solution)


def is_in_doubt(solution: Solution) -> bool:
    """Tell whether one of several laws is true, and nobody knows which."""
    return possible_laws(solution.market.valuation) is not None
