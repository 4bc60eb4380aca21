"""What answers a price: a law itself, or with the flat pieces of its hull."""

from __future__ import annotations

import weakref

import numpy as np

from smqopt.valuation.ironing._flat_pieces import flat_pieces_of_owners
from smqopt.valuation.ironing._flat_segments import FlatPieces
from smqopt.valuation.ironing._ironed_law import Ironed
from smqopt.valuation.ironing._own_hull import KnowsFlatPieces
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.law._verdict import Regular


def flat_pieces(law: Valuation) -> FlatPieces:
    """Find the flat pieces of the hulls of a law's cost curves.

    Parameters
    ----------
    law
        With a density; a law that knows its own pieces is asked for them.

    Returns
    -------
    FlatPieces
        Ends to full accuracy for every piece that the grid shows.
    """
    return law.flat_pieces() if isinstance(law, KnowsFlatPieces) else flat_pieces_of_owners(law)


def iron(law: Valuation) -> Valuation | Ironed:
    """Return what answers a price for a law.

    The law itself where C is convex, else the law with its flat pieces.

    Parameters
    ----------
    law
        Of one family (see `Valuation.parts`); common, or one an owner.
    """
    if law not in _IRONED:
        _IRONED[law] = _iron(law)
    found = _IRONED[law]
    return law if found is None else Ironed(law, *found)


_IRONED: weakref.WeakKeyDictionary[Valuation, tuple[FlatPieces, int] | None] = weakref.WeakKeyDictionary()
"""What was found, law by law; laws do not change."""


def _iron(law: Valuation) -> tuple[FlatPieces, int] | None:
    if isinstance(law.regularity(), Regular):
        return None
    if law.size is None or not law.parameters or isinstance(law, KnowsFlatPieces):
        pieces = flat_pieces(law)
        return (pieces, law.size or 1) if len(pieces) else None
    rows = np.column_stack([np.broadcast_to(np.asarray(law.arguments[name]), (law.size,)) for name in law.parameters])
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)  # alike owners are ironed once
    pieces = flat_pieces_of_owners(law.take(first)).take(which.ravel(), first.size)
    return (pieces, law.size) if len(pieces) else None
