"""Any law: straight pieces that are refined round the answer, where no exact cone form is known."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import cvxpy as cp
import numpy as np

from smqopt.program.cones.form import ConeForm, Floats, Indices, pick
from smqopt.program.cones.pieces import Pieces
from smqopt.valuation.base import Valuation

__all__ = ["cost_by_pieces", "rest_by_pieces"]


def cost_by_pieces(law: Valuation, q: cp.Expression, unit: Floats) -> Iterator[ConeForm]:
    """State the hull C̄ of C(q) = q F⁻¹(q) by straight pieces, to be refined: tangents from below or chords from above.

    Parameters
    ----------
    law
        Laws of m owners, or one law common to them.
    q
        Acceptances, an affine expression of shape (m,).
    unit
        Units of currency, shape (m,).
    """
    pieces = Pieces(law, q, unit)
    yield ConeForm(np.arange(q.size), pieces.cost, (pieces.constraint,), pieces)


def rest_by_pieces(law: Valuation, q: cp.Expression, unit: Floats, owners: Indices) -> Iterator[ConeForm]:
    """State by straight pieces the curves of those owners, of all that q speaks of, whose parameters allow no exact form."""
    if owners.size:
        for form in cost_by_pieces(law.take(owners), pick(q, owners), unit[owners]):
            yield dataclasses.replace(form, owners=owners[form.owners])
