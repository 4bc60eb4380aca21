"""E11: what an ex-post budget costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Payments = Callable[[Sequence[bool]], list[Fraction]]
"""From who sells to what each owner is paid."""
Utilities = Callable[[int, Fraction, Payments], Iterable[Fraction]]
"""From owner, her valuation and the payments to the utilities that rationality wants to be
non-negative."""

THRESHOLDS = (Fraction(1, 2), Fraction(2, 3), Fraction(1))
"""Valuations are uniform on [0, 1], so these are also the probabilities of sale."""
VALUATIONS = (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 5), Fraction(2, 3), Fraction(9, 10), Fraction(1))
OWNERS = range(len(THRESHOLDS))
BUDGET = sum((t * t for t in THRESHOLDS), Fraction(0))
PATTERNS = tuple(product((False, True), repeat=len(THRESHOLDS)))


def posted_payments(sells: Sequence[bool]) -> list[Fraction]:
    """Pay θ_i* to those who sell."""
    return [t if sold else Fraction(0) for t, sold in zip(THRESHOLDS, sells, strict=True)]


def shared_surplus(sells: Sequence[bool]) -> list[Fraction]:
    """Return P_i(ψ_i) − (1/(n−1)) Σ_{j≠i} (P_j(ψ_j) − E P_j), for n ≥ 2."""
    own = posted_payments(sells)
    excess = [p - t * t for p, t in zip(own, THRESHOLDS, strict=True)]
    return [own[i] - (sum(excess) - excess[i]) / (len(own) - 1) for i in OWNERS]


def probability(sells: Sequence[bool], owners: Iterable[int]) -> Fraction:
    """Return the probability that these owners sell as said."""
    result = Fraction(1)
    for j in owners:
        result *= THRESHOLDS[j] if sells[j] else 1 - THRESHOLDS[j]
    return result


def given_others(owner: int, sold: bool) -> list[tuple[Fraction, tuple[bool, ...]]]:
    """List both choices of the owner, with the others' probabilities."""
    others = [j for j in OWNERS if j != owner]
    return [(probability(sells, others), sells) for sells in PATTERNS if sells[owner] == sold]


def each_outcome(owner: int, theta: Fraction, payments: Payments) -> list[Fraction]:
    """Ex post: the owner's utility whatever the others report."""
    sold = theta <= THRESHOLDS[owner]
    return [payments(sells)[owner] - theta * sold for weight, sells in given_others(owner, sold) if weight > 0]


def in_expectation(owner: int, theta: Fraction, payments: Payments) -> list[Fraction]:
    """Interim: her expected utility over the others' reports."""
    sold = theta <= THRESHOLDS[owner]
    terms = (weight * (payments(sells)[owner] - theta * sold) for weight, sells in given_others(owner, sold))
    return [sum(terms, Fraction(0))]


def _trial(utilities: Utilities) -> Finding:
    if any(sum(shared_surplus(sells)) != BUDGET for sells in PATTERNS):
        return Finding(False, "the total payment is not constant")
    for owner, theta in product(OWNERS, VALUATIONS):
        if sum(in_expectation(owner, theta, shared_surplus)) != sum(in_expectation(owner, theta, posted_payments)):
            return Finding(False, "interim payments change")
        if _gains_by_lying(owner, theta):
            return Finding(False, "truth is no longer dominant")
        least = min(utilities(owner, theta, shared_surplus))
        if least < 0:
            # Whoever sells must be paid her valuation: that is the sum of thresholds when all
            # valuations stand at them.
            needed = sum(THRESHOLDS, Fraction(0))
            return Finding(
                False,
                f"utility {least} for owner {owner + 1} at θ = {theta}; no payments for the same sales serve: a sale by all may cost {needed} > B = {BUDGET}",
            )
    return Finding(True, f"total {BUDGET} always, interim payments as before, truth dominant, interim utilities ≥ 0")


def _gains_by_lying(owner: int, theta: Fraction) -> bool:
    """Tell whether, for some reports of the others, a lie beats the truth."""
    sold = theta <= THRESHOLDS[owner]
    for sells in PATTERNS:
        lie = (*sells[:owner], not sells[owner], *sells[owner + 1 :])
        if sells[owner] == sold and shared_surplus(lie)[owner] - theta * (not sold) > (
            shared_surplus(sells)[owner] - theta * sold
        ):
            return True
    return False


EX_POST_BUDGET = Entry(
    "E11",
    "Lemma 2",
    Claim("an ex-post budget-feasible equivalent exists, in which no owner ever loses", each_outcome),
    Claim(
        "with the same interim outcome it has interim individual rationality only, and n ≥ 2; a single payment can be negative",
        in_expectation,
    ),
    _trial,
)
