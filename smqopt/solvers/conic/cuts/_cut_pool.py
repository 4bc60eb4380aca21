"""The rows that stand in the place of convex constraints, with their prices."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.market import LinearRow
from smqopt.numeric import Floats
from smqopt.solvers.conic.cuts._supporting_cuts import SupportingCuts


@dataclass(frozen=True)
class CutRows:
    """The rows found so far, each with its group and its last price."""

    rows: tuple[LinearRow, ...] = ()
    groups: tuple[int, ...] = ()
    prices: tuple[float, ...] = ()

    def with_cuts(self, found: SupportingCuts) -> CutRows:
        """Add the rows of a touch, each at the price that it was found at.

        The former ones are left without.
        """
        new = [(row, k, 1.0 / unit) for k, row, unit in found.cuts]
        again = {k for _, k, _ in new}
        kept = [0.0 if k in again else price for k, price in zip(self.groups, self.prices, strict=True)]
        rows, groups, prices = zip(*new, strict=True) if new else ((), (), ())
        return CutRows((*self.rows, *rows), (*self.groups, *groups), (*kept, *prices))

    def charge(self, n: int) -> tuple[Floats, Floats]:
        """Return Σ price · coefficients of acceptance and of spend, shape (n,) each."""
        taken, paid = np.zeros(n), np.zeros(n)
        for row, price in zip(self.rows, self.prices, strict=True):
            for total, pairs in ((taken, row.acceptance), (paid, row.spend)):
                owners, values = _columns(pairs)
                total[owners] += price * values
        return taken, paid


def apart(row: LinearRow, q: Floats, spend: Floats) -> float:
    """Return how far offers are from a row, relative to the sum of its absolute terms."""
    (taken, a), (paid, s) = _columns(row.acceptance), _columns(row.spend)
    terms = np.concatenate([[-row.at_most], a * q[taken], s * spend[paid]])
    size = float(np.sum(np.abs(terms)))
    return abs(float(np.sum(terms))) / size if size > 0 else 0.0


def loosen(row: LinearRow, q: Floats, spend: Floats) -> LinearRow:
    """Return a row that offers keep to the last digit: a looser right side is as true."""
    (taken, a), (paid, s) = _columns(row.acceptance), _columns(row.spend)
    used = float(np.sum(np.concatenate([a * q[taken], s * spend[paid]])))
    return dataclasses.replace(row, at_most=used) if used > row.at_most else row


def _columns(pairs: Sequence[tuple[int, float]]) -> tuple[NDArray[np.intp], Floats]:
    """Return pairs of a row of the market and a number as two arrays."""
    columns = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return columns[:, 0].astype(np.intp), columns[:, 1]
