"""Every statement of a derivation against the law as the program computes it.

Instances are made from the law's own functions alone: owners at the low end, inside, at the high
end and at joints, their requirements and multipliers by J, and the budget that they spend.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from smqopt.algebra import Equation, Verdict
from smqopt.derivation.closed_form._solved_instance import SolvedInstance, has_bounded_cost
from smqopt.derivation.statement._step import Step
from smqopt.numeric import Floats
from smqopt.valuation import LawFormulas, Regular, Valuation

_BESIDE = 1e-9
"""How near a joint its two sides are read, relative to the width of the support."""
_JUMP = 1e-6
"""Of J, relative: less is no jump."""
_FLAT = 1e6
"""Of F/f in widths of the support: where it is more, a double of F no longer tells θ."""

_PRICE = 1.7
_LEVELS = (0.23, 0.61)
"""Acceptance of owners whose thresholds are inside."""
_MOST = 12
"""So many joints are looked at."""


def compare(steps: tuple[Step, ...], instances: Sequence[SolvedInstance]) -> tuple[Step, ...]:
    """Refute the statements that fail at an instance; keep the others."""
    return tuple(_compare_step(step, [replace(each, step=step.name) for each in instances]) for step in steps)


def _compare_step(step: Step, instances: Sequence[SolvedInstance]) -> Step:
    equations = tuple(
        replace(equation, verdict=Verdict.REFUTED, method=FAILS)
        if not equation.every_law and fails(equation, instances)
        else equation
        for equation in step.equations
    )
    return step if equations == step.equations else replace(step, equations=equations)


FAILS = "fails at an instance made of the law's own functions"


def fails(equation: Equation, instances: Sequence[SolvedInstance]) -> bool:
    """Tell whether a statement is false at an instance."""
    return equation.verdict is not Verdict.REFUTED and any(each.holds(equation) is False for each in instances)


def instances_of(law: Valuation, formulas: LawFormulas) -> list[SolvedInstance]:
    """Make instances, each seen from every owner: with caps, without, at no price.

    Parameters
    ----------
    law
        Of one family; where parameters differ by owner, the first owner's are taken.
    formulas
        The law in symbols, whose letters get the numbers of the law.
    """
    one = law if law.size is None else law.take(np.zeros(1, dtype=np.intp))
    low, high = (float(np.ravel(end)[0]) for end in (one.low, one.high))
    at_low, at_high = (float(np.ravel(one.virtual_cost(end))[0]) for end in (low, high))
    is_bounded = has_bounded_cost(one)
    inside = [float(np.ravel(one.ppf(level))[0]) for level in _LEVELS]
    costs = [float(np.ravel(one.virtual_cost(theta))[0]) for theta in inside]
    parameters = {symbol: float(np.ravel(one.arguments[name])[0]) for name, symbol in formulas.parameters}
    meeting = [float(piece.high.subs(parameters)) for piece in formulas.pieces[:-1]]
    knots = np.unique(np.concatenate([[low, high], np.ravel(one.knots()), meeting]))
    knots = knots[(low <= knots) & (knots <= high)]
    for left, right in itertools.pairwise(knots.tolist()):
        inside.append(left + 0.45 * (right - left))
        costs.append(float(np.ravel(one.virtual_cost(inside[-1]))[0]))
    joints = [(knot, _between_jump(one, knot, _BESIDE * (high - low))) for knot in knots[1:-1][:_MOST].tolist()]
    joints = [(knot, x) for knot, x in joints if x is not None]
    ends = [(low, 0.5 * at_low)] * (at_low > 0) + [(high, 1.5 * at_high)] * is_bounded
    within = [(theta, x) for theta, x in zip(inside, costs, strict=True) if x - theta < _FLAT * (high - low)]
    known = {
        "parameters": parameters,
        "joints": tuple(knots[1:-1].tolist()),
        "is_regular": isinstance(one.regularity(), Regular),
    }
    found: list[SolvedInstance] = []
    for places in ([*within, *joints, *ends], within):
        if places:
            theta, x = (np.array(column, dtype=np.float64) for column in zip(*places, strict=True))
            resting = {k for k, place in enumerate(places) if place in joints}
            found += _seen_by_all(_instance(one, theta, x, known), resting)
    if within:
        found.append(_off_optimum(_instance(one, np.array([within[0][0]]), np.array([within[0][1]]), known)))
    if is_bounded:
        found += _seen_by_all(_slack(one, np.full(2, high), known), set())[:1]
    return found


def _between_jump(law: Valuation, knot: float, step: float) -> float | None:
    """Return a virtual cost between the two of a joint where J jumps up; else None."""
    below, above = (float(np.ravel(law.virtual_cost(knot + side))[0]) for side in (-step, step))
    rises = np.isfinite(below) and np.isfinite(above) and above > below + _JUMP * abs(below)
    return (below + above) / 2 if rises else None


def _instance(law: Valuation, theta: Floats, x: Floats, known: Mapping[str, Any]) -> SolvedInstance:
    epsilon = _PRICE * x
    owners = law if law.size is None else law.take(np.zeros(theta.size, dtype=np.intp))
    stationary = _PRICE * owners.virtual_cost(theta) - epsilon
    at_low, at_high = theta <= owners.low, theta >= owners.high
    return SolvedInstance(
        owners,
        0,
        epsilon=epsilon,
        thresholds=theta,
        lower_multiplier=np.where(at_low, np.maximum(stationary, 0.0), 0.0),
        upper_multiplier=np.where(at_high, np.maximum(-stationary, 0.0), 0.0),
        weights=np.ones(theta.shape),
        price=_PRICE,
        budget=float(np.sum(theta * owners.cdf(theta))),
        whole=True,
        **known,
    )


def _slack(law: Valuation, high: Floats, known: Mapping[str, Any]) -> SolvedInstance:
    """Make owners who all sell at no price, and leave a part of the budget."""
    bought = _instance(law, high, law.virtual_cost(high), known)
    return replace(bought, price=0.0, budget=2 * bought.budget, upper_multiplier=bought.epsilon)


def _off_optimum(instance: SolvedInstance) -> SolvedInstance:
    """Take other requirements and multipliers, at which nothing is stationary."""
    epsilon = instance.epsilon
    return replace(
        instance,
        epsilon=1.3 * epsilon,
        lower_multiplier=0.21 * epsilon,
        upper_multiplier=0.13 * epsilon,
        is_optimal=False,
    )


def _seen_by_all(instance: SolvedInstance, resting: set[int]) -> list[SolvedInstance]:
    owners = range(instance.thresholds.size)
    return [replace(instance, owner=owner, rests=owner in resting) for owner in owners]
