"""The sums that a proof is about, in balls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb

from smqopt.numeric import Ball, Interval
from smqopt.verification.enclosures._algebraic_terms import algebraic_terms
from smqopt.verification.enclosures._curve import Numbers, Rows
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


def enclose_in_doubles(case: Case) -> Sums:
    """Enclose the sums of OP2 itself in intervals between doubles, all owners at once."""
    solution, market = case.solution, case.solution.market
    privacy, spend, top = arb(0), arb(0), arb(0)
    for part in case.parts:
        owner, m = part.owner, counts(case, part.owner, part.copies)
        theta, lam = solution.thresholds[owner], 0.0 if case.budget_is_zero else solution.budget_price
        e = market.epsilon[owner]
        rows = Rows(part.place, e, np.full(owner.size, lam), m, theta, market.low[owner], market.high[owner])
        assert part.in_doubles is not None  # noqa: S101
        F, tops = algebraic_terms(part.in_doubles, rows)
        is_offered = solution.acceptance[owner] > 0
        with np.errstate(all="ignore"):
            bought = Interval(np.where(is_offered, F.low, 0.0), np.where(is_offered, F.high, 0.0)) * Interval.exact(m)
            privacy += _ball(bought * Interval.exact(e), is_offered)
            spend += _ball(bought * Interval.exact(theta), is_offered)
        top += tops
    most = arb(0) if case.budget_is_zero else arb(solution.budget_price) * arb(solution.budget) + top  # F(low) = 0
    return Sums(privacy, privacy, spend, most, contradict=bool(privacy > most))


def _ball(terms: Interval, is_offered: Numbers) -> Ball:
    """Return the sum of the terms of those who get an offer."""
    low, high = Interval(np.where(is_offered, terms.low, 0.0), np.where(is_offered, terms.high, 0.0)).total()
    return arb(low).union(arb(high))
