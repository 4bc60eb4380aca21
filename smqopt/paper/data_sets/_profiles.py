"""Profiles of owners as vectors, and the cosine of the angle to the last one.

The paper (Experiments, Query types) says which similarity it takes, not how attributes become
numbers. Here:

- a number is mapped linearly to [0, 1] between its least and largest value in the data set; one
  that is missing becomes 0, and an attribute without two different values is left out;
- a category is a vector with a 1 at its word and 0 elsewhere; a missing one is all zeros;
- the profile is all of these side by side, each attribute with the same weight.

So no entry of a profile is negative, and weights lie in [0, 1]. Profiles are public, as in the
paper; only the entry asked about is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class Numbers:
    """An attribute whose values are numbers."""

    name: str
    values: Floats
    """Shape (n,); NaN where missing."""

    def products(self) -> tuple[Floats, Floats]:
        """Return y_i · y_n and ‖y_i‖² over these coordinates, shape (n,) each."""
        known = ~np.isnan(self.values)
        if not np.any(known):
            return np.zeros(self.values.size), np.zeros(self.values.size)
        low, high = float(self.values[known].min()), float(self.values[known].max())
        if low == high:
            return np.zeros(self.values.size), np.zeros(self.values.size)
        y = np.where(known, (self.values - low) / (high - low), 0.0)
        return y * y[-1], y * y


@dataclass(frozen=True, eq=False)
class Categories:
    """An attribute whose values are words."""

    name: str
    values: NDArray[np.str_]
    """Shape (n,)."""
    missing: frozenset[str] = frozenset()
    """Words that stand for no value."""

    def products(self) -> tuple[Floats, Floats]:
        """Return y_i · y_n and ‖y_i‖² over these coordinates, shape (n,) each."""
        known = ~np.isin(self.values, sorted(self.missing))
        alike = known & known[-1] & (self.values == self.values[-1])
        return alike.astype(np.float64), known.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Sparse:
    """Many numerical attributes, most of them 0, as in a table of ratings."""

    name: str
    size: int
    """n, the number of owners."""
    owner: NDArray[np.int64]
    """Whose each value is, from 0, shape (m,); no pair (owner, attribute) twice."""
    attribute: NDArray[np.int64]
    """Which attribute it is of, shape (m,)."""
    value: Floats
    """Shape (m,), within [0, 1]."""

    def products(self) -> tuple[Floats, Floats]:
        """Return y_i · y_n and ‖y_i‖² over these coordinates, shape (n,) each."""
        last = np.zeros(int(self.attribute.max(initial=0)) + 1)
        theirs = self.owner == self.size - 1
        last[self.attribute[theirs]] = self.value[theirs]
        dot: Floats = np.bincount(self.owner, self.value * last[self.attribute], self.size).astype(np.float64)
        return dot, np.bincount(self.owner, self.value**2, self.size).astype(np.float64)


Attribute = Numbers | Categories | Sparse


def weights_to_last(attributes: Sequence[Attribute]) -> Floats:
    """Return w_i = y_i · y_n/(‖y_i‖ ‖y_n‖), i < n: likeness to the last one.

    Parameters
    ----------
    attributes
        At least one, all of n owners; the last owner is the new individual.

    Returns
    -------
    ndarray
        Shape (n − 1,), in [0, 1]; 0 where a profile has no coordinate but 0.

    Examples
    --------
    >>> weights_to_last([Categories("colour", np.array(["red", "blue", "red"])), Numbers("size", np.array([1.0, 2.0, 1.0]))])
    array([1., 0.])
    """
    parts = [attribute.products() for attribute in attributes]
    dot = np.sum([products for products, _ in parts], axis=0)
    length = np.sqrt(np.sum([squares for _, squares in parts], axis=0))
    scale = length * length[-1]
    cosine = np.divide(dot, scale, out=np.zeros_like(dot), where=scale > 0)
    return np.asarray(np.minimum(cosine[:-1], 1.0))
