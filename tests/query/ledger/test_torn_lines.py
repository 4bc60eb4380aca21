"""Files that were cut, bent or exchanged: a torn tail never counts less than was released, and damage is never believed."""

from __future__ import annotations

from fractions import Fraction

import pytest

import smqopt as smq
from smqopt.query.ledger._accounts import _torn_share

QUARTER = Fraction(1, 4)


@pytest.fixture
def written(tmp_path):
    """A ledger with two charges to two groups, the last one not confirmed; and its bytes."""
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    ledger.confirm(ledger.charge(["ann", "bo"], [1.0, 0.5], "1/4", {"query": "count"}))
    ledger.confirm(ledger.charge(["bo"], [0.5], "1/8"))
    ledger.charge(["ann", "bo"], [1.0, 0.5], "1/4", {"query": "count"})
    return tmp_path / "ledger.txt", (tmp_path / "ledger.txt").read_bytes()


def readable(tail: bytes) -> bool:
    """Whether a beginning of the last charge says whom it charges and how much."""
    return b'"share":"1/4"' in tail


def test_a_tail_torn_at_any_byte_is_counted_where_it_can_be_read_and_closed(written):
    path, data = written
    start = data[:-1].rindex(b"\n") + 1
    for cut in [*range(start, len(data), 3), len(data) - 1]:
        path.write_bytes(data[:cut])
        left = 1 - QUARTER - (QUARTER if readable(data[start:cut]) else 0)
        assert smq.Ledger(path).remaining_share("ann") == left  # looking changes nothing
        assert path.read_bytes() == data[:cut]
        ledger = smq.Ledger(path)
        assert ledger.remaining_share("ann") == left
        ledger.charge(["ann"], [1.0], "1/16")
        assert path.read_bytes().startswith(data[:cut])  # nothing was erased
        for one in (ledger, smq.Ledger(path)):
            assert one.remaining_share("ann") == left - Fraction(1, 16)
            assert one.remaining_share("bo") == left - Fraction(1, 8)


def test_a_crash_in_the_repair_of_a_crash(written):
    path, data = written
    start = data[:-1].rindex(b"\n") + 1
    for cut in (start + 3, start + 150, len(data) - 1):
        torn = data[:cut]
        path.write_bytes(torn)
        left = 1 - QUARTER - (QUARTER if readable(data[start:cut]) else 0)
        smq.Ledger(path).charge(["cy"], [1.0], 1)
        repaired = path.read_bytes()
        closed = repaired.index(b"\n", cut)
        for again in range(cut, closed + 1, 5):
            path.write_bytes(repaired[:again])
            assert smq.Ledger(path).remaining_share("ann") == left
        for again in range(cut, closed + 1, 13):
            path.write_bytes(repaired[:again])
            smq.Ledger(path).charge(["ann"], [1.0], left)
            assert smq.Ledger(path).remaining_share("ann") == 0


def test_a_torn_beginning_is_begun_anew(written):
    path, data = written
    for cut in range(0, data.index(b"\n") + 1, 3):
        path.write_bytes(data[:cut])
        smq.Ledger(path).charge(["ann"], [1.0], "1/2")
        assert smq.Ledger(path).remaining_share("ann") == Fraction(1, 2)


def test_a_changed_byte_is_seen_wherever_it_is(written):
    path, data = written
    for place in range(0, len(data) - 1, 2):
        bent = bytearray(data)
        bent[place] ^= 1
        path.write_bytes(bent)
        with pytest.raises(smq.LedgerError, match=r"line \d+: is damaged"):
            smq.Ledger(path).remaining_share("ann")
    bent = bytearray(data)
    bent[-1] ^= 1  # the last newline: a torn tail that can be read
    path.write_bytes(bent)
    assert smq.Ledger(path).remaining_share("ann") == 1 - 2 * QUARTER


def test_a_changed_byte_is_seen_in_and_about_a_closed_tail(written):
    path, data = written
    cut = len(data) - 40
    path.write_bytes(data[:cut])
    smq.Ledger(path).charge(["cy"], [1.0], "1/2")
    closed = path.read_bytes()
    for place in range(data[:cut].rindex(b"\n") + 1, closed.index(b"\n", cut)):
        bent = bytearray(closed)
        bent[place] ^= 1
        path.write_bytes(bent)
        with pytest.raises(smq.LedgerError, match=r"line \d+: is damaged"):
            smq.Ledger(path).remaining_share("ann")


def test_nothing_hides_before_a_good_line(written):
    path, data = written
    lines = data.splitlines(keepends=True)
    for k in range(len(lines)):
        path.write_bytes(b"".join([*lines[:k], b"hidden\x18", *lines[k:]]))
        with pytest.raises(smq.LedgerError):
            smq.Ledger(path).remaining_share("ann")


def test_lines_dropped_doubled_or_moved_are_seen(written):
    path, data = written
    lines = data.splitlines(keepends=True)
    for k in range(len(lines) - 1):
        for bent in (
            [*lines[:k], *lines[k + 1 :]],
            [*lines[: k + 1], lines[k], *lines[k + 1 :]],
            [*lines[:k], lines[k + 1], lines[k], *lines[k + 2 :]],
        ):
            path.write_bytes(b"".join(bent))
            with pytest.raises(smq.LedgerError):
                smq.Ledger(path).charge(["ann"], [1.0], "1/100")


def test_a_file_cut_while_it_is_open_is_seen(written):
    path, data = written
    ledger = smq.Ledger(path)
    head = ledger.head
    path.write_bytes(data[: data[:-1].rindex(b"\n") + 1])
    with pytest.raises(smq.LedgerError, match="has lost lines"):
        ledger.remaining_share("ann")
    assert smq.Ledger(path).head != head  # which is how one who kept the head sees it later
    path.unlink()
    with pytest.raises(smq.LedgerError, match="has lost lines"):
        ledger.charge(["ann"], [1.0], "1/100")
    assert not path.exists() or path.read_bytes() == b""


def test_a_file_exchanged_while_it_is_open_is_seen(written):
    path, data = written
    ledger = smq.Ledger(path)
    assert len(ledger.charges) == 3
    beside = path.with_name("beside")
    other = smq.Ledger(beside)
    for _ in range(9):
        other.charge(["ann", "bo"], [1.0, 0.5], "1/100", {"query": "count", "why": "longer"})
    beside.replace(path)
    with pytest.raises(smq.LedgerError, match="was replaced"):
        ledger.remaining_share("ann")
    beside.write_bytes(data)  # the same lines in another file are the same ledger
    beside.replace(path)
    again = smq.Ledger(path)
    again.charge(["ann"], [1.0], "1/100")
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    assert again.remaining_share("ann") == 1 - 2 * QUARTER - Fraction(1, 100)


@pytest.mark.parametrize("content", [b"hello", b"hello\n", b"a,b\n1,2\n", b"\x18", b"\n", b"0" * 70])
def test_another_file_is_not_taken_for_a_ledger(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(smq.LedgerError):
        smq.Ledger(path).charge(["ann"], [1.0])
    assert path.read_bytes() == content


@pytest.mark.parametrize(("share", "spent"), [("1/4", QUARTER), ("1/0", 1), ("1/-4", 1)])
def test_a_torn_share_that_is_no_number_spends_all(share, spent):
    assert _torn_share(share) == spent
