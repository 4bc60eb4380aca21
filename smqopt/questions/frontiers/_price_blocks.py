"""Spend and privacy of a market at many prices, from sums over sorted owners.

Owners are gathered in blocks. In each they are sorted by the x = 1/λ at which they reach the tops
of their supports, and by that of their first offers; sums of coefficients in either order then give
what a block adds at any x, between powers of x. Where all owners of a block have begun, or none has
ended, the sums are of terms of one sign in each power; else two are subtracted, and the bound on
rounding counts both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats

ULP = 2.0**-53
"""The largest relative error of one rounding."""
_LEAST, _MOST = 2.0**-900, 2.0**900
"""Prices outside are left to the solver."""


@dataclass(frozen=True)
class PriceSums:
    """The market's sums at each price; arrays of one shape."""

    spend: Floats
    """In currency."""
    privacy: Floats
    """In units of ε."""
    spend_error: Floats
    """How far rounding can have carried the spend, in currency."""
    privacy_error: Floats


@dataclass(frozen=True, eq=False)
class PriceTerms:
    """Sums of coefficients of powers of x, over owners in some order."""

    exponents: Floats
    """Shape (j,)."""
    begun: Floats
    """Over the owners who begin first, shape (j, m + 1)."""
    ended: Floats
    """Over the owners who reach their tops first, shape (j, m + 1)."""
    unended: Floats
    """Over the owners who reach their tops last, shape (j, m + 1)."""
    tops: Floats
    """What the owners at their tops give, shape (m + 1,)."""


@dataclass(frozen=True, eq=False)
class Block:
    """Owners who reach their tops within one octave of x; x is measured in `scale`."""

    scale: float
    first: Floats
    """Where they get their first offer, sorted, shape (m,); empty where all do at x = 0."""
    last: Floats
    """Where they reach their top, sorted, shape (m,)."""
    spend: PriceTerms
    privacy: PriceTerms
    relative_error: float
    """Of each sum, relative to the sum of its absolute terms."""

    @property
    def finite(self) -> bool:
        """Whether no sum and no price has left the range of doubles."""
        ends = [
            array[..., -1] for terms in (self.spend, self.privacy) for array in (terms.begun, terms.ended, terms.tops)
        ]
        in_range = bool(self.last[0] > _LEAST) and bool(self.last[-1] < _MOST)
        return in_range and all(bool(np.isfinite(array).all()) for array in ends)

    def window(self, x: Floats) -> slice:
        """Return the increasing x at which some owners are between their ends."""
        start = int(np.searchsorted(x, self.first[0], side="right")) if self.first.size else 0
        return slice(start, max(start, int(np.searchsorted(x, self.last[-1], side="left"))))

    def places(self, x: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        """Count how many are at their tops and have begun; None where all have."""
        begun = np.searchsorted(self.first, x, side="right") if self.first.size else None
        return np.searchsorted(self.last, x, side="right"), begun

    def sums(
        self, terms: PriceTerms, x: Floats, ended: NDArray[np.intp], begun: NDArray[np.intp] | None
    ) -> tuple[Floats, Floats, Floats]:
        """Return what these owners add at each x, its log-slope, and absolute sum."""
        top = terms.tops[ended]
        total, slope, size = top.copy(), np.zeros(x.size), top
        for row, exponent in enumerate(terms.exponents.tolist()):
            gone = terms.ended[row, ended] if begun is not None else None
            sums: Floats = terms.unended[row, ended]
            sizes = sums
            if begun is not None and gone is not None:
                everybody, nobody, so_far = begun == self.first.size, ended == 0, terms.begun[row, begun]
                sums = np.where(everybody, sums, np.where(nobody, so_far, so_far - gone))
                sizes = np.where(everybody | nobody, np.abs(sums), np.abs(so_far) + np.abs(gone))
            power = (x / self.scale) ** exponent
            part = sums * power
            total += part
            slope += exponent * part
            size = size + (part if sizes is sums else sizes * power)
        return total, slope, size


@dataclass(frozen=True, eq=False)
class PowerSums:
    """A market of power laws: its spend and privacy at any price."""

    blocks: tuple[Block, ...]
    corners: Floats
    """Some of the values of x at which owners begin or end, increasing; the last is where the last
    one ends."""

    def spend(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the spend at increasing x = 1/λ > 0, and its slope in log x.

        Shape (p,) each, in currency.
        """
        total, slope = np.zeros(x.size), np.zeros(x.size)
        for block in self.blocks:
            some = block.window(x)
            total[some.stop :] += block.spend.tops[-1]
            if some.start < some.stop:
                added, steeper, _ = block.sums(block.spend, x[some], *block.places(x[some]))
                total[some] += added
                slope[some] += steeper
        return total, slope

    def at(self, x: Floats) -> PriceSums:
        """Return the sums at increasing x = 1/λ > 0, with bounds on their rounding."""
        totals, errors = np.zeros((2, x.size)), np.zeros((2, x.size))
        for block in self.blocks:
            some = block.window(x)
            places = block.places(x[some])
            for k, terms in enumerate((block.spend, block.privacy)):
                added, _, size = block.sums(terms, x[some], *places)
                totals[k, some.stop :] += terms.tops[-1]
                totals[k, some] += added
                errors[k, some.stop :] += block.relative_error * terms.tops[-1]
                errors[k, some] += block.relative_error * size
        errors += len(self.blocks) * ULP * totals
        return PriceSums(totals[0], totals[1], errors[0], errors[1])
