"""The owners of a solution by family of laws, each with what encloses its sums in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric.balls import Ball, precision
from smqopt.numeric.sums import exact_dot
from smqopt.program.solution import Solution
from smqopt.valuation.base import Valuation
from smqopt.valuation.from_samples import SampleLaw
from smqopt.valuation.regularity import Regular
from smqopt.verification.bound import offers_at_price
from smqopt.verification.proof.algebraic_terms import algebraic_law, algebraic_totals
from smqopt.verification.proof.alike import together
from smqopt.verification.proof.ball_laws import ball_law
from smqopt.verification.proof.smooth_terms import smooth_totals
from smqopt.verification.proof.step_terms import step_law, step_totals
from smqopt.verification.proof.totals import Rows, Totals

__all__ = ["DOUBLES", "Part", "Regularity", "enclosed", "parts_of"]

Floats = NDArray[np.float64]

DOUBLES = 53
"""Bits of intervals between doubles, owners at once; tried first where all laws allow it."""
EXACT = 2048
"""Bits at which the weights of lotteries are products without rounding."""
NEAR = 8
"""Spacings of doubles within which a threshold is near enough to where its price would have it to be touched itself."""


@dataclass(frozen=True)
class Regularity:
    """Why the Lagrangian of some owners has the maximum that was claimed."""

    law: str
    owners: int
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """Give the record as data."""
        return {"law": self.law, "owners": self.owners, "rule": self.rule}


@dataclass(frozen=True, eq=False)
class Part:
    """Owners of one family of laws, ready to be enclosed."""

    rows: Rows
    offers: tuple[Rows, ...]
    """Further offers to some of them: the two ends of lotteries."""
    totals: Callable[[Rows, Ball], Totals]
    in_doubles: Callable[[Rows, Ball], Totals] | None
    """The same in intervals between doubles, owners at once; None where the law has no such form."""
    regularity: Regularity


def parts_of(solution: Solution) -> Iterator[Part | str]:
    """Give the owners of each family, or why their sums cannot be enclosed."""
    market, price = solution.market, solution.budget_price
    n = market.n
    count = np.ones(n) if market.multiplicity is None else market.multiplicity.astype(np.float64)
    touch = solution.thresholds if not 0 < price < math.inf else offers_at_price(market, price)[0]
    near = np.abs(touch - solution.thresholds) <= NEAR * np.spacing(solution.thresholds)
    touch = np.where(near, solution.thresholds, touch)
    drawn = np.zeros(n, dtype=np.bool_)
    if solution.lottery is not None:
        drawn[solution.lottery.owner] = True
    for given, index in market.valuation.parts():
        owners = np.arange(n)[index]
        law = given.histogram if isinstance(given, SampleLaw) else given
        found = _ready(law)
        if isinstance(found, str):
            yield found
            continue
        place = np.zeros(owners.size, dtype=np.intp) if law.size is None else np.arange(owners.size, dtype=np.intp)
        rows = Rows(
            place, market.epsilon[owners], count[owners], solution.thresholds[owners],
            (solution.acceptance[owners] > 0) & ~drawn[owners], touch[owners], market.low[owners], market.high[owners],
        )  # fmt: skip
        totals, rule = found
        quick = algebraic_law(law)
        offers = tuple(_lottery_rows(solution, owners, place, count)) if drawn[owners].any() else ()
        quickly = None if quick is None or offers else partial(algebraic_totals, quick)
        yield Part(together(law, rows), offers, totals, quickly, Regularity(law.name, int(owners.size), rule))


def _ready(law: Valuation) -> tuple[Callable[[Rows, Ball], Totals], str] | str:
    """Give what encloses the sums over a law's owners, and why its maximum is right; or why there is no such thing."""
    steps = step_law(law)
    if steps is not None:
        tables, which = steps
        return (
            lambda rows, price: step_totals(tables, which, rows, price),
            "the cost curve is a table: its maximum is taken over all pieces, in closed form",
        )
    verdict = law.regularity()
    if not isinstance(verdict, Regular):
        return (
            f"the {law.name} law is not proved regular, and the hull of its cost curve is numerical: {verdict.method}"
        )
    balls = ball_law(law)
    if isinstance(balls, str):
        return balls
    return (lambda rows, price: smooth_totals(balls, rows, price, common=law.size is None)), verdict.method


def _lottery_rows(
    solution: Solution, owners: NDArray[np.intp], place: NDArray[np.intp], count: Floats
) -> Iterator[Rows]:
    """Give the two ends of the lotteries of some owners as offers with exact weights."""
    drawn, market = solution.lottery, solution.market
    assert drawn is not None  # noqa: S101
    where = np.full(market.n, -1, dtype=np.intp)
    where[owners] = place
    chosen = where[drawn.owner] >= 0
    rows = drawn.owner[chosen]
    shares = drawn.probability_of_low[chosen].tolist()
    ends = (
        (drawn.low[chosen], drawn.low_acceptance[chosen] > 0, [arb(p) for p in shares]),
        (drawn.high[chosen], drawn.high_acceptance[chosen] > 0, [1 - arb(p) for p in shares]),
    )
    with precision(EXACT):  # products of two doubles
        for theta, offered, share in ends:
            weights = np.empty(rows.size, dtype=object)
            weights[:] = [m * s for m, s in zip(count[rows].tolist(), share, strict=True)]
            yield Rows(
                where[rows], market.epsilon[rows], weights, theta, offered, theta, market.low[rows], market.high[rows]
            )


def enclosed(part: Part, price: float, bits: int) -> Totals:
    """Enclose the sums over one part, at the precision of the context."""
    enclose = part.in_doubles if part.in_doubles is not None and bits == DOUBLES else part.totals
    found = enclose(part.rows, arb(price if 0 < price < math.inf else 1.0))
    privacy, spend = found.privacy, found.spend
    for rows in part.offers:
        more = enclose(rows, arb(1))
        privacy, spend = privacy + more.privacy, spend + more.spend
    if price == 0:
        return Totals(privacy, spend, _everything(part.rows))
    if price == math.inf and enclose is part.in_doubles:  # F(low) = 0
        return Totals(privacy, spend, arb(0))
    if price == math.inf:  # at a zero budget only what sells for nothing can be bought
        rows = part.rows
        free = rows.low == 0
        nothing = Rows(rows.place, rows.epsilon, rows.count, rows.low, free, rows.low, rows.low, rows.high)
        return Totals(privacy, spend, enclose(nothing, arb(1)).privacy)
    return Totals(privacy, spend, found.top)


def _everything(rows: Rows) -> Ball:
    """Enclose Σ m ε; without error up to rounding once."""
    nearest = exact_dot(rows.epsilon, rows.count)
    return arb(math.nextafter(nearest, 0.0)).union(arb(math.nextafter(nearest, math.inf)))
