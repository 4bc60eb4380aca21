"""What owners answer to a price where φ_i(q) = e_i q.

J_i(θ_i) = e_i/λ, clipped to her support (KKT).

The search starts from the answer for a few owners who stand for all: a sample, or where the laws'
answers are in tables, a condensed market that spends as much as the whole.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from smqopt.numeric import SEARCH_CLOSE, Bracket, largest_within, log_ratio
from smqopt.solvers.price_search._aggregation import condense
from smqopt.solvers.price_search._response import Answers, OwnerPart, answers, spend

_SAMPLE, _SAMPLE_CLOSE = 1 << 13, 2.0**-14
"""Rows in the sample that starts a search; it is off by more than this anyway."""
_NEAR = 2.0**-46
"""So near to the target, relative to it, an answer from tables is taken: the estimates of spend are
not the delivered spend to the last digit."""
_BELOW = 2.0**-50
"""How far below the target such an answer is sought."""
_ROUGH = 2.0**-24
"""How near to the price the rows are cut that stand for all: where answers turn, what is lost is
the square of that."""
_ABOUT = 2.0**-12
"""The step by which the slope of the spend is found."""
_CORRECTIONS = 4
"""Corrections of such an answer before the search goes over all owners."""


def meet(parts: Sequence[OwnerPart], target: float, start: float, n: int) -> tuple[Bracket, Answers]:
    """Search for x = 1/λ, and give the answers of all n owners there."""
    tables = any(part.table is not None for part in parts)
    return (_by_tables if tables else _by_owners)(parts, target, start, n)


def _by_owners(
    parts: Sequence[OwnerPart], target: float, start: float, n: int, slope: float = 1.0
) -> tuple[Bracket, Answers]:
    """Search over all owners, from the answer for a sample."""
    if n > 4 * _SAMPLE:
        samples = [_sample(part) for part in parts]
        rough = largest_within(lambda x: spend(samples, x), target, start, slope, _SAMPLE_CLOSE)
        start, slope = rough.below, rough.slope
    found = largest_within(lambda x: spend(parts, x), target, start, slope, SEARCH_CLOSE)
    return found, answers(parts, found.below, n)


def _sample(part: OwnerPart) -> OwnerPart:
    """Every k-th owner, weighing as much as the k."""
    step = -(-part.epsilon.size // _SAMPLE)
    chosen = slice(step // 2, None, step)
    return part.rows(chosen, part.epsilon.size / part.epsilon[chosen].size)


def _by_tables(parts: Sequence[OwnerPart], target: float, start: float, n: int) -> tuple[Bracket, Answers]:
    """Search over the condensed market; correct the price by the answers' spend."""
    small = [condense(part) for part in parts]
    rough = largest_within(lambda x: spend([one.few for one in small], x), target, start, 1.0, _ROUGH)
    few = [one.open(rough.below) for one in small]
    below = target * (1.0 - _BELOW)
    found = largest_within(lambda x: spend(few, x), below, rough.below, rough.slope, SEARCH_CLOSE)
    x, steps = found.below, rough.steps + found.steps
    slope = _slope_of_spend(few, x)
    for _ in range(_CORRECTIONS):
        every = answers(parts, x, n)
        steps += 1
        if target * (1.0 - _NEAR) <= every.spend <= target:
            return Bracket(x, every.spend, found.above, slope, steps), every
        jumps = every.spend <= target and found.above <= x * (1.0 + 4 * SEARCH_CLOSE)
        agrees = x == found.below and abs(every.spend - found.value_below) <= _NEAR * target
        if jumps and (agrees or spend(parts, found.above) > target):
            return Bracket(x, every.spend, found.above, slope, steps), every
        if not (every.spend > 0 and slope > 0):
            break
        x *= math.exp(log_ratio(below, every.spend) / slope)
    exact = [part if part.is_exact else dataclasses.replace(part, table=None) for part in parts]
    return _by_owners(exact, target, found.below, n, slope)


def _slope_of_spend(parts: Sequence[OwnerPart], x: float) -> float:
    """Return d log spend / d log x about x; 0 where the spend does not rise."""
    near, far = spend(parts, x), spend(parts, x * (1.0 + _ABOUT))
    return log_ratio(far, near) / math.log1p(_ABOUT) if 0 < near < far else 0.0
