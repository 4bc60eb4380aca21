"""A valuation that is known: all the mass at one point."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from smqopt.numeric import Floats, Mask
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._owner_names import without_names
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
        values, names = without_names("point-mass", {"value": value})
        given = checked_parameters("point-mass", **values)
        require(
            "point-mass",
            "value",
            given["value"],
            np.asarray(given["value"]) >= 0,
            "must not be negative: a valuation is a loss",
            "use value ≥ 0",
        )
        self._fill(given["value"])
        vars(self).update(names)

    def _cdf(self, theta: Floats) -> Floats:
        return np.ones(np.shape(theta))

    def _pdf(self, theta: Floats) -> Floats:
        """There is no density: +∞ at the point."""
        return np.full(np.shape(theta), np.inf)

    def _ppf(self, q: Floats) -> Floats:  # noqa: ARG002
        return np.asarray(self.value)

    def _virtual_cost(self, theta: Floats) -> Floats:
        """The slope of C is the value itself."""
        return theta

    def _inverse_virtual_cost(self, v: Floats) -> Floats:  # noqa: ARG002
        return np.asarray(self.value)

    def _offer(self, v: Floats) -> tuple[Floats, Floats]:
        return self.inverse_virtual_cost(v), np.where(v >= self.value, 1.0, 0.0)

    def _is_atom(self, theta: Floats) -> Mask:
        return np.asarray(theta == self.value)

    def _rescale(self, factor: float) -> Self:
        return self.with_arguments({"value": factor * self.value})

    def _regularity(self) -> Verdict:
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

    def _family(self) -> Hashable:
        return type(self)

    def _with(self, /, **arguments: float | Floats) -> Self:
        law = object.__new__(type(self))
        law._fill(arguments["value"])
        return law

    def _fill(self, value: float | Floats) -> None:
        self.value = self.low = self.high = value
