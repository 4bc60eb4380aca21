"""From acceptances to offers: a threshold, or on a flat piece of an ironed cost curve a lottery between its two ends."""

from __future__ import annotations

import numpy as np

from smqopt.market._lottery import Lottery
from smqopt.market._market import Market
from smqopt.numeric import Floats
from smqopt.valuation import FlatPieces, Ironed, iron


def offers_from_acceptance(market: Market, acceptance: Floats) -> tuple[Floats, Floats, Lottery | None]:
    """Give offers with these expected acceptances, each at the least expected payment: on the hull of the cost curve.

    Parameters
    ----------
    market
        n owners.
    acceptance
        Shape (n,), in [0, 1].

    Returns
    -------
    thresholds
        Shape (n,), in currency; the lower of the two for an owner who draws, θ̲ where there is no
        offer.
    acceptance
        F at the thresholds, 0 where there is no offer, and the expectation for an owner who draws;
        shape (n,).
    lottery
        Of the owners who draw; None where nobody does.
    """
    thresholds = market.valuation.ppf(acceptance)
    probable = np.where(acceptance > 0, market.valuation.cdf(thresholds), 0.0)
    found = []
    for law, index in market.valuation.parts():
        answer = iron(law)
        if isinstance(answer, Ironed):
            rows = np.arange(market.n)[index]
            at, piece = answer.inside_pieces(acceptance[rows])
            columns = (getattr(answer.pieces, name)[piece] for name in FlatPieces.columns())
            found.append(FlatPieces(rows[at], *columns))
    rows = np.concatenate([np.empty(0, dtype=np.intp), *(pieces.owner for pieces in found)])
    if not rows.size:
        return thresholds, probable, None
    order = np.argsort(rows)
    low, high, low_q, high_q, _ = (
        np.concatenate([getattr(pieces, name) for pieces in found])[order] for name in FlatPieces.columns()
    )
    rows = rows[order]
    chance_of_low = np.clip((high_q - acceptance[rows]) / (high_q - low_q), 0.0, 1.0)
    lottery = Lottery(rows, low, high, low_q, high_q, chance_of_low)
    thresholds[rows], probable[rows] = low, lottery.acceptance
    return thresholds, probable, lottery
