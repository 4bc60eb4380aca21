"""Algorithm 1: post a threshold to each owner, buy from those who report no more, pay them the threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import PRIVATE, InputError, nearest
from smqopt.mechanism.certified import certified
from smqopt.mechanism.offers import posted_offers
from smqopt.mechanism.outcome import Outcome
from smqopt.program.market import Market
from smqopt.verification.certificate import Certificate

__all__ = ["PAYMENT_RULES", "procure"]

Floats = NDArray[np.float64]

PAYMENT_RULES = ("posted",)
"""The ways to pay; "posted" pays each bought owner her threshold."""


def procure(
    certificate: Certificate,
    reported_valuations: ArrayLike,
    payments: str = "posted",
    rng: np.random.Generator | None = None,
    *,
    market: Market | None = None,
    budget: float | None = None,
) -> Outcome:
    """Buy the entries of the owners whose reports are at most their certified thresholds (Algorithm 1, `qi` and `pi`).

    Owner i is bought exactly when she has an offer (her acceptance probability is positive) and ψ_i ≤ θ_i*. She is
    paid θ_i*, whatever she reported, so to report her true valuation is a dominant strategy. An owner without an offer
    is never bought, whatever she reports, also where her law has an atom at the low end of its support. A report above
    the support is allowed; such an owner is not bought.

    Payments meet the budget in expectation over the valuations (`eqn:BF`); those of one run may exceed it.

    Parameters
    ----------
    certificate
        The valid certificate of the thresholds.
    reported_valuations
        ψ_i ≥ 0, shape (N,), in currency; N counts owners: a row of multiplicity m stands for m owners, side by side.
        Private: no error shows a report, and the outcome does not hold them.
    payments
        The payment rule; "posted".
    rng
        Draws the thresholds of owners with a lottery, before any report is looked at; None takes a generator seeded from the operating system.
    market, budget
        What is in hand; a certificate of another market or another budget is refused. By default what the certificate is of.

    Raises
    ------
    UncertifiedError
        If the certificate is not a `Certificate`, not valid, changed after it was judged, or not of what is in hand.
    InputError
        If reports have another shape or are not finite numbers ≥ 0, or the payment rule is unknown.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([1.0, 1.0, 0.0], smq.Uniform(0, 1))
    >>> certificate = smq.verify(smq.solve(market, budget=0.5))
    >>> outcome = procure(certificate, [0.25, 0.75, 0.0])
    >>> outcome.selected.tolist(), outcome.payments.round(12).tolist()
    ([True, False, False], [0.5, 0.0, 0.0])
    """
    certified(certificate, market=market, budget=budget)
    if payments not in PAYMENT_RULES:
        raise InputError(
            "argument 'payments'",
            "must name a payment rule",
            value=payments,
            remedy=nearest(str(payments), PAYMENT_RULES),
        )
    offers = posted_offers(certificate, rng)
    reports = _checked(reported_valuations, offers.owner_ids)
    selected = offers.offered & (reports <= offers.thresholds)
    return Outcome(
        certificate=certificate,
        owner_ids=offers.owner_ids,
        epsilon=offers.epsilon,
        thresholds=offers.thresholds,
        selected=selected,
        payments=np.where(selected, offers.thresholds, 0.0),
        rule=payments,
    )


def _checked(reported_valuations: ArrayLike, owner_ids: Sequence[str]) -> Floats:
    where = "argument 'reported_valuations'"
    reports = np.asarray(reported_valuations)
    if reports.shape != (len(owner_ids),):
        raise InputError(
            where, f"must have shape ({len(owner_ids)},)", value=reports.shape, remedy="give one report an owner"
        )
    if reports.dtype.kind not in "iuf":
        raise InputError(where, "must hold numbers", value=str(reports.dtype), remedy="convert the column to numbers")
    bad = np.flatnonzero(~((reports >= 0) & (reports < np.inf)))
    if bad.size:
        raise InputError(
            f"{where}, owner {owner_ids[bad[0]]!r}",
            "must be a finite number ≥ 0",
            value=PRIVATE,
            remedy="mend her report",
        )
    return reports.astype(np.float64)
