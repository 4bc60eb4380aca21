r"""How far a sum of independent payments lies above its mean, by proved bounds.

With L = ln(1/δ), V the variance of the total, M the largest payment and S² = Σ m θ̂² over the
owners' largest payments θ̂:

- Hoeffding (1963), Theorem 2: S √(L/2).
- Bernstein (1924): ML/3 + √((ML/3)² + 2VL).
- Bennett (1962): V u/M with (1+u) ln(1+u) − u = L M²/V.
- Chernoff (1952): the least of (K(s) + L)/s − mean over s > 0, with K(s) = ln E exp(s · total),
  which independent payments make a sum over owners.

Each is a consequence of the last, with a cruder K. Every s gives a bound, so the search for the
best one needs no proof.
"""

from __future__ import annotations

import math

import numpy as np

from smqopt.numeric import Floats, exact_dot
from smqopt.questions.payment._posted_offers import OffersMade

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_STEPS = 24
"""Of the search in ln s; the bracket shrinks by a hundred thousand."""
_BELOW, _ABOVE = 1.0 / 16.0, 64.0
"""The bracket, as multiples of Bernstein's s."""
_SERIES = 2.0**-13
"""Below this u Bennett's rate is taken from its series: the third term, u⁴/12, is then under 2⁻²⁸
of the whole."""
_LARGEST_EXPONENT = 600.0
"""s times the largest payment is kept below this, so that exponentials stay finite."""


def largest_payments(offers: OffersMade, owners: int) -> Floats:
    """Return the largest payment an owner of each row may get, shape (n,)."""
    largest = np.zeros(owners)
    np.maximum.at(largest, offers.row, offers.threshold)
    return largest


def hoeffding(offers: OffersMade, counts: Floats, log_odds: float) -> float:
    """Return Hoeffding's distance above the mean, for L = `log_odds`, in currency."""
    largest = largest_payments(offers, counts.size)
    return math.sqrt(exact_dot(largest * largest, counts) * log_odds / 2.0)


def bernstein(variance: float, largest: float, log_odds: float) -> float:
    """Return Bernstein's distance above the mean, for L = `log_odds`, in currency."""
    linear = largest * log_odds / 3.0
    return linear + math.sqrt(linear * linear + 2.0 * variance * log_odds)


def bennett(variance: float, largest: float, log_odds: float) -> float:
    """Return Bennett's distance above the mean, for L = `log_odds`, in currency.

    u is found from above, by bisection.
    """
    if variance == 0 or largest == 0:
        return 0.0
    wanted = log_odds * (largest / variance) * largest
    low, high = 0.0, 1.0
    while _bennett_rate(high) < wanted:
        high *= 2.0
    for _ in range(3 * _STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _bennett_rate(middle) >= wanted else (middle, high)
    return variance / largest * high


def _bennett_rate(u: float) -> float:
    """(1+u) ln(1+u) − u; from its series where it would cancel, from below."""
    if u < _SERIES:  # the series alternates
        return u * u * (0.5 - u / 6.0)
    return (1.0 + u) * math.log1p(u) - u


def chernoff(offers: OffersMade, counts: Floats, mean: float, variance: float, log_odds: float) -> float:
    """Return Chernoff's distance above the mean, for L = `log_odds`, in currency.

    Parameters
    ----------
    offers
        What may be posted, with chances.
    counts
        Owners of each row, shape (n,).
    mean, variance
        Of the total.
    log_odds
        L > 0.
    """
    largest = float(np.max(offers.threshold, initial=0.0))
    if variance == 0 or largest == 0:
        return 0.0
    paid = offers.chance * offers.acceptance
    theta = offers.threshold
    some, place = np.unique(offers.row, return_inverse=True)
    alone = some.size == offers.row.size
    owners = counts[offers.row] if alone else counts[some]

    def distance(log_s: float) -> float:
        s = math.exp(log_s)
        rise = paid * np.expm1(s * theta)
        per_row = rise if alone else np.bincount(place, weights=rise)
        return (float(np.dot(np.log1p(per_row), owners)) + log_odds) / s

    t = bernstein(variance, largest, log_odds)
    guess = t / (variance + largest * t / 3.0)
    top = math.log(_LARGEST_EXPONENT / largest)
    low = min(math.log(guess * _BELOW), top - 1.0)
    high = min(math.log(guess * _ABOVE), top)
    inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
    values = [distance(x) for x in inner]
    best = min(values)
    for _ in range(_STEPS):
        if values[0] <= values[1]:
            high = inner[1]
            inner = [high - _GOLDEN * (high - low), inner[0]]
            values = [distance(inner[0]), values[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + _GOLDEN * (high - low)]
            values = [values[1], distance(inner[1])]
        best = min(best, *values)
    return max(0.0, best - mean)
