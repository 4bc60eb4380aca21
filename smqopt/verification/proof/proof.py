"""The proof of a certificate: balls that hold purchased privacy, spend and the weak-duality bound, and what they decide.

The doubles of market, budget, price and thresholds are taken as exact numbers. Nothing of the solver, and nothing of the laws' floating-point code,
is relied upon; what is, is Arb, and that the laws are regular where `regularity` says so with a proof. A comparison that a ball leaves open is not
decided, and nothing that is not decided is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric.balls import Ball, precision, rounded_down, rounded_up
from smqopt.numeric.tolerances import GAP
from smqopt.program.objectives.purchased_privacy import PurchasedPrivacy
from smqopt.program.solution import Solution
from smqopt.verification.proof.parts import DOUBLES, Part, Regularity, enclosed, parts_of
from smqopt.verification.proof.totals import Totals, summed

__all__ = ["PRECISIONS", "Proof", "prove"]

Floats = NDArray[np.float64]

PRECISIONS = (DOUBLES, 128, 256, 512, 1024, 2048)
"""Bits of the balls: the next is tried where one leaves something open."""
NARROW = 2.0**-44
"""Balls of privacy and bound wider than this, relative to the bound, are worked out again with more bits."""
MOST_ROWS = 30_000
"""Different owners whose balls are worked out one by one unless a proof is asked for: half a second or so."""


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
    parts: list[Part] = []
    reasons: list[str] = []
    for part in parts_of(solution):
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
            totals = summed([enclosed(part, price, bits) for part in parts])
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
