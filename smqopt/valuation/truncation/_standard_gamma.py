"""The gamma law of scale 1 as a parent."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma as gamma_function, gammaincc, gammaincinv

from smqopt.numeric import Floats
from smqopt.valuation.truncation._parent import NODES, WEIGHTS, Parent

MAX_TERMS = 1_000_000
"""The series and the continued fraction need a few times √shape terms near the centre."""

LEAST_CENTRE = 1e-290
"""Both Mills ratios are doubles from here on."""
LARGE_SHARE = 0.1
"""Above this 1 − G is found from G."""


@final
class StandardGamma(Parent):
    """Density t^(k−1) e^(−t)/Γ(k) for t > 0.

    Its Mills ratios are a series of positive terms and a continued fraction.

    Parameters
    ----------
    shape
        k > 0; scalar or shape (n,).
    """

    def __init__(self, shape: float | Floats) -> None:
        self.k = np.asarray(shape, dtype=np.float64)
        # a shape near 0 has its median below the least double
        self.centre = np.fmax(gammaincinv(self.k, 0.5), LEAST_CENTRE)

    def log_density_ratio(self, s: Floats, t: Floats, step: Floats) -> Floats:
        near = np.abs(step) < 0.5 * t
        logarithm = np.where(near, np.log1p(np.where(near, step, 0.0) / t), np.log(s / t))
        return np.where(self.k == 1.0, 0.0, (self.k - 1.0) * logarithm) - step

    def lower_ratio(self, t: Floats) -> Floats:
        """G/g = (t/k) Σ t^m/((k+1) … (k+m)) (DLMF 8.7.1)."""
        k, t = (np.array(array) for array in np.broadcast_arrays(self.k, t))
        return _series(k.ravel(), t.ravel()).reshape(t.shape)

    def upper_ratio(self, t: Floats) -> Floats:
        """Compute (1 − G)/g by Legendre's continued fraction (DLMF 8.9.2) where t ≥ 1.

        Where t < 1, by the function itself.
        """
        k, t = (np.array(array) for array in np.broadcast_arrays(self.k, t))
        flat_k, flat_t = k.ravel(), t.ravel()
        ratio = np.empty(t.size)
        small = flat_t < 1.0
        k_small, t_small = flat_k[small], flat_t[small]
        # there k is small too, as t is not below the median
        whole = gamma_function(k_small) * t_small ** (1.0 - k_small) * np.exp(t_small)  # 1/g
        share = gammaincc(k_small, t_small)
        rest = whole - _series(k_small, t_small)
        ratio[small] = np.where(share > LARGE_SHARE, rest, share * whole)
        ratio[~small] = _legendre(flat_k[~small], flat_t[~small])
        return np.asarray(ratio.reshape(t.shape))

    def nearby_mass(self, s: Floats, t: Floats, step: Floats, reference: Floats) -> Floats:
        # in log t, where the density has no singularity at 0
        span = np.where(step < s, np.log1p(step / s), np.log(t) - np.log(s))
        total = np.zeros(s.shape)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            offset = np.where(reference == t, -(1.0 - node) * span, node * span + np.log(s / reference))
            total += weight * np.exp(self.k * offset - reference * np.expm1(offset))
        return total * reference * span

    def of_elements(self, shape: tuple[int, ...], index: NDArray[np.bool_]) -> Self:
        law = object.__new__(type(self))
        law.k = np.broadcast_to(self.k, shape)[index]
        law.centre = np.broadcast_to(self.centre, shape)[index]
        return law


def _series(k: Floats, t: Floats) -> Floats:
    """Compute (t/k) Σ t^m/((k+1) … (k+m)), shape (m,) all."""
    total, active = np.ones(t.size), np.arange(t.size)
    term, ratio, top = np.ones(t.size), t, k
    for m in range(1, MAX_TERMS):
        if active.size == 0:
            break
        term = term * ratio / (top + m)
        total[active] += term
        keep = term > np.finfo(np.float64).eps * 0.25 * total[active]
        active, term, ratio, top = active[keep], term[keep], ratio[keep], top[keep]
    return np.asarray(t / k * total)


def _legendre(k: Floats, t: Floats) -> Floats:
    """Compute Legendre's continued fraction from the front (Lentz 1976).

    t/(t + 1 − k − 1(1 − k)/(t + 3 − k − 2(2 − k)/(t + 5 − k − …))).
    """
    result, active = np.ones(t.size), np.arange(t.size)
    tiny = np.finfo(np.float64).tiny
    b = t + 1.0 - k
    c: Floats = np.full(t.size, 1.0 / tiny)
    d: Floats = 1.0 / np.where(b == 0, tiny, b)
    value = d
    for m in range(1, MAX_TERMS):
        if active.size == 0:
            break
        a = -m * (m - k)
        b = b + 2.0
        d = a * d + b
        c = b + a / c
        d, c = 1.0 / np.where(d == 0, tiny, d), np.where(c == 0, tiny, c)
        change = c * d
        value = value * change
        done = ~(np.abs(change - 1.0) > np.finfo(np.float64).eps)  # NaN too: it stays NaN
        if np.any(done):
            result[active[done]] = value[done]
            active = active[~done]
            k, b, c, d, value = (array[~done] for array in (k, b, c, d, value))
    result[active] = value
    return t * result
