"""Normal scores: x = Φ⁻¹(F(t)) and back, without loss in either tail.

In a score the upper tail of a law is as fine as the lower one: F(t) rounds to 1 where x = 8.3, but
the survival 1 − F(t) does not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, ndtri_exp

from smqopt.numeric import Floats
from smqopt.valuation.families._uniform import Uniform
from smqopt.valuation.law._base import Valuation

_LOG_HALF = -np.log(2.0)


def normal_score(law: Valuation, t: ArrayLike) -> Floats:
    """Return Φ⁻¹(F(t)): −∞ up to the low end of the support, +∞ from the high end on.

    Parameters
    ----------
    law
        Any law; its log cdf is used in the lower half, its log survival in the upper one.
    t
        Any real numbers, in the law's unit; must broadcast against the law's owners.

    Examples
    --------
    >>> normal_score(Uniform(0, 2), [0.0, 1.0, 2.0]).tolist()
    [-inf, 0.0, inf]
    """
    theta = np.asarray(t, dtype=np.float64)
    if isinstance(law, Uniform):
        below = np.maximum(theta - law.low, 0.0) / law.width
        above = np.maximum(law.high - theta, 0.0) / law.width
        score = ndtri(np.minimum(below, above))
        return np.asarray(np.where(below <= above, score, -score))
    log_F, log_S = law.log_cdf(theta), law.log_survival(theta)
    score = ndtri_exp(np.minimum(log_F, log_S))
    return np.asarray(np.where(log_F <= _LOG_HALF, score, -score))


def valuation_at_score(law: Valuation, x: ArrayLike) -> Floats:
    """Return F⁻¹(Φ(x)), in currency.

    Examples
    --------
    >>> valuation_at_score(Uniform(0, 2), [-np.inf, 0.0, np.inf]).tolist()
    [0.0, 1.0, 2.0]
    """
    score = np.asarray(x, dtype=np.float64)
    if isinstance(law, Uniform):
        tail = law.width * ndtr(-np.abs(score))
        return np.asarray(np.where(score < 0, law.low + tail, law.high - tail))
    return law.ppf(ndtr(score))
