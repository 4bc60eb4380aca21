"""Laws whose cost curve has a hull of straight segments and parabolas.

Histograms and atoms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import cvxpy as cp
import numpy as np
from scipy import sparse

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm
from smqopt.valuation import HullSegments


class _WithSegments(Protocol):
    @property
    def size(self) -> int | None: ...

    def hull_segments(self) -> HullSegments: ...


def hull_cost(law: _WithSegments, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the hull C̄ of C(q) = q F⁻¹(q) with second-order cones.

    It is C itself where the law is regular.

    Segment k of an owner has width w_k and rises by s_k x + a_k x²; slopes do not fall from segment
    to segment, so that

        C̄(q) = min Σ_k s_k w_k y_k + a_k w_k² y_k²   subject to   q = Σ_k w_k y_k,   0 ≤ y_k ≤ 1.
    """
    segments = law.hull_segments()
    if law.size is None:
        segments = segments.take(np.zeros(q.size, dtype=np.intp), 1)
    owner, width = segments.owner, segments.width
    filled = cp.Variable(owner.size, name="filled_share_of_segment")
    rows = np.arange(owner.size)
    linear = segments.slope * width / unit[owner]
    square = segments.curvature * width**2 / unit[owner]
    cost = sparse.csr_array((linear, (owner, rows)), shape=(q.size, owner.size)) @ filled
    curved = np.flatnonzero(square > 0)
    if curved.size:
        places = np.arange(curved.size)
        weights = sparse.csr_array((square[curved], (owner[curved], places)), shape=(q.size, curved.size))
        cost = cost + weights @ cp.square(filled[curved])
    widths = sparse.csr_array((width, (owner, rows)), shape=(q.size, owner.size))
    yield ConeForm(np.arange(q.size), cost, (filled >= 0, filled <= 1, q == widths @ filled))
