"""The populations of the experiments: entries, and what is asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from smqopt.model_files import adult_columns
from smqopt.numeric import Floats, Integers
from smqopt.paper.data_sets._movielens import load_movielens
from smqopt.paper.data_sets._profiles import Attribute, Categories, Numbers, Sparse, weights_to_last
from smqopt.paper.data_sets._recs import load_recs

FILM = 2858
"""American Beauty (1999): the film with the most ratings."""
LIKED = 4
"""Stars from which on a user is said to like a film."""
_ADULT_NUMBERS = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})
"""The fields of Adult that hold numbers; the others hold one of a few words, "?" where it is
missing."""


@dataclass(frozen=True, eq=False)
class Population:
    """The owners of one data set, ascending by `value`; private but for the weights."""

    key: str
    ones: Integers
    """What the count asks about, 0 or 1; shape (n,)."""
    value: Integers
    """What the median asks about; shape (n,)."""
    low: int
    high: int
    """The public range of `value`, which does not come from the data."""
    target: Integers
    """What the linear predictor asks about, 0 or 1; shape (n,)."""
    weight: Floats
    """How like the new individual each owner is, in [0, 1]; 0 for the new individual; shape (n,).
    """
    newcomer: int
    """Where the new individual stands; she owns an entry in counts and medians, and none in the
    linear predictor."""

    @property
    def n(self) -> int:
        """The number of owners."""
        return self.ones.size

    @property
    def lower_median(self) -> int:
        """The h-th smallest value, h = ⌈n/2⌉ (errata E12)."""
        return int(self.value[(self.n + 1) // 2 - 1])

    def truth(self, query: str) -> float:
        """Return φ(d_gt) by the name of the query: "count", "median" or "linear"."""
        if query == "count":
            return float(self.ones.sum())
        return float(self.lower_median) if query == "median" else float(self.weight @ self.target)


def in_order(
    key: str, ones: Integers, value: Integers, limits: tuple[int, int], target: Integers, weights: Floats
) -> Population:
    """Make a population from columns, whose last row is the new individual.

    Parameters
    ----------
    ones, value, target
        Shape (n,).
    limits
        The public range of `value`.
    weights
        Of the first n − 1 owners.
    """
    order = np.argsort(value, kind="stable")
    weight = np.append(weights, 0.0)[order]
    newcomer = int(np.flatnonzero(order == ones.size - 1)[0])
    return Population(key, ones[order], value[order], *limits, target[order], weight, newcomer)


def adult_population(path: str | os.PathLike[str] | None = None) -> Population:
    """Adult: income above $50,000; age; income predicted from 14 attributes.

    The census takes persons above 16, and codes 90 for all who are 90 or more.
    """
    entries, columns = adult_columns(path)
    income = entries.income_over_50k
    attributes = [_adult_attribute(name, text) for name, text in columns.items() if name != "income"]
    return in_order("adult", income, entries.age, (17, 90), income, weights_to_last(attributes))


def _adult_attribute(name: str, column: tuple[str, ...]) -> Attribute:
    if name in _ADULT_NUMBERS:
        return Numbers(name, np.array(column, dtype=np.float64))
    return Categories(name, np.array(column), frozenset(["?"]))


def movielens_population(path: str | os.PathLike[str] | None = None) -> Population:
    """MovieLens 1M: female users; age group; who likes American Beauty.

    A user likes a film if she gave it four or five stars; one who did not rate it says nothing in
    its favour, and counts as 0. The profile is gender, age group and occupation as categories, and
    the ratings of all other films, stars/5, 0 where there is none. The zip code is left out: it is
    nearly a name.
    """
    data = load_movielens(path)
    this = data.film == FILM
    likes = np.zeros(data.female.size, dtype=np.int64)
    likes[data.user[this & (data.stars >= LIKED)] - 1] = 1
    rest = ~this
    attributes = (
        Categories("gender", data.female.astype(np.str_)),
        Categories("age", data.age.astype(np.str_)),
        Categories("occupation", data.occupation.astype(np.str_)),
        Sparse("ratings", data.female.size, data.user[rest] - 1, data.film[rest], data.stars[rest] / 5.0),
    )
    return in_order("movielens", data.female, data.age, (1, 56), likes, weights_to_last(attributes))


def recs_population(path: str | os.PathLike[str] | None = None) -> Population:
    """RECS 2009: households above 10,000 kWh; kWh; predicted from 938 attributes."""
    data = load_recs(path)
    above = (data.kwh > 10_000).astype(np.int64)
    return in_order("recs", above, data.kwh, (0, 200_000), above, weights_to_last(data.attributes))


DATA_SETS: Mapping[str, Callable[..., Population]] = {
    "adult": adult_population,
    "recs": recs_population,
    "movielens": movielens_population,
}
"""The paper's three data sets in its order, each with what loads it."""
