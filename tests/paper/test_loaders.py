"""MovieLens and RECS: small forged files by default, the true ones where they are."""

from __future__ import annotations

import gzip
import hashlib
import lzma
from pathlib import Path

import numpy as np
import pytest

from smqopt.errors import DataMissingError, InputError
from smqopt.model_files import OriginalFile
from smqopt.paper import DATA_SETS
from smqopt.paper.data_sets import _movielens as movielens, _recs as recs
from smqopt.paper.data_sets._population import in_order

USERS = "1::F::1::10::48067\n2::M::56::16::70072\n3::M::25::15::55117\n"
FILMS = "1::Toy (1995)::Comedy\n2::Caf\xe9 (1995)::Drama\n".encode("latin-1")
RATINGS = "2::2::4::978300760\n1::2::5::978302109\n1::1::3::978301968\n3::1::1::978300275\n"
TRIPLES = np.array([[1, 1, 3], [1, 2, 5], [2, 2, 4], [3, 1, 1]])


@pytest.fixture
def forged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a tiny MovieLens, and a package that takes it for the original."""
    folder = tmp_path / "ml-1m"
    folder.mkdir()
    (folder / "users.dat").write_text(USERS)
    (folder / "movies.dat").write_bytes(FILMS)
    (folder / "ratings.dat").write_text(RATINGS)
    for name, content in (("USERS_FILE", USERS.encode()), ("FILMS_FILE", FILMS)):
        file = getattr(movielens, name)
        digest = hashlib.sha256(content).hexdigest()
        monkeypatch.setattr(
            movielens, name, OriginalFile(file.name, file.data_set, file.folders, file.size, digest, file.remedy)
        )
    for name, value in (("USERS", 3), ("FEMALE", 1), ("FILMS", 2), ("RATINGS", 4), ("STARS", (1, 0, 1, 1, 1))):
        monkeypatch.setattr(movielens, name, value)
    monkeypatch.setattr(movielens, "TRIPLES_SHA256", movielens.triples_digest(*TRIPLES.T))
    return tmp_path


def test_the_original_layout_is_read(forged: Path) -> None:
    data = movielens.load_movielens(forged)
    assert data.female.tolist() == [1, 0, 0]
    assert data.age.tolist() == [1, 56, 25]
    assert data.occupation.tolist() == [10, 16, 15]
    assert np.stack([data.user, data.film, data.stars], axis=1).tolist() == TRIPLES.tolist()


def test_ratings_as_arrays_are_the_same(forged: Path) -> None:
    text = movielens.load_movielens(forged)
    (forged / "ml-1m" / "ratings.dat").unlink()
    np.savez(
        forged / "ml-1m" / "ratings.npz",
        user_id=TRIPLES[::-1, 0].astype(np.uint16),
        movie_id=TRIPLES[::-1, 1].astype(np.uint16),
        rating=TRIPLES[::-1, 2].astype(np.uint8),
    )
    arrays = movielens.load_movielens(forged)
    for name in ("user", "film", "stars"):
        assert getattr(arrays, name).tolist() == getattr(text, name).tolist()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("users.dat", b"1::F::1::10::48067\n", "is not the original users.dat"),
        ("movies.dat", b"1::Toy::Comedy\n", "is not the original movies.dat"),
        ("ratings.dat", RATINGS.replace("::4::", "::5::").encode(), "does not hold the ratings"),
        ("ratings.dat", b"1::2\n", "four fields"),
        ("ratings.dat", b"1::2::x::4\n", "whole numbers"),
    ],
)
def test_other_content_is_refused(forged: Path, name: str, content: bytes, told: str) -> None:
    (forged / "ml-1m" / name).write_bytes(content)
    with pytest.raises(InputError, match=told) as caught:
        movielens.load_movielens(forged)
    assert "grouplens.org" in str(caught.value)
    assert "no commercial use" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"no arrays", b"PK\x03\x04 cut short"])
def test_broken_arrays_are_refused(forged: Path, content: bytes) -> None:
    (forged / "ml-1m" / "ratings.dat").unlink()
    (forged / "ml-1m" / "ratings.npz").write_bytes(content)
    with pytest.raises(InputError, match="arrays user_id"):
        movielens.load_movielens(forged)


@pytest.mark.parametrize("name", ["users.dat", "movies.dat", "ratings.dat"])
def test_a_missing_file_says_where_to_get_it_and_under_which_terms(forged: Path, name: str) -> None:
    (forged / "ml-1m" / name).unlink()
    with pytest.raises(DataMissingError, match=rf"no {name} .*grouplens\.org.*not to be passed on"):
        movielens.load_movielens(forged)


def test_wrong_counts_are_told(forged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movielens, "FEMALE", 2)
    with pytest.raises(InputError, match="2 of them female"):
        movielens.load_movielens(forged)


TABLE = (
    "DOEID,UR,NKRGALNC,SIZE,KWH\n00001,U,-2,100,18466\n00002,R,5,-8,5148.5\n00003,U,.,300,9999\n00004,U,2,200,10001\n"
)


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny survey, and a package that takes it for the original."""
    original = recs.ORIGINAL
    digest = hashlib.sha256(TABLE.encode()).hexdigest()
    monkeypatch.setattr(
        recs,
        "ORIGINAL",
        OriginalFile(original.name, original.data_set, original.folders, len(TABLE), digest, original.remedy),
    )
    for name, value in (("HOUSEHOLDS", 4), ("COLUMNS", 5), ("ABOVE_10_000", 2), ("MEDIAN_KWH", 10_000)):
        monkeypatch.setattr(recs, name, value)
    return tmp_path


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_the_survey_is_read_plain_and_compressed(survey: Path, suffix: str) -> None:
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix]
    (survey / f"recs2009_public.csv{suffix}").write_bytes(pack(TABLE.encode()))
    households = recs.load_recs(survey)
    assert households.kwh.tolist() == [18466, 5148, 9999, 10001]
    assert [attribute.name for attribute in households.attributes] == ["UR", "NKRGALNC", "SIZE"]
    gallons, size = households.attributes[1:]
    assert np.isnan(gallons.values).tolist() == [True, False, True, False]  # type: ignore[union-attr, call-overload]
    assert np.isnan(size.values).tolist() == [False, True, False, False]  # type: ignore[union-attr, call-overload]


@pytest.mark.parametrize("content", [b"DOEID\n1\n", lzma.compress(b"x" * 999)[:-9]], ids=["another", "cut-short"])
def test_another_survey_is_refused(survey: Path, content: bytes) -> None:
    (survey / "recs2009_public.csv.xz").write_bytes(content)
    with pytest.raises(InputError, match=r"is not the original|is not a whole xz"):
        recs.load_recs(survey)


def test_a_missing_survey_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=r"recs2009_public\.csv.*eia\.gov.*public domain"):
        recs.load_recs(tmp_path)


@pytest.mark.parametrize("table", ["", "DOEID,X\n1,2\n", "DOEID,KWH\n1\n", "DOEID,X,KWH\n1,a,3\n"])
def test_a_table_that_is_no_survey_is_refused(table: str) -> None:
    with pytest.raises(InputError, match=r"KWH|column 'X'"):
        recs.parse(table.encode(), "forged")


def test_a_population_ascends_and_keeps_its_last_row() -> None:
    ones, value = np.array([1, 0, 1, 0]), np.array([7, 3, 9, 5])
    population = in_order("forged", ones, value, (0, 10), ones, np.array([0.25, 0.5, 0.75]))
    assert population.value.tolist() == [3, 5, 7, 9]
    assert population.ones.tolist() == [0, 0, 1, 1]
    assert population.weight.tolist() == [0.5, 0.0, 0.25, 0.75]
    assert population.newcomer == 1
    assert [population.truth(query) for query in ("count", "median", "linear")] == [2.0, 5.0, 1.0]


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("key", "n", "count", "median"),
    [("adult", 32_561, 7_841, 37), ("recs", 12_083, 5_770, 9_623), ("movielens", 6_040, 1_709, 25)],
)
def test_the_true_files(key: str, n: int, count: int, median: int) -> None:
    population = DATA_SETS[key]()
    assert (population.n, population.truth("count"), population.truth("median")) == (n, count, median)
    assert population.low <= population.value[0]
    assert population.value[-1] <= population.high
    assert population.weight.min() >= 0
    assert population.weight.max() <= 1
    assert population.weight[population.newcomer] == 0
