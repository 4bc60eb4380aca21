"""The Wright omega function, by a good start and two steps.

ω(u) = W(e^u), so log W(e^(1 + w)) is the t with t + e^t − 1 = w (Corless and Jeffrey 2002, *The
Wright ω function*, AISC 2002). Evaluated as it stands, e^u overflows from u = 710 on, and the
logarithm of ω(1 + w) loses all digits as w → 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from scipy.special import wrightomega

from smqopt.numeric._arrays import Floats

_LARGEST_EXPONENT = 700.0
"""exp overflows above 709.78."""
_NEWTON_STEPS = 2
"""The start is good to an absolute 2e-16; each step squares the relative error of small t."""


class log_wright_omega_one_plus(sp.Function):  # type: ignore[misc]  # noqa: N801
    """The symbol for log ω(1 + w)."""

    nargs = 1


class wright_omega(sp.Function):  # type: ignore[misc]  # noqa: N801
    """The symbol for ω(u) = W(e^u), u real."""

    nargs = 1


def log_wright_omega_1p(w: ArrayLike) -> Floats:
    """Return log ω(1 + t) − log ω(1) for t ≥ 0, also where t is tiny.

    Parameters
    ----------
    w
        Any real numbers; ±∞ gives ±∞.

    Examples
    --------
    >>> log_wright_omega_1p([0.0, 2e-20, np.inf]).tolist()
    [0.0, 1e-20, inf]
    """
    target = np.asarray(w, dtype=np.float64)
    omega = wrightomega(np.minimum(1.0 + target, np.finfo(np.float64).max))
    with np.errstate(divide="ignore", invalid="ignore"):  # ω(u) is 0 far below 0, where t = u − ω(u)
        t = np.where(target < 0, (1.0 + target) - omega, np.log(omega))
        for _ in range(_NEWTON_STEPS):
            capped = np.minimum(t, _LARGEST_EXPONENT)
            grown = np.expm1(capped)
            t = np.where(t < _LARGEST_EXPONENT, t - (t + grown - target) / (2.0 + grown), t)
    return np.where(np.isinf(target), target, t)


def with_wright_omega(expression: sp.Expr) -> sp.Expr:
    """Write log W(e^u) and W(e^u) by Wright's omega function.

    Examples
    --------
    >>> w = sp.Symbol("w", real=True)
    >>> with_wright_omega(sp.log(sp.LambertW(sp.exp(1 + w))))
    log_wright_omega_one_plus(w)
    """
    logarithms = expression.replace(
        lambda part: isinstance(part, sp.log) and _is_omega(part.args[0]),
        lambda part: log_wright_omega_one_plus(part.args[0].args[0].args[0] - 1),
    )
    return logarithms.replace(_is_omega, lambda part: wright_omega(part.args[0].args[0]))


def _is_omega(part: Any) -> bool:
    return isinstance(part, sp.LambertW) and len(part.args) == 1 and isinstance(part.args[0], sp.exp)
