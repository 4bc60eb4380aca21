"""How quantiles move with a law's parameter: ∂F⁻¹(q)/∂a = −(∂F/∂a)/f."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np
import sympy as sp

from smqopt.algebra import THETA, lambdify, parse
from smqopt.errors import InputError
from smqopt.numeric import Floats
from smqopt.valuation import LAWS, Valuation

CLOSED_FORM = "closed form"
DIFFERENCES = "differences of F, extrapolated"

UNKNOWN = "not known: the law does not say how F moves with it"

_STEPS = tuple(2.0**-k for k in range(9, 13))
"""Relative steps of the differences; the leading powers of the step in their errors are
extrapolated away (Richardson)."""


def quantile_slopes(law: Valuation, parameter: str, thresholds: Floats, acceptance: Floats) -> tuple[Floats, str]:
    """Return ∂F⁻¹(q)/∂a at q = F(θ), and how it was found.

    At q = 1 the threshold is the top of the support, which moves with the parameter `high` alone.
    Without an offer nothing moves: 0.

    Parameters
    ----------
    law
        Common, or one law for each threshold.
    parameter
        The name of one of its parameters.
    thresholds, acceptance
        θ and q, shape (m,).

    Returns
    -------
    slopes
        Shape (m,); NaN where the law does not say how F moves.
    method
        "closed form" where the law has a formula.
    """
    slopes = np.zeros(thresholds.size)
    top = np.asarray(law.high)
    slopes[(acceptance > 0) & (thresholds >= top)] = 1.0 if parameter == "high" else 0.0
    inside = np.flatnonzero((acceptance > 0) & (thresholds < top))
    own = law.take(inside) if law.size is not None else law
    theta = thresholds[inside]
    if inside.size:
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes[inside] = -_change(own, parameter, theta) / own.pdf(theta)
    return slopes, _method(law)


def cdf_slopes(law: Valuation, parameter: str, thresholds: Floats) -> Floats:
    """Return ∂F(θ)/∂a at prices that stay, shape (m,).

    0 at the top of the support or above; else as for `quantile_slopes`.
    """
    slopes = np.zeros(thresholds.size)
    inside = np.flatnonzero(thresholds < np.asarray(law.high))
    if inside.size:
        own = law.take(inside) if law.size is not None else law
        slopes[inside] = _change(own, parameter, thresholds[inside])
    return slopes


def _method(law: Valuation) -> str:
    return CLOSED_FORM if law.formula else DIFFERENCES if law.name in LAWS else UNKNOWN


def _change(law: Valuation, parameter: str, theta: Floats) -> Floats:
    """Return ∂F/∂a at thresholds inside the support; NaN where unknown."""
    if law.formula:
        derivative = _derivative(law.formula, law.parameters, parameter)
        return derivative(theta, *(np.asarray(law.arguments[name]) for name in law.parameters))
    return _difference_quotients(law, parameter, theta) if law.name in LAWS else np.full(theta.shape, np.nan)


@functools.lru_cache(maxsize=64)
def _derivative(formula: str, parameters: tuple[str, ...], parameter: str) -> Callable[..., Floats]:
    symbols = {name: sp.Symbol(name, real=True) for name in parameters}
    cdf = parse(formula, symbols, "the law")
    return lambdify([THETA, *symbols.values()], sp.diff(cdf, symbols[parameter]))


def _difference_quotients(law: Valuation, parameter: str, theta: Floats) -> Floats:
    """Differentiate F along a parameter by extrapolated differences.

    At several steps, to both sides where the law allows it, else to one; NaN where it allows none,
    as for the low end of a triangular law of mode 0.
    """
    value = np.asarray(getattr(law, parameter))
    of_support = parameter in ("low", "mode", "high")
    size = np.asarray(law.width) if of_support else np.where(value != 0, np.abs(value), 1.0)
    both = all(_move(law, parameter, value + sign * _STEPS[0] * size) is not None for sign in (1.0, -1.0))
    up, down = both, False
    if not both:
        up, down = (_move(law, parameter, value + sign * _STEPS[0] * size) is not None for sign in (1.0, -1.0))
    if not (up or down):
        if law.size is None or law.size == 1:
            return np.full(theta.shape, np.nan)
        rows = [law.take(np.array([i], dtype=np.intp)) for i in range(law.size)]  # some may move up, others down
        return np.concatenate([_difference_quotients(row, parameter, theta[i : i + 1]) for i, row in enumerate(rows)])
    down = not up
    table = []
    for step in _STEPS:
        ahead = _move(law, parameter, value + (-step if down else step) * size)
        behind = _move(law, parameter, value - step * size) if both else law
        assert ahead is not None  # noqa: S101 -- it could be moved by the largest step
        assert behind is not None  # noqa: S101
        table.append((ahead.cdf(theta) - behind.cdf(theta)) / ((2.0 if both else -1.0 if down else 1.0) * step * size))
    for order in range(1, len(table)):
        factor = 4.0**order if both else 2.0**order
        table = [(factor * fine - rough) / (factor - 1.0) for rough, fine in itertools.pairwise(table)]
    return np.asarray(table[0])


def _move(law: Valuation, parameter: str, value: Floats) -> Valuation | None:
    """Return the law with another value of a parameter; None where there is none."""
    given = dict(law.arguments)
    try:
        return type(law)(**{**given, parameter: value if value.ndim else float(value)})
    except InputError:
        return None
