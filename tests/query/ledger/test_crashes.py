"""Eight writers at once, killed at random moments: nobody's requirement is ever exceeded by what was released."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import smqopt as smq

PROGRAM = Path(__file__).with_name("crash_writers.py")


def released_after(folder, kills, seed, order="charge-first"):
    """Run the writers until all is spent; give what each owner's releases come to."""
    done = subprocess.run(
        [sys.executable, PROGRAM, folder, str(kills), str(seed), order],
        timeout=400,
        check=False,
        capture_output=True,
        text=True,
    )
    spent = Counter()
    for line in (folder / "released.txt").read_text().splitlines():
        share, *owners = line.split(",")
        for name in owners:
            spent[name] += Fraction(share)
    return spent, done


def never_an_over_release(folder, kills, seed):
    spent, done = released_after(folder, kills, seed)
    assert (done.returncode, done.stderr) == (0, "")
    ledger = smq.Ledger(folder / "ledger.txt")
    assert len(spent) == 12
    for name, total in spent.items():
        assert total <= 1 - ledger.remaining_share(name)  # the ledger never counts less than was released
        assert 0 <= ledger.remaining_share(name) < Fraction(1, 5)  # and most was spent in the end
        assert total <= 1
    confirmed = sum(charge.confirmed for charge in ledger.charges)
    releases = len((folder / "released.txt").read_text().splitlines())
    assert confirmed <= releases <= len(ledger.charges)
    return len(ledger.charges) - confirmed


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal of POSIX")
def test_twenty_kills_among_eight_writers(tmp_path):
    never_an_over_release(tmp_path, kills=20, seed=1)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal of POSIX")
def test_two_hundred_kills_among_eight_writers(tmp_path):
    assert never_an_over_release(tmp_path, kills=200, seed=2) > 0  # some died between charge and confirmation


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal of POSIX")
def test_the_test_sees_a_ledger_that_charges_after_the_release(tmp_path):
    spent, _ = released_after(tmp_path, kills=20, seed=3, order="release-first")
    assert max(spent.values()) > 1
