"""A law as a buyer sees it who may post prices from a list alone.

Valuations rounded up to the list.

Who values her entry at θ sells at the listed price next above, so F rises at listed prices only.
Mass above the top of the list is never bought: F ends at F(top), which may be below 1, and
acceptance must be kept up to there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.ironing._lower_hull import lower_hull
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._verdict import CdfVerdict, Undecided, Verdict

_MOST_PAIRS = 1 << 26
"""Owners times prices beyond this do not fit into memory."""


@final
class PriceListed(Valuation):
    """The law of valuations rounded up to a list of prices, common or one an owner.

    A price is on an owner's list where she might accept it, F(price) > 0, and no cheaper one is
    accepted as often; the first one above her θ̄ she accepts for sure. The cost curve has the
    points (0, 0) and (F(p), p F(p)) for each of them, and lotteries reach what lies on their convex
    hull.

    Parameters
    ----------
    law
        The law of the valuations themselves.
    prices
        The list, increasing, in currency; shape (k,).

    Raises
    ------
    InputError
        If there are more than 2²⁶ pairs of an owner and a price.

    Examples
    --------
    >>> from smqopt import Uniform
    >>> F = PriceListed(Uniform(0, 1), [0.25, 0.5])
    >>> F.cdf([0.2, 0.3, 0.9]).tolist(), F.ppf([0.1, 0.5]).tolist(), float(F.high)
    ([0.0, 0.25, 0.5], [0.25, 0.5], 0.5)
    """

    name = "price-listed"
    table_pays = False

    def __init__(self, law: Valuation, prices: ArrayLike) -> None:
        self.law = law
        self.prices: Floats = np.asarray(prices, dtype=np.float64)
        if self.prices.size * (law.size or 1) > _MOST_PAIRS:
            raise InputError(
                "price list",
                f"must leave at most {_MOST_PAIRS} pairs of an owner and a price",
                value=self.prices.size * (law.size or 1),
                remedy="take a shorter list",
            )
        self.low = law.low
        last = float(self.prices[-1]) if self.prices.size else -np.inf
        top = np.maximum(last, np.asarray(law.low, dtype=np.float64))
        if self.prices.size:  # a dearer price that nobody more accepts is no use
            top = np.maximum(self._ppf(law.cdf(top)), np.asarray(law.low, dtype=np.float64))
        self.high: float | Floats = top if law.size is not None else float(top)

    def _size(self) -> int | None:
        return self.law.size

    def _cdf(self, theta: Floats) -> Floats:
        place, price = self._listed_up_to(theta)
        return np.where(place >= 0, self.law.cdf(price), 0.0)

    def _pdf(self, theta: Floats) -> Floats:
        return np.where(self._is_listed(theta), np.inf, 0.0)

    def _ppf(self, q: Floats) -> Floats:
        """Find the least listed price with F ≥ q; the top of the list beyond F(top)."""
        theta = self.law.ppf(q)
        if self.prices.size == 0:
            return np.broadcast_to(self.low, theta.shape)
        place = np.minimum(np.searchsorted(self.prices, theta, side="left"), self.prices.size - 1)
        before = self.prices[np.maximum(place - 1, 0)]
        # F⁻¹(F(p)) may exceed p by rounding
        return self.prices[np.where((place > 0) & (self.law.cdf(before) >= q), place - 1, place)]

    def _virtual_cost(self, theta: Floats) -> Floats:
        return np.where(self._is_listed(theta) | (theta == self.low), theta, np.inf)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        place, price = self._listed_up_to(v)
        return np.where(place >= 0, price, self.low)

    def flat_pieces(self) -> FlatPieces:
        """Return the hulls of no offer and the listed prices, all owners."""
        owners, k = self.law.size or 1, self.prices.size
        owner, price = np.repeat(np.arange(owners, dtype=np.intp), k), np.tile(self.prices, owners)
        each = self.law if self.law.size is None else self.law.take(owner)
        q = each.cdf(price) if owner.size else np.empty(0)
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (owners,)) for end in (self.low, self.high))
        kept = (price <= high[owner]) & (q > 0)
        owner = np.concatenate([np.arange(owners, dtype=np.intp), owner[kept]])
        price, q = np.concatenate([low, price[kept]]), np.concatenate([np.zeros(owners), q[kept]])
        vertices = lower_hull(owner, q, q * price)
        owner, price, q = owner[vertices], price[vertices], q[vertices]
        first = np.flatnonzero(owner[1:] == owner[:-1])
        slope = (q * price)[first + 1] - (q * price)[first]
        slope = slope / (q[first + 1] - q[first])
        slope = np.where(q[first] == 0, price[first + 1], slope)
        return FlatPieces(owner[first], price[first], price[first + 1], q[first], q[first + 1], slope)

    def hull_segments(self) -> HullSegments:
        """Return the convex hull of C: straight pieces, up to F(top)."""
        return HullSegments.straight(self.flat_pieces())

    def _is_proved_cdf(self) -> CdfVerdict:
        return self.law.is_proved_cdf()

    def _regularity(self) -> Verdict:
        return Undecided(
            "prices come from a list, so acceptance jumps from price to price; the cost curve is ironed, and lotteries meet it"
        )

    def _take(self, index: Index) -> PriceListed:
        return self if self.size is None else PriceListed(self.law.take(index), self.prices)

    def _rescale(self, factor: float) -> PriceListed:
        return PriceListed(self.law.rescale(factor), factor * self.prices)

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "valuation": self.law.to_dict(), "prices": self.prices}

    def _arguments(self) -> Mapping[str, float | Floats]:
        return self.law.arguments

    def _listed_up_to(self, t: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Return place (−1: none) and value of each greatest price up to t."""
        theta = np.minimum(t, self.high)
        place = np.asarray(np.searchsorted(self.prices, theta, side="right") - 1)
        price = self.prices[np.maximum(place, 0)] if self.prices.size else np.broadcast_to(self.low, place.shape)
        return place, np.asarray(price)

    def _is_listed(self, theta: Floats) -> NDArray[np.bool_]:
        return np.isin(theta, self.prices) & (theta <= self.high)

    def __repr__(self) -> str:
        return f"PriceListed({self.law!r}, {self.prices.size} prices)"
