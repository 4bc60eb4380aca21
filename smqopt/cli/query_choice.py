"""The queries that the command line and model files know by name."""

from __future__ import annotations

from collections.abc import Mapping

from smqopt.query.base import Query
from smqopt.query.count import Count
from smqopt.query.median import Median

__all__ = ["QUERIES", "make_query"]

QUERIES: Mapping[str, tuple[str, ...]] = {"count": (), "median": ("low", "high")}
"""Name of a query → its parameters, all required."""


def make_query(kind: str, **parameters: int) -> Query:
    """Make a query from its name and its parameters.

    Raises
    ------
    InputError
        If the parameters are bad.
    """
    return Median(**parameters) if kind == "median" else Count()
