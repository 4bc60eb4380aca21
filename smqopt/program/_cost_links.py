"""The links C(q) ≤ b between acceptance and spend, law by law.

In the user's units, and as the solver sees them.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.numeric import Floats
from smqopt.program.cones._cone_registry import cone_forms
from smqopt.program.cones._form import pick
from smqopt.program.cones._pieces import Pieces
from smqopt.program.scaling._normalised import ScaledRow
from smqopt.valuation import Valuation


def cost_links(
    valuation: Valuation, acceptance: cp.Variable, spend: cp.Variable, unitless_spend: cp.Variable, currency: Floats
) -> tuple[list[tuple[cp.Constraint, str]], dict[int, ScaledRow], list[Pieces]]:
    """State the links of n owners; spend = currency · unitless_spend, shape (n,) each.

    Returns
    -------
    named, rows, pieces
        All constraints, each with its words; the id of a link → its row; straight pieces where no
        exact form is known.
    """
    named: list[tuple[cp.Constraint, str]] = []
    rows: dict[int, ScaledRow] = {}
    pieces: list[Pieces] = []
    for law, index in valuation.parts():
        of_law = np.arange(acceptance.size)[index]
        for form in cone_forms(law, pick(acceptance, of_law), currency[of_law]):
            owners = of_law[form.owners]
            unit = currency[owners]
            link = cp.multiply(unit, form.cost) <= pick(spend, owners)
            rows[id(link)] = ScaledRow(form.cost <= pick(unitless_spend, owners), unit)
            if form.pieces is not None:
                pieces.append(form.pieces)
                rows[id(form.pieces.constraint)] = ScaledRow(form.pieces.constraint, 1.0)
            words = f"C(q) <= b for {owners.size} owners ({law.name})"
            named.extend([(link, words), *((constraint, words) for constraint in form.side)])
    return named, rows, pieces
