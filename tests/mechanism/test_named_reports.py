"""Reports and entries that come with names are matched by name, never by position."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import smqopt as smq

MARKET = smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])
CERTIFICATE = smq.verify(smq.solve(MARKET, 0.75), prove=False)
REPORTS = {"cy": 0.6, "bo": 0.4, "ann": 0.1}


class Series:
    """As a series of pandas, which need not be installed."""

    def __init__(self, values: list[float], index: list[Any]) -> None:
        self.values, self.index = values, index

    def to_numpy(self) -> Any:
        return np.array(self.values)

    def __array__(self, *_: object, **__: object) -> Any:
        return np.array(self.values)

    def __len__(self) -> int:
        return len(self.values)


GIVEN = {
    "mapping": REPORTS,
    "series": Series(list(REPORTS.values()), list(REPORTS)),
    "frame": pl.DataFrame({"owner": list(REPORTS), "report": list(REPORTS.values())}),
    "frame with owner_id": pl.DataFrame({"report": list(REPORTS.values()), "owner_id": list(REPORTS)}),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_reports_are_matched_by_name(kind: str) -> None:
    outcome = smq.procure(CERTIFICATE, GIVEN[kind])
    assert outcome.selected.tolist() == [True, True, False]
    some = smq.procure(CERTIFICATE, {"bo": 0.4, "ann": 0.1}, owner_ids=["ann", "bo"])
    assert (some.owner_ids, some.selected.tolist()) == (("ann", "bo"), [True, True])


def test_a_series_without_names_is_positional() -> None:
    outcome = smq.procure(CERTIFICATE, Series([0.1, 0.4, 0.6], [0, 1, 2]))
    assert outcome.selected.tolist() == [True, True, False]


BAD = {
    "one is missing": {"ann": 0.1, "bo": 0.123456},
    "a stranger": {**REPORTS, "di": 0.123456},
    "twice": Series([0.1, 0.123456, 0.4, 0.6], ["ann", "ann", "bo", "cy"]),
    "no names in a frame": pl.DataFrame({"x": [0.123456] * 3, "y": [1, 2, 3]}),
    "too many columns": pl.DataFrame({"owner": list(REPORTS), "x": [0.123456] * 3, "y": [1, 2, 3]}),
}


@pytest.mark.parametrize("kind", BAD)
def test_reports_that_do_not_cover_all_owners_once_are_refused(kind: str) -> None:
    with pytest.raises(smq.InputError) as caught:
        smq.procure(CERTIFICATE, BAD[kind])
    assert "0.123456" not in str(caught.value)


def test_owners_who_are_not_named_may_be_absent() -> None:
    assert smq.procure(CERTIFICATE, {"bo": 0.4, "ann": 0.1}, missing="absent").owner_ids == ("ann", "bo")


def test_entries_and_labels_are_matched_by_name() -> None:
    big = smq.Market([60.0] * 3, smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])
    outcome = smq.procure(smq.verify(smq.solve(big, 0.75), prove=False), REPORTS)
    for data in ({"bo": 0, "ann": 1}, {"cy": 0, "bo": 0, "ann": 1}, Series([0, 1], ["bo", "ann"])):
        by_group = smq.answer_by_group(
            smq.Count(), data, outcome, {"bo": "b", "cy": "c", "ann": "a"}, np.random.default_rng(1)
        )
        assert [by_group[label] and by_group[label].value for label in "abc"] == [1.0, 0.0, None]
        assert smq.answer(smq.Count(), data, outcome, rng=np.random.default_rng(1)).value == 1.5
    with pytest.raises(smq.InputError, match="owner 'bo': is not named"):
        smq.answer(smq.Count(), {"ann": 1}, outcome, rng=np.random.default_rng(1))
    with pytest.raises(smq.InputError, match="owner 'di': is not in the market"):
        smq.answer(smq.Count(), {"ann": 1, "bo": 0, "di": 1}, outcome, rng=np.random.default_rng(1))
