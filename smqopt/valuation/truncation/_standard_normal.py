"""The standard normal law as a parent: of the normal and the log-normal law."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri, ndtri_exp

from smqopt.numeric import Floats
from smqopt.valuation.truncation._parent import NODES, WEIGHTS, Parent


@final
class StandardNormal(Parent):
    """Φ and φ; both Mills ratios are √(π/2) erfcx(|t|/√2) (DLMF 7.18(iv))."""

    centre = 0.0

    def log_density_ratio(self, s: Floats, t: Floats, step: Floats) -> Floats:
        return np.asarray(-0.5 * step * (s + t))

    def lower_ratio(self, t: Floats) -> Floats:
        return np.asarray(math.sqrt(0.5 * math.pi) * erfcx(-t / math.sqrt(2.0)))

    def upper_ratio(self, t: Floats) -> Floats:
        return np.asarray(math.sqrt(0.5 * math.pi) * erfcx(t / math.sqrt(2.0)))

    def nearby_mass(self, s: Floats, t: Floats, step: Floats, reference: Floats) -> Floats:
        total = np.zeros(s.shape)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            offset = np.where(reference == t, -(1.0 - node) * step, (s - reference) + node * step)
            total += weight * np.exp(-0.5 * offset * (2.0 * reference + offset))
        return total * step


def normal_quantile_within(low: Floats, high: Floats, q: Floats) -> Floats:
    """Compute a quantile of the standard normal law truncated to [low, high].

    From the tail in which the support lies.
    """
    with np.errstate(all="ignore"):
        upper = -ndtri_exp(_log_mixture(log_ndtr(-low), log_ndtr(-high), 1.0 - q, q))
        lower = ndtri_exp(_log_mixture(log_ndtr(high), log_ndtr(low), q, 1.0 - q))
        p = (1.0 - q) * ndtr(low) + q * ndtr(high)
        rest = (1.0 - q) * ndtr(-low) + q * ndtr(-high)
        middle = np.where(p < 0.5, ndtri(p), -ndtri(rest))
        return np.where(low > 0, upper, np.where(high < 0, lower, middle))


def _log_mixture(log_a: Floats, log_b: Floats, weight_a: Floats, weight_b: Floats) -> Floats:
    """Compute log(w_a a + w_b b) with a ≥ b."""
    return np.asarray(log_a + np.log(weight_a + weight_b * np.exp(log_b - log_a)))
