"""A law of which scipy knows the density alone, integrated once."""

from __future__ import annotations

from typing import Any

import numpy as np

from smqopt.numeric import MASS, Floats, count_work, legendre_rule
from smqopt.valuation.scipy_laws._source import Frozen, Source

_NODES, _WEIGHTS = legendre_rule(20)
_FIRST, _MOST, _ROUNDS, _BLOCK = 32, 4_096, 48, 4_096
_AGREE = 2.0**-38
"""Two halves of a cell and the whole, relative to their mass,"""
_NOTHING = 2.0**-76
"""or to all mass, where the density is a power of the distance from an end."""
_PLACES = np.array([0.125, 0.5, 0.75])
"""Where on the support the sums are held against scipy's own."""


def sum_density(source: Source, low: float, high: float) -> Source:
    """Return a source that sums its density over cells where scipy would integrate it.

    Each cell of [low, high] holds a Gauss–Legendre sum, halved until the sums of halves agree with
    those of wholes. A density for which they do not, or not with scipy's cdf, stays as it was.
    """
    if not (isinstance(source, Frozen) and source.integrates):
        return source
    start = np.linspace(low, high, _FIRST + 1)
    left, right = start[:-1], start[1:]
    nothing = _NOTHING * _mass(source, left, right).sum()
    known: list[tuple[Floats, Floats]] = []
    for _ in range(_ROUNDS):
        middle = left + (right - left) / 2.0
        whole, halves = _mass(source, left, right), _mass(source, left, middle) + _mass(source, middle, right)
        good = np.abs(whole - halves) <= np.maximum(_AGREE * halves, nothing)
        known.append((left[good], halves[good]))
        left, right = np.append(left[~good], middle[~good]), np.append(middle[~good], right[~good])
        if left.size == 0 or left.size > _MOST:
            break
    if left.size:
        return source
    edges, masses = (np.concatenate(column) for column in zip(*known, strict=True))
    order = np.argsort(edges)
    found = _Integrated(source, np.append(edges[order], high), masses[order])
    theta = low + _PLACES * (high - low)
    ours, own = found("cdf", theta), source("cdf", theta)
    return found if np.all(np.abs(ours - own) <= MASS.value) else source


def _mass(source: Source, left: Floats, right: Floats) -> Floats:
    """Integrate the density between points, shape (m,) each."""
    found = np.empty(left.shape)
    for start in range(0, left.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        width = right[part] - left[part]
        density = source("pdf", left[part] + width * _NODES[:, np.newaxis])
        found[part] = width * np.sum(_WEIGHTS[:, np.newaxis] * density, axis=0)
    return found


class _Integrated(Frozen):
    """As scipy has it, but for the four functions that it would integrate."""

    def __init__(self, source: Frozen, edges: Floats, masses: Floats) -> None:
        super().__init__(source.distribution)
        self._edges = edges
        below, above = (float(source(name, edges[end])) for name, end in (("cdf", 0), ("sf", -1)))
        self._below = np.cumsum(np.append(below, masses))
        self._above = np.cumsum(np.append(above, masses[::-1]))[::-1]

    def __call__(self, function: str, x: Any) -> Floats:
        if function in ("logcdf", "logsf"):
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self(function[3:], x)))
        if function not in ("cdf", "sf"):
            return super().__call__(function, x)
        theta = np.clip(np.asarray(x, dtype=np.float64), self._edges[0], self._edges[-1])
        flat = theta.ravel()
        count_work(_NODES.size * flat.size)
        cell = np.clip(np.searchsorted(self._edges, flat, side="right") - 1, 0, self._edges.size - 2)
        if function == "cdf":
            sums = self._below[cell] + _mass(self, self._edges[cell], flat)
        else:
            sums = self._above[cell + 1] + _mass(self, flat, self._edges[cell + 1])
        return np.minimum(sums, 1.0).reshape(theta.shape)
