"""Posted prices offered one owner after the other, while the money lasts.

Owners come in an order that no report changes. Who comes when the money left does not cover her
price is passed over: she gets no offer, whatever she reports. Everybody else is offered her posted
threshold, and is paid it if she sells. So

- the total is at most B in every case: a price is paid out of what is left, in exact arithmetic;
- nobody loses: who sells is paid her threshold, at least her report;
- truth is dominant: her price, and whether she gets it, depend on the order, the thresholds and the
  reports of those before her, never on her own.

What is given up are the interim payments: an owner may be passed over. What is bought all the same,
in the order by value, `smqopt.guaranteed_privacy` bounds from below. In random order one dear owner
amid cheap ones is served less often than 1 − 1/√(2πk) (Balkanski and Hartline 2016), k the budget
over the highest price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.mechanism._offers import PostedOffers, posted_offers
from smqopt.numeric import Floats
from smqopt.verification import Certificate

BY_VALUE = "value"
RANDOM = "random"
ORDERS = (BY_VALUE, RANDOM)
"""By ε_i/θ_i*, the most privacy for the money first, ties by a public seed; or at random."""


@dataclass(frozen=True, eq=False)
class Steps:
    """What happened to each owner of a batch, N owners."""

    step: NDArray[np.int64]
    """Her place in the order, from 1, shape (N,)."""
    skipped: NDArray[np.bool_]
    """Who was passed over: her price exceeded what was left, shape (N,)."""


def offer_order(offers: PostedOffers, order: str, public_seed: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the owners in the order in which they get offers, shape (N,).

    Parameters
    ----------
    offers
        To the owners of one batch, as drawn.
    order
        One of `ORDERS`.
    public_seed
        Breaks ties of the order by value.
    rng
        Draws the random order.

    Raises
    ------
    InputError
        If there is no such order.
    """
    if order not in ORDERS:
        raise InputError("argument 'order'", "is not known", value=order, remedy=nearest(str(order), ORDERS))
    n = len(offers.owner_ids)
    if order == RANDOM:
        return rng.permutation(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(offers.epsilon > 0, offers.epsilon / offers.thresholds, 0.0)
    return np.lexsort((np.random.default_rng(public_seed).permutation(n), -value))


def spend_in_order(
    offers: PostedOffers, willing: NDArray[np.bool_], order: NDArray[np.intp], budget: float, spent: Floats
) -> Steps:
    """Go through the owners, and pass over whom the money left does not cover.

    Parameters
    ----------
    offers
        To the owners of one batch, as drawn, N owners.
    willing
        Who has an offer, and reports no more than it, shape (N,).
    order
        Owners in the order of offers, shape (N,).
    budget
        B, in currency.
    spent
        Payments made before, in currency.
    """
    amounts = _whole_numbers([budget, *spent.tolist(), *offers.thresholds.tolist()])
    left = amounts[0] - sum(amounts[1 : 1 + spent.size])
    price = amounts[1 + spent.size :]
    skipped = np.zeros(willing.size, dtype=np.bool_)
    step = np.empty(willing.size, dtype=np.int64)
    step[order] = np.arange(1, willing.size + 1)
    for owner in order.tolist():
        if price[owner] > left:
            skipped[owner] = offers.offered[owner]
        elif willing[owner]:
            left -= price[owner]
    return Steps(step, skipped)


def simulate_purchase(
    certificate: Certificate, money: float, order: str, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw valuations, lotteries and the order; return who is bought, shape (N,).

    Parameters
    ----------
    certificate
        The valid certificate of the thresholds.
    money
        B in hand, in currency.
    order
        One of `ORDERS`.
    rng
        Draws everything.
    """
    offers = posted_offers(certificate, rng)
    market = certificate.solution.market.expand()
    willing = offers.offered & (market.valuation.sample(rng, market.n) <= offers.thresholds)
    turn = offer_order(offers, order, tie_breaker(certificate), rng)
    return willing & ~spend_in_order(offers, willing, turn, money, np.empty(0)).skipped


def tie_breaker(certificate: Certificate) -> int:
    """Return what breaks ties of the order by value: the fingerprint's start."""
    return int(certificate.fingerprint[:16], 16)


def _whole_numbers(amounts: list[float]) -> list[int]:
    """Return doubles as whole multiples of one power of two: their sums are exact."""
    parts = [math.frexp(amount) for amount in amounts]
    least = min((exponent for mantissa, exponent in parts if mantissa), default=0)
    return [int(mantissa * 2.0**53) << (exponent - least) if mantissa else 0 for mantissa, exponent in parts]
