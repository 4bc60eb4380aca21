"""Independent streams of randomness from one seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RandomStreams:
    """Four generators that share no numbers, children of one seed.

    Examples
    --------
    >>> streams = RandomStreams.from_seed(7)
    >>> bool(streams.epsilon.random() == streams.valuation.random())
    False
    """

    epsilon: np.random.Generator
    """Draws privacy requirements."""
    valuation: np.random.Generator
    """Draws valuations."""
    noise: np.random.Generator
    """Draws the noise of the answer."""
    lottery: np.random.Generator
    """Draws the thresholds of owners with a lottery."""

    @classmethod
    def from_seed(cls, seed: int) -> RandomStreams:
        """Make the four streams of a seed ≥ 0."""
        return cls(*(np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)))
