"""Any linear inequality over acceptance and spend, or equation over acceptance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import ConstraintRecord, Row, Rows, checked_limit, shorten
from smqopt.numeric import Floats

ENTRY = ", entry "
"""Stands between the words of a constraint with several entries and the number of the entry that a
row is."""


@dataclass(frozen=True)
class LinearRow(ConstraintRecord):
    """Σ acceptance_i q_i + Σ spend_i b_i ≤ at_most, or the equation.

    With q_i and b_i of one owner of each row of the market.

    Parameters
    ----------
    at_most
        Any finite number.
    acceptance, spend
        Coefficients of some rows of the market, as pairs (row from 0, or its owner's name,
        coefficient). Whoever's spend is weighed by less than 0, or in an equation, may be posted a
        higher price for the row's sake, and needs a highest one, from a `PriceRange` or a menu.
    equal
        Whether it is an equation.

    Raises
    ------
    InputError
        If no coefficient is given, a number is not finite, a row repeats or is not in the market,
        or a highest price is missing.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> row = smq.LinearRow(at_most=0.3, acceptance=[(2, 1.0)])
    >>> smq.solve(market, 0.5, constraints=[row]).acceptance.round(3).tolist()
    [0.238, 0.595, 0.3]
    """

    kind: ClassVar[str] = "linear-row"

    at_most: float
    acceptance: Sequence[tuple[int | str, float]] = ()
    spend: Sequence[tuple[int | str, float]] = ()
    equal: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_limit(self.at_most, self.where("at_most"), least=-np.inf)
        for key in ("acceptance", "spend"):
            self.set_pairs(key)
            self._require_distinct([row for row, _ in getattr(self, key)], key)
        if not (self.acceptance or self.spend):
            rule, remedy = "or 'spend' must be given", "give, say, [(0, 1.0), (3, 2.5)], or leave the constraint out"
            raise InputError(self.where("acceptance"), rule, value="neither", remedy=remedy)
        if not isinstance(self.equal, bool):
            raise InputError(
                self.where("equal"), "must be True or False", value=shorten(self.equal), remedy="say which"
            )

    @property
    def asks_for_spend(self) -> bool:
        """Whether more spend may keep it, so that a higher price must be posted."""
        return any(self.equal or s < 0 for _, s in self.spend)

    def describe(self) -> str:
        owners, sense = {row for row, _ in (*self.acceptance, *self.spend)}, "equal to" if self.equal else "at most"
        return f"a linear row over {len(owners)} owners, {sense} {self.at_most:g}"

    @property
    def recorded(self) -> tuple[str, ...]:
        """Its own words, and those of the constraint of which it is an entry."""
        return self.words, self.words.rpartition(ENTRY)[0]

    def rows(self, market: Market) -> Rows:
        yield Row(
            self.words,
            float(self.at_most),
            self.equal,
            acceptance=self._columns(market, "acceptance"),
            spend=self._columns(market, "spend"),
        )

    def _columns(self, market: Market, key: str) -> tuple[NDArray[np.intp], Floats]:
        pairs: Sequence[tuple[int | str, float]] = getattr(self, key)
        owners = self.checked_rows(market, [row for row, _ in pairs], key)
        self._require_distinct(owners.tolist(), key)
        return owners, np.array([coefficient for _, coefficient in pairs], dtype=np.float64)

    def _require_distinct(self, rows: Sequence[int | str], key: str) -> None:
        if len(set(rows)) < len(rows):
            raise InputError(self.where(key), "must name each row once", remedy="add up its coefficients")
