"""Where things are kept, and that a place that cannot be written to does no harm."""

import sys
from pathlib import Path

import pytest

import smqopt as smq
from smqopt import cache


@pytest.fixture
def bare(monkeypatch):
    monkeypatch.setattr(cache, "_ASKED", {})
    monkeypatch.delenv("SMQOPT_CACHE", raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/smqopt"),
        ("linux", {}, "/home/ann/.cache/smqopt"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "/home/ann/Library/Caches/smqopt"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/smqopt/Cache"),
        ("win32", {}, "/home/ann/AppData/Local/smqopt/Cache"),
    ],
)
def test_places(bare, platform, environment, place):
    bare.setattr(sys, "platform", platform)
    bare.setattr(Path, "home", lambda: Path("/home/ann"))
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        bare.delenv(name, raising=False)
    for name, value in environment.items():
        bare.setenv(name, value)
    assert cache.cache_folder("tables") == Path(place) / "tables"
    bare.setenv("SMQOPT_CACHE", "/elsewhere")
    assert cache.cache_folder("tables") == Path("/elsewhere/tables")
    smq.set_cache("/asked")
    assert cache.cache_folder("tables") == Path("/asked/tables")


def test_switches(bare):
    bare.setenv("SMQOPT_CACHE", "")
    assert cache.cache_folder("tables") is None
    bare.delenv("SMQOPT_CACHE")
    smq.set_cache(None)
    assert cache.cache_folder("tables") is None
    with pytest.raises(smq.InputError, match="must be a path"):
        smq.set_cache(3)
    with pytest.raises(smq.InputError, match="must be a path"):
        smq.set_cache("")


def test_without_a_home_nothing_is_kept(bare):
    def no_home():
        raise RuntimeError("no home")

    bare.setattr(Path, "home", no_home)
    assert cache.cache_folder("tables") is None


def test_a_disk_that_takes_nothing_does_no_harm(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    cache.keep_file(tmp_path / "file" / "entry.table", b"x")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    cache.keep_file(tmp_path / "entry.table", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_oldest_entries_go(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "MOST_FILES", 3)
    for k in range(5):
        path = tmp_path / f"{k}.table"
        cache.keep_file(path, b"x")
        import os

        os.utime(path, (k, k))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.table", "3.table", "4.table"]


OF_EDGES = {
    "samples": lambda last: smq.from_samples([0.1, 0.2, 0.5, 0.9, last]),
    "mixed": lambda last: smq.Mixture([smq.Uniform(0, 3), smq.PiecewiseUniform([0, 0.5, last], [2, 1])], [0.5, 0.5]),
    "cut": lambda last: smq.Truncated(smq.PiecewiseUniform([0, 0.5, last], [2, 1]), 0.25, 1),
}


def derivations_kept(folder):
    return sum(b'"derivation"' in path.read_bytes() for path in folder.rglob("*.json"))


@pytest.mark.parametrize("law", OF_EDGES.values(), ids=OF_EDGES)
def test_no_derivation_of_observed_edges_is_kept_unless_asked(bare, tmp_path, law):
    kept = []
    for observed, last in ((False, 1.3), (True, 1.4)):  # another law each: what is made stays in memory
        smq.set_cache(tmp_path / str(observed), observed=observed)
        smq.derive(law(last))
        kept.append(derivations_kept(tmp_path / str(observed)))
    assert kept[0] == 0 < kept[1]


def test_derivations_in_pieces_are_kept_where_the_law_is_written_down(bare, tmp_path):
    smq.set_cache(tmp_path)
    smq.derive(smq.Truncated(smq.Triangular(0, 0.35, 1.25), 0.1, 0.9))
    assert derivations_kept(tmp_path) > 0


@pytest.mark.parametrize("folder", ["a\0b", "\ud800", 3, "", b"a"])
def test_what_is_no_path_is_refused(bare, folder):
    with pytest.raises(smq.InputError, match="must be a path"):
        smq.set_cache(folder)
    with pytest.raises(smq.InputError, match="must be True or False"):
        smq.set_cache(None, observed="no")
