"""What owners of one law add to a certificate, in whole numbers.

Each owner's purchased privacy, spend and top of the Lagrangian are enclosed in doubles, and the
doubles are added as whole numbers of 2⁻¹⁰⁷⁴: however owners are split, the sums are the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from smqopt.numeric import (
    BUDGET_MARGIN,
    ROUNDING,
    UNITS,
    Floats,
    Indices,
    precision,
    rounded_down,
    rounded_up,
    units_around_dot,
    units_of_sum,
)
from smqopt.valuation import Valuation, iron, response_table
from smqopt.verification.checks._answers_at_price import BLOCK
from smqopt.verification.checks._hidden import may_hide, tops_from_cdf
from smqopt.verification.checks._weak_duality import beyond_spacing, tops
from smqopt.verification.enclosures._curve import Rows
from smqopt.verification.enclosures._line_protocol import UNDERFLOW, SupportLines
from smqopt.verification.enclosures._provable import Provable, provable
from smqopt.verification.enclosures._support_lines import support_lines
from smqopt.verification.proof._owner_groups import Regularity
from smqopt.verification.proof._rows_in_doubles import UP
from smqopt.verification.proof._sums_in_doubles import (
    MANY,
    LinedPart,
    lines_at_offers,
    rests_of_lines,
)

_NEAR = 2.0**-50
"""Thresholds so near to an answer, relative to it, are within a few spacings of doubles."""
_BITS = 128
"""Precision of balls."""
BEYOND = UNITS << 1024
"""Units that no double reaches: what could not be bounded."""
MOST_IN_BALLS = MANY
"""So many owners are enclosed one by one before a table of their law is made."""

Way = SupportLines | Provable | str
"""How owners are enclosed: by lines below their cost curve, in balls, or why not at all."""


@dataclass(frozen=True)
class OwnerSums:
    """What some owners add up to, in units of 2⁻¹⁰⁷⁴."""

    privacy: tuple[int, int]
    """Σ ε q lies between these."""
    spend: tuple[int, int]
    """Σ θ q lies between these."""
    rest: int
    """At least Σ max_q {ε q − λ C(q)}, at λ = +∞ what sells for nothing; less `worth`."""
    worth: tuple[int, int] = (0, 0)
    """What the offers buy, and what they spend: λ times that goes off it."""
    drift: float = 0.0
    """How far an acceptance lies outside the bounds of F(θ), at most."""


def way_of(law: Valuation, *, few: bool) -> Way:
    """Return how the owners of a law are enclosed; and where they are not, why.

    Parameters
    ----------
    law
        Common, or one an owner.
    few
        Whether there are so few owners that a table of their law does not pay.
    """
    verdict = law.is_proved_cdf()
    if not verdict.is_proved:
        return f"if F does not fall: {verdict.method}"
    lines = support_lines(law, at_any_cost=not few)
    if not isinstance(lines, str) or law.size is not None or not few:
        return lines
    found = provable(law)
    return found if isinstance(found, str) else found.unproved or found


def owner_sums(law: Valuation, way: Way, epsilon: Floats, price: float, theta: Floats, q: Floats) -> OwnerSums:
    """Enclose what owners buy and spend, and bound the tops of their Lagrangians.

    Parameters
    ----------
    law, way
        Of n owners.
    epsilon
        Shape (n,).
    price
        λ in [0, ∞]; NaN where no top is asked for.
    theta, q
        What is offered, in the supports; shape (n,) each. No offer has acceptance 0. Where nothing
        is proved, F is rounded, and where q differs the worse of the two is taken.
    """
    if price == 0:
        return replace(owner_sums(law, way, epsilon, math.nan, theta, q), rest=units_of_sum(epsilon))
    if price == math.inf:
        ends = np.broadcast_to(np.asarray(law.low, dtype=np.float64), theta.shape)
        free = owner_sums(law, way, epsilon, math.nan, ends, np.where(ends == 0, 1.0, 0.0))
        return replace(owner_sums(law, way, epsilon, math.nan, theta, q), rest=free.privacy[1])
    with np.errstate(all="ignore"):
        if isinstance(way, Provable):
            return _sums_of(_by_balls(law, way, epsilon, price, theta, q), epsilon, price, theta)
        if isinstance(way, str):
            return _sums_of(_by_doubles(law, epsilon, price, theta, q), epsilon, price, theta)
        part = LinedPart(way, slice(0, theta.size), theta.size, Regularity(law.name, theta.size, way.rule))
        every = [
            _sums_of(
                _by_lines(law, part, block, epsilon, price, theta, q), epsilon[block], price, theta[block], worth=True
            )
            for block in part.blocks()
        ]
    return _add(every)


Found = tuple[Floats, Floats, Floats, float]
"""F between two doubles, 0 where there is no offer; the tops, or what is beyond the worth; and how
far an acceptance lies outside the bounds of F."""
_NOTHING = np.zeros(0)


def _sums_of(found: Found, epsilon: Floats, price: float, theta: Floats, *, worth: bool = False) -> OwnerSums:
    low, high, rest, drift = found
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return OwnerSums((0, BEYOND), (0, BEYOND), BEYOND, drift=math.inf)
    privacy, spend = units_around_dot(epsilon, low, high), units_around_dot(theta, low, high)
    if not 0 < price < math.inf:
        return OwnerSums(privacy, spend, 0, drift=drift)
    if not np.isfinite(rest).all():
        return OwnerSums(privacy, spend, BEYOND, drift=drift)
    return OwnerSums(privacy, spend, units_of_sum(rest), (privacy[1], spend[0]) if worth else (0, 0), drift)


def _add(every: Sequence[OwnerSums]) -> OwnerSums:
    privacy, spend, worth = (
        (sum(low for low, _ in pairs), sum(high for _, high in pairs))
        for pairs in ([one.privacy for one in every], [one.spend for one in every], [one.worth for one in every])
    )
    rest, drift = sum(one.rest for one in every), max((one.drift for one in every), default=0.0)
    return OwnerSums(privacy, spend, rest, worth, drift)


def _by_lines(
    law: Valuation, part: LinedPart, block: slice, epsilon: Floats, price: float, theta: Floats, q: Floats
) -> Found:
    lines = lines_at_offers(part, (theta, q), block, block)
    drift = _drift(law, lines.low, lines.high, theta[block], q[block], block)
    if not 0 < price < math.inf:
        return lines.low, lines.high, _NOTHING, drift
    rest = rests_of_lines(part.lines, lines, epsilon[block], price, theta[block], block)
    return lines.low, lines.high, rest * UP + UNDERFLOW * UP, drift


def _by_balls(law: Valuation, way: Provable, epsilon: Floats, price: float, theta: Floats, q: Floats) -> Found:
    low, high = float(law.low), float(law.high)
    pairs, place = np.unique(np.column_stack([epsilon, theta]), axis=0, return_inverse=True)
    k, one = pairs.shape[0], np.ones(pairs.shape[0])
    with precision(_BITS):
        curve, where = way.curve(), np.zeros(k, dtype=np.intp)
        balls = curve.acceptances(where, pairs[:, 1].copy(), low * one, high * one)
        F = np.array([(rounded_down(ball), rounded_up(ball)) for ball in balls])
        F = np.clip(F, 0.0, 1.0)
        F[pairs[:, 1] >= high] = 1.0
        top = _NOTHING
        if 0 < price < math.inf:
            rows = Rows(where, pairs[:, 0], price * one, one, pairs[:, 1], low * one, high * one)
            each = [rounded_up(curve.tops(rows.take(np.array([i])), [None])) for i in range(k)]
            top = np.array(each)[place.ravel()]
    least, most = (np.where(q > 0, F[place.ravel(), end], 0.0) for end in (0, 1))
    return least, most, top, _drift(law, least, most, theta, q, slice(None))


def _by_doubles(law: Valuation, epsilon: Floats, price: float, theta: Floats, q: Floats) -> Found:
    F = law.cdf(theta)
    low, high = (np.where(q > 0, end(F, q), 0.0) for end in (np.minimum, np.maximum))
    drift = float(np.max(np.abs(q - np.where((q == 0) & (theta == law.low), 0.0, F)), initial=0.0))
    if not 0 < price < math.inf:
        return low, high, _NOTHING, drift
    bound, ones = tops_from_cdf if may_hide(law) else tops, np.ones(theta.size)
    terms, sizes = bound(law, epsilon, price * ones, 0.0 * ones, ones)
    return low, high, np.nextafter(terms + ROUNDING.value * sizes * UP, np.inf), drift


def _drift(law: Valuation, low: Floats, high: Floats, theta: Floats, q: Floats, block: slice) -> float:
    """Return how far acceptances lie outside bounds of F; 0 without an offer."""
    off = max(float(np.max(q - high, initial=0.0)), float(np.max(low - q, initial=0.0)))
    first = law.low[block] if isinstance(law.low, np.ndarray) else law.low
    none = np.flatnonzero((q <= 0) & (theta > first))  # F may vanish there too
    if none.size:
        off = max(off, float(np.max(_take(law, none + (block.start or 0)).cdf(theta[none]))))
    return off


def _take(law: Valuation, rows: Indices) -> Valuation:
    return law if law.size is None else law.take(rows)


def distance_to_response(law: Valuation, epsilon: Floats, price: float, theta: Floats, upper: Floats) -> float:
    """Return the largest |θ − θ(λ)| beyond the spacing of doubles, in widths.

    Parameters
    ----------
    law
        Of n owners.
    epsilon
        Shape (n,).
    price
        0 ≤ λ < ∞.
    theta, upper
        The thresholds, the lower and the upper ones where they are drawn, else the same twice.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        every = [slice(0, theta.size)] if law.size is not None else _blocks(theta.size)
        rows = np.concatenate([block.start + _far(law, epsilon, price, theta, upper, block) for block in every])
        if not rows.size:
            return 0.0
        own, epsilon, theta, upper = _take(law, rows), epsilon[rows], theta[rows], upper[rows]
        ends = [_thresholds_at(own, epsilon, price * (1.0 + side * BUDGET_MARGIN.value)) for side in (1, -1)]
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), theta.shape) for end in (own.low, own.high))
    width = np.where(high > low, high - low, np.where(high > 0, high, 1.0))
    drawn = upper != theta
    apart = np.maximum(np.abs(theta - ends[0]), np.abs(upper - ends[1]))
    off = np.where(drawn, apart, np.abs(theta - np.clip(theta, *ends)))
    return float(np.max(beyond_spacing(off, upper) / width, initial=0.0))


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def _far(law: Valuation, epsilon: Floats, price: float, theta: Floats, upper: Floats, block: slice) -> Indices:
    """Return the rows of a block that are not the answers to the price as they are."""
    t = theta[block]
    far = np.abs(t - _thresholds_at(law, epsilon[block], price)) > _NEAR * t
    return np.flatnonzero(far if upper is theta else far | (upper[block] != t))


def _thresholds_at(law: Valuation, epsilon: Floats, price: float) -> Floats:
    """Return θ(λ), from the table that a solver reads where there is one."""
    answer = iron(law)
    v = np.where(epsilon > 0, epsilon / price, 0.0)
    table = response_table(answer) if law.size is None else None
    return answer.offer(v)[0] if table is None else table.estimate(v)[0]
