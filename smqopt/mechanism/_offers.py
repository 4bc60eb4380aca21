"""What Algorithm 1 posts: one line an owner, rows repeated by their multiplicity."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Chances, Lottery, WorstCaseError
from smqopt.numeric import BUDGET_SHORTFALL, RECHECK, Floats
from smqopt.verification import Certificate

_UNIT = 2.0**-53
_LOTTERY_ROUNDING = 4 * _UNIT
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

    Where the solution holds random prices, every owner draws hers.

    Where it holds lotteries, each of their owners draws one of her thresholds, alike
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
    chances = random_chances(certificate)
    if chances is not None:
        thresholds, offered = chances.draw(rows.astype(np.intp), _uniform(rows.size, rng))
    offers = PostedOffers(market.owner_ids, market.epsilon, thresholds, offered, acceptance, expected)
    if solution.lottery is None:
        return offers
    owners, k = _lottery_places(certificate)
    generator = np.random.default_rng() if rng is None else rng
    return _with_draws(offers, solution.lottery, owners, k, solution.lottery.draw(k, generator))


def recover_offers(certificate: Certificate, offers: PostedOffers, thresholds: Floats) -> PostedOffers:
    """Return the offers as they were drawn, from an outcome's thresholds.

    The lowest one unless another is shown.
    """
    chances = random_chances(certificate)
    if chances is not None:
        return _recover_draws(certificate, chances, offers, thresholds)
    lottery = certificate.solution.lottery
    if lottery is None:
        return offers
    owners, k = _lottery_places(certificate)
    same = lottery.prices[k, ::-1] == thresholds[owners, np.newaxis]
    drawn = np.where(same.any(axis=1), same.shape[1] - 1 - np.argmax(same, axis=1), 0)
    return _with_draws(offers, lottery, owners, k, drawn)


def random_chances(certificate: Certificate) -> Chances | None:
    """Return the chances of random prices, by rows; None where prices are posted."""
    solution = certificate.solution
    if solution.random_prices is None or not isinstance(solution.objective, WorstCaseError):
        return None
    return solution.random_prices.on(solution.market, solution.objective)


def rows_of(certificate: Certificate, owners: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the market's rows of owners, by their positions."""
    counts = certificate.solution.market.multiplicity
    return owners if counts is None else np.repeat(np.arange(counts.size, dtype=np.intp), counts)[owners]


def wrong_chances(
    certificate: Certificate,
    owners: NDArray[np.intp],
    thresholds: Floats,
    selected: NDArray[np.bool_],
    chance: Floats,
) -> NDArray[np.bool_]:
    """Return whose chance cannot be that of a report at most her drawn price."""
    chances, rows = random_chances(certificate), rows_of(certificate, owners)
    assert chances is not None  # noqa: S101
    least = chances.at_report(rows, thresholds)
    most = chances.in_cell(rows, np.zeros(rows.size, dtype=np.intp))
    near = 1.0 + RECHECK.value
    fits = (chance >= least / near) & (chance <= np.minimum(most * near, 1.0))
    return np.asarray(np.where(selected, ~fits, chance != 0))


def _uniform(size: int, rng: np.random.Generator | None) -> Floats:
    """Draw multiples of 2⁻⁵³ in [0, 1); without `rng` from the secure source."""
    if rng is not None:
        return rng.random(size)
    whole = np.frombuffer(secrets.token_bytes(8 * size), dtype="<u8") >> np.uint64(11)
    return whole.astype(np.float64) * _UNIT


def _recover_draws(
    certificate: Certificate, chances: Chances, offers: PostedOffers, thresholds: Floats
) -> PostedOffers:
    """Take shown prices that are on the menus for the drawn ones; else NaN."""
    rows = rows_of(certificate, np.arange(thresholds.size, dtype=np.intp))
    at = np.where(np.isfinite(thresholds), thresholds, -1.0)
    cell, chance = chances.cell_of(rows, at)
    on_menu = chances.prices[chances.table.of_row[rows], cell] == at
    return replace(offers, thresholds=np.where(on_menu, at, np.nan), offered=on_menu & (chance > 0))


def _expected_payments(certificate: Certificate) -> Floats:
    """Return θ_i* F_i(θ_i*) of each row, rounded down, shape (n,)."""
    solution = certificate.solution
    if solution.random_prices is not None:
        return solution.spend * (1.0 - BUDGET_SHORTFALL.value)
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
