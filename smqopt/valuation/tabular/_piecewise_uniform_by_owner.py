"""Histograms by owner.

What `ByOwner` makes of several, and the empirical law given ε is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.numeric import Floats, Indices
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._verdict import Irregular, Regular, Undecided, Verdict
from smqopt.valuation.tabular._histogram_table import Histograms


class HistogramLaw(Protocol):
    """What is asked of each law of the table."""

    edges: Floats
    masses: Floats
    table: Histograms

    def regularity(self) -> Verdict:
        """Decide whether J is non-decreasing."""
        ...

    def rescale(self, factor: float) -> Any:
        """Make the histogram of factor·θ."""
        ...


@final
class PiecewiseUniformByOwner(Valuation):
    """Owner i has histogram number `which[i]` of a table.

    Work goes owners at once, and the hull of a histogram is built once.

    Parameters
    ----------
    histograms
        The table.
    which
        Shape (n,): numbers of histograms, from 0.

    Raises
    ------
    InputError
        If there is no histogram or no owner, or a number is none of a histogram.
    """

    name = "piecewise-uniform-by-owner"
    table_pays = False
    answers_on_hull = True

    low: Floats
    high: Floats

    def __init__(self, histograms: Sequence[HistogramLaw], which: ArrayLike) -> None:
        numbers = np.asarray(which)
        good = numbers.ndim == 1 and numbers.size > 0 and numbers.dtype.kind in "iu" and len(histograms) > 0
        if not good or not np.all((numbers >= 0) & (numbers < len(histograms))):
            raise InputError(
                f"{self.name}: parameter 'which'",
                f"must hold a whole number from 0 to {len(histograms) - 1} for each owner",
                remedy="number the histograms from 0",
            )
        self._fill(tuple(histograms), Histograms.join([law.table for law in histograms]), numbers.astype(np.intp))

    def _fill(self, histograms: tuple[HistogramLaw, ...], table: Histograms, which: Indices) -> None:
        self.histograms, self.table, self.which = histograms, table, which
        self.low, self.high = table.low[which], table.high[which]
        for array in (self.which, self.low, self.high):
            array.flags.writeable = False

    def _size(self) -> int | None:
        return int(self.which.size)

    def _cdf(self, theta: Floats) -> Floats:
        return self.table.cdf(self.which, theta)

    def _log_cdf(self, theta: Floats) -> Floats:
        return self.table.log_cdf(self.which, theta)

    def _log_survival(self, theta: Floats) -> Floats:
        return self.table.log_survival(self.which, theta)

    def _pdf(self, theta: Floats) -> Floats:
        return self.table.pdf(self.which, theta)

    def _ppf(self, q: Floats) -> Floats:
        return self.table.ppf(self.which, q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        return self.table.virtual_cost(self.which, theta)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self.table.inverse_virtual_cost(self.which, v)

    def flat_pieces(self) -> FlatPieces:
        """Return the flat pieces of the hulls of C, in closed form."""
        return self.table.hulls.pieces.take(self.which, len(self.histograms))

    def hull_segments(self) -> HullSegments:
        """Return the convex hulls of C, segment by segment.

        C itself where a law is regular.
        """
        return self.table.hulls.segments.take(self.which, len(self.histograms))

    def _take(self, index: Index) -> Self:
        law = object.__new__(type(self))
        law._fill(self.histograms, self.table, self.which[index])
        return law

    def _rescale(self, factor: float) -> PiecewiseUniformByOwner:
        return PiecewiseUniformByOwner([law.rescale(factor) for law in self.histograms], self.which)

    def _regularity(self) -> Verdict:
        """Return the worst verdict on a histogram that somebody has, and its first owner."""
        used, first = np.unique(self.which, return_index=True)
        undecided: Undecided | None = None
        methods: dict[str, None] = {}
        for k, owner in sorted(zip(used.tolist(), first.tolist(), strict=True), key=lambda pair: pair[1]):
            verdict = self.histograms[k].regularity()
            if isinstance(verdict, Irregular):
                return Irregular(verdict.method, verdict.witness, verdict.virtual_costs, owner)
            if isinstance(verdict, Undecided):
                undecided = undecided or Undecided(verdict.method, owner)
            else:
                methods[verdict.method] = None
        return undecided or Regular("; ".join(methods))

    def _family(self) -> Hashable:
        return id(self)

    def _to_dict(self) -> dict[str, Any]:
        used, which = np.unique(self.which, return_inverse=True)
        rows = [self.histograms[k] for k in used.tolist()]
        return {
            "law": self.name,
            "histograms": [{"edges": law.edges.tolist(), "masses": law.masses.tolist()} for law in rows],
            "histogram_of_owner": which.tolist(),
        }

    def __repr__(self) -> str:
        return f"PiecewiseUniformByOwner({len(self.histograms)} histograms, {self.which.size} owners)"
