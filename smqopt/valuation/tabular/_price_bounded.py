"""A histogram bought at prices between a floor and a ceiling.

Lotteries may then draw between allowed prices alone. Acceptance must be kept from F(floor) to
F(ceiling); beyond, the hull is a straight piece that nothing of an answer ever lies on.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._hull_segments import HullSegments
from smqopt.valuation.ironing._quadratic_hull import Hulls, QuadraticPieces, quadratic_hulls
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._verdict import CdfVerdict, Undecided, Verdict
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform
from smqopt.valuation.tabular._piecewise_uniform_by_owner import PiecewiseUniformByOwner

_BEYOND = 4.0
"""How much steeper than all else the hull is above the ceiling."""


@final
class PriceBounded(Valuation):
    """A histogram, or one an owner, with the convex hull of C between two prices.

    All is as for the law itself, but for the flat pieces of the hull.

    Parameters
    ----------
    law
        The law of the valuations.
    floor, ceiling
        Prices, in currency; every owner accepts some price between them with a probability that is
        not that of another one.

    Examples
    --------
    >>> law = PiecewiseUniform([0, 0.9, 1], [1, 1])
    >>> law.flat_pieces().high.tolist(), PriceBounded(law, 0.0, 0.8).flat_pieces().low.tolist()
    ([1.0], [0.8])
    """

    name = "price-bounded"
    table_pays = False

    def __init__(self, law: PiecewiseUniform | PiecewiseUniformByOwner, floor: float, ceiling: float) -> None:
        self.law, self.floor, self.ceiling = law, floor, ceiling
        self.low, self.high = law.low, law.high

    def _size(self) -> int | None:
        return self.law.size

    def _cdf(self, theta: Floats) -> Floats:
        return self.law.cdf(theta)

    def _pdf(self, theta: Floats) -> Floats:
        return self.law.pdf(theta)

    def _ppf(self, q: Floats) -> Floats:
        return self.law.ppf(q)

    def _virtual_cost(self, theta: Floats) -> Floats:
        """At the ceiling J is that from below, for the hull ends there."""
        inside = (theta == self.ceiling) & (theta > self.law.low)
        return self.law.virtual_cost(np.where(inside, np.nextafter(theta, 0.0), theta))

    def flat_pieces(self) -> FlatPieces:
        """Return the hull's flat pieces between the prices, and one to either side."""
        return self._of_owners[0]

    @property
    def hull_is_proved(self) -> bool:
        """Whether it is: nothing hides between the edges of a histogram."""
        return True

    def hull_segments(self) -> HullSegments:
        """Return the hull between the two prices, and a straight segment to either side."""
        return self._of_owners[1]

    def _is_proved_cdf(self) -> CdfVerdict:
        return self.law.is_proved_cdf()

    def _regularity(self) -> Verdict:
        return Undecided("prices have a floor or a ceiling; the cost curve is ironed to either side of them")

    def _take(self, index: Index) -> PriceBounded:
        law = self.law.take(index)
        assert isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner)  # noqa: S101
        return PriceBounded(law, self.floor, self.ceiling)

    def _rescale(self, factor: float) -> PriceBounded:
        law = self.law.rescale(factor)
        assert isinstance(law, PiecewiseUniform | PiecewiseUniformByOwner)  # noqa: S101
        return PriceBounded(law, factor * self.floor, factor * self.ceiling)

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "valuation": self.law.to_dict(), "floor": self.floor, "ceiling": self.ceiling}

    def __repr__(self) -> str:
        return f"PriceBounded({self.law!r}, {self.floor!r}, {self.ceiling!r})"

    @cached_property
    def _of_owners(self) -> tuple[FlatPieces, HullSegments]:
        """Return pieces and segments by owner."""
        pieces, segments = _whole(self.law.table.quadratics, self._used, self.floor, self.ceiling)
        if isinstance(self.law, PiecewiseUniform):
            return pieces, segments
        which = np.searchsorted(self._used, self.law.which)
        return pieces.take(which, self._used.size), segments.take(which, self._used.size)

    @property
    def _used(self) -> NDArray[np.intp]:
        """The histograms that somebody has, in order."""
        return np.zeros(1, dtype=np.intp) if isinstance(self.law, PiecewiseUniform) else np.unique(self.law.which)


def _whole(
    quadratics: QuadraticPieces, used: NDArray[np.intp], floor: float, ceiling: float
) -> tuple[FlatPieces, HullSegments]:
    """Return pieces and segments of the hulls of some laws, from acceptance 0 to 1."""
    part, law = _part(quadratics, used, floor, ceiling)
    hulls: Hulls = quadratic_hulls(part)
    first, last = part.start[:-1], part.start[1:] - 1
    low, high = quadratics.low[quadratics.start[used]], quadratics.high[quadratics.start[used + 1] - 1]
    floor_q, top_q = part.low_acceptance[first], part.high_acceptance[last]
    at_floor, at_top = part.low[first], part.high[last]
    steepest = np.maximum(part.high_cost(last), high)
    np.maximum.at(steepest, hulls.pieces.owner, hulls.pieces.slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        chord = (high - at_top * top_q) / (1.0 - top_q)
    steepest = _BEYOND * np.maximum(steepest, np.where(top_q < 1, chord, 0.0))
    before, after = np.flatnonzero(floor_q > 0), np.flatnonzero(top_q < 1)
    nothing, all_ = np.zeros(law.size), np.ones(law.size)
    outside = [
        FlatPieces(before, *(x[before] for x in (low, at_floor, nothing, floor_q, at_floor))),
        FlatPieces(after, *(x[after] for x in (at_top, high, top_q, all_, steepest))),
    ]
    pieces = _join(FlatPieces, ("owner", *FlatPieces.columns()), [hulls.pieces, *outside], "low_acceptance")
    straight = [HullSegments.straight(piece) for piece in outside]
    columns = ("owner", "width", "slope", "curvature")
    return pieces, _join(HullSegments, columns, [hulls.segments, *straight], "slope")


def _join(record: type[Any], names: tuple[str, ...], parts: list[Any], by: str) -> Any:
    """Put records of columns together, in order of owner and then of one column."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    order = np.lexsort((columns[by], columns["owner"]))
    return record(*(columns[name][order] for name in names))


def _part(
    quadratics: QuadraticPieces, used: NDArray[np.intp], floor: float, ceiling: float
) -> tuple[QuadraticPieces, NDArray[np.intp]]:
    """Return the quadratics of some laws between two prices, renumbered."""
    law = np.repeat(np.arange(quadratics.count), np.diff(quadratics.start))
    k = np.flatnonzero(np.isin(law, used) & (quadratics.high > floor) & (quadratics.low < ceiling))
    low, high = np.maximum(quadratics.low[k], floor), np.minimum(quadratics.high[k], ceiling)
    uncut = (low == quadratics.low[k]) & (high == quadratics.high[k])
    share = quadratics.share[k] * ((high - low) / (quadratics.high[k] - quadratics.low[k]))
    cost = low + (low - quadratics.low[k]) + (quadratics.low_cost[k] - quadratics.low[k])
    numbers = np.searchsorted(used, law[k])
    start = np.searchsorted(numbers, np.arange(used.size + 1)).astype(np.intp)
    columns = (
        low,
        high,
        quadratics.acceptance(k, low),
        quadratics.acceptance(k, high),
        np.where(uncut, quadratics.share[k], share),
        cost,
        quadratics.rises[k],
    )
    return QuadraticPieces(start, *columns), np.arange(used.size, dtype=np.intp)
