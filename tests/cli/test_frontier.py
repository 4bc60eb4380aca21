"""`smqopt frontier`: the table, the figure, and what is refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

import smqopt as smq
from smqopt.files import read_csv


def test_a_table_and_a_figure(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    table, figure = tmp_path / "frontier.csv", tmp_path / "frontier.svg"
    called = smqopt("frontier", small, "--budgets", "1,1.5,2", "--out", table, "--out", figure)
    assert (called.code, called.err) == (0, "")
    market = smq.Market([0.5, 1.0, 1.5, 2.0], smq.Uniform(0, 1))
    columns = read_csv(table)
    assert columns["budget"] == ["1.0", "1.5", "2.0"]
    for budget, V, price in zip(columns["budget"], columns["purchased_privacy"], columns["budget_price"], strict=True):
        solution = smq.solve(market, float(budget))
        assert float(V) == pytest.approx(solution.purchased_privacy, rel=1e-12)
        assert float(price) == pytest.approx(solution.budget_price, rel=1e-12)
    root = ET.fromstring(figure.read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")
    assert str(table) in called.out


def test_an_even_range_and_json(small: Path, smqopt: Callable) -> None:
    called = smqopt("frontier", small, "--budgets", "0:4:5", "--json")
    record = json.loads(called.out)
    assert record["budgets"] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert record["budget_price"][0] == "inf"
    assert record["purchased_privacy"][-1] == 5.0


def test_budgets_by_default(small: Path, smqopt: Callable) -> None:
    called = smqopt("frontier", small, "--json")
    budgets = json.loads(called.out)["budgets"]
    assert (len(budgets), budgets[-1]) == (100, 4.0)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--budgets", "1,x"), "--budgets"),
        (("--budgets", "1:2"), "FIRST:LAST:COUNT"),
        (("--budgets", "1:2:2.5"), "count"),
        (("--budgets", "1:2:0"), "count"),
        (("--budgets", "-1,2"), "≥ 0"),
        (("--out", "frontier.pdf"), ".csv or .svg or .png"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], told: str, small: Path, smqopt: Callable) -> None:
    called = smqopt("frontier", small, *arguments)
    assert (called.code, called.out) == (2, "")
    assert told in called.error
