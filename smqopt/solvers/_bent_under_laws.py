"""Objectives that bend, under several laws: their mean, or the worst one.

With V_k what the objective comes to under law k, max min_k V_k is the least over weights w ≥ 0 that
sum to 1 of max Σ w_k V_k (von Neumann 1928): each such maximum is an ordinary program. Weights are
sought by cutting planes from below, Σ w_k V_k of the offers that were met (Kelley 1960); the shares
of these offers at the best weights are a mixture, under which no law comes to less.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from smqopt.market import (
    ConstraintRecord,
    Expansion,
    Market,
    Objective,
    Offers,
    Posted,
    Solution,
    Statement,
    Status,
    expansion_of,
    fold,
    state,
)
from smqopt.numeric import Floats

_MOST_ROUNDS = 40
_CLOSE = 2.0**-37
"""Values so near to each other, relatively, are one."""
_SAME = 2.0**-44
"""Weights so near to each other are the same."""
_LEAST_WEIGHT = 2.0**-60
"""In place of 0: what a linear program leaves loose under a law may be no value at all."""
_TINY = 1e-300
_TIGHT = 1e-10
"""As near as HiGHS keeps rows."""
_NOTHING = -1e9
"""Stands for no value at all, in sizes of the values that were met."""

Route = Callable[[Statement, float, Objective], Solution]


def solve_bent(
    market: Market,
    budget: float,
    records: Sequence[ConstraintRecord],
    aim: Objective,
    route: Route,
    *,
    margin: float,
) -> tuple[Expansion, Solution]:
    """Solve with a margin kept; return the program with lines, and the solution.

    Parameters
    ----------
    market, budget, records, aim
        What the user asks; the objective is a sum over owners that bends.
    route
        Solves an ordinary statement.
    margin
        As for `expansion_of`.
    """

    def expand(**how: object) -> Expansion:
        e = expansion_of(market, budget, records, aim, margin=margin, **how)  # type: ignore[arg-type]
        assert e is not None  # noqa: S101 -- its laws are in doubt
        return e

    def solve_at(w: Floats) -> _Answer:
        w = np.maximum(w, _LEAST_WEIGHT)
        e = expand(shares=w.tolist())
        found = fold(e, route(state(e.market, e.records), e.budget, e.objective), market, records, aim)
        return _Answer.of(plain, found, w if worst else None)

    def bound_at(offers: Offers) -> _Answer:
        e = expand(at=offers)
        solved = route(state(e.market, e.records), e.budget, e.objective)
        found = fold(e, solved, market, records, aim)
        first = e.budget_rows.stop
        w = found.constraint_prices[first : first + laws]
        return _Answer(found, w / max(float(w.sum()), _TINY), solved.objective_value - e.shift, np.zeros(laws))

    plain = expand()
    laws = len(plain.base)
    worst = plain.weights is None and laws > 1
    one = solve_at(plain.shown)
    if one.solution.status is Status.INFEASIBLE:
        rows = len(state(plain.market, plain.records).names)
        return plain, dataclasses.replace(one.solution, constraint_prices=np.zeros(rows))
    found = _worst_of(plain, one, solve_at, bound_at) if worst else one.solution
    return expand(at=_offers(found)), found


@dataclass(frozen=True, eq=False)
class _Answer:
    """Offers, and a bound on what all offers come to under the worst law."""

    solution: Solution
    weights: Floats
    bound: float
    values: Floats
    """What the offers come to under each law."""

    @classmethod
    def of(cls, e: Expansion, found: Solution, w: Floats | None) -> _Answer:
        """Read an answer at weights; multipliers of the worst law's rows are the weights."""
        values = _values(e, found)
        if w is None or found.status is Status.INFEASIBLE:
            return cls(found, e.shown, math.nan, values)
        prices, first = found.constraint_prices, e.budget_rows.stop
        prices = np.concatenate([prices[:first], w, prices[first:]])
        bound = float(w[w > 0] @ values[w > 0])
        return cls(dataclasses.replace(found, constraint_prices=prices), w, bound, values)


def _offers(found: Solution) -> Offers:
    return Offers(found.thresholds, found.acceptance, found.lottery)


def _values(e: Expansion, found: Solution) -> Floats:
    """Return what the offers come to under each law."""
    given = e.acceptances(Offers(found.thresholds, found.acceptance, found.lottery))
    m = e.base[0].weights
    with np.errstate(invalid="ignore"):
        return np.array([float(np.sum(one.terms(m, q, b))) for one, (q, b) in zip(e.worths, given, strict=True)])


def _worst_of(
    e: Expansion,
    first: _Answer,
    solve_at: Callable[[Floats], _Answer],
    bound_at: Callable[[Offers], _Answer],
) -> Solution:
    """Return offers at which the worst law comes to most, and the best multipliers."""
    every, chosen, best, least = [first], first.solution, float(np.min(first.values)), first
    sought = [np.eye(len(e.base))[int(np.argmin(first.values))]]  # often one law is the worst whatever is offered
    for _ in range(_MOST_ROUNDS):
        size = max(abs(least.bound), abs(best) if math.isfinite(best) else 0.0)
        new = [w for w in sought if all(np.max(np.abs(w - one.weights)) > _SAME for one in every)]
        if least.bound - best <= _CLOSE * size or not new:
            break
        every.append(solve_at(new[0]))
        least = min(least, every[-1], key=lambda one: one.bound)
        if (alone := float(np.min(every[-1].values))) > best:
            best, chosen = alone, every[-1].solution
        if least.bound - best <= _CLOSE * size:
            break
        w, shares = _next_weights(np.array([one.values for one in every]), size)
        sought = [w]
        mixed = _mixture(e, [one.solution for one in every], shares)
        if (together := float(np.min(_values(e, mixed)))) > best:
            best, chosen = together, mixed
        touching = bound_at(_offers(chosen))
        least = min(least, touching, key=lambda one: one.bound)
        sought = [touching.weights, w]
    prices = least.solution
    return dataclasses.replace(
        chosen, constraint_prices=prices.constraint_prices, budget_price=prices.budget_price, status=prices.status
    )


def _next_weights(values: Floats, size: float) -> tuple[Floats, Floats]:
    """Return the weights at which the highest plane is least, and planes' shares."""
    from scipy.optimize import linprog  # noqa: PLC0415 -- takes a while to load

    rounds, laws = values.shape
    level = float(np.max(values[np.isfinite(values)], initial=0.0))
    scaled = np.where(np.isfinite(values), (values - level) / size, _NOTHING)
    spread = float(np.min(np.where(scaled > _NOTHING, -scaled, np.inf).max(axis=0), initial=1.0)) or 1.0
    found = linprog(
        np.append(np.zeros(laws), 1.0),
        A_ub=np.column_stack([scaled / spread, -np.ones(rounds)]),
        b_ub=np.zeros(rounds),
        A_eq=np.append(np.ones(laws), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * laws + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": _TIGHT, "dual_feasibility_tolerance": _TIGHT},
    )
    shares = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
    w = np.maximum(np.asarray(found.x, dtype=np.float64)[:-1], 0.0)
    return w / w.sum(), shares / shares.sum()


def _mixture(e: Expansion, every: Sequence[Solution], shares: Floats) -> Solution:
    """Return the offers drawn with these shares, as one of the solutions."""
    each = [Posted.of(Offers(one.thresholds, one.acceptance, one.lottery), e.n, 1) for one in every]
    owner, price = (np.concatenate([getattr(one, name) for one in each]) for name in ("owner", "price"))
    share = np.concatenate([s * one.share for s, one in zip(shares, each, strict=True)])
    pairs, which = np.unique(np.column_stack([owner, price]), axis=0, return_inverse=True)
    total = np.bincount(which.ravel(), weights=share)
    kept = total > 0
    joined = Posted(e.n, pairs[kept, 0].astype(np.intp), pairs[kept, 1], total[kept].astype(np.float64))
    offers = e.show(joined)
    return dataclasses.replace(
        every[-1], thresholds=offers.thresholds, acceptance=offers.acceptance, lottery=offers.lottery
    )
