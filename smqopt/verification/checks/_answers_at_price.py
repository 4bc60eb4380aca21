"""What owners answer near a price, block by block: for checks of optimality.

Where owners of a common law are many, their answers come from its table, as the solver's do: what
is compared is then how well its thresholds fit the price, and what bounds the optimum is not from
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smqopt.market import Market, Solution
from smqopt.numeric import BUDGET_MARGIN, PRICE, Floats, Indices
from smqopt.valuation import Index, Ironed, ResponseTable, StepResponse, Valuation, iron, response_table

BLOCK = 1 << 13
"""Owners handled at a time: what is worked out for them stays in the cache."""
MANY = 1 << 13
"""From so many owners of a common law on, its answers are read in a table."""
SPACINGS = 32
"""Of doubles, within which θ(λ) is one: J of a narrow support far from 0 has few digits."""

Answer = Valuation | Ironed | ResponseTable | StepResponse
Rule = Callable[[Floats, Valuation], Floats]
"""Gives thresholds from ε/λ and a law."""


@dataclass(frozen=True)
class Distances:
    """How far a solution is from what owners answer near its price."""

    threshold: float
    """Largest distance of a threshold from the answers at prices a margin apart, in widths."""
    closed_form: float
    """Largest distance from a rule in closed form, in widths; NaN where none was given."""
    dear: float
    """The spend at a slightly higher price, in currency,"""
    cheap: float
    """and at a slightly lower one."""


def distances(solution: Solution, rule: Rule | None) -> Distances:
    """Compare the thresholds of a solution with answers at prices near its own.

    Parameters
    ----------
    solution
        With a price 0 < λ < ∞.
    rule
        The threshold rule of the market's law, where there is one.
    """
    market, price = solution.market, solution.budget_price
    law = market.valuation
    margins = [1.0 / (price * (1.0 + side * margin.value)) for margin in (BUDGET_MARGIN, PRICE) for side in (1, -1)]
    spends: tuple[list[float], list[float]] = [], []
    furthest, from_rule = 0.0, math.nan
    with np.errstate(all="ignore"):
        for answer, rows, own in _blocks(market):
            e, theta = market.epsilon[rows], solution.thresholds[rows]
            width = _widths(law.low, law.high) if law.size is None else _widths(market.low[rows], market.high[rows])
            least, most = (offer_of(answer, own, e * x)[0] for x in margins[:2])
            furthest = max(furthest, _furthest(np.maximum(least - theta, theta - most), theta, width))
            for total, x in zip(spends, margins[2:], strict=True):
                offered, q = offer_of(answer, own, e * x)
                paid = offered * q
                total.append(float(np.add.reduce(paid if market.multiplicity is None else paid * market.weights[rows])))
            if rule is not None and law.size is None:
                off = np.abs(theta - rule(e / price, law))
                from_rule = max(_furthest(off, theta, width), 0.0 if math.isnan(from_rule) else from_rule)
        if rule is not None and law.size is not None:
            off = np.abs(solution.thresholds - rule(market.epsilon / price, law))
            from_rule = _furthest(off, solution.thresholds, _widths(market.low, market.high))
    return Distances(furthest, from_rule, math.fsum(spends[0]), math.fsum(spends[1]))


def answers_of(market: Market, rows: Indices, price: float) -> tuple[Floats, Floats]:
    """Return θ_i(λ) and q_i(λ) of some owners, shape (k,) each."""
    theta, q = np.empty(market.n), np.empty(market.n)
    chosen = np.zeros(market.n, dtype=np.bool_)
    chosen[rows] = True
    with np.errstate(all="ignore"):
        for answer, block, own in _blocks(market):
            place = np.flatnonzero(chosen[block])
            if place.size:
                at = np.arange(market.n)[block][place]
                inner = own if own is None else np.arange(own.start, own.stop)[place]
                theta[at], q[at] = offer_of(answer, inner, market.epsilon[at] / price)
    return theta[rows], q[rows]


def _blocks(market: Market) -> list[tuple[Answer, Index, slice | None]]:
    """Return what answers for each block of owners, with their rows and places.

    Places are those in their law, None where it is common.
    """
    found: list[tuple[Answer, Index, slice | None]] = []
    for law, owners in market.valuation.parts():
        size = market.n if isinstance(owners, slice) else int(owners.size)
        answer = answer_of(law, size)
        for start in range(0, size, BLOCK):
            block = slice(start, min(start + BLOCK, size))
            rows = block if isinstance(owners, slice) else owners[block]
            found.append((answer, rows, None if law.size is None else block))
    return found


def answer_of(law: Valuation, size: int) -> Answer:
    """Return what tells soonest how so many owners of a law answer to prices."""
    answer = iron(law)
    table = response_table(answer) if law.size is None and size >= MANY else None
    return table or answer


def offer_of(answer: Answer, own: Index | None, v: Floats) -> tuple[Floats, Floats]:
    if isinstance(answer, ResponseTable | StepResponse):
        return answer.estimate(v)
    theta, q = (answer if own is None else answer.take(own)).offer(v)
    return theta, q


def _furthest(off: Floats, theta: Floats, width: Floats) -> float:
    """Return the largest distance beyond a few spacings of doubles, in widths."""
    largest = np.max(off)
    if largest <= 0:
        return 0.0
    return float(np.max(np.maximum(off - SPACINGS * np.spacing(theta), 0.0) / width))


def _widths(low: float | Floats, high: float | Floats) -> Floats:
    """Return the supports' widths in currency, the value for a point mass."""
    width = np.asarray(high) - low
    found: Floats = np.where(width > 0, width, np.where(np.asarray(high) > 0, high, 1.0))
    return found
