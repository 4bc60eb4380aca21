"""The entry point: quick, lazy, one line for an error, and the right exit code."""

from __future__ import annotations

import functools
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from smqopt.cli import _entry as entry
from smqopt.cli.terminal._time_limit import CLOCK
from smqopt.errors import (
    CertificateError,
    DataMissingError,
    InputError,
    IrregularLawError,
    SolverError,
    UncertifiedError,
)

HEAVY = ("numpy", "scipy", "sympy", "cvxpy", "jinja2", "matplotlib")


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from smqopt.cli._entry import run; code = run(['--help']); "
        f"print([name for name in {HEAVY} if name in sys.modules], code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] 0"


def test_help_is_quick() -> None:
    def seconds() -> float:
        """Processor time of the child: what the program costs, whatever else the machine is doing."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "smqopt", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)

    assert min(seconds() for _ in range(7)) < 0.15


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str) -> None:
    command = entry.cli.get_command(click.Context(entry.cli), name)
    assert command is not None
    assert command.name == name
    assert command.help is not None
    assert command.help.splitlines()[0] == entry.COMMANDS[name]


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_every_command_has_help(name: str, smqopt: Callable) -> None:
    called = smqopt(name, "--help")
    assert (called.code, called.err) == (0, "")
    assert called.out.startswith(f"Usage: smqopt {name}")


def test_help_lists_every_command(smqopt: Callable) -> None:
    called = smqopt("--help")
    assert called.code == 0
    assert all(f"  {name} " in called.out for name in entry.COMMANDS)


def test_version(smqopt: Callable) -> None:
    called = smqopt("--version")
    assert (called.code, called.out) == (0, f"smqopt, version {importlib.import_module('smqopt').__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Missing command"),
        (("slove",), "did you mean 'solve'?"),
        (("--sed",), "No such option"),
        (("run",), "Missing argument 'MODEL'"),
        (("run", "x.toml"), "Missing option '--out'"),
        (("run", "x.toml", "--out", "y", "--seed", "-1"), "--seed"),
        (("run", "x.toml", "--out", "y", "--seed", "one"), "--seed"),
        (("derive",), "needs either LAW or --cdf"),
        (("derive", "unifrm"), "did you mean 'uniform'?"),
        (("derive", "power", "--param", "k"), "must be NAME=NUMBER"),
        (("derive", "power", "--param", "k=two"), "must be a number (found 'two')"),
        (("derive", "power", "--param", "q=2"), "key 'q'"),
        (("derive", "power", "--param", "k=1", "--param", "k=2"), "gives a parameter twice"),
        (("derive", "uniform", "--low", "2", "--high", "1"), "must exceed low"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], told: str, smqopt: Callable
) -> None:
    called = smqopt(*arguments)
    assert (called.code, called.out) == (2, "")
    assert told in called.error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError, 2),
        (DataMissingError, 2),
        (IrregularLawError, 2),
        (CertificateError, 1),
        (UncertifiedError, 1),
        (SolverError, 1),
    ],
)
def test_exit_codes_of_the_error_family(
    error: type, code: int, smqopt: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise error("here", "a rule\nof two lines", value=3, remedy="a remedy")

    monkeypatch.setattr(importlib.import_module("smqopt.cli.commands._models_command").models, "callback", fail)
    called = smqopt("models")
    assert (called.code, called.error) == (code, "smqopt: error: here: a rule of two lines (found 3); a remedy")


def test_an_unexpected_exception_is_not_swallowed(smqopt: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(importlib.import_module("smqopt.cli.commands._models_command").models, "callback", fail)
    with pytest.raises(ZeroDivisionError):
        smqopt("models")


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package without its extras."""

    class Nothing:
        def find_spec(self, name: str, *_: object) -> None:
            if name.partition(".")[0] in ("jinja2", "markupsafe", "latex2mathml"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    for name in [name for name in sys.modules if name.startswith(("smqopt.cli", "smqopt.report", "smqopt.document"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith(("jinja2", "markupsafe", "latex2mathml"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Nothing(), *sys.meta_path])


@pytest.mark.usefixtures("plain")
def test_without_the_extra_every_help_opens_and_markdown_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    run = importlib.import_module("smqopt.cli._entry").run
    for name in entry.COMMANDS:
        assert run([name, "--help"]) == 0
    assert run(["derive", "uniform"]) == 0
    assert run(["run", "slack-market", "--out", "nowhere"]) == 2
    assert 'pip install "smqopt[report]"' in capsys.readouterr().err


def test_another_missing_module_is_a_fault(smqopt: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ModuleNotFoundError("No module named 'numpy.linalg'", name="numpy.linalg")

    monkeypatch.setattr(importlib.import_module("smqopt.cli.commands._models_command").models, "callback", fail)
    with pytest.raises(ModuleNotFoundError):
        smqopt("models")


def test_main_leaves_with_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        entry.main(["nothing"])
    assert left.value.code == 2
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("solve fr", "plain,frontier-with-coverage"),
        ("explore adult-i", "plain,adult-income-count"),
        ("procure out --model slack", "plain,slack-market"),
        ("derive trunc", "plain,truncated-exponential"),
        ("models par", "plain,parity"),
        ("expl", "plain,explore"),
        ("solve --see", "plain,--seed"),
    ],
)
def test_a_shell_completes_commands_and_models(words: str, completed: str) -> None:
    asked = {
        "_SMQOPT_COMPLETE": "bash_complete",
        "COMP_WORDS": f"smqopt {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    command = [sys.executable, "-m", "smqopt"]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert completed in done.stdout.splitlines()
    plain = [line.removeprefix("plain,") for line in done.stdout.splitlines() if line.startswith("plain,")]
    assert all(one.startswith(words.rsplit(maxsplit=1)[-1]) for one in plain)


@pytest.mark.slow
def test_names_of_files_in_a_locale_of_ascii(small: Path, tmp_path: Path) -> None:
    """A ü in the path of the model, of a table that it names, and of the output."""
    folder = tmp_path / "größe"
    folder.mkdir()
    (folder / "tabellü.csv").write_text("owner,eps,v\nañn,0.5,0.1\nbø,1.0,0.2\n", encoding="utf-8")
    text = small.read_text(encoding="utf-8")
    owners = '[owners]\ntable = "tabellü.csv"\nids = "owner"\nepsilon = "eps"\nreports = "v"\n'
    start, end = text.index("[owners]"), text.index("[valuation]")
    (folder / "modellü.toml").write_text(f'title = "Größe"\n{text[:start]}{owners}\n{text[end:]}', encoding="utf-8")
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}

    def call(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "smqopt", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)

    for command in (
        ["solve", "modellü.toml", "--out", "äus", "--json"],
        ["verify", "äus"],
        ["procure", "äus", "--model", "modellü.toml"],
    ):
        done = call(*command)
        assert done.returncode == 0, done.stderr.decode()
    assert "bø" in (folder / "äus" / "outcome.csv").read_text(encoding="utf-8")
    done = call("solve", "fehlü.toml", "--out", "x", "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, 2)
    assert "fehlü.toml: cannot be read" in done.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "nothing", "--out", "/dev/null/x"),
        ("solve", "nothing", "--out", "/dev/null/x"),
        ("frontier", "nothing", "--out", "/dev/null/x.csv"),
        ("predict", "nothing", "--out", "/dev/null/x.svg"),
        ("explore", "nothing", "--out", "/dev/null/x.html"),
        ("derive", "nothing", "--out", "/dev/null/x.md"),
        ("reproduce", "--out", "/dev/null/x"),
        ("reproduce", "--out", "/dev/null"),
        ("reproduce", "--page", "/dev/null/x.md"),
        ("answer", "nothing", "--query", "count", "--data", "x.csv", "--privacy", "/dev/null/x.csv"),
    ],
)
def test_output_that_cannot_be_written_is_refused_first(arguments: tuple[str, ...], smqopt: Callable) -> None:
    """There is no such model, law or data either: that would be found by the work."""
    called = smqopt(*arguments)
    assert called.code == 2
    assert "/dev/null" in called.error


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve",),
        ("solv", "x"),
        ("solve", "a", "b"),
        ("frontier", "slack-market", "--budgets", "x"),
        ("verify", "nowhere"),
    ],
)
def test_errors_are_json_where_it_is_asked_for(arguments: tuple[str, ...], smqopt: Callable) -> None:
    called = smqopt(*arguments, "--json")
    assert json.loads(called.out) == {"error": called.error.removeprefix("smqopt: error: "), "code": 2}


def test_a_time_limit_ends_with_one_line_and_no_output(tmp_path: Path) -> None:
    """In a process of its own, where it may break off anything, an import too."""
    command = [sys.executable, "-m", "smqopt", "run", "slack-market", "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, "--time-limit", "0.01"], capture_output=True, text=True, check=False)
    said = "smqopt: error: command line: took more than 0.01 s; raise --time-limit, or leave it out"
    assert (done.returncode, done.stderr.split("\n")) == (1, ["", said, ""])  # a new line, as after a key
    assert not (tmp_path / "out").exists()


class Lingering:
    """Takes what is raised while it is taken away with it, as Python does."""

    def __del__(self) -> None:
        while not CLOCK.is_over:
            time.sleep(0.001)
        time.sleep(0.02)


def linger() -> None:
    CLOCK.start(0.01)
    Lingering()
    for _ in range(1000):
        time.sleep(0.01)


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_an_interrupt_that_is_lost_comes_again(handler, request):
    """In the foreground, and as a shell starts what runs in the background."""
    request.addfinalizer(functools.partial(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler)))
    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        linger()
    CLOCK.stop()
    assert sys.unraisablehook is before
    assert signal.getsignal(signal.SIGINT) == handler


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e300", "x"])
def test_a_time_limit_is_a_number_of_seconds(seconds, capsys):
    assert entry.run(["models", "--time-limit", seconds]) == 2
    assert "smqopt: error: " in capsys.readouterr().err


def test_a_time_limit_that_is_not_met_changes_nothing(capsys):
    assert entry.run(["models", "--time-limit", "1000"]) == 0
    assert not CLOCK.is_over
    capsys.readouterr()
