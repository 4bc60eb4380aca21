"""The flat pieces of the convex hulls of cost curves C(q) = q F⁻¹(q).

C has slope J(θ) in acceptance, so it is convex where J rises. The hull of the points (F(θ), θF(θ))
of a grid shows where C is not convex. The grid holds every knot of the law, at which F or its
density may jump, and is finer where F gathers mass. Each flat piece is then made exact by the root
of the gap

    g(σ) = σ (q₂ − q₁) − (C(q₂) − C(q₁)),

which rises in σ with slope q₂ − q₁, where θ₁(σ) and θ₂(σ) have the largest (σ − θ)F(θ) on the
intervals before and after on which J rises: where J = σ, or where F jumps (Myerson 1981, section 6,
for the seller). What the grid does not show is not found. Owners go in blocks, so memory does not
grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, Indices, Mask, increasing_root
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._lower_hull import lower_hull
from smqopt.valuation.ironing._monotone_interval import above_atom
from smqopt.valuation.law._base import Valuation

BLOCK = 1 << 10
"""Owners whose grids are held at once."""
ROUNDING = 2.0**-40
"""A virtual cost that falls by less than this, relatively, between two thresholds of the grid is
rounding, and no fall."""
NARROW = 4
"""A piece whose ends are so few spacings of doubles apart is rounding on the grid: its two
thresholds are one price, and its slope may be any."""
LEFT_OUT = 2.0**-44
"""A point is above the hull where it is by more than this, relative to its cost; else it is
rounding."""
JUMP = 2.0**-40
"""A neighbouring double is a better price where it is by more than this, relatively."""
STEEP = 2.0**-20
"""J jumps where it differs by more than this, relatively, between the doubles beside a root."""
BESIDE = 3
"""So many doubles to either side of a root are looked at: it is found to two units in the last
place."""
GRID = 4096
"""Even steps in θ of the grid of a common law; each gap between knots has a part of them."""
MOST_MASS = 1.0 / 2048.0
"""Steps of that grid with more mass are halved, while there are doubles between."""
HALVINGS = 64
_TAILS = 2.0 ** -np.arange(9.0, 52.0)
_BESIDE = 2.0**-52 * np.arange(1, 4)
"""The doubles next to a knot, in widths between knots."""
_STEPS = np.concatenate([np.linspace(0.0, 1.0, 193)[1:-1], _TAILS, 1.0 - _TAILS])
ACCEPTANCES = np.concatenate([[0.0], np.unique(_STEPS), [1.0]])
"""Levels q of a grid: even steps, and geometric ones towards both ends."""

Costs = Callable[[Valuation], tuple[Floats, Floats, Floats]]
"""Gives the grid of a law of n owners: thresholds θ, from low to high and not falling, q = F(θ),
and J(θ); shape (m, n) each."""


def costs_at_quantiles(law: Valuation) -> tuple[Floats, Floats, Floats]:
    """Return θ at `ACCEPTANCES` and the knots, with F and J; shape (m, n) each."""
    if law.size is None:
        theta = _common_grid(law)[:, np.newaxis]
    else:
        levels = np.broadcast_to(ACCEPTANCES[:, np.newaxis], (ACCEPTANCES.size, law.size))
        theta = np.sort(np.vstack([law.ppf(levels), _round_knots(law)]), axis=0)
    flat = theta.ravel() if law.size is None else theta
    q, J = law.cdf(flat).reshape(theta.shape), law.virtual_cost(flat).reshape(theta.shape)
    return theta, q, J


def _round_knots(law: Valuation) -> Floats:
    """Return the knots of owners, and thresholds ever closer to them; shape (m, n)."""
    knots = np.sort(np.broadcast_to(law.knots().T, (law.size or 1, law.knots().shape[0])).T, axis=0)
    near = [knots, np.clip(np.nextafter(knots, -np.inf), law.low, law.high)]
    if knots.shape[0] > 2:
        width = np.diff(knots, axis=0)
        near += [knots[:-1] + step * width for step in (*_TAILS[::4], *(1.0 - _TAILS[::4]))]
    return np.vstack(near)


def _common_grid(law: Valuation) -> Floats:
    """Return thresholds even between knots, near these, and where mass gathers."""
    knots = np.unique(law.knots())
    steps = max(GRID // max(knots.size - 1, 1), 64)
    share = np.concatenate([np.arange(steps) / steps, _TAILS, 1.0 - _TAILS, _BESIDE])
    theta = (knots[:-1] + share[:, np.newaxis] * np.diff(knots)).ravel() if knots.size > 1 else knots
    theta = np.unique(np.concatenate([theta, knots, np.nextafter(knots[1:], -np.inf)]))
    q = law.cdf(theta)
    for _ in range(HALVINGS):
        middle = 0.5 * (theta[:-1] + theta[1:])
        heavy = np.flatnonzero((np.diff(q) > MOST_MASS) & (middle > theta[:-1]) & (middle < theta[1:]))
        if not heavy.size:
            break
        theta = np.insert(theta, heavy + 1, middle[heavy])
        q = np.insert(q, heavy + 1, law.cdf(middle[heavy]))
    return theta


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
        found = [_brackets(law, costs, 0)]
    else:
        found = [
            _brackets(law.take(slice(start, min(start + BLOCK, law.size))), costs, start)
            for start in range(0, law.size, BLOCK)
        ]
    pieces = _refine(law, _Brackets(*(np.concatenate(columns) for columns in zip(*found, strict=True))))
    return _first_pieces(law).join(pieces) if law.has_atoms else pieces


def _first_pieces(law: Valuation) -> FlatPieces:
    """Return the pieces from no offer to an atom at the low end, where there is one."""
    low = np.atleast_1d(np.asarray(law.low, dtype=np.float64))
    owner = np.flatnonzero(law.is_atom(low))
    at, q = low[owner], law.cdf(low)[owner]
    return FlatPieces(owner, at, at, np.zeros(at.size), q, at)


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


def _brackets(law: Valuation, costs: Costs, start: int) -> tuple[NDArray[np.generic], ...]:
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
    is_atom = law.is_atom(theta if law.size is not None else theta.ravel()).reshape(theta.shape)
    q[0], q[-1] = np.where((theta[0] == law.low) & ~is_atom[0], 0.0, q[0]), 1.0
    fell = np.vstack([(J[1:] < J[:-1] * (1.0 - ROUNDING)) | is_atom[1:], np.zeros((1, J.shape[1]), dtype=bool)])
    owner, a, b = _edges_over_falls(q, theta * q, fell)
    ends = [theta[_turn(J, owner, k, step, rising=step > 0), owner] for k in (a, b) for step in (-1, 1)]
    ceiling = np.max(np.where(np.isfinite(J), J, theta), axis=0, initial=0.0)
    return (start + owner, *ends, ceiling[owner])


def _edges_over_falls(q: Floats, cost: Floats, fell: Mask) -> tuple[Indices, Indices, Indices]:
    """Return owner and ends of each hull edge over falls of J, or over points."""
    m, n = q.shape
    column = np.repeat(np.arange(n, dtype=np.intp), m)
    vertices = lower_hull(column, q.T.ravel(), cost.T.ravel())
    together = np.flatnonzero(column[vertices[1:]] == column[vertices[:-1]])
    owner, a, b = column[vertices[together]], vertices[together] % m, vertices[together + 1] % m
    edge = np.repeat(np.arange(a.size), b - a)
    inner = np.arange(edge.size) - np.repeat(np.cumsum(b - a) - (b - a), b - a) + a[edge]
    whose = owner[edge]
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = (cost[b, owner] - cost[a, owner]) / (q[b, owner] - q[a, owner])
        chord = cost[a, owner][edge] + slope[edge] * (q[inner, whose] - q[a, owner][edge])
        over = (cost[inner, whose] - chord > LEFT_OUT * cost[inner, whose]) | fell[inner, whose]
    counted = np.bincount(edge, weights=over, minlength=a.size) > 0
    return owner[counted], a[counted], b[counted]


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


def _refine(law: Valuation, brackets: _Brackets) -> FlatPieces:
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
    seen = (two - one > NARROW * np.spacing(two)) | (mine.is_atom(two) & (two > one))
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
        self.low_cost, self.high_cost = law.virtual_cost(above_atom(law, low, high)), law.virtual_cost(high)

    def where_J_is(self, sigma: Floats, k: Indices) -> Floats:
        """Return the thresholds of the pieces k at which J = σ, clipped to the stretch."""
        low, high = self.low[k], self.high[k]
        root = np.where(self.low_cost[k] >= sigma, low, high)
        inside = np.flatnonzero((self.low_cost[k] < sigma) & (self.high_cost[k] > sigma))
        at, goal = k[inside], sigma[inside]
        root[inside] = increasing_root(
            lambda t, i: _of(self.law, at[i]).virtual_cost(t) - goal[i], low[inside], high[inside]
        )
        return _best_nearby(_of(self.law, k), sigma, root, low, high)


def _best_nearby(law: Valuation, sigma: Floats, root: Floats, low: Floats, high: Floats) -> Floats:
    """Return the best of a root of J = σ and the doubles beside it.

    Where F or J jumps between two doubles, a root tells only on which side of the jump one is; the
    largest (σ − θ)F(θ) then decides.
    """
    beside = [root]
    for way in (-np.inf, np.inf):
        theta = root
        for _ in range(BESIDE):
            theta = np.clip(np.nextafter(theta, way), low, high)
            beside.append(theta)
    below, above = law.virtual_cost(beside[BESIDE]), law.virtual_cost(beside[-1])
    with np.errstate(invalid="ignore"):
        margin = np.where(np.abs(above - below) > STEEP * sigma, 0.0, JUMP)
    best, value = root, (sigma - root) * law.cdf(root)
    for theta in beside[1:]:
        there = (sigma - theta) * law.cdf(theta)
        better = there > value * (1.0 + margin)
        best, value = np.where(better, theta, best), np.where(better, there, value)
    return best


def _of(law: Valuation, k: Indices) -> Valuation:
    return law if law.size is None else law.take(k)
