"""Run benchmarks and write what they print into docs/benchmarks.md.

    python docs/generate/benchmarks_page.py             all of PAGES
    python docs/generate/benchmarks_page.py test_solve  one of them, the others as they stand

Seconds are of the machine that ran them; ratios between routes of one run are what to compare.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from marks import fill

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
PAGES = ("test_solve", "test_frontier")
_PROGRESS = re.compile(r"^\.+$|^\.+(?=[A-Za-z])")
_TABLES = re.compile(r"^-+ benchmark", re.MULTILINE)


def printed(name: str) -> str:
    """Run a benchmark, and return the lines that it prints itself."""
    command = [sys.executable, "-m", "pytest", f"tests/benchmarks/{name}.py", "--benchmark-only", "-s", "-q"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 -- our own tests
    told = _TABLES.split(run.stdout)[0].splitlines()
    lines = [line for line in (_PROGRESS.sub("", line).rstrip() for line in told) if line]
    return "```text\n" + "\n".join(lines) + "\n```"


if __name__ == "__main__":
    chosen = sys.argv[1:] or PAGES
    text = fill(PAGE.read_text(encoding="utf-8"), {name: lambda name=name: printed(name) for name in chosen})
    PAGE.write_text(text, encoding="utf-8", newline="\n")
