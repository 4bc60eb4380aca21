"""What Algorithm 1 posts: one line an owner, rows repeated by their multiplicity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.program.lottery import Lottery
from smqopt.verification.certificate import Certificate

__all__ = ["Offers", "posted_offers", "redrawn"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Offers:
    """The certified thresholds, owner by owner (N owners)."""

    owner_ids: tuple[str, ...]
    epsilon: Floats
    """ε_i, shape (N,)."""
    thresholds: Floats
    """θ_i*, shape (N,), in currency; θ̲_i where there is no offer."""
    offered: NDArray[np.bool_]
    """Who gets an offer: owners with positive acceptance, shape (N,)."""


def posted_offers(certificate: Certificate, rng: np.random.Generator | None = None) -> Offers:
    """Lay the certified thresholds out owner by owner; the k-th of the alike owners of one row is named `id#k`.

    Where the solution holds lotteries, each of their owners draws one of her two thresholds, alike owners on their own. The draw does not
    look at reports, so truth stays dominant.

    Parameters
    ----------
    certificate
        A valid one.
    rng
        Draws the lotteries; None takes a generator seeded from the operating system.
    """
    solution = certificate.solution
    market = solution.market.expanded()
    count = solution.market.multiplicity
    rows = np.arange(market.n) if count is None else np.repeat(np.arange(solution.market.n), count)
    thresholds, offered = solution.thresholds[rows], solution.offered[rows]
    offers = Offers(market.owner_ids, market.epsilon, thresholds, offered)
    if solution.lottery is None:
        return offers
    owners, k = _lottery_places(certificate)
    generator = np.random.default_rng() if rng is None else rng
    return _drawn(
        offers, solution.lottery, owners, k, generator.random(owners.size) < solution.lottery.probability_of_low[k]
    )


def redrawn(certificate: Certificate, offers: Offers, thresholds: Floats) -> Offers:
    """Give the offers as they were drawn, from the thresholds that an outcome shows: low unless the upper threshold is shown."""
    lottery = certificate.solution.lottery
    if lottery is None:
        return offers
    owners, k = _lottery_places(certificate)
    return _drawn(offers, lottery, owners, k, thresholds[owners] != lottery.high[k])


def _lottery_places(certificate: Certificate) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give the owners who draw, and for each her place in the lottery."""
    solution = certificate.solution
    assert solution.lottery is not None  # noqa: S101
    count = solution.market.multiplicity
    place = np.full(solution.market.n, -1, dtype=np.intp)
    place[solution.lottery.owner] = np.arange(len(solution.lottery))
    by_owner = place if count is None else np.repeat(place, count)
    owners = np.flatnonzero(by_owner >= 0)
    return owners, by_owner[owners]


def _drawn(
    offers: Offers, lottery: Lottery, owners: NDArray[np.intp], k: NDArray[np.intp], low: NDArray[np.bool_]
) -> Offers:
    thresholds, offered = offers.thresholds.copy(), offers.offered.copy()
    thresholds[owners] = np.where(low, lottery.low[k], lottery.high[k])
    offered[owners] = np.where(low, lottery.low_acceptance[k], lottery.high_acceptance[k]) > 0
    return Offers(offers.owner_ids, offers.epsilon, thresholds, offered)
