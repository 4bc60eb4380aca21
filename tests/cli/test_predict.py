"""`smqopt predict`: the table, the figure, and what is refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import smqopt as smq
from smqopt.files import read_csv


def test_a_table_and_a_figure(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    table, figure = tmp_path / "predicted.csv", tmp_path / "predicted.svg"
    called = smqopt("predict", small, "--budgets", "0,1,2", "--share", 0.25, "--out", table, "--out", figure)
    assert (called.code, called.err) == (0, "")
    assert "Assumed: entries independent of requirement and valuation: 0 with 0.75, 1 with 0.25" in called.out
    market = smq.Market([0.5, 1.0, 1.5, 2.0], smq.Uniform(0, 1))
    found = smq.predict(smq.Count(), market, [0.0, 1.0, 2.0], smq.EntryPrior.share(0.25))
    assert [float(x) for x in read_csv(table)["rmse"]] == found.total.tolist()
    root = ET.fromstring(figure.read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")


def test_json_and_defaults(small: Path, smqopt: Callable) -> None:
    record = json.loads(smqopt("predict", small, "--json").out)
    assert len(record["budgets"]) == len(record["total"]) == 20
    assert record["assumption"].endswith("0 with 0.5, 1 with 0.5")
    nothing = json.loads(smqopt("predict", small, "--budgets", "0", "--json").out)
    assert nothing["total"] == ["inf"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--share", 1.5), "assumption: share"),
        (("--share", 0.5, "--assume", "x.csv"), "exclude each other"),
        (("--assume", "nothing.csv"), "nothing.csv"),
        (("--budgets", "1,x"), "--budgets"),
        (("--out", "predicted.pdf"), ".csv or .svg or .png"),
    ],
)
def test_what_is_refused(arguments: tuple[object, ...], told: str, small: Path, smqopt: Callable) -> None:
    called = smqopt("predict", small, *arguments)
    assert (called.code, called.out) == (2, "")
    assert told in called.error
