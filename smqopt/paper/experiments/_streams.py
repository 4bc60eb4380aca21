"""Where the random numbers of a trial come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.numeric import Floats
from smqopt.paper.experiments._grid import QUERIES


@dataclass(frozen=True)
class Streams:
    """Generators that share no numbers."""

    market: np.random.Generator
    """Draws ε and θ."""
    lottery: np.random.Generator
    """Decides which uncertain offers are made."""
    noise: dict[str, np.random.Generator]
    """Draws the noise, by query."""

    @classmethod
    def of(cls, seed: int, key: tuple[int, ...], noise_key: tuple[int, ...] | None = None) -> Streams:
        """Make the streams of a key; the noise may come from another one."""
        market, lottery, noise = np.random.SeedSequence(seed, spawn_key=key).spawn(3)
        if noise_key is not None:
            noise = np.random.SeedSequence(seed, spawn_key=noise_key)
        by_query = dict(zip(QUERIES, map(np.random.default_rng, noise.spawn(len(QUERIES))), strict=True))
        return cls(np.random.default_rng(market), np.random.default_rng(lottery), by_query)


@dataclass(frozen=True, eq=False)
class Noise:
    """Uniform numbers and standard Laplace noise that answers are drawn with."""

    u: Floats
    laplace: Floats

    @classmethod
    def draw(cls, rng: np.random.Generator, draws: int, mechanisms: int) -> Noise:
        """Draw for all mechanisms of a query."""
        return cls(rng.random((draws, mechanisms)), rng.laplace(size=(draws, 1)))

    def of(self, mechanism: int) -> Noise:
        """Return what one mechanism draws with."""
        return Noise(self.u[:, mechanism], self.laplace[:, 0])
