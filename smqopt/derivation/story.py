"""The order of the steps, and the argument kept to what the steps prove."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from smqopt.derivation.argument import Argument
from smqopt.derivation.equation import Verdict
from smqopt.derivation.step import Step
from smqopt.derivation.steps.acceptance import acceptance_from_spend
from smqopt.derivation.steps.budget import budget_price
from smqopt.derivation.steps.cone_form import cvxpy_form
from smqopt.derivation.steps.degenerate import degenerate_cases
from smqopt.derivation.steps.duality import weak_duality
from smqopt.derivation.steps.incentives import incentives
from smqopt.derivation.steps.lagrangian import lagrangian
from smqopt.derivation.steps.law import law_and_support
from smqopt.derivation.steps.optimality import optimality
from smqopt.derivation.steps.payment import expected_payment
from smqopt.derivation.steps.regularity import regularity
from smqopt.derivation.steps.sensitivity import sensitivity
from smqopt.derivation.steps.slackness import complementary_slackness
from smqopt.derivation.steps.spend import spend_from_threshold
from smqopt.derivation.steps.stationarity import stationarity
from smqopt.derivation.steps.threshold import threshold
from smqopt.derivation.steps.virtual_cost import virtual_cost

__all__ = ["STEPS", "proved_part", "steps_of"]

STEPS: tuple[Callable[[Argument], Step], ...] = (
    law_and_support,
    virtual_cost,
    regularity,
    spend_from_threshold,
    acceptance_from_spend,
    cvxpy_form,
    lagrangian,
    stationarity,
    complementary_slackness,
    threshold,
    budget_price,
    incentives,
    expected_payment,
    optimality,
    degenerate_cases,
    weak_duality,
    sensitivity,
)
"""The story of OP2, in order."""


def steps_of(argument: Argument) -> tuple[Step, ...]:
    """Check every step of an argument."""
    return tuple(_checked(step, argument) for step in STEPS)


def proved_part(argument: Argument) -> Argument:
    """Drop a closed form that its own step does not prove, and what rests on it."""
    if argument.change.inverse is not None and _checked(spend_from_threshold, argument).verdict is not Verdict.PROVED:
        argument = replace(argument, change=replace(argument.change, inverse=None, low=None))
    if argument.curve is not None and _checked(cvxpy_form, argument).verdict is not Verdict.PROVED:
        argument = replace(argument, curve=None)
    if argument.inverse is not None and _checked(threshold, argument).verdict is not Verdict.PROVED:
        return replace(argument, inverse=None, budget_price=None)
    if argument.budget_price is not None and _checked(budget_price, argument).verdict is not Verdict.PROVED:
        return replace(argument, budget_price=None)
    return argument


@functools.lru_cache(maxsize=256)
def _checked(step: Callable[[Argument], Step], argument: Argument) -> Step:
    return step(argument)
