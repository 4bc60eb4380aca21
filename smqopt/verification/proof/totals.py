"""What the owners of one law add to the three sums of a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.numeric.balls import Ball

__all__ = ["Rows", "Totals", "summed"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Owners of one law, of shape (k,) each: what they are offered, and where their Lagrangian is touched."""

    place: NDArray[np.intp]
    """Which owner of the law, from 0; 0 for all where it is common."""
    epsilon: Floats
    count: Floats
    """How many owners each row stands for."""
    threshold: Floats
    offered: NDArray[np.bool_]
    touch: Floats
    """A threshold near that which her price asks for; any does for a proof, a near one makes the bound tight."""
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Totals:
    """Balls that hold sums over owners. Where something could not be enclosed the ball is not finite."""

    privacy: Ball
    """Σ m ε F(θ) over offers."""
    spend: Ball
    """Σ m θ F(θ) over offers, in currency."""
    top: Ball
    """At least Σ m max_q {ε q − λ C(q)}, at its upper end."""

    def plus(self, other: Totals) -> Totals:
        """Add two groups of owners."""
        return Totals(self.privacy + other.privacy, self.spend + other.spend, self.top + other.top)


def summed(groups: Sequence[Totals]) -> Totals:
    """Add groups of owners."""
    total = Totals(arb(0), arb(0), arb(0))
    for group in groups:
        total = total.plus(group)
    return total
