"""F6: a histogram is not parallel composition."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import ROUNDING
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.query import Count, audit_privacy, pe_law

BinRequirement = Callable[[float], float]
"""From ε_i to the requirement at which each bin's count runs."""

BINS = (0, 1, 2)
EPSILON = (0.5, 1.0, 2.0)


def whole(epsilon: float) -> float:
    """Parallel composition: an entry lies in one bin."""
    return epsilon


def half(epsilon: float) -> float:
    """ε_i/2: a replaced entry leaves one bin and enters another."""
    return epsilon / 2


def _trial(requirement: BinRequirement) -> Finding:
    at = np.array([requirement(e) for e in EPSILON])

    def law(entries: NDArray[np.int64]) -> tuple[list[tuple[int, ...]], list[float]]:
        bins = [pe_law(Count().score((entries == b).astype(np.int64), at)) for b in BINS]
        joint = reduce(np.multiply.outer, bins)
        return list(product(range(len(EPSILON) + 1), repeat=len(BINS))), joint.ravel().tolist()

    audit = audit_privacy(law, EPSILON, BINS)
    told = f"a log-ratio of {audit.log_ratio[audit.owner]:.4f} for ε = {EPSILON[audit.owner]:g}, over {audit.datasets} data sets"
    return Finding(audit.excess <= ROUNDING.value * max(EPSILON), told)


HISTOGRAM = Entry(
    "F6",
    "P-E, histogram",
    Claim("each bin's count may run at ε_i, by parallel composition", whole),
    Claim("neighbours differ by replacing an entry, which touches two bins: each count runs at ε_i/2", half),
    _trial,
)
