"""What a proof is of: a solution with all that is fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market import Market, PurchasedPrivacy, Row, Solution, Statement, at_budget, state
from smqopt.numeric import Floats, Indices
from smqopt.valuation import SampleLaw, piece_law
from smqopt.verification.checks._side_constraints import differing_offers, off_the_lists
from smqopt.verification.checks._unverified import WORD, rests_on_a_word
from smqopt.verification.proof._constraint_rows import linear_rows, rows_of_bounds
from smqopt.verification.proof._exact_bounds import ExactBounds, exact_bounds
from smqopt.verification.proof._owner_groups import Part, parts_of, unproved_laws
from smqopt.verification.proof._tangent_points import TangentPoints, tangent_points
from smqopt.verification.proof._utility import BallUtility, ball_utility

_IN_BLOCK = 200
"""As how many owners one counts whose price is shared among different laws."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Side constraints, by the numbers that their records name."""

    statement: Statement
    rows: tuple[Row, ...]
    """The linear ones, over the owners of the market; 0 ≤ 0 for those for which bounds stand."""
    stated: tuple[Row, ...]
    """The same as the records say them."""
    bounds: ExactBounds
    of_bounds: int
    """How many rows, the last ones, are bounds of acceptance of who shares a price."""

    @property
    def rows_alone(self) -> bool:
        """Whether nothing but rows, blocks and lists bounds what owners are offered.

        Owners of one law beside blocks may share a price: that is left out, and more is allowed.
        """
        bounds, listed = self.bounds, self.bounds.listed >= 0
        if self.of_bounds:
            return False
        if listed.any():
            ends = self.statement.prices_of_use()
            bounded = (bounds.least > 0, bounds.most < 1, ends.floor > 0, ends.ceiling < np.inf)
            shared = self.statement.row_of_owner is not None or self.statement.blocks is not None
            return not shared and not any(each.any() for each in bounded)
        apart = self.statement.row_of_owner is None or self.statement.blocks is not None
        return apart and not bounds.of_acceptance.any()


@dataclass(frozen=True, eq=False)
class Case:
    """A solution, ready to be enclosed."""

    solution: Solution
    utility: BallUtility
    constraints: Constraints | None
    first: Indices
    """The first owner of each term of the Lagrangian."""
    tangent_points: TangentPoints
    parts: tuple[Part, ...]

    @property
    def budget_is_zero(self) -> bool:
        """Return whether λ is infinite: what sells for nothing bounds then."""
        return self.solution.budget_price == math.inf

    @property
    def is_plain(self) -> bool:
        """Whether it is of OP2 itself."""
        return self.constraints is None and isinstance(self.solution.objective, PurchasedPrivacy)

    @property
    def size(self) -> int:
        """How many owners are enclosed one by one."""
        return sum(part.owner.size for part in self.parts)

    def blocks(self, most: int) -> Iterator[Case]:
        """Yield owners who have nothing to do with each other, so many at most at a time."""
        if not self.is_plain or self.size <= most:
            yield self
            return
        for part in self.parts:
            for start in range(0, part.owner.size, most):
                yield replace(self, parts=(part.rows(slice(start, start + most)),))

    @property
    def effort(self) -> int:
        """What is worked out in balls, as so many owners."""
        blocks = None if self.constraints is None else self.constraints.statement.blocks
        of_blocks = 0 if blocks is None else _IN_BLOCK * blocks.rows.size
        return self.size + sum(part.effort for part in self.parts) + of_blocks

    def multiplicity(self, owner: Indices) -> Floats:
        """Return how many owners some rows of the market stand for."""
        m = self.solution.market.multiplicity
        return np.ones(owner.size) if m is None else m[owner].astype(np.float64)


def obstacle(solution: Solution) -> str:
    """Return why nothing can be proved of a solution, whatever its laws."""
    price = solution.budget_price
    if not 0 <= price <= math.inf or (price == math.inf and solution.budget > 0):
        return f"{price!r} is no price, so that nothing is bounded"
    if rests_on_a_word(solution):
        return WORD
    if len(solution.constraints) > len(solution.records):
        return "there are constraints without a record"
    return ""


def case_of(
    solution: Solution, form: Statement | None = None, *, chosen: TangentPoints | None = None
) -> Case | tuple[str, ...]:
    """Get a solution ready; or say why nothing can be enclosed, one line each.

    Parameters
    ----------
    solution
        What is to be proved.
    form
        What `stated` gives for its market and records, where the caller has it.
    chosen
        Where Lagrangians are to be touched, if that was worked out before.
    """
    reason = obstacle(solution)
    if reason:
        return (reason,)
    if solution.budget == 0 and solution.constraint_prices.any():
        solution = replace(solution, budget_price=0.0)  # nobody is paid, so that money has no price
    if reasons := unproved_laws(solution.market):
        return reasons
    utility = ball_utility(solution.objective, solution.market)
    if isinstance(utility, str):
        return (utility,)
    constraints = constraints_of(solution, form)
    if isinstance(constraints, str):
        return (constraints,)
    if not in_supports(solution, None if constraints is None else constraints.statement):
        return ("a threshold lies outside its support",)
    n = solution.market.n
    statement = None if constraints is None else constraints.statement
    first = np.arange(n, dtype=np.intp) if statement is None else statement.first_owner
    free = np.zeros(n), np.zeros(first.size), solution.thresholds[first]
    if chosen is None:
        bounded = solution.budget_price < math.inf
        chosen = tangent_points(solution, statement, first) if bounded else TangentPoints(*free)
    if statement is not None and statement.blocks is not None:
        chosen.shift[statement.blocks.rows] = 0.0  # their bounds are those of prices
    bounds = None if constraints is None else constraints.bounds
    parts: list[Part] = []
    missing: list[str] = []
    for part in parts_of(solution, first, bounds, _what_tells_owners_apart(solution, chosen)):
        if isinstance(part, str):
            missing.append(part)
        else:
            parts.append(part)
    if missing:
        return tuple(dict.fromkeys(missing))
    return Case(solution, utility, constraints, first, chosen, tuple(parts))


def constraints_of(solution: Solution, form: Statement | None) -> Constraints | str | None:
    """Return the side constraints, or why they are not proved."""
    market, records = solution.market, solution.records
    if not records:
        return None
    try:
        statement = form or state(market, records)
    except InputError as error:
        return f"the constraints do not fit the market: {error}"
    statement = at_budget(statement, solution.budget)
    if statement.blocks is not None and (reason := _not_in_pieces(market)):
        return reason
    y = solution.constraint_prices
    finite = y.shape == statement.at_most.shape and bool(np.isfinite(y).all())
    if solution.budget_price < math.inf and not (finite and np.all(y[~statement.equal] >= 0)):
        return "the multipliers of the constraints are none, so that nothing is bounded"
    if differing_offers(solution, statement):
        return "owners who must share a price do not"
    if off_the_lists(solution, statement):
        return "a price is not on its list"
    stated = tuple(row for record in statement.records for row in record.rows(market))
    as_rows = rows_of_bounds(statement, len(stated))  # that they are kept is judged as of other bounds
    rows = (*linear_rows(statement), *as_rows)
    return Constraints(statement, rows, stated, exact_bounds(statement), len(as_rows))


def _not_in_pieces(market: Market) -> str:
    """Return why owners of different laws who share a price are not in balls."""
    laws = (piece_law(law.law if isinstance(law, SampleLaw) else law) for law, _ in market.valuation.parts())
    return next((pieces for pieces in laws if isinstance(pieces, str)), "")


def _what_tells_owners_apart(solution: Solution, chosen: TangentPoints) -> tuple[NDArray[np.generic], ...]:
    """Return columns in which owners agree who are alike for a proof."""
    market, drawn = solution.market, solution.lottery
    columns: list[NDArray[np.generic]] = [market.epsilon, solution.thresholds, solution.acceptance > 0]
    if chosen.threshold.size == market.n:
        columns += [chosen.threshold, chosen.slope]
    weights = getattr(solution.objective, "weights", None)
    if isinstance(weights, tuple):
        columns.append(np.array(weights))
    if market.multiplicity is not None:
        columns.append(market.multiplicity)
    if drawn is not None:
        for values in (*drawn.prices.T, *drawn.acceptances.T, *drawn.probabilities.T):
            spread = np.full(market.n, -1.0)
            spread[drawn.owner] = values
            columns.append(spread)
    return tuple(columns)


def in_supports(solution: Solution, statement: Statement | None) -> bool:
    """Return whether all thresholds lie in their supports, exactly.

    Or are what may be posted above.
    """
    low, drawn = solution.market.low, solution.lottery
    high = solution.market.high if statement is None else statement.ceilings()
    inside = bool(np.all((low <= solution.thresholds) & (solution.thresholds <= high)))
    if drawn is not None:
        low, high = low[drawn.owner, np.newaxis], high[drawn.owner, np.newaxis]
        inside = inside and bool(np.all((low <= drawn.prices) & (drawn.prices <= high)))
    return inside
