"""Ledgers that are held, read-only, no files, forged with good hashes, or full of odd fractions."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from fractions import Fraction

import pytest

import smqopt as smq
from smqopt.query.ledger._lines import START, hashed_line

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
FIRST = {"kind": "ledger", "format": "smqopt ledger 1"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.txt"


def forged(path, *records):
    head, lines = START, []
    for record in (FIRST, *records):
        line, head = hashed_line(record, head)
        lines.append(line)
    path.write_bytes(b"".join(lines))
    return smq.Ledger(path)


def test_any_number_of_crashes_within_the_first_line(path):
    """Every prefix of the naming line, and of each line that then names it again: 40 pairs of crashes."""
    first = hashed_line(FIRST, START)[0]
    for one, two in itertools.product(range(0, len(first), 17), range(1, 160, 23)):
        path.write_bytes(first[:one])
        smq.Ledger(path).charge(["ann"], [1.0], "1/8")
        whole = path.read_bytes()
        named = whole.index(b'"format"') + 20  # within the line that names the ledger, behind one that closes
        path.write_bytes(whole[: max(named - two, one + 1)])
        third = smq.Ledger(path)
        third.charge(["ann"], [1.0], "1/4")
        assert third.remaining_share("ann") <= Fraction(3, 4)
        assert smq.Ledger(path).owner_ids == ("ann",)
        path.unlink()


def test_a_hundred_and_ten_coprime_denominators(path):
    ledger = smq.Ledger(path)
    primes, n = [], 10**39
    while len(primes) < 110:
        n += 1
        if all(pow(a, n - 1, n) == 1 for a in (2, 3, 5, 7)):
            primes.append(n)
    for prime in primes:
        ledger.charge(["ann"], [1.0], Fraction(1, prime))
    left = 1 - sum((Fraction(1, prime) for prime in primes), Fraction(0))
    assert smq.Ledger(path).remaining_share("ann") == left
    with pytest.raises(smq.LedgerError, match="has about 1 of her requirement left"):
        ledger.charge(["ann"], [1.0], 1)


HOLD = """
import sys, time
from smqopt.query.ledger._locked_file import locked_file
with locked_file(sys.argv[1], write=sys.argv[2] == "write", create=True):
    print("held", flush=True)
    time.sleep(60)
"""


@POSIX
@pytest.mark.parametrize("kind", ["write", "read"])
def test_a_lock_that_is_held_says_by_whom_and_gives_up(path, kind):
    smq.Ledger(path).charge(["ann"], [1.0], "1/2")
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path), kind], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    try:
        ledger = smq.Ledger(path, patience=0.3)
        began = time.monotonic()
        with pytest.raises(smq.LedgerError, match=rf"held by (process {holder.pid}|another process), for 0.3 s"):
            ledger.charge(["ann"], [1.0], "1/2")
        assert 0.2 < time.monotonic() - began < 20
        if kind == "read":
            assert ledger.remaining_share("ann") == Fraction(1, 2)  # readers share
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    ledger.charge(["ann"], [1.0], "1/2")


@POSIX
def test_a_read_only_ledger_can_be_read(path, monkeypatch):
    smq.Ledger(path).charge(["ann"], [1.0], "1/4")
    real = os.open

    def denied(name, flags, *rest, **options):
        if flags & (os.O_RDWR | os.O_WRONLY):
            raise PermissionError(13, "Permission denied")
        return real(name, flags, *rest, **options)

    monkeypatch.setattr(os, "open", denied)  # root may write anything, so that modes do not show it
    ledger = smq.Ledger(path)
    assert ledger.remaining_share("ann") == Fraction(3, 4)
    assert ledger.owner_ids == ("ann",)
    with pytest.raises(smq.InputError, match="cannot be opened"):
        ledger.charge(["ann"], [1.0], "1/4")


@POSIX
@pytest.mark.parametrize("name", ["device", "null", "pipe", "loop", "folder", "nul", "long", "dangling"])
def test_what_is_no_file_is_refused_at_once(tmp_path, name):
    place = tmp_path / "place"
    if name == "pipe":
        os.mkfifo(place)
    elif name == "loop":
        place.symlink_to(tmp_path / "other")
        (tmp_path / "other").symlink_to(place)
    elif name == "folder":
        place.mkdir()
    elif name == "dangling":
        place.symlink_to(tmp_path / "nowhere" / "at all")
    place = {"device": "/dev/zero", "null": "/dev/null", "nul": "led\0ger", "long": "x" * 5000}.get(name, place)
    ledger = smq.Ledger(place)
    with pytest.raises(smq.InputError):
        ledger.charge(["ann"], [1.0], "1/2")
    if name != "dangling":  # that is a ledger which is not there yet
        with pytest.raises(smq.InputError):
            ledger.remaining_share("ann")


GROUP = {"kind": "group", "group": "a" * 64, "owners": ["ann"], "epsilon": [1.0]}
CHARGE = {"kind": "charge", "group": "a" * 64, "share": "1/2", "charge": "b" * 32, "note": {}}
CONFIRM = {"kind": "confirm", "charge": "b" * 32}
TORN = {"kind": "torn", "bytes": 1, "sha256": "0" * 64, "charged": None}
ODD = [None, 3, -1.5, True, [], {}, "", "x", ["a"], [None], {"a": 1}, "1/0", "5/1", 1e400, [1e400], ["ann", "ann"]]


@pytest.mark.parametrize("place", range(4))
def test_a_line_with_a_good_hash_and_bad_keys_gives_an_error_of_the_family(path, place):
    """Each key of each record left out, and put to 16 odd values: 17 forgeries a key, some of them harmless."""
    tried = 0
    good = [GROUP, CHARGE, CONFIRM, {"kind": "group", "group": "c" * 64, "owners": ["bo"], "epsilon": [2]}]
    for key in good[place]:
        for value in (..., *ODD):
            record = dict(good[place])
            if value is ...:
                del record[key]
            else:
                record[key] = value
            ledger = forged(path, *good[:place], record, *good[place + 1 :]) if _writable(record) else None
            if ledger is None:
                continue
            tried += 1
            try:
                left = ledger.remaining_share("ann")
            except smq.SmqoptError:
                continue
            assert left <= 1
    assert tried >= 30


def _writable(record):
    try:
        hashed_line(record, START)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("content", [{"kind": []}, {"kind": {}}, {}, TORN, {"kind": "ledger"}, FIRST])
def test_lines_of_no_kind(path, content):
    with pytest.raises(smq.LedgerError):
        forged(path, GROUP, content).remaining_share("ann")
