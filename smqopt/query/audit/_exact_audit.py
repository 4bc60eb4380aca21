"""An exact audit of personalised privacy: all data sets, neighbours, results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.numeric import Floats

Law = Callable[[NDArray[np.int64]], tuple[Sequence[Any] | NDArray[Any], Sequence[float] | Floats]]


@dataclass(frozen=True)
class PrivacyAudit:
    """The worst breach found, and where."""

    excess: float
    """Largest log-ratio minus ε_i, in units of ε; +∞ where a result is possible for one of two
    neighbours only."""
    log_ratio: Floats
    """For each owner, the largest log-ratio between neighbours that differ in her entry, shape
    (k,)."""
    owner: int
    """The position of the owner with the largest excess."""
    result: Any
    """The result at which it was found."""
    entries: tuple[int, ...]
    """The data set under which that result is likeliest."""
    neighbour: tuple[int, ...]
    """The neighbour under which it is least likely."""
    datasets: int
    """How many data sets were tried."""


def audit_privacy(law: Law, epsilon: ArrayLike, alphabet: Sequence[int]) -> PrivacyAudit:
    """Compute the largest log-ratio over neighbours and results (`eqn:PDP`).

    Parameters
    ----------
    law
        Takes entries of shape (k,), gives values and their probabilities. A value that it leaves
        out has probability 0.
    epsilon
        Requirements ε_i, shape (k,).
    alphabet
        Every value an entry can have; all len(alphabet)^k data sets are tried, so keep both small.

    Returns
    -------
    PrivacyAudit
        The mechanism is ε-PDP on these data sets exactly when `excess` is at most 0, up to the
        law's rounding.

    Notes
    -----
    It is enough to look at single results: the ratio for a set of results lies between the ratios
    of its members.

    Examples
    --------
    >>> even = lambda entries: ([0, 1], [0.5, 0.5])
    >>> audit_privacy(even, [0.0, 0.0], alphabet=[0, 1]).excess
    0.0
    >>> honest = lambda entries: ([int(entries[0])], [1.0])
    >>> audit_privacy(honest, [1.0], alphabet=[0, 1]).excess
    inf
    """

    def log_law(entries: NDArray[np.int64]) -> tuple[Sequence[Any] | NDArray[Any], Floats]:
        values, weights = law(entries)
        with np.errstate(divide="ignore"):
            return values, np.log(np.asarray(weights, dtype=np.float64))

    return audit_log_law(log_law, epsilon, alphabet)


def audit_log_law(log_law: Law, epsilon: ArrayLike, alphabet: Sequence[int]) -> PrivacyAudit:
    """Audit a law given by logarithms of probabilities, which cannot underflow.

    Parameters and returns as for `audit_privacy`.
    """
    requirements = np.asarray(epsilon, dtype=np.float64)
    k, size = requirements.size, len(alphabet)
    laws = [log_law(np.array(entries, dtype=np.int64)) for entries in product(alphabet, repeat=k)]
    tables = [dict(zip(list(values), list(logs), strict=True)) for values, logs in laws]
    results = sorted({value for table in tables for value in table})
    log_p = np.array([[table.get(value, -np.inf) for value in results] for table in tables], dtype=np.float64)
    log_p = log_p.reshape((size,) * k + (len(results),))
    # Neighbours by owner i are the lines along axis i, so the largest log-ratio on a line is
    # maximum minus minimum.
    worst = np.empty(k)
    places = []
    for i in range(k):
        lines = np.moveaxis(log_p, i, 0)
        top, bottom = lines.max(axis=0), lines.min(axis=0)
        never = np.isneginf(top)
        ratio = np.where(never, 0.0, np.where(never, 0.0, top) - bottom)
        place = int(np.argmax(ratio))
        worst[i] = ratio.flat[place]
        *others, column = (int(j) for j in np.unravel_index(place, ratio.shape))
        rest = [alphabet[j] for j in others]
        line = lines.reshape(size, -1)[:, place]
        ends = (int(np.argmax(line)), int(np.argmin(line)))
        likely, unlikely = ((*rest[:i], alphabet[end], *rest[i:]) for end in ends)
        places.append((results[column], likely, unlikely))
    owner = int(np.argmax(worst - requirements))
    result, likely, unlikely = places[owner]
    return PrivacyAudit(
        excess=float(worst[owner] - requirements[owner]),
        log_ratio=worst,
        owner=owner,
        result=result,
        entries=likely,
        neighbour=unlikely,
        datasets=len(tables),
    )
