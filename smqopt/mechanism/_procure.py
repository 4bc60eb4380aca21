"""Algorithm 1: post thresholds, buy from those who report no more, pay them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.market import Market, checked_budget, require_one_law
from smqopt.mechanism._batch import batch_of
from smqopt.mechanism._certificate_gate import check_certificate
from smqopt.mechanism._offers import posted_offers, random_chances, rows_of
from smqopt.mechanism._outcome import Outcome
from smqopt.mechanism.payments._payment_rules import EX_POST_BUDGET, WHILE_IT_LASTS
from smqopt.mechanism.payments._payments import checked_rule, payments_of
from smqopt.mechanism.payments._while_it_lasts import BY_VALUE, offer_order, spend_in_order, tie_breaker
from smqopt.numeric import Indices
from smqopt.verification import Certificate


def procure(
    certificate: Certificate,
    reported_valuations: ArrayLike | Mapping[str, float],
    payments: str = "posted",
    rng: np.random.Generator | None = None,
    *,
    owner_ids: Sequence[object] | NDArray[Any] | None = None,
    missing: str = "refuse",
    market: Market | None = None,
    budget: float | None = None,
    order: str = BY_VALUE,
    after: Outcome | None = None,
    money: float | None = None,
) -> Outcome:
    """Buy from owners who report at most their certified thresholds (Algorithm 1).

    Owner i is bought exactly when she has an offer (her acceptance probability is positive) and ψ_i
    ≤ θ_i*. By the rule "posted" she is paid θ_i*, whatever she reported; by the rule
    "ex-post-budget" each owner's posted payment is corrected by what the others were paid
    (`smqopt.mechanism.payments._ex_post_budget`). Under both to report her true valuation is a
    dominant strategy.

    By the rule "while-it-lasts" offers are made one after the other, and whom the money left does
    not cover is passed over: the exact sum of payments is at most the money, whatever is reported,
    and no owner loses (`smqopt.mechanism.payments._while_it_lasts`).

    Posted payments meet the budget in expectation over the valuations (`eqn:BF`); those of one run
    may exceed it. By the rule "ex-post-budget" the exact sum of payments is at most the budget,
    whatever is reported, and interim payments are the posted ones (Lemma 2, errata E11). In return
    a single payment can be negative, owners who were not bought receive or pay transfers, and
    individual rationality is interim.

    An owner without an offer is never bought, whatever she reports, also where her law has an atom
    at the low end of its support. A report above her support is allowed, and does not sell; one
    below it, but ≥ 0, is allowed, and sells if she has an offer. Owners may report in batches, each
    owner in one of them: a batch may be paid what its owners are expected to cost, and
    `join_outcomes` puts batches together.

    Parameters
    ----------
    certificate
        The valid certificate of the thresholds.
    reported_valuations
        ψ_i ≥ 0, shape (N,), in currency; N counts owners: a row of multiplicity m stands for m
        owners, side by side. Private: no error shows a report, and the outcome does not hold them.
        A mapping from name to report, a series indexed by names, or a frame with a column `owner`
        and one other is matched by name.
    payments
        The payment rule: "posted", "ex-post-budget" or "while-it-lasts".
    rng
        Draws the thresholds of owners with a lottery, random prices, and the order "random", before
        any report is looked at; None takes a generator seeded from the operating system, and for
        random prices its secure source. All owners of the market draw, so that what an
        owner draws does not depend on who is in her batch.
    owner_ids
        The names of the owners who report, shape (N,), in any order; None for all owners of the
        market.
    missing
        What NaN means: "refuse", an error; "absent", that the owner takes no part, and may report
        in a later batch.
    market, budget
        What is in hand; a certificate of another market or another budget is refused. By default
        what the certificate is of.
    order
        By the rule "while-it-lasts", who is offered first: "value", by ε_i/θ_i*, with ties broken
        by a public seed, the certificate's fingerprint; or "random".
    after
        By the same rule, what was bought in earlier batches: its payments are spent.
    money
        By the same rule, what is there to be spent, in currency: that of `after`, or else the
        solution's budget, by default. `lasting_budget` finds the best budget to solve for.

    Raises
    ------
    UncertifiedError
        If the certificate is not a `Certificate`, not valid, changed after it was verified, or not
        of what is in hand.
    InputError
        If reports have another shape or are not finite numbers ≥ 0; if a name is unknown or stands
        twice; if the payment rule is unknown, or is "ex-post-budget" and there is one owner, who
        may be paid more than the limit.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([1.0, 1.0, 0.0], smq.Uniform(0, 1))
    >>> certificate = smq.verify(smq.solve(market, budget=0.5))
    >>> outcome = procure(certificate, [0.25, 0.75, 0.0])
    >>> outcome.selected.tolist(), outcome.payments.round(12).tolist()
    ([True, False, False], [0.5, 0.0, 0.0])
    >>> outcome = procure(certificate, [0.25, 0.25, 0.0], payments="ex-post-budget")
    >>> outcome.payments.round(6).tolist(), outcome.total_payment <= 0.5
    ([0.375, 0.375, -0.25], True)
    """
    check_certificate(certificate, market=market, budget=budget)
    rule = checked_rule(payments)
    if rule == EX_POST_BUDGET.name:
        require_one_law(certificate.solution.market, "argument 'payments'")
    offers = posted_offers(certificate, rng)
    batch = batch_of(reported_valuations, offers.owner_ids, owner_ids, missing)
    if batch.owners.size < len(offers.owner_ids):
        offers = offers.take(batch.owners)
    selected = offers.offered & (batch.reports <= offers.thresholds)
    steps: dict[str, Any] = {}
    if rule == WHILE_IT_LASTS.name:
        if certificate.solution.random_prices is not None:
            raise InputError(
                "argument 'payments'",
                f"{rule!r} passes owners over, so that random prices would sell less often than their weights say",
                remedy="pay 'posted' or 'ex-post-budget'",
            )
        _check_after(after, certificate, batch.owners)
        left = certificate.solution.budget if after is None or after.money is None else after.money
        money = left if money is None else checked_budget(money, "procure: argument 'money'")
        if after is not None and money != left:
            raise InputError(
                "argument 'money'", "must be that of the earlier batches", value=money, remedy="leave it out"
            )
        generator = np.random.default_rng() if rng is None else rng
        turn = offer_order(offers, order, tie_breaker(certificate), generator)
        spent = np.empty(0) if after is None else after.payments
        found = spend_in_order(offers, selected, turn, money, spent)
        selected &= ~found.skipped
        steps = {"step": found.step, "skipped": found.skipped, "money": money}
    elif after is not None or order != BY_VALUE or money is not None:
        raise InputError("argument 'payments'", f"{rule!r} offers in no order", remedy="pay 'while-it-lasts'")
    chances = random_chances(certificate)
    if chances is not None:
        found_chance = chances.at_report(rows_of(certificate, batch.owners), batch.reports)
        steps["chance"] = np.where(selected, found_chance, 0.0)
    return Outcome(
        certificate=certificate,
        owner_ids=offers.owner_ids,
        epsilon=offers.epsilon,
        thresholds=offers.thresholds,
        selected=selected,
        payments=payments_of(certificate, rule, offers, selected, batch.owners),
        rule=rule,
        owners=batch.owners,
        batch=np.ones(batch.owners.size, dtype=np.int64),
        **steps,
    )


def _check_after(after: Outcome | None, certificate: Certificate, owners: Indices) -> None:
    """Refuse what cannot have been bought before this batch."""
    if after is None:
        return
    where = "argument 'after'"
    if not isinstance(after, Outcome) or after.rule != WHILE_IT_LASTS.name:
        raise InputError(
            where, "must be an Outcome of the rule 'while-it-lasts'", remedy="give what `procure` returned"
        )
    if check_certificate(after.certificate).fingerprint != certificate.fingerprint:
        raise InputError(where, "must be of the same certificate", remedy="give what was bought under it")
    again = np.isin(owners, after.owners)
    if again.any():
        name = certificate.solution.market.expand().owner_ids[owners[np.argmax(again)]]
        raise InputError(where, "holds an owner of this batch", value=name, remedy="offer to each owner once")
