"""Column generation, until bounds meet.

It ends by a gap, by multipliers that prove that the rows cannot hold together (a ray: at no worth
of acceptances the dual is below 0), or at its limit of work, with the bounds found so far.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from smqopt.errors import SolverError
from smqopt.market import Objective, Statement, Utility
from smqopt.numeric import SIDE_ROW, Floats, Indices, Mask
from smqopt.solvers.columns._column_answers import GOOD, ColumnAnswers, Found
from smqopt.solvers.columns._interior_master import InteriorMaster
from smqopt.solvers.columns._master import FINE, Master, MasterAnswer

_ROUNDS = 120
"""More than hard programs were seen to take."""
_SMALL = 2.0**-3
"""An objective that is so much smaller than its unit gets another one."""
_FINE = 2.0**-12
"""The unit of the objective in the linear program, relative to what half of all that limits leave
is worth: HiGHS leaves 1e-10 of it open."""
_HELD = 2.0**-36
"""Rows broken by less, relative to their sizes, hold."""
_LET = 2.0**-32
"""By so much, relatively, a lower bound may lie above the upper one: HiGHS keeps rows to 1e-10."""
_ROUNDING = 2.0**-42
"""A dual below 0 by less, relative to its terms, proves nothing."""
_TRIES = 12
"""Of posting one price each, with the rows that broke made tighter."""
_INNER = 4
"""Times that prices of blocks are sought at the same multipliers."""
_FIRST_APART, _LEAST_APART = 2.0**-20, 2.0**-32
"""How near acceptances, and prices relatively, may come to known ones, at first and at last: HiGHS
takes no basis of columns that are hardly apart, and bounds meet to about the square of this."""
_SHRINK, _NEAR = 0.25, 2.0**-3
"""How the steps around acceptances shrink."""
_IDLE_LAW = 2.0**-30
"""Weights of laws that are smaller are none: HiGHS leaves so much of them open."""


class ColumnSearch(ColumnAnswers):
    """A search over the columns of a statement; made as `ColumnAnswers` is."""

    def __init__(self, statement: Statement, objective: Objective | Utility, safe: float, budget: float) -> None:
        super().__init__(statement, objective, safe, budget)
        half = float(np.max(np.abs(self.values(0.5 * self.room.acceptance))))
        self._unit = (half if 0 < half < np.inf else 1.0) * _FINE
        self._master = self._new_master()
        self._of_singles, self._of_blocks = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
        self._columns, self._off = 0, ""
        self._apart = _FIRST_APART
        self._weights = self._even
        self._add_singles(self.singles.first(self.sizes), 0.0)
        if self.blocks.count:
            no_offer = self.singles.rows.size + np.arange(self.blocks.count)
            unused = sparse.csc_array((self._limits.size, no_offer.size))
            self._master.add_columns(no_offer, np.zeros(no_offer.size), unused)
            self._columns += no_offer.size
            self._add_prices(*self.blocks.first(self.sizes))

    def limit(self, statement: Statement, safe: float, budget: float) -> None:
        """Go on under other limits of budget and rows; the columns stay."""
        self._take_limits(statement, safe, budget)
        self.singles.limit(statement, safe)
        self._master.limit(self._limits)

    def run(self, enough: float = GOOD, patience: int = _ROUNDS) -> Found:
        """Search until bounds are near enough to each other, relative to the upper one.

        Or until so many rounds one after the other have not halved what is between them.
        """
        ray = self._hold_rows()
        if ray is not None:
            return ray
        self._master.seek_value(self._unit)
        near = _NEAR
        best: Found | None = None
        closest: Found | None = None
        best_rank, least, waited = (False, -np.inf), np.inf, 0
        for _ in range(_ROUNDS):
            answer = self._master.solve()
            if answer is None or waited > patience:
                break
            z, before = answer.multipliers, self._columns
            self._weigh(answer)
            worth, conjugate = self._slopes(answer)
            if self.blocks.count:
                z = self.lift_prices(z, max(self.tie(z, worth) or 0.0, 0.0))
            upper = self._price(z, worth, answer, near, conjugate) + conjugate
            one = self._result(answer, z, self._value(answer), upper)
            if 0 < abs(one.lower) < _SMALL * self._unit / _FINE:
                self._unit = abs(one.lower) * _FINE
                self._master.seek_value(self._unit)
            gap = one.upper - one.lower
            # a lower bound above the upper one: HiGHS lets shares break rows by a little
            rank = (True, -abs(gap)) if self._is_bound else (False, one.lower)  # gaps to what is known mislead
            least, waited = (abs(gap), 0) if abs(gap) <= 0.5 * least else (least, waited + 1)
            if gap >= -_LET * abs(one.upper) and rank > best_rank:
                best, best_rank, posted = one, rank, answer
            if closest is None or abs(gap) < abs(closest.upper - closest.lower):
                closest = one
            near = max(_SHRINK * near, self._apart)
            if abs(gap) <= enough * abs(one.upper):
                break
            if self._columns == before and near <= self._apart:
                if self._apart <= _LEAST_APART:
                    break
                self._apart *= _SHRINK**2
        if best is not None and isinstance(self._master, InteriorMaster):
            self._weigh(posted)
            posted = self._master.at_vertex(posted)
            best = self._result(posted, best.z, self._value(posted), best.upper)
        if best is not None and not best_rank[0] and enough <= GOOD and np.isfinite(self.slopes(best)).all():
            best = self.bounds(best)
        return self._within_work(best or closest)  # whoever asked makes the rows hold

    def find_ray(self) -> Found | None:
        """Return multipliers that prove that rows do not hold together, or None."""
        return self._hold_rows()

    def _hold_rows(self) -> Found | None:
        """Look for columns that keep all rows; return the ray if there are none."""
        near, nothing = _NEAR, np.zeros(self._m.size)
        if self._master.seeks_value:
            return None
        self._apart = _FIRST_APART
        for _ in range(_ROUNDS):
            answer = self._master.solve()
            if answer is not None:
                dearest = int(np.argmax(np.abs(answer.multipliers) * self.sizes))
                row = ("the budget", *self.statement.names)[dearest]
                self._off = f"; at best rows like {row!r} are broken by {answer.broken:.1e} of their terms"
            if answer is None or answer.broken <= _HELD:
                break
            before = self._columns
            upper = self._price(answer.multipliers, nothing, answer, near, None)
            if upper < 0:
                return self._result(answer, answer.multipliers, -np.inf, upper, is_feasible=False)
            if self._columns == before and near <= self._apart:
                self._apart *= _SHRINK**2
            if self._apart < _LEAST_APART:
                break
            near = max(_SHRINK * near, self._apart)
        if answer is None or answer.broken > SIDE_ROW.value:
            self._within_work(None)
        self._apart = _FIRST_APART
        return None

    def _within_work(self, found: Found | None) -> Found:
        if found is None:
            raise SolverError(
                "structured solver",
                "reached its limit of work before any prices that keep all rows, or a proof that there are none",
                value=f"{self._columns} columns{self._off}",
                remedy='relax a constraint a little, or try solver="conic"',
            )
        return found

    def post(self, found: Found, gap: float) -> Found | None:
        """Return one posted price each; the upper bound stays that of lotteries.

        A mixed-integer program over the prices of lists, those that the search met, and even ones
        in between, to a gap or a limit of nodes. Rows that it breaks by rounding are made tighter.
        None where no prices of lists keep the rows.
        """
        unit, price, q, worth, usage = self._posted_columns()
        listed, needed = self.singles.listed | self._mixed[: self.singles.rows.size], bool(self._utility.needed.any())
        if not needed and not np.isin(np.flatnonzero(listed), unit).all():
            return None  # bounds leave one of them no price
        every = bool(listed.all()) and self.blocks.are_listed and not needed
        equal, alone = np.append(False, self.statement.equal), self.singles.rows.size
        program, mixed = self._least_of_laws(unit, worth, usage)
        units = alone + self.blocks.count + (len(worth) > 1)
        tighter = np.zeros(self._limits.size)
        for _ in range(_TRIES):
            laws = np.zeros(program[2].shape[0] - tighter.size)
            limits, sizes = np.append(self._limits - tighter, laws), np.append(self.sizes, laws + self._unit / _FINE)
            master = Master(limits, sizes, np.append(equal, laws > 0), units)
            master.add_columns(*program)
            master.seek_value(self._unit)
            share = master.post(gap / 4, mixed)
            if share is None:
                if every and not tighter.any() and master.is_infeasible:
                    return None  # there are none
                break
            left = self._limits - usage @ share[: unit.size]
            broken = np.where(equal, 0.0, np.maximum(-left, 0.0))
            if np.all(broken <= SIDE_ROW.value / 4 * self.sizes) and broken[0] <= self._margin:
                single = np.flatnonzero(unit < alone)
                each = np.zeros(alone)
                np.add.at(each, unit[single], share[single] * q[single])
                lots = np.flatnonzero((share[: unit.size] > 0) & (price >= 0))
                one = replace(found, acceptance=each, held=np.ones_like(found.held), share=share[lots])
                one = replace(one, group=unit[lots] - alone, price=price[lots])
                return replace(one, lower=self.value(one))
            tighter += np.where(broken > 0, 3.0 * tighter, 0.0) + 2.0 * broken
        raise SolverError(
            "structured solver",
            "found no prices without lotteries that keep every constraint",
            remedy="allow lotteries, or relax a constraint a little",
        )

    def _posted_columns(self) -> tuple[Indices, Floats, Floats, Floats, sparse.csc_array]:
        """Return all that one posted price each may be, where that has a value.

        Unit, price, NaN of single rows and of no offer, acceptance of single rows, worth under each
        law, shape (laws, columns), and usage.
        """
        row, q, usage = self.singles.post()
        at, unit, price, alone = np.arange(row.size), row, np.full(row.size, np.nan), self.singles.rows.size
        row, F = self.singles.rows[row], q
        if self.blocks.count:
            pooled, count, first = self.blocks.blocks, self.blocks.count, unit.size
            matrix = self.blocks.uses(self.blocks.group, self.blocks.price)[0]  # a mixture is one law here
            node, of, each = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices, matrix.data
            at = np.concatenate([at, first + pooled.of_row[pooled.rows], first + count + node])
            row, F = np.concatenate([row, pooled.rows, of]), np.concatenate([F, np.zeros(pooled.rows.size), each])
            unit = np.concatenate([unit, alone + np.arange(count), alone + self.blocks.group])
            price = np.concatenate([price, np.full(count, np.nan), self.blocks.price])
            none = np.zeros((self._limits.size, count))
            usage = sparse.csc_array(sparse.hstack([usage, sparse.csc_array(np.hstack([none, self.blocks.usage.T]))]))
        worths = [self._m[row] * one.take(row).value(F) for one in self._each]
        worth = np.array([np.bincount(at, weights=each, minlength=unit.size) for each in worths])
        kept = np.flatnonzero(np.isfinite(worth).all(axis=0) & (self._mixed[unit] | (self.shares(usage) >= 1.0)))
        q = np.append(q, np.zeros(unit.size - q.size))
        return unit[kept], price[kept], q[kept], worth[:, kept], usage[:, kept]

    def _least_of_laws(
        self, unit: Indices, worth: Floats, usage: sparse.csc_array
    ) -> tuple[tuple[Indices, Floats, sparse.csc_array], Mask]:
        """Return columns for the worst law, and which keep any share.

        Where there are several laws a unit of its own mixes two levels: what each law gives is no
        less.
        """
        mixes = self._mixed
        if len(worth) == 1:
            return (unit, worth[0], usage), mixes[unit]
        most = np.zeros(mixes.size)
        np.maximum.at(most, unit, np.max(np.abs(worth), axis=0))
        levels = np.sum(most) * np.array([-1.0, 1.0])
        laws = np.hstack([-worth, np.tile(levels, (len(worth), 1))])
        every = sparse.hstack([usage, sparse.csc_array((usage.shape[0], 2))])
        columns = sparse.csc_array(sparse.vstack([every, sparse.csc_array(laws)]))
        value = np.append(np.zeros(unit.size), levels)
        return (np.append(unit, [mixes.size] * 2), value, columns), np.append(mixes[unit], [True, True])

    @property
    def _mixed(self) -> Mask:
        """Which units are a program's own numbers, that keep any share of columns."""
        alone, count, stand_ins = self.singles.rows.size, self.blocks.count, self.statement.stand_ins()
        mixed = np.zeros(alone + count, dtype=np.bool_)
        mixed[:alone] = stand_ins[self.singles.rows]
        if count:
            of_row = self.blocks.blocks.of_row
            mixed[alone + of_row[stand_ins & (of_row >= 0)]] = True
        return mixed

    @property
    def unit(self) -> float:
        """The unit of the objective."""
        return self._unit

    def _price(self, z: Floats, worth: Floats, answer: MasterAnswer, near: float, conjugate: float | None) -> float:
        """Add columns for multipliers; return their bound, but for `conjugate`.

        In the first phase, which has none, that is 0 where rounding leaves its sign open.
        """
        seeks_value, self._is_bound = conjugate is not None, True
        point = self.singles.at(z, worthless=not seeks_value)
        fixed = z * self._limits
        value, size = (np.sum(fixed), np.sum(np.abs(fixed))) if point is None else (point.value, point.size)
        if self.blocks.count:
            tops = self._improve(z, worth)
            whole = abs(value + tops) if seeks_value else answer.broken
            if seeks_value and value + (conjugate or 0.0) + tops - self._value(answer) > GOOD * whole:
                value += tops  # not near yet: what is known will do
                self._is_bound = False
            else:
                value += self._enclose(z, worth, 0.25 * GOOD * whole / self.blocks.count)
            size += abs(tops)
        if point is not None:
            q = self.singles.mixture(self._shares(answer, self._of_singles))
            self._add_singles(self.singles.around(point, q, near), self._apart)
        if seeks_value or value + z[0] * self._margin < -_ROUNDING * size:
            return value
        return 0.0

    def _improve(self, z: Floats, worth: Floats) -> float:
        """Seek better prices of blocks; return the sum of the tops."""
        tops = -np.inf
        for _ in range(_INNER):
            height = self.blocks.heights(z, worth)
            before, tops = tops, self._tops(height)
            group, price = self.blocks.better(height, self._apart)
            if tops <= before * (1.0 + _ROUNDING) or not group.size:
                break
            self._add_prices(group, price)
        return self._tops(self.blocks.heights(z, worth))

    def _enclose(self, z: Floats, worth: Floats, allowed: float) -> float:
        """Bound what blocks add, and add the prices that were not known to be best."""
        taken, p = self.statement.charge(float(z[0]), z[1:])
        found = self.blocks.blocks.enclose(self._m * (worth - taken), self._m * p, allowed)
        tops = np.zeros(found.top.size)
        np.maximum.at(tops, self.blocks.group, self.blocks.heights(z, worth))
        missed = np.flatnonzero((found.height > tops + found.allowed) & np.isfinite(found.price))
        if missed.size:
            self._add_prices(missed, found.price[missed])
        return float(np.sum(found.top))

    def _slopes(self, answer: MasterAnswer) -> tuple[Floats, float]:
        """Return slopes of lines above φ, shape (n′,), and what they leave, Σ m φ*(e)."""
        if self._linear is not None:
            return self._linear, 0.0
        worth, rows = np.zeros(self._m.size), self._in_blocks
        few = self._utility.take(rows)
        worth[rows] = 0.0 if answer.lifted is None else few.slope(answer.lifted)
        return worth, float(np.sum(self._m[rows] * few.tangent(worth[rows])[0])) if rows.size else 0.0

    def _value(self, answer: MasterAnswer) -> float:
        return float(np.min(self.values(self._mixture(answer))))

    def _weigh(self, answer: MasterAnswer) -> None:
        """Take the weights of the laws from their multipliers."""
        w = answer.law_multipliers
        w = np.where(w > _IDLE_LAW * np.sum(w), w, 0.0)
        self._weights = w / np.sum(w) if w.any() else self._even
        if self._even.size > 1:
            self._utility = self.under(self._weights)

    def _new_master(self) -> Master:
        """Return a program without columns."""
        equal, units = np.append(False, self.statement.equal), self.singles.rows.size + self.blocks.count
        kind = Master if self._linear is not None or not self._in_blocks.size else InteriorMaster
        fine = FINE if self.blocks.count else 1.0
        master = kind(self._limits, self.sizes, equal, units, fine)
        if isinstance(master, InteriorMaster):
            few = [one.take(self._in_blocks) for one in self._each]
            master.bend(few, self._m[self._in_blocks], self._unit / _FINE)
        return master

    def _lifts(self, F: sparse.csr_array) -> sparse.csc_array | None:
        """Return the acceptances of rows in blocks, where lines bound what they are worth."""
        return None if self._linear is not None else sparse.csc_array(F.T[self._in_blocks])

    def _mixture(self, answer: MasterAnswer) -> Floats:
        """Return the acceptances of all rows; shape (n′,)."""
        q = np.zeros(self._m.size)
        q[self.singles.rows] = self.singles.mixture(self._shares(answer, self._of_singles))
        q += self.blocks.mix(self._shares(answer, self._of_blocks))
        return np.minimum(q, 1.0)

    def _result(
        self, answer: MasterAnswer, z: Floats, lower: float, upper: float, *, is_feasible: bool = True
    ) -> Found:
        q = self.singles.mixture(self._shares(answer, self._of_singles))
        share = self._shares(answer, self._of_blocks)
        posted = np.flatnonzero(share > 0)
        price = self.blocks.price[posted]
        return Found(
            z,
            is_feasible,
            q,
            self.blocks.group[posted],
            price,
            share[posted],
            lower,
            upper,
            np.ones(q.size, np.bool_),
            self._weights,
        )

    def _shares(self, answer: MasterAnswer, columns: Indices) -> Floats:
        """Return the shares of columns; 0 of those that came after the answer."""
        known = columns < answer.share.size
        return np.where(known, answer.share[np.where(known, columns, 0)], 0.0)

    def _add_singles(self, layers: list[Floats], apart: float) -> None:
        row, value, usage = self.singles.add(layers, apart)
        if row.size:
            self._master.add_columns(row, value, usage, most=self.shares(usage))
            self._of_singles = np.append(self._of_singles, np.arange(self._columns, self._columns + row.size))
            self._columns += row.size

    def _add_prices(self, group: Indices, price: Floats) -> None:
        told_apart = self.blocks.differ_from_no_offer(group, price, self.sizes)
        group, price = group[told_apart], price[told_apart]
        if not group.size:
            return
        new, F = self.blocks.add(group, price)
        value = np.zeros(new.size) if self._linear is None else np.asarray(F @ (self._m * self._linear))
        usage = sparse.csc_array(self.blocks.usage[new].T)
        self._master.add_columns(self.singles.rows.size + group, value, usage, self._lifts(F), self.shares(usage))
        self._of_blocks = np.append(self._of_blocks, np.arange(self._columns, self._columns + new.size))
        self._columns += new.size
