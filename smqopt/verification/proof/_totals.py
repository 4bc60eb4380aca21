"""The sums that a proof is about, in balls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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


def enclose(case: Case) -> Sums:
    """Enclose all sums, at the precision of the context."""
    market, constraints = case.solution.market, case.constraints
    curves = [part.curve() for part in case.parts]
    offers = enclose_offers(case, curves)
    privacy, value, spend = arb(0), arb(0), arb(0)
    epsilon = market.epsilon.tolist()
    for part in case.parts:
        for i, m in zip(part.owner.tolist(), counts(case, part.owner, part.copies).tolist(), strict=True):
            q, n = offers.acceptance[i], arb(m)
            privacy += epsilon[i] * (n * q)
            spend += n * offers.spend[i]
            if not case.is_plain:
                value += n * case.utility.value(i, q)
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
        most = bound(case, curves, offers.cdf, of_rows)
    if constraints is None:
        value = privacy if case.is_plain else value
        return Sums(privacy, value, spend, most, contradict=bool(value > most))
    m = case.multiplicity(np.arange(market.n, dtype=np.intp)).tolist()
    kept = tuple(kept_rows(constraints.rows, offers.acceptance, offers.spend))
    contradict = bool(value > most and value - excess(case, offers, of_rows) > most)
    return Sums(privacy, value, spend, most, kept, keep_to(case, constraints, of_rows, offers), contradict)
