"""How owners answer to multipliers.

Each faces a price p of her own, and a part a of what she is worth is taken: she stops where p J(θ)
= φ′(q) − a.

For purchased privacy φ′ = ε, so that each faces a requirement e = ε − a and stops where J(θ) = e/p.

With v = e/p, let W(v) = max_q {v q − C(q)}: then q = W′(v), and the owner adds p W(e/p) to the
dual. Where the cost curve is ironed, q jumps by Δq as v passes the slope s of a flat piece.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Linear, Statement, Utility, choices, joined_pieces
from smqopt.numeric import Floats, Indices
from smqopt.valuation import Discrete, FlatPieces, Ironed, PointMass, PriceListed, Valuation, iron

_MEETS = 2.0**-20
"""A row whose worth misses its price by more, relatively, stands at a kink and does not move."""
_STEP = 2.0**-20
"""Relative step for the slope of acceptance in v; only the direction of a Newton step depends on
it."""


@dataclass(frozen=True)
class Response:
    """What the owners do; shape (n′,) each."""

    v: Floats
    """e/p, at least 0, or C̄′(q) where φ is not straight; in currency."""
    thresholds: Floats
    """θ, in currency."""
    acceptance: Floats
    """W′(v), within the bounds."""
    spend: Floats
    """v q − W(v), in currency."""
    slope: Floats
    """dq/dv along the cost curve; 0 at an end of the support, at a bound, and where acceptance is
    flat; +∞ inside a flat piece."""
    bend: Floats
    """−φ″(q)."""
    gain: Floats
    """φ(q) − a q."""


class Owners:
    """All owners of a statement, asked together."""

    def __init__(self, statement: Statement, utility: Utility) -> None:
        self.statement = statement
        self.utility = utility
        self._straight = self.utility.straight
        self.n = statement.reduced.n
        self._parts = [(iron(law), owners) for law, owners in statement.reduced.valuation.parts()]
        rows = np.arange(self.n, dtype=np.intp)
        self._bent = [(law, rows[at]) for law, at in self._parts if isinstance(law, Ironed) and len(law.pieces)]
        """Laws whose hulls have flat pieces, and their rows."""
        self.jumps = bool(self._bent) and bool(self._straight.any())
        self._near: Floats | None = None
        reduced = statement.reduced
        self._for_nothing = (reduced.low == 0) & (reduced.valuation.cdf(reduced.low) > 0)
        """Who sells for nothing with some probability: not even that is wanted where more is taken
        than it is worth."""
        self._bounded = bool(np.any(statement.lowest > 0) or np.any(statement.highest < 1))
        self._known: tuple[Floats, Floats] | None = None
        if self._bounded:
            bounds = statement.lowest, statement.highest
            self._at_bounds = [(q, self.prices(q), self.cost(q)) for q in bounds]

    def answer(self, taken: Floats | float, p: Floats) -> Response:
        """Answer where a is taken, at prices p ≥ 0."""
        if isinstance(self.utility, Linear):
            return self._straight_answer(self.utility.each - taken, p)
        return self._curved_answer(np.broadcast_to(np.asarray(taken, dtype=np.float64), (self.n,)), p)

    def value(self, q: Floats) -> float:
        """Return Σ m_i φ_i(q_i)."""
        return float(np.sum(self.statement.weights() * self.utility.value(q)))

    def _curved_answer(self, taken: Floats, p: Floats) -> Response:
        chosen = choices(self.statement.reduced, self.utility, p, taken, self._near)
        theta, q, v, spend = chosen.thresholds.copy(), chosen.acceptance.copy(), chosen.slope.copy(), chosen.spend
        self._near = chosen.slope
        met = self.utility.slope(q) - taken
        cost = np.multiply(p, v, out=np.zeros(self.n), where=p > 0)  # v may be infinite where nothing is paid
        meets = np.abs(met - cost) <= _MEETS * (np.abs(met) + np.abs(taken) + cost)
        slope = np.zeros(self.n)
        for law, at in self._parts:
            slope[at] = np.where(meets[at], _rise(law, v[at], theta[at], q[at]), 0.0)
        slope[chosen.inside.owner] = np.inf
        self._refuse(self.utility.slope(np.zeros(self.n)) < taken, q, spend, slope)
        if self._bounded:
            self._hold(theta, q, spend, slope)
        value = self.utility.value(q)
        return Response(v, theta, q, spend, slope, self.utility.curvature(q), value - taken * q)

    def _straight_answer(self, e: Floats, p: Floats) -> Response:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            v = np.where(e > 0, e / p, 0.0)
        if len(self._parts) == 1 and isinstance(self._parts[0][1], slice):
            theta, q, slope = _offer(self._parts[0][0], v)
        else:
            theta, q, slope = (np.empty(self.n) for _ in range(3))
            for law, at in self._parts:
                theta[at], q[at], slope[at] = _offer(law, v[at])
        spend = theta * q
        self._refuse(e < 0, q, spend, slope)
        if self._bounded:
            self._hold(theta, q, spend, slope)
        return Response(v, theta, q, spend, slope, np.zeros(self.n), q * e)

    def between(self, lowest: Floats, highest: Floats) -> FlatPieces:
        """Return the flat pieces whose slope lies between two v of each owner."""
        found = []
        for law, rows, start, count in self._ahead(lowest, highest):
            near = np.flatnonzero(count)
            first = law.first(near) + start[near] - np.cumsum(count[near]) + count[near]
            owner = np.repeat(near, count[near])
            piece = np.repeat(first, count[near]) + np.arange(owner.size)
            columns = (getattr(law.pieces, name)[piece] for name in FlatPieces.columns())
            found.append(FlatPieces(rows[owner], *columns))
        return joined_pieces(found)

    def count_between(self, lowest: Floats, highest: Floats) -> int:
        """Count the flat pieces whose slope lies between two v of each owner."""
        return sum(int(np.sum(count)) for *_, count in self._ahead(lowest, highest))

    def _ahead(self, lowest: Floats, highest: Floats) -> Iterator[tuple[Ironed, Indices, Indices, Indices]]:
        """Return laws and rows, and how many pieces come before and between."""
        for law, rows in self._bent:
            start = law.count_passed(lowest[rows])
            yield law, rows, start, np.maximum(law.count_more(start, highest[rows]) - start, 0)

    def prices(self, q: Floats) -> Floats:
        """Return F⁻¹(q), in currency, shape (n′,); of the last array it is known."""
        if self._known is None or self._known[0] is not q:
            self._known = q, self.statement.reduced.valuation.ppf(q)
        return self._known[1]

    def cost(self, q: Floats) -> Floats:
        """Return C̄(q), the hull of the cost curve, in currency; shape (n′,)."""
        spend = q * self.prices(q)
        for on in self.pieces(q):
            share = (q[on.owner] - on.low_acceptance) / (on.high_acceptance - on.low_acceptance)
            spend[on.owner] = (1 - share) * (on.low * on.low_acceptance) + share * (on.high * on.high_acceptance)
        return np.where(q > 0, spend, 0.0)

    def pieces(self, q: Floats) -> Iterator[FlatPieces]:
        """Return the flat pieces that rows are strictly inside of."""
        for law, rows in self._bent:
            on = law.around(q[rows])
            yield dataclasses.replace(on, owner=rows[on.owner])

    def _refuse(self, unwanted: NDArray[np.bool_], q: Floats, spend: Floats, slope: Floats) -> None:
        """Make no offer to whose acceptance is worth less than nothing."""
        rows = np.flatnonzero(unwanted & self._for_nothing)
        q[rows] = spend[rows] = slope[rows] = 0.0

    def _hold(self, theta: Floats, q: Floats, spend: Floats, slope: Floats) -> None:
        """Hold acceptances within their bounds."""
        (lowest, *_), (highest, *_) = self._at_bounds
        for (bound, price, cost), outside in zip(self._at_bounds, (q < lowest, q > highest), strict=True):
            theta[outside], q[outside], spend[outside] = price[outside], bound[outside], cost[outside]
            slope[outside] = 0.0


def _offer(law: Valuation | Ironed, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Return threshold, acceptance, and the slope of acceptance in v off jumps."""
    theta, q = law.offer(v.copy())
    return theta, q, _rise(law, v, theta, q)


def _rise_at(law: Valuation, theta: Floats) -> Floats:
    """Return dF/dJ at thresholds, by a difference of J; 0 at the ends of the supports."""
    low, high = (np.broadcast_to(np.asarray(end), theta.shape) for end in (law.low, law.high))
    step = np.minimum(_STEP * theta, high - theta)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slope = law.pdf(theta) * step / (law.virtual_cost(theta + step) - law.virtual_cost(theta))
    inside = (theta > low) & (step > 0) & np.isfinite(slope)
    return np.where(inside, np.maximum(slope, 0.0), 0.0)


def _rise(law: Valuation | Ironed, v: Floats, theta: Floats, q: Floats) -> Floats:
    """Return the slope in v of acceptance q at v, by a difference that no jump enters."""
    if isinstance(law, Valuation) and law.table_pays:  # J costs less than its inverse
        return _rise_at(law, theta)
    if isinstance(law, Ironed) and isinstance(law.law, PriceListed | Discrete | PointMass):
        return np.zeros(q.size)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        beyond = v * (1.0 + _STEP)
        slope = np.where((v > 0) & (v < np.inf), (law.offer(beyond.copy())[1] - q) / (v * _STEP), 0.0)
    if isinstance(law, Ironed) and len(law.pieces):
        slope = np.where(law.count_passed(beyond) > law.count_passed(v), 0.0, slope)
    return np.maximum(slope, 0.0)
