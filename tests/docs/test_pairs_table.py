"""The table of what goes with what is what the code gives."""

from pathlib import Path

import pytest
from marks import fill
from pairs_table import OBJECTIVES, QUESTIONS, TABLES, WHY, cell

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-an-objective.md"


@pytest.mark.slow
def test_the_page_is_what_the_code_gives():
    text = PAGE.read_text(encoding="utf-8")
    assert fill(text, TABLES) == text, "run python docs/generate/pairs_table.py"


def test_refusals_stand_in_the_table():
    lines = PAGE.read_text(encoding="utf-8").partition("% pairs\n")[2].splitlines()
    rows = {line.split("`")[1]: line.split(" | ")[1:] for line in lines if line.startswith("| `")}
    assert list(rows) == [type(aim).__name__ for aim in OBJECTIVES]
    aim = OBJECTIVES[-1]
    assert [cell(aim, ask) for ask in QUESTIONS.values()] == [WHY] * len(QUESTIONS)
    assert [answer.strip(" |") for answer in rows[type(aim).__name__]] == [WHY] * len(QUESTIONS)
