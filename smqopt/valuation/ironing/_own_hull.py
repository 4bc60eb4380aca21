"""What a law may know of its hull by itself."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from smqopt.numeric import Floats
from smqopt.valuation.ironing._flat_segments import FlatPieces


@runtime_checkable
class KnowsFlatPieces(Protocol):
    """A law that finds the flat pieces of its hulls itself."""

    def flat_pieces(self) -> FlatPieces:
        """Return them."""


@runtime_checkable
class AnswersOnHull(Protocol):
    """A law whose `inverse_virtual_cost` may be right on every stretch of its hull."""

    @property
    def answers_on_hull(self) -> bool:
        """Whether it is."""


@runtime_checkable
class AnswersWithin(Protocol):
    """A law that inverts J on a stretch itself."""

    def inverse_virtual_cost_within(self, v: Floats, low: Floats, high: Floats) -> Floats:
        """Return the threshold between low and high at which J = v, clipped to these."""


@runtime_checkable
class ProvesHull(Protocol):
    """A law that may have proved that J rises outside its flat pieces."""

    @property
    def hull_is_proved(self) -> bool:
        """Whether it has."""


def has_proved_hull(law: object) -> bool:
    """Tell whether a law knows, by proof, all flat pieces of its hull."""
    return isinstance(law, ProvesHull) and law.hull_is_proved
