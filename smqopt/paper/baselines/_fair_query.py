"""FairQuery (FQ) of Ghosh and Roth (2011), as printed and as it was.

Owners are taken by v_i = θ_i/ε_i, ties in their order; an owner with ε_i = 0 has no privacy to
sell, so v_i = ∞. k is the largest with

- k v_k ≤ B, k ≤ n ("printed"), or
- k v_k/(n − k) ≤ B, k < n ("original", errata E6: what the payment belongs to).

Each owner bought is paid min{B/k, v_{k+1}/(n − k)}; the answer is 1/(n − k)-private. As FQ does not
ask for ε, the paper has it pass over the owners with ε_i ≤ 1/(n − k): here, those among the first
k. Where k = n there is no v_{n+1}, and 1/(n − k) is no privacy: FQ is undefined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Integers
from smqopt.paper.baselines._allocation import Allocation, paid


def privacy_valuation(theta: Floats, epsilon: Floats) -> Floats:
    """Return v = θ/ε; ∞ where ε = 0."""
    v = np.full_like(theta, math.inf)
    np.divide(theta, epsilon, out=v, where=epsilon > 0)
    return v


@dataclass(frozen=True, eq=False)
class FairQueryOrder:
    """The owners of one market in FQ's order, for all budgets and both rules."""

    epsilon: Floats
    """Shape (n,), in the market's order."""
    order: NDArray[np.intp]
    """Positions by v, ties in their order."""
    v: Floats
    """Ascending."""

    @classmethod
    def of(cls, theta: Floats, epsilon: Floats) -> FairQueryOrder:
        """Sort a market."""
        v = privacy_valuation(theta, epsilon)
        order = np.argsort(v, kind="stable")
        return cls(epsilon, order, v[order])

    @cached_property
    def _costs(self) -> dict[str, Floats]:
        """What k owners cost by each rule, for k = 1, 2, …."""
        n = self.v.size
        k = np.arange(1, n + 1)
        return {"printed": k * self.v, "original": (k * self.v)[:-1] / (n - k[:-1])}

    def most(self, rule: str, budget: float) -> int:
        """Return k by the rule, "printed" or "original"."""
        return int(np.searchsorted(self._costs[rule], budget, side="right"))  # both costs are non-decreasing in k

    def buy(self, rule: str, budget: float) -> tuple[int, Allocation] | None:
        """Return k and what is bought; None where FQ is undefined.

        Payments are those of k owners: whoever is passed over for her ε changes nobody's payment.
        """
        n, k = self.v.size, self.most(rule, budget)
        if k == n:
            return None
        bought = np.zeros(n, dtype=np.bool_)
        first = self.order[:k]
        bought[first[self.epsilon[first] > 1.0 / (n - k)]] = True
        payment = min(budget / k, float(self.v[k]) / (n - k)) if k else 0.0
        return k, paid(bought, payment)


def count_base(ones: Integers, bought: NDArray[np.bool_]) -> float:
    """Return Σ d over the bought, and ½ for each other owner: FQ's count."""
    taken = int(np.count_nonzero(bought))
    return float(ones[bought].sum()) + (ones.size - taken) / 2


def median_base(value: Integers, bought: NDArray[np.bool_]) -> float:
    """Return the lower median of the bought, or NaN; `value` ascends."""
    held = value[bought]
    return float(held[(held.size + 1) // 2 - 1]) if held.size else math.nan


def local_sensitivity(value: Integers, bought: NDArray[np.bool_], low: int, high: int) -> float:
    """Return how far one entry moves the lower median of the bought (errata E19).

    `value` ascends. One entry moved to an end of the range moves the median to its neighbour in
    order, or to that end where there is none.
    """
    held = value[bought]
    if not held.size:
        return math.nan
    h = (held.size + 1) // 2 - 1
    above = held[h + 1] if h + 1 < held.size else high
    below = held[h - 1] if h > 0 else low
    return float(max(above - held[h], held[h] - below))


def laplace_scale(reading: str, amount: float) -> float:
    """Return the scale b of "Lap(x)": x, or √(x/2) (errata E7)."""
    return amount if reading == "scale" else math.sqrt(amount / 2)
