"""The README's and the documents' code blocks run, their links resolve, and every public name is documented."""

import doctest
import re
from pathlib import Path

import pytest

import smqopt as smq

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
DOCUMENTS = [path for path in DOCUMENTS if "_build" not in path.parts]


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_sessions_run(path):
    session = "\n".join(blocks(path, "pycon"))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(session, {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(optionflags=flags)
    lines = []
    runner.run(test, out=lines.append)
    assert runner.failures == 0, "".join(lines)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_blocks_run(path):
    scope = {}
    for block in blocks(path, "python"):
        exec(compile(block, str(path), "exec"), scope)  # noqa: S102


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_resolve(path):
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_readme_opens_with_the_program_and_ten_lines():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index(r"\tag{OP2}") < text.index("```pycon")
    statements = [line for line in blocks(ROOT / "README.md", "pycon")[0].splitlines() if line.startswith(">>>")]
    assert len(statements) == 10


def test_the_readme_holds_exactly_the_two_commands_that_ci_runs():
    commands = [line for block in blocks(ROOT / "README.md", "console") for line in block.splitlines()]
    assert len(commands) == 2
    assert "smqopt run models/adult-income-count.toml" in commands[0]
    assert commands[1].endswith("python -m pytest -n auto --dist loadfile")


@pytest.mark.parametrize("name", [name for name in smq.__all__ if name != "__version__"])
def test_every_public_name_is_in_the_reference(name):
    assert re.search(rf"\b{name}\b", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))
    assert getattr(smq, name).__doc__
