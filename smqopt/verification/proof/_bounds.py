"""Bounds of acceptance in balls, and whether offers keep to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from smqopt.numeric import SIDE_ROW, Ball
from smqopt.verification.enclosures._curve import Curve
from smqopt.verification.proof._case import Case, Constraints
from smqopt.verification.proof._offer_enclosures import OfferEnclosures


@dataclass(frozen=True, eq=False)
class Limits:
    """Balls that hold the bounds of one row."""

    lowest: Ball
    """Of acceptance, whatever sets it."""
    highest: Ball
    at_floor: Ball
    """F at the lowest price; 0 where there is none, or where no offer is one."""
    at_ceiling: Ball
    """F at the highest price; 1 where there is none."""


def limits(case: Case, constraints: Constraints, curves: Sequence[Curve]) -> dict[int, Limits]:
    """Enclose the bounds of the rows that have any, or whose requirement was shifted.

    Prices bound what is offered. No offer is always open, and all that a ceiling below a support
    leaves.
    """
    market, bounds = case.solution.market, constraints.bounds
    bounded = bounds.of_acceptance | (case.tangent_points.shift != 0)
    found: dict[int, Limits] = {}
    place_of = np.zeros(market.n, dtype=np.intp)
    for part, curve in zip(case.parts, curves, strict=True):
        place_of[part.owner] = part.place
        rows = np.concatenate([terms.row for terms in part.terms])
        rows = rows[bounded[rows]]
        owner = case.first[rows]
        low, high = market.low[owner], market.high[owner]
        floor, ceiling = bounds.floor[rows], bounds.ceiling[rows]
        at = [curve.acceptances(place_of[owner], np.clip(price, low, high), low, high) for price in (floor, ceiling)]
        free, none = (floor <= low).tolist(), (ceiling < low).tolist()
        whole = (ceiling == np.inf).tolist()
        least, most = bounds.least[rows].tolist(), bounds.most[rows].tolist()
        for k, (row, of_floor, of_ceiling) in enumerate(zip(rows.tolist(), *at, strict=True)):
            bottom = arb(0) if free[k] else of_floor
            top = arb(0) if none[k] else arb(1) if whole[k] else of_ceiling
            found[row] = Limits(arb(least[k]), arb(most[k]).min(top), bottom, top)
    return found


def keep_to(case: Case, constraints: Constraints, of_rows: dict[int, Limits], offers: OfferEnclosures) -> bool | None:
    """Return whether acceptances keep to their bounds, within the tolerance."""
    row = constraints.statement.expand(np.arange(case.first.size)).tolist()
    decided: bool | None = True
    for owner, k in enumerate(row):
        if k not in of_rows:
            continue
        own = of_rows[k]
        pairs = [(offers.acceptance[owner], own.lowest, own.highest)]
        posted = offers.ends.get(owner, (offers.acceptance[owner],))
        pairs += [(q, own.at_floor, own.at_ceiling) for q in posted if not q.is_zero()]  # no offer has no price
        for q, lowest, highest in pairs:
            outside = (lowest - q).max(q - highest)
            if outside > SIDE_ROW.value:
                return False
            if not outside <= SIDE_ROW.value:
                decided = None
    return decided
