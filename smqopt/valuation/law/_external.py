"""Laws from outside the package: they pass the conformance tests once, before use."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from smqopt.errors import InputError, SmqoptError
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._conformance import validate
from smqopt.valuation.law._parameters import checked_support
from smqopt.valuation.law._protocol import LawsInDoubt

_PACKAGE = __name__.partition(".")[0]
SHARES = (0.0625, 0.25, 0.5, 0.75, 0.9375)
"""Points of the support at which a sketch takes F, as shares of its width."""
METHODS = ("cdf", "pdf", "ppf", "virtual_cost")
"""What is asked for its shape first; where a law overrides none but cdf and pdf, the others rest on
these."""
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
    """Run the conformance tests on a law from outside the package, once.

    The package's own laws are left alone.

    Parameters
    ----------
    law
        Any law; of a law by owner, each part is looked at.

    Raises
    ------
    InputError
        If the support is bad, a parameter is nothing that a file can hold, or cdf or pdf do not
        answer with one number a point, or the law fails the conformance tests.
    """
    for part, _ in law.parts():
        if is_foreign(part) and part not in _PASSED:
            _check_support(part)
            _check_parameters(part)
            for name in METHODS:
                _check_answer(part, name)
            _guard(part, "what it claims", lambda law: validate(law, claims=True))
            _PASSED.add(part)


def sketch(law: Valuation) -> bytes:
    """Return bytes that tell apart laws whose data do not say all of them.

    None for the package's own laws.

    These are the ends of the support and values of F, for each part that is, or holds, such a law.
    """
    found = []
    for part in (one for held, _ in law.parts() for one in _possible(held)):
        if any(is_foreign(held) for held in laws_within(part)):
            low, high = (np.asarray(end, dtype=np.float64) for end in (part.low, part.high))
            found += [
                low.tobytes(),
                high.tobytes(),
                *(part.cdf(low + share * (high - low)).tobytes() for share in SHARES),
            ]
    return b"".join(found)


def laws_within(law: Valuation) -> Iterator[Valuation]:
    """Yield a law, and all laws that it is made of."""
    yield law
    for value in vars(law).values():
        for held in value if isinstance(value, tuple) else (value,):
            if isinstance(held, Valuation):
                yield from laws_within(held)


def _guard(law: Valuation, what: str, use: Callable[[Valuation], Any]) -> Any:
    """Use a law whose code is not ours; say so where it raises an error."""
    try:
        return use(law)
    except SmqoptError:
        raise
    except Exception as error:  # the code of others may raise anything
        raise InputError(
            f"the {law.name} law",
            f"{what} raises {type(error).__name__}: {error}",
            remedy="fix the law; compute with numpy arrays",
        ) from error


def _check_support(law: Valuation) -> None:
    """Check the ends of the support."""
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
            where, "must have 0 ≤ low < high < ∞", value=f"{law.low!r} and {law.high!r}", remedy="fix the support"
        )
    checked_support(where, law.low, law.high)


def _check_parameters(law: Valuation) -> None:
    """Check that the law can be told as data, as files of certificates hold it."""
    for name, value in _guard(law, "to_dict", lambda law: law.to_dict()).items():
        try:
            json.dumps({name: value}, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"the {law.name} law: parameter {name!r}",
                f"must be a finite number, a text, or a list of such, as files hold it, not a {type(value).__name__}",
                remedy="leave what is none out of `parameters`",
            ) from error


def _check_answer(law: Valuation, name: str) -> None:
    """Check the shape of what a method answers, for two points an owner."""
    points = 0.5 * (np.asarray(law.low) + law.high) if name in ("cdf", "pdf", "virtual_cost") else np.float64(0.5)
    asked = np.broadcast_to(points, (2, law.size) if law.size else (2,)).copy()
    value = _guard(law, name, lambda law: np.asarray(getattr(law, name)(asked)))
    if value.shape != asked.shape or value.dtype.kind not in "iuf":
        raise InputError(
            f"the {law.name} law",
            f"{name} must give one number for each point",
            value=f"{value.dtype} of shape {value.shape}",
            remedy="compute with numpy arrays",
        )


def _possible(law: Valuation) -> tuple[Valuation, ...]:
    return law.in_doubt if isinstance(law, LawsInDoubt) else (law,)
