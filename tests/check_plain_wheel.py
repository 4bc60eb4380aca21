"""Check the plain wheel, without extras and away from the clone: `python check_plain_wheel.py`, in a fresh environment.

`.ci/run` calls it. Every help opens, the main job is done and verified, and a market goes through a pickle.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

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
    market = smq.Market([0.2, 0.5], smq.Uniform(0, 1), groups={"city": ["a", "b"]})
    assert pickle.loads(pickle.dumps(market)).fingerprint == market.fingerprint  # noqa: S301 -- its own
    print("the plain wheel is whole")


if __name__ == "__main__":
    main()
