"""E1: the regularity that OP2 needs is the buyer's, not the seller's."""

from __future__ import annotations

import numpy as np

from smqopt.errata.entry import Entry, Evidence
from smqopt.valuation.formula import from_cdf
from smqopt.valuation.regularity import Irregular, Regular

__all__ = ["REGULARITY"]

FORMULA = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"


def _check() -> Evidence:
    law = from_cdf(FORMULA, low=0, high=1, c=0.99)
    theta = np.linspace(0, 1, 2001)[:-1]
    hazard = law.pdf(theta) / (1 - law.cdf(theta))
    verdict = law.regularity()
    milder = from_cdf(FORMULA, low=0, high=1, c=0.85).regularity()
    detail = "hazard rate rises on a grid of 2,000 points"
    if isinstance(verdict, Irregular):
        detail += f", yet J({verdict.witness[0]:.4f}) = {verdict.virtual_costs[0]:.4f} > J({verdict.witness[1]:.4f}) = {verdict.virtual_costs[1]:.4f}"
    return Evidence(
        bool(np.all(np.diff(hazard) > 0)) and isinstance(verdict, Irregular), isinstance(milder, Regular), detail
    )


REGULARITY = Entry(
    1,
    "(A2), Appendix D",
    "A non-decreasing hazard rate f/(1 − F) makes θ + F/f strictly increasing.",
    "Concavity in spend needs the virtual cost J = θ + F/f to be non-decreasing; a log-concave F suffices.",
    _check,
)
