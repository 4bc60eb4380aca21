"""A valuation that is known: all the mass at one point."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._parameters import checked_parameters, require
from smqopt.valuation.law._verdict import Undecided, Verdict


@final
class PointMass(Valuation):
    """θ = value for certain.

    Any threshold from `value` on is accepted, any below is not.

    The cost curve is one straight line, C(q) = q · value: an acceptance between 0 and 1 is a
    lottery between no offer and the value itself, never one posted price.

    Parameters
    ----------
    value
        The valuation, in currency, not negative; a scalar or shape (n,).

    Raises
    ------
    InputError
        If a value is not a finite number ≥ 0.

    Examples
    --------
    >>> F = PointMass([0.5, 2.0])
    >>> F.cdf(1.0).tolist(), F.flat_pieces().slope.tolist()
    ([1.0, 0.0], [0.5, 2.0])
    """

    name = "point-mass"
    parameters = ("value",)
    table_pays = False

    value: float | Floats

    def __init__(self, value: ArrayLike) -> None:
        given = checked_parameters("point-mass", value=value)
        require(
            "point-mass",
            "value",
            given["value"],
            np.asarray(given["value"]) >= 0,
            "must not be negative: a valuation is a loss",
            "use value ≥ 0",
        )
        self._set(given["value"])

    def cdf(self, t: ArrayLike) -> Floats:
        return np.where(np.asarray(t, dtype=np.float64) >= self.value, 1.0, 0.0)

    def log_survival(self, t: ArrayLike) -> Floats:
        return np.where(np.asarray(t, dtype=np.float64) >= self.value, -np.inf, 0.0)

    def pdf(self, t: ArrayLike) -> Floats:
        """Return +∞ at the point, 0 elsewhere: there is no density."""
        return np.where(np.asarray(t, dtype=np.float64) == self.value, np.inf, 0.0)

    def ppf(self, q: ArrayLike) -> Floats:
        u = np.asarray(q, dtype=np.float64)
        return np.where((u >= 0) & (u <= 1), self.value, np.nan)

    def virtual_cost(self, t: ArrayLike) -> Floats:
        """Return the slope of C, which is the value itself."""
        return np.where(np.asarray(t, dtype=np.float64) == self.value, self.value, np.nan)

    def inverse_virtual_cost(self, v: ArrayLike) -> Floats:
        price = np.asarray(v, dtype=np.float64)
        return np.where(np.isnan(price), np.nan, self.value)

    def offer(self, v: Floats) -> tuple[Floats, Floats]:
        return self.inverse_virtual_cost(v), np.where(v >= self.value, 1.0, 0.0)

    def scaled(self, factor: float) -> Self:
        return self._with(value=factor * self.value)

    def regularity(self) -> Verdict:
        return Undecided(
            "a point mass has no density; its cost curve is one straight piece, met by lotteries",
            None if self.size is None else 0,
        )

    def flat_pieces(self) -> FlatPieces:
        """Return the one piece of each owner, from no offer to the value."""
        value = np.atleast_1d(np.asarray(self.value, dtype=np.float64))
        none, every = np.zeros(value.size), np.ones(value.size)
        return FlatPieces(np.arange(value.size, dtype=np.intp), value, value, none, every, value)

    def hull_segments(self) -> HullSegments:
        """Return the convex hull of C, which is straight from piece to piece."""
        return HullSegments.straight(self.flat_pieces())

    @property
    def family(self) -> Hashable:
        """All point masses can be stacked."""
        return type(self)

    def _with(self, **parameters: float | Floats) -> Self:
        law = object.__new__(type(self))
        law._set(parameters["value"])
        return law

    def _set(self, value: float | Floats) -> None:
        self.value = self.low = self.high = value
