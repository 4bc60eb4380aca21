"""Fewer points to draw: evenly by rank, or by equal groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats

MOST_POINTS = 2000
"""A figure draws at most so many owners."""
MOST_BARS = 300
"""A figure draws at most so many values of a law, or groups of values."""
TAIL = 1e-6
"""Probability left off at the two ends of a drawn law, together."""


def thin(x: Floats, most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Choose at most `most` rows at even ranks of x, both ends among them.

    Parameters
    ----------
    x
        Shape (n,).
    most
        At least 2.

    Examples
    --------
    >>> thin(np.array([3.0, 1.0, 2.0, 5.0, 4.0]), 3).tolist()
    [1, 0, 3]
    """
    order = np.argsort(x, kind="stable")
    if order.size <= most:
        return order
    ranks = np.unique(np.rint(np.linspace(0, order.size - 1, most)).astype(np.intp))
    return np.asarray(order[ranks])


def grouped_law(values: Floats, probabilities: Floats) -> tuple[Floats, Floats, int, float]:
    """Cut the tails off a discrete law, and group what is left.

    Parameters
    ----------
    values, probabilities
        Shape (k,); values increasing.

    Returns
    -------
    edges : shape (g + 1,), ends of the groups, halfway between values
    heights : shape (g,), mean probability of one value in each group
    size : how many values a group holds (the last may hold fewer)
    inside : the probability of all that is drawn
    """
    cumulated = np.cumsum(probabilities)
    first = int(np.searchsorted(cumulated, TAIL / 2))
    last = min(int(np.searchsorted(cumulated, cumulated[-1] - TAIL / 2)), values.size - 1)
    first, last = max(first - 1, 0), min(last + 1, values.size - 1)
    kept, weights = values[first : last + 1], probabilities[first : last + 1]
    size = -(-kept.size // MOST_BARS)
    starts = np.arange(0, kept.size, size)
    counts = np.diff(np.append(starts, kept.size))
    heights = np.add.reduceat(weights, starts) / counts
    half = np.diff(kept) / 2
    before = kept - (np.concatenate([half[:1], half]) if half.size else 0.5)
    end = kept[-1] + (half[-1] if half.size else 0.5)
    return np.append(before[starts], end), heights, size, float(weights.sum())
