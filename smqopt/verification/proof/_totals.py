"""The sums that a proof is about, in balls."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flint import arb

from smqopt.numeric import Ball
from smqopt.verification.proof._bounds import keep_to, limits
from smqopt.verification.proof._case import Case
from smqopt.verification.proof._constraint_rows import KeptRow, kept_rows
from smqopt.verification.proof._lagrangian import bound, counts, excess, free_acceptance
from smqopt.verification.proof._offer_enclosures import enclose_offers


@dataclass(frozen=True, eq=False)
class Sums:
    """Balls; where something could not be enclosed one is not finite."""

    privacy: Ball
    """Σ m ε q, in units of ε."""
    value: Ball
    """Σ m φ(q)."""
    spend: Ball
    """In currency."""
    bound: Ball
    """At its upper end no less than Σ m φ(q) of any offers that keep the budget and all
    constraints."""
    rows: tuple[KeptRow, ...] = ()
    """How well the linear rows are kept."""
    within_bounds: bool | None = True
    """Whether all bounds of acceptance and of prices are kept to within the recorded tolerance."""
    contradict: bool = False
    """Whether the value lies above the bound by more than broken constraints explain, proved."""

    def add(self, other: Sums) -> Sums:
        """Add the sums of other owners, all without constraints."""
        pairs = zip(*((s.privacy, s.value, s.spend, s.bound) for s in (self, other)), strict=True)
        privacy, value, spend, most = (a + b for a, b in pairs)
        return Sums(privacy, value, spend, most, contradict=bool(value > most))


@contextmanager
def _without_collections() -> Iterator[None]:
    """Look for no garbage among the functions of balls, which are all kept."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_without_collections()
def enclose_block(case: Case, paid: Ball) -> Sums:
    """Enclose the sums of one block; λB is paid by one of them."""
    market, constraints = case.solution.market, case.constraints
    curves = [part.curve() for part in case.parts]
    offers = enclose_offers(case, curves)
    privacy, spend = arb(0), arb(0)
    terms: list[tuple[int, Ball, Ball]] = []
    for part in case.parts:
        m, epsilon = counts(case, part.owner, part.copies).tolist(), market.epsilon[part.owner].tolist()
        for i, count, e in zip(part.owner.tolist(), m, epsilon, strict=True):
            q, n = offers.acceptance[i], arb(count)
            privacy += e * (n * q)
            spend += n * offers.spend[i]
            terms.append((i, n, q))
    of_rows = {} if constraints is None else limits(case, constraints, curves)
    if case.budget_is_zero:
        free = free_acceptance(case, curves, of_rows)
        most = arb(0)
        for part in case.parts:
            m = counts(case, part.owner, part.copies).tolist()
            most += sum(
                (arb(n) * case.utility.value(i, free[i]) for i, n in zip(part.owner.tolist(), m, strict=True)), arb(0)
            )
    else:
        most = paid + bound(case, curves, offers.cdf, of_rows)
    value = privacy if case.is_plain else case.utility.total(terms)
    if constraints is None:
        return Sums(privacy, value, spend, most, contradict=bool(value > most))
    kept = tuple(kept_rows(constraints.stated, offers.acceptance, offers.spend))
    contradict = bool(value > most and value - excess(case, offers, of_rows) > most)
    return Sums(privacy, value, spend, most, kept, keep_to(case, constraints, of_rows, offers), contradict)
