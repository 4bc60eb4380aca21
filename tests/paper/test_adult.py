"""The Adult data set: the shipped counts, and the original file."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from smqopt.errors import DataMissingError, InputError
from smqopt.files import read_csv
from smqopt.model_files.adult import _adult as adult


def test_rebuilt_entries_are_the_published_ones() -> None:
    entries = adult.embedded_adult()
    assert entries.age.shape == entries.income_over_50k.shape == (32_561,)
    assert entries.income_over_50k.sum() == 7_841
    assert (np.median(entries.age), entries.age.min(), entries.age.max()) == (37, 17, 90)
    assert round(float(entries.age.mean()), 4) == 38.5816


def test_the_order_is_age_then_income() -> None:
    entries = adult.embedded_adult()
    pairs = 2 * entries.age + entries.income_over_50k
    assert np.all(np.diff(pairs) >= 0)


def test_column_by_name() -> None:
    entries = adult.embedded_adult()
    assert [entries.column(name) is getattr(entries, name) for name in adult.COLUMNS] == [True, True]
    with pytest.raises(KeyError):
        entries.column("sex")


def test_counting_the_rebuilt_entries_gives_the_shipped_table(tmp_path: Path) -> None:
    adult.write_counts(adult.embedded_adult(), tmp_path / "counts.csv")
    assert (tmp_path / "counts.csv").read_bytes() == adult.COUNTS_FILE.read_bytes()


def test_pairs_that_do_not_occur_have_no_row() -> None:
    assert "0" not in read_csv(adult.COUNTS_FILE)["count"]


def test_a_damaged_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "counts.csv"
    damaged.write_text(adult.COUNTS_FILE.read_text().replace("17,0,395", "17,0,394"))
    monkeypatch.setattr(adult, "COUNTS_FILE", damaged)
    with pytest.raises(InputError, match="32561 persons"):
        adult.embedded_adult()


def test_without_a_path_or_the_variable_the_error_says_how_to_get_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMQOPT_DATA", raising=False)
    with pytest.raises(DataMissingError, match=r"SMQOPT_DATA is not set; get adult.data .*10\.24432/C5XW20"):
        adult.load_adult()


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=r"no adult.data .*10\.24432/C5XW20"):
        adult.load_adult(tmp_path)


@pytest.mark.parametrize("place", ["adult/adult.data.gz", "adult/adult.data", "adult.data.gz", "adult.data"])
def test_another_file_is_refused_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    content = b"39, State-gov, 77516, Bachelors\n"
    path.write_bytes(gzip.compress(content) if place.endswith("gz") else content)
    monkeypatch.setenv("SMQOPT_DATA", str(tmp_path))
    with pytest.raises(InputError, match="is not the original adult"):
        adult.load_adult()


@pytest.mark.parametrize(
    "content",
    [b"\x1f\x8b", b"\x1f\x8bnot gzip at all", gzip.compress(b"x" * 10_000, mtime=0)[:-9]],
    ids=["two-bytes", "no-gzip", "cut-short"],
)
def test_a_broken_gzip_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "adult.data.gz").write_bytes(content)
    with pytest.raises(InputError, match="is not a whole gzip file"):
        adult.load_adult(tmp_path / "adult.data.gz")


@pytest.mark.realdata
def test_the_shipped_counts_are_those_of_the_original_file(tmp_path: Path) -> None:
    entries = adult.load_adult()
    adult.write_counts(entries, tmp_path / "counts.csv")
    assert (tmp_path / "counts.csv").read_bytes() == adult.COUNTS_FILE.read_bytes()
    assert (int(entries.age[0]), int(entries.income_over_50k[0])) == (39, 0)


@pytest.mark.realdata
def test_plain_and_compressed_files_read_alike(tmp_path: Path) -> None:
    found = adult.ORIGINAL.find(os.environ["SMQOPT_DATA"])
    raw = found.read_bytes()
    plain = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    (tmp_path / "adult.data").write_bytes(plain)
    (tmp_path / "adult.data.gz").write_bytes(gzip.compress(plain))
    first, second = (adult.load_adult(tmp_path / name) for name in ("adult.data", "adult.data.gz"))
    assert np.array_equal(first.age, second.age)
    assert np.array_equal(first.income_over_50k, second.income_over_50k)


@pytest.mark.realdata
def test_one_changed_byte_is_seen(tmp_path: Path) -> None:
    raw = adult.ORIGINAL.content(adult.ORIGINAL.find(os.environ["SMQOPT_DATA"]))
    (tmp_path / "adult.data").write_bytes(raw.replace(b"39, State-gov", b"38, State-gov", 1))
    with pytest.raises(InputError, match="is not the original"):
        adult.load_adult(tmp_path)
