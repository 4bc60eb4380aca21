"""Tables on disk: read back to the bit, and not used where they are damaged, stale or of another law."""

import hashlib
import importlib.metadata
import json

import numpy as np
import pytest

import smqopt as smq
from smqopt import cache
from smqopt.valuation.table import _kept_tables as kept
from smqopt.valuation.table._proved_table import COLUMNS, tabulate_law


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_ASKED", {})
    monkeypatch.setenv("SMQOPT_CACHE", str(tmp_path))
    return tmp_path / "tables"


@pytest.fixture
def made(monkeypatch):
    """The laws whose tables were made."""
    laws = []
    monkeypatch.setattr(kept, "tabulate_law", lambda law: (laws.append(law), tabulate_law(law))[1])
    return laws


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


LAWS = {
    "beta": lambda: smq.Beta(2, 3),
    "copula free text": lambda: smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1),
    "mixture": lambda: smq.Mixture([smq.Uniform(0, 1), smq.Beta(8, 2)], [1, 1]),
    "truncated, in cents": lambda: smq.Truncated(smq.Normal(1, 1, 0, 3), 0.5, 2).rescale(100),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_second_run_makes_none(place, made, name):
    first, again = kept.find_or_make_table(LAWS[name]()), kept.find_or_make_table(LAWS[name]())
    assert len(made) == 1
    assert same(first, again)
    assert first.digest == again.digest


def test_another_law_has_another_entry(place, made):
    tables = [kept.find_or_make_table(smq.Beta(2, b)) for b in (3, np.nextafter(3, 4))]
    assert len(made) == len(list(place.iterdir())) == 2
    assert not same(*tables)


def resealed(content):
    return hashlib.sha256(content).hexdigest().encode() + content


def told_of(content, **changes):
    """An entry that says it is of another law or of other sources."""
    about, _, numbers = content[64:].partition(b"\n")
    return resealed(json.dumps(json.loads(about) | changes, sort_keys=True).encode() + b"\n" + numbers)


def with_numbers(change):
    """An entry of the law with other numbers."""

    def changed(content):
        about, _, numbers = content[64:].partition(b"\n")
        return resealed(about + b"\n" + change(np.frombuffer(numbers).copy()).tobytes())

    return changed


def at(place, value):
    return with_numbers(lambda numbers: np.concatenate([numbers[:place], [value], numbers[place + 1 :]]))


DAMAGE = {
    "empty": lambda _: b"",
    "cut off": lambda content: content[:-1],
    "a bit": lambda content: content[:-900] + bytes([content[-900] ^ 1]) + content[-899:],
    "its hash": lambda content: b"0" + content[1:],
    "not an archive": lambda _: resealed(b"smqopt"),
    "nothing, sealed": lambda _: resealed(b""),
    "no numbers": with_numbers(lambda numbers: numbers[:0]),
    "one number": with_numbers(lambda numbers: numbers[:1]),
    "half a number": lambda content: resealed(content[64:-3]),
    "numbers cut off": with_numbers(lambda numbers: numbers[:-1]),
    "numbers too many": with_numbers(lambda numbers: np.append(numbers, 0.0)),
    **{f"cells: {count}": at(0, count) for count in (0.0, -1.0, 1.5, np.nan, np.inf, 1e300, 1.0)},
    **{f"knots: {count}": at(1, count) for count in (0.0, -1.0, 1.5, np.nan, np.inf, 1e300)},
    "no edge": at(2, np.nan),
    "an edge out of its place": at(3, 2.0),
    "no coefficient": with_numbers(
        lambda numbers: np.where(np.arange(numbers.size) == 2 * numbers[0] + 8, np.inf, numbers)
    ),
    "cells the other way": with_numbers(lambda numbers: np.concatenate([numbers[:2], numbers[2:][::-1]])),
    "of another law": lambda content: told_of(content, law=smq.Beta(2, 4).to_dict()),
    "stale": lambda content: told_of(content, **{"made by": "0" * 64}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_are_made_anew(place, made, damage):
    first = kept.find_or_make_table(smq.Beta(2, 3))
    (entry,) = place.iterdir()
    good = entry.read_bytes()
    entry.write_bytes(DAMAGE[damage](good))
    with pytest.warns(RuntimeWarning, match="damaged or changed"):
        assert same(first, kept.find_or_make_table(smq.Beta(2, 3)))
    assert len(made) == 2
    assert entry.read_bytes()[:64] == hashlib.sha256(entry.read_bytes()[64:]).hexdigest().encode()
    kept.find_or_make_table(smq.Beta(2, 3))
    assert len(made) == 2
    entry.write_bytes(b"")
    kept.find_or_make_table(smq.Beta(2, 3))  # which is said once
    assert len(made) == 3


class Impostor(smq.Valuation):
    """A law from outside whose data are those of another."""

    low, high = 0.0, 1.0

    def _cdf(self, theta):
        return theta

    def _pdf(self, theta):
        return np.ones_like(theta)

    def _to_dict(self):
        return smq.Beta(2, 3).to_dict()


@pytest.mark.parametrize("around", [lambda law: law, lambda law: smq.Mixture([law, smq.Uniform(0, 1)], [1, 1])])
def test_a_law_from_outside_is_not_taken_for_ours(place, around):
    assert not isinstance(kept.find_or_make_table(around(smq.Beta(2, 3))), str)
    assert "outside the package" in kept.find_or_make_table(around(Impostor()))


def test_libraries_that_do_not_tell_their_version(place, made, monkeypatch):
    def no_version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    cache.hash_of_sources.cache_clear()
    monkeypatch.setattr(importlib.metadata, "version", no_version)
    for _ in range(2):
        assert not isinstance(kept.find_or_make_table(smq.Beta(2, 3)), str)
    assert len(made) == 2
    assert not place.exists()
    cache.hash_of_sources.cache_clear()


VALUES = np.array([0.1, 0.2, 0.2, 0.5, 0.9, 1.3])
OBSERVED = {
    "from_samples": lambda: smq.from_samples(VALUES),
    "its histogram": lambda: smq.from_samples(VALUES).law,
    "inside a mixture": lambda: smq.Mixture([smq.from_samples(VALUES), smq.Uniform(0, 1)], [1, 1]),
    "truncated": lambda: smq.Truncated(smq.from_samples(VALUES), 0.2, 0.8),
    "in cents": lambda: smq.Mixture([smq.from_samples(VALUES).law, smq.Beta(2, 3)], [1, 1]).rescale(100),
}


@pytest.mark.parametrize("name", OBSERVED)
def test_observed_valuations_are_not_kept_unless_asked(place, name):
    law = OBSERVED[name]()
    kept.find_or_make_table(law)
    assert not place.exists()
    smq.set_cache(place.parent, observed=True)
    is_made = not isinstance(kept.find_or_make_table(law), str)
    assert place.exists() == is_made


def test_no_cache(place, made, monkeypatch):
    monkeypatch.setenv("SMQOPT_CACHE", "")
    kept.find_or_make_table(smq.Beta(2, 3))
    kept.find_or_make_table(smq.Beta(2, 3))
    assert len(made) == 2
    assert not place.exists()


def test_a_certificate_is_the_same_from_disk(place, made):
    epsilon = np.random.default_rng(1).random(5000)
    found = [smq.verify(smq.solve(smq.Market(epsilon, smq.Beta(2, 3)), 500)).to_dict() for _ in range(2)]
    assert len(made) == 1
    assert found[0] == found[1]
