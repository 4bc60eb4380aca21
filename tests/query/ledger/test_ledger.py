"""The ledger's rules: what is refused, what is counted, what a second reader sees, and what stands in the file."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.query import checked_share
from smqopt.query.ledger._locked_file import locked_file
from smqopt.query.ledger._shares import part_of

THIRD = Fraction(1, 3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.txt"


def test_three_thirds_are_all_and_a_fourth_is_refused(path):
    ledger = smq.Ledger(path)
    for _ in range(3):
        ledger.confirm(ledger.charge(["ann", "bo"], [0.3, 1.0], "1/3"))
    assert ledger.remaining_share("ann") == 0
    before = path.read_bytes()
    with pytest.raises(smq.LedgerError, match=r"owner 'ann': has nothing of her requirement left, .* spend 1/1000000"):
        ledger.charge(["ann", "bo"], [0.3, 1.0], "0.000001")
    assert path.read_bytes() == before


def test_ten_tenths_as_text_fit_and_as_doubles_do_not(path):
    ledger = smq.Ledger(path)
    for _ in range(10):
        ledger.charge(["ann"], [1.0], "0.1")
    assert ledger.remaining("ann") == 0
    for _ in range(9):
        ledger.charge(["bo"], [1.0], 0.1)
    with pytest.raises(smq.LedgerError, match="owner 'bo'"):  # the double 0.1 is more than a tenth
        ledger.charge(["bo"], [1.0], 0.1)


def test_the_one_who_has_too_little_is_named(path):
    ledger = smq.Ledger(path)
    ledger.charge(["bo"], [1.0], "3/4")
    with pytest.raises(smq.LedgerError, match=r"owner 'bo': has 1/4 of her requirement left, .* spend 1/3"):
        ledger.charge(["ann", "bo", "cy"], [1.0, 1.0, 1.0], "1/3")
    assert ledger.remaining_share("ann") == 1
    ledger.charge(["ann", "bo", "cy"], [1.0, 1.0, 1.0], "1/4")
    assert ledger.remaining_share("bo") == 0
    assert ledger.remaining_share("cy") == Fraction(3, 4)


def test_an_unconfirmed_charge_counts(path):
    smq.Ledger(path).charge(["ann"], [1.0], 1)
    again = smq.Ledger(path)
    assert [charge.confirmed for charge in again.charges] == [False]
    with pytest.raises(smq.LedgerError):
        again.charge(["ann"], [1.0], "1/100")


def test_an_owner_has_one_requirement(path):
    ledger = smq.Ledger(path)
    ledger.charge(["ann"], [0.5], "1/4")
    with pytest.raises(smq.InputError, match=r"owner 'ann': has the requirement 0\.5 in the ledger"):
        ledger.charge(["bo", "ann"], [0.5, 0.7], "1/4")
    assert ledger.owner_ids == ("ann",)
    assert ledger.remaining("ann") == Fraction(3, 8)


def test_two_readers_of_one_file_see_each_other(path):
    one, two = smq.Ledger(path), smq.Ledger(path)
    charge = one.charge(["ann"], [1.0], "1/2", {"query": "median", "low": 0})
    assert two.remaining_share("ann") == Fraction(1, 2)
    two.confirm(charge)
    assert one.charges[0].confirmed
    assert one.charges[0].note == {"query": "median", "low": 0}
    assert one.head == two.head != charge.head
    with pytest.raises(smq.InputError, match="is confirmed already"):
        one.confirm(charge)
    other = smq.Ledger(path.with_name("other.txt"))
    with pytest.raises(smq.InputError, match="is not in this ledger"):
        other.confirm(charge)
    assert not other.path.exists()


def test_a_charge_is_synced_before_it_comes_back(path, monkeypatch):
    """Every write is followed by a sync of the same file before the next one, and the last one before the charge is given."""
    calls = []
    write, sync = os.write, os.fsync

    def written(descriptor, data):
        calls.append("write")
        return write(descriptor, data)

    def synced(descriptor):
        calls.append("sync of a folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync")
        return sync(descriptor)

    monkeypatch.setattr(os, "write", written)
    monkeypatch.setattr(os, "fsync", synced)
    charge = smq.Ledger(path).charge(["ann"], [1.0], "1/2")
    assert calls == ["write", "sync", "sync of a folder", "write", "sync", "write", "sync"]
    smq.Ledger(path).confirm(charge)
    assert calls[-2:] == ["write", "sync"]


def test_a_disk_that_is_full_releases_nothing_and_and_loses_no_share(path, monkeypatch):
    ledger = smq.Ledger(path)
    ledger.charge(["ann"], [1.0], "1/2")
    write = os.write

    def full(descriptor, data):
        write(descriptor, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(smq.LedgerError, match="No space"):
        ledger.charge(["ann"], [1.0], "1/4")
    monkeypatch.undo()
    assert ledger.remaining_share("ann") == Fraction(1, 2)
    ledger.charge(["ann"], [1.0], ledger.remaining_share("ann"))
    assert smq.Ledger(path).remaining_share("ann") == 0


def test_a_file_replaced_while_a_writer_waits_is_not_written_to(path):
    """The waiter gets the lock of the old file, sees that the name is another file's now, and writes there."""
    smq.Ledger(path).charge(["ann"], [1.0], "1/4")
    waiter = threading.Thread(target=lambda: smq.Ledger(path).charge(["ann"], [1.0], "1/2"))
    with locked_file(path, write=True) as old:
        waiter.start()
        time.sleep(0.2)
        beside = path.with_name("beside")
        beside.write_bytes(path.read_bytes())
        beside.replace(path)
        size = old.size
    waiter.join()
    assert smq.Ledger(path).remaining_share("ann") == Fraction(1, 4)
    assert size < path.stat().st_size


def test_nothing_is_made_by_looking(path):
    ledger = smq.Ledger(path)
    assert (ledger.charges, ledger.owner_ids, ledger.remaining_share("ann")) == ((), (), 1)
    with pytest.raises(smq.InputError, match="has no account"):
        ledger.remaining("ann")
    assert not path.exists()


def test_threads_on_one_ledger_do_not_exceed(path):
    ledger = smq.Ledger(path)
    done = []

    def work():
        for _ in range(5):
            try:
                done.append(ledger.charge(["ann"], [1.0], "1/16"))
            except smq.LedgerError:
                return

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 16
    assert smq.Ledger(path).remaining_share("ann") == 0


def test_the_file_holds_ids_requirements_shares_and_notes_alone(path):
    ledger = smq.Ledger(path)
    ledger.confirm(ledger.charge(["ann", "bö"], [0.1, 2.0], "1/3", {"query": "count"}))
    records = [json.loads(line.split(" ", 1)[1]) for line in path.read_text(encoding="ascii").splitlines()]
    assert [record["kind"] for record in records] == ["ledger", "group", "charge", "confirm"]
    assert set().union(*records) == {"kind", "format", "group", "owners", "epsilon", "share", "charge", "note"}
    assert records[1]["owners"] == ["ann", "bö"]
    assert [entry.name for entry in path.parent.iterdir()] == ["ledger.txt"]


BAD = {
    "no owners": ([], [], 1, "not empty"),
    "shapes": (["a"], [1.0, 2.0], 1, "must have shape"),
    "twice": (["a", "b", "a"], [1.0, 1.0, 1.0], 1, "repeats an owner .found 'a'"),
    "negative": (["a"], [-1.0], 1, "owner 'a': must be a finite"),
    "nan": (["a"], [float("nan")], 1, "owner 'a': must be a finite"),
    "zero share": (["a"], [1.0], 0, "above 0 and be at most 1"),
    "more than all": (["a"], [1.0], "4/3", "above 0 and be at most 1"),
    "nan share": (["a"], [1.0], float("nan"), "must be a share"),
    "infinite share": (["a"], [1.0], float("inf"), "must be a share"),
    "no share": (["a"], [1.0], "much", "short fraction"),
    "an exponent": (["a"], [1.0], "1e-999999999", "short fraction"),
    "other digits": (["a"], [1.0], "1/٣", "short fraction"),
    "less than nothing": (["a"], [1.0], "-1/3", "short fraction"),
    "a line more": (["a"], [1.0], "1/3\n", "short fraction"),
    "a truth": (["a"], [1.0], True, "must be a share"),
    "over zero": (["a"], [1.0], "1/0", "must be a share"),
    "endless": (["a"], [1.0], "0." + "3" * 200, "short fraction"),
    "long": (["a"], [1.0], Fraction(1, 10**50), "fewer than 40 digits"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_charges_are_refused_and_leave_no_file(path, name):
    owners, epsilon, share, told = BAD[name]
    with pytest.raises(smq.InputError, match=told):
        smq.Ledger(path).charge(owners, epsilon, share)
    assert not path.exists()


def test_a_note_is_plain(path):
    for note in ({"a": [1]}, {"a": float("nan")}, {1: "a"}):
        with pytest.raises(smq.InputError, match="note"):
            smq.Ledger(path).charge(["a"], [1.0], 1, note)


def test_a_path_that_cannot_be(tmp_path):
    with pytest.raises(smq.InputError, match="cannot be made"):
        smq.Ledger(tmp_path / "no" / "ledger.txt").charge(["a"], [1.0])
    with pytest.raises(smq.InputError, match="cannot be opened"):
        smq.Ledger(tmp_path).charge(["a"], [1.0])


@settings(max_examples=60)
@given(epsilon=st.lists(st.floats(0, 1e300), min_size=1, max_size=5), share=st.fractions(Fraction(1, 10**9), 1))
def test_a_part_is_never_more_and_hardly_less(epsilon, share):
    if share == 0:
        return
    part = part_of(np.array(epsilon), share)
    for whole, some in zip(epsilon, part.tolist(), strict=True):
        exact = Fraction(whole) * share
        assert Fraction(some) <= exact
        assert Fraction(some) >= exact * (1 - Fraction(3, 2**52)) - Fraction(1, 2**1073)


def test_parts_of_many_doubles_by_many_thirds_and_sevenths():
    """A float that is a little more than its fraction must not lift the part above it: 9/31 of 0.804 does, if it is not lowered."""
    epsilon = np.append(np.random.default_rng(0).random(40), 0.8039918210590137)
    for q in (3, 7, 31, 87, 97, 1001, 3989):
        for p in (1, 9, q - 1):
            share = Fraction(p, q) if p < q else Fraction(1)
            parts = part_of(epsilon, share)
            assert all(
                Fraction(a) <= Fraction(e) * share for a, e in zip(parts.tolist(), epsilon.tolist(), strict=True)
            )


@settings(max_examples=25)
@given(
    charges=st.lists(
        st.tuples(st.sets(st.integers(0, 4), min_size=1), st.fractions(Fraction(1, 50), 1, max_denominator=60)),
        max_size=12,
    )
)
def test_accounts_are_those_of_plain_sums(tmp_path_factory, charges):
    """Against a dictionary of fractions: the same charges pass, and the same is left."""
    ledger = smq.Ledger(tmp_path_factory.mktemp("sums") / "ledger.txt")
    spent = dict.fromkeys(range(5), Fraction(0))
    for owners, share in charges:
        names = [str(i) for i in sorted(owners)]
        fits = all(spent[i] + share <= 1 for i in owners)
        if fits:
            ledger.charge(names, [0.5] * len(names), share)
            for i in owners:
                spent[i] += share
        else:
            with pytest.raises(smq.LedgerError):
                ledger.charge(names, [0.5] * len(names), share)
    reopened = smq.Ledger(ledger.path)
    assert [reopened.remaining_share(str(i)) for i in range(5)] == [1 - spent[i] for i in range(5)]


def test_denominators_beyond_64_bits_stay_exact(path):
    ledger = smq.Ledger(path)
    primes = [1_000_003, 1_000_033, 1_000_037, 1_000_039]
    for prime in primes:
        ledger.charge(["ann"], [1.0], Fraction(1, prime))
    left = 1 - sum(Fraction(1, prime) for prime in primes)
    assert ledger.remaining_share("ann") == left
    ledger.charge(["ann"], [1.0], left)
    assert ledger.remaining_share("ann") == 0


def test_shares():
    assert smq.equal_shares(4) == (Fraction(1, 4),) * 4
    assert sum(smq.equal_shares(7)) == 1
    for bad in (0, -1, 1.5, True):
        with pytest.raises(smq.InputError):
            smq.equal_shares(bad)
    assert smq.given_shares([0.5, "0.3", "1/5"]) == (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
    for bad in ([], ["1/2", "1/2", "1/1000"], [0.1] * 10, ["x"]):
        with pytest.raises(smq.InputError):
            smq.given_shares(bad)
    assert checked_share(np.float64(0.25)) == checked_share(np.float32(0.25)) == Fraction(1, 4)
    assert checked_share(np.int64(1)) == 1
