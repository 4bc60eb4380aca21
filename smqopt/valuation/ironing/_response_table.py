"""Answers to a price from a table, for a law that is common to many owners.

Then threshold and acceptance depend on an owner only through v = ε/λ. The table holds θ(v) on
octaves of v − low and F(θ) on octaves of θ − low: acceptance is that of the threshold as it is
delivered. Where the table of F is not as good as the law's own F to the last digits, or the law's
own is noisy, it serves for estimates only, and what is delivered is the law's own. Where θ(v) has a
jump or a corner, or F is not smooth, pieces are left out, and owners who fall there get the law's
own answer.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import ACCEPTANCE, BUDGET_MARGIN, Floats, OctaveTable, tabulate
from smqopt.valuation.ironing._ironed_law import Ironed
from smqopt.valuation.ironing._step_response import StepResponse, step_response
from smqopt.valuation.law._base import Valuation

_THRESHOLD_MISS = 2.0**-46
"""By how much a threshold may miss the law's own, relative to it."""
_ACCEPTANCE_MISS = 2.0**-46
"""By how much an estimate of acceptance may miss F(θ), relative to F(θ)."""
_THRESHOLD_MISS_OF_TABLE = 2.0**-44
"""The same, where J is read in a proved table: its densities jump by 2⁻⁴⁶ between cells."""
_ACCEPTANCE_MISS_OF_TABLE = 2.0**-51
"""The same, where F is read in a proved table, which has no noise."""
_NOTHING = 2.0**-80
"""An estimate of acceptance may miss F(θ) by so much anyway."""
_DELIVERED_MISS = 0.5 * ACCEPTANCE.value
"""By how much acceptances from a table that are delivered may miss F(θ) at `_TRIED` thresholds:
half of what a certificate allows."""
_DELIVERED_MISS_RELATIVE = 0.5 * BUDGET_MARGIN.value
"""The same, relative to F(θ),"""
_FAINT = 2.0**-56
"""or to this where F is less."""
_TRIED = 1 << 12
_BELOW = 40
"""Octaves below the highest virtual cost, where that is finite, and below the width of the support
for F."""
_AROUND = (-26, 10)
"""Octaves about the width of the support where the virtual cost has no bound."""
_FARTHEST = 100
"""With a support whose width is a larger power of two, or a smaller one, coefficients could leave
the range of doubles."""
_BITS = (8, 10, 12)
"""log2 of the pieces of an octave that are tried."""
_LITTLE_LEFT_OUT = 0.02
"""Where a table leaves out a larger share of its range, a finer one is tried."""
_MOST_LEFT_OUT = 0.25
"""Where the finest leaves out a larger share, no table is used."""


@dataclass(frozen=True, eq=False)
class _Tables:
    """What is made once for a law."""

    low: float
    high: float
    scale: float
    """What v − low is divided by: the rise of the virtual cost over the support, or where that has
    no bound its width."""
    thresholds: OctaveTable
    acceptance: OctaveTable
    delivers: bool
    """Whether acceptances from the table are good enough to be delivered."""


@dataclass(frozen=True, eq=False)
class ResponseTable:
    """A common law, or one with flat pieces, with the table of its answers."""

    answer: Valuation | Ironed
    law: Valuation
    tables: _Tables

    def estimate(self, v: Floats) -> tuple[Floats, Floats]:
        """Return threshold and acceptance at v = ε/λ ≥ 0, both of shape (m,).

        Θ(v), and F(θ) nearly.
        """
        low, high = self.tables.low, self.tables.high
        theta = self._thresholds(v)
        q = self.tables.acceptance(theta - low if low else theta)
        np.minimum(q, 1.0, out=q)
        np.putmask(q, theta >= high, 1.0)
        left = np.flatnonzero(np.isnan(q))
        if left.size:
            q[left] = 0.0
            found = left[theta[left] > low]
            if found.size:
                q[found] = self.law.cdf(theta[found])
        return theta, q

    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        """Return threshold and acceptance at v = ε/λ ≥ 0 (KKT); shape (m,) each."""
        if self.tables.delivers:
            return self.estimate(v)
        theta = self._thresholds(v)
        return theta, self.law.cdf(theta)

    def _thresholds(self, v: Floats) -> Floats:
        t = self.tables
        with np.errstate(invalid="ignore", over="ignore"):  # an infinite v is left to the law
            theta = t.thresholds((v - t.low) * (1.0 / t.scale) if t.low else v * (1.0 / t.scale))
        np.minimum(theta, t.high, out=theta)
        if t.low:
            np.maximum(theta, t.low, out=theta)
        left = np.flatnonzero(np.isnan(theta))
        if left.size:
            theta[left] = t.low
            lost = left[v[left] > t.low]
            if lost.size:
                theta[lost] = _threshold(self.answer, v[lost])
        return theta

    def corners(self) -> list[tuple[float, float]]:
        """Return intervals of v outside which, turns apart, the answer is smooth."""
        t = self.tables
        pieces = [t.thresholds.edges(piece) for piece in _gaps(t.thresholds)]
        found = [(t.low, t.low), (t.low + t.scale, t.low + t.scale)]
        found += [(t.low + t.scale * a, t.low + t.scale * b) for a, b in pieces]
        if isinstance(self.answer, Ironed):
            found += [(v, v) for v in self.answer.pieces.slope.tolist()]
        for gap in _gaps(t.acceptance):
            costs = self.law.virtual_cost(np.clip(t.low + t.acceptance.edges(gap), t.low, t.high))
            if np.isfinite(costs).all():
                found.append((float(costs.min()), float(costs.max())))
        return found

    def turns(self) -> Floats:
        """Return values of v at which the answer turns: J at knots of the law."""
        knots = self.law.knots()[1:-1]
        beside = np.concatenate([knots, np.nextafter(knots, -np.inf)])
        costs = self.law.virtual_cost(beside)
        return np.unique(costs[np.isfinite(costs)])


def _gaps(table: OctaveTable) -> list[NDArray[np.int64]]:
    """Return the runs of pieces that were left out.

    The first, and the one after the last.
    """
    gaps = np.flatnonzero(np.isnan(table.coefficients[0, 1:-1]))
    runs = np.split(gaps, np.flatnonzero(np.diff(gaps) > 1) + 1) if gaps.size else []
    return [np.array([run[0], run[-1] + 1]) for run in runs]


def response_table(answer: Valuation | Ironed) -> ResponseTable | StepResponse | None:
    """Make the table of a law's answers, once.

    None where the law is not common, does not profit, or is too rough for a table.
    """
    law = answer.law if isinstance(answer, Ironed) else answer
    if law not in _STEPS:
        _STEPS[law] = step_response(answer)
    steps = _STEPS[law]
    if steps is not None:
        return steps
    own = _as_read(law)
    answer = Ironed(own, answer.pieces, answer.owners) if isinstance(answer, Ironed) else own
    if law not in _TABLES:
        _TABLES[law] = _make(answer, own)
    tables = _TABLES[law]
    return None if tables is None else ResponseTable(answer, own, tables)


def _as_read(law: Valuation) -> Valuation:
    """Return what tells F soonest: the law, or its proved table."""
    if law.size is not None or not law.reads_table:
        return law
    from smqopt.valuation.table._known_tables import law_by_table  # noqa: PLC0415 (loads sympy)

    return law_by_table(law)


_STEPS: weakref.WeakKeyDictionary[Valuation, StepResponse | None] = weakref.WeakKeyDictionary()
_TABLES: weakref.WeakKeyDictionary[Valuation, _Tables | None] = weakref.WeakKeyDictionary()
"""What was made, law by law; laws do not change."""


def _make(answer: Valuation | Ironed, law: Valuation) -> _Tables | None:
    if law.size is not None or not (law.table_pays or isinstance(answer, Ironed)):
        return None
    low, high = float(law.low), float(law.high)
    if not low < high or float(law.cdf(low)) != 0:
        return None
    rise, octave = _highest(answer, high) - low, math.frexp(high - low)[1]
    if not rise > 0 or abs(octave) > _FARTHEST:
        return None
    scale = rise if rise < math.inf else high - low
    read = law.name == "tabulated"
    near, miss = (_THRESHOLD_MISS_OF_TABLE, _ACCEPTANCE_MISS_OF_TABLE) if read else (_THRESHOLD_MISS, _ACCEPTANCE_MISS)
    thresholds = _fine_enough(
        lambda u: _threshold(answer, low + scale * u),
        lambda theta: near * theta,
        *((-_BELOW, 0) if rise < math.inf else _AROUND),
        beyond=high if rise < math.inf else math.nan,
        top=1.0,
    )
    acceptance = _fine_enough(
        lambda d: _cdf_above(law, low, high, d),
        lambda q: miss * q + _NOTHING,
        octave - _BELOW,
        octave,
        beyond=math.nan,
        top=high - low,
    )
    if thresholds is None or acceptance is None:
        return None
    return _Tables(low, high, scale, thresholds, acceptance, _delivers(law, low, high, acceptance))


def _threshold(answer: Valuation | Ironed, v: Floats) -> Floats:
    return answer.offer(v)[0] if isinstance(answer, Ironed) else answer.inverse_virtual_cost(v)


def _cdf_above(law: Valuation, low: float, high: float, d: Floats) -> Floats:
    """Return F(low + d), with the rounding of low + d made good to first order."""
    theta = np.minimum(low + d, high)
    F = law.cdf(theta)
    if low == 0:
        return F
    missed = np.where(d > high - low, 0.0, d - (theta - low))
    return np.where(missed != 0, F + law.pdf(theta) * missed, F)


def _fine_enough(
    function: Callable[[Floats], Floats],
    allowed: Callable[[Floats], Floats],
    lowest: int,
    highest: int,
    *,
    beyond: float,
    top: float,
) -> OctaveTable | None:
    """Make the coarsest table that answers most of [0, top]."""
    for bits in _BITS:
        table = tabulate(function, allowed, lowest, highest, beyond=beyond, bits=bits)
        left_out = float(np.mean(np.isnan(table(top * (np.arange(_TRIED) + 0.5) / _TRIED))))
        if left_out <= (_MOST_LEFT_OUT if bits == _BITS[-1] else _LITTLE_LEFT_OUT):
            return table
    return None


def _delivers(law: Valuation, low: float, high: float, acceptance: OctaveTable) -> bool:
    """Compare a table with F on an even grid and on a geometric one."""
    even = (np.arange(_TRIED // 2) + 0.5) / (_TRIED // 2)
    theta = np.concatenate([low + (high - low) * even, low + (high - low) * 2.0 ** (-_BELOW * even)])
    theta = theta[(theta > low) & (theta < high)]
    q = acceptance(theta - low)
    F = law.cdf(theta)
    off = np.abs(q - F)[~np.isnan(q)]
    return bool(
        np.all(off <= np.minimum(_DELIVERED_MISS, _DELIVERED_MISS_RELATIVE * np.maximum(F[~np.isnan(q)], _FAINT)))
    )


def _highest(answer: Valuation | Ironed, high: float) -> float:
    """Return the least v at which the answer is the top of the support.

    +∞ where there is none.
    """
    law = answer.law if isinstance(answer, Ironed) else answer
    if isinstance(answer, Ironed) and len(answer.pieces) and answer.pieces.high[-1] >= high:
        return float(answer.pieces.slope[-1])
    return float(law.virtual_cost(high))
