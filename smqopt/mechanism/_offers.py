"""What Algorithm 1 posts: one line an owner, rows repeated by their multiplicity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Lottery
from smqopt.numeric import Floats
from smqopt.verification import Certificate

_LOTTERY_ROUNDING = 4 * 2.0**-53
"""Relative, a price; above what the roundings of a lottery's expected payment can lift it."""


@dataclass(frozen=True, eq=False)
class PostedOffers:
    """The certified thresholds, owner by owner (N owners)."""

    owner_ids: tuple[str, ...]
    epsilon: Floats
    """ε_i, shape (N,)."""
    thresholds: Floats
    """θ_i*, shape (N,), in currency; θ̲_i where there is no offer."""
    offered: NDArray[np.bool_]
    """Who gets an offer: owners with positive acceptance, shape (N,)."""
    acceptance: Floats
    """F_i(θ_i*), shape (N,); over the draw of her threshold where it is drawn."""
    expected: Floats
    """E P_i, the expected posted payment, over the draw too; rounded down, shape (N,), in currency.
    """

    def take(self, owners: NDArray[np.intp]) -> PostedOffers:
        """Return the offers of some owners, by their positions."""
        ids = self.owner_ids
        return PostedOffers(
            tuple(ids[i] for i in owners.tolist()),
            *(getattr(self, name)[owners] for name in ("epsilon", "thresholds", "offered", "acceptance", "expected")),
        )


def posted_offers(certificate: Certificate, rng: np.random.Generator | None = None) -> PostedOffers:
    """Lay the certified thresholds out owner by owner.

    The k-th of the alike owners of one row is named `id#k`.

    Where the solution holds lotteries, each of their owners draws one of her thresholds, alike
    owners on their own. The draw does not look at reports, so truth stays dominant.

    Parameters
    ----------
    certificate
        A valid one.
    rng
        Draws the lotteries; None takes a generator seeded from the operating system.
    """
    solution = certificate.solution
    market = solution.market.expand()
    count = solution.market.multiplicity
    rows = np.arange(market.n) if count is None else np.repeat(np.arange(solution.market.n), count)
    expected = _expected_payments(certificate)[rows]
    thresholds, offered, acceptance = solution.thresholds[rows], solution.offered[rows], solution.acceptance[rows]
    offers = PostedOffers(market.owner_ids, market.epsilon, thresholds, offered, acceptance, expected)
    if solution.lottery is None:
        return offers
    owners, k = _lottery_places(certificate)
    generator = np.random.default_rng() if rng is None else rng
    return _with_draws(offers, solution.lottery, owners, k, solution.lottery.draw(k, generator.random(owners.size)))


def recover_offers(certificate: Certificate, offers: PostedOffers, thresholds: Floats) -> PostedOffers:
    """Return the offers as they were drawn, from an outcome's thresholds.

    The lowest one unless another is shown.
    """
    lottery = certificate.solution.lottery
    if lottery is None:
        return offers
    owners, k = _lottery_places(certificate)
    same = lottery.prices[k, ::-1] == thresholds[owners, np.newaxis]
    drawn = np.where(same.any(axis=1), same.shape[1] - 1 - np.argmax(same, axis=1), 0)
    return _with_draws(offers, lottery, owners, k, drawn)


def _expected_payments(certificate: Certificate) -> Floats:
    """Return θ_i* F_i(θ_i*) of each row, rounded down, shape (n,)."""
    solution = certificate.solution
    product = solution.thresholds * solution.acceptance
    expected = np.where(solution.acceptance == 1, product, np.nextafter(product, 0.0))
    if solution.lottery is not None:
        drawn = solution.lottery
        expected[drawn.owner] = drawn.spend * (1.0 - _LOTTERY_ROUNDING * drawn.prices.shape[1])
    return expected


def _lottery_places(certificate: Certificate) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the owners who draw, and for each her place in the lottery."""
    solution = certificate.solution
    assert solution.lottery is not None  # noqa: S101
    count = solution.market.multiplicity
    place = np.full(solution.market.n, -1, dtype=np.intp)
    place[solution.lottery.owner] = np.arange(len(solution.lottery))
    by_owner = place if count is None else np.repeat(place, count)
    owners = np.flatnonzero(by_owner >= 0)
    return owners, by_owner[owners]


def _with_draws(
    offers: PostedOffers, lottery: Lottery, owners: NDArray[np.intp], k: NDArray[np.intp], column: NDArray[np.intp]
) -> PostedOffers:
    thresholds, offered = offers.thresholds.copy(), offers.offered.copy()
    thresholds[owners] = lottery.prices[k, column]
    offered[owners] = lottery.acceptances[k, column] > 0
    return PostedOffers(offers.owner_ids, offers.epsilon, thresholds, offered, offers.acceptance, offers.expected)
