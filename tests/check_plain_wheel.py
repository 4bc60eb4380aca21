"""Check the plain wheel, without extras and away from the clone: `python check_plain_wheel.py`, in a fresh environment.

`.ci/run` calls it, with the two files that it imports beside it. Every help opens, the main job is done and verified, a user's
script is type-checked (by mypy, which is all that is installed besides), and every public record goes through a pickle.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from public_records import check_copies, public_records, unseen
from user_script import check_types

import smqopt as smq
from smqopt.cli._entry import COMMANDS


def call(*arguments: str, code: int = 0) -> str:
    """Call the command line; it must end with the code."""
    done = subprocess.run([sys.executable, "-m", "smqopt", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, (arguments, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stdout


def main() -> None:
    """Check all."""
    assert "site-packages" in smq.__file__, smq.__file__
    os.chdir(tempfile.gettempdir())  # away from the clone, whose package would come first
    for command in COMMANDS:
        assert call(command, "--help").startswith(f"Usage: smqopt {command}")
    assert call("derive", "uniform").startswith("# Derivation")
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out")
        call("solve", "adult-income-count", "--out", out)
        call("verify", out)
        call("procure", out, "--model", "adult-income-count")
        call("answer", out, "--model", "adult-income-count")
        call("verify", out)
        call("run", "adult-income-count", "--out", f"{out}-report", code=2)  # needs the extra 'report'
        call("explore", "slack-market", "--out", f"{out}.html", code=2)  # as well
        check_types(Path(folder))
    records = public_records()
    assert unseen(records) == set()
    for record in records.values():
        check_copies(record)
    print("the plain wheel is whole")


if __name__ == "__main__":
    main()
