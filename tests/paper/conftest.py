"""Small forged populations for the machinery of the experiments."""

from __future__ import annotations

import numpy as np
import pytest

from smqopt.paper.data_sets._population import Population, in_order


def forged(key: str, n: int, seed: int) -> Population:
    """n owners, no record of anybody."""
    rng = np.random.default_rng(seed)
    ones, target = rng.integers(0, 2, (2, n))
    return in_order(key, ones, rng.integers(20, 60, n), (0, 100), target, rng.uniform(0.1, 1.0, n - 1))


@pytest.fixture(scope="session")
def populations() -> dict[str, Population]:
    return {"adult": forged("adult", 60, 1), "recs": forged("recs", 45, 2), "movielens": forged("movielens", 30, 3)}
