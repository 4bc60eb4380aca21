"""What owners of one law add to a certificate, in whole numbers.

Each owner's purchased privacy, spend and top of the Lagrangian are enclosed in doubles, and the
doubles are added as whole numbers of 2⁻¹⁰⁷⁴: however owners are split, the sums are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from smqopt.numeric import (
    BUDGET_MARGIN,
    ROUNDING,
    UNITS,
    Floats,
    Interval,
    precision,
    rounded_down,
    rounded_up,
    units_of_dot,
    units_of_sum,
)
from smqopt.valuation import SampleLaw, Valuation, iron
from smqopt.verification.checks._hidden import may_hide, tops_from_cdf
from smqopt.verification.checks._weak_duality import beyond_spacing, tops
from smqopt.verification.enclosures._algebraic_terms import algebraic_law, algebraic_term_bounds
from smqopt.verification.enclosures._curve import Rows
from smqopt.verification.enclosures._provable import provable
from smqopt.verification.proof._proof import MOST_ROWS

_BITS = 128
"""Precision of balls."""
BEYOND = UNITS << 1024
"""Units that no double reaches: what could not be bounded."""
MOST_IN_BALLS = MOST_ROWS
"""So many owners are few."""
_ALLOWANCE = Fraction(ROUNDING.value)


@dataclass(frozen=True)
class Enclosed:
    """Two whole numbers of 2⁻¹⁰⁷⁴ between which a sum lies."""

    low: int
    high: int


def way_of(law: Valuation, *, few: bool) -> tuple[Literal["doubles", "balls", "numerical"], str]:
    """Return how the owners of a law are enclosed; and where they are not, why.

    Parameters
    ----------
    law
        Common, or one an owner.
    few
        Whether there are few enough owners to enclose them in balls one by one.
    """
    verdict = law.is_proved_cdf()
    if not verdict.is_proved:
        return "numerical", f"if F does not fall: {verdict.method}"
    found = provable(law)
    if isinstance(found, str) or found.unproved:
        return "numerical", found if isinstance(found, str) else found.unproved
    if algebraic_law(found.law) is not None:
        return "doubles", ""
    if few and law.size is None:
        return "balls", ""
    return "numerical", f"the {law.name} law is enclosed one owner at a time, and there are too many"


def offer_sums(law: Valuation, way: str, epsilon: Floats, theta: Floats, q: Floats) -> tuple[Enclosed, Enclosed]:
    """Enclose Σ ε F(θ) and Σ θ F(θ) over those who get an offer, q > 0.

    By the way "numerical" F is rounded, and where q differs the worse of the two is taken.
    """
    if way == "numerical":
        F = law.cdf(theta)
        low, high = (np.where(q > 0, end(F, q), 0.0) for end in (np.minimum, np.maximum))
    else:
        enclosed = _acceptances(law, way, theta)
        low, high = (np.where(q > 0, end, 0.0) for end in (enclosed.low, enclosed.high))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return Enclosed(0, BEYOND), Enclosed(0, BEYOND)
    privacy, spend = (
        Enclosed(units_of_dot(x, low, toward=-1), units_of_dot(x, high, toward=1)) for x in (epsilon, theta)
    )
    return privacy, spend


def _acceptances(law: Valuation, way: str, theta: Floats) -> Interval:
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), theta.shape) for end in (law.low, law.high))
    if way == "doubles":
        algebraic = algebraic_law(_proof_law(law))
        assert algebraic is not None  # noqa: S101
        with np.errstate(all="ignore"):
            F = algebraic(*(Interval.exact(x) for x in (theta, low, high)))[0]
        at_low = theta <= low
        return _certain(theta, high, np.where(at_low, 0.0, F.low), np.where(at_low, 0.0, F.high))
    found = provable(law)
    assert not isinstance(found, str)  # noqa: S101
    different, first, place = np.unique(theta, return_index=True, return_inverse=True)
    with precision(_BITS):
        zero = np.zeros(first.size, dtype=np.intp)
        balls = found.curve().acceptances(zero, different, low[first], high[first])
        ends = np.array([(rounded_down(ball), rounded_up(ball)) for ball in balls])[place]
    return _certain(theta, high, ends[:, 0], ends[:, 1])


def _certain(theta: Floats, high: Floats, least: Floats, most: Floats) -> Interval:
    """Keep F within [0, 1], and at 1 from the high end of the support on."""
    return Interval(np.where(theta >= high, 1.0, np.maximum(least, 0.0)), np.minimum(most, 1.0))


def _proof_law(law: Valuation) -> Valuation:
    return law.histogram if isinstance(law, SampleLaw) else law


def top_sum(law: Valuation, way: str, epsilon: Floats, price: float, theta: Floats) -> int:
    """Return at least Σ max_q {ε q − λ C̄(q)}, in units.

    Parameters
    ----------
    law, way
        Of the owners.
    epsilon
        Shape (n,).
    price
        λ ≥ 0; at +∞ what sells for nothing is counted, at a zero budget all that can be had.
    theta
        Thresholds at which tangents are drawn, shape (n,).
    """
    n = epsilon.size
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), n) for end in (law.low, law.high))
    if price == 0:
        return units_of_sum(epsilon)
    if price == math.inf:
        if way == "doubles":
            return 0  # F(θ̲) = 0
        free = units_of_dot(epsilon, np.where(low == 0, law.cdf(low), 0.0))
        return free if way == "balls" and free == 0 else _up(free, free)
    prices = np.full(n, price)
    if way == "doubles":
        algebraic = algebraic_law(_proof_law(law))
        assert algebraic is not None  # noqa: S101
        place = np.zeros(n, dtype=np.intp)
        rows = Rows(place, epsilon, prices, np.ones(n), theta, low, high)
        return _bound_of_terms(algebraic_term_bounds(algebraic, rows))
    if way == "balls":
        found = provable(law)
        assert not isinstance(found, str)  # noqa: S101
        with precision(_BITS):
            curve = found.curve()
            rows = Rows(np.zeros(n, dtype=np.intp), epsilon, prices, np.ones(n), theta, low, high)
            pairs = np.column_stack([epsilon, theta])
            _, first, place = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
            each = [rounded_up(curve.tops(rows.take(np.array([i])), [None])) for i in first.tolist()]
        return _bound_of_terms(np.array(each)[place.ravel()])
    bound = tops_from_cdf if may_hide(law) else tops
    terms, sizes = bound(law, epsilon, prices, np.zeros(n), np.ones(n))
    return _up(units_of_sum(terms), units_of_sum(sizes))


def _bound_of_terms(terms: Floats) -> int:
    return units_of_sum(terms) if np.isfinite(terms).all() else BEYOND


def _up(total: int, size: int) -> int:
    """Add the allowance for rounding, relative to the sum of absolute terms."""
    return total + math.ceil(_ALLOWANCE * size)


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
