"""The display of stages: on a terminal alone, and on standard error alone."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from smqopt.cli.terminal import _progress as module
from smqopt.cli.terminal._progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> Progress:
    monkeypatch.setattr(module.sys, "stderr", stream)
    return Progress(2)


def test_a_terminal_sees_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    progress = drawn(monkeypatch, stream)
    for name in ("solve", "verify"):
        with progress.stage(name):
            pass
    frames = stream.getvalue().split("\r")[1:]
    assert [re.findall(r"l?(solve|verify) .* (\d/2)", frame)[0] for frame in frames[:4]] == [
        ("solve", "0/2"),
        ("solve", "1/2"),
        ("verify", "1/2"),
        ("verify", "2/2"),
    ]
    assert stream.getvalue().count("\n") == 1


def test_a_stage_that_fails_ends_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    progress = drawn(monkeypatch, stream)

    def fail() -> None:
        with progress.stage("solve"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "solve" in stream.getvalue()
    assert "\n" in stream.getvalue()


def test_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    with drawn(monkeypatch, stream).stage("solve"):
        pass
    assert stream.getvalue() == ""


def test_a_run_on_a_real_terminal_shows_its_stages_and_keeps_them_out_of_the_json(small: Path, tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "smqopt", "solve", str(small), "--out", str(tmp_path / "out"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
    os.close(terminal)
    shown = os.read(controller, 10_000).decode()
    os.close(controller)
    assert process.returncode == 0
    assert "solve" in shown
    assert "2/2" in shown
    assert printed.startswith(b"{")
    assert printed.count(b"\n") == 1


def test_work_shows_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(module.sys, "stderr", stream)
    draw = module.work_progress()
    for done in (0.0, 2.5, 10.0):
        draw(done, 10.0)
    assert "25%" in stream.getvalue()
    assert "100%" in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
