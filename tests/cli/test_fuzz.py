"""Hostile inputs for the command line: whatever files and options hold, it ends with a code and one line.

The default suite tries a seeded tenth, `pytest -m exhaustive` all of them.
"""

from __future__ import annotations

import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from smqopt.cli._entry import run

INPUTS, BLOCK, SECONDS = 5000, 50, 30
"""How many inputs there are, how many a test tries, and how long one may take."""

TABLE = "owner,city,epsilon,theta,answer,count\nann,Oslo,0.5,0.125,1,1\nbo,Bergen,1.0,0.25,0,2\ncy,Oslo,1.5,0.375,1,1\n"
MODEL = """title = "odd"
budget = 1.5
seed = 7
[owners]
table = "owners.csv"
ids = "owner"
groups = ["city"]
reports = "theta"
data = "answer"
[valuation]
law = "uniform"
low = 0.0
high = 1.0
[query]
kind = "count"
[[constraint]]
kind = "price-range"
at_most = 0.95
"""
ARRAYS = MODEL.replace(
    'table = "owners.csv"\nids = "owner"\ngroups = ["city"]\nreports = "theta"\ndata = "answer"\n',
    'ids = ["ann", "bo", "cy"]\nepsilon = [0.5, 1.0, 1.5]\ngroups = { city = ["Oslo", "Bergen", "Oslo"] }\n'
    "multiplicity = [1, 2, 1]\nreports = [0.125, 0.25, 0.375]\ndata = [1, 0, 1]\n",
)
LAWS = (
    'law = "power"\nk = 2.0\n', 'law = "beta"\na = 2.0\nb = 3.0\n', 'law = "normal"\nmean = 0.5\nsd = 0.25\nlow = 0.0\nhigh = 1.0\n',
    'cdf = "theta**2"\nlow = 0.0\nhigh = 1.0\n', 'law = "piecewise-uniform"\nedges = [0.0, 0.5, 1.0]\nmasses = [1, 2]\n',
    'law = "by-group"\ncolumn = "city"\nlaws = { Oslo = { law = "uniform", low = 0, high = 1 }, Bergen = { law = "power", k = 2 } }\n',
    'law = "from-samples"\ntable = "owners.csv"\ncolumn = "theta"\n', 'law = "discrete"\nvalues = [0.25, 0.5]\nmasses = [1, 1]\n',
)  # fmt: skip
ODD = (
    "", "0", "-1", "1e308", "1e-320", "1e999", "-inf", "nan", "1_000", "0.5_5", "１", "٣", "0x1", "true", "[]", "{}", "[[1]]", '"', "'", '"x"',
    "=1+1", "@x", "\x00", "\x1b[2J", "\r", "\n", "\r\n", ",", ";", "\t", "\ufeff", "\u202e", "ü", "x" * 200_000, "9007199254740992",
    "1" + "0" * 400, "1979-05-27", '"""', "#", "..", "/", "/dev/null", "/etc/passwd", "a\\u0000b", '"\\u0000"', '"\\ud800"', "owner", "epsilon",
    "city", "theta", '"by-group"', '"mixture"', '"gaussian-copula"', "[1, 1, 1]", '["a", "a", "a"]', "low", "seed = 1", "None", "1e-9", "1e9",
)  # fmt: skip
OPTIONS = (
    ("--seed", "3"), ("--seed", "-1"), ("--seed", "1" * 50), ("--reserve", "0.1"), ("--reserve", "2"), ("--reserve", "1e-300"), ("--data", "owners.csv"),
    ("--json",), ("--budgets", "0.5,1"), ("--budgets", "1:2:3"), ("--budgets", "a"), ("--budgets", "1:2:1e9"), ("--share", "0.5"), ("--share", "1/3"),
    ("--share", "1/0"), ("--ledger", "ledger"), ("--ledger", "owners.csv"), ("--payments", "ex-post-budget"), ("--payments", "x"), ("--draws", "2"),
    ("--thresholds", "owners.csv"), ("--gap-tolerance", "0.1"), ("--column", "theta"), ("--reports", "owners.csv"), ("--batch",), ("--add",), ("--marginal",),
    ("--query", "median"), ("--low", "0"), ("--high", "9"), ("--p", "0.5"), ("--edges", "0,1,2"), ("--weighting", "scaled"), ("--step", "0"),
    ("--assume", "owners.csv"), ("--cdf", "theta"), ("--param", "k=2"), ("--param", "k"), ("--market", "model.toml"), ("--model", "model.toml"),
    ("--privacy", "privacy.csv"), ("--belief", "model.toml"), ("--x",), ("--out", "x" * 300), ("--out", "owners.csv/x"), ("--out", ""), ("--help",),
)  # fmt: skip
COMMANDS = (
    "run",
    "solve",
    "verify",
    "audit",
    "procure",
    "answer",
    "derive",
    "frontier",
    "predict",
    "models",
    "nothing",
    "",
)
FILES = ("thresholds.csv", "solution.json", "certificate.json", "outcome.csv", "answer.json")


@contextmanager
def limited(what: str) -> Iterator[None]:
    """Fail where one input takes too long."""

    def stop(*_: object) -> None:
        raise AssertionError(f"more than {SECONDS} s: {what}")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor, whatever else the machine is doing
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def mutated(rng: random.Random, text: str) -> str:
    """Change a text in one to three places: a value, a word, a line, a character."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, odd = rng.randrange(len(text) + 1), rng.choice(ODD)
        kind = rng.randrange(6)
        lines = text.split("\n")
        row = rng.randrange(len(lines))
        if kind == 0:
            text = text[:at] + odd + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 9) :]
        elif kind == 2:
            key, equals, _ = lines[row].partition("=" if "=" in lines[row] else ",")
            lines[row] = f"{key}{equals} {odd}" if equals else odd
            text = "\n".join(lines)
        elif kind == 3:
            lines[row] = lines[rng.randrange(len(lines))]
            text = "\n".join(lines)
        elif kind == 4:
            cells = lines[row].split(",")
            cells[rng.randrange(len(cells))] = odd
            lines[row] = ",".join(cells)
            text = "\n".join(lines)
        else:
            text = text.replace(rng.choice(('"', "=", ",", "0", "1", "owner", "[", "\n")), odd, rng.choice((1, 2, -1)))
        text = text or odd
    return text


def one_input(rng: random.Random, place: Path, done: Path) -> list[str]:
    """Write files, and return arguments."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    model = rng.choice((MODEL, ARRAYS))
    if rng.random() < 0.4:
        start, end = model.index('law = "uniform"'), model.index("[query]")
        model = model[:start] + rng.choice(LAWS) + model[end:]
    files = {"model.toml": model, "owners.csv": TABLE}
    command = rng.choice(COMMANDS)
    on_folder = command in ("verify", "audit", "procure", "answer") and rng.random() < 0.8
    if on_folder:
        shutil.copytree(done, place / "folder")
        if rng.random() < 0.7:
            name = rng.choice(FILES)
            files[f"folder/{name}"] = (done / name).read_text(encoding="utf-8")
    bent = rng.choice(list(files)) if rng.random() < 0.85 else None
    for name, text in files.items():
        content = mutated(rng, text) if name == bent else text
        raw = content.encode("utf-8", "surrogatepass")
        if name == bent and rng.random() < 0.05:
            raw = raw[: rng.randrange(len(raw) + 1)] + bytes([rng.randrange(256)]) + raw[: rng.randrange(len(raw) + 1)]
        (place / name).write_bytes(raw)
    arguments = [command, "folder" if on_folder else "model.toml"]
    if command in ("run", "solve"):
        arguments += ["--out", "out"]
    if command in ("procure", "answer"):
        arguments += rng.choice(
            (["--model", "model.toml"], ["--reports" if command == "procure" else "--data", "owners.csv"], [])
        )
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        arguments += rng.choice(OPTIONS)
    if rng.random() < 0.05:
        arguments[rng.randrange(len(arguments))] = rng.choice(ODD)
    return arguments


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an honest run."""
    place = tmp_path_factory.mktemp("honest")
    (place / "model.toml").write_text(ARRAYS.replace("[[constraint]]", "").split('kind = "price')[0], encoding="utf-8")
    assert run(["run", str(place / "model.toml"), "--out", str(place / "out")]) == 0
    return place / "out"


def try_block(block: int, done: Path, place: Path, monkeypatch: pytest.MonkeyPatch, captured: Callable) -> None:
    monkeypatch.chdir(place)
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(number)  # noqa: S311 -- a seeded test
        arguments = one_input(rng, place / "work", done)
        monkeypatch.chdir(place / "work")
        captured()
        with limited(f"{number}: {arguments}"):
            code = run(arguments)
        error = captured().err
        assert code in (0, 1, 2), (number, arguments)
        assert "Traceback" not in error, (number, arguments)
        lines = [line for line in error.splitlines() if "Warning" not in line and not line.startswith("  ")]
        assert len(lines) == 0 or (lines[-1].startswith("smqopt: error: ") and len(lines[-1]) < 2500), (number, error)
        assert code != 2 or lines, (number, arguments)
        assert code == 0 or not (place / "work" / "out").exists(), (number, arguments)


EVERY = range(INPUTS // BLOCK)
TENTH = EVERY[::10]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("block", TENTH)
def test_hostile_inputs(
    block: int, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    try_block(block, done, tmp_path, monkeypatch, capfd.readouterr)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("block", sorted({*EVERY} - {*TENTH}))
def test_more_hostile_inputs(
    block: int, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    try_block(block, done, tmp_path, monkeypatch, capfd.readouterr)
