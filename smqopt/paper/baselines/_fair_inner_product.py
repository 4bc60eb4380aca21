"""FairInnerProduct (FIP) of Dandekar, Fawaz and Ioannidis (2012).

Owners are taken by v_i = θ_i/ε_i⁰, ε⁰ as drawn (errata E20), ties in their order. An owner who
outweighs all others together is bought alone; the paper names no payment for her: she gets B, which
no report changes. Else k < n is the largest with B/Σ_{i≤k} w_i ≥ v_k/Σ_{i>k} w_i, and each owner
bought is paid w_i min{B/Σ_{i≤k} w_i, v_{k+1}/Σ_{i>k} w_i}. Both inequalities are read with the
denominators multiplied out.

The answer is Σ_{S_c} w_i d_i + ½ (d̲ + d̄) W + Lap((d̄ − d̲) W), W = Σ_{S∖S_c} w. The paper then
sets ε_i = w_i/W for both mechanisms; where W = 0, as when everybody is bought, that is undefined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.paper.baselines._allocation import Allocation, paid


@dataclass(frozen=True, eq=False)
class InnerProductPurchase:
    """What FIP bought."""

    allocation: Allocation
    rest: float
    """W, the weight of those who are not bought."""

    def requirements(self, weight: Floats) -> Floats | None:
        """Return ε_i = w_i/W for all owners; None where W = 0."""
        return weight / self.rest if self.rest > 0 else None


def dominant_owner(weight: Floats) -> int | None:
    """Return the owner who outweighs all others together, if any."""
    if not weight.size:
        return None
    heaviest = int(np.argmax(weight))
    others = math.fsum(np.delete(weight, heaviest).tolist())
    return heaviest if weight[heaviest] > others else None


@dataclass(frozen=True, eq=False)
class FairInnerProductOrder:
    """The owners of one market in FIP's order, for all budgets."""

    weight: Floats
    """w ≥ 0, shape (n,), in the market's order."""
    order: NDArray[np.intp]
    """Positions by v, ties in their order."""
    v: Floats
    """Ascending."""
    dominant: int | None
    """Who outweighs all others together; a matter of the weights alone."""

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The weight of the first k, and of the others, for k = 1, …, n."""
        inside = np.cumsum(self.weight[self.order])
        return inside, np.maximum(inside[-1] - inside, 0.0)

    def buy(self, budget: float) -> InnerProductPurchase:
        """Return what is bought."""
        n = self.weight.size
        bought = np.zeros(n, dtype=np.bool_)
        if self.dominant is not None:
            bought[self.dominant] = True
            return InnerProductPurchase(paid(bought, budget), float(np.delete(self.weight, self.dominant).sum()))
        inside, rest = self._sums
        with np.errstate(invalid="ignore"):  # ∞ · 0 affords nothing
            affordable = budget * rest >= self.v * inside
        k = int(np.flatnonzero(affordable[: n - 1])[-1]) + 1 if np.any(affordable[: n - 1]) else 0
        bought[self.order[:k]] = True
        if k == 0:
            return InnerProductPurchase(paid(bought, 0.0), float(inside[-1]))
        unit = min(
            budget / inside[k - 1] if inside[k - 1] > 0 else math.inf,
            self.v[k] / rest[k - 1] if rest[k - 1] > 0 else math.inf,
        )
        payments = self.weight * unit if math.isfinite(unit) else np.zeros(n)
        return InnerProductPurchase(paid(bought, payments), float(rest[k - 1]))
