"""The linear program over the columns met so far.

Each unit, a row on its own or a block, mixes its columns with shares that sum to 1; all columns
together keep the rows. First the broken parts of rows are made as small as can be, then what is
bought as large as can be. Its multipliers price new columns (Dantzig and Wolfe 1960).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from smqopt.numeric import Floats, Indices, Mask

_TOLERANCES = (1e-10, 1e-10, 1e-9, 1e-8, 1e-7)
"""What HiGHS is asked for, in normalised units: the next one where it gives up."""
_WAYS = ("simplex_scale_strategy", "simplex_strategy"), ((2, 1), (0, 4))
"""Its ways: scaled and dual, and as the program is, by the primal method. The dual one gives up
where shares are so small that units hardly feel them, and scaling where limits leave no room."""
_NODES, _WHOLE = 20_000, 1e-9
"""Where the search for one posted price each ends, and how near to 0 or 1 a share is one."""
_ITERATIONS = 1_000_000
_ROOM, _HARDLY = 2.0, 2.0**-36
"""Times what rows are broken by at best: at it HiGHS finds no room; and what rows may be broken by,
relative to their sizes, where it finds none then either."""
_CHARGES = 2.0**24, 2.0**32
"""What it costs to break a row by its size then, in units of the objective."""
_DROPPED, FINE = 1e-11, 2.0**4
"""Coefficients below are left out; HiGHS leaves out a hundred times larger ones unless told."""


class _Silent(highspy.Highs):
    """HiGHS that prints nothing, nor its banner, which comes when callbacks are set."""

    def enableCallbacks(self) -> None:
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, eq=False)
class MasterAnswer:
    """An optimum over the columns."""

    share: Floats
    """Of each column."""
    multipliers: Floats
    """Of the rows, ≥ 0 but for equations; in units of the objective per unit of the row."""
    law_multipliers: Floats
    """Of the laws that the objective is the least of, ≥ 0; 1 where there is one."""
    broken: float
    """The sum of the broken parts of rows, relative to their sizes."""
    lifted: Floats | None = None
    """The acceptances whose worth bends, where there are any."""


class Master:
    """A linear program that grows.

    Limits r, sizes > 0 and which rows are equations have shape (k,). Rows stand in `fine` times
    smaller units than their sizes: they lose less of what HiGHS leaves out, where owners share
    prices.
    """

    def __init__(self, limits: Floats, sizes: Floats, equal: Mask, units: int, fine: float = 1.0) -> None:
        self._sizes, self._equal, self._k, self._units, self._fine = sizes / fine, equal, limits.size, units, fine
        self._highs: Any = _Silent()  # type: ignore[no-untyped-call]
        for name, value in (
            ("output_flag", False),
            ("simplex_iteration_limit", _ITERATIONS),
            ("small_matrix_value", _DROPPED),
            ("large_matrix_value", np.inf),  # what is refused would be lost in silence
        ):
            self._highs.setOptionValue(name, value)
        self._r = r = limits / self._sizes
        low, high = np.append(np.where(equal, r, -np.inf), np.ones(units)), np.append(r, np.ones(units))
        empty = np.zeros(0, dtype=np.int32)
        self._highs.addRows(low.size, low, high, 0, np.zeros(low.size, dtype=np.int32), empty, np.zeros(0))
        k, equations = self._k, np.flatnonzero(equal)
        self._broken = k + equations.size
        place = np.concatenate([np.arange(k), equations])
        sign = np.concatenate([-np.ones(k), np.ones(equations.size)])
        self._add(
            np.ones(place.size), sparse.csc_array((sign, (place, np.arange(place.size))), shape=(low.size, place.size))
        )
        self._values, self._most = np.zeros(0), np.zeros(0)
        self._phase, self._unit = 1, 1.0
        self._room = self._charge = 0.0

    def add_columns(
        self,
        unit: Indices,
        value: Floats,
        usage: sparse.csc_array,
        lifts: sparse.csc_array | None = None,  # noqa: ARG002 -- for programs that bend
        most: Floats | None = None,
    ) -> None:
        """Add columns.

        Each is of a unit, buys its value and uses the rows, shape (k, columns); `lifts` are
        acceptances whose worth bends, which a linear program has none of. `most` is the unit of
        each share, about what it can be: HiGHS does not see small ones.
        """
        most = np.ones(unit.size) if most is None else most
        scaled = sparse.csc_array(sparse.diags_array(1.0 / self._sizes) @ usage @ sparse.diags_array(most))
        one = sparse.csc_array((most, (unit, np.arange(unit.size))), shape=(self._units, unit.size))
        cost = np.zeros(unit.size) if self._phase == 1 else -most * value / self._unit
        self._add(cost, sparse.csc_array(sparse.vstack([scaled, one])))
        self._values, self._most = np.append(self._values, value), np.append(self._most, most)

    def limit(self, limits: Floats) -> None:
        """Set other limits of the rows, and seek shares that keep them, as at first."""
        self._r = limits / self._sizes
        for row, r, equal in zip(range(self._k), self._r.tolist(), self._equal.tolist(), strict=True):
            self._highs.changeRowBounds(row, r if equal else -np.inf, r)
        self._phase, self._charge, broken = 1, 0.0, np.arange(self._broken)
        self._bounds(broken, np.zeros(broken.size), np.full(broken.size, np.inf))
        self._costs(broken, np.ones(broken.size))
        self._costs(self._broken + np.arange(self._values.size), 0.0 * self._values)

    @property
    def seeks_value(self) -> bool:
        """Whether all rows hold, and the objective counts."""
        return self._phase == 2

    def seek_value(self, unit: float) -> None:
        """Seek the objective, in a unit.

        Rows are broken by little more than at best, or for a charge.
        """
        self._phase, self._unit = 2, unit
        broken, zero = np.arange(self._broken), np.zeros(self._broken)
        self._bounds(broken, zero, zero + (np.inf if self._charge else self._room))
        self._costs(broken, zero + self._charge)
        self._costs(self._broken + np.arange(self._values.size), -self._most * self._values / unit)

    def solve(self) -> MasterAnswer | None:
        """Solve it over the columns that there are; None where HiGHS reports no optimum."""
        ways = zip(_TOLERANCES, itertools.cycle(_WAYS[1]), strict=False)
        solved = any(self._solves(*each) for each in ways)
        found = self._highs.getSolution()
        x, dual = np.array(found.col_value), np.array(found.row_dual)
        if not solved or (self._charge and np.sum(x[: self._broken]) > _HARDLY * self._fine):
            dearer = [charge for charge in _CHARGES if charge > self._charge]
            if self.seeks_value and dearer:
                self._charge = dearer[0]
                self.seek_value(self._unit)
                return self.solve()
            if not solved:
                return None
        if self._phase == 1:
            self._room = _ROOM * max(float(np.sum(x[: self._broken])), 0.0)
        y = -dual[: self._k]
        return MasterAnswer(
            share=np.maximum(x[self._broken :], 0.0) * self._most,
            multipliers=np.where(self._equal, y, np.maximum(y, 0.0)) * self._unit / self._sizes,
            law_multipliers=np.ones(1),
            broken=float(np.sum(x[: self._broken])) / self._fine,
        )

    @property
    def is_infeasible(self) -> bool:
        """Whether HiGHS has shown that no shares keep the rows."""
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible)

    def post(self, gap: float, mixed: Mask) -> Floats | None:
        """Return shares of 0 or 1 of columns; None where none found keep the rows.

        By branch and bound over the columns that there are, to a relative gap or a limit of nodes.
        Columns of which `mixed` says so keep any share.
        """
        first, count = self._broken, self._values.size
        places = np.arange(first, first + count)
        self._bounds(places, np.zeros(count), np.ones(count))
        kinds = np.where(~mixed, int(highspy.HighsVarType.kInteger), int(highspy.HighsVarType.kContinuous))
        self._highs.changeColsIntegrality(count, places.astype(np.int32), kinds)
        for name, value in (("mip_rel_gap", gap), ("mip_max_nodes", _NODES), ("mip_feasibility_tolerance", _WHOLE)):
            self._highs.setOptionValue(name, value)
        self._highs.run()
        info = self._highs.getInfo()
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None
        share = np.array(self._highs.getSolution().col_value)[first:]
        return np.where(mixed, share, np.round(share))

    def _solves(self, tolerance: float, way: tuple[int, int]) -> bool:
        for name, value in zip(_WAYS[0], way, strict=True):
            self._highs.setOptionValue(name, value)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._highs.setOptionValue(name, tolerance)
        if self._reaches_optimum():
            self._highs.setBasis(self._highs.getBasis())  # factors lose digits as columns enter: made anew
            if self._reaches_optimum():
                return True
        self._highs.clearSolver()  # the basis of the last round is left behind
        return False

    def _reaches_optimum(self) -> bool:
        self._highs.run()
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def _add(self, cost: Floats, matrix: sparse.csc_array) -> None:
        count = cost.size
        if count:
            self._highs.addCols(
                count,
                cost,
                np.zeros(count),
                np.full(count, np.inf),
                matrix.nnz,
                matrix.indptr[:-1].astype(np.int32),
                matrix.indices.astype(np.int32),
                matrix.data,
            )

    def _costs(self, index: Indices, cost: Floats) -> None:
        if index.size:
            self._highs.changeColsCost(index.size, index.astype(np.int32), cost)

    def _bounds(self, index: Indices, lower: Floats, upper: Floats) -> None:
        if index.size:
            self._highs.changeColsBounds(index.size, index.astype(np.int32), lower, upper)
