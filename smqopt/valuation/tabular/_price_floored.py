"""A law of which prices below a floor may not be posted; no offer still may.

The cost curve is what is left of C from the floor on, and the point (0, 0) of no offer. Every chord
from the floor on is steeper than the one from no offer to the floor, whose slope is the floor
itself; so the hull is that chord and the hull of the rest.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from smqopt.numeric import Floats
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._iron import iron
from smqopt.valuation.ironing._ironed_law import Ironed
from smqopt.valuation.ironing._own_hull import has_proved_hull
from smqopt.valuation.law._base import Index, Valuation
from smqopt.valuation.law._verdict import CdfVerdict, Regular, Undecided, Verdict


@final
class PriceFloored(Valuation):
    """A law with the hull of C above a floor, and a chord from no offer to the floor.

    Parameters
    ----------
    law
        The law of the valuations.
    floor
        In currency, inside the support and of no flat piece.

    Examples
    --------
    >>> from smqopt import Uniform
    >>> PriceFloored(Uniform(0, 1), 0.5).flat_pieces().high.tolist()
    [0.5]
    """

    name = "price-floored"
    table_pays = False

    def __init__(self, law: Valuation, floor: float) -> None:
        self.law, self.floor = law, floor
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
        return self.law.virtual_cost(theta)

    def _inverse_virtual_cost(self, v: Floats) -> Floats:
        return self.law.inverse_virtual_cost(v)

    @property
    def hull_is_proved(self) -> bool:
        """Whether the hull is the one of all prices from the floor on, by proof."""
        return isinstance(self.law.regularity(), Regular) or has_proved_hull(self.law)

    def flat_pieces(self) -> FlatPieces:
        """Return the chord to the floor and the law's own pieces above it."""
        owners = self.size or 1
        q = np.broadcast_to(np.asarray(self.law.cdf(np.full(owners, self.floor)), dtype=np.float64), (owners,))
        low = np.broadcast_to(np.asarray(self.low, dtype=np.float64), (owners,))
        above = np.flatnonzero(q > 0)
        price = np.full(above.size, self.floor)
        chords = FlatPieces(above, low[above], price, np.zeros(above.size), q[above], price)
        own = iron(self.law)
        if not isinstance(own, Ironed):
            return chords
        kept = own.pieces.low_acceptance >= q[own.pieces.owner]
        every = [(getattr(chords, name), getattr(own.pieces, name)[kept]) for name in ("owner", *FlatPieces.columns())]
        found = FlatPieces(*(np.concatenate(both) for both in every))
        order = np.lexsort((found.low_acceptance, found.owner))
        return FlatPieces(*(getattr(found, name)[order] for name in ("owner", *FlatPieces.columns())))

    def _is_proved_cdf(self) -> CdfVerdict:
        return self.law.is_proved_cdf()

    def _regularity(self) -> Verdict:
        return Undecided("prices have a floor; the cost curve is ironed from no offer to the floor")

    def _take(self, index: Index) -> PriceFloored:
        return PriceFloored(self.law.take(index), self.floor)

    def _rescale(self, factor: float) -> PriceFloored:
        return PriceFloored(self.law.rescale(factor), factor * self.floor)

    def _to_dict(self) -> dict[str, Any]:
        return {"law": self.name, "valuation": self.law.to_dict(), "floor": self.floor}

    def __repr__(self) -> str:
        return f"PriceFloored({self.law!r}, {self.floor!r})"
