"""The queries that the command line and model files know by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from smqopt.query import (
    Count,
    Histogram,
    JointHistogram,
    Mean,
    Median,
    OwnQuery,
    PopulationQuery,
    Quantile,
    Sum,
    WeightedSum,
)


@dataclass(frozen=True)
class QueryKind:
    """A query and the parameters it is made from, with the kind of each."""

    make: Callable[..., PopulationQuery]
    required: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, str]:
        """All of them, the required first."""
        return {**self.required, **self.optional}


_WHOLE_RANGE = {"low": "whole", "high": "whole"}
_RANGE = {"low": "number", "high": "number"}
_CLAMP = {"clamp": "flag"}
_ESTIMATE = {"weighting": "text", "step": "number", **_CLAMP}

QUERIES: Mapping[str, QueryKind] = {
    "count": QueryKind(Count, optional={"weighting": "text"}),
    "median": QueryKind(Median, _WHOLE_RANGE, _CLAMP),
    "quantile": QueryKind(Quantile, {"p": "number", **_WHOLE_RANGE}, _CLAMP),
    "sum": QueryKind(Sum, _RANGE, _ESTIMATE),
    "mean": QueryKind(Mean, _RANGE, _ESTIMATE),
    "weighted-sum": QueryKind(WeightedSum, {"weights": "numbers", **_RANGE}, _ESTIMATE),
    "histogram": QueryKind(Histogram, {"edges": "numbers"}, _CLAMP),
    "joint-histogram": QueryKind(JointHistogram, {"edges": "numbers"}, _CLAMP),
    "own": QueryKind(
        OwnQuery.from_table, {"title": "text", "alphabet": "numbers", "candidates": "numbers", "change": "rows"}
    ),
}
"""Name of a query → how it is made."""


def make_query(kind: str, **parameters: Any) -> PopulationQuery:
    """Make a query from its name and its parameters.

    Raises
    ------
    InputError
        If the parameters are bad.
    """
    return QUERIES[kind].make(**parameters)
