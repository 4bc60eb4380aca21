"""Whether a solution is one of OP2 itself, which is what derivations speak of."""

from __future__ import annotations

from collections.abc import Sequence

from smqopt.market import ConstraintRecord, Objective, PurchasedPrivacy, Solution
from smqopt.valuation import possible_laws


def is_of_op2(solution: Solution) -> bool:
    """Tell whether privacy was maximised, without side constraints, under one law."""
    plain = isinstance(solution.objective, PurchasedPrivacy) and not solution.constraints
    return plain and not is_in_doubt(solution)


def what_is_left_out(objective: Objective, constraints: Sequence[ConstraintRecord]) -> str:
    """Say what a derivation leaves out of a program that asks more than OP2.

    Examples
    --------
    >>> what_is_left_out(PurchasedPrivacy(), [])
    ''
    """
    of_model = ["objective"] * (not isinstance(objective, PurchasedPrivacy)) + ["constraints"] * bool(constraints)
    without = " and the ".join(of_model)
    return (
        without
        and f"The derivation and the numbers beside it are those of OP2 alone, without the {without} of the model."
    )


def is_in_doubt(solution: Solution) -> bool:
    """Tell whether one of several laws is true, and nobody knows which."""
    return possible_laws(solution.market.valuation) is not None
