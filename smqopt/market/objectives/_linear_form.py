"""Objectives as linear terms in acceptance and spend, and minima of such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smqopt.numeric import Floats

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class Least:
    """weight · min_k Σ_i a_ki q_i over the rows of a market, multiplicities included."""

    weight: float
    forms: sparse.csr_array
    """A, shape (K, n), with entries ≥ 0."""


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """Σ m e q + height + Σ weight · min_k (A q)_k − price · Σ m b, e and price ≥ 0."""

    each: Floats
    """e, shape (n,)."""
    least: tuple[Least, ...] = ()
    price: float = 0.0
    height: float = 0.0
    """Of lines above an objective that bends; else 0."""

    def times(self, weight: float) -> LinearTerms:
        """Multiply by a number ≥ 0."""
        least = tuple(Least(weight * one.weight, one.forms) for one in self.least)
        return LinearTerms(weight * self.each, least, weight * self.price)

    def plus(self, other: LinearTerms) -> LinearTerms:
        """Add another."""
        return LinearTerms(self.each + other.each, self.least + other.least, self.price + other.price)

    def terms(self, m: Floats, q: Floats, spend: Floats) -> Floats:
        """Return the terms of the sum at acceptances and payments, shape (n,) each."""
        least = [one.weight * float(np.min(one.forms @ q)) for one in self.least]
        return np.concatenate([m * self.each * q, least, -self.price * m * spend])
