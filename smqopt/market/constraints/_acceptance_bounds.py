"""Bounds of the acceptance of single owners, one number an owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord


@dataclass(frozen=True)
class AcceptanceBounds(ConstraintRecord):
    """Bounds q_i ≥ at_least_i and q_i ≤ at_most_i for some rows of the market.

    What bounds written in cvxpy become.

    Parameters
    ----------
    at_least, at_most
        Pairs (row from 0, finite number).

    Raises
    ------
    InputError
        If no bound is given, a number is not finite, or a row is not in the market.
    """

    kind: ClassVar[str] = "acceptance-bounds"

    at_least: tuple[tuple[int, float], ...] = ()
    at_most: tuple[tuple[int, float], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for key in ("at_least", "at_most"):
            self.set_pairs(key)
        if not (self.at_least or self.at_most):
            rule, remedy = "or 'at_least' must be given", "give, say, [(0, 0.5)], or leave the constraint out"
            raise InputError(self.where("at_most"), rule, value="neither", remedy=remedy)

    def describe(self) -> str:
        return f"bounds of acceptance for {len({row for row, _ in (*self.at_least, *self.at_most)})} owners"

    def acceptance_bounds(self, market: Market) -> Iterator[Bounds]:
        for key in ("at_least", "at_most"):
            pairs = getattr(self, key)
            if pairs:
                owners = self.checked_rows(market, [row for row, _ in pairs], key)
                values, nothing = np.array([bound for _, bound in pairs]), np.full(owners.size, np.inf)
                least, most = (values, nothing) if key == "at_least" else (-nothing, values)
                yield Bounds(self.words, owners, least, most)
