"""Straight pieces that stand for a cost curve.

Tangents from below, or chords from above, closest round where the answer is.

Let C̄ be the hull of C(q) = q F⁻¹(q), which is C itself where the law is regular. It touches its
tangent of slope v at the offer (θ, q) that answers the price v, so that

    v q − R(v) ≤ C̄(q),   R(v) = max_q (v q − C̄(q)) = q_v (v − θ_v),

and the chord between two such points lies above C̄ between them. A program with tangents in place
of the curve bounds the true one from above; what a program with chords finds is feasible in the
true one. Both are the same rows with other numbers, so that one compiled program serves for both.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from smqopt.numeric import ROUNDING, Floats
from smqopt.valuation import Ironed, Valuation, iron

_STEPS = 5
"""Points to either side of the centre, in geometric steps."""
_POINTS = 2 * _STEPS + 3
"""With the centre, the point at the acceptance last found, and the low end."""
_TOP = 2.0**-12
"""Nearer than this to acceptance 1 the ladder does not go, where J may grow without bound."""
_STEEPEST = 2.0**20
"""Slopes, in units of the owner's currency, beyond which a tangent is as good as the bound q ≤ 1.
"""
_FIRST = 2.0**-4
"""The first step of the ladder before anything is known, relative to how far the centre lies above
the low end."""
_LEAST_BASE = 2.0**-24
"""Steps are not relative to less than this share of the support."""
_MOST_OF_A_MOVE = 0.25
"""The ladder's next first step, relative to how far its centre has just moved."""
_TELLS = 2.0**-32
"""Multipliers whose sum is less than this share of the largest such sum say nothing."""


class Pieces:
    """The straight pieces of some owners' cost curves.

    Their numbers change as the answer comes nearer; the rows stay.

    `cost` is a variable for C̄_i(q_i)/unit_i, shape (m,), and each piece s q + o of the constraint
    lies below it. Slopes and offsets, shape (m · k,), owner by owner and free of units, are cvxpy
    constants whose values are set in place: they stand in the rows as they are, for cvxpy keeps
    what it has once made of a constant, as its negative.
    """

    def __init__(self, law: Valuation, q: cp.Expression, unit: Floats) -> None:
        m = int(q.size)
        self.size, self.rows = m, m * (_POINTS + 1)
        self.cost = cp.Variable(m, name="cost_by_pieces")
        self.slopes, self.offsets = cp.Constant(np.ones(self.rows)), cp.Constant(np.ones(self.rows))
        owner = np.repeat(np.arange(m), _POINTS + 1)
        rows = cp.multiply(self.slopes, q[owner]) + self.offsets <= self.cost[owner]
        self.constraint: cp.Constraint = rows
        self._q, self._unit, self._law = q, unit, law
        self._answer: Valuation | Ironed = iron(law)
        every = slice(None) if law.size is None else np.repeat(np.arange(m), _POINTS)
        self._of_points, self._law_of_points = self._answer.take(every), law.take(every)
        self._low, self._high = (
            np.broadcast_to(np.asarray(end, dtype=np.float64), (m,)) for end in (law.low, law.high)
        )
        self._top = np.asarray(law.ppf(np.full(m, 1.0 - _TOP)))
        self._least = self._slope_at(np.zeros(m))
        self.start(0.5)

    def start(self, acceptance: float) -> None:
        """Put the centres where all owners have one acceptance."""
        self._found = np.full(self.size, acceptance)
        self._slope = self._keep_within(self._slope_at(self._found))
        self._centre, self._centre_q = self._answer.offer(self._slope.copy())
        self.widen()

    def widen(self) -> None:
        """Let the ladder's first steps be as at the start: the program has changed."""
        self._step = np.full(self.size, _FIRST)

    def move(self, finest: float) -> None:
        """Put the centres where the last multipliers and acceptances show the owners.

        An owner's pieces have multipliers that sum to what she pays for a unit of spend, p; weighed
        by them their slopes give her e/p, the price that she answers to. The acceptances tell it
        where the multipliers do not, as with one owner, or where spend is free. The first step of a
        ladder is at least `finest`, relative to how far its centre lies above the low end.
        """
        weight = np.maximum(np.reshape(self.constraint.dual_value, (self.size, -1)), 0.0)
        total = weight.sum(axis=1)
        tells = total > _TELLS * float(total.max(initial=0.0))
        slopes = self.slopes.value.reshape(self.size, -1) * self._unit[:, None]
        priced = (weight * slopes).sum(axis=1) / np.where(tells, total, 1.0)
        self._found = np.clip(np.asarray(self._q.value, dtype=np.float64), 0.0, 1.0)
        self._slope = self._keep_within(np.where(tells, priced, self._slope_at(self._found)))
        before = self._centre
        self._centre, self._centre_q = self._answer.offer(self._slope.copy())
        moved = np.abs(self._centre - before) / self._base()
        self._step = np.clip(_MOST_OF_A_MOVE * moved, finest, _FIRST)

    def set_tangents(self) -> None:
        """Let the pieces be tangents at the points of the ladder: none lies above C̄."""
        slope, theta, q = self._at_tangents()
        rest = np.maximum(q * (slope - theta), 0.0) + ROUNDING.value * q * (slope + theta)
        self._assign(np.hstack([slope, slope[:, -1:]]), np.hstack([rest, rest[:, -1:]]))

    def set_chords(self) -> None:
        """Let the pieces be chords of C̄, ends included: what counts lies above."""
        slope, theta, q = self._at_tangents()
        m = self.size
        x = np.hstack([np.zeros((m, 1)), q, np.ones((m, 1))])
        y = np.hstack([np.zeros((m, 1)), q * theta, self._high[:, None]])
        below = np.hstack([self._least[:, None], slope])
        above = np.hstack([slope, np.full((m, 1), np.inf)])
        run, rise = np.diff(x, axis=1), np.diff(y, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            chord = np.clip(np.where(run > 0, rise / run, below), below, above)
        self._assign(chord, chord * x[:, :-1] - y[:, :-1])

    def _assign(self, slopes: Floats, heights: Floats) -> None:
        """Let the pieces be s q − h, in currency."""
        self.slopes.value[:] = (slopes / self._unit[:, None]).ravel()
        self.offsets.value[:] = (-heights / self._unit[:, None]).ravel()

    def _base(self) -> Floats:
        return np.maximum(self._centre - self._low, _LEAST_BASE * (self._high - self._low))

    def _keep_within(self, slope: Floats) -> Floats:
        return np.clip(slope, self._least, _STEEPEST * self._unit)

    def _at_tangents(self) -> tuple[Floats, Floats, Floats]:
        """Return points of C̄, closest round the centre; shape (m, k) each.

        By slope, threshold and acceptance, not falling in k.
        """
        centre, base = self._centre[:, None], self._base()[:, None]
        j = np.arange(_STEPS) / (_STEPS - 1)
        step = self._step[:, None]
        reach = np.maximum(self._top[:, None] - centre, 2.0 * step * base)
        steps = [-base, -base * step ** (1.0 - j), step * base * (reach / (step * base)) ** j]
        theta = np.hstack([centre + steps[0], centre + steps[1], centre, centre, centre + steps[2]])
        theta = np.clip(theta, self._low[:, None], np.maximum(self._top[:, None], centre))
        theta[:, 0] = self._low
        theta[:, _STEPS + 2] = np.asarray(self._law.ppf(self._found))
        slope, theta, q = (x.reshape(theta.shape) for x in self._on_hull(theta.ravel()))
        slope[:, 0], q[:, 0] = self._least, 0.0
        slope[:, _STEPS + 1], theta[:, _STEPS + 1], q[:, _STEPS + 1] = self._slope, self._centre, self._centre_q
        known = np.isfinite(slope) & (slope <= _STEEPEST * self._unit[:, None])
        slope, theta, q = (np.where(known, x, x[:, [_STEPS + 1]]) for x in (slope, theta, q))
        order = np.argsort(slope, axis=1, kind="stable")
        slope, theta, q = (np.take_along_axis(x, order, axis=1) for x in (slope, theta, q))
        return slope, np.maximum.accumulate(theta, axis=1), np.maximum.accumulate(q, axis=1)

    def _on_hull(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return slope, threshold and acceptance at thresholds.

        Inside a flat piece, those of its lower end, or its upper one beyond the centre: between the
        two the chord is the hull. Shape (m · k,) each.
        """
        law = self._law_of_points
        slope, q = np.array(law.virtual_cost(theta)), np.array(law.cdf(theta))
        if isinstance(self._of_points, Ironed):
            on = self._of_points.around(q, to_the_end=True)
            beyond = on.owner % _POINTS > _STEPS + 1
            slope[on.owner], q[on.owner] = on.slope, np.where(beyond, on.high_acceptance, on.low_acceptance)
            theta[on.owner] = np.where(beyond, on.high, on.low)
        return slope, theta, q

    def _slope_at(self, q: Floats) -> Floats:
        """Return a slope of C̄ at acceptances, shape (m,)."""
        slope = np.array(np.broadcast_to(self._law.virtual_cost(self._law.ppf(q)), q.shape))
        if isinstance(self._answer, Ironed):
            on = self._answer.around(np.maximum(q, np.finfo(float).tiny), to_the_end=True)
            slope[on.owner] = on.slope
        # a law in another unit may round an end of its support out of it
        return np.where(np.isnan(slope), np.where(q > 0, np.inf, self._low), slope)
