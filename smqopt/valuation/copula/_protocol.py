"""What those who decide about the law of θ given ε ask of it.

It can ask them in turn.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import ArrayLike

from smqopt.numeric import Floats
from smqopt.valuation.copula._shape import GaussianLink
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.law._base import Index, Valuation


class Conditional(Protocol):
    """What is asked of the law."""

    valuation: Valuation
    link: GaussianLink
    score: float | Floats
    low: float | Floats
    high: float | Floats

    @property
    def size(self) -> int | None:
        """The number of owners."""
        ...

    def virtual_cost(self, t: ArrayLike) -> Floats:
        """J."""
        ...

    def flat_pieces(self) -> FlatPieces:
        """The flat pieces of the hulls."""
        ...

    def take(self, index: Index) -> Any:
        """The law of some owners."""
        ...
