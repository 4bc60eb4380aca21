"""Acceptance and expected payment of each owner's offer, in balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from smqopt.numeric import Ball, Indices
from smqopt.verification.enclosures._curve import Curve
from smqopt.verification.proof._case import Case


@dataclass(frozen=True, eq=False)
class OfferEnclosures:
    """Balls by row of the market, but for owners whom another stands for."""

    cdf: dict[int, Ball]
    """F at her threshold."""
    acceptance: dict[int, Ball]
    """q."""
    spend: dict[int, Ball]
    """b, in currency, a row of the market counting once."""
    ends: dict[int, tuple[Ball, ...]]
    """Her acceptances of the prices of a lottery; 0 where one is no offer."""


def enclose_offers(case: Case, curves: Sequence[Curve]) -> OfferEnclosures:
    """Enclose the offers of a solution.

    Parameters
    ----------
    case
        The solution.
    curves
        The curves of its parts, at the precision of the context.
    """
    solution, market = case.solution, case.solution.market
    drawn, found = solution.lottery, OfferEnclosures({}, {}, {}, {})
    if drawn is not None:
        number = np.full(market.n, -1, dtype=np.intp)
        number[drawn.owner] = np.arange(drawn.owner.size)
    for part, curve in zip(case.parts, curves, strict=True):

        def cdf(owner: Indices, place: Indices, theta: np.ndarray, curve: Curve = curve) -> list[Ball]:
            low, high = market.low[owner], market.high[owner]
            return curve.acceptances(place, np.minimum(theta, high), low, high)  # F is 1 above a support

        thetas, offered = solution.thresholds[part.owner], (solution.acceptance[part.owner] > 0).tolist()
        known = cdf(part.owner, part.place, thetas)
        for i, theta, F, is_offered in zip(part.owner.tolist(), thetas.tolist(), known, offered, strict=True):
            found.cdf[i] = F
            found.acceptance[i] = F if is_offered else arb(0)
            found.spend[i] = theta * found.acceptance[i]
        if drawn is None:
            continue
        lot = number[part.owner]
        at = np.flatnonzero(lot >= 0)
        owner, place, k = part.owner[at], part.place[at], lot[at]
        sides = zip(drawn.prices[k].T, drawn.acceptances[k].T, strict=True)
        every = [
            [F if q > 0 else arb(0) for F, q in zip(cdf(owner, place, theta), claimed.tolist(), strict=True)]
            for theta, claimed in sides
        ]
        lots = zip(*every, strict=True), drawn.prices[k].tolist(), drawn.probabilities[k].tolist()
        for i, rest, ends, prices, shares in zip(owner.tolist(), drawn.likeliest[k].tolist(), *lots, strict=True):
            chances = [*map(arb, shares)]
            chances[rest] = 1 - sum(chances[:rest] + chances[rest + 1 :], arb(0))
            found.ends[i] = ends
            found.acceptance[i] = sum((p * F for p, F in zip(chances, ends, strict=True)), arb(0))
            found.spend[i] = sum((p * (t * F) for p, t, F in zip(chances, prices, ends, strict=True)), arb(0))
    return found
