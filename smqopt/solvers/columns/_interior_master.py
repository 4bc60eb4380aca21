"""The program over columns that grows, where their worth bends.

It is Σ φ, or the least of several laws. Of many columns those that count are chosen; interior steps
solve it over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from smqopt.market import Utility
from smqopt.numeric import HELD, ConcaveSum, Floats, Indices, InteriorProgram
from smqopt.solvers.columns._master import FINE, Master, MasterAnswer

_COLUMNS, _GOLDEN = 24, 0.618
"""Of a unit, beside those that were posted before; which ones are even."""


class InteriorMaster(Master):
    """Columns whose lifted acceptances are worth Σ φ, or the least of several."""

    def bend(self, each: Sequence[Utility], m: Floats, unit: float) -> None:
        """State φ of the lifted rows under each law, their multiplicities, and a unit."""
        self._each, self._m, self._scale, self._rows = each, m, unit, self._sizes * FINE
        self._unit_of, self._even = np.zeros(0, dtype=np.intp), np.zeros(0)
        self._parts = list[tuple[sparse.csc_array, sparse.csc_array]]()
        self._last: MasterAnswer | None = None

    def add_columns(
        self,
        unit: Indices,
        value: Floats,
        usage: sparse.csc_array,
        lifts: sparse.csc_array | None = None,
        most: Floats | None = None,
    ) -> None:
        """Add columns, as to a linear program."""
        super().add_columns(unit, value, usage, most=most)
        lifts = sparse.csc_array((self._m.size, unit.size)) if lifts is None else lifts
        self._parts.append((sparse.csc_array(sparse.diags_array(1.0 / self._rows) @ usage), lifts))
        self._unit_of = np.append(self._unit_of, unit)

    def solve(self) -> MasterAnswer | None:
        """Solve it over the columns that there are; None where rows are not held."""
        if self._phase == 1:
            answer, self._last = super().solve(), None
            self._hold = np.zeros(0) if answer is None else answer.share
            self._posted = self._holding = np.flatnonzero(self._hold)
            return answer
        usage, lifts = (sparse.csc_array(sparse.hstack(each)) for each in zip(*self._parts, strict=True))
        self._parts = [(usage, lifts)]
        chosen = self._select(usage, lifts)
        wanted = np.flatnonzero(np.any([one.wanted for one in self._each], axis=0))
        if self._last is not None and (q := self._last.lifted) is not None:
            bent = min(float(np.sum(self._m * one.value(q))) for one in self._each)
            worth = float(self._values[: self._last.share.size] @ self._last.share) + bent
            self._scale = abs(worth) or self._scale
        most = self._most[chosen]
        unit, value = self._unit_of[chosen], self._values[chosen] * most / self._scale
        used, lifted = (sparse.csc_array(each[:, chosen] * most) for each in (usage, lifts[wanted, :]))
        columns = unit, value, used, lifted
        worths = [ConcaveSum(one.take(wanted), self._m[wanted] / self._scale) for one in self._each]
        with np.errstate(
            over="ignore", invalid="ignore", divide="ignore"
        ):  # it ends where steps lead out of the doubles
            hold = np.append(self._hold, np.zeros(self._unit_of.size - self._hold.size))[chosen] / most
            found = InteriorProgram(worths, self._limits(), self._equal, self._units, *columns, most, hold).solve()
        if found is None:
            return self._last  # what was found before has bounds, too
        share, q = np.zeros(self._unit_of.size), np.ones(self._m.size)
        share[chosen], y, laws, q[wanted] = found
        self._posted = np.union1d(self._holding, np.flatnonzero(share > HELD))
        self._last = MasterAnswer(share, y * self._scale / self._rows, laws, 0.0, q)
        return self._last

    def at_vertex(self, answer: MasterAnswer) -> MasterAnswer:
        """Return an answer with the same acceptances that posts few columns, and seldom.

        What buys less than HiGHS sees would be posted at any chance, else.
        """
        assert answer.lifted is not None  # noqa: S101
        chosen = np.flatnonzero(answer.share)
        usage, lifts = (each[:, chosen] for each in self._parts[0])
        share, known = answer.share.copy(), answer.share[chosen]
        value = sparse.csc_array(-self._values[np.newaxis, chosen] / self._scale)
        used = sparse.csc_array(sparse.vstack([usage, value, lifts]))
        limits = used @ known
        limits[: self._k] = np.where(self._equal, self._limits(), np.maximum(self._limits(), limits[: self._k]))
        equal = np.concatenate([self._equal, [False], np.ones(lifts.shape[0], dtype=np.bool_)])
        sizes = np.where((np.arange(limits.size) < self._k) | (limits == 0), 1.0, np.abs(limits))
        few = Master(limits, sizes, equal, self._units, FINE)
        posts = np.diff(used.indptr) > 0
        most = self._most[chosen]
        few.add_columns(self._unit_of[chosen], np.where(posts, -1.0 / most, 0.0), used, most=most)
        found = few.solve()
        if found is not None:
            few.seek_value(1.0)
            share[chosen] = (few.solve() or found).share
        return replace(answer, share=share)

    def _heights(self, usage: sparse.csc_array, lifts: sparse.csc_array, columns: Indices, at: MasterAnswer) -> Floats:
        """Return what columns gain beyond what they use, at an answer."""
        assert at.lifted is not None  # noqa: S101
        slopes = [w * one.slope(at.lifted) for w, one in zip(at.law_multipliers, self._each, strict=True)]
        worth = self._m * np.sum(slopes, axis=0)
        return np.asarray(self._values[columns] + lifts.T @ worth - usage.T @ (at.multipliers * self._rows))

    def _limits(self) -> Floats:
        return self._r / FINE

    def _select(self, usage: sparse.csc_array, lifts: sparse.csc_array) -> Indices:
        """Return the columns that count: the posted ones, and some of each unit.

        These are even ones, and later those that gain most at the last multipliers.
        """
        unit, number, chosen = self._unit_of, np.arange(self._unit_of.size), self._posted
        heights = [-np.modf(_GOLDEN * number)[0], lifts.sum(axis=0)]
        if self._last is not None:
            heights.append(self._heights(usage, lifts, number, self._last))
        for height in heights:
            order = np.lexsort((-height, unit))
            rank = number - np.searchsorted(unit[order], unit[order])
            chosen = np.union1d(chosen, order[rank < _COLUMNS // len(heights)])
        return chosen
