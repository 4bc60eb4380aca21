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
    """Balls for each owner of the market; None for one whom another stands for."""

    cdf: list[Ball | None]
    """F at her threshold."""
    acceptance: list[Ball]
    """q."""
    spend: list[Ball]
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
    n, drawn = market.n, solution.lottery
    found = OfferEnclosures([None] * n, [None] * n, [None] * n, {})
    is_offered = (solution.acceptance > 0).tolist()
    number = np.full(n, -1, dtype=np.intp)
    if drawn is not None:
        number[drawn.owner] = np.arange(drawn.owner.size)
    for part, curve in zip(case.parts, curves, strict=True):

        def cdf(owner: Indices, place: Indices, theta: np.ndarray, curve: Curve = curve) -> list[Ball]:
            low, high = market.low[owner], market.high[owner]
            return curve.acceptances(place, np.minimum(theta, high), low, high)  # F is 1 above a support

        thetas = solution.thresholds[part.owner]
        for i, theta, F in zip(part.owner.tolist(), thetas.tolist(), cdf(part.owner, part.place, thetas), strict=True):
            found.cdf[i] = F
            found.acceptance[i] = F if is_offered[i] else arb(0)
            found.spend[i] = theta * found.acceptance[i]
        lot = number[part.owner]
        at = np.flatnonzero(lot >= 0)
        if drawn is None or not at.size:
            continue
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
