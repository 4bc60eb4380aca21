"""Ironing for one law an owner.

Flat pieces of the hulls of C(q) = q F⁻¹(q), all owners at once.

The hull through a grid of thresholds shows where C is not convex; each piece is then made exact as
in `ironing`, by the root of the gap

    g(σ) = σ (q₂ − q₁) − (C(q₂) − C(q₁)),

which rises in σ with slope q₂ − q₁, where θ₁(σ) and θ₂(σ) are where J = σ on the rising stretches
before and after. What the grid does not show is not found. Owners go in blocks, so memory does not
grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices, increasing_root
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.law._base import Valuation

BLOCK = 1 << 10
"""Owners whose grids are held at once."""
ROUNDING = 2.0**-40
"""A virtual cost that falls by less than this, relatively, between two thresholds of the grid is
rounding, and no fall."""
NARROW = 4
"""A piece whose ends are so few spacings of doubles apart is rounding on the grid: its two
thresholds are one price, and its slope may be any."""
_STEPS = np.concatenate(
    [np.linspace(0.0, 1.0, 193)[1:-1], 2.0 ** -np.arange(9.0, 52.0), 1.0 - 2.0 ** -np.arange(9.0, 52.0)]
)
ACCEPTANCES = np.concatenate([[0.0], np.unique(_STEPS), [1.0]])
"""Levels q of a grid: even steps, and geometric ones towards both ends."""

Costs = Callable[[Valuation], tuple[Floats, Floats, Floats]]
"""Gives the grid of a law of n owners: thresholds θ, from low to high and not falling, q = F(θ),
and J(θ); shape (m, n) each."""


def costs_at_quantiles(law: Valuation) -> tuple[Floats, Floats, Floats]:
    """Return quantiles at `ACCEPTANCES`, with F and J there; shape (m, n) each."""
    levels = np.broadcast_to(ACCEPTANCES[:, None], (ACCEPTANCES.size, law.size or 1))
    theta = law.ppf(levels)
    return theta, law.cdf(theta), law.virtual_cost(theta)


def flat_pieces_of_owners(law: Valuation, costs: Costs = costs_at_quantiles) -> FlatPieces:
    """Find the flat pieces of the hull of every owner's cost curve.

    Parameters
    ----------
    law
        With a density; one an owner, or common (then all pieces are owner 0's).
    costs
        The grid on which falls of J are looked for.

    Returns
    -------
    FlatPieces
        Ends to full accuracy for every piece that the grid shows.
    """
    if law.size is None:
        found = [_bracketed(law, costs, 0)]
    else:
        found = [
            _bracketed(law.take(slice(start, min(start + BLOCK, law.size))), costs, start)
            for start in range(0, law.size, BLOCK)
        ]
    return _refined(law, _Brackets(*(np.concatenate(columns) for columns in zip(*found, strict=True))))


@dataclass(frozen=True)
class _Brackets:
    """Where the ends of flat pieces lie.

    The rising stretches of J before and after each.
    """

    owner: Indices
    left_low: Floats
    left_high: Floats
    right_low: Floats
    right_high: Floats
    ceiling: Floats
    """The largest finite J on the owner's grid; a slope can be larger where C jumps."""


def _bracketed(law: Valuation, costs: Costs, start: int) -> tuple[NDArray[np.generic], ...]:
    theta, q, J = costs(law)
    if np.any(
        theta[1:] < theta[:-1]
    ):  # next to an end a law's quantiles may differ from each other by their rounding alone
        order = np.argsort(theta, axis=0, kind="stable")
        theta, q, J = (np.take_along_axis(column, order, axis=0) for column in (theta, q, J))
    # thresholds that are one double share the virtual cost of the first of them
    same = np.vstack([np.zeros((1, theta.shape[1]), dtype=bool), theta[1:] <= theta[:-1]])
    if same.any():
        first = np.maximum.accumulate(np.where(same, 0, np.arange(theta.shape[0])[:, None]), axis=0)
        J = np.take_along_axis(J, first, axis=0)
    fell = J[1:] < J[:-1] * (1.0 - ROUNDING)
    suspects = np.flatnonzero(fell.any(axis=0))
    theta, q, J, fell = theta[:, suspects], q[:, suspects], J[:, suspects], fell[:, suspects]
    q[0], q[-1] = 0.0, 1.0
    owner, a, b = _edges_over_falls(lower_hulls(q, theta * q), fell)
    ends = [theta[_turn(J, owner, k, step, rising=step > 0), owner] for k in (a, b) for step in (-1, 1)]
    ceiling = np.max(np.where(np.isfinite(J), J, theta), axis=0, initial=0.0)
    return (start + suspects[owner], *ends, ceiling[owner])


def lower_hulls(q: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Mark the vertices of lower convex hulls, column by column (Andrew 1979).

    Parameters
    ----------
    q, cost
        Shape (m, owners); q does not fall along a column.

    Returns
    -------
    array
        Shape (m, owners): whether the point is a vertex. Of points with one q only the cheapest is.

    Examples
    --------
    >>> q = np.array([[0.0, 0.3, 0.6, 1.0]]).T
    >>> lower_hulls(q, np.array([[0.0, 0.5, 0.3, 1.0]]).T)[:, 0].tolist()
    [True, False, True, True]
    """
    m, n = q.shape
    every = np.arange(n)
    stack = np.zeros((m, n), dtype=np.intp)
    height = np.ones(n, dtype=np.intp)
    for k in range(1, m):
        active = every
        while active.size:
            h = height[active]
            active, h = active[h > 1], h[h > 1]
            i, j = stack[h - 2, active], stack[h - 1, active]
            dq, dc = q[k, active] - q[j, active], cost[k, active] - cost[j, active]
            before_q, before_c = q[j, active] - q[i, active], cost[j, active] - cost[i, active]
            active = active[before_c * dq >= dc * before_q]
            height[active] -= 1
        top = stack[height - 1, every]
        useful = np.flatnonzero((q[k] > q[top, every]) | (cost[k] <= cost[top, every]))
        stack[height[useful], useful] = k
        height[useful] += 1
    marks = np.zeros((m, n), dtype=bool)
    deep = np.arange(m)[:, None] < height
    marks[stack[deep], np.broadcast_to(every, (m, n))[deep]] = True
    return marks


def _edges_over_falls(on_hull: NDArray[np.bool_], fell: NDArray[np.bool_]) -> tuple[Indices, Indices, Indices]:
    """Return owner and ends of each hull edge below which J falls."""
    column, row = np.nonzero(on_hull.T)
    together = column[1:] == column[:-1]
    owner, a, b = column[:-1][together], row[:-1][together], row[1:][together]
    counts = np.vstack([np.zeros((1, fell.shape[1]), dtype=np.intp), np.cumsum(fell, axis=0)])
    over = counts[b, owner] > counts[a, owner]
    return owner[over], a[over], b[over]


def _turn(J: Floats, owner: Indices, start: Indices, step: int, *, rising: bool) -> Indices:
    """Go from a point of the grid in steps as long as J does not turn."""
    k = start.copy()
    active = np.arange(k.size)
    while active.size:
        there = k[active] + step
        within = (there >= 0) & (there < J.shape[0])
        active, there = active[within], there[within]
        new, old = J[there, owner[active]], J[k[active], owner[active]]
        goes_on = new > old if rising else new < old
        active = active[goes_on]
        k[active] = there[goes_on]
    return k


def _refined(law: Valuation, brackets: _Brackets) -> FlatPieces:
    """Make the flat pieces exact."""
    owner = brackets.owner
    if owner.size == 0:
        return FlatPieces.none()
    mine = law if law.size is None else law.take(owner)
    left, right = (
        _Stretch(mine, brackets.left_low, brackets.left_high),
        _Stretch(mine, brackets.right_low, brackets.right_high),
    )
    every = np.arange(owner.size)

    def gap(sigma: Floats, k: Indices) -> Floats:
        one, two = left.where_J_is(sigma, k), right.where_J_is(sigma, k)
        part = _of(mine, k)
        q_one, q_two = part.cdf(one), part.cdf(two)
        return np.asarray((sigma - two) * (q_two - q_one) - (two - one) * q_one)

    slope = increasing_root(gap, brackets.left_low.copy(), _ceiling(mine, brackets))
    one, two = left.where_J_is(slope, every), right.where_J_is(slope, every)
    seen = two - one > NARROW * np.spacing(two)
    columns = (one, two, mine.cdf(one), mine.cdf(two), slope)
    return FlatPieces(owner[seen], *(column[seen] for column in columns))


def _ceiling(law: Valuation, brackets: _Brackets) -> Floats:
    """Bound the slopes by J and, over gaps of the support, by chords."""
    q_one, q_two = law.cdf(brackets.left_high), law.cdf(brackets.right_high)
    with np.errstate(all="ignore"):
        chord = brackets.right_high + (brackets.right_high - brackets.left_high) * q_one / (q_two - q_one)
    return np.where(chord < np.inf, np.maximum(brackets.ceiling, 2.0 * chord), brackets.ceiling)


class _Stretch:
    """A rising stretch of J, one for each piece."""

    def __init__(self, law: Valuation, low: Floats, high: Floats) -> None:
        self.law, self.low, self.high = law, low, high
        self.low_cost, self.high_cost = law.virtual_cost(low), law.virtual_cost(high)

    def where_J_is(self, sigma: Floats, k: Indices) -> Floats:
        """Return the thresholds of the pieces k at which J = σ, clipped to the stretch."""
        low, high = self.low[k], self.high[k]
        root = np.where(self.low_cost[k] >= sigma, low, high)
        inside = np.flatnonzero((self.low_cost[k] < sigma) & (self.high_cost[k] > sigma))
        at, goal = k[inside], sigma[inside]
        root[inside] = increasing_root(
            lambda t, i: _of(self.law, at[i]).virtual_cost(t) - goal[i], low[inside], high[inside]
        )
        return root


def _of(law: Valuation, k: Indices) -> Valuation:
    return law if law.size is None else law.take(k)
