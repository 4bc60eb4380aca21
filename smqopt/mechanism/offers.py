"""What Algorithm 1 posts: one line an owner, rows repeated by their multiplicity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.verification.certificate import Certificate

__all__ = ["Offers", "posted_offers"]

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


def posted_offers(certificate: Certificate) -> Offers:
    """Lay the certified thresholds out owner by owner; the k-th of the alike owners of one row is named `id#k`."""
    solution = certificate.solution
    market = solution.market.expanded()
    thresholds, offered = solution.thresholds, solution.offered
    if solution.market.multiplicity is not None:
        thresholds = np.repeat(thresholds, solution.market.multiplicity)
        offered = np.repeat(offered, solution.market.multiplicity)
    return Offers(market.owner_ids, market.epsilon, thresholds, offered)
