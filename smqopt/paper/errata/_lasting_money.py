"""F11: what a purchase by value is sure to buy while the money lasts."""

from __future__ import annotations

import math
from collections.abc import Callable

from smqopt.numeric import ROUNDING
from smqopt.paper.errata._entry import Claim, Entry, Finding

Guarantee = Callable[[float], tuple[float, float]]
"""From k, B over the highest price, to the budget solved for over that price, and the share."""

_SMALL = 2.0**-20
"""Money that the sure owners take beyond what would leave one price."""
_MANY = 2000


def whole_budget(k: float) -> tuple[float, float]:
    """Solve for B: 1 − 1/√(2πk)."""
    return k, 1.0 - 1.0 / math.sqrt(2.0 * math.pi * k)


def price_held_back(k: float) -> tuple[float, float]:
    """Solve for B less one price: 1 − 1/√(2π⌊k − 1⌋)."""
    return k - 1.0, 1.0 - 1.0 / math.sqrt(2.0 * math.pi * math.floor(k - 1.0))


def behind_sure_ones(spent: float, k: float) -> float:
    """Return the share bought: sure cheap owners, then a likely one of price 1."""
    cheap = spent - 1.0 + _SMALL
    return 1.0 if cheap + 1.0 <= k else cheap / spent


def alike(spent: float, k: float) -> float:
    """Return E min(N, ⌊k⌋)/E N of many owners of price 1, N binomial."""
    q, law, mean = spent / _MANY, (1.0 - spent / _MANY) ** _MANY, 0.0
    for n in range(_MANY):
        mean += law * min(n, math.floor(k))
        law *= (_MANY - n) / (n + 1.0) * q / (1.0 - q)
    return mean / spent


def _trial(guarantee: Guarantee) -> Finding:
    for k in (2.0, 2.5, 3.0, 3.9, 4.0, 6.0, 9.5, 12.0):
        spent, share = guarantee(k)
        for name, bought in (("behind sure ones", behind_sure_ones(spent, k)), ("alike", alike(spent, k))):
            if not bought >= share * (1.0 - ROUNDING.value):
                return Finding(False, f"k = {k:g}, owners {name}: {bought:.3f} is bought, {share:.3f} said")
    return Finding(True, "at least the share said is bought, of owners alike and behind sure ones")


LASTING_MONEY = Entry(
    "F11",
    "payments while the money lasts",
    Claim("by value per money at least 1 − 1/√(2πk) of V(B) is bought, k = B over the highest price", whole_budget),
    Claim("at least 1 − 1/√(2π⌊k − 1⌋) of V(B − p), solved for B less the highest price p", price_held_back),
    _trial,
)
