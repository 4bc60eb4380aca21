"""The owners' side of the price search.

What each answers to a price, and what that costs in all.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smqopt.market import Market
from smqopt.numeric import BLOCK, Floats
from smqopt.valuation import Index, Ironed, ResponseTable, StepResponse, Valuation, iron, response_table

_MANY = 1 << 13
"""From so many owners of one law on, its answers are looked up in a table."""


Responses = ResponseTable | StepResponse


@dataclass(frozen=True)
class OwnerPart:
    """The owners of one family of laws."""

    law: Valuation | Ironed
    owners: Index
    epsilon: Floats
    weight: Floats | float
    """How many owners a row stands for: an array, or one number for all rows."""
    table: Responses | None = None
    """The table of the law's answers, where it has one."""

    def blocks(self) -> Sequence[slice]:
        """Return the rows that are handled at a time."""
        return [slice(start, start + BLOCK) for start in range(0, self.epsilon.size, BLOCK)]

    def spend(self, x: float) -> list[float]:
        """Return expected payments at price 1/x, summed block by block.

        From a table, nearly.
        """
        totals, each = [], 1.0 if isinstance(self.weight, np.ndarray) else self.weight
        v, cost = np.empty(BLOCK), np.empty(BLOCK)
        for block in self.blocks():
            epsilon = self.epsilon[block]
            price, spent = v[: epsilon.size], cost[: epsilon.size]
            np.multiply(epsilon, x, out=price)
            theta, q = self.law.take(block).offer(price) if self.table is None else self.table.estimate(price)
            np.multiply(theta, q, out=spent)
            if isinstance(self.weight, np.ndarray):
                spent *= self.weight[block]
            totals.append(each * float(np.add.reduce(spent)))
        return totals

    @property
    def is_exact(self) -> bool:
        """Whether what it answers from is no approximation."""
        return self.table is None or isinstance(self.table, StepResponse)

    def rows(self, chosen: Index, share: float = 1.0) -> OwnerPart:
        """Return the part of some of the owners, each weighing `share` times as much."""
        weight = self.weight[chosen] * share if isinstance(self.weight, np.ndarray) else self.weight * share
        epsilon = np.ascontiguousarray(self.epsilon[chosen])
        return dataclasses.replace(self, law=self.law.take(chosen), owners=chosen, epsilon=epsilon, weight=weight)


@dataclass(frozen=True)
class Answers:
    """All thresholds and acceptances at one price."""

    thresholds: Floats
    acceptance: Floats
    spend: float
    """In currency; the products are summed block by block."""


def parts_of(market: Market, each: Floats | None = None) -> list[OwnerPart]:
    """Split a market by family of law; the laws of large parts get tables.

    `each` stands for ε, shape (n,).
    """
    found = []
    for law, owners in market.valuation.parts():
        answer = iron(law)
        epsilon = (market.epsilon if each is None else each)[owners]
        weight = 1.0 if market.multiplicity is None else market.weights[owners]
        found.append(
            OwnerPart(answer, owners, epsilon, weight, response_table(answer) if epsilon.size >= _MANY else None)
        )
    return found


def spend(parts: Sequence[OwnerPart], x: float) -> float:
    """Return the expected spend at price 1/x, in currency."""
    with np.errstate(over="ignore"):  # ε/λ may be infinite: such an owner is at the top of her support
        return math.fsum(total for part in parts for total in part.spend(x))


def answers(parts: Sequence[OwnerPart], x: float, n: int) -> Answers:
    """Return what all n owners answer to price 1/x."""
    thresholds, acceptance = np.empty(n), np.empty(n)
    totals: list[float] = []
    for part in parts:
        whole = isinstance(part.owners, slice)
        theta = thresholds if whole else np.empty(part.epsilon.size)
        q = acceptance if whole else np.empty(part.epsilon.size)
        same = True
        for block in part.blocks():
            with np.errstate(over="ignore", invalid="ignore"):
                price = np.multiply(part.epsilon[block], x, out=theta[block])
                if x == math.inf:  # at a price of 0 who has nothing to sell is still worth nothing
                    price[part.epsilon[block] == 0] = 0.0
                law = part.law.take(block) if part.table is None else part.table
                offered, probable = law.offer(price)
            if offered.base is not theta:
                theta[block] = offered
            same = same and probable is offered
            if not same:
                q[block] = probable
            cost = offered * probable
            if isinstance(part.weight, np.ndarray):
                cost *= part.weight[block]
            totals.append(float(np.add.reduce(cost)) * (1.0 if isinstance(part.weight, np.ndarray) else part.weight))
        if same:  # F(θ) = θ: one array, never written again, is both
            q = theta
        if whole:
            return Answers(theta, q, math.fsum(totals))
        thresholds[part.owners], acceptance[part.owners] = theta, q
    return Answers(thresholds, acceptance, math.fsum(totals))
