"""The kinds of objective records, and records read from data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smqopt.errors import InputError
from smqopt.market._record_entries import read_entries
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
    kinds = _RECORDED if of_solution else OBJECTIVES
    unasked = () if of_solution else ("half_planes",)  # what a solution knows of its error is no part of a question
    kind, given = read_entries(content, kinds, where, "inverse-probability-variance", unasked)
    if kind is WeightedObjectives:
        given = {"terms": _terms(given["terms"], f"{where}: key 'terms'")}
    return kind(**given)


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
