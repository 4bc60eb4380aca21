"""A least and a greatest acceptance probability for single owners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._group import GroupColumn, Labels
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import Bounds, ConstraintRecord, checked_limit
from smqopt.numeric import Floats, Indices, NumberList


@dataclass(frozen=True)
class AcceptanceRange(ConstraintRecord):
    """Every owner, or every one of a group, sells with a probability in a range.

    From `at_least` to `at_most`.

    Parameters
    ----------
    at_least, at_most
        Probabilities, common to all, or one for each row of the market.
    column, label
        The group; all owners where none is named.

    Raises
    ------
    InputError
        If a probability is outside [0, 1], the least exceeds the greatest, or the range is all of
        [0, 1].

    Examples
    --------
    >>> import smqopt as smq
    >>> cities = ["Oslo", "Oslo", "Bergen"]
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": cities})
    >>> floor = smq.AcceptanceRange(at_least=0.2, column="city", label="Oslo")
    >>> smq.solve(market, 0.5, constraints=[floor]).acceptance.round(3).tolist()
    [0.2, 0.303, 0.607]
    """

    kind: ClassVar[str] = "acceptance-range"

    at_least: float | NumberList = 0.0
    at_most: float | NumberList = 1.0
    column: GroupColumn | None = None
    label: Labels | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        least, most = self._check_bound("at_least"), self._check_bound("at_most")
        if least.size == most.size == 1 and least == 0 and most == 1:
            rule, remedy = "or 'at_least' must be given", "give a probability, or leave the constraint out"
            raise InputError(self.where("at_most"), rule, value="from 0 to 1", remedy=remedy)
        if least.size > 1 < most.size != least.size:
            raise InputError(self.where("at_most"), f"must hold {least.size} numbers too", value=most.size)
        wrong = np.flatnonzero(np.broadcast_to(least > most, max(least.size, most.size)))
        if wrong.size:
            k = int(wrong[0])
            limit, value = (float(np.broadcast_to(end, wrong[-1] + 1)[k]) for end in (most, least))
            raise InputError(self.where("at_least"), f"must be at most {limit:g}", value=value, remedy="swap the two")

    def describe(self) -> str:
        least, most = (
            f"{end:g}" if isinstance(end, (int, float)) else "her own bound" for end in (self.at_least, self.at_most)
        )
        return f"every owner{self.of_whom} sells with probability {least} to {most}"

    def acceptance_bounds(self, market: Market) -> Iterator[Bounds]:
        owners = self.members(market)
        yield Bounds(self.words, owners, *(self._of(market, owners, name) for name in ("at_least", "at_most")))

    def _check_bound(self, argument: str) -> Floats:
        if not isinstance(getattr(self, argument), (int, float, np.number)):
            self.set_list(argument)
            if not getattr(self, argument):
                rule = "must hold one number for each row of the market"
                raise InputError(self.where(argument), rule, value=[], remedy="give one number, or one a row")
        numbers = np.atleast_1d(np.array(getattr(self, argument), dtype=object))
        values = [checked_limit(value, self.where(argument), most=1.0) for value in numbers.tolist()]
        if isinstance(getattr(self, argument), tuple):
            object.__setattr__(self, argument, tuple(values))
        return np.array(values)

    def _of(self, market: Market, owners: Indices, argument: str) -> float | Floats:
        given = getattr(self, argument)
        if not isinstance(given, tuple):
            return float(given)
        if len(given) != market.n:
            rule = f"must hold one number for each of the {market.n} rows of the market"
            raise InputError(self.where(argument), rule, value=len(given), remedy="give one number a row")
        return np.array(given)[owners]
