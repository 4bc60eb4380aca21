"""F10: what weights by the chance of sale assume of the entries."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from smqopt.paper.errata._entry import Claim, Entry, Finding

Estimate = Callable[[Callable[[Fraction], int]], Fraction]
"""From an entry as a function of the valuation to its expected estimate."""

VALUATIONS = tuple(Fraction(k, 20) for k in range(1, 21))
"""Alike likely."""
POSTED = Fraction(1, 2)
ENTRIES: tuple[Callable[[Fraction], int], ...] = (
    lambda theta: 1,  # noqa: ARG005
    lambda theta: int(theta > Fraction(2, 5)),
    lambda theta: int(theta <= Fraction(2, 5)),
    lambda theta: int(theta * 20) % 2,
)


def by_posted_price(entry: Callable[[Fraction], int]) -> Fraction:
    """Weight who sells at θ* by 1/F(θ*)."""
    sold = [theta for theta in VALUATIONS if theta <= POSTED]
    chance = Fraction(len(sold), len(VALUATIONS))
    return sum((entry(theta) / chance for theta in sold), Fraction(0)) / len(VALUATIONS)


def by_random_price(entry: Callable[[Fraction], int]) -> Fraction:
    """Draw the price among the valuations; weight who sells by 1/Q(report)."""
    total = Fraction(0)
    for theta in VALUATIONS:
        chance = Fraction(sum(price >= theta for price in VALUATIONS), len(VALUATIONS))
        for price in VALUATIONS:
            total += (entry(theta) if price >= theta else 0) / chance
    return total / len(VALUATIONS) ** 2


def _trial(estimate: Estimate) -> Finding:
    for number, entry in enumerate(ENTRIES, 1):
        truth = Fraction(sum(entry(theta) for theta in VALUATIONS), len(VALUATIONS))
        if estimate(entry) != truth:
            return Finding(False, f"entry {number}: {estimate(entry)} for a truth of {truth}")
    return Finding(True, f"the mean is right for {len(ENTRIES)} entries, whatever they hang together with")


SELECTION = Entry(
    "F10",
    "weights by the chance of sale",
    Claim(
        "weights 1/F_i(θ_i*) need no assumption on the entries, if F_i is the law given what is public", by_posted_price
    ),
    Claim(
        "they need the law given the entry; with prices drawn at random, weights 1/Q_i(report) need nothing",
        by_random_price,
    ),
    _trial,
)
