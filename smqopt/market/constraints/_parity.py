"""Parity: groups sell at nearly the same rate."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._group import carriers
from smqopt.market._market import Market
from smqopt.market.constraints._constraint_record import (
    ConstraintRecord,
    Row,
    Rows,
    checked_limit,
)

_MOST_LABELS = 32
"""Every pair of groups is two rows."""


@dataclass(frozen=True)
class Parity(ConstraintRecord):
    """The mean acceptances of any two groups differ by at most `within`.

    Parameters
    ----------
    column
        A group column of the market.
    within
        The largest difference, in [0, 1]; 0 demands equal rates.
    labels
        The groups to compare; by default all labels of the column, at most 32.

    Raises
    ------
    InputError
        If `within` is not in [0, 1], or there are fewer than two groups or more than 32.

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
    labels: tuple[str | int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_limit(self.within, self.where("within"), most=1.0)
        if self.labels is not None:
            self.set_list("labels")

    def describe(self) -> str:
        whose = "all groups" if self.labels is None else ", ".join(str(label) for label in self.labels)
        return f"mean acceptance by {self.column} within {self.within:g} ({whose})"

    def rows(self, market: Market) -> Rows:
        labels = self.labels
        if labels is None:
            labels = tuple(market.rows_of_group(self.column))
        if not 2 <= len(labels) <= _MOST_LABELS:
            raise InputError(
                self.where("labels"),
                f"must name 2 to {_MOST_LABELS} groups",
                value=len(labels),
                remedy="name the groups to compare",
            )
        counts = market.weights
        members = {label: carriers(market, self.column, label, f"constraint {self.kind!r}") for label in labels}
        means = {label: counts[owners] / counts[owners].sum() for label, owners in members.items()}
        equal = self.within == 0
        for first, second in itertools.pairwise(labels) if equal else itertools.permutations(labels, 2):
            owners = np.concatenate([members[first], members[second]])
            weights = np.concatenate([means[first], -means[second]])
            name = f"{self.words}: {first} {'and' if equal else 'over'} {second}"
            yield Row(name, float(self.within), equal, acceptance=(owners, weights), rounded=True)
