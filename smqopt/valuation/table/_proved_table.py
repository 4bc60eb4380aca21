"""A table of a common law that encloses F and f at any threshold, in doubles.

The contract is `enclose`: two doubles for each threshold, and F between them, proved over the whole
cell when the table was made. What it costs does not depend on the law.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from smqopt.numeric import Floats, Indices, precision, rounded_down, rounded_up
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.table._ball_laws import OwnerBalls, ball_law
from smqopt.valuation.table._cells import BITS, DEGREE, ORDER, TaylorCell, cell_at, cells_of
from smqopt.valuation.table._smooth_piece import SmoothPiece
from smqopt.valuation.table._smooth_pieces import piece_law

COLUMNS = ("edges", "middle", "coefficients", "error", "density_error", "knots", "ends")
"""The arrays of a table."""


@dataclass(frozen=True, eq=False)
class ProvedTable:
    """F and f of a common law by cells, k of them."""

    edges: Floats
    """From the low end of the support to the high one, shape (k + 1,), in currency."""
    middle: Floats
    coefficients: Floats
    """Shape (d + 1, k)."""
    error: Floats
    density_error: Floats
    knots: Floats
    """Edges at which f may jump."""
    ends: Floats
    """At most and at least F(low), at most F(high), and at least what rounding makes of jumps."""

    def enclose(self, t: ArrayLike) -> tuple[Floats, Floats]:
        """Enclose F(t), for any numbers t: two doubles each, rounded outwards."""
        theta = np.asarray(t, dtype=np.float64)
        value, cell = self.middle_of(np.clip(theta, self.edges[0], self.edges[-1]))
        return self._bounds(theta, value, np.take(self.error, cell))

    def enclose_with_density(self, t: ArrayLike, *, below: bool = False) -> tuple[Floats, Floats, Floats, Floats]:
        """Enclose F(t) and f(t), for t in the support; four arrays.

        At an edge of cells f is that from above, or from below.
        """
        theta = np.asarray(t, dtype=np.float64)
        value, slope, cell = self.middle_with_density(theta, below=below)
        error = np.take(self.density_error, cell)
        low, high = self._bounds(theta, value, np.take(self.error, cell))
        return low, high, np.maximum(slope - error, 0.0), slope + error

    def middle_of(self, theta: Floats) -> tuple[Floats, Indices]:
        """Return the middle of what encloses F, and the cell; θ in the support."""
        cell = np.searchsorted(self.edges[1:-1], theta, side="right")
        z = theta - np.take(self.middle, cell)
        value = np.take(self.coefficients[DEGREE], cell)
        for column in self.coefficients[-2::-1]:
            value *= z
            value += np.take(column, cell)
        return value, cell

    def middle_with_density(self, theta: Floats, *, below: bool = False) -> tuple[Floats, Floats, Indices]:
        """Return the middles of F and f, and the cell; θ in the support."""
        cell = np.searchsorted(self.edges[1:-1], theta, side="left" if below else "right")
        z = theta - np.take(self.middle, cell)
        value, slope = np.take(self.coefficients[DEGREE], cell), np.zeros(theta.shape)
        for column in self.coefficients[-2::-1]:
            slope *= z
            slope += value
            value *= z
            value += np.take(column, cell)
        return value, slope, cell

    def check(self, law: Valuation, cells: Iterable[int] | None = None) -> list[int]:
        """Return the cells that do not enclose the law for certain.

        Each is proved anew from the law alone; all are looked at by default.
        """
        pieces = piece_law(law, ORDER)
        assert not isinstance(pieces, str)  # noqa: S101
        with precision(BITS):
            own = pieces(0)
            return [k for k in cells or range(self.middle.size) if not self._holds(k, own)]

    def _holds(self, k: int, pieces: Sequence[SmoothPiece]) -> bool:
        a, b = self.edges[k : k + 2].tolist()
        c, error = self.coefficients[:, k].tolist(), float(self.error[k])
        inside = [piece for piece in pieces if piece.low <= a and b <= piece.high]
        if self.density_error[k] == np.inf:
            around = [piece for piece in pieces if piece.low <= a < piece.high or a == piece.high == pieces[-1].high]
            above = [piece for piece in pieces if piece.low < b <= piece.high or b == piece.low]
            least, most = around[0].cdf(arb(a)), above[0].cdf(arb(b))
            return not any(c[1:]) and bool(arb(c[0]) - error <= least) and bool(arb(c[0]) + error >= most.min(arb(1)))
        found = cell_at(inside[0], a, b, c) if inside else 0
        if not isinstance(found, TaylorCell) or self.middle[k] != found.middle:
            return False
        return found.error <= error and found.density_error <= self.density_error[k]

    @property
    def digest(self) -> str:
        """SHA-256 of all numbers of the table, in hexadecimal digits."""
        found = hashlib.sha256()
        for name in COLUMNS:
            column = getattr(self, name)
            found.update(f"{name} {column.shape}\n".encode() + np.ascontiguousarray(column).tobytes())
        return found.hexdigest()

    def _bounds(self, theta: Floats, value: Floats, error: Floats) -> tuple[Floats, Floats]:
        low, high = np.maximum(value - error, 0.0), np.minimum(value + error, 1.0)
        first, last = self.edges[0], self.edges[-1]
        at_low, at_high = theta <= first, theta >= last
        if at_low.any():
            low = np.where(at_low, np.where(theta < first, 0.0, self.ends[0]), low)
            high = np.where(at_low, np.where(theta < first, 0.0, self.ends[1]), high)
        if at_high.any():
            low = np.where(at_high, np.where(theta > last, 1.0, self.ends[2]), low)
            high = np.where(at_high, 1.0, high)
        return low, high


def tabulate_law(law: Valuation) -> ProvedTable | str:
    """Make the table of a common law; or say why there is none.

    Parameters
    ----------
    law
        Common to all owners, proved not to fall.
    """
    pieces = piece_law(law, ORDER)
    if isinstance(pieces, str):
        return pieces
    with precision(BITS):
        own = pieces(0)
        if not own[0].low < own[-1].high:
            return "the support is one price"
        found = list(cells_of(own))
    return _of_cells(found, *knots_and_ends(law))


def knots_and_ends(law: Valuation) -> tuple[Floats, Floats]:
    """Return what a table holds beside its cells, which costs little."""
    pieces, balls = piece_law(law, ORDER), ball_law(law)
    assert not isinstance(pieces, str)  # noqa: S101 -- asked for laws that have a table
    assert not isinstance(balls, str)  # noqa: S101
    with precision(BITS):
        return np.array(sorted({end for piece in pieces(0) for end in (piece.low, piece.high)})), _ends(balls(0))


def _ends(own: OwnerBalls) -> Floats:
    at_low = max(rounded_down(own.at_low), 0.0) if own.low_is_atom else 0.0, max(rounded_up(own.at_low), 0.0)
    moved = (arb(0) if own.low_is_atom else abs(own.at_low)) + abs(1 - own.at_high)
    return np.array([at_low[0], min(at_low[1], 1.0), max(min(rounded_down(own.at_high), 1.0), 0.0), rounded_up(moved)])


def _of_cells(cells: Sequence[TaylorCell], knots: Floats, ends: Floats) -> ProvedTable:
    edges = np.array([cell.low for cell in cells] + [cells[-1].high])
    return ProvedTable(
        edges,
        np.array([cell.middle for cell in cells]),
        np.ascontiguousarray(np.array([cell.coefficients for cell in cells]).T),
        np.array([cell.error for cell in cells]),
        np.array([cell.density_error for cell in cells]),
        knots,
        ends,
    )
