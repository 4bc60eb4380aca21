"""All entries, in the order of the paper's errata."""

from __future__ import annotations

from smqopt.errata.budget_equality import BUDGET_EQUALITY
from smqopt.errata.confidence import CONFIDENCE
from smqopt.errata.entry import Entry
from smqopt.errata.lagrangian import LAGRANGIAN
from smqopt.errata.range_scale import RANGE_SCALE
from smqopt.errata.regularity import REGULARITY
from smqopt.errata.small_weights import SMALL_WEIGHTS
from smqopt.errata.vacuous_stationarity import VACUOUS_STATIONARITY

__all__ = ["ERRATA"]

ERRATA: tuple[Entry, ...] = (
    REGULARITY,
    LAGRANGIAN,
    BUDGET_EQUALITY,
    RANGE_SCALE,
    CONFIDENCE,
    VACUOUS_STATIONARITY,
    SMALL_WEIGHTS,
)
"""The entries that are executable so far; `docs/theory.md` lists all."""
