"""The table of laws in the documents is what the code gives; and no row says more than the law does."""

from pathlib import Path

import pytest
from law_table import TABLES, example_laws
from marks import fill

import smqopt as smq
from smqopt.valuation import LAWS

PAGE = Path(__file__).parents[2] / "docs" / "laws.md"


def test_the_page_is_what_the_code_gives():
    text = PAGE.read_text(encoding="utf-8")
    assert fill(text, TABLES) == text, "run python docs/generate/law_table.py"


def test_every_law_of_the_registry_has_a_row():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    laws = list(example_laws())
    assert len(rows) == len(laws)
    for name in LAWS:
        assert any(row.startswith(f"| {name}: ") for row in rows)
    for row, (_, law) in zip(rows, laws, strict=True):
        verdict, hazard = law.regularity(), law.monotone_hazard()
        kind = next(word for word in ("Irregular", "Regular", "Undecided") if f"| {word}" in row)
        assert kind == type(verdict).__name__
        answer = row.split(" | ")[3].partition(",")[0]
        assert answer == {True: "yes", False: "no", None: "undecided"}[hazard.monotone]
        assert verdict.method in row
        if isinstance(verdict, smq.Irregular):
            assert repr(verdict.witness[1]) in row


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="% laws"):
        fill("no table here", TABLES)
