"""A folder of outputs appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from smqopt.cli.outputs._folder import OUTPUTS, check_folder, drop_later, whole_folder
from smqopt.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_folder_appears_with_its_parents(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    with whole_folder(out) as folder:
        (folder / "answer.json").write_text("{}")
        assert not out.exists()
    assert names(out) == ["answer.json"]
    assert names(out.parent) == ["b"]


@pytest.mark.parametrize("earlier", [False, True])
def test_an_error_leaves_what_was_there(tmp_path: Path, earlier: bool) -> None:
    out = tmp_path / "out"
    if earlier:
        out.mkdir()
        (out / "answer.json").write_text("old")

    def fail() -> None:
        with whole_folder(out) as folder:
            (folder / "thresholds.csv").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == (["out"] if earlier else [])
    if earlier:
        assert names(out) == ["answer.json"]


def test_earlier_outputs_are_replaced_as_a_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in OUTPUTS:
        (out / name).write_text("old")
    with whole_folder(out) as folder:
        (folder / "thresholds.csv").write_text("new")
    assert names(tmp_path) == ["out"]
    assert names(out) == ["thresholds.csv"]
    assert (out / "thresholds.csv").read_text() == "new"


def test_an_empty_folder_may_be_there(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out") as folder:
        (folder / "answer.json").write_text("{}")
        (tmp_path / "out").mkdir()
    assert names(tmp_path / "out") == ["answer.json"]


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, when: str) -> None:
    out = tmp_path / "out"

    def fill() -> None:
        out.mkdir()
        (out / "thesis.tex").write_text("years of work")

    def write() -> None:
        with whole_folder(out) as folder:
            (folder / "answer.json").write_text("{}")
            if when == "meanwhile":
                fill()

    if when == "before":
        fill()
    with pytest.raises(InputError, match=r"hold earlier outputs alone \(found 'thesis.tex'\)"):
        write()
    assert names(tmp_path) == ["out"]
    assert names(out) == ["thesis.tex"]


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="must be a folder"):
        check_folder(tmp_path / "out")


def test_a_file_among_the_parents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"), whole_folder(tmp_path / "file" / "out"):
        pytest.fail("must not be entered")


def test_later_outputs_are_dropped(tmp_path: Path) -> None:
    for name in ("thresholds.csv", "outcome.csv", "answer.json", "report.html", "notes.txt"):
        (tmp_path / name).write_text("")
    assert drop_later(tmp_path, "outcome.csv") == ["answer.json", "report.html"]
    assert names(tmp_path) == ["notes.txt", "outcome.csv", "thresholds.csv"]
