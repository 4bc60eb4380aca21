"""A market and its constraint records, brought to one form.

Rows, bounds, and owners who share a price.

What stands here is what the structured solver and the verifier both argue with:

    maximise  Σ m_i ε_i q_i   subject to   Σ m_i C_i(q_i) ≤ B,   A q + S C(q) ≤ r,   lowest ≤ q ≤
    highest,

with = in place of ≤ in some rows without S.

For multipliers λ, y ≥ 0 (of any sign for equations) the Lagrangian falls apart into owners: each
faces the requirement ε_i − (Aᵀy)_i/m_i at the price λ + (Sᵀy)_i/m_i, so that D(λ, y) = λB + y·r + Σ
m_i max_q {(ε_i − (Aᵀy)_i/m_i) q − (λ + (Sᵀy)_i/m_i) C_i(q)} bounds the optimum from above.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smqopt.market._market import Market
from smqopt.market._offers import Offers
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._utility import Linear, Shared, Utility
from smqopt.market.pooling._blocks import Blocks
from smqopt.market.statement._allowed_prices import AllowedPrices, allowed_prices
from smqopt.market.statement._coefficients import coefficient_matrix
from smqopt.market.statement._rigid_rows import Fixed
from smqopt.market.statement._same_price import same_price_rows
from smqopt.numeric import Floats, Indices, Mask, exact_dot


@dataclass(frozen=True, eq=False)
class Statement:
    """OP2 with side constraints over n′ rows.

    The market's own, or fewer where owners share a price.
    """

    market: Market
    """As the user gave it, n rows."""
    records: tuple[ConstraintRecord, ...]
    listed: Market
    """The market, n rows, where prices must be on lists with laws rounded up to the lists, and
    where a bound of prices cuts a flat piece with laws ironed between the bounds; the same market
    where there is neither."""
    reduced: Market
    """n′ rows, laws as in `listed`; owners who must get one price are one row."""
    row_of_owner: NDArray[np.intp] | None
    """The row of `reduced` for each row of `market`, shape (n,); None where they are the same."""
    names: tuple[str, ...]
    """The k linear rows in words."""
    record_of_row: tuple[int, ...]
    """Which record each linear row comes from."""
    acceptance: sparse.csr_array
    """A, shape (k, n′); multiplicities included."""
    spend: sparse.csr_array
    """S, shape (k, n′), below 0 in columns of blocks alone; multiplicities included."""
    at_most: Floats
    """r, shape (k,)."""
    equal: NDArray[np.bool_]
    """Which rows are equations, A q = r; their multipliers have any sign. Shape (k,)."""
    blocks: Blocks | None
    """Rows of different laws that share a price, or whose hull of allowed prices has no form of its
    own; None where there are none. Their laws are those of `market`, and their bounds of acceptance
    stand among the rows."""
    rigid: NDArray[np.bool_]
    """Which rows hold at one point of their acceptances alone, and with a multiplier that is not
    finite: bounds stand for them, and 0 ≤ 0 is left. Shape (k,)."""
    fixed: Fixed
    """Whom rigid rows leave one offer."""
    lowest: Floats
    highest: Floats
    """Bounds of acceptance, shape (n′,) each."""
    lowest_by: NDArray[np.intp]
    highest_by: NDArray[np.intp]
    """The record that set each bound, −1 where none did; shape (n′,)."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing is added to OP2."""
        return not self.records

    def weights(self) -> Floats:
        """Return how many owners each row stands for, shape (n′,)."""
        return self.reduced.weights

    def terms(self, budget_price: float, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return each row's requirement and price under multipliers.

        ε − Aᵀy/m and λ + Sᵀy/m, shape (n′,) each.
        """
        taken, price = self.charge(budget_price, multipliers)
        return self.reduced.epsilon - taken, price

    def charge(self, budget_price: float, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return what the rows take of each utility, and her price: Aᵀy/m and λ + Sᵀy/m.

        Shape (n′,) each.
        """
        m = self.weights()
        return (self.acceptance.T @ multipliers) / m, budget_price + (self.spend.T @ multipliers) / m

    def utility(self, objective: Objective) -> Utility:
        """Return the utility of the n′ rows under an objective.

        The mean of the owners' where they share a price.
        """
        each = objective.utility(self.market)
        if self.row_of_owner is None:
            return each
        share = self.market.weights / self.weights()[self.row_of_owner]
        if isinstance(each, Linear):
            mean = np.bincount(self.row_of_owner, weights=share * each.each, minlength=self.reduced.n)
            return Linear(mean.astype(np.float64))
        return Shared(each, self.row_of_owner, share, self.reduced.n)

    def usage(self, acceptance: Floats, spend: Floats) -> Floats:
        """Return A q + S b for one owner's q and b of each row of `reduced`; shape (k,)."""
        return np.asarray(self.acceptance @ acceptance + self.spend @ spend)

    def owner_rows(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return A and S over the rows of the user's market, shape (k, n) each.

        Multiplicities included.
        """
        rows = [row for record in self.records for row in record.rows(self.market)]
        entries = [row.acceptance for row in rows], [row.spend for row in rows]
        acceptance, spend = (coefficient_matrix(of_rows, None, self.market.n) for of_rows in entries)
        return acceptance, spend

    def stand_ins(self) -> Mask:
        """Say which rows are no owners, but numbers of a program's own; shape (n′,)."""
        found = np.zeros(self.reduced.n, dtype=np.bool_)
        for record in self.records:
            rows = record.stand_ins()
            found[rows if self.row_of_owner is None else self.row_of_owner[rows]] = True
        return found

    def prices_of_use(self) -> AllowedPrices:
        """Return the prices that owners may be offered; shape (n,)."""
        return allowed_prices(self.market, self.records, same_price_rows(self.market, self.records))

    @cached_property
    def first_owner(self) -> Indices:
        """The first owner of each row of `reduced`, who stands for all that share it."""
        if self.row_of_owner is None:
            return np.arange(self.market.n, dtype=np.intp)
        return np.unique(self.row_of_owner, return_index=True)[1].astype(np.intp)

    def expand(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of rows of `reduced` to the market's owners, shape (n,)."""
        return values if self.row_of_owner is None else values[self.row_of_owner]

    def take(self, rows: NDArray[np.intp]) -> Statement:
        """Return the statement over some rows on their own, its linear rows as they are."""
        counts = self.reduced.multiplicity
        few = Market(
            self.reduced.epsilon[rows],
            self.reduced.valuation.take(rows),
            multiplicity=None if counts is None else counts[rows],
        )
        of_rows = {name: getattr(self, name)[rows] for name in ("lowest", "highest", "lowest_by", "highest_by")}
        return dataclasses.replace(
            self,
            market=few,
            listed=few,
            reduced=few,
            row_of_owner=None,
            acceptance=self.acceptance[:, rows],
            spend=self.spend[:, rows],
            blocks=None,
            **of_rows,
        )

    def loosen(self, share: float) -> Statement:
        """Return the same with demands that give way by a share of them.

        All offers made less often by that share keep them.
        """
        limits = self.at_most + share * np.where(self.equal, -self.at_most, np.abs(self.at_most))
        blocks = self.blocks
        if blocks is not None:
            blocks = dataclasses.replace(blocks, floor=blocks.floor * (1.0 - share))
        return dataclasses.replace(self, lowest=self.lowest * (1.0 - share), at_most=limits, blocks=blocks)

    def offers_to_owners(self, offers: Offers) -> Offers:
        """Return the offers of rows of `reduced` to the market's owners.

        A row's lottery goes to all who share it.
        """
        q, drawn = self.expand(offers.acceptance), offers.lottery
        thresholds = np.where(q > 0, self.expand(offers.thresholds), self.market.low)
        if drawn is None or self.row_of_owner is None:
            return Offers(thresholds, q, drawn)
        place = np.full(self.reduced.n, -1, dtype=np.intp)
        place[drawn.owner] = np.arange(len(drawn))
        rows = np.flatnonzero(place[self.row_of_owner] >= 0)
        return Offers(thresholds, q, drawn.take(place[self.row_of_owner[rows]], rows))

    def ceilings(self) -> Floats:
        """Return the highest price of use to each owner, in currency, shape (n,).

        Above her support where no lower one may be posted.
        """
        highest = np.maximum(self.market.high, self.listed.high)
        if self.blocks is not None:
            block = self.expand(self.blocks.of_row)
            posted = block >= 0
            highest[posted] = np.maximum(highest[posted], self.blocks.highest()[block[posted]])
        return highest

    def most_that_can_be_spent(self) -> float:
        """Return what the highest prices of use cost if everybody sells, in currency."""
        return exact_dot(self.ceilings(), self.market.weights, up=True)

    def conflict(self) -> tuple[int, ...] | None:
        """Return the records that leave some owner no acceptance at all.

        None where there is none.
        """
        bad = np.flatnonzero(self.lowest > self.highest)
        if bad.size == 0:
            return None
        row = int(bad[0])
        return tuple(sorted({int(self.lowest_by[row]), int(self.highest_by[row])} - {-1}))
