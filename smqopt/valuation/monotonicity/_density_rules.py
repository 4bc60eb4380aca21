"""Whether the density of a law is known to be non-increasing on its support, by its name and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from smqopt.valuation.law._base import Valuation

_FALLS: Mapping[str, Callable[[Any], Any]] = {
    "uniform": lambda law: law.high > law.low,
    "power": lambda law: law.k <= 1,
    "truncated-exponential": lambda law: law.rate >= 0,
    "triangular": lambda law: law.mode <= law.low,
    "beta": lambda law: (law.a <= 1) & (law.b >= 1),
    "kumaraswamy": lambda law: (law.a <= 1) & (law.b >= 1),
    "gamma": lambda law: law.shape <= 1,
    "weibull": lambda law: law.shape <= 1,
    "normal": lambda law: law.mean <= law.low,
    "logistic": lambda law: law.mean <= law.low,
    "pareto": lambda law: law.a >= 0,
    "piecewise-uniform": lambda law: np.diff(law.pdf(law.edges[:-1])) <= 0,
}


def falling_density(law: Valuation) -> bool:
    """Tell whether the density is known to be non-increasing, for every owner; False says nothing.

    Examples
    --------
    >>> import smqopt as smq
    >>> falling_density(smq.Uniform(0, 1)), falling_density(smq.Power(2))
    (True, False)
    """
    rule = _FALLS.get(law.name)
    return rule is not None and type(law).__module__.startswith("smqopt.") and bool(np.all(rule(law)))
