"""The order of the steps, and the argument kept to what the steps prove."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace

from smqopt.algebra import Verdict, ran_short, remember
from smqopt.derivation.argument._argument import Argument
from smqopt.derivation.argument._build import example_law, general_argument, with_plain_cost
from smqopt.derivation.closed_form._comparison import compare
from smqopt.derivation.statement._step import Step
from smqopt.derivation.steps._acceptance_step import acceptance_from_spend
from smqopt.derivation.steps._budget_step import budget_price
from smqopt.derivation.steps._cone_form_step import cvxpy_form
from smqopt.derivation.steps._degenerate_step import degenerate_cases
from smqopt.derivation.steps._duality_step import weak_duality
from smqopt.derivation.steps._incentives_step import incentives
from smqopt.derivation.steps._lagrangian_step import lagrangian
from smqopt.derivation.steps._law_step import law_and_support
from smqopt.derivation.steps._optimality_step import optimality
from smqopt.derivation.steps._payment_step import expected_payment
from smqopt.derivation.steps._regularity_step import regularity
from smqopt.derivation.steps._sensitivity_step import sensitivity
from smqopt.derivation.steps._slackness_step import complementary_slackness
from smqopt.derivation.steps._spend_step import spend_from_threshold
from smqopt.derivation.steps._stationarity_step import stationarity
from smqopt.derivation.steps._threshold_step import threshold
from smqopt.derivation.steps._virtual_cost_step import virtual_cost
from smqopt.derivation.storage._cache import keep

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
GENERAL = (
    acceptance_from_spend,
    lagrangian,
    stationarity,
    incentives,
    expected_payment,
    optimality,
    degenerate_cases,
    weak_duality,
)
"""Those that hold for every law with a density, shown once with F left open."""


def steps_of(argument: Argument) -> tuple[Step, ...]:
    """Check every step of an argument, those that hold for every law once for all."""
    general = general_steps() if _argues_in_general(argument) else {}
    return tuple(general[step] if step in general else _check(step, argument) for step in STEPS)


def _argues_in_general(argument: Argument) -> bool:
    """Tell whether what is no law's own is what was checked for every law."""
    common = general_argument()
    return all(getattr(argument, part) == getattr(common, part) for part in _COMMON)


_COMMON = ("lagrangian", "owner_lagrangian", "stationarity", "posted")


@functools.lru_cache(maxsize=1)
def general_steps() -> Mapping[Callable[[Argument], Step], Step]:
    """Check the steps that hold for every law with a density."""
    made = keep("general", example_law(), (), _make_general_steps)
    return dict(zip(GENERAL, made, strict=True))


def _make_general_steps() -> tuple[Step, ...]:
    argument = general_argument()
    return compare((_for_every_law(step(argument)) for step in GENERAL), ())


def _for_every_law(step: Step) -> Step:
    return replace(step, equations=tuple(replace(equation, every_law=True) for equation in step.equations))


def proved_part(argument: Argument) -> Argument:
    """Drop a closed form that its own step does not prove, and what rests on it."""
    if _check(virtual_cost, argument).verdict is Verdict.UNDECIDED and not ran_short():
        argument = with_plain_cost(argument)
    if argument.change.inverse is not None and _check(spend_from_threshold, argument).verdict is not Verdict.PROVED:
        argument = replace(argument, change=replace(argument.change, inverse=None, low=None))
    if argument.curve is not None and _check(cvxpy_form, argument).verdict is not Verdict.PROVED:
        argument = replace(argument, curve=None)
    if argument.inverse is not None and _check(threshold, argument).verdict is not Verdict.PROVED:
        return replace(argument, inverse=None, budget_price=None)
    if argument.budget_price is not None and _check(budget_price, argument).verdict is not Verdict.PROVED:
        return replace(argument, budget_price=None)
    return argument


@remember
def _check(step: Callable[[Argument], Step], argument: Argument) -> Step:
    return step(argument)
