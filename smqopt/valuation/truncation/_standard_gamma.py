"""The gamma law of scale 1 as a parent."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma as gamma_function, gammaincc, gammaincinv

from smqopt.numeric import Floats, count_work, legendre_rule
from smqopt.valuation.truncation._parent import NODES, WEIGHTS, Parent

MAX_TERMS = 1_000
"""The series needs far fewer for the shapes that it is used for."""
LARGE = 32.0
"""From this shape on quadrature takes the place of the series."""
NOTHING = 40.0
"""An integrand below e^−40 of its largest is nothing."""
CORRECTIONS = 5
"""Of where that begins."""
BLOCK = 1 << 12
"""Integrals that are worked out at once."""
NODES_OF_RATIO = 64
"""Nodes of the quadrature."""

LEAST_CENTRE = 1e-290
"""Both Mills ratios are doubles from here on."""
LARGE_SHARE = 0.1
"""Above this 1 − G is found from G."""


@final
class StandardGamma(Parent):
    """Density t^(k−1) e^(−t)/Γ(k) for t > 0.

    Its Mills ratios are a series of positive terms, or integrals of a smooth function of log t.

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
        k, flat = k.ravel(), t.ravel()
        ratio, large = np.empty(flat.size), (k >= LARGE) & (flat > 0)
        ratio[~large] = _series(k[~large], flat[~large])
        ratio[large] = _mills(k[large], flat[large], -1)
        return ratio.reshape(t.shape)

    def upper_ratio(self, t: Floats) -> Floats:
        """Compute (1 − G)/g by quadrature where t ≥ 1, below by the function itself."""
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
        ratio[~small] = _mills(flat_k[~small], flat_t[~small], 1)
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
        count_work(active.size)
        term = term * ratio / (top + m)
        total[active] += term
        keep = term > np.finfo(np.float64).eps * 0.25 * total[active]
        active, term, ratio, top = active[keep], term[keep], ratio[keep], top[keep]
    return np.asarray(t / k * total)


def _mills(k: Floats, t: Floats, side: int) -> Floats:
    """Compute ∫ g(t e^w)/g(t) d(t e^w) over w > 0 (side 1) or w < 0 (side −1).

    The integrand exp(φ), φ = k w − t (e^w − 1) = −t (e^w − 1 − w) − (t − k) w, is entire in w, and
    φ is concave: Newton's steps from beyond stay beyond where the rest is nothing.
    """
    found, (nodes, weights) = np.empty(t.size), legendre_rule(NODES_OF_RATIO)
    for start in range(0, t.size, BLOCK):
        part = slice(start, start + BLOCK)
        own, d = t[part], t[part] - k[part]
        if side > 0:
            end = (np.sqrt(d * d + 2.0 * NOTHING * own) - d) / own
        else:
            b = NOTHING + 2.0 * d
            end = (b + np.sqrt(b * b + 8.0 * NOTHING * (own - d))) / (2.0 * (own - d))
        for _ in range(CORRECTIONS):
            w = side * end
            end = end + (NOTHING - own * _beyond_line(w) - d * w) / np.abs(own * np.expm1(w) + d)
        w = side * end * nodes[:, np.newaxis]
        terms = weights[:, np.newaxis] * np.exp(-own * _beyond_line(w) - d * w)
        found[part] = own * end * np.cumsum(terms, axis=0)[-1]  # in one order, however many there are
    return found


def _beyond_line(w: Floats) -> Floats:
    """Compute e^w − 1 − w."""
    series = np.zeros(w.shape)
    near = np.clip(w, -0.5, 0.5)
    for m in range(15, 1, -1):
        series = near / m * (1.0 + series) if m > 2 else near * near / 2.0 * (1.0 + series)
    return np.where(np.abs(w) < 0.5, series, np.expm1(w) - w)
