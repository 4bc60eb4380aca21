"""The error of the count by the linear release, beside what the trials found."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from smqopt.document import shown
from smqopt.market import Market, MeanSquaredError
from smqopt.paper.claims._setups import PAPER_SHARES, SMQ_PRINTED
from smqopt.paper.experiments._summary import Results
from smqopt.solvers import solve
from smqopt.valuation import Uniform

_ROWS = 500
"""Rows of alike owners that stand for ε uniform on (0, 1)."""
HEADER = (
    "B/θ̄n",
    "SMQ, P-E",
    "same purchase, linear release",
    "purchase made for the error",
    "FQ, printed rule",
    "FQ, original rule",
)
WORDS = """## The error by the linear release

RMSE of Adult's count at ρ = 0, in persons. P-E and FQ (noise by scale) are from the trials above; the linear release is
foretold at the expected sums for ε uniform on (0, 1), in closed form (`smqopt.MeanSquaredError`). There is no FIP: it answers linear predictors,
with weights of their own.

The paper's mechanism loses most where it buys most. P-E changes the entries with the smallest ε first, so with the last owners it buys, whose ε is near
0, its noise rises: from 0.8 to 0.9 θ̄n more money answers worse. The linear release puts small weights on these owners, and one Laplace draw protects all.
Purchased privacy is a fair proxy then: a purchase made for the error saves another 6 to 11 % up to 0.8 θ̄n, and 1 % at 0.9."""


def error_rows(results: Results) -> list[tuple[str, ...]]:
    """Return one row of figures a budget, in the order of `HEADER`."""
    rows = []
    for share in PAPER_SHARES:
        smq = results.setup("adult", "count", 0.0, share, SMQ_PRINTED)
        fq = [
            results.setup("adult", "count", 0.0, share, name).rmse for name in ("fq-printed-scale", "fq-original-scale")
        ]
        figures = smq.rmse, *_linear_errors(32_561, smq.truth, share), *fq
        rows.append((f"{share:g}", *(shown(figure, 3) for figure in figures)))
    return rows


@cache
def _linear_errors(population: int, truth: float, share: float) -> tuple[float, float]:
    """Return the RMSE on SMQ's purchase, and on one made for it."""
    p = truth / population
    counts = np.full(_ROWS, population // _ROWS)
    counts[: population % _ROWS] += 1
    market = Market((np.arange(_ROWS) + 0.5) / _ROWS, Uniform(0, 1), multiplicity=counts)
    aim, budget = MeanSquaredError(range=1.0, variance=p * (1.0 - p)), share * population
    plain = aim.value(market, solve(market, budget).acceptance)
    return math.sqrt(plain), solve(market, budget, objective=aim).error
