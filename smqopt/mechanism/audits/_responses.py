"""Each owner's outcome by her own report: sale and payment, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt.errors import InputError
from smqopt.numeric import Floats


@dataclass(frozen=True, eq=False)
class ResponseLimits:
    """The outcomes an owner can reach or approach, for N owners at M places.

    They lie at knots, and on either side of them.
    """

    report: Floats
    """ψ, shape (N, M), in currency; +∞ for the limit of large reports."""
    side: NDArray[np.int8]
    """−1 for the limit from below, 0 where it is attained, 1 for the limit from above; shape (M,).
    """
    sale: Floats
    """Chance of sale, shape (N, M)."""
    payment: Floats
    """In currency, shape (N, M)."""


@dataclass(frozen=True, eq=False)
class Responses:
    """N owners' outcomes as functions of their own reports ψ ≥ 0.

    Between two neighbouring knots, and before the first and after the last, an owner sells with one
    probability and is paid a + b ψ; at a knot she has an outcome of its own. A report of 0 belongs
    to the first piece.

    Examples
    --------
    Two owners who are offered 0.5 and 0.7, whatever the others report:

    >>> offers = Responses.offers([0.5, 0.7])
    >>> sale, payment = offers.at([0.5, 0.8])
    >>> sale.tolist(), payment.tolist()
    ([1.0, 0.0], [0.5, 0.0])
    """

    knots: Floats
    """0 ≤ ψ_1 < … < ψ_K in each row, +∞ where an owner has fewer; shape (N, K), in currency."""
    sale: Floats
    """Chance of sale on each piece, shape (N, K+1)."""
    payment: Floats
    """a on each piece, shape (N, K+1), in currency."""
    slope: Floats
    """b on each piece, shape (N, K+1)."""
    sale_at: Floats
    """Chance of sale at each knot, shape (N, K)."""
    payment_at: Floats
    """Payment at each knot, shape (N, K), in currency."""

    def __post_init__(self) -> None:
        n, k = np.shape(self.knots)
        shapes = {"knots": (n, k), "sale": (n, k + 1), "payment": (n, k + 1), "slope": (n, k + 1)}
        for name, shape in (shapes | {"sale_at": (n, k), "payment_at": (n, k)}).items():
            array = np.asarray(getattr(self, name), dtype=np.float64)
            if array.shape != shape:
                raise InputError(
                    f"responses: argument {name!r}",
                    f"must have shape {shape}",
                    value=array.shape,
                    remedy="give K knots and K + 1 pieces for each owner",
                )
            if np.isnan(array).any() or (name != "knots" and np.isinf(array).any()):
                raise InputError(f"responses: argument {name!r}", "must hold finite numbers", remedy="correct the rule")
            object.__setattr__(self, name, array)
        later, before = self.knots[:, 1:], self.knots[:, :-1]
        if np.any(self.knots < 0) or np.any((later <= before) & (before < np.inf)) or np.any(later < before):
            raise InputError(
                "responses: argument 'knots'", "must be ≥ 0 and rise in each row", remedy="sort them, each once"
            )
        for name in ("sale", "sale_at"):
            if np.any((getattr(self, name) < 0) | (getattr(self, name) > 1)):
                raise InputError(f"responses: argument {name!r}", "must lie in [0, 1]", remedy="give probabilities")

    @classmethod
    def offers(
        cls,
        thresholds: ArrayLike,
        *,
        paid: ArrayLike | None = None,
        slope: ArrayLike = 0.0,
        unsold: ArrayLike = 0.0,
        offered: ArrayLike = True,
    ) -> Responses:
        """Make the responses of owners who sell when they report at most a threshold.

        Parameters
        ----------
        thresholds
            θ, shape (N,), ≥ 0, in currency.
        paid, slope
            Who sells is paid `paid` + `slope` ψ; by default the threshold.
        unsold
            What others are paid.
        offered
            Whether there is an offer at all; where not, no report sells.
        """
        theta = np.asarray(thresholds, dtype=np.float64)
        shape = theta.shape
        paid_, slope_, unsold_ = (
            np.broadcast_to(np.asarray(value, dtype=np.float64), shape)
            for value in (theta if paid is None else paid, slope, unsold)
        )
        offer = np.broadcast_to(np.asarray(offered, dtype=np.bool_), shape)
        sells = np.where(offer, 1.0, 0.0)
        first, rising = np.where(offer, paid_, unsold_), np.where(offer, slope_, 0.0)
        nothing = np.zeros(shape)
        return cls(
            knots=theta[:, np.newaxis],
            sale=np.column_stack([sells, nothing]),
            payment=np.column_stack([first, unsold_]),
            slope=np.column_stack([rising, nothing]),
            sale_at=sells[:, np.newaxis],
            payment_at=(first + rising * theta)[:, np.newaxis],
        )

    @property
    def n(self) -> int:
        """N."""
        return int(self.knots.shape[0])

    def plus(self, transfer: Floats) -> Responses:
        """Return the responses with a fixed payment added, shape (N,), in currency."""
        column = transfer[:, np.newaxis]
        return Responses(
            self.knots, self.sale, self.payment + column, self.slope, self.sale_at, self.payment_at + column
        )

    def at(self, reports: ArrayLike) -> tuple[Floats, Floats]:
        """Return chance of sale and payment at one report an owner, shape (N,) each."""
        psi = np.asarray(reports, dtype=np.float64)
        piece = np.sum(self.knots < psi[:, np.newaxis], axis=1)
        rows = np.arange(self.n)
        sale = self.sale[rows, piece]
        payment = self.payment[rows, piece] + self.slope[rows, piece] * psi
        if self.knots.shape[1]:
            next_knot = np.minimum(piece, self.knots.shape[1] - 1)
            on = self.knots[rows, next_knot] == psi
            sale = np.where(on, self.sale_at[rows, next_knot], sale)
            payment = np.where(on, self.payment_at[rows, next_knot], payment)
        return sale, payment

    def limits(self, low: Floats | None = None, high: Floats | None = None) -> tuple[ResponseLimits, NDArray[np.bool_]]:
        """Return all outcomes that reports between two ends reach or approach.

        Shape (N, M) with M = 3K + 3, and a mask of those that are there.

        Payments are straight on each piece, so these are the ends of all segments of the curve
        (sale, payment): any linear function of the two has its supremum among them. What is
        attained comes first; after the knots the least report, where the two ends are one.
        """
        n, k = self.knots.shape
        least = np.zeros(n) if low is None else low
        most = np.full(n, np.inf) if high is None else high
        start = np.column_stack([np.zeros(n), self.knots])
        end = np.column_stack([self.knots, np.full(n, np.inf)])
        left, right = np.maximum(start, least[:, np.newaxis]), np.minimum(end, most[:, np.newaxis])
        there = left < right
        pieces = [(left, 1), (right, -1)]
        with np.errstate(invalid="ignore"):
            paid = [self.payment + np.where(self.slope == 0, 0.0, self.slope * psi) for psi, _ in pieces]
        knots_there = (self.knots >= least[:, np.newaxis]) & (self.knots <= most[:, np.newaxis]) & (self.knots < np.inf)
        one_type = np.broadcast_to((least == most)[:, np.newaxis], (n, 1))
        sale, payment = self.at(least)
        limits = ResponseLimits(
            report=np.column_stack([self.knots, least, left, right]),
            side=np.repeat(np.array([0, 1, -1], dtype=np.int8), k + 1),
            sale=np.column_stack([self.sale_at, sale, self.sale, self.sale]),
            payment=np.column_stack([self.payment_at, payment, *paid]),
        )
        return limits, np.column_stack([knots_there, one_type, there, there])
