"""Small models, the command line in this process, and one run on Adult for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from smqopt.cli._entry import run
from smqopt.query import _repeats

MODELS = Path(__file__).parents[2] / "models"

SMALL = """
budget = 1.5
seed = 7

[owners]
ids = ["ann", "bo", "cy", "di"]
epsilon = [0.5, 1.0, 1.5, 2.0]
reports = [0.125, 0.25, 0.375, 0.9375]
data = [1, 0, 1, 1]

[valuation]
law = "uniform"
low = 0
high = 1

[query]
kind = "count"
"""
"""A model that runs in no time."""


@dataclass(frozen=True)
class Called:
    """What a call of the command line left behind."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line on standard error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("smqopt: error: "), self.err
        return lines[0]


@pytest.fixture
def smqopt(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Called]:
    """Call the command line in this process; captures what goes to the file descriptors."""

    def call(*arguments: object) -> Called:
        monkeypatch.setattr(_repeats, "_spent", {})  # releases are counted by process, and a command is one
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Called(code, out, err)

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A file with the small model."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def adult_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run on the embedded Adult table; not to be changed."""
    out = tmp_path_factory.mktemp("adult") / "out"
    assert run(["run", str(MODELS / "adult-income-count.toml"), "--out", str(out)]) == 0
    return out
