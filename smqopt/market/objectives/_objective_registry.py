"""The kinds of objective records, and records read from data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from smqopt.errors import InputError, nearest
from smqopt.market.objectives._bought_owners import BoughtOwners
from smqopt.market.objectives._diminishing_returns import DiminishingReturns
from smqopt.market.objectives._from_cvxpy import InCvxpy
from smqopt.market.objectives._inverse_probability_variance import InverseProbabilityVariance
from smqopt.market.objectives._least_spend import LeastSpend
from smqopt.market.objectives._mean_squared_error import MeanSquaredError
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._purchased_privacy import PurchasedPrivacy
from smqopt.market.objectives._weighted_objectives import WeightedObjectives
from smqopt.market.objectives._worst_case_error import WorstCaseError
from smqopt.market.objectives._worst_group import WorstGroup

OBJECTIVES: dict[str, type[Objective]] = {
    record.kind: record
    for record in (
        PurchasedPrivacy,
        InverseProbabilityVariance,
        DiminishingReturns,
        MeanSquaredError,
        WorstCaseError,
        BoughtOwners,
        WorstGroup,
        LeastSpend,
        WeightedObjectives,
    )
}
"""By what model files call them."""
_RECORDED: dict[str, type[Objective]] = {**OBJECTIVES, InCvxpy.kind: InCvxpy}
"""What solutions may carry beside."""


def objective_from_dict(content: object, where: str = "objective", *, of_solution: bool = False) -> Objective:
    """Rebuild a record from `to_dict`'s data.

    That of a solution may be one stated in cvxpy.

    Raises
    ------
    InputError
        If the kind or a key is unknown, a key is missing, or a value is bad.
    """
    if not isinstance(content, Mapping):
        remedy = 'give kind = "inverse-probability-variance", say'
        raise InputError(where, "must be a table", value=type(content).__name__, remedy=remedy)
    kind = content.get("kind")
    kinds = _RECORDED if of_solution else OBJECTIVES
    if not isinstance(kind, str) or kind not in kinds:
        remedy = nearest(str(kind), kinds)
        raise InputError(f"{where}: key 'kind'", "is missing or unknown", value=kind, remedy=remedy)
    entries = {entry.name: entry for entry in dataclasses.fields(kinds[kind])}
    if not of_solution:
        entries.pop("half_planes", None)  # what a solution knows of its error is no part of a question
    given = {key: value for key, value in content.items() if key != "kind"}
    for key in given:
        if key not in entries:
            raise InputError(f"{where}: key {key!r}", f"is unknown to {kind!r}", remedy=nearest(key, entries))
    for key, entry in entries.items():
        if entry.default is dataclasses.MISSING and key not in given:
            raise InputError(f"{where}: key {key!r}", f"is missing; {kind!r} needs it", remedy=f"add {key} = …")
    if kind == WeightedObjectives.kind:
        given = {"terms": _terms(given["terms"], f"{where}: key 'terms'")}
    return kinds[kind](**given)


def _terms(tables: object, where: str) -> list[tuple[Any, Objective]]:
    if not isinstance(tables, list):
        raise InputError(where, "must be an array of tables", remedy='give [{kind = "purchased-privacy", weight = 1}]')
    found = []
    for k, table in enumerate(tables, 1):
        at = f"{where}, term {k}"
        if not isinstance(table, Mapping) or "weight" not in table:
            raise InputError(at, "must be a table with a 'weight'", remedy="add weight = 1")
        aim = {key: value for key, value in table.items() if key != "weight"}
        found.append((table["weight"], objective_from_dict(aim, at)))
    return found
