"""How many owners must be expected so that enough sell with a stated probability.

Let S be the number of sellers among n independent ones, with E S = m. For a whole k ≤ m,
P(S ≥ k) ≥ P(Bin(n, m/n) ≥ k) (Hoeffding, 1956, On the distribution of the number of successes in
independent trials, theorem 5), and the right side rises with m.
"""

from __future__ import annotations

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats, Indices

_BITS = 128
_LARGEST = 10_000_000
"""Of the number of owners whose exact law is worked out, times the number demanded."""


def least_mean(k: int, n: int, probability: float) -> float:
    """Find a number of expected sellers that proves P(S ≥ k) ≥ probability; at most n.

    It is the least double m ≥ k for which balls prove it.
    """
    from smqopt.numeric import ball, precision  # noqa: PLC0415 -- balls bring SymPy

    if k == 0:
        return 0.0

    def suffices(m: float) -> bool:
        with precision(_BITS):
            share = ball(m) / n
            return bool(share.beta_lower(ball(k), ball(n - k + 1), regularized=1) >= ball(probability))

    low, high = float(k), float(n)
    if low == high or suffices(low):
        return low
    while (middle := 0.5 * (low + high)) not in (low, high):
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def tail_probability(acceptance: Floats, counts: Indices, k: int) -> float:
    """Compute P(S ≥ k) for independent sellers, each with her own probability.

    The law of min(S, k) is built owner by owner: k + 1 numbers, all additions of what is ≥ 0.

    Raises
    ------
    InputError
        If that were too much work.
    """
    n = int(counts.sum())
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    if n * k > _LARGEST:
        raise InputError("reach", f"must be asked of up to {_LARGEST:g} owners times number", value=n * k)
    law = np.zeros(k + 1)
    law[0] = 1.0
    for q in np.repeat(acceptance, counts):
        moved = q * law
        law -= moved
        law[1:] += moved[:-1]
        law[k] += moved[k]
    return float(min(law[k], 1.0))
