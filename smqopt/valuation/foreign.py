"""Laws from outside the package: they pass the battery once, before they are used."""

from __future__ import annotations

import weakref

import numpy as np

from smqopt.errors import InputError
from smqopt.valuation.base import Valuation
from smqopt.valuation.battery import validate

__all__ = ["is_foreign", "sketch", "validate_foreign"]

_PACKAGE = __name__.partition(".")[0]
SHARES = (0.0625, 0.25, 0.5, 0.75, 0.9375)
"""Points of the support at which a sketch takes F, as shares of its width."""
_PASSED: weakref.WeakSet[Valuation] = weakref.WeakSet()
"""Laws do not change, so once is enough."""


def is_foreign(law: Valuation) -> bool:
    """Tell whether the class of a law was defined outside the package.

    Examples
    --------
    >>> import smqopt as smq
    >>> is_foreign(smq.Uniform(0, 1))
    False
    """
    return type(law).__module__.partition(".")[0] != _PACKAGE


def validate_foreign(law: Valuation) -> None:
    """Run the battery on a law from outside the package, once; the package's own laws are left alone.

    Parameters
    ----------
    law
        Any law; of a law by owner, each part is looked at.

    Raises
    ------
    InputError
        If the support is bad, or cdf or pdf do not answer with one number a point, or the law fails the battery.
    """
    for part, _ in law.parts():
        if is_foreign(part) and part not in _PASSED:
            _check_answers(part)
            validate(part)
            _PASSED.add(part)


def sketch(law: Valuation) -> bytes:
    """Give bytes by which laws from outside the package are told apart whose data do not say all of them; none for the package's own.

    These are the ends of the support and values of F, for each part that is, or holds, such a law.
    """
    found = []
    for part, _ in law.parts():
        if _holds_foreign(part):
            low, high = (np.asarray(end, dtype=np.float64) for end in (part.low, part.high))
            found += [
                low.tobytes(),
                high.tobytes(),
                *(part.cdf(low + share * (high - low)).tobytes() for share in SHARES),
            ]
    return b"".join(found)


def _holds_foreign(law: Valuation) -> bool:
    if is_foreign(law):
        return True
    attributes = vars(law).values()
    held = [
        law
        for value in attributes
        for law in (value if isinstance(value, tuple) else (value,))
        if isinstance(law, Valuation)
    ]
    return any(_holds_foreign(one) for one in held)


def _check_answers(law: Valuation) -> None:
    """Check the support, and the shape of what cdf and pdf answer."""
    where = f"the {law.name} law"
    for name in ("low", "high"):
        if not hasattr(law, name):
            raise InputError(f"{where}: attribute {name!r}", "is missing", remedy="give both ends of the support")
    low, high = np.asarray(law.low), np.asarray(law.high)
    shapes = {(), () if law.size is None else (law.size,)}
    good = low.dtype.kind in "iuf" and high.dtype.kind in "iuf" and {low.shape, high.shape} <= shapes
    if not good:
        raise InputError(
            where,
            "low and high must be numbers, or arrays with one number an owner",
            value=f"{law.low!r} and {law.high!r}",
            remedy="name the parameters that may be arrays in `parameters`",
        )
    if not np.all((low >= 0) & (high > low) & (high < np.inf)):
        raise InputError(
            where, "must have 0 ≤ low < high < ∞", value=f"{law.low!r} and {law.high!r}", remedy="mend the support"
        )
    middle = np.broadcast_to(0.5 * (low + high), (2, law.size or 1)) if law.size else 0.5 * (low + high) * np.ones(2)
    for name in ("cdf", "pdf"):
        value = np.asarray(getattr(law, name)(middle))
        if value.shape != middle.shape or value.dtype.kind not in "iuf":
            raise InputError(
                where,
                f"{name} must give one number for each point",
                value=f"{value.dtype} of shape {value.shape}",
                remedy="compute with numpy arrays",
            )
