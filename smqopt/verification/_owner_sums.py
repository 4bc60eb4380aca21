"""What owners of one law add to a certificate, in whole numbers.

Each owner's purchased privacy, spend and top of the Lagrangian are enclosed in doubles, and the
doubles are added as whole numbers of 2⁻¹⁰⁷⁴: however owners are split, the sums are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.numeric import (
    BUDGET_MARGIN,
    ROUNDING,
    UNITS,
    Floats,
    precision,
    rounded_down,
    rounded_up,
    units_of_dot,
    units_of_sum,
)
from smqopt.valuation import Valuation, iron
from smqopt.verification.checks._hidden import may_hide, tops_from_cdf
from smqopt.verification.checks._weak_duality import beyond_spacing, tops
from smqopt.verification.enclosures._curve import Rows
from smqopt.verification.enclosures._line_protocol import SupportLines
from smqopt.verification.enclosures._provable import Provable, provable
from smqopt.verification.enclosures._support_lines import support_lines
from smqopt.verification.proof._owner_groups import Regularity
from smqopt.verification.proof._sums_in_doubles import (
    MANY,
    UNDERFLOW,
    UP,
    LinedPart,
    lines_at_offers,
    rests_of_lines,
)

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
    tops_of = {Provable: _by_balls, str: _by_doubles}.get(type(way), _by_lines)
    with np.errstate(all="ignore"):
        low, high, rest = tops_of(law, way, epsilon, price, theta, q)  # type: ignore[operator]
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return OwnerSums((0, BEYOND), (0, BEYOND), BEYOND)
    privacy, spend = ((units_of_dot(x, low, toward=-1), units_of_dot(x, high, toward=1)) for x in (epsilon, theta))
    if price == 0:
        return OwnerSums(privacy, spend, units_of_sum(epsilon))
    if price == math.inf:
        ends = np.broadcast_to(np.asarray(law.low, dtype=np.float64), theta.shape)
        free = owner_sums(law, way, epsilon, math.nan, ends, np.where(ends == 0, 1.0, 0.0))
        return OwnerSums(privacy, spend, free.privacy[1])
    if not np.isfinite(rest).all():
        return OwnerSums(privacy, spend, BEYOND)
    worth = (0, 0) if isinstance(way, Provable | str) else (privacy[1], spend[0])
    return OwnerSums(privacy, spend, units_of_sum(rest), worth)


Found = tuple[Floats, Floats, Floats]
"""F between two doubles, 0 where there is no offer; and the tops, or what is beyond the worth."""
_NOTHING = np.zeros(0)


def _by_lines(law: Valuation, way: SupportLines, epsilon: Floats, price: float, theta: Floats, q: Floats) -> Found:
    whole = slice(0, theta.size)
    part = LinedPart(way, whole, theta.size, Regularity(law.name, theta.size, way.rule))
    lines = lines_at_offers(part, (theta, q), whole, whole)
    if not 0 < price < math.inf:
        return lines.low, lines.high, _NOTHING
    rest = rests_of_lines(way, lines, epsilon, price, theta, whole)
    return lines.low, lines.high, rest * UP + UNDERFLOW * UP


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
    return least, most, top


def _by_doubles(law: Valuation, way: str, epsilon: Floats, price: float, theta: Floats, q: Floats) -> Found:  # noqa: ARG001
    F = law.cdf(theta)
    low, high = (np.where(q > 0, end(F, q), 0.0) for end in (np.minimum, np.maximum))
    if not 0 < price < math.inf:
        return low, high, _NOTHING
    bound, ones = tops_from_cdf if may_hide(law) else tops, np.ones(theta.size)
    terms, sizes = bound(law, epsilon, price * ones, 0.0 * ones, ones)
    return low, high, np.nextafter(terms + ROUNDING.value * sizes * UP, np.inf)


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
    ends = []
    for factor in (1.0 + BUDGET_MARGIN.value, 1.0 - BUDGET_MARGIN.value):
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            v = np.where(epsilon > 0, epsilon / (price * factor), 0.0)
        ends.append(iron(law).offer(v)[0])
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), theta.shape) for end in (law.low, law.high))
    width = np.where(high > low, high - low, np.where(high > 0, high, 1.0))
    drawn = upper != theta
    apart = np.maximum(np.abs(theta - ends[0]), np.abs(upper - ends[1]))
    off = np.where(drawn, apart, np.abs(theta - np.clip(theta, *ends)))
    return float(np.max(beyond_spacing(off, upper) / width, initial=0.0))


def acceptance_drift(law: Valuation, theta: Floats, q: Floats) -> float:
    """Return the largest |q − F(θ)|; no offer has acceptance 0 at the low end."""
    expected = np.where((q == 0) & (theta == law.low), 0.0, law.cdf(theta))
    return float(np.max(np.abs(q - expected), initial=0.0))
