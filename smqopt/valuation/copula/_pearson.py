"""Pearson's correlation of θ and ε under a Gaussian copula.

With h_k the normalised Hermite polynomials, and a_k, b_k the coefficients of F⁻¹(Φ(x)) and
G⁻¹(Φ(z)) in them, Cov(θ, ε) = Σ_{k ≥ 1} a_k b_k r^k (Mehler's formula): it rises with r from what
r = −1 reaches to what r = 1 reaches, and Pearson's ρ beyond these no copula has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError
from smqopt.numeric import Floats, increasing_root
from smqopt.valuation.copula._normal_scores import valuation_at_score
from smqopt.valuation.law._base import Valuation

TERMS = 400
"""Coefficients of each law; where |r| < 1 the rest is nothing beside them."""
FARTHEST = 9.0
"""Normal scores beyond ± this are left out: they have a probability of 2e-19."""
PANELS = 512
NODES = 8
"""Nodes of Gauss and Legendre on each panel."""
ROUNDING = 2.0**-40
"""By which an end of the range may be off: processors add 4,096 terms in other orders."""


@dataclass(frozen=True)
class PearsonRange:
    """What Pearson's ρ is for each Gaussian parameter r, for two marginal laws."""

    products: Floats
    """a_k b_k over both standard deviations, k = 1 … `TERMS`."""
    lowest: float
    """ρ at r = −1."""
    highest: float
    """ρ at r = 1."""

    def at(self, r: float) -> float:
        """Compute Pearson's ρ at a Gaussian parameter r."""
        if abs(r) == 1.0:
            return self.highest if r > 0 else self.lowest
        return float(np.clip(r * np.polynomial.polynomial.polyval(r, self.products), self.lowest, self.highest))

    def gaussian_parameter(self, pearson: float) -> float:
        """Find the r at which Pearson's ρ is the one given.

        Raises
        ------
        InputError
            If no Gaussian copula of the two laws has it.
        """
        if not self.lowest - ROUNDING <= pearson <= self.highest + ROUNDING:
            raise InputError(
                "Gaussian copula: argument 'pearson'",
                f"must lie in [{self.lowest:.6g}, {self.highest:.6g}], which is all that these laws can reach",
                value=pearson,
                remedy="give a correlation within it, or Spearman's",
            )
        if not self.lowest + ROUNDING < pearson < self.highest - ROUNDING:
            return 1.0 if pearson > 0 else -1.0
        ends = np.array([-1.0]), np.array([1.0])
        return float(increasing_root(lambda r, _: np.array([self.at(float(r[0])) - pearson]), *ends)[0])


def pearson_range(valuation: Valuation, requirement: Valuation) -> PearsonRange:
    """Measure what Pearson's ρ two marginal laws can have under Gaussian copulas.

    Parameters
    ----------
    valuation, requirement
        F and G, common laws.

    Raises
    ------
    InputError
        If a law is one an owner, or does not vary.
    """
    x, weight = _nodes()
    hermite = _hermite(x)
    columns = []
    for name, law in (("valuation", valuation), ("requirement", requirement)):
        if law.size is not None:
            raise InputError(
                f"Gaussian copula: argument {name!r}",
                "must be one law for all owners, where the correlation is Pearson's",
                value=f"{law.size} laws",
                remedy="give Spearman's, which no marginal law changes",
            )
        value = valuation_at_score(law, x)
        centred = (value - weight @ value) / float(law.width or 1.0)
        deviation = math.sqrt(weight @ centred**2)
        if not deviation > 0:
            raise InputError(
                f"Gaussian copula: argument {name!r}", "must vary, to have a correlation", remedy="give another law"
            )
        columns.append(centred / deviation)
    first, second = columns
    products = (hermite @ (weight * first)) * (hermite @ (weight * second))
    return PearsonRange(products, float(weight @ (first * second[::-1])), float(weight @ (first * second)))


def _nodes() -> tuple[Floats, Floats]:
    """Return nodes, symmetric round 0, and weights of the normal density."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(-FARTHEST, FARTHEST, PANELS + 1)
    half = FARTHEST / PANELS
    x = (0.5 * (edges[:-1] + edges[1:])[:, np.newaxis] + half * node).ravel()
    density = np.exp(-0.5 * x * x) * np.tile(half * weight, PANELS)
    return x, density / density.sum()


def _hermite(x: Floats) -> Floats:
    """Return h_k(x) for k = 1 … `TERMS`; shape (`TERMS`, nodes)."""
    rows = [np.ones_like(x), x]
    for k in range(1, TERMS):
        rows.append((x * rows[k] - math.sqrt(k) * rows[k - 1]) / math.sqrt(k + 1))
    return np.array(rows[1:])
