"""E5: the law of θ given ε is irregular for some owners."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.paper.errata._law_given_requirement import copula, midpoints
from smqopt.valuation import CopulaConditional

IrregularShare = Callable[[float], float]
"""From ρ to the claimed share of the requirements, uniform on (0, 1), whose conditional law is
irregular."""

OWNERS = 400
GRID = np.linspace(0.0, 1.0, 4001)[1:-1]
CORRELATIONS = (-0.9, -0.5, -0.2)


def none(correlation: float) -> float:  # noqa: ARG001
    """F is regular, so nobody."""
    return 0.0


def irregular_share(correlation: float) -> float:
    """Owners whose cost curve has a flat piece in its hull."""
    law = copula(correlation).given(midpoints(OWNERS))
    if not isinstance(law, CopulaConditional):
        raise TypeError(type(law).__name__)
    return float(np.unique(law.flat_pieces().owner).size) / OWNERS


@cache
def falling_share(correlation: float) -> float:
    """Find owners whose J falls on a grid, without the theory of the hull."""
    law = copula(correlation).given(midpoints(OWNERS))
    falls: NDArray[np.bool_] = np.zeros(OWNERS, dtype=np.bool_)
    before = law.virtual_cost(np.full(OWNERS, GRID[0]))
    for theta in GRID[1:]:
        after = law.virtual_cost(np.full(OWNERS, theta))
        falls |= after < before
        before = after
    return float(np.mean(falls))


def _trial(share: IrregularShare) -> Finding:
    """Compare the claimed share with the grid's, up to two owners."""
    rows = [(rho, share(rho), falling_share(rho)) for rho in CORRELATIONS]
    told = "; ".join(f"ρ = {rho:g}: {claimed:.1%} claimed, J falls for {seen:.1%}" for rho, claimed, seen in rows)
    return Finding(all(abs(claimed - seen) <= 2.0 / OWNERS for _, claimed, seen in rows), told)


IRREGULAR_OWNERS = Entry(
    "E5",
    "Experiments, ρ < 0",
    Claim("F is regular", none),
    Claim("the conditional law of a Gaussian copula is irregular for some owners: ironing is needed", irregular_share),
    _trial,
)
