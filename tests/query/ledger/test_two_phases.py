"""A release that fails at any step loses neither the share nor the answer, and never draws noise twice."""

from __future__ import annotations

import errno
import json
import os
import secrets
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import smqopt as smq
from smqopt.query.ledger import _release_record

ENTRIES = [1, 0, 1]


@pytest.fixture(scope="module")
def outcome():
    market = smq.Market([1.0, 0.5, 2.0, 0.7], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
    return smq.procure(smq.verify(smq.solve(market, 9.0)), [0.1, 0.2, 0.9, 2.0])


def answers(path):
    return sorted(path.with_name(f"{path.name}.answers").glob("*.json"))


class Faults:
    """Count the calls that go to disk, and let the k-th fail; `after` a fault the disk stays full or has room again."""

    def __init__(self, monkeypatch, fail_at, *, death=False):
        self.calls, self.fail_at, self.death = 0, fail_at, death
        for module, name in (
            (os, "write"), (os, "fsync"), (os, "open"), (Path, "mkdir"), (Path, "open"), (Path, "replace"),
        ):  # fmt: skip
            monkeypatch.setattr(module, name, self.wrap(getattr(module, name)))
        monkeypatch.setattr(secrets, "randbelow", self.count_draws(secrets.randbelow))
        self.draws = []

    def wrap(self, call):
        def counted(*arguments, **options):
            self.calls += 1
            if self.calls == self.fail_at:
                if self.death:
                    raise KeyboardInterrupt
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*arguments, **options)

        return counted

    def count_draws(self, draw):
        def counted(bound):
            found = draw(bound)
            self.draws.append(found)
            return found

        return counted


def steps_of_a_release(outcome, path):
    with pytest.MonkeyPatch.context() as patch:
        faults = Faults(patch, fail_at=0)
        smq.answer(smq.Count(), ENTRIES, outcome, ledger=smq.Ledger(path), share="1/2")
        return faults.calls


@pytest.mark.parametrize("death", [False, True], ids=["a full disk", "a crash"])
def test_a_fault_at_any_step_loses_nothing(outcome, tmp_path, death):
    """After each fault the same call gives an answer, and one share is spent; what was shown before is shown again."""
    steps = steps_of_a_release(outcome, tmp_path / "counted.txt")
    assert steps > 12
    for step in range(1, steps + 1):
        path = tmp_path / f"ledger-{death}-{step}.txt"
        shown = []
        with pytest.MonkeyPatch.context() as patch:
            Faults(patch, fail_at=step, death=death)
            with pytest.raises((smq.LedgerError, smq.InputError, OSError, KeyboardInterrupt)):
                smq.answer(
                    smq.Count(), ENTRIES, outcome, ledger=smq.Ledger(path), share="1/2",
                    deliver=lambda answer, shown=shown: shown.append(answer.to_dict()),
                )  # fmt: skip
        kept_before = [one.read_bytes() for one in answers(path)]
        if any(charge.confirmed for charge in smq.Ledger(path).charges):  # it died when all was done
            assert [json.dumps(one, indent=2) + "\n" for one in shown] == [one.decode() for one in kept_before]
            continue
        again = smq.answer(smq.Count(), ENTRIES, outcome, ledger=smq.Ledger(path), share="1/2")
        ledger = smq.Ledger(path)
        assert ledger.remaining_share("ann") == Fraction(1, 2), step
        assert [charge.confirmed for charge in ledger.charges] == [True], step
        if shown:  # somebody saw it: the same answer, to the bit
            assert shown == [again.to_dict()]
        if kept_before:
            assert [one.read_bytes() for one in answers(path)] == kept_before
        assert len(answers(path)) == 1
        assert not list(path.with_name(f"{path.name}.answers").glob("*.part"))
        smq.answer(smq.Count(), ENTRIES, outcome, ledger=ledger, share="1/2")  # the other half is there, whole
        assert ledger.remaining_share("ann") == 0


def test_a_delivery_that_fails_is_repeated_with_the_same_answer(outcome, tmp_path):
    path, tried = tmp_path / "ledger.txt", []

    def no_room(answer):
        tried.append(answer.value)
        raise OSError(errno.ENOSPC, "No space left on device")

    for _ in range(3):
        with pytest.raises(OSError, match="No space"):
            smq.answer(smq.Median(0, 10**6), ENTRIES, outcome, ledger=smq.Ledger(path), deliver=no_room)
    delivered = smq.answer(smq.Median(0, 10**6), ENTRIES, outcome, ledger=smq.Ledger(path), deliver=lambda _: None)
    assert {delivered.value} == set(tried)
    assert len(smq.Ledger(path).charges) == 1


def test_groups_are_finished_too(outcome, tmp_path):
    path = tmp_path / "ledger.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smq.Ledger, "confirm", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            smq.answer_by_group(smq.Median(0, 10**9), ENTRIES, outcome, list("abab"), ledger=smq.Ledger(path))
    (kept,) = answers(path)
    record = kept.read_text()
    found = smq.answer_by_group(smq.Median(0, 10**9), ENTRIES, outcome, list("abab"), ledger=smq.Ledger(path))
    assert kept.read_text() == record
    assert all(f'"value": {one.value}' in record for one in found.values())


def test_another_purpose_is_another_charge(outcome, tmp_path):
    path = tmp_path / "ledger.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_release_record.Release, "keep", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            smq.answer(smq.Sum(0, 1), ENTRIES, outcome, ledger=smq.Ledger(path), share="1/4")
    for query, share in ((smq.Count(), "1/4"), (smq.Sum(0, 2), "1/4"), (smq.Sum(0, 1), "1/8")):
        smq.answer(query, ENTRIES, outcome, ledger=smq.Ledger(path), share=share)
    ledger = smq.Ledger(path)
    assert [charge.confirmed for charge in ledger.charges] == [False, True, True, True]
    smq.answer(smq.Sum(0, 1), ENTRIES, outcome, ledger=ledger, share="1/4")
    assert [charge.confirmed for charge in ledger.charges] == [True] * 4


KILLED = """
import os, signal, sys
import smqopt as smq
market = smq.Market([1.0, 0.5, 2.0, 0.7], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy", "di"])
outcome = smq.procure(smq.verify(smq.solve(market, 9.0)), [0.1, 0.2, 0.9, 2.0])
smq.answer(smq.Median(0, 10**9), [1, 0, 1], outcome, ledger=smq.Ledger(sys.argv[1]),
           deliver=lambda answer: (print(answer.value, flush=True), os.kill(os.getpid(), signal.SIGKILL)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal of POSIX")
def test_a_process_that_was_killed_after_it_showed_the_answer(outcome, tmp_path):
    path = tmp_path / "ledger.txt"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    again = smq.answer(smq.Median(0, 10**9), ENTRIES, outcome, ledger=smq.Ledger(path))
    assert str(again.value) == done.stdout.strip()
    assert len(smq.Ledger(path).charges) == 1


def test_repeated_releases_without_a_ledger_are_warned_of(recwarn):
    market = smq.Market([1.0, 0.25], smq.Uniform(0, 1), owner_ids=["warned", "not"])
    outcome = smq.procure(smq.verify(smq.solve(market, 9.0)), [0.1, 0.2])
    for share in ("1/2", "1/4", "1/4"):
        smq.answer(smq.Count(), [1, 0], outcome, share=share)
    assert not recwarn.list
    with pytest.warns(smq.PrivacyWarning, match="1.25 times"):
        smq.answer(smq.Count(), [1, 0], outcome, share="1/4")
    smq.answer(smq.Count(), [1, 0], outcome, np.random.default_rng(1))  # a simulation protects nobody
