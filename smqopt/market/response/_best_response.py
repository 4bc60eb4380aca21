"""What a buyer with a concave objective offers each owner at a price.

Where φ′(q) − a = p C̄′(q), on the hull C̄ of her cost curve.

φ′ falls and C̄′ rises, so there is one answer, clipped to [0, 1]. On a rising stretch of the
virtual cost it is the root of p J(θ) + a = φ′(F(θ)); on a flat piece of slope s it is where φ′(q) =
p s + a, inside the piece: a lottery between its two ends. Where φ is strictly concave the answer is
continuous in p and a: nobody is tied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market._market import Market
from smqopt.market._offers import joined_pieces
from smqopt.market.objectives._utility import Utility
from smqopt.market.response._marginal_match import match_price
from smqopt.numeric import BLOCK, Floats, increasing_root
from smqopt.valuation import FlatPieces, Ironed, Valuation, iron, response_table

Offer = Callable[[Floats], tuple[Floats, Floats]]

_MANY = 1 << 13
"""From so many owners of one law on, its answers are looked up in a table."""


@dataclass(frozen=True)
class Choices:
    """Offers to n owners; shape (n,) each."""

    thresholds: Floats
    """θ, in currency; the lower end of the piece for owners inside one."""
    acceptance: Floats
    """q; F(θ), or an acceptance inside a piece."""
    slope: Floats
    """C̄′(q), in currency: J(θ), or the slope of the piece; one of many at a kink."""
    inside: FlatPieces
    """The flat pieces that owners are strictly inside of, with their owners, increasing."""

    @property
    def spend(self) -> Floats:
        """C̄(q), shape (n,), in currency."""
        spend = self.thresholds * self.acceptance
        on = self.inside
        beyond = self.acceptance[on.owner] - on.low_acceptance
        share = beyond / (on.high_acceptance - on.low_acceptance)
        spend[on.owner] = (1.0 - share) * (on.low * on.low_acceptance) + share * (on.high * on.high_acceptance)
        return spend


def choices(
    market: Market,
    utility: Utility,
    price: Floats | float,
    taken: Floats | float = 0.0,
    start: Floats | None = None,
) -> Choices:
    """Return the answers of all owners of a market.

    Parameters
    ----------
    market
        n rows.
    utility
        φ of the rows.
    price
        p ≥ 0, common or one a row.
    taken
        a, of any sign, common or one a row.
    start
        Slopes of C̄ near the answers, where they are known; shape (n,).
    """
    n = market.n
    p, a = (np.broadcast_to(np.asarray(given, dtype=np.float64), (n,)) for given in (price, taken))
    theta, q, slope = np.empty(n), np.empty(n), np.empty(n)
    found: list[FlatPieces] = []
    for law, index in market.valuation.parts():
        rows = np.arange(n, dtype=np.intp)[index]
        answer = iron(law)
        table = response_table(answer) if rows.size >= _MANY else None
        for first in range(0, rows.size, BLOCK):
            block = slice(first, first + BLOCK)
            here = rows[block]
            near = None if start is None else start[here]
            one = choose(answer.take(block), utility.take(here), p[here], a[here], table.offer if table else None, near)
            theta[here], q[here], slope[here] = one.thresholds, one.acceptance, one.slope
            on = one.inside
            if len(on):
                found.append(FlatPieces(here[on.owner], *(getattr(on, name) for name in FlatPieces.columns())))
    return Choices(theta, q, slope, joined_pieces(found))


def choose(
    law: Valuation | Ironed,
    utility: Utility,
    price: Floats,
    taken: Floats,
    offer: Offer | None = None,
    start: Floats | None = None,
) -> Choices:
    """Return the answers of the owners of one family of laws.

    Parameters
    ----------
    law
        What `ironed` gives.
    utility
        φ of the n owners.
    price, taken
        p ≥ 0 and a, shape (n,) each.
    offer
        What the law offers at a slope, from a table; where the law's own `offer` is a few
        operations it is that, else none.
    start
        Slopes of C̄ near the answers, shape (n,).
    """
    if offer is None and not law_of(law).table_pays:
        offer = law.offer
    if offer is not None and not np.any(taken):
        return _quick(law, utility, price, offer, start)
    return _surely(law, utility, price, taken)


def law_of(law: Valuation | Ironed) -> Valuation:
    """Return the law that is ironed."""
    return law.law if isinstance(law, Ironed) else law


def _quick(law: Valuation | Ironed, utility: Utility, price: Floats, offer: Offer, start: Floats | None) -> Choices:
    """Take secants; who does not arrive is searched for."""
    if start is None:
        half = np.full(price.size if law_of(law).size is not None else 1, 0.5)
        start = np.broadcast_to(law_of(law).ppf(half), price.shape)
    known = (start > 0) & np.isfinite(start)
    v, theta, q, arrived = match_price(offer, utility, price, np.where(known, start, law_of(law).high))
    left = np.flatnonzero(~arrived)
    if not left.size:
        return Choices(theta, q, v, FlatPieces.none())
    rest = _surely(law.take(left), utility.take(left), price[left], np.zeros(left.size))
    theta, q = theta.copy(), q.copy()
    theta[left], q[left], v[left] = rest.thresholds, rest.acceptance, rest.slope
    columns = (getattr(rest.inside, name) for name in FlatPieces.columns())
    return Choices(theta, q, v, FlatPieces(left[rest.inside.owner], *columns))


def _surely(law: Valuation | Ironed, utility: Utility, price: Floats, taken: Floats) -> Choices:
    """Find the piece or the stretch of each owner, then her answer on it."""
    n = price.size
    hull = law if isinstance(law, Ironed) else Ironed(law, FlatPieces.none(), law.size or 1)
    passed = _pieces_below(hull, utility, price, taken)
    stretch = hull.stretch(passed)
    theta, q = stretch.low.copy(), stretch.low_acceptance.copy()
    on = _begun(hull, utility, price, taken, passed)
    climbs = stretch.high > stretch.low
    climbs[on.owner] = False
    at = np.flatnonzero(climbs)
    if at.size:
        own = hull.law if hull.common else hull.law.take(at)
        ends = stretch.low[at], stretch.high[at]
        ends_of_q = stretch.low_acceptance[at], stretch.high_acceptance[at]
        theta[at], q[at] = _on_stretch(own, utility.take(at), price[at], taken[at], ends, ends_of_q)
    slope = _slope(hull.law, theta, price, utility.slope(q) - taken)
    theta[on.owner], slope[on.owner] = on.low, on.slope
    wished = utility.take(on.owner).where_slope_is(price[on.owner] * on.slope + taken[on.owner])
    q[on.owner] = np.clip(wished, on.low_acceptance, on.high_acceptance)
    inside = (q[on.owner] > on.low_acceptance) & (q[on.owner] < on.high_acceptance)
    top = on.owner[q[on.owner] >= on.high_acceptance]
    theta[top] = on.high[q[on.owner] >= on.high_acceptance]
    columns = (getattr(on, name)[inside] for name in FlatPieces.columns())
    assert theta.shape == (n,)  # noqa: S101
    return Choices(theta, q, slope, FlatPieces(on.owner[inside], *columns))


def _pieces_below(hull: Ironed, utility: Utility, price: Floats, taken: Floats) -> NDArray[np.intp]:
    """Count, for each owner, the pieces whose upper end she reaches: φ′(q₂) − a ≥ p s."""
    pieces, n = hull.pieces, price.size
    if not len(pieces):
        return np.zeros(n, dtype=np.intp)
    if hull.common:
        few, many = np.full(n, -1, dtype=np.intp), np.full(n, len(pieces), dtype=np.intp)
        while np.any(many - few > 1):
            k = (few + many) // 2
            piece = np.clip(k, 0, len(pieces) - 1)
            gain = utility.slope(pieces.high_acceptance[piece]) - taken
            reached = _reaches(gain, price, pieces.slope[piece])
            reached = np.where(k < 0, True, np.where(k >= len(pieces), False, reached))
            few, many = np.where(reached, k, few), np.where(reached, many, k)
        return many
    of = pieces.owner
    reached = _reaches(utility.take(of).slope(pieces.high_acceptance) - taken[of], price[of], pieces.slope)
    return np.bincount(of, weights=reached, minlength=n).astype(np.intp)


def _reaches(gain: Floats, price: Floats, slope: Floats) -> NDArray[np.bool_]:
    """Say whose gain is what it costs at least; nobody takes nothing for nothing."""
    return np.asarray((gain >= price * slope) & ((price > 0) | (gain > 0)))


def _begun(hull: Ironed, utility: Utility, price: Floats, taken: Floats, passed: NDArray[np.intp]) -> FlatPieces:
    """Return the pieces that owners enter and do not pass: φ′(q₁) − a > p s."""
    pieces, n = hull.pieces, price.size
    if not len(pieces):
        return FlatPieces.none()
    count = np.full(n, len(pieces)) if hull.common else np.bincount(pieces.owner, minlength=n)
    owners = np.flatnonzero(passed < count)
    piece = hull.first(owners) + passed[owners]
    beyond = (
        utility.take(owners).slope(pieces.low_acceptance[piece]) - taken[owners] > price[owners] * pieces.slope[piece]
    )
    owners, piece = owners[beyond], piece[beyond]
    return FlatPieces(owners, *(getattr(pieces, name)[piece] for name in FlatPieces.columns()))


def _on_stretch(
    law: Valuation,
    utility: Utility,
    price: Floats,
    taken: Floats,
    ends: tuple[Floats, Floats],
    acceptance: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """Return threshold and acceptance with p J(θ) + a = φ′(F(θ)) on a rising stretch."""
    low, high = ends
    low_q, high_q = acceptance
    with np.errstate(invalid="ignore", over="ignore"):
        stays = _cost(price, law.virtual_cost(low)) + taken >= utility.slope(low_q)
        climbs = _cost(price, law.virtual_cost(high)) + taken <= utility.slope(high_q)
    theta, q = np.where(climbs & ~stays, high, low), np.where(climbs & ~stays, high_q, low_q)
    at = np.flatnonzero(~stays & ~climbs)
    if at.size:

        def excess(t: Floats, k: NDArray[np.intp]) -> Floats:
            rows = at[k]
            own = law if law.size is None else law.take(rows)
            with np.errstate(over="ignore"):
                wished = utility.take(rows).slope(own.cdf(t))
                return _cost(price[rows], own.virtual_cost(t)) + taken[rows] - wished

        theta[at] = increasing_root(excess, low[at], high[at])
        q[at] = (law if law.size is None else law.take(at)).cdf(theta[at])
    return theta, q


def _cost(price: Floats, J: Floats) -> Floats:
    """Return p J; 0 at a price of 0, where J may be infinite."""
    return np.multiply(price, J, out=np.zeros(price.size), where=price > 0)


def _slope(law: Valuation, theta: Floats, price: Floats, wished: Floats) -> Floats:
    """Return J(θ), or (φ′ − a)/p where J has no finite value."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        J = law.virtual_cost(theta)
        return np.where(np.isfinite(J), J, np.where(price > 0, wished / price, np.inf))
