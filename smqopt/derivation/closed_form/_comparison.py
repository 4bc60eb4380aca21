"""Every statement of a derivation against the law as the program computes it.

Instances are made from the law's own functions alone: owners at the low end, inside, at the high
end and at joints, their requirements and multipliers by J, and the budget that they spend.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from smqopt.algebra import CLIPPED_THRESHOLD, EPSILONS, LAMBDA, REPORT, THETA, Equation, I, Relation, Verdict, X
from smqopt.derivation.argument._build import example_law
from smqopt.derivation.closed_form._solved_instance import SolvedInstance, has_bounded_cost
from smqopt.derivation.statement._step import Step
from smqopt.numeric import Floats
from smqopt.valuation import LawFormulas, Regular, Valuation, valuation_from_dict

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
_AWAY = 4 * float(np.finfo(np.float64).eps)
"""Relative: nearer than this to a joint a place is on it, where F has no slope."""
_GENERAL = (
    {"law": "power", "k": 2, "low": 1, "high": 3},
    {"law": "kumaraswamy", "a": 2, "b": 3, "low": 0.5, "high": 2},
)
"""Laws with which statements for every law are evaluated."""


def compare(
    steps: Iterable[Step], instances: Sequence[SolvedInstance], known: Collection[Step] = ()
) -> tuple[Step, ...]:
    """Refute the statements that fail at an instance; keep the others.

    Parameters
    ----------
    steps, instances
        What is compared, and where.
    known
        Steps that were compared before, and stay.
    """
    return tuple(step if step in known else _compare_step(step, instances) for step in steps)


def _compare_step(step: Step, instances: Sequence[SolvedInstance]) -> Step:
    there = [replace(each, step=step.name) for each in instances]
    equations = tuple(
        replace(equation, verdict=Verdict.REFUTED, method=FAILS) if fails(equation, step.name, there) else equation
        for equation in step.equations
    )
    return step if equations == step.equations else replace(step, equations=equations)


FAILS = "fails at an instance made of the law's own functions"


def fails(equation: Equation, step: str, instances: Sequence[SolvedInstance]) -> bool:
    """Tell whether a statement of a step is false at an instance, or beside a bound.

    What holds for every law is evaluated with laws of its own, once.
    """
    if equation.verdict is Verdict.REFUTED:
        return False
    if equation.every_law:
        return _fails_for_every_law(equation, step)
    asked = (_are_joints, _has_own_letters, _leaves_joints_out)
    if instances and not all(is_met(equation, instances[0]) for is_met in asked):
        return True
    beside = _beside_bounds(equation, instances[0]) if instances else ()
    return any(each.holds(equation) is False for each in itertools.chain(instances, beside))


@functools.lru_cache(maxsize=1024)
def _fails_for_every_law(equation: Equation, step: str) -> bool:
    return any(each.holds(equation) is False for each in general_instances(step))


def general_instances(step: str) -> list[SolvedInstance]:
    """Make instances of two laws, and beside reports where a step has them."""
    found = [replace(each, step=step) for each in _of_general_laws()]
    for near in found[:] if step == "incentives" else ():
        for letter in (REPORT, THETA):
            place = near.value(letter)
            assert place is not None  # noqa: S101 - letters stand for numbers
            found += _alone(near, [place * (1 - _BESIDE), place * (1 + _BESIDE)])
    return found


@functools.lru_cache(maxsize=1)
def _of_general_laws() -> list[SolvedInstance]:
    laws = [valuation_from_dict(given) for given in _GENERAL]
    return [each for law in laws for each in instances_of(law, example_law())]


def _are_joints(equation: Equation, near: SolvedInstance) -> bool:
    """Tell whether cases in θ end where pieces of the law meet."""
    cases = equation.left.atoms(sp.Piecewise) | equation.right.atoms(sp.Piecewise)
    bounds = [condition.args for each in cases for _, condition in each.args if condition != sp.true]
    named = [value for symbol, bound in bounds if symbol == THETA and (value := near.value(bound)) is not None]
    room = _BESIDE * float(np.ravel(near.law.width)[0])
    return all(any(abs(value - joint) <= room for joint in near.joints) for value in named)


def _leaves_joints_out(equation: Equation, near: SolvedInstance) -> bool:
    """Tell whether slopes are stated off the places where pieces of the law meet."""
    slopes = equation.left.atoms(sp.Derivative) | equation.right.atoms(sp.Derivative)
    taken = {symbol for slope in slopes for symbol in slope.variables}
    meeting = np.array(near.meeting)
    room = _BESIDE * float(np.ravel(near.law.width)[0]) + 16 * _AWAY * abs(meeting)
    for symbol in taken & ({THETA, X} if near.is_regular else {THETA}) if near.meeting else ():
        values = (near.value(place) for each in equation.domain if each.symbol == symbol for place in each.off)
        off = np.array([value for value in values if value is not None])
        off = off if symbol == THETA else np.ravel(_one(near.law).inverse_virtual_cost(off))
        if not np.all(np.any(abs(off[:, None] - meeting) <= room, axis=0)):
            return False
    return True


def _has_own_letters(equation: Equation, near: SolvedInstance) -> bool:
    """Tell whether cases and a function’s formula are in letters of the left side."""
    left, right = equation.left, equation.right
    own = {X} if left == CLIPPED_THRESHOLD else left.free_symbols
    parts = [condition for each in left.atoms(sp.Piecewise) | right.atoms(sp.Piecewise) for _, condition in each.args]
    if equation.relation is Relation.DEFINED and isinstance(left, AppliedUndef):
        parts.append(right)
    return all(part.free_symbols <= {*own, *near.parameters} for part in parts)


def _beside_bounds(equation: Equation, near: SolvedInstance) -> Iterator[SolvedInstance]:
    """Make instances on both sides of bounds of cases and domains, and of joints."""
    cases = equation.left.atoms(sp.Piecewise) | equation.right.atoms(sp.Piecewise)
    bounds = [condition.args for each in cases for _, condition in each.args if condition != sp.true]
    bounds += [(each.symbol, end) for each in equation.domain for end in (each.lower, each.upper) if end is not None]
    known = [(symbol, value) for symbol, bound in bounds if (value := near.value(bound)) is not None]
    low, high = (float(np.ravel(end)[0]) for end in (near.law.low, near.law.high))
    named = [value for symbol, value in known if symbol == THETA and low < value < high]
    if cases or named:
        edges = sorted({low, high, *near.joints, *named})
        beside = _BESIDE * (high - low)
        thetas = [side for edge in edges for side in (edge - beside, edge + beside)]
        if set(named) - set(near.joints):
            thetas += [left + 0.45 * (right - left) for left, right in itertools.pairwise(edges)]
        thetas = [theta for theta in thetas if _is_off(theta, edges)]
        if not (equation.left.free_symbols | equation.right.free_symbols) <= {THETA, *near.parameters}:
            thetas = [theta for theta in thetas if np.isfinite(_one(near.law).virtual_cost(theta))]
        yield from _alone(near, thetas)
    x = [value * side for symbol, value in known if symbol in _COSTS for side in (1 - _BESIDE, 1 + _BESIDE)]
    if x and near.is_regular:
        yield from _alone(near, np.ravel(_one(near.law).inverse_virtual_cost(np.array(x))).tolist(), x)


_COSTS = (X, EPSILONS[I] / LAMBDA)
"""What a bound on x = ε/λ bounds."""


def _is_off(theta: float, edges: Sequence[float]) -> bool:
    """Tell whether a place lies inside the support, and on no joint."""
    return edges[0] < theta < edges[-1] and all(abs(theta - edge) > _AWAY * abs(edge) for edge in edges)


def _alone(near: SolvedInstance, thetas: Sequence[float], x: Sequence[float] | None = None) -> Iterator[SolvedInstance]:
    """Yield a market of one owner at each threshold.

    Where J is infinite, x is that of no optimum.
    """
    law = _one(near.law)
    known = {name: getattr(near, name) for name in ("parameters", "joints", "meeting", "is_regular", "step")}
    costs = np.ravel(law.virtual_cost(np.array(thetas))) if x is None else np.array(x)
    for theta, cost in zip(thetas, np.where(np.isfinite(costs), costs, law.high).tolist(), strict=True):
        with np.errstate(invalid="ignore"):
            one = _instance(law, np.array([theta]), np.array([cost]), known)
        yield replace(one, rests=x is not None and not _is_off(theta, [-np.inf, *near.joints, np.inf]))


def _one(law: Valuation) -> Valuation:
    return law if law.size is None else law.take(np.zeros(1, dtype=np.intp))


def instances_of(law: Valuation, formulas: LawFormulas) -> list[SolvedInstance]:
    """Make instances, each seen from every owner: with caps, without, at no price.

    Parameters
    ----------
    law
        Of one family; where parameters differ by owner, the first owner's are taken.
    formulas
        The law in symbols, whose letters get the numbers of the law.
    """
    one = _one(law)
    low, high = (float(np.ravel(end)[0]) for end in (one.low, one.high))
    at_low, at_high = (float(np.ravel(one.virtual_cost(end))[0]) for end in (low, high))
    is_bounded = has_bounded_cost(one)
    parameters = {symbol: float(np.ravel(one.arguments[name])[0]) for name, symbol in formulas.parameters}
    meeting = [float(piece.high.subs(parameters)) for piece in formulas.pieces[:-1]]
    knots = np.unique(np.concatenate([[low, high], np.ravel(one.knots()), meeting]))
    knots = knots[(low <= knots) & (knots <= high)]
    thetas = [float(np.ravel(one.ppf(level))[0]) for level in _LEVELS]
    thetas += [left + 0.45 * (right - left) for left, right in itertools.pairwise(knots.tolist())]
    inside = [theta for theta in thetas if _is_off(theta, knots.tolist())]
    costs = [float(np.ravel(one.virtual_cost(theta))[0]) for theta in inside]
    joints = [(knot, _between_jump(one, knot, _BESIDE * (high - low))) for knot in knots[1:-1][:_MOST].tolist()]
    joints = [(knot, x) for knot, x in joints if x is not None]
    ends = [(low, 0.5 * at_low)] * (at_low > 0) + [(high, 1.5 * at_high)] * is_bounded
    within = [(theta, x) for theta, x in zip(inside, costs, strict=True) if x - theta < _FLAT * (high - low)]
    known = {
        "parameters": parameters,
        "joints": tuple(knots[1:-1].tolist()),
        "meeting": tuple(meeting),
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
