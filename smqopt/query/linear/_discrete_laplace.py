"""The discrete Laplace law, drawn exactly from whole random numbers.

P(z) = (1 − e^(−1/t)) / (1 + e^(−1/t)) · e^(−|z|/t) on the whole numbers, t a whole number. Nothing
is rounded: an event of probability e^(−γ) is made of events of rational ones (Canonne, Kamath and
Steinke 2020, algorithms 1 and 2), so the logarithm of the ratio of probabilities of two centres is
exactly their distance over t, at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats, Integers
from smqopt.query.exponential._release import below

_ROUNDING = 2.0**-40
"""Allowance for the rounding of a logarithm, relative."""

_VANISHED = 750
"""e to the minus this is zero in double precision."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """The law of `centre` + Z. PRIVATE, where the centre is."""

    centre: int
    scale: int
    """t ≥ 1: P(z) ∝ e^(−|z|/t)."""

    def draw(self, rng: np.random.Generator | None = None) -> int:
        """Draw once; without `rng` from the operating system's cryptographic source."""
        t = self.scale
        while True:
            rest = below(t, rng)
            if not _happens(rest, t, rng):
                continue
            whole = 0
            while _happens(1, 1, rng):
                whole += 1
            size, negative = rest + t * whole, below(2, rng) == 1
            if size or not negative:  # else 0 would be drawn twice as often as it should
                return self.centre - size if negative else self.centre + size

    def law_in_range(self, most: int) -> tuple[Integers, Floats]:
        """Return the law of the draw clamped to −most, …, most: results and probabilities.

        What vanishes in double precision is left out.
        """
        reach = _VANISHED * self.scale
        first, last = max(-most, self.centre - reach), min(most, self.centre + reach)
        results = np.arange(first, last + 1, dtype=np.int64)
        far = np.abs(results - self.centre) / self.scale
        p = np.exp(-far) * math.tanh(0.5 / self.scale)
        if results.size == 1:
            return results, np.ones(1)
        ends = 1.0 / (1.0 + math.exp(-1.0 / self.scale))  # P(Z ≥ d) = e^(−d/t) / (1 + e^(−1/t))
        p[[0, -1]] = np.exp(-far[[0, -1]]) * ends
        return results, p


def bound_of(scale: int, level: float) -> int:
    """Return m: |Z| ≤ m with probability at least `level`.

    P(|Z| > m) = 2 e^(−(m + 1)/t)/(1 + e^(−1/t)) = e^(−(m + 1/2)/t)/cosh(1/(2t)).
    """
    return max(math.ceil(scale * (-math.log1p(-level) * (1.0 + _ROUNDING)) - 0.5), 0)


def _happens(over: int, under: int, rng: np.random.Generator | None) -> bool:
    """Say yes with probability e^(−γ), γ = over/under in [0, 1].

    γ^k/k! is the probability that the first k of independent events of probabilities γ/1, γ/2, …
    happen; the number of those before the first failure is even with probability e^(−γ).
    """
    k = 1
    while below(k * under, rng) < over:
        k += 1
    return k % 2 == 1
