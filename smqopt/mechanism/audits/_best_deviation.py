"""Best deviations and worst truths, exact over valuations and reports.

An owner of valuation θ who reports ψ has utility P(ψ) − θ Q(ψ). On a piece, Q is constant and P
straight, so that the best report is, or is approached at, an end of a piece: W(θ) = max P − θ Q
over finitely many outcomes, a convex function of θ. Her utility from truth, U(θ) = P(θ) − θ Q(θ),
is straight in θ on each piece. So W − U, what she gains by misreporting, is convex on each piece,
and its supremum over valuations is also approached at an end of a piece; and so is the least U.
Nothing is searched on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.mechanism.audits._responses import ResponseLimits, Responses
from smqopt.numeric import INCENTIVE, Floats

_BLOCK = 1 << 22
"""Pairs of a valuation and a report that are looked at together."""


@dataclass(frozen=True, eq=False)
class Deviations:
    """Each owner's largest gain by deviating, and least utility of truth.

    In currency, shape (N,) each.

    A side says whether a supremum is approached from below (−1) or above (1) the place shown, or
    attained there (0).

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.audit(smq.solve(market, 0.5))
    >>> found.interim.gain.tolist()
    [0.0, 0.0, 0.0]
    """

    gain: Floats
    """sup over valuations θ and reports ψ of P(ψ) − θ Q(ψ) − (P(θ) − θ Q(θ))."""
    valuation: Floats
    """The θ of the largest gain."""
    valuation_side: NDArray[np.int8]
    report: Floats
    """Her best report there."""
    report_side: NDArray[np.int8]
    least_utility: Floats
    """inf over valuations θ of P(θ) − θ Q(θ)."""
    least_at: Floats
    """The θ of the least utility."""
    gain_rounding: Floats
    """A gain up to this is rounding: relative to the amounts that it is a difference of."""
    least_rounding: Floats
    """A loss up to this is rounding."""

    @property
    def worst(self) -> int:
        """The owner who gains most beyond rounding, from 0."""
        return int(np.argmax(self.gain - self.gain_rounding))

    @property
    def poorest(self) -> int:
        """The owner whose least utility is least beyond rounding, from 0."""
        return int(np.argmin(self.least_utility + self.least_rounding))


def best_deviations(responses: Responses, low: Floats, high: Floats) -> Deviations:
    """Find the best deviations from truth.

    Parameters
    ----------
    responses
        How outcomes depend on own reports.
    low, high
        The ends of the supports of valuations, shape (N,), in currency. Reports may be any number ≥
        0.
    """
    types, are = responses.limits(low, high)
    reports, can = responses.limits()
    n, t = types.report.shape
    step = max(1, _BLOCK // (t * reports.report.shape[1]))
    parts = [_block(types, are, reports, can, slice(start, start + step)) for start in range(0, n, step)]
    columns = [np.concatenate([part[k] for part in parts]) for k in range(9)]
    return Deviations(*columns)


def _block(
    types: ResponseLimits, are: NDArray[np.bool_], reports: ResponseLimits, can: NDArray[np.bool_], owners: slice
) -> tuple[Floats, ...]:
    theta, Q, P = types.report[owners], types.sale[owners], types.payment[owners]
    with np.errstate(invalid="ignore"):
        truth = np.where(are[owners], P - np.where(Q == 0, 0.0, theta * Q), np.nan)
        other = (
            reports.payment[owners][:, np.newaxis, :] - theta[:, :, np.newaxis] * reports.sale[owners][:, np.newaxis, :]
        )
        gain = np.where(can[owners][:, np.newaxis, :], other, -np.inf) - truth[:, :, np.newaxis]
        # Measured against these amounts alone: a support or a payment far away excuses nothing
        # here.
        size = np.abs(P) + np.where(Q == 0, 0.0, theta * Q)
        paid = np.abs(reports.payment[owners])[:, np.newaxis, :]
        sizes = size[:, :, np.newaxis] + paid + theta[:, :, np.newaxis] * reports.sale[owners][:, np.newaxis, :]
        gain_rounding, least_rounding = INCENTIVE.value * sizes, INCENTIVE.value * size
        gain_rounding[~np.isfinite(gain_rounding)] = 0.0
        least_rounding[~np.isfinite(least_rounding)] = 0.0
    gain = np.where(np.isnan(gain), -np.inf, gain)
    rows = np.arange(theta.shape[0])
    best = np.argmax((gain - gain_rounding).reshape(rows.size, -1), axis=1)
    valuation, report = np.divmod(best, reports.report.shape[1])
    least = np.argmin(np.where(np.isnan(truth), np.inf, truth + least_rounding), axis=1)
    attained = (reports.report[owners] == 0) & (reports.side == 1)  # a report of 0 belongs to the first piece
    return (
        np.maximum(gain[rows, valuation, report], 0.0),
        theta[rows, valuation],
        np.where(_inside(theta, types.side, valuation), 0, types.side[valuation]).astype(np.int8),
        reports.report[owners][rows, report],
        np.where(attained[rows, report], 0, reports.side[report]).astype(np.int8),
        truth[rows, least],
        theta[rows, least],
        gain_rounding[rows, valuation, report],
        least_rounding[rows, least],
    )


def _inside(theta: Floats, side: NDArray[np.int8], place: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return where a valuation is an end of the support, and so attained."""
    knots = theta[:, np.flatnonzero(side == 0)[:-1]]
    return np.asarray(~np.any(knots == theta[np.arange(theta.shape[0]), place][:, np.newaxis], axis=1))
