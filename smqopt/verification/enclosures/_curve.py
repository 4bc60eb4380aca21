"""What a proof asks of a law's owners: acceptances and Lagrangian tops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Ball, Floats

Numbers = NDArray[Any]
"""Doubles, taken as exact, or balls."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Terms max_q {e q − p C(q)} of a Lagrangian, k of them."""

    place: NDArray[np.intp]
    """Which owner of the law, from 0; 0 for all where it is common."""
    requirement: Numbers
    """e, of any sign, in units of what is bought."""
    price: Numbers
    """p ≥ 0."""
    count: Numbers
    """How many owners each term stands for."""
    tangent: Floats
    """A threshold near that which the price asks for; any does for a proof, a near one makes the
    bound tight."""
    low: Floats
    high: Floats

    def take(self, index: NDArray[np.intp]) -> Rows:
        """Select some of the terms."""
        return Rows(*(getattr(self, entry.name)[index] for entry in fields(self)))


class Curve(Protocol):
    """The owners of one law, in balls of the precision at which the record was made."""

    def acceptances(self, place: NDArray[np.intp], threshold: Floats, low: Floats, high: Floats) -> list[Ball]:
        """Enclose F at one threshold an owner; not finite where that fails."""
        ...

    def tops(self, rows: Rows, known: Sequence[Ball | None]) -> Ball:
        """Return a ball whose upper end is at least Σ m max_q {e q − p C(q)}.

        Parameters
        ----------
        rows
            The terms.
        known
            F at the touched threshold of each term, where it is known.
        """
        ...
