"""Names and numbers as users give them: what files can carry, and what is a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import smqopt as smq
from smqopt import second_checker
from smqopt.market import numbers
from smqopt.numeric import as_names, double_of, plain_array

UNIT = smq.Uniform(0, 1)


class NAType:
    """The mark of a missing value in data frames of pandas."""


NAMES = [None, np.ma.masked, NAType(), float("nan"), "c\0", "\ud800", "x" * 100_001]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_that_no_file_carries_are_refused(name: Any) -> None:
    for market in (
        lambda: smq.Market([1, 2], UNIT, owner_ids=["a", name]),
        lambda: smq.Market([1, 2], UNIT, groups={"city": ["a", name]}),
    ):
        with pytest.raises(smq.InputError, match="row 2"):
            market()
    with pytest.raises(smq.InputError, match="row 2"):
        as_names(["a", name], "names")
    if isinstance(name, str):
        with pytest.raises(smq.InputError, match="name of a group"):
            smq.Market([1, 2], UNIT, groups={name: ["a", "b"]})


@pytest.mark.parametrize("name", ["a\rb", "a\nb", "=1+1", '"', " ", "", "'", "-1", "ü", "1,2", "x" * 100_000])
def test_names_that_files_carry_come_back(name: str, tmp_path: Any) -> None:
    market = smq.Market([0.5, 1.0], UNIT, owner_ids=["a", name], groups={"city": [name, "b"]})
    solved = smq.solve(market, 0.4)
    found = smq.verify(solved)
    solved.save(tmp_path)
    found.save(tmp_path / "certificate.json")
    again = smq.Certificate.load(tmp_path / "certificate.json", thresholds=tmp_path / "thresholds.csv")
    assert again.solution.market.owner_ids == ("a", name)
    assert again.solution.market.fingerprint == market.fingerprint
    verdict, why = second_checker.check(tmp_path)
    assert "market" not in why, (verdict, why)
    assert verdict == "proved", why
    outcome = smq.procure(again, [0.1, 0.1])
    outcome.save(tmp_path / "outcome.csv")
    assert smq.Outcome.load(tmp_path / "outcome.csv", again).owner_ids == ("a", name)


@pytest.mark.parametrize(
    "text", ["1_000", "0.5_5", "１", "٣", "1,5", "0x1", "", " ", "1e", "--1", "1 000", "infinity", "True"]
)
def test_texts_that_are_no_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        double_of(text)
    with pytest.raises(smq.InputError, match="row 1: must be a number"):
        numbers([text], "column")


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), (" 2 ", 2.0), ("-1e-3", -0.001), (".5", 0.5), ("3.", 3.0), ("1E3", 1e3)]
)
def test_texts_that_are_numbers(text: str, value: float) -> None:
    assert double_of(text) == value


@pytest.mark.parametrize("values", [[1, True], [False, 0.5], (0.5, np.True_)])
def test_truth_values_are_no_numbers(values: Any) -> None:
    with pytest.raises(smq.InputError, match="must be a number; write 0 or 1"):
        plain_array(values, "column")
