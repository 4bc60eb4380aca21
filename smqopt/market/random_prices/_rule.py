r"""The rule at a price of money and of bias: chances of sale, and weights.

An owner's entry, measured from the middle of its range, |x| ≤ R/2, enters with weight s w/Q, Q her
chance of sale and s ∈ [0, 1] her shrinkage, beside Laplace noise of scale b. To change it moves the
sum by at most s w R/Q, so she loses at most ε where Q ≥ ℓ s, ℓ = w R/(ε b). The error is at worst

    (R/2)² [(Σ w (1 − s))² + Σ w² E(s²/Q − 2s + 1)] + 2 b²:

the squared bias, and what each owner errs by herself. At a fixed b it is convex in (s, Q): s²/Q is
a perspective. With a price λ of money and ρ the bias, (Σ w (1 − s))² ≥ 2ρ Σ w (1 − s) − ρ², and
each owner minimises on her own

    f(s, Q) = E[w² s²/Q + λ t Q] − 2 w (ρ + w) s,   ℓ s ≤ Q ≤ 1,

so Q = min(1, max(ℓ s, w s/√(λ t))). With y = w s/√λ, f is least where H(y) = y P(y²) − G(y²) is a
number that does not depend on s, P and G the mass and the sum of √t over slopes up to y².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market.random_prices._cost_table import CostTable
from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class OwnersOfRule:
    """What a rule has to know of n rows."""

    weight: Floats
    """|w| ≥ 0, shape (n,)."""
    floor: Floats
    """ℓ: Q ≥ ℓ s; 0 where nothing is asked, +∞ where ε = 0; shape (n,)."""
    free: bool
    """Whether s may be below 1."""


@dataclass(frozen=True, eq=False)
class Rule:
    """Shrinkage and chances at one (λ, ρ), and what they cost; shape (n,) each."""

    owners: OwnersOfRule
    shrinkage: Floats
    """s."""
    y: Floats
    """w s/√λ: Q is y/√t between its bounds."""
    squares: Floats
    """E[s²/Q]."""
    spend: Floats
    """E[t Q], in currency."""
    acceptance: Floats
    """E[Q]."""

    def chance(self, rows: NDArray[np.intp], slope: Floats) -> Floats:
        """Return Q of some rows in cells of these slopes."""
        s = self.shrinkage[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.where(s > 0, self.owners.floor[rows] * s, 0.0)
            q = np.where(slope > 0, self.y[rows] / np.sqrt(slope), 1.0)
        return np.where(self.owners.weight[rows] > 0, np.minimum(np.maximum(q, least), 1.0), 0.0) * (s > 0)


def rule_at(table: CostTable, owners: OwnersOfRule, price: float, bias: float) -> Rule:
    """Return what every row answers to λ > 0 and ρ ≥ 0."""
    w, floor, K = owners.weight, owners.floor, table.cells
    unit = w / np.sqrt(price)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        k2 = table.count(np.where(floor > 0, (unit / floor) ** 2, np.inf), table.slope)
        s = np.ones(w.size)
        if owners.free:
            s = _shrinkage(table, owners, price, bias, k2)
        y = unit * s
        k1 = np.minimum(table.count(y**2, table.slope), k2)
        beyond = np.where(s > 0, 1.0 - table.at(table.reached, k2), 0.0)  # held at the floor
        held = np.where(beyond > 0, floor * s, 0.0)
        roots = table.at(table.root, k2) - table.at(table.root, k1)
        sold = table.at(table.reached, k1)
        spend = table.at(table.cost, k1) + y * roots + held * (table.at(table.cost, K) - table.at(table.cost, k2))
        least = np.where(s > 0, floor * s, 0.0)
        spend += least * table.end[table.of_row]
        among = y * (table.at(table.inverse, k2) - table.at(table.inverse, k1))
        squares = s**2 * sold + np.where(roots > 0, s * roots / unit, 0.0)
        squares += np.where(held > 0, s**2 * beyond / held, 0.0)
    some = (w > 0) & (s > 0)
    return Rule(
        owners,
        np.where(w > 0, s, 1.0),
        y,
        np.where(some, squares, np.where(w > 0, 0.0, 1.0)),
        np.where(some, spend, 0.0),
        np.where(some, np.minimum(sold + among + held * beyond, 1.0), 0.0),
    )


def _shrinkage(table: CostTable, owners: OwnersOfRule, price: float, bias: float, k2: NDArray[np.intp]) -> Floats:
    w, floor = owners.weight, owners.floor
    beyond = 1.0 - table.at(table.reached, k2)
    above = table.at(table.cost, table.cells) - table.at(table.cost, k2)
    at_floor = np.where(beyond > 0, w**2 * beyond / floor + price * floor * above, 0.0)
    end = table.end[table.of_row]
    at_floor += np.where(end > 0, price * floor * end, 0.0)
    level = (2.0 * w * (bias + w) - at_floor) / (2.0 * w * np.sqrt(price)) - table.at(table.root, k2)
    height = np.sqrt(table.slope) * table.reached[:, 1:] - table.root[:, 1:]
    k = table.count(level, np.maximum.accumulate(height, axis=1))
    mass = table.at(table.reached, k)
    y = np.where(mass > 0, (level + table.at(table.root, k)) / mass, 0.0)
    s = np.where(level > 0, np.sqrt(price) * y / w, 0.0)
    most = np.where(floor > 1, 1.0 / floor, 1.0)
    return np.where(w > 0, np.clip(s, 0.0, most), 1.0)
