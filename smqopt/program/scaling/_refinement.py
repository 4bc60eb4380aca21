"""Refinement: straight pieces move to the answer until the bounds meet.

With tangents the program bounds the true one from above; with chords it finds what is feasible in
the true one. The two are solved by turns. Each answer tells by its multipliers and acceptances at
which slope every owner is, and the pieces of the next problem lie closest round it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
from cvxpy.reductions.solution import Solution as RawSolution

from smqopt.program.cones._pieces import Pieces

_MOST_ROUNDS = 24
_STALLED = 4
"""Rounds that may pass without the gap falling by half."""
_INACCURATE = 4
"""Rounds in a row that the solver may end without the accuracy asked for, where a bound is lacking;
then it is to be asked for less."""
_ENOUGH = 1
"""The same once the target is met."""
_AIM = 0.125
"""Share of the target at which refinement ends: the multipliers of the answer, from which a
certificate bounds, are a little behind the bounds."""


@dataclass(frozen=True)
class Refinement:
    """How a program with straight pieces was solved."""

    rounds: int
    """Solves, with tangents and with chords."""
    pieces: int
    """Straight pieces in each."""
    gap: float
    """Upper minus lower bound, relative to the larger of the two; +∞ where nothing feasible was
    found."""
    target: float
    """The gap asked for."""

    @property
    def reached(self) -> bool:
        """Whether the gap is as small as was asked for."""
        return self.gap <= self.target


def refine(
    problem: cp.Problem, pieces: Sequence[Pieces], target: float, options: Mapping[str, Any]
) -> tuple[RawSolution, Any, Refinement]:
    """Solve with tangents and with chords by turns until the value is known.

    The problem is a maximisation, known to a gap of `target` relative to its value.

    The best feasible answer is returned, in the solver's units, with what the solver says of its
    work. Where no point satisfies the tangents' problem, none satisfies the true one, and the
    answer says "infeasible"; where the gap was not reached, "optimal_inaccurate".
    """
    aim = _AIM * target
    finest = 0.5 * math.sqrt(aim)
    upper, lower, gap = math.inf, -math.inf, math.inf
    best: tuple[RawSolution, Any] | None = None
    last: RawSolution | None = None
    rows = sum(one.rows for one in pieces)
    good, since, inaccurate = math.inf, 0, 0

    def result(raw: RawSolution, stats: Any, rounds: int) -> tuple[RawSolution, Any, Refinement]:
        return raw, stats, Refinement(rounds, rows, gap, target)

    for number in range(1, _MOST_ROUNDS + 1):
        outer = number % 2 == 1
        for one in pieces:
            one.set_tangents() if outer else one.set_chords()
        status, raw = _solve_anew(problem, options), problem.solution
        if status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            if outer:
                return result(raw, problem.solver_stats, number)
            continue  # the chords leave out what may be feasible
        last = raw
        inaccurate = 0 if status == cp.OPTIMAL else inaccurate + 1
        if outer and status == cp.OPTIMAL:
            upper = min(upper, raw.opt_val)
        elif not outer and status == cp.OPTIMAL and raw.opt_val > lower:
            lower, best = raw.opt_val, (raw, problem.solver_stats)
        for one in pieces:
            one.move(finest)
        gap = _relative(upper, lower, rounding=problem.objective.args[0].is_constant())
        if gap <= aim:
            break
        good, since = (gap, 0) if gap <= 0.5 * good else (good, since + 1)
        if best is not None and since > (_ENOUGH if gap <= target else _STALLED):
            break
        if inaccurate >= _INACCURATE and math.isinf(gap):
            break
    if best is None:
        assert last is not None  # noqa: S101 -- the tangents' problem had an answer in the first round
        return result(_rename(last, cp.OPTIMAL_INACCURATE), problem.solver_stats, number)
    raw, stats = best
    return result(raw if gap <= target else _rename(raw, cp.OPTIMAL_INACCURATE), stats, number)


def _solve_anew(problem: cp.Problem, options: Mapping[str, Any]) -> str:
    """Solve with the pieces as they are, constants to cvxpy; return its status."""
    again = cp.Problem(problem.objective, problem.constraints)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")  # its status says so
        again.solve(**{"solver": cp.CLARABEL, **options})
    problem.unpack(again.solution)
    problem._solver_stats = again.solver_stats  # noqa: SLF001 -- the only hook there is
    return str(problem.status)


def _relative(upper: float, lower: float, *, rounding: bool) -> float:
    """Return the gap; 0 where any difference is rounding."""
    if not (math.isfinite(upper) and math.isfinite(lower)):
        return math.inf
    return 0.0 if rounding or upper == lower else float(abs(upper - lower) / max(abs(upper), abs(lower)))


def _rename(raw: RawSolution, status: str) -> RawSolution:
    return RawSolution(status, raw.opt_val, raw.primal_vars, raw.dual_vars, raw.attr)
