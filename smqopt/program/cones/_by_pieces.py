"""Any law, by straight pieces that are refined round the answer."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._form import ConeForm
from smqopt.program.cones._pieces import Pieces
from smqopt.valuation import Valuation


def cost_by_pieces(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the hull C̄ of C(q) = q F⁻¹(q) by straight pieces, to be refined.

    Tangents from below or chords from above.
    """
    pieces = Pieces(law, q, unit)
    yield ConeForm(np.arange(q.size), pieces.cost, (pieces.constraint,), pieces)
