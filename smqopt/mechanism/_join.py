"""Batches of one purchase put together, so that nobody is bought twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import CertificateError, InputError
from smqopt.mechanism._certificate_gate import check_certificate
from smqopt.mechanism._offers import posted_offers, recover_offers
from smqopt.mechanism._outcome import Outcome
from smqopt.mechanism.payments._payment_rules import EX_POST_BUDGET, WHILE_IT_LASTS
from smqopt.mechanism.payments._while_it_lasts import spend_in_order
from smqopt.numeric import Indices, exact_sum


def join_outcomes(outcomes: Sequence[Outcome]) -> Outcome:
    """Put the outcomes of batches together, in the order of the market.

    Payments stay what they are. Posted payments together cost in expectation what their owners are
    expected to cost; those of the rule "ex-post-budget" cost at most that. Both are at most the
    budget, as no owner counts twice.

    Parameters
    ----------
    outcomes
        At least one; all of one certificate and of one payment rule, without an owner in two of
        them.

    Raises
    ------
    UncertifiedError
        If the certificate is not valid.
    InputError
        If there is no outcome, certificates or rules differ, or an owner is in two of them.
    CertificateError
        If payments of the rule "ex-post-budget" add up to more than the budget; their rounding
        excludes that.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])
    >>> certificate = smq.verify(smq.solve(market, budget=0.75))
    >>> monday = smq.procure(certificate, [0.4, 0.9], owner_ids=["cy", "ann"])
    >>> tuesday = smq.procure(certificate, [0.1], owner_ids=["bo"])
    >>> both = join_outcomes([monday, tuesday])
    >>> both.owner_ids, both.selected.tolist(), both.batch.tolist()
    (('ann', 'bo', 'cy'), [False, True, True], [1, 2, 1])
    """
    where = "argument 'outcomes'"
    parts = tuple(outcomes)
    if not parts or not all(isinstance(part, Outcome) for part in parts):
        raise InputError(where, "must hold outcomes", value=len(parts), remedy="give what `procure` returns")
    first = parts[0]
    for k, part in enumerate(parts):
        check_certificate(part.certificate)
        if part.certificate.fingerprint != first.certificate.fingerprint:
            raise InputError(f"{where}, entry {k + 1}", "must be of one certificate", remedy="join like with like")
        if part.rule != first.rule:
            raise InputError(
                f"{where}, entry {k + 1}",
                f"must pay by the rule {first.rule!r}",
                value=part.rule,
                remedy="procure again",
            )
    owners = np.concatenate([part.owners for part in parts])
    order = np.argsort(owners, kind="stable")
    twice = np.flatnonzero(np.diff(owners[order]) == 0)
    ids = [name for part in parts for name in part.owner_ids]
    if twice.size:
        raise InputError(
            where, "must not hold an owner twice", value=ids[order[twice[0]]], remedy="buy from each owner once"
        )
    batches = []
    last = 0
    for part in parts:
        batches.append(part.batch + last)
        last += int(part.batch.max())
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])[order]
        for name in ("epsilon", "thresholds", "selected", "payments")
    }
    budget = first.certificate.solution.budget
    if first.rule == EX_POST_BUDGET.name and exact_sum(np.append(columns["payments"], -budget)) > 0:
        raise CertificateError("payments", f"must add up to at most {budget!r}", remedy="report this market")
    if first.rule == WHILE_IT_LASTS.name:
        columns |= {
            name: np.concatenate([getattr(part, name) for part in parts])[order] for name in ("step", "skipped")
        }
        _check_one_after_the_other(parts, owners[order], np.concatenate(batches)[order], columns)
    if first.chance is not None:
        columns["chance"] = np.concatenate([part.chance for part in parts])[order]
    return Outcome(
        certificate=first.certificate,
        owner_ids=tuple(ids[i] for i in order.tolist()),
        rule=first.rule,
        owners=owners[order],
        batch=np.concatenate(batches)[order],
        money=first.money,
        **columns,
    )


def _check_one_after_the_other(
    parts: Sequence[Outcome], owners: Indices, batch: NDArray[np.int64], columns: Mapping[str, Any]
) -> None:
    """Refuse batches that were not paid out of the same money, in this order."""
    where, certificate, money = "argument 'outcomes'", parts[0].certificate, parts[0].money
    if any(part.money != money for part in parts):
        raise InputError(where, "must be paid out of the same money", remedy="procure again")
    assert money is not None  # noqa: S101 -- the rule holds it
    every = posted_offers(certificate)
    shown = every.thresholds.copy()
    shown[owners] = columns["thresholds"]
    offers = recover_offers(certificate, every, shown).take(owners)
    turn = np.lexsort((columns["step"], batch))
    found = spend_in_order(offers, columns["selected"], turn, money, np.empty(0))
    if np.any(found.skipped != columns["skipped"]) or np.any(found.skipped & columns["selected"]):
        raise InputError(
            where,
            f"must have been bought one after the other, in this order, out of {money!r}",
            remedy="give `procure` what was bought before, as `after`, and join in that order",
        )
