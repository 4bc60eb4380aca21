"""The tutorial's commands run on its own files, and say what it says."""

import re
import shutil
from pathlib import Path

import pytest

from smqopt.cli._entry import run
from smqopt.query import _repeats

DOCS = Path(__file__).parents[2] / "docs"


def sessions():
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        for command, said in re.findall(r"^\$ smqopt (.*)\n((?:[^$].*\n)*)", block, flags=re.MULTILINE):
            yield command.split(), said.splitlines()


def test_the_commands_say_what_the_page_says(tmp_path, monkeypatch, capsys):
    for path in (DOCS / "tutorial").iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_repeats, "_spent", {})  # releases are counted by process, and the page's reader has her own
    commands = list(sessions())
    assert [command[0] for command, _ in commands] == ["solve", "verify", "procure", "answer"]
    for command, said in commands:
        assert run(command) == 0
        shown = [line.partition(", gap")[0] for line in capsys.readouterr().out.splitlines()]
        assert set(said) <= set(shown), shown
    released = (tmp_path / "out" / "public" / "release.json").read_text(encoding="utf-8")
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    example = re.search(r"release.json\n\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    without_value = re.compile(r'"(value|half_width)": [\d.]+')
    assert without_value.sub("", released).split() == without_value.sub("", example).split()


@pytest.mark.parametrize("name", ["survey.toml", "panel.csv"])
def test_the_page_shows_its_files(name):
    assert f"literalinclude}} tutorial/{name}" in (DOCS / "tutorial.md").read_text(encoding="utf-8")
