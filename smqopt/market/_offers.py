"""Offers: thresholds, acceptances, and who draws between two thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.market._lottery import Lottery
from smqopt.market._market import Market
from smqopt.numeric import Floats
from smqopt.valuation import FlatPieces, Ironed, iron


@dataclass(frozen=True, eq=False)
class Offers:
    """What n owners are offered."""

    thresholds: Floats
    """θ, shape (n,), in currency; the lower one for an owner who draws, θ̲ where there is no
    offer."""
    acceptance: Floats
    """Shape (n,); the expectation for an owner who draws, 0 where there is no offer."""
    lottery: Lottery | None = None
    """Of the owners who draw; None where nobody does."""

    @property
    def spend(self) -> Floats:
        """Expected payments, shape (n,), in currency."""
        spend = self.thresholds * self.acceptance
        if self.lottery is not None:
            spend[self.lottery.owner] = self.lottery.spend
        return spend


def offers_from_acceptance(market: Market, acceptance: Floats) -> Offers:
    """Offer these acceptances at the least expected payment.

    On the hull of the cost curve.

    Parameters
    ----------
    market
        n owners.
    acceptance
        Shape (n,), in [0, 1].
    """
    thresholds = market.valuation.ppf(acceptance)
    q = np.where(acceptance > 0, market.valuation.cdf(thresholds), 0.0)
    found = []
    for law, index in market.valuation.parts():
        answer = iron(law)
        if isinstance(answer, Ironed):
            on, rows = answer.around(acceptance[index]), np.arange(market.n)[index]
            found.append(FlatPieces(rows[on.owner], *(getattr(on, name) for name in FlatPieces.columns())))
    return offers_within_pieces(thresholds, q, acceptance, joined_pieces(found))


def offers_within_pieces(thresholds: Floats, q: Floats, acceptance: Floats, pieces: FlatPieces) -> Offers:
    """Let owners inside flat pieces draw what gives them their acceptance; overwrites."""
    if not len(pieces):
        return Offers(thresholds, q)
    rows = pieces.owner
    chance = (acceptance[rows] - pieces.low_acceptance) / (pieces.high_acceptance - pieces.low_acceptance)
    lottery = Lottery.from_pieces(pieces, np.clip(chance, 0.0, 1.0))
    thresholds[rows], q[rows] = lottery.low, lottery.acceptance
    return Offers(thresholds, q, lottery)


def joined_pieces(found: list[FlatPieces]) -> FlatPieces:
    """Put the pieces of several families of laws together, by owner."""
    if not found:
        return FlatPieces.none()
    owner = np.concatenate([one.owner for one in found])
    order = np.argsort(owner, kind="stable")
    columns = (np.concatenate([getattr(one, name) for one in found])[order] for name in FlatPieces.columns())
    return FlatPieces(owner[order], *columns)
