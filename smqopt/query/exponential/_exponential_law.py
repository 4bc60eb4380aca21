"""The P-E mechanism's law: each result with probability proportional to exp(½ σ)."""

from __future__ import annotations

import numpy as np

from smqopt.numeric import Floats
from smqopt.query.exponential._score import Score

VANISHED = 1500.0
"""A cost at which exp(−cost/2) is zero in double precision; ceiling for scores that only a law is
made of."""


def log_pe_law(score: Score) -> Floats:
    """Return the logarithms of the P-E law, which do not underflow. Private."""
    log_weight = -0.5 * score.cost
    top = log_weight.max()
    total = np.log(np.dot(np.exp(log_weight - top), score.length))
    return np.repeat(log_weight - top - total, score.length)


def pe_law(score: Score) -> Floats:
    """Return the P-E law over the score's results (`sec:prelim`).

    P(r) = exp(½ σ(r)) / Σ exp(½ σ).

    Logarithms of weights are shifted by their maximum before they are exponentiated. The normaliser
    sums each piece once.

    Returns
    -------
    ndarray
        Probabilities of `score.results`, to a few units in the last place times the logarithm of
        their number. Private.
    """
    log_weight = -0.5 * score.cost
    weight = np.exp(log_weight - log_weight.max())
    return np.repeat(weight / np.dot(weight, score.length), score.length)
