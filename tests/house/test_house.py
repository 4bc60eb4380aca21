"""The house keeps its rules: one rule a test, which names what breaks it."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))

from drawing import DRAWING, drawing  # noqa: E402
from house import ROOMS_OF_SIBLINGS, House, package, words  # noqa: E402

RULES = {
    "no circle of imports": House.circles,
    "other packages are imported through their door": House.deep_imports,
    "no import by a name in a string": House.by_name,
    "a name in a door is imported by somebody": House.idle_names,
    "summaries have at most 80 characters": lambda house: house.long_summaries(80),
    "summaries are imperative, and say more than give": House.giving,
    "doc lines have at most 100 characters": lambda house: house.long_doc_lines(100),
    "functions are verbs or nouns, no participles": House.participles,
    "names are words of the field": House.house_words,
    "a class name is used once": House.shared_classes,
    "a file name is used at most twice": House.shared_files,
}


@pytest.fixture(scope="module")
def house():
    return House.read(ROOT)


@pytest.mark.parametrize("rule", RULES)
def test_rule(house, rule):
    broken = RULES[rule](house)
    assert not broken, f"{len(broken)} times: {list(broken)[:20]}"


HOUSE_VERBS = re.compile(
    r"\b(?:gives?|gave|mend(?:s|ed|ing)?|blam(?:e|es|ed)|worth|judg(?:e|es|ed|ing))\b", re.IGNORECASE
)
"""The field says returns, states, corrects, counts, verifies."""


def test_pages_speak_the_words_of_the_field():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "examples").glob("*.py")]
    pages += (ROOT / "smqopt" / "report" / "templates").rglob("*.html")
    read = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in pages}
    read.pop("CHANGELOG.md")  # names what was renamed
    found = {
        f"{name}: {text[max(0, word.start() - 30) : word.end() + 30]!r}"
        for name, text in read.items()
        if not name.startswith("docs/_build/")
        for word in HOUSE_VERBS.finditer(text)
    }
    assert not found


def test_folders_are_small_but_for_families_of_siblings(house):
    large = {folder: k for folder, k in house.folders().items() if k > 15 and folder not in ROOMS_OF_SIBLINGS}
    assert not large


def test_the_drawing_is_of_these_imports(house):
    assert (ROOT / DRAWING).read_text(encoding="utf-8") == drawing(house), "run python tests/house/drawing.py"


def test_the_meter_sees_what_it_looks_for(tmp_path):
    """A small house with one fault of each kind."""
    files = {
        "__init__.py": '"""Two rooms."""\n',
        "a/__init__.py": (
            '"""A door."""\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from smqopt.a._one import idle as idle\n'
        ),
        "a/_one.py": f'"""Give one."""\nfrom smqopt.b._two import Twin\n# {"x" * 100}\n\n\ndef polished(): ...\n',
        "b/__init__.py": '"""Another."""\n',
        "b/_two.py": (
            f'"""{"Long " * 17}"""\nimport importlib\nfrom smqopt.a import _one\n\n\nclass Twin:\n    def mend_it(self): ...\n'
            "\n\nimportlib.import_module('json')\n"
        ),
        "c/_two.py": '"""C."""\n\n\nclass Twin: ...\n',
        "d/_two.py": '"""D."""\n',
    }
    for name, text in files.items():
        path = tmp_path / "smqopt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    house = House.read(tmp_path)
    assert {rule for rule, broken in RULES.items() if not broken(house)} == set()
    assert house.circles() == [["smqopt.a._one", "smqopt.b._two"]]
    assert house.idle_names() == ["smqopt.a.idle"]


def test_words_of_names():
    assert words("_looked_up") == ["looked", "up"]
    assert words("HTTPTouch.arcCosine") == ["http", "touch", "arc", "cosine"]
    assert package("smqopt.market._market") == "market"
