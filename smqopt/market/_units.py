"""Units in which the numbers of a market are near 1, and how far a budget goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.market._market import Market
from smqopt.numeric import Floats

_SMALLEST_ACCEPTANCE = 2.0**-40
_HALVINGS = 12
"""Of a bracket 40 octaves wide: leaves a hundredth of an octave."""


@dataclass(frozen=True)
class Units:
    """Units of a market; those of currency are powers of two.

    Changing to them and back loses no bit.
    """

    currency: Floats
    """A unit for each owner's payments, within a factor of two of her θ̄_i; shape (n,), in
    currency."""
    payments: float
    """The unit of total payments, Σ m_i currency_i: within a factor of two of the most that can be
    spent; in currency."""
    weights: Floats
    """m_i currency_i / payments; shape (n,), they sum to 1."""
    privacy: float
    """The unit of privacy, Σ m_i ε_i, the most that can be bought; 1 where that is 0; in units of
    ε."""
    values: Floats
    """m_i ε_i / privacy; shape (n,), they sum to 1 or are all 0."""


def units_of(market: Market) -> Units:
    """Choose the units of a market."""
    counts = market.weights
    currency = np.ldexp(1.0, np.frexp(market.high)[1] - 1)
    payments = float(np.sum(counts * currency))
    most = float(np.sum(counts * market.epsilon))
    privacy = most if most > 0 else 1.0
    return Units(currency, payments, counts * currency / payments, privacy, counts * market.epsilon / privacy)


def even_acceptance(market: Market, budget: float) -> float:
    """Return about the largest acceptance that all owners can have for the budget.

    At most 1.

    It buys a share of all privacy equal to itself, so it tells the size of the optimum from below.
    """
    counts = market.weights
    low, high = _SMALLEST_ACCEPTANCE, 1.0
    if float(np.sum(counts * market.high)) <= budget:
        return high
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        if middle * float(np.sum(counts * market.valuation.ppf(np.full(market.n, middle)))) <= budget:
            low = middle
        else:
            high = middle
    return low
