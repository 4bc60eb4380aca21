"""What an answer over columns uses of budget and rows, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from smqopt.market import Linear, Objective, Statement, Utility, room_of, tie_slopes
from smqopt.numeric import SIDE_ROW, Floats, Indices, Mask
from smqopt.solvers.columns._block_columns import BlockColumns
from smqopt.solvers.columns._single_columns import SingleColumns

GOOD = 2.0**-36
"""A gap so small, relative to the bound, ends the search."""
_LAST = 2.0**-42
"""What rounding may break the budget by, relative to its size: a smaller one gives it back."""
_SURELY = 2.0**-40
"""A block that posts a price with all but so much of its shares makes an offer for sure."""
_NEAR = 2.0**-10
"""Prices of rows are too low, or too high, by no more."""
_MUCH = 2.0**8
"""A row's unit is at most so many times its limit."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search arrives at."""

    z: Floats
    """Multipliers, the budget's first; a ray where it is infeasible."""
    is_feasible: bool
    acceptance: Floats
    """Of rows on their own; shape (n″,)."""
    group: Indices
    price: Floats
    share: Floats
    """The prices of blocks that are posted with a probability > 0; arrays of one length."""
    lower: float
    upper: float
    """Bounds on the objective, in its unit."""
    held: Mask
    """Whose acceptance stands as it is given; the other rows on their own answer to z; (n″,)."""
    weights: Floats
    """Of the laws that the objective is the worst of; 1 where there is one."""


class ColumnAnswers:
    """What answers over the columns of a statement use, and are worth.

    What is to be kept, `safe`, is a little less than B: what is between the two is for rounding,
    and proves nothing.
    """

    def __init__(self, statement: Statement, objective: Objective | Utility, safe: float, budget: float) -> None:
        self._stated, self._objective = statement, None if isinstance(objective, Utility) else objective
        laws = 1 if self._objective is None else self._objective.laws
        self._even = np.full(laws, 1.0 / laws)
        self._utility = utility = objective if isinstance(objective, Utility) else statement.utility(objective)
        self._each = (utility,) if laws == 1 else tuple(self.under(w) for w in np.eye(laws))
        self.singles = SingleColumns(statement, utility, safe)
        self.blocks = BlockColumns(statement)
        self._m = statement.weights()
        self._take_limits(statement, safe, budget)
        self._linear = utility.each if isinstance(utility, Linear) else None
        self._in_blocks = self.blocks.rows
        self.room = room_of(statement, safe)
        self.sizes = self._sizes()

    def under(self, weights: Floats) -> Utility:
        """Return φ of the rows with weights of laws."""
        if weights.size == 1 or self._objective is None:
            return self._utility
        return self._stated.utility(self._objective.weighing(np.maximum(weights, 0.0).tolist()))

    def values(self, q: Floats) -> Floats:
        """Return what acceptances are worth under each law."""
        return np.array([np.sum(each) for each in self.terms(q)])

    def terms(self, q: Floats) -> list[Floats]:
        """Return what the acceptance of each row is worth under each law."""
        return [self._m * one.value(q) for one in self._each]

    def _take_limits(self, statement: Statement, safe: float, budget: float) -> None:
        self.statement, self._margin = statement, budget - safe
        self._limits = np.append(safe, statement.at_most)

    @property
    def is_linear(self) -> bool:
        """Whether acceptances are worth the same however many there are."""
        return self._linear is not None

    @property
    def starts_rough(self) -> bool:
        """Whether Newton steps are tried from rough answers: all that bends is shared."""
        return self._even.size > 1 or (self._linear is None and not self.singles.rows.size)

    def slopes(self, found: Found) -> Floats:
        """Return what one more acceptance is worth at an answer; shape (n′,)."""
        if self._linear is not None:
            return self._linear
        with np.errstate(over="ignore"):  # of a first acceptance, where no offer has no value
            return self.under(found.weights).slope(self.acceptance(found))

    def left(self, found: Found) -> Floats:
        """Return what an answer leaves of the linear rows."""
        q, usage = self.of_alone(found), self.usage_of_blocks(found.group, found.price, found.share)
        return self._limits - usage - self.singles.uses(q)

    def excess(self, found: Found) -> float:
        """Return what an answer breaks a row by, relative to its size."""
        left = self.left(found) / self.sizes
        return float(np.max(np.where(np.append(False, self.statement.equal), np.abs(left), -left)))

    def keeps(self, found: Found) -> bool:
        """Return whether an answer keeps all rows.

        The budget to its last digits, unless rows on their own may still give way.
        """
        keeps_budget = self.singles.rows.size > 0 or self.left(found)[0] >= -_LAST * self.sizes[0]
        return bool(keeps_budget and self.excess(found) <= SIDE_ROW.value)

    def of_alone(self, found: Found) -> Floats:
        """Return the acceptances of rows on their own; shape (n″,)."""
        point = None if found.held.all() else self.singles.at(found.z)
        return found.acceptance if point is None else np.where(found.held, found.acceptance, point.answer.acceptance)

    def bounds(self, found: Found) -> Found:
        """Return what was found with bounds of its own."""
        point = self.singles.at(found.z)
        q, rows = self.acceptance(found), self._in_blocks
        worth, (taken, p) = self.slopes(found), self.statement.charge(float(found.z[0]), found.z[1:])
        upper = float(np.sum(found.z * self._limits)) if point is None else point.value
        whole = upper + self._tops(self.blocks.heights(found.z, worth))
        if not self.is_linear:
            utility, tied = self.under(found.weights), worth.copy()
            idle = np.bincount(found.group, weights=found.share, minlength=self.blocks.count) < 1.0 - _SURELY
            tied[rows] = tie_slopes(self.statement, utility, q, (found.group, found.price), idle, (taken, p))
            few, both = utility.take(rows), (worth, tied)
            lines = [upper + float(np.sum(self._m[rows] * few.tangent(each[rows])[0])) for each in both]
            wholes = [
                line + self._tops(self.blocks.heights(found.z, each)) for line, each in zip(lines, both, strict=True)
            ]
            k = int(wholes[1] < wholes[0] - GOOD * abs(wholes[0]))  # ties of no use are above 0 by roundings
            upper, whole, worth = lines[k], wholes[k], both[k]
        allowed = 0.25 * GOOD * abs(whole) / self.blocks.count
        enclosed = self.blocks.blocks.enclose(self._m * (worth - taken), self._m * p, allowed)
        return replace(
            found, acceptance=q[self.singles.rows], lower=self.value(found), upper=upper + float(np.sum(enclosed.top))
        )

    def value(self, found: Found) -> float:
        """Return what an answer is worth."""
        return float(np.min(self.values(self.acceptance(found))))

    def acceptance(self, found: Found) -> Floats:
        """Return the acceptances of an answer; shape (n′,)."""
        q = np.zeros(self._m.size)
        q[self.singles.rows] = self.of_alone(found)
        if found.group.size:
            node, row, F = self.blocks.blocks.acceptance(found.group, found.price)
            q += np.bincount(row, weights=F * found.share[node], minlength=q.size)
        return np.clip(q, 0.0, 1.0)

    def usage_of_blocks(self, group: Indices, price: Floats, share: Floats) -> Floats:
        """Return what posted prices use of the budget and the rows; (k + 1,)."""
        if not group.size:
            return np.zeros(self._limits.size)
        return np.asarray(share @ self.blocks.uses(group, price)[1])

    def tie(self, z: Floats, worth: Floats) -> float | None:
        """Return by how much, relatively, prices of rows that only take are too low.

        Where no price that limits leave a small share of gains more than what may be posted for
        sure: a linear program sees such a share of the gain alone, a bound all of it. None where
        there are no such prices, or more is amiss.
        """
        height, s = self.blocks.heights(z, worth), self.shares(self.blocks.usage.T)
        charged = self.blocks.usage @ np.where(self.room.takes, z, 0.0)
        top, scarce = np.zeros(self.blocks.count), (s < 1) & (charged > 0)
        np.maximum.at(top, self.blocks.group, np.where(scarce, 0.0, height))
        far = (height - top[self.blocks.group])[scarce] / charged[scarce]
        tie = float(np.max(far, initial=-np.inf))
        return tie if abs(tie) <= _NEAR else None

    def lift_prices(self, z: Floats, more: float) -> Floats:
        """Return multipliers with those of rows that only take raised, relatively."""
        return np.where(self.room.takes, z * (1.0 + more), z)

    def _tops(self, height: Floats) -> float:
        tops = np.zeros(self.blocks.count)
        np.maximum.at(tops, self.blocks.group, height)
        return float(np.sum(tops))

    def _sizes(self) -> Floats:
        """Return the largest terms that each row can have; shape (k + 1,)."""
        statement, room = self.statement, self.room
        used = abs(statement.acceptance) @ room.acceptance + abs(statement.spend) @ room.spend
        most, limits = np.append(float(np.sum(self._m * room.spend)), used), np.abs(self._limits)
        sizes = np.where(room.takes & (self._limits > 0), np.minimum(most, _MUCH * limits), most) + limits
        return np.where(sizes > 0, sizes, 1.0)

    def shares(self, usage: sparse.csc_array | Floats) -> Floats:
        """Return what limits leave of shares of columns, or little more; powers of 2."""
        ends = self.room.takes & (self._limits > 0)
        units = sparse.diags_array(1.0 / self._limits[ends])
        most = sparse.csc_array(units @ sparse.csr_array(usage)[ends]).max(axis=0).toarray().ravel()
        return np.exp2(-np.floor(np.log2(np.maximum(most, 1.0))))
