"""F2: what truncation does to the virtual cost."""

from __future__ import annotations

from typing import Literal

import numpy as np
import sympy as sp

from smqopt.numeric import GAP
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.valuation import Beta, Truncated

Side = Literal["above", "below"]
"""The side from which a law can be truncated without a change of J."""


def _trial(side: Side) -> Finding:
    theta, a, b = sp.symbols("theta a b", real=True)
    G = sp.Function("G")
    g = G(theta).diff(theta)
    left = G(a) if side == "below" else 0
    top = G(b) if side == "above" else 1
    F = (G(theta) - left) / (top - left)
    residual = sp.simplify(F / F.diff(theta) - G(theta) / g)
    if residual != 0:
        return Finding(False, f"truncation from {side} changes J by {residual}")
    # The other side: J_a′ − J′ = G(a) g′/g², positive where the density rises; elsewhere J′ ≥ 2
    # (F1).
    change = (theta + (G(theta) - G(a)) / g).diff(theta) - (theta + G(theta) / g).diff(theta)
    helps = sp.simplify(change - G(a) * g.diff(theta) / g**2) == 0
    whole = Beta(2, 0.5)
    inside = np.linspace(0.0, 0.75, 50)[1:]
    cost, cut = whole.virtual_cost(inside), Truncated(whole, 0.0, 0.75).virtual_cost(inside)
    same = bool(np.all(np.abs(cut - cost) <= GAP.value * cost))
    return Finding(helps and same, "truncation from above leaves J; from below adds G(a) g′/g² to J′")


TRUNCATION: Entry[Side] = Entry(
    "F2",
    "regularity",
    Claim("truncation from below leaves F/f, as it leaves (1 − F)/f", "below"),
    Claim("truncation from above leaves F/f and J; from below it only helps J to rise", "above"),
    _trial,
)
