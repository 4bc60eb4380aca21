"""Odd arguments of constraint and objective records: a certificate that is saved, or one error of the family."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smqopt as smq
from smqopt.market import ConstraintRecord

MARKET = smq.Market([0.4, 0.6, 0.8, 1.0], smq.Uniform(0, 1), groups={"city": ["a", "a", "b", "b"]})
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 1.5, np.nan, np.inf, -np.inf, 1e200, 1e-320, 10**400, 3 + 1j, "x", "city", "a", b"a", [], [1], ["a"],
    {}, {"city": "a"}, {"city": "zzz"}, {1, 2}, np.array([True, False, True, False]), np.array([1.0, 2.0]), np.array(3), object(), range(3),
    smq.Uniform(0, 1), np.float32(0.5), np.int64(1), np.bool_(True), [(0, 1.0)], [(0, np.nan)], [(7, 1.0)], [(0, "x")], [[0, 1.0, 2]], abs,
)  # fmt: skip
RECORDS: dict[Any, dict[str, Any]] = {
    smq.Coverage: {"column": "city", "label": "a", "at_least": 0.3},
    smq.Parity: {"column": "city", "within": 0.1},
    smq.GroupBudget: {"column": "city", "label": "a", "at_most": 0.1},
    smq.PriceRange: {"at_least": 0.1, "at_most": 0.9, "column": "city", "label": "a"},
    smq.AcceptanceRange: {"at_least": 0.1, "at_most": 0.9, "column": "city", "label": "a"},
    smq.ExpectedOwners: {"column": "city", "label": "a", "at_most": 0.5},
    smq.CommonPrice: {"column": "city"},
    smq.PriceMenu: {"prices": (0.1, 0.5), "column": "city", "label": "a"},
    smq.LinearRow: {"at_most": 0.5, "acceptance": [(0, 1.0)], "spend": [(1, 1.0)]},
    smq.WorstGroup: {"column": "city"},
    smq.WeightedObjectives: {"terms": [(1.0, smq.PurchasedPrivacy())]},
    smq.BoughtOwners: {"weights": 1.0},
    smq.DiminishingReturns: {"scale": 0.3},
    smq.InverseProbabilityVariance: {"weights": 1.0},
}
CASES = [(kind, entry.name) for kind in RECORDS for entry in dataclasses.fields(kind)]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_an_odd_argument_is_taken_or_refused(kind: Any, name: str, tmp_path: Path) -> None:
    for value in ODD:
        try:
            record = kind(**{**RECORDS[kind], name: value})
            asked = {"constraints": [record]} if isinstance(record, ConstraintRecord) else {"objective": record}
            solution = smq.solve(MARKET, 0.6, **asked)
        except smq.SmqoptError:
            continue
        solution.save(tmp_path)
        certificate = smq.verify(solution)
        certificate.save(tmp_path / "certificate.json")
        assert certificate.valid or solution.status is smq.Status.INFEASIBLE, (value, certificate.reasons)


LONE = smq.CommonPrice("city")


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: smq.solve(MARKET, 0.5, constraints=given),
        lambda given: smq.Program(MARKET, 0.5, constraints=given),
        lambda given: smq.frontier(MARKET, [0.5], constraints=given),
        lambda given: smq.least_budget(MARKET, 0.5, constraints=given),
    ],
)
@pytest.mark.parametrize("given", [LONE, 5, "x", [None], [smq.Coverage], {LONE}, {"a": LONE}, [[LONE]], iter([LONE])])
def test_what_is_no_list_of_records_is_refused(ask: Any, given: Any) -> None:
    with pytest.raises(smq.InputError, match="constraint"):
        ask(given)
