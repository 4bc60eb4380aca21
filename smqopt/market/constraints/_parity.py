"""Parity: groups sell at nearly the same rate, or are paid nearly the same."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._group import carriers, check_labels
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import (
    ConstraintRecord,
    Row,
    Rows,
    checked_limit,
    shorten,
)
from smqopt.numeric import Floats, Indices

_OF = ("acceptance", "payment")
_MOST_PAIRED, _MOST_LABELS = 16, 32
"""Every pair of groups is two rows; of more groups each is, about a level that is free, where the
objective is linear."""


@dataclass(frozen=True)
class Parity(ConstraintRecord):
    """The mean acceptances, or payments, of any two groups differ by at most `within`.

    Parameters
    ----------
    column
        A group column of the market.
    within
        The largest difference, in [0, 1], or of payments in currency, ≥ 0; 0 demands equal means.
    labels
        The groups to compare; by default all labels of the column; at most 32 of payments, or under
        an objective that is not linear.
    of
        "acceptance", or "payment": the expected payment b_i, whose mean is over all owners of a
        group, those who do not sell too. Dearer prices may then be posted for the row's sake, and
        need a highest one, from a `PriceRange` or a menu.

    Raises
    ------
    InputError
        If `within` is no such number, there are fewer than two groups, or too many for the
        objective, or payments lack a highest price.

    Examples
    --------
    >>> import smqopt as smq
    >>> cities = ["Oslo", "Oslo", "Bergen"]
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": cities})
    >>> even = smq.Parity("city", within=0.0)
    >>> smq.solve(market, 0.5, constraints=[even]).acceptance.round(3).tolist()
    [0.293, 0.505, 0.399]
    """

    kind: ClassVar[str] = "parity"

    column: str
    within: float
    labels: Sequence[str | int] | None = None
    of: str = "acceptance"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.of, str) or self.of not in _OF:
            raise InputError(
                self.where("of"), "must be 'acceptance' or 'payment'", value=shorten(self.of), remedy="say which"
            )
        checked_limit(self.within, self.where("within"), most=1.0 if self.of == _OF[0] else np.inf)
        if self.labels is not None:
            self.set_list("labels")
            object.__setattr__(self, "labels", check_labels(self.labels, self.where("labels")))

    def describe(self) -> str:
        whose = "all groups" if self.labels is None else ", ".join(str(label) for label in self.labels)
        return f"mean {self.of} by {self.column} within {self.within:g} ({whose})"

    def labels_of(self, market: Market) -> Sequence[str | int]:
        """Return the groups to compare."""
        return tuple(market.rows_of_group(self.column)) if self.labels is None else self.labels

    def has_level(self, market: Market) -> bool:
        """Say whether the groups are many, and are held to a level rather than in pairs."""
        return self.of == _OF[0] and len(self.labels_of(market)) > _MOST_PAIRED

    def means(self, market: Market) -> list[tuple[str | int, Indices, Floats]]:
        """Return each group's label, owners and their shares of its mean."""
        m, found = market.weights, []
        for label in self.labels_of(market):
            owners = carriers(market, self.column, label, f"constraint {self.kind!r}")
            found.append((label, owners, m[owners] / m[owners].sum()))
        return found

    def rows(self, market: Market) -> Rows:
        labels = self.labels_of(market)
        if not 2 <= len(labels) <= _MOST_LABELS:
            raise InputError(
                self.where("labels"),
                f"must name 2 to {_MOST_LABELS} groups",
                value=len(labels),
                remedy="name fewer groups, or compare acceptances under a linear objective, which takes any number",
            )
        each = {label: (owners, shares) for label, owners, shares in self.means(market)}
        equal = self.within == 0
        for first, second in itertools.pairwise(labels) if equal else itertools.permutations(labels, 2):
            owners = np.concatenate([each[first][0], each[second][0]])
            weights = np.concatenate([each[first][1], -each[second][1]])
            name = f"{self.words}: {first} {'and' if equal else 'over'} {second}"
            weighed, nothing = (owners, weights), (owners[:0], weights[:0])
            a, s = (weighed, nothing) if self.of == _OF[0] else (nothing, weighed)
            yield Row(name, float(self.within), equal, acceptance=a, spend=s, rounded=True)
