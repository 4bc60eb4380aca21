"""Odd model files: whatever a value is replaced by, the command line ends with a code, and says why in one line that names file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

MODEL = """title = "odd"
budget = 1.5
seed = 7
[owners]
ids = ["ann", "bo", "cy", "di"]
epsilon = [0.5, 1.0, 1.5, 2.0]
multiplicity = [1, 2, 1, 1]
groups = { city = ["Oslo", "Oslo", "Bergen", "Bergen"] }
[valuation]
law = "uniform"
low = 0.25
high = 1.0
[[constraint]]
kind = "coverage"
column = "city"
label = "Oslo"
at_least = 1.2
[[constraint]]
kind = "price-range"
at_most = 0.95
[question]
kind = "frontier"
budgets = [0.5, 1.0, 2.0]
"""
ODD = (
    "1e308", "-1e308", "1.7e308", "1e-320", "4.9e-324", "1e999", "-0.0", "0", "0.0", "1e-300", "1e300", "nan", "inf", "-inf", "-1",
    "9223372036854775808", "1" + "0" * 400, "true", '"text"', '""', "[]", "[[1]]", "{}", "1979-05-27", "[1e308, 1e308, 1e308, 1e308]",
    "[1e-320, 1, 1e308, 2]", '["Oslo"]',
)  # fmt: skip
LAWS = {
    "power": "k = 2.0\n",
    "truncated-exponential": "rate = 2.0\n",
    "normal": "mean = 0.5\nsd = 0.25\n",
    "pareto": "a = 1.5\n",
}
VALUE = re.compile(r"(?<== )[^\n]+|(?<=[\[ ])\d[\d.]*(?=[,\]])")
EVERY = [
    (law, number, odd)
    for law in ("uniform", *LAWS)
    for number in range(len(VALUE.findall(MODEL)) + 3)
    for odd in ODD
]  # fmt: skip
TENTH = [EVERY[k] for k in np.random.default_rng(11).choice(len(EVERY), 60, replace=False)]


def text_of(law: str) -> str:
    if law == "uniform":
        return MODEL
    return MODEL.replace('law = "uniform"\n', f'law = "{law}"\n{LAWS[law]}')


def check(smqopt: Callable, folder: Path, law: str, number: int, odd: str) -> None:
    text = text_of(law)
    places = [found.span() for found in VALUE.finditer(text)]
    first, last = places[number % len(places)]
    changed = text[:first] + odd + text[last:]
    path = folder / "odd.toml"
    path.write_text(changed, encoding="utf-8")
    called = smqopt("solve", path, "--out", folder / "out")
    assert called.code in (0, 1, 2), called.err
    if called.code:
        assert "Traceback" not in called.err
        assert called.error
    if called.code == 2 and "is not TOML" not in called.error:
        line = text.count("\n", 0, first) + 1
        named = re.search(r"odd\.toml(?: line (\d+))?:", called.error)
        assert named is not None, called.error
        if named.group(1) is not None:
            header = changed.rfind("\n[", 0, first)
            assert changed.count("\n", 0, header) + 2 <= int(named.group(1)) or int(named.group(1)) <= line, (
                called.error
            )


@pytest.mark.parametrize(("law", "number", "odd"), TENTH, ids=range(len(TENTH)))
def test_odd_values(law: str, number: int, odd: str, tmp_path: Path, smqopt: Callable) -> None:
    check(smqopt, tmp_path, law, number, odd)


@pytest.mark.exhaustive
def test_every_odd_value(tmp_path: Path, smqopt: Callable) -> None:
    for number, case in enumerate(EVERY):
        folder = tmp_path / str(number)
        folder.mkdir()
        check(smqopt, folder, *case)
