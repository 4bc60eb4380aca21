"""The equations of an interior step: a system for each unit, and one for rows."""

from __future__ import annotations

import numpy as np

from smqopt.numeric._arrays import Floats

_REFINED = 2
"""Times that what a step misses of its equations is solved for."""


class StepEquations:
    """M u + root l + Q o = a, root · u = −sums in each unit, Σ Qᵀ u + own o = right."""

    def __init__(self, M: Floats, root: Floats, Q: Floats, own: Floats) -> None:
        self._M, self._root, self._Q, self._own, self._outer = M, root, Q, own, Q.shape[2]
        if not np.isfinite(M).all():
            raise np.linalg.LinAlgError("out of the doubles")
        self._inverse = np.linalg.inv(M)
        self._ir = self._inner(root[:, :, np.newaxis])[:, :, 0]
        self._rr = np.sum(root * self._ir, axis=1)
        self._mean = np.einsum("ni,nir->nr", self._ir, Q) / self._rr[:, np.newaxis]
        apart = Q - root[:, :, np.newaxis] * self._mean[:, np.newaxis]  # of which nothing cancels
        self._iQ, S = self._inner(apart), own.copy()
        S[: self._outer, : self._outer] -= np.einsum("nir,nis->rs", apart, self._iQ)
        if not np.isfinite(S).all():
            raise np.linalg.LinAlgError("out of the doubles")
        self._unit = np.sqrt(1.0 / np.maximum(np.max(np.abs(S), axis=1, initial=0.0), np.finfo(float).tiny))
        self._S = S * self._unit[:, np.newaxis] * self._unit

    def solve(self, a: Floats, sums: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
        """Return u, l and o, the multipliers of units and rows."""
        u, of_unit, o = self._once(a, sums, right)
        for _ in range(_REFINED):
            missed = (
                a
                - np.einsum("nij,nj->ni", self._M, u)
                - self._root * of_unit[:, np.newaxis]
                - self._Q @ o[: self._outer]
            )
            of_rows = right - self._own @ o
            of_rows[: self._outer] -= np.einsum("nir,ni->r", self._Q, u)
            more = self._once(missed, sums + np.sum(self._root * u, axis=1), of_rows)
            u, of_unit, o = u + more[0], of_unit + more[1], o + more[2]
        return u, of_unit, o

    def _once(self, a: Floats, sums: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
        ia = self._inner(a[:, :, np.newaxis])[:, :, 0]
        first = (np.sum(self._root * ia, axis=1) + sums) / self._rr
        u, right = ia - self._ir * first[:, np.newaxis], right.copy()
        right[: self._outer] -= np.einsum("nir,ni->r", self._Q, u)
        o = self._unit * np.linalg.lstsq(self._S, self._unit * right, rcond=0.0)[0] if right.size else right
        return u - self._iQ @ o[: self._outer], first - self._mean @ o[: self._outer], o

    def _inner(self, b: Floats) -> Floats:
        u = self._inverse @ b
        return np.asarray(u + self._inverse @ (b - self._M @ u))
