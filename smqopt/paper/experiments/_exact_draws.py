"""Many answers of the P-E mechanism for one set of bought entries.

These are simulations: a private release is drawn by `smqopt.query._answer`, from the same law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Integers
from smqopt.query import Score

CUT = 200.0
"""Results at a cost from here on are not drawn: one of them has a probability below e⁻¹⁰⁰, all of
them together below 10⁻³⁸."""


def draw_results(score: Score, u: Floats) -> Integers:
    """Draw results with probability proportional to exp(½ σ).

    Parameters
    ----------
    score
        Costs −σ in pieces, as a query gives them.
    u
        Uniform on [0, 1), shape (draws,).
    """
    reached = np.cumsum(np.exp(-0.5 * (score.cost - score.cost.min())) * score.length)
    target = u * reached[-1]
    piece = np.minimum(np.searchsorted(reached, target, side="right"), reached.size - 1)
    before = np.where(piece > 0, reached[piece - 1], 0.0)
    length = score.length[piece]
    inside = (target - before) / (reached[piece] - before)
    return np.asarray(score.start[piece] + np.minimum((inside * length).astype(np.int64), length - 1))


@dataclass(frozen=True, eq=False)
class LinearLaw:
    """A density proportional to exp(−cost/2), the cost linear on each piece."""

    start: Floats
    """The end of each piece that is nearer to φ(d_c), shape (m,)."""
    width: Floats
    """Its signed width: positive above φ(d_c), negative below; shape (m,)."""
    cost: Floats
    """The cost at `start`; shape (m,)."""
    rise: Floats
    """What the cost rises by over the piece, ≥ 0; shape (m,)."""

    @property
    def mass(self) -> Floats:
        """∫ exp(−cost/2) over each piece, shape (m,)."""
        half = 0.5 * self.rise
        mean = np.where(half > 0, -np.expm1(-half) / np.where(half > 0, half, 1.0), 1.0)
        return np.asarray(np.abs(self.width) * np.exp(-0.5 * self.cost) * mean)

    def draw(self, u: Floats) -> Floats:
        """Draw by inversion.

        Parameters
        ----------
        u
            Uniform on [0, 1), shape (draws,).
        """
        reached = np.cumsum(self.mass)
        if reached[-1] == 0:  # no entry has room: one result
            return np.full(u.shape, self.start[0])
        target = u * reached[-1]
        piece = np.minimum(np.searchsorted(reached, target, side="right"), reached.size - 1)
        before = np.where(piece > 0, reached[piece - 1], 0.0)
        share = np.clip((target - before) / (reached[piece] - before), 0.0, 1.0)
        half = 0.5 * self.rise[piece]
        curved = -np.log1p(share * np.expm1(-half)) / np.where(half > 0, half, 1.0)
        return np.asarray(self.start[piece] + self.width[piece] * np.where(half > 0, curved, share))


def linear_law(
    weight: Floats, entries: Floats, epsilon: Floats, low: float, high: float, *, exact: float | None = None
) -> LinearLaw:
    """Return the law of Σ w_i d_i under the relaxed score.

    Moving the result by x costs the least Σ ε_i x_i over fractions 0 ≤ x_i ≤ 1 of the room that
    each entry has in that direction: entries are used in the order of ε_i over room, so the cost is
    convex and piecewise linear. The range is all that entries within [low, high] can give.

    Parameters
    ----------
    weight, entries, epsilon
        Of the k bought, shape (k,).
    exact
        Σ w_i d_i, where it is known already.
    """
    centre = float(weight @ entries) if exact is None else exact
    up = np.where(weight > 0, weight * (high - entries), weight * (low - entries))
    down = np.where(weight > 0, weight * (entries - low), weight * (entries - high))
    pieces = []
    for room, sign in ((up, 1.0), (down, -1.0)):
        held = np.flatnonzero(room > 0)
        order = held[np.argsort(epsilon[held] / room[held], kind="stable")]
        reached, cost = np.cumsum(room[order]), np.cumsum(epsilon[order])
        start = centre + sign * (reached - room[order])
        pieces.append((start, sign * room[order], cost - epsilon[order], epsilon[order]))
    start, width, cost, rise = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    if not start.size:
        return LinearLaw(np.array([centre]), np.zeros(1), np.zeros(1), np.zeros(1))
    return LinearLaw(start, width, np.maximum(cost, 0.0), rise)


def cheapest(order: NDArray[np.intp], target: Integers, epsilon: Floats, cut: float) -> NDArray[np.intp]:
    """Keep the binary entries that can change within a cost of `cut`.

    Parameters
    ----------
    order
        Positions of the bought, ascending by ε_i/w_i.
    target, epsilon
        Entries and requirements, shape (n,).
    cut
        The cost beyond which results are not drawn.

    Returns
    -------
    ndarray
        The shortest of the beginnings of `order` of 1024, 2048, … positions on which each side's
        cost reaches `cut`; else all of it.
    """
    size = 1024
    while size < order.size:
        first = order[:size]
        ones = target[first] == 1
        cost = epsilon[first]
        if min(float(cost[ones].sum()), float(cost[~ones].sum())) >= cut:
            return first
        size *= 2
    return order
