"""Files: strict tables, text that comes back, and no file but whole ones."""

from __future__ import annotations

import csv
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from smqopt.errors import InputError, SmqoptError
from smqopt.files import read_csv, read_json, read_text, write_bytes, write_csv, write_json

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["=1+1", "'=1", "''=", "+a", "-b", "@x", "\t", "a\rb", "a\nb", "a\r\nb", '"', 'x"y', " ", "-5", "+1e3", "＝A1"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(TEXT, st.floats(allow_nan=False)), min_size=1, max_size=6))
def test_tables_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float]]) -> None:
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    write_csv(path, ("name", "value"), rows)
    table = read_csv(path)
    assert table["name"] == [name for name, _ in rows]
    assert [float(value) for value in table["value"]] == [value for _, value in rows]


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\r=1", "'=1", "＝1"])
def test_no_cell_begins_like_a_formula(tmp_path: Path, text: str) -> None:
    write_csv(tmp_path / "table.csv", ("name", "value"), [(text, -1.5)])
    cell = (tmp_path / "table.csv").read_bytes().decode().split("\n", 1)[1].lstrip('"')
    assert cell.startswith("'")
    assert read_csv(tmp_path / "table.csv") == {"name": [text], "value": ["-1.5"]}


REFUSED = {
    "quote not closed": (b'owner,epsilon,note\na,.2,ok\nb,.5,"x\nc,1,y\nd,.9,z\n', r"line 3: a quote is not closed"),
    "quote within a field": (b'a,b\n1,x"y\n', "line 2: a quote is not closed, or stands within a field"),
    "text after a quote": (b'a,b\n1,"x"y\n', "line 2: a quote"),
    "carriage return alone": (b"a,b\r1,2\r", "a carriage return stands alone"),
    "carriage return within a row": (b"a\n1\r2\n", "line 2: a carriage return stands alone"),
    "semicolons": (b"a;b\n1;2\n", "by semicolons, and must be by commas; save it with commas"),
    "tabs": (b"a\tb\n1\t2\n", "by tabs, and must be by commas; save it with commas"),
    "Latin-1": ("a,b\n1,ü\n".encode("latin-1"), "line 2: is not UTF-8; save it as UTF-8"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), r"UTF-16, by its byte order mark \(BOM\); save it as UTF-8"),
    "short row": (b"a,b\n1\n", r"line 2: the row must have 2 fields \(found 1\)"),
    "long row": (b"a,b\n1,2,3\n", r"the row must have 2 fields \(found 3\)"),
    "column twice": (b"secret,b,secret\n1,2,3\n", "stands twice, in columns 1 and 3"),
    "nothing": (b"", "the table is empty"),
    "blank lines": (b"\n\n", "the table is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_tables_that_are_refused(tmp_path: Path, case: str) -> None:
    content, message = REFUSED[case]
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_csv(tmp_path / "table.csv")
    assert "secret" not in str(caught.value)
    assert csv.field_size_limit() == 131_072


def test_long_cells_marks_and_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n" + b"x" * 200_000 + b',"1\n2"\r\n\r\n')
    assert read_csv(path) == {"a": ["x" * 200_000], "b": ["1\n2"]}


@pytest.mark.parametrize("path", ["x\0y", "a" * 5000, "missing.csv", "/dev/null", "."])
def test_places_that_hold_no_text(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for read in (read_text, read_csv, read_json):
        with pytest.raises(InputError) as caught:
            read(path)
        assert len(str(caught.value)) < 400


def test_files_keep_their_mode_and_new_ones_take_that_of_the_process(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_bytes(tmp_path / "new", b"1")
        (tmp_path / "private").touch(0o600)
        write_bytes(tmp_path / "private", b"2")
    finally:
        os.umask(old)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "private")]
    assert modes == [0o640, 0o600]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "private"]


@pytest.mark.parametrize("name", ["x\0y", "a" * 300, "folder", "file/below"])
def test_places_that_take_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_bytes(tmp_path / name, b"1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_device_is_a_failure_and_no_device_is_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_bytes(pipe, b"content")
    assert os.read(reader, 10) == b"content"
    os.close(reader)
    assert pipe.is_fifo()
    full = Path("/dev/full")
    if full.is_char_device():
        with pytest.raises(SmqoptError, match="No space left") as caught:
            write_bytes(full, b"1")
        assert not isinstance(caught.value, InputError)
        assert full.is_char_device()


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": 1, "a": 2}', "[1]", "{", '{"a": ' + "[" * 10_000])
def test_json_that_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_json(tmp_path / "a.json")


def test_json_keeps_whole_characters(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": "\\ud83d\\ude00"}', encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"a": "😀"}
    write_json(tmp_path / "b.json", {"a": "😀"})
    assert read_json(tmp_path / "b.json") == {"a": "😀"}
