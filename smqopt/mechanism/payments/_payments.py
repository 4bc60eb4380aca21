"""What each owner of a batch is paid: of public things and of who was bought."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.mechanism._offers import PostedOffers, random_chances
from smqopt.mechanism.payments._ex_post_budget import ex_post_budget_payments
from smqopt.mechanism.payments._payment_rules import PAYMENT_RULES, POSTED, WHILE_IT_LASTS
from smqopt.numeric import Floats, exact_sum
from smqopt.verification import Certificate


def checked_rule(name: object, where: str = "argument 'payments'") -> str:
    """Return the name of a payment rule, if there is such a rule.

    Raises
    ------
    InputError
        If there is no such rule.
    """
    if not isinstance(name, str) or name not in PAYMENT_RULES:
        raise InputError(where, "must name a payment rule", value=name, remedy=nearest(str(name), PAYMENT_RULES))
    return name


def payments_of(
    certificate: Certificate, rule: str, offers: PostedOffers, selected: NDArray[np.bool_], owners: NDArray[np.intp]
) -> Floats:
    """Return p_i, shape (k,), in currency.

    Parameters
    ----------
    certificate
        A valid one.
    rule
        The name of a payment rule.
    offers
        The offers to the owners of one batch, as drawn.
    selected
        Who of them was bought, shape (k,).
    owners
        Their positions in the market, shape (k,). A batch of the whole market may be paid the
        budget; any other one what it is expected to cost, Σ E P_i, so that batches together keep
        within the budget.

    Raises
    ------
    InputError
        If the rule cannot be kept for this batch.
    """
    posted = np.where(selected, offers.thresholds, 0.0)
    if rule in (POSTED.name, WHILE_IT_LASTS.name):
        return posted
    solution = certificate.solution
    whole = owners.size == solution.market.population
    limit = solution.budget if whole else exact_sum(offers.expected)
    return ex_post_budget_payments(posted, offers.expected, _largest_offer(certificate, offers, owners), limit)


def _largest_offer(certificate: Certificate, offers: PostedOffers, owners: NDArray[np.intp]) -> float:
    """Return the largest threshold that a batch's first owner may be posted."""
    solution = certificate.solution
    counts = solution.market.multiplicity
    position = int(owners[0])
    row = position if counts is None else int(np.searchsorted(np.cumsum(counts), position, side="right"))
    chances = random_chances(certificate)
    if chances is not None:
        return float(chances.prices[chances.table.of_row[row], -1])
    lottery = solution.lottery
    if lottery is not None and row in lottery.owner:
        k = int(np.searchsorted(lottery.owner, row))
        posted = lottery.prices[k][(lottery.acceptances[k] > 0) & (lottery.probabilities[k] > 0)]
        return float(posted.max(initial=0.0))
    return float(offers.thresholds[0]) if offers.offered[0] else 0.0
