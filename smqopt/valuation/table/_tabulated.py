"""A common law as its proved table tells it: the same cost an owner for every law.

F is the middle of what the table encloses, f the derivative of its polynomial. Cells that say no
more than that F does not fall are answered by the law itself.
"""

from __future__ import annotations

from typing import final

import numpy as np

from smqopt.numeric import Floats, Indices, Mask
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import Verdict
from smqopt.valuation.table._proved_table import ProvedTable


@final
class Tabulated(Valuation):
    """F and f from a table; all else is the law's own."""

    name = "tabulated"

    def __init__(self, law: Valuation, table: ProvedTable) -> None:
        self.law, self.table = law, table
        self.low, self.high = law.low, law.high
        self._at_ends = {
            own: (float(tell(self.low)), float(tell(self.high)))
            for own, tell in (("cdf", law.cdf), ("pdf", law.pdf), ("virtual_cost", law.virtual_cost))
        }

    def _cdf(self, theta: Floats) -> Floats:
        F, cell = self.table.middle_of(theta)
        return self._fill(F, cell, theta, "cdf")

    def _pdf(self, theta: Floats) -> Floats:
        _, f, cell = self.table.middle_with_density(theta)
        return self._fill(f, cell, theta, "pdf")

    def _virtual_cost(self, theta: Floats) -> Floats:
        F, f, cell = self.table.middle_with_density(theta)
        J = theta + np.where(F > 0, F / f, 0.0)
        return self._fill(J, cell, theta, "virtual_cost")

    def _regularity(self) -> Verdict:
        return self.law.regularity()

    def _knots(self) -> Floats:
        return self.law.knots()

    def _is_atom(self, theta: Floats) -> Mask:
        return self.law.is_atom(theta)

    def _fill(self, value: Floats, cell: Indices, theta: Floats, own: str) -> Floats:
        """Take from the law itself what cells do not know, and the ends."""
        found, t = np.atleast_1d(value), np.atleast_1d(theta)
        unknown = np.atleast_1d(np.isinf(self.table.density_error)[cell]) & (self.low < t) & (t < self.high)
        if unknown.any():
            found[unknown] = getattr(self.law, own)(t[unknown])
        for end, at_end in zip((self.low, self.high), self._at_ends[own], strict=True):
            found[t == end] = at_end
        return found.reshape(np.shape(theta))
