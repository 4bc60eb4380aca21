"""A brute-force P-E mechanism: the maximum over all data sets, straight from the definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest


class BruteForce:
    """Every data set over an alphabet, the exact result of each, and the least ε that leads from each to each result."""

    def __init__(self, phi, alphabet, epsilon):
        self.alphabet = list(alphabet)
        self.epsilon = np.asarray(epsilon, dtype=np.float64)
        self.datasets = np.array(list(product(self.alphabet, repeat=self.epsilon.size)), dtype=np.int64)
        self.exact = np.array([phi(entries) for entries in self.datasets.tolist()])
        distance = np.zeros((len(self.datasets), len(self.datasets)))
        for i, requirement in enumerate(self.epsilon):
            column = self.datasets[:, i]
            distance += requirement * (column[:, None] != column[None, :])
        self.results = sorted(set(self.exact.tolist()))
        self.cost = np.array([distance[:, self.exact == result].min(axis=1) for result in self.results]).T

    @property
    def law(self):
        weight = np.exp(-self.cost / 2)
        return weight / weight.sum(axis=1, keepdims=True)


@pytest.fixture(scope="session")
def brute_force():
    return BruteForce


REQUIREMENTS = {
    1: [[0.7], [0.0]],
    2: [[0.3, 1.1], [0.0, 0.8], [0.5, 0.5], [0.0, 0.0]],
    3: [[0.2, 0.9, 1.4], [0.5, 0.5, 0.5], [0.0, 0.6, 0.0]],
    4: [[0.1, 0.4, 0.4, 2.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.3, 1.2]],
    5: [[0.3, 0.1, 0.9, 0.5, 0.7], [0.2] * 5, [0.0, 1.0, 0.0, 1e-9, 3.0]],
    6: [[0.6, 0.1, 0.1, 0.9, 0.4, 0.3], [0.5] * 6, [0.0] * 6, [0.0, 2.0, 0.0, 0.7, 0.7, 5.0]],
}
"""By number of entries: distinct, equal, zero, tiny and large requirements."""

VECTORS = [epsilon for vectors in REQUIREMENTS.values() for epsilon in vectors]


@pytest.fixture(params=VECTORS, ids=str)
def epsilon(request):
    return np.array(request.param)
