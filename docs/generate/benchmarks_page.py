"""Run benchmarks and write what they print into docs/benchmarks.md.

    python docs/generate/benchmarks_page.py             all of tests/benchmarks
    python docs/generate/benchmarks_page.py test_solve  one of them, the others as they stand

Each file takes minutes at most. Those on real data run where SMQOPT_DATA says where it is.
The page is written after each, so that a failure keeps what was before it.
Seconds are of the machine that ran them; ratios between routes of one run are what to compare.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

from marks import fill

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
PAGES = sorted(path.stem for path in (ROOT / "tests" / "benchmarks").glob("test_*.py"))
ON_REAL_DATA = {"test_adult_run", "test_reproduce"}
_PROGRESS = re.compile(r"^\.+$|^\.+(?=[A-Za-z])|\.+$")
_TABLES = re.compile(r"^(?:-+ benchmark|=+ )", re.MULTILINE)
_PASSED = re.compile(r"^(\d+) passed(?:, \d+ [a-z]+)* in ([\d.]+)s", re.MULTILINE)


def machine() -> str:
    """Return the class of this machine, and what the numbers stand on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "cvxpy", "clarabel", "highspy"))
    return f"# {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, {packages}"


def block(output: str) -> str:
    """Return what stands on the page of the output of a benchmark."""
    told = _TABLES.split(output)[0].splitlines()
    lines = [line for line in (_PROGRESS.sub("", line).rstrip() for line in told) if line]
    passed, seconds = _PASSED.findall(output)[-1]
    end = f"# whole: {passed} benchmark{'s' * (passed != '1')} in {float(seconds):.0f} s"
    return "\n".join(["```text", machine(), *lines, end, "```"])


def printed(name: str) -> str:
    """Run a benchmark, and return the lines that it prints itself."""
    command = [sys.executable, "-m", "pytest", f"tests/benchmarks/{name}.py", "--benchmark-only", "-s", "-q", "-m", ""]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 -- our own tests
    if run.returncode:
        sys.exit(f"{name} failed, and its figures stand as they were:\n{run.stdout[-3000:]}{run.stderr}")
    return block(run.stdout)


if __name__ == "__main__":
    chosen = sys.argv[1:] or [name for name in PAGES if name not in ON_REAL_DATA or "SMQOPT_DATA" in os.environ]
    for name in chosen:
        text = fill(PAGE.read_text(encoding="utf-8"), {name: partial(printed, name)})
        PAGE.write_text(text, encoding="utf-8", newline="\n")
