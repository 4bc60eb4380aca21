"""Newton steps with a sparse matrix of derivatives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from smqopt.numeric._arrays import Floats

_STEPS, _PARTS = 12, (1.0, 0.5, 0.25, 0.125)
"""Newton steps, and what of a step is taken where the whole does not lead nearer."""
_DENSE = 256, 2048
"""Up to so many unknowns the shortest step is taken: always, and where equations leave it open."""
_LONG = 2.0**10
"""A step that leads farther follows from equations that leave it open."""


def newton_steps(
    residual: Callable[[Floats], Floats], v: Floats, jacobian: Callable[[Floats, Floats], sparse.csc_array]
) -> Floats:
    """Take Newton steps as long as they shorten what is left of the way.

    That is measured in unknowns, by the derivatives at hand (Deuflhard 2011, section 3.1):
    equations need no common unit.
    """
    r = residual(v)
    for _ in range(_STEPS if r.size and np.isfinite(r).all() else 0):
        J = jacobian(v, r)
        if not np.isfinite(J.data).all():
            break
        step = _step(J, r)
        for part in _PARTS:
            after = residual(v - part * step)
            if np.isfinite(after).all() and _size(_step(J, after)) < _size(step):
                break
        else:
            break
        v, r = v - part * step, after
    return v


def _size(step: Floats) -> float:
    return float(np.max(np.abs(step), initial=0.0))


def _step(J: sparse.csc_array, r: Floats) -> Floats:
    """Return a step; of few equations that leave it open, the shortest one."""
    largest = abs(J).max(axis=1).toarray().ravel()
    units = np.where(largest > 0, largest, 1.0)  # equations have no common unit
    J, r = sparse.csc_array(sparse.diags_array(1.0 / units) @ J), r / units
    step = np.full(r.size, np.nan)
    if r.size > _DENSE[0]:
        with contextlib.suppress(RuntimeError):  # singular
            step = np.asarray(splu(J).solve(r))
    if r.size <= _DENSE[1] and not np.max(np.abs(step), initial=0.0) <= _LONG:
        step = np.asarray(np.linalg.lstsq(J.toarray(), r, rcond=None)[0])
    return step
