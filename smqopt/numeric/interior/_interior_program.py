"""A concave program over shares of units that meet in few rows, by interior steps.

They are primal-dual ones with Mehrotra's corrector (Nocedal and Wright 2006, chapter 19). Units
meet in few rows, so that a step solves a small system for each, all at once, and one for the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np
from scipy import sparse

from smqopt.numeric._arrays import Floats, Indices, Mask
from smqopt.numeric.interior._step_equations import StepEquations

_STEPS = 100
_TO_END = 0.995
"""Of the way to the next bound."""
_CLOSE, _NOTHING = 2.0**-38, 2.0**-36
"""What pairs may come to, in units of the objective, and rows be broken by, in theirs."""
_WORSE, _LONG = 2.0**10, 3
"""How far off points may be, in times of what they were at best, and for how many steps: what a
small acceptance is worth bends far in one."""
HELD = 2.0**-24
"""Rows that are broken by more in the end are not held."""
_ROUNDING = 2.0**-50
"""What a row may be broken by in its unit."""
_FEW = 128
"""Rows so many stand in the system of rows, whether they are of one unit or not."""
_FALL = 0.75
"""By how much of itself an acceptance that is needed may fall in a step."""
_HALVINGS, _MISSED = 12, 16.0
"""Of a step after which rows are missed by so many times more, or than what pairs come to."""
_INSIDE = 2.0**-30
"""Of the way from shares that hold rows to even ones, at least, where a search starts."""
_SLACK = 0.125
"""Of a row, at least, at the start."""
_AIMS, _BEHIND = (1e-4, 0.5), 64.0
"""The least and the largest part of what pairs come to that a step aims at; all of it where the
equations are missed by so many times more."""


class Concave(Protocol):
    """φ, one of each q ≥ 0; arrays of one shape."""

    def value(self, q: Floats, /) -> Floats:
        """Return φ(q)."""

    def slope(self, q: Floats, /) -> Floats:
        """Return φ′(q), which may be +∞ at 0."""

    def curvature(self, q: Floats, /) -> Floats:
        """Return −φ″(q) ≥ 0."""

    @property
    def needed(self) -> Mask:
        """Where φ(0) = −∞."""


@dataclass(frozen=True)
class ConcaveSum:
    """Σ m φ(q)."""

    phi: Concave
    m: Floats

    def at(self, q: Floats) -> float:
        return float(np.sum(self.m * self.phi.value(q)))

    def slope(self, q: Floats) -> Floats:
        return self.m * self.phi.slope(q)

    def bend(self, q: Floats) -> Floats:
        return self.m * self.phi.curvature(q)


@dataclass(frozen=True)
class _Point:
    """Shares and what rows leave, each with its multiplier; or a step of them."""

    x: Floats
    z: Floats
    s: Floats
    """Of joint rows, laws and rows of one unit."""
    y: Floats
    of_unit: Floats
    """The multiplier of each unit's sum of shares."""
    least: Floats
    """What the least of the laws comes to; shape (1,)."""

    def after(self, step: _Point, by: float) -> _Point:
        return _Point(*(getattr(self, one.name) + by * getattr(step, one.name) for one in fields(self)))


class InteriorProgram:
    """max Σ v x + Σ φ(F x), or the least of several, Σ m x = 1 in each unit, C x ≤ r.

    x are shares of prices in units m, about what each can be.
    """

    def __init__(
        self,
        worths: Sequence[ConcaveSum],
        r: Floats,
        equal: Mask,
        units: int,
        unit: Indices,
        value: Floats,
        usage: sparse.csc_array,
        lifts: sparse.csc_array,
        most: Floats,
        hold: Floats,
    ) -> None:
        order = np.argsort(unit, kind="stable")
        self._worths, self._order, unit = worths, order, unit[order]
        number = np.arange(unit.size) - np.searchsorted(unit, unit)
        self._at, self._shape = (unit, number), (units, int(number.max()) + 1)
        self._real = self._pad(np.ones(unit.size)) > 0
        self._value, self._most, self._hold = (self._pad(each[order]) for each in (value, most, hold))
        rows = sparse.csr_array(usage[:, order])
        rows.eliminate_zeros()
        of = np.repeat(np.arange(r.size), np.diff(rows.indptr))
        least, most = np.full(r.size, units), np.full(r.size, -1)
        np.minimum.at(least, of, unit[rows.indices])
        np.maximum.at(most, of, unit[rows.indices])
        local = (least == most) & ~equal & (r.size > _FEW)
        self._joint, self._local = np.flatnonzero(~local), np.flatnonzero(local)
        self._laws = len(worths) if len(worths) > 1 else 0
        self._r, self._count = np.append(r[self._joint], r[self._local]), r.size
        self._equal = np.concatenate([equal[self._joint], np.zeros(self._laws + self._local.size, dtype=np.bool_)])
        self._C = np.zeros((*self._shape, self._joint.size))
        self._C[self._at] = rows[self._joint].toarray().T
        # what lies in one unit: lifted acceptances, and rows
        self._lifted = lifts.shape[0]
        self._needed = np.any([one.phi.needed for one in worths], axis=0)
        inner = sparse.csr_array(sparse.vstack([sparse.csr_array(lifts[:, order]), rows[self._local]]))
        inner.eliminate_zeros()
        of = np.repeat(np.arange(inner.shape[0]), np.diff(inner.indptr))
        self._of = np.zeros(inner.shape[0], dtype=np.intp)
        self._of[of] = unit[inner.indices]
        self._inner = np.zeros((inner.shape[0], self._shape[1]))
        self._inner[of, number[inner.indices]] = inner.data
        self._by_unit = np.argsort(self._of, kind="stable")
        self._some, self._first = np.unique(self._of[self._by_unit], return_index=True)

    def solve(self) -> tuple[Floats, Floats, Floats, Floats] | None:
        """Return shares, multipliers of rows, those of laws, and lifted acceptances."""
        best, off = self._steps(self._start(self._inside()))
        if off > HELD:  # rows that are tight leave no room to start in
            even = 1.0 / self._most.sum(axis=1, keepdims=True)
            best, off = self._steps(self._start(np.where(self._real, even, 1.0)))
        if best is None or off > HELD:
            return None
        y, k = np.zeros(self._count), self._joint.size
        charged = np.where(self._equal | (best.y > best.s), best.y, 0.0)
        y[self._joint], y[self._local] = charged[:k], charged[k + self._laws :]
        kept = np.where(self._real & (best.x > _NOTHING), self._most * best.x, 0.0)
        share = np.empty(self._order.size)
        share[self._order] = (kept / np.sum(kept, axis=1, keepdims=True))[self._at]
        w = best.y[k : k + self._laws] if self._laws else np.ones(1)
        return share, y, w, self._acceptance(best.x)

    def _steps(self, p: _Point) -> tuple[_Point | None, float]:
        """Take steps from a point; return the best one, and how far it is off."""
        best, off, worse = None, np.inf, 0
        for _ in range(_STEPS):
            q, pairs = self._acceptance(p.x), self._pairs(p)
            gap = float(np.sum(pairs))
            dual = float(np.sum(np.max(np.abs(self._dual(p, q)), axis=1)))
            size = max(1.0, *(abs(one.at(q)) for one in self._worths))
            here = max(
                gap / size,
                dual / size,
                *(np.max(np.abs(each), initial=0.0) for each in (self._left(p, q), self._sums(p.x))),
            )
            if here < off:
                best, off = p, here
            worse = 0 if here < _WORSE * off else worse + 1
            if off <= _CLOSE or worse > _LONG or not np.isfinite(here):
                break
            try:
                toward = self._newton(p, q)
            except np.linalg.LinAlgError:  # out of the doubles
                break
            one = toward(0.0)
            room = min(1.0, self._room(p, one))
            rest = float(np.sum(self._pairs(p.after(one, room))))
            to = 1.0 if here > _BEHIND * gap else min(max((rest / gap) ** 3, _AIMS[0]), _AIMS[1])
            aim = to * gap / pairs.size
            two = toward(aim, one, room**2)
            part, missed = min(1.0, _TO_END * self._room(p, two)), _MISSED * max(gap, *np.abs(self._left(p, q)))
            fall = -self._along(two.x)[: self._lifted][self._needed] / (_FALL * q[self._needed])
            part = min(part, 1.0 / np.max(fall, initial=1.0))  # bends as 1/q does
            for _ in range(_HALVINGS):  # what the laws come to bends
                further = self._settle(p.after(two, part))
                if np.max(np.abs(self._left(further, self._acceptance(further.x)))) <= missed:
                    break
                part *= 0.5
            p = further
        return best, off

    def _inside(self) -> Floats:
        """Return shares between those that hold rows and cheap ones, with room in rows."""
        k = self._joint.size
        used = np.maximum(self._C, 0.0) @ (1.0 / np.maximum(np.abs(self._r[:k]), 1.0)) * self._shape[0]
        x = np.where(self._real, 1.0 / (1.0 + used), 0.0)
        x = np.where(self._real, x / np.sum(self._most * x, axis=1, keepdims=True), 1.0)
        even, held = (np.einsum("nj,njr->r", np.where(self._real, each, 0.0), self._C) for each in (x, self._hold))
        rise, left = (even - held)[~self._equal[:k]], (self._r[:k] - held)[~self._equal[:k]]
        far = 0.5 * np.min(np.maximum(left, 0.0)[rise > 0] / rise[rise > 0], initial=2.0)
        return np.where(self._real, self._hold + max(far, _INSIDE) * (x - self._hold), 1.0)

    def _start(self, x: Floats) -> _Point:
        q, k = self._acceptance(x), self._joint.size
        least = np.array([min(one.at(q) for one in self._worths) - _SLACK])
        size = max(1.0, abs(float(least[0])))
        s = np.maximum(-self._left(_Point(x, x, np.zeros(self._equal.size), x, x, least), q), _SLACK)
        y = np.where(self._equal, 0.0, size / (self._shape[0] * s))
        y[k : k + self._laws] = 1.0 / max(self._laws, 1)
        z = np.where(self._real, size / (self._shape[0] * x), 1.0)
        return _Point(x, z, np.where(self._equal, 0.0, s), y, np.zeros(self._shape[0]), least)

    def _settle(self, p: _Point) -> _Point:
        """Let rows leave what they do leave, unless that is far less."""
        left = p.s - self._left(p, self._acceptance(p.x))
        s = np.where(left > 0.5 * p.s, left, p.s)
        return replace(p, s=np.where(self._equal, 0.0, np.maximum(s, _ROUNDING)))  # what is less has no sign

    def _newton(self, p: _Point, q: Floats) -> Callable[..., _Point]:
        """Factorise the equations at a point; return steps to other aims."""
        k, n_laws, L = self._joint.size, self._laws, self._lifted
        w = p.y[k : k + n_laws] if n_laws else np.ones(1)
        slopes = [one.slope(q) for one in self._worths]
        of_local, s_local = p.y[k + n_laws :], p.s[k + n_laws :]
        bends = np.sum([x * one.bend(q) for x, one in zip(w, self._worths, strict=True)], axis=0)
        root = np.where(self._real, np.sqrt(p.x / p.z), 0.0)
        M = self._outer(np.append(bends, of_local / s_local)) * root[:, :, np.newaxis] * root[:, np.newaxis]
        M[:, np.arange(M.shape[1]), np.arange(M.shape[1])] += 1.0
        of_laws = [-self._back(np.append(slope, 0.0 * of_local)) for slope in slopes[:n_laws]]
        Q = np.concatenate([self._C, *(each[:, :, np.newaxis] for each in of_laws)], axis=2) * root[:, :, np.newaxis]
        outer, free = k + n_laws, ~self._equal[: k + n_laws]
        own = np.zeros((outer + (n_laws > 0), outer + (n_laws > 0)))
        own[np.arange(outer), np.arange(outer)] = -np.divide(p.s[:outer], p.y[:outer], out=np.zeros(outer), where=free)
        own[k:outer, outer:] = own[outer:, k:outer] = 1.0
        system = StepEquations(M, self._most * root, Q, own)
        dual = self._dual(p, q)
        left, sums = self._left(p, q), self._sums(p.x)
        rest = np.full(int(n_laws > 0), 1.0 - np.sum(w))

        def toward(aim: float, other: _Point | None = None, part: float = 0.0) -> _Point:
            xz, sy = p.x * p.z, p.s * p.y
            if other is not None:
                xz, sy = xz + part * other.x * other.z, sy + part * other.s * other.y
            to_x = (aim - xz) / p.x
            to_s = np.divide(aim - sy, p.y, out=np.zeros(sy.size), where=~self._equal)
            need = -left - to_s
            a = (to_x - dual + self._back(np.append(0.0 * bends, of_local / s_local * need[outer:]))) * root
            right = np.append(need[:outer], rest)
            u, of_unit, o = system.solve(a, sums, right)
            dx, dy = u * root, o[:outer]
            along, least = self._along(dx), o[outer:] if n_laws else np.zeros(1)
            of_inner = of_local / s_local * (along[L:] - need[outer:])
            of_each = [float(least[0] - one @ along[:L]) for one in slopes[:n_laws]]
            way = np.concatenate([np.einsum("nj,njr->r", dx, self._C), of_each, along[L:]])
            ds = np.where(self._equal, 0.0, -left - way)
            dz = np.where(self._real, to_x - p.z / p.x * dx, 0.0)
            return _Point(dx, dz, ds, np.append(dy, of_inner), of_unit, least)

        return toward

    def _acceptance(self, x: Floats) -> Floats:
        return np.maximum(self._along(np.where(self._real, x, 0.0))[: self._lifted], 0.0)

    def _left(self, p: _Point, q: Floats) -> Floats:
        """Return what rows are missed by, with what they leave."""
        x = np.where(self._real, p.x, 0.0)
        k = self._joint.size
        joint = np.einsum("nj,njr->r", x, self._C) - self._r[:k]
        laws = [float(p.least[0]) - one.at(q) for one in self._worths][: self._laws]
        return np.concatenate([joint, laws, self._along(x)[self._lifted :] - self._r[k:]]) + p.s

    def _dual(self, p: _Point, q: Floats) -> Floats:
        """Return what each column gains beyond its multipliers."""
        k = self._joint.size
        w = p.y[k : k + self._laws] if self._laws else np.ones(1)
        worth = np.sum([x * one.slope(q) for x, one in zip(w, self._worths, strict=True)], axis=0)
        gains = self._value + self._back(np.append(worth, -p.y[k + self._laws :]))
        return np.where(self._real, self._C @ p.y[:k] + self._most * p.of_unit[:, np.newaxis] - p.z - gains, 0.0)

    def _sums(self, x: Floats) -> Floats:
        return np.asarray(np.sum(self._most * x, axis=1) - 1.0)

    def _pairs(self, p: _Point) -> Floats:
        return np.append((p.x * p.z)[self._real], (p.s * p.y)[~self._equal])

    def _room(self, p: _Point, step: _Point) -> float:
        """Return how much of a step leaves all positive that must be."""
        ends = []
        for name, mask in (("x", self._real), ("z", self._real), ("s", ~self._equal), ("y", ~self._equal)):
            here, way = getattr(p, name)[mask], getattr(step, name)[mask]
            ends.append(np.min(-here[way < 0] / way[way < 0], initial=np.inf))
        return float(min(ends))

    def _pad(self, each: Floats) -> Floats:
        table = np.zeros(self._shape)
        table[self._at] = each
        return table

    def _along(self, x: Floats) -> Floats:
        return np.asarray(np.einsum("lj,lj->l", self._inner, x[self._of]))

    def _back(self, d: Floats) -> Floats:
        """Return Σ d F over the lines of each unit."""
        table = np.zeros(self._shape)
        if self._some.size:
            table[self._some] = np.add.reduceat((self._inner * d[:, np.newaxis])[self._by_unit], self._first, axis=0)
        return table

    def _outer(self, d: Floats) -> Floats:
        """Return Σ d F Fᵀ over the lines of each unit."""
        table = np.zeros((*self._shape, self._shape[1]))
        if self._some.size:
            lines = self._inner[self._by_unit]
            each = (d[self._by_unit, np.newaxis] * lines)[:, :, np.newaxis] * lines[:, np.newaxis]
            table[self._some] = np.add.reduceat(each, self._first, axis=0)
        return table
