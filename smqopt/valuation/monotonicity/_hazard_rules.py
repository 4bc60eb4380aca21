"""Whether the hazard rate f/(1 − F) of a law is known to rise, or to fall, by its name and parameters.

A log-concave density has a log-concave survival function (Bagnoli and Bergstrom 2005), and so a
hazard rate that rises; a density that does not fall has one too. A density that is infinite at the
low end and finite inside has a hazard rate that falls there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import FALL
from smqopt.valuation.law._base import Valuation

_LOG_CONCAVE = "the density is log-concave, truncated or not, and so is 1 − F"
_INFINITE = "the density is infinite at low and finite inside"


@dataclass(frozen=True)
class HazardRule:
    """What is known of one family; each function takes a law and gives a bool, or one an owner."""

    rises: Callable[[Any], Any]
    reason: str
    falls: Callable[[Any], Any] = lambda _: False
    why_it_falls: str = _INFINITE


def _always(_: Any) -> bool:
    return True


def _log_normal_is_log_concave(law: Any) -> Any:
    """The logarithm of f has the slope −(1 + (log θ − μ)/σ²)/θ, which falls as long as log θ ≤ μ + 1 − σ²."""
    turn, top = law.mu + 1.0 - np.square(law.sigma), np.log(law.high)
    return turn - top > FALL.value * (np.abs(turn) + np.abs(top))


def _pareto_margin(law: Any) -> Any:
    """The rate a/(θ (1 − (θ/high)^a)) falls where (1 + a)(θ/high)^a < 1; the sign of the logarithm at low."""
    return law.a * np.log(law.low / np.asarray(law.high)) + np.log1p(law.a)


_RULES: Mapping[str, HazardRule] = {
    "uniform": HazardRule(_always, "h = 1/(high − θ)"),
    "power": HazardRule(lambda law: law.k >= 1, _LOG_CONCAVE, lambda law: law.k < 1),
    "truncated-exponential": HazardRule(_always, _LOG_CONCAVE),
    "triangular": HazardRule(_always, _LOG_CONCAVE),
    "normal": HazardRule(_always, _LOG_CONCAVE),
    "logistic": HazardRule(_always, _LOG_CONCAVE),
    "beta": HazardRule(
        lambda law: law.a >= 1,
        "a ≥ 1: where b ≥ 1 the density is log-concave; where b < 1 it is non-decreasing",
        lambda law: law.a < 1,
    ),
    "kumaraswamy": HazardRule(
        lambda law: law.a >= 1,
        "a ≥ 1: h = a b x^(a−1)/((1 − x^a)(high − low)), x = (θ − low)/(high − low)",
        lambda law: law.a < 1,
    ),
    "gamma": HazardRule(
        lambda law: law.shape >= 1, _LOG_CONCAVE, lambda law: (law.shape < 1) & (np.asarray(law.low) == 0)
    ),
    "weibull": HazardRule(
        lambda law: law.shape >= 1, _LOG_CONCAVE, lambda law: (law.shape < 1) & (np.asarray(law.low) == 0)
    ),
    "log-normal": HazardRule(
        _log_normal_is_log_concave, "log high ≤ μ + 1 − σ²: the density is log-concave up to there"
    ),
    "pareto": HazardRule(
        lambda law: _pareto_margin(law) > FALL.value,
        "(1 + a)(low/high)^a ≥ 1",
        lambda law: _pareto_margin(law) < -FALL.value,
        "h = a/(θ (1 − (θ/high)^a)) falls as long as (1 + a)(θ/high)^a < 1",
    ),
}

_SCIPY: Mapping[str, Callable[..., bool]] = {
    **dict.fromkeys(
        (
            "norm", "uniform", "expon", "logistic", "gumbel_r", "gumbel_l", "laplace", "rayleigh", "maxwell", "halfnorm", "halflogistic",
            "gompertz", "triang", "semicircular", "Normal", "Uniform", "Logistic",
        ),
        lambda *_: True,
    ),
    "gamma": lambda a: a >= 1,
    "chi2": lambda df: df >= 2,
    "weibull_min": lambda c: c >= 1,
    "beta": lambda a, b: a >= 1 and b >= 1,
    "powerlaw": lambda a: a >= 1,
}  # fmt: skip


def hazard_rule(law: Valuation) -> tuple[HazardRule, NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Give the rule of a law of the package, and for each owner whether it says that h rises, and that it falls; None where there is no rule."""
    rule = _RULES.get(law.name)
    if rule is None or not type(law).__module__.startswith("smqopt."):
        return None
    shape = (law.size or 1,)
    rises, falls = (np.broadcast_to(np.asarray(said(law), dtype=bool), shape) for said in (rule.rises, rule.falls))
    return rule, rises, falls


def scipy_density_is_log_concave(name: str, shapes: tuple[float, ...]) -> bool:
    """Tell whether a distribution of scipy is known to have a log-concave density; False says nothing.

    Examples
    --------
    >>> scipy_density_is_log_concave("gamma", (2.0,)), scipy_density_is_log_concave("lognorm", (1.0,))
    (True, False)
    """
    return name in _SCIPY and bool(_SCIPY[name](*shapes))
