"""Streams and places that fail: one line, the family's error, no file half written."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from smqopt.cli.terminal._output import open_streams, print_text, printable, show

PROGRAM = [sys.executable, "-m", "smqopt"]


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$0" -m smqopt "$@" {line}', sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "reason"), [(">/dev/full", "No space left"), (">&-", None), ("<&-", None), ("2>&-", None)]
)
def test_streams_that_take_nothing(line: str, reason: str | None, small: Path, tmp_path: Path) -> None:
    done = shell(line, "solve", small, "--out", tmp_path / "out")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if reason is not None:
        assert done.returncode == 1
        assert done.stderr.startswith("smqopt: error: standard output: cannot be written: ")
        assert reason in done.stderr
    else:
        assert done.returncode == 0
    assert (tmp_path / "out" / "thresholds.csv").read_text(encoding="utf-8").startswith("owner,")


def test_help_that_cannot_be_written() -> None:
    done = shell(">/dev/full", "--help")
    assert done.returncode == 1
    assert done.stderr.startswith("smqopt: error: a file or standard output: No space left")


def test_a_reader_that_left() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m smqopt models | head -c 1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8"])
def test_letters_that_an_encoding_lacks_are_written_out(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    open_streams()
    print_text("θ* = λ⁻¹\n")
    show({"Łódź": "λ 😀"}, [], as_json=True)
    line, record, _ = written.getvalue().decode(encoding).split("\n")
    assert line.encode(encoding).decode("unicode_escape" if encoding != "utf-8" else encoding) == "θ* = λ⁻¹"
    assert json.loads(record) == {"Łódź": "λ 😀"}


PLACES = ["x" * 300, "file/below", "/proc/new", "a\0b", "file"]


@pytest.mark.parametrize("place", PLACES, ids=range(len(PLACES)))
@pytest.mark.parametrize("command", ["solve", "run", "frontier", "derive"])
def test_a_place_that_takes_nothing_is_refused_before_the_work(
    command: str, place: str, small: Path, tmp_path: Path, smqopt: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    monkeypatch.setattr("smqopt.model_files._instance.read_model", None)
    if command == "derive":
        called = smqopt("derive", "uniform", "--out", f"{place}.html" if place != "file" else "folder.html/x.html")
        (tmp_path / "folder.html").exists()
    else:
        called = smqopt(command, small, "--out", place)
    if place == "file" and command == "derive":
        return
    assert called.code == 2
    assert len(called.error) < 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "small.toml"]


def test_errors_are_objects_for_machines(smqopt: Callable) -> None:
    called = smqopt("models", "nothing", "--json")
    record = json.loads(called.out)
    assert (called.code, record["code"]) == (2, 2)
    assert called.error == f"smqopt: error: {record['error']}"


def test_what_steers_a_terminal_is_written_out(tmp_path: Path, small: Path, smqopt: Callable) -> None:
    assert printable("a\x1b[2J\x9b\u202eb\ud800\tc\n") == "a\\u001b[2J\\u009b\\u202eb\\ud800\tc\n"
    text = small.read_text(encoding="utf-8")
    small.write_text('title = "\\u001b[2Jowned\\u009b"\n' + text, encoding="utf-8")
    called = smqopt("run", small, "--out", tmp_path / "out")
    assert "\\u001b[2Jowned\\u009b" in called.out
    assert "\x1b" not in called.out + (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    called = smqopt("models", small, "--json")
    assert json.loads(called.out)["title"] == "\x1b[2Jowned\x9b"
    small.write_text(text.replace("budget = 1.5", 'budget = "\\u001b[2J"'), encoding="utf-8")
    assert "\x1b" not in smqopt("solve", small, "--out", tmp_path / "o").err


def test_json_stays_json(capfd: pytest.CaptureFixture[str]) -> None:
    show({"name": "\x7f\u202e\x9b"}, [], as_json=True)
    assert json.loads(capfd.readouterr().out) == {"name": "\x7f\u202e\x9b"}


@pytest.mark.parametrize("number", ["1_0", "１", "٣", "nan", "inf", "1e999", "0x1", ""])
@pytest.mark.parametrize("option", ["--reserve", "--seed"])
def test_numbers_of_options(option: str, number: str, small: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("solve", small, "--out", tmp_path / "out", option, number).code == 2


def test_no_line_of_another_file_is_shown(tmp_path: Path, small: Path, smqopt: Callable) -> None:
    (tmp_path / "shadow").write_text("root:$6$secret:19000:0:99999:7:::\ndaemon:*:19000\n", encoding="utf-8")
    for owners in ('table = "shadow"', 'table = "shadow"\nepsilon = "root"', 'table = "shadow"\nids = "x"'):
        text = f'budget = 1\n[owners]\n{owners}\n[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n'
        small.write_text(text, encoding="utf-8")
        called = smqopt("solve", small, "--out", tmp_path / "out")
        assert called.code == 2
        assert "secret" not in called.err
    for name in ("shadow", str(tmp_path / "shadow")):
        assert "secret" not in smqopt("solve", name, "--out", tmp_path / "out").err
    outputs = tmp_path / "done"
    os.mkdir(outputs)  # noqa: PTH102
    assert "secret" not in smqopt("verify", "slack-market", "--thresholds", tmp_path / "shadow").err


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_byte_order_marks(content: bytes, small: Path, tmp_path: Path, smqopt: Callable) -> None:
    small.write_bytes(content + small.read_bytes())
    called = smqopt("solve", small, "--out", tmp_path / "out")
    if content == b"\xef\xbb\xbf":
        assert called.code == 0
    else:
        assert called.code == 2
        assert "byte order mark" in called.error


def test_modes_are_those_of_the_process(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    old = os.umask(0o077)
    try:
        assert smqopt("run", small, "--out", tmp_path / "out").code == 0
    finally:
        os.umask(old)
    for path in (tmp_path / "out").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
