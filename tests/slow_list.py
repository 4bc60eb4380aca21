"""Which tests are left to `pytest -m slow` because of what they cost; `tests/slow.txt` lists them.

`python tests/slow_list.py` measures all tests in seconds of processor time and writes the list anew:
of each test its quickest cases stay in the default suite while they take `SECONDS` in all.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("slow.txt")
SECONDS = 0.6
"""What the cases of one test may take in the default suite."""
ALONE = 1.6
"""What a test of one case may take."""
NOTHING = 0.25
"""A case this quick stays, whatever its siblings take."""
ALWAYS = ("tests/house/", "tests/numeric/test_tolerances.py")
"""What no commit may break, whatever it takes."""
HEADER = "# Left to `pytest -m slow`, case by case; `python tests/slow_list.py` measures and writes this anew.\n"


def listed() -> set[str]:
    """Read the list."""
    return {line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}


def mark(items: list[pytest.Item], whole_files: bool) -> None:
    """Mark the listed tests as slow; refuse names that no test has any more."""
    names = listed()
    for item in items:
        if item.nodeid in names:
            item.add_marker(pytest.mark.slow)
    if whole_files:
        tests = {item.nodeid.split("[")[0] for item in items}
        files = {test.split("::")[0] for test in tests}
        stale = {name for name in names if name.split("::")[0] in files} - {item.nodeid for item in items}
        if stale:
            raise pytest.UsageError(f"tests/slow.txt: no such test: {sorted(stale)[:3]}; write the list anew")


def processor_seconds() -> float:
    """Read what this process and its children have used."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def choose(seconds: dict[str, float]) -> list[str]:
    """Choose the cases that are slow: all but the quickest of each test."""
    tests = defaultdict(list)
    for name, time in seconds.items():
        if not name.startswith(ALWAYS):
            tests[name.split("[")[0]].append((time, name))
    slow = []
    for cases in tests.values():
        total = 0.0
        for place, (time, name) in enumerate(sorted(cases)):
            total += time
            alone = len(cases) == 1
            if time > NOTHING and total > (ALONE if alone else SECONDS) and (place or alone):
                slow.append(name)
    return sorted(slow)


class Meter:
    """A plugin that measures each test."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> object:
        """Measure one test with its fixtures."""
        before = processor_seconds()
        result = yield
        self.seconds[item.nodeid] = processor_seconds() - before
        return result


if __name__ == "__main__":
    meter = Meter()
    os.chdir(LIST.parents[1])
    ended = pytest.main(["-q", "-m", "not exhaustive and not realdata"], plugins=[meter])
    if ended != pytest.ExitCode.OK:
        sys.exit("the tests do not pass: the list stays as it is")
    LIST.write_text(HEADER + "".join(f"{name}\n" for name in choose(meter.seconds)), encoding="utf-8")
    subprocess.run(["git", "diff", "--stat", str(LIST)], check=True)
