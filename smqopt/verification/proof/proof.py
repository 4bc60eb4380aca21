"""The proof of a certificate: balls that hold purchased privacy, spend and the weak-duality bound, and what they decide.

The doubles of market, budget, price and thresholds are taken as exact numbers. Nothing of the solver, and nothing of the laws' floating-point code,
is relied upon; what is, is Arb, and that the laws are regular where `regularity` says so with a proof. A comparison that a ball leaves open is not
decided, and nothing that is not decided is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric.balls import Ball, precision, rounded_down, rounded_up
from smqopt.numeric.sums import exact_dot
from smqopt.numeric.tolerances import GAP
from smqopt.program.objectives.purchased_privacy import PurchasedPrivacy
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
from smqopt.verification.proof.totals import Rows, Totals, summed

__all__ = ["PRECISIONS", "Proof", "Regularity", "prove"]

Floats = NDArray[np.float64]

DOUBLES = 53
"""Bits of intervals between doubles, owners at once; tried first where all laws allow it."""
PRECISIONS = (DOUBLES, 128, 256, 512, 1024, 2048)
"""Bits of the balls: the next is tried where one leaves something open."""
NARROW = 2.0**-44
"""Balls of privacy and bound wider than this, relative to the bound, are worked out again with more bits."""
NEAR = 8
"""Spacings of doubles within which a threshold is near enough to where its price would have it to be touched itself."""
MOST_ROWS = 30_000
"""Different owners whose balls are worked out one by one unless a proof is asked for: half a second or so."""


@dataclass(frozen=True)
class Regularity:
    """Why the Lagrangian of some owners has the maximum that was claimed."""

    law: str
    owners: int
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """Give the record as data."""
        return {"law": self.law, "owners": self.owners, "rule": self.rule}


@dataclass(frozen=True)
class Proof:
    """What ball arithmetic found. The enclosures hold for certain; where one could not be had, it is infinite."""

    purchased_privacy: tuple[float, float]
    """Two doubles that enclose Σ m ε F(θ), in units of ε."""
    spend: tuple[float, float]
    """Two doubles that enclose Σ m θ F(θ), in currency."""
    upper_bound: float
    """A double above λB + Σ m max_q {ε q − λ C(q)}, and so above what any mechanism buys within the budget, in units of ε."""
    within_budget: bool | None
    """Whether spend ≤ B: proved, refuted, or not decided."""
    bits: int
    """Precision of the balls; 0 where none were worked out."""
    regularity: tuple[Regularity, ...]
    unproved: tuple[str, ...]
    """Why the certificate is not proved, one line each; empty where it is."""

    @property
    def holds(self) -> bool:
        """Whether everything that the grade "proved" says is decided."""
        return not self.unproved

    @property
    def gap(self) -> float:
        """At least (upper bound − purchased privacy)/upper bound."""
        lower, upper = self.purchased_privacy[0], self.upper_bound
        if not upper < math.inf:
            return math.inf
        if upper <= 0:
            return 0.0
        with precision(PRECISIONS[-1]):
            return max(rounded_up((arb(upper) - arb(lower)) / arb(upper)), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Give the proof as data."""
        return {
            "purchased_privacy": list(self.purchased_privacy),
            "spend": list(self.spend),
            "upper_bound": self.upper_bound,
            "bits": self.bits,
            "regularity": [entry.to_dict() for entry in self.regularity],
        }


@dataclass(frozen=True, eq=False)
class _Part:
    """Owners of one family of laws, ready to be enclosed."""

    rows: Rows
    offers: tuple[Rows, ...]
    """Further offers to some of them: the two ends of lotteries."""
    totals: Callable[[Rows, Ball], Totals]
    in_doubles: Callable[[Rows, Ball], Totals] | None
    """The same in intervals between doubles, owners at once; None where the law has no such form."""
    regularity: Regularity


def prove(
    solution: Solution,
    gap_tolerance: float = GAP.value,
    *,
    limited: bool = True,
    precisions: Sequence[int] = PRECISIONS,
) -> Proof:
    """Enclose what a solution buys, spends, and leaves to be had.

    Parameters
    ----------
    solution
        A well-formed solution, its thresholds in their supports.
    gap_tolerance
        The largest gap that may be called proved, relative to the upper bound.
    limited
        Whether to stop where the balls of more than `MOST_ROWS` different owners would have to be worked out one by one.
    precisions
        Bits to try, one after the other.
    """
    price, budget = solution.budget_price, solution.budget
    beyond = _beyond(solution)
    if beyond:
        return _unproved(beyond)
    parts: list[_Part] = []
    reasons: list[str] = []
    for part in _parts(solution):
        if isinstance(part, str):
            reasons.append(part)
        else:
            parts.append(part)
    if reasons:
        return _unproved(*dict.fromkeys(reasons))
    rows = sum(part.rows.epsilon.size for part in parts)
    tried = [bits for bits in precisions if bits > DOUBLES]
    if all(part.in_doubles is not None for part in parts):
        tried = [DOUBLES, *tried]
    if limited and rows > MOST_ROWS:
        tried = [bits for bits in tried if bits == DOUBLES]
    if not tried:
        return _unproved(
            f"{rows} different owners would be enclosed one by one, more than {MOST_ROWS}: ask for it with prove=True"
        )
    for bits in tried:
        with precision(bits):
            totals = summed([_enclosed(part, price, bits) for part in parts])
            bound = totals.top if price in (0, math.inf) else arb(price) * arb(budget) + totals.top
            proof = _read(totals, bound, (budget, gap_tolerance), bits, tuple(part.regularity for part in parts))
        if proof.holds:
            break
    return proof


def _beyond(solution: Solution) -> str:
    """Say what keeps a solution from being looked at in balls; nothing where that can be done."""
    price = solution.budget_price
    if not isinstance(solution.objective, PurchasedPrivacy):
        return "bounds on this objective are not proved"
    if solution.records or solution.constraints:
        return "side constraints are judged in floating point"
    if not 0 <= price <= math.inf or (price == math.inf and solution.budget > 0):
        return f"{price!r} is no price, so that nothing is bounded"
    return "" if _in_supports(solution) else "a threshold lies outside its support"


def _unproved(*reasons: str) -> Proof:
    return Proof((0.0, math.inf), (0.0, math.inf), math.inf, None, 0, (), reasons)


def _read(
    totals: Totals, bound: Ball, limits: tuple[float, float], bits: int, regularity: tuple[Regularity, ...]
) -> Proof:
    """Round the balls outwards, and say what they decide."""
    budget, gap_tolerance = limits
    within = True if totals.spend <= budget else False if totals.spend > budget else None
    unproved: list[str] = []
    if within is None:
        unproved.append(f"{bits} bits do not decide whether spend is within the budget")
    elif not within:
        unproved.append("the spend exceeds the budget, proved")
    width = totals.privacy.rad() + bound.rad()
    if not (totals.privacy.is_finite() and bound.is_finite() and width <= NARROW * abs(bound)):
        unproved.append(f"{bits} bits enclose purchased privacy and its bound too loosely")
    elif not bound - totals.privacy <= gap_tolerance * bound:
        unproved.append(f"{bits} bits do not prove that the gap is at most {gap_tolerance:g}")
    return Proof(
        (max(rounded_down(totals.privacy), 0.0), rounded_up(totals.privacy)),
        (max(rounded_down(totals.spend), 0.0), rounded_up(totals.spend)),
        max(rounded_up(bound), 0.0),
        within,
        bits,
        regularity,
        tuple(unproved),
    )


def _in_supports(solution: Solution) -> bool:
    """Say whether all thresholds lie in their supports; comparisons of doubles are exact."""
    low, high, drawn = solution.market.low, solution.market.high, solution.lottery
    inside = bool(np.all((low <= solution.thresholds) & (solution.thresholds <= high)))
    if drawn is not None:
        low, high = low[drawn.owner], high[drawn.owner]
        inside = inside and bool(
            np.all((low <= drawn.low) & (drawn.low <= high) & (low <= drawn.high) & (drawn.high <= high))
        )
    return inside


def _enclosed(part: _Part, price: float, bits: int) -> Totals:
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


def _parts(solution: Solution) -> Iterator[_Part | str]:
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
        yield _Part(together(law, rows), offers, totals, quickly, Regularity(law.name, int(owners.size), rule))


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
    with precision(PRECISIONS[-1]):  # exact: products of two doubles
        for theta, offered, share in ends:
            weights = np.empty(rows.size, dtype=object)
            weights[:] = [m * s for m, s in zip(count[rows].tolist(), share, strict=True)]
            yield Rows(
                where[rows], market.epsilon[rows], weights, theta, offered, theta, market.low[rows], market.high[rows]
            )
