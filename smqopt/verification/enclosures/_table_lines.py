"""Support lines of laws with a proved table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from smqopt.numeric import Floats, precision, rounded_up
from smqopt.valuation import (
    Index,
    Ironed,
    PiecewiseUniform,
    ProvedTable,
    Regular,
    Valuation,
    iron,
    proved_table,
    step_law,
)
from smqopt.verification.enclosures._cover_terms import CoverCurve
from smqopt.verification.enclosures._curve import Curve, Rows
from smqopt.verification.enclosures._line_protocol import ABOVE, BELOW, BITS, Lines
from smqopt.verification.enclosures._monotone_cover import Shape
from smqopt.verification.enclosures._provable import Provable, provable


@dataclass(frozen=True, eq=False)
class _Segments:
    """Intervals of thresholds on which lines lie below C, s of them."""

    start: Floats
    end: Floats
    edge: Floats
    """Thresholds at which C may have a kink, or a segment ends; rising, in currency."""
    slope_above: Floats
    """At most the largest slope of a line there, shape of `edge`."""
    slope_below: Floats


@dataclass(frozen=True, eq=False)
class TableLines:
    """Lines at the thresholds of a table."""

    table: ProvedTable
    rule: str
    digest: str
    jumps: float
    segments: _Segments
    slack: float = 0.0
    first_slope: float = np.nan

    def ends(self, owners: Index) -> tuple[float | Floats, float | Floats]:  # noqa: ARG002 -- common to all
        return float(self.table.edges[0]), float(self.table.edges[-1])

    def at(self, theta: Floats, owners: Index) -> Lines:  # noqa: ARG002
        low, high, least, most = self.table.enclose_with_density(theta)
        above, below = _slopes(theta, low, high, least, most)
        own = self.segments
        if own.start.size > 1 or own.start[0] > self.table.edges[0] or own.end[0] < self.table.edges[-1]:
            k = np.searchsorted(own.start, theta, side="right") - 1
            outside = (k < 0) | (theta > own.end[k])
            above[outside] = below[outside] = np.nan
        if own.edge.size:
            k = np.minimum(np.searchsorted(own.edge, theta), own.edge.size - 1)
            at = np.flatnonzero(own.edge[k] == theta)
            above[at], below[at] = own.slope_above[k[at]], own.slope_below[k[at]]
        below[theta <= self.table.edges[0]] = self.table.edges[0] * ABOVE  # no less is accepted
        return Lines(low, high, above, below)


def _slopes(theta: Floats, low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Bound J = θ + F/f from bounds of F and f: at most, and at least."""
    with np.errstate(all="ignore"):
        above = (theta + np.where(low > 0, low / most, 0.0)) * BELOW
        below = (theta + np.where(high > 0, high / least, 0.0)) * ABOVE
    return above, below


def table_lines(law: Valuation) -> TableLines | str:
    found = provable(law)
    if isinstance(found, str) or found.unproved:
        return found if isinstance(found, str) else found.unproved
    table = proved_table(law)
    if isinstance(table, str):
        return table
    with precision(BITS):
        jumps = float(table.ends[3])
        whole = _Segments(table.edges[:1], table.edges[-1:], *np.empty((3, 0)))
        verdict = law.regularity()
        if not isinstance(verdict, Regular):
            return _on_segments(law, found, TableLines(table, found.rule, table.digest, jumps, whole))
        knots = table.knots[1:-1]
        kinks = _Segments(
            whole.start, whole.end, knots, _slopes_beside(table, knots)[0], _slopes_beside(table, knots, below=True)[1]
        )
        return TableLines(table, verdict.method, table.digest, jumps, kinks)


def _slopes_beside(table: ProvedTable, theta: Floats, *, below: bool = False) -> tuple[Floats, Floats]:
    return _slopes(theta, *table.enclose_with_density(theta, below=below))


def _on_segments(law: Valuation, found: Provable, lines: TableLines) -> TableLines | str:
    """Bound the slack of lines where C is convex and the hull touches it."""
    curve = found.curve()
    rising = _rising(law, curve)
    low, high = float(law.low), float(law.high)
    edges: dict[float, list[float]] = {}
    segments: list[tuple[float, float]] = []
    slack = 0.0
    for a, b, before, after in _hull_contacts(law, rising):
        segments.append((a, b))
        starts, ends = (_slopes_beside(lines.table, np.array([t]), below=k == 1) for k, t in enumerate((a, b)))
        sides = (
            (a, a > low, before, float(starts[0][0]), float(starts[1][0])),
            (b, b < high, after, float(ends[0][0]), float(ends[1][0])),
        )
        for t, inner, given, least, most in sides:
            is_start = t is a
            if not inner:
                continue
            slope = given if given is not None else least if is_start else most
            if not slope < np.inf:
                return f"the virtual cost of the {law.name} law is not known at {t!r}"
            slack = max(slack, _excess(curve, lines.table, slope, t, low, high))
            if a < b:
                slack = max(slack, slope - least if is_start else most - slope)
            edges.setdefault(t, []).extend(
                [slope, *((least,) if is_start and a < b else ()), *((most,) if not is_start and a < b else ())]
            )
    if not segments:
        return f"no interval is known on which the virtual cost of the {law.name} law rises"
    at = sorted(edges)
    own = _Segments(
        np.array([a for a, _ in segments]), np.array([b for _, b in segments]), np.array(at),
        np.array([max(edges[t]) for t in at]), np.array([min(edges[t]) for t in at]),
    )  # fmt: skip
    return replace(lines, segments=own, slack=slack * ABOVE)


def _excess(curve: Curve, table: ProvedTable, slope: float, t: float, low: float, high: float) -> float:
    """Bound by how much the line of a slope at a threshold lies above C somewhere."""
    one = np.ones(1)
    rows = Rows(np.zeros(1, dtype=np.intp), slope * one, one, one, t * one, low * one, high * one)
    F = table.enclose(np.array([t]))
    height = arb(float(F[0][0])).union(arb(float(F[1][0]))) * (arb(slope) - arb(t))
    return max(rounded_up(curve.tops(rows, [None]) - height), 0.0)


def _rising(law: Valuation, curve: Curve) -> list[tuple[float, float]]:
    """Return the intervals on which J is proved to rise."""
    if isinstance(law, PiecewiseUniform):
        pieces = step_law(law)
        assert pieces is not None  # noqa: S101
        return [(float(a), float(b)) for a, b, _, slope in pieces[0][0].lines() if slope]
    assert isinstance(curve, CoverCurve)  # noqa: S101
    return [(run[0].low, run[-1].high) for run in curve.cover(0).runs(Shape.CONVEX)]


def _hull_contacts(
    law: Valuation, rising: list[tuple[float, float]]
) -> Iterator[tuple[float, float, float | None, float | None]]:
    """Yield where the hull touches C, with the slopes of flat pieces before and after.

    The flat pieces are those found in floating point: any will do, good ones make the slack small.
    """
    answer = iron(law)
    pieces = (
        list(zip(*(getattr(answer.pieces, name).tolist() for name in ("low", "high", "slope")), strict=True))
        if isinstance(answer, Ironed)
        else []
    )
    starts = [(float(law.low), None), *((high, slope) for _, high, slope in pieces)]
    ends = [*((low, slope) for low, _, slope in pieces), (float(law.high), None)]
    for (start, before), (end, after) in zip(starts, ends, strict=True):
        if start == end:
            yield start, end, before, after
        for a, b in rising:
            low, high = max(a, start), min(b, end)
            if low < high:
                yield low, high, before if low == start else None, after if high == end else None
