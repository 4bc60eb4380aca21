"""A program for the crash test: eight writers on one ledger, killed at random moments and started again.

    python crash_writers.py FOLDER KILLS SEED ORDER

A writer charges, releases (a line in `released.txt`, which is what the world has seen), and confirms. ORDER is "charge-first" as the ledger asks, or
"release-first", the mistake that the test has to see.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

from smqopt.errors import LedgerError
from smqopt.query import Ledger

WRITERS = 8
OWNERS = {f"owner {i}": (i + 1) / 8 for i in range(12)}
SHARES = ("1/80", "3/160", "1/97", "0.02")
REFUSALS = 200
"""After so many a writer ends: few of those who have something left are missed by as many random draws."""


def write(folder: Path, seed: int, order: str) -> None:
    rng = random.Random(seed)  # noqa: S311 -- a test
    ledger = Ledger(folder / "ledger.txt")
    released = os.open(folder / "released.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    refused = 0
    while refused < REFUSALS:
        owners = rng.sample(sorted(OWNERS), rng.randint(1, 3))
        share = rng.choice(SHARES)
        epsilon = [OWNERS[name] for name in owners]
        line = f"{share},{','.join(owners)}\n".encode()
        try:
            if order == "release-first":
                if any(ledger.remaining_share(name) < Fraction(share) for name in owners):
                    refused += 1
                    continue
                os.write(released, line)
                ledger.charge(owners, epsilon, share)
            else:
                charge = ledger.charge(owners, epsilon, share, {"query": "count"})
                os.write(released, line)
                ledger.confirm(charge)
        except LedgerError:
            refused += 1
    os._exit(0)


def start(folder: Path, seed: int, order: str) -> int:
    child = os.fork()
    if child == 0:
        try:
            write(folder, seed, order)
        finally:
            os._exit(3)
    return child


def main() -> None:
    folder, kills, seed, order = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    rng = random.Random(seed)  # noqa: S311 -- a test
    number = 0
    running = []
    while len(running) < WRITERS:
        running.append(start(folder, seed * 100_000 + (number := number + 1), order))
    for _ in range(kills):
        time.sleep(rng.random() * 0.02)
        victim = running.pop(rng.randrange(WRITERS))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        running.append(start(folder, seed * 100_000 + (number := number + 1), order))
    failed = 0
    for child in running:
        _, status = os.waitpid(child, 0)
        failed += os.waitstatus_to_exitcode(status) != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
