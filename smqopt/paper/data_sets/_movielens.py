"""The MovieLens 1M data set: 6,040 users, 3,883 films, 1,000,209 ratings.

Source: Harper, F. M. and Konstan, J. A. (2015). The MovieLens Datasets: History and Context. ACM
Transactions on Interactive Intelligent Systems 5(4), Article 19. doi:10.1145/2827872. GroupLens'
terms allow research use with acknowledgement, and forbid to pass the data on, and commercial use,
without permission. The package ships nothing of it, and writes aggregates alone.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from dataclasses import dataclass

import numpy as np

from smqopt.errors import DataMissingError, InputError
from smqopt.model_files import OriginalFile
from smqopt.numeric import Integers

USERS = 6_040
FEMALE = 1_709
FILMS = 3_883
RATINGS = 1_000_209
STARS = (56_174, 107_557, 261_197, 348_971, 226_310)
"""Ratings of 1, 2, 3, 4 and 5 stars, as published."""

_REMEDY = (
    "get ml-1m.zip from GroupLens, https://grouplens.org/datasets/movielens/1m/, and unpack it"
    " (research use with acknowledgement; not to be passed on, no commercial use)"
)
_FOLDERS = ("movielens-1m", "ml-1m")
USERS_FILE = OriginalFile(
    name="users.dat",
    data_set="MovieLens 1M",
    folders=_FOLDERS,
    size=134_368,
    sha256="1dc3a95300cb19f7c10e027daf29b8cdf1d908dab65b5edfb45950aa389a10a3",
    remedy=_REMEDY,
)
FILMS_FILE = OriginalFile(
    name="movies.dat",
    data_set="MovieLens 1M",
    folders=_FOLDERS,
    size=171_308,
    sha256="0140fc2356357c1a851d0f52e893a1e4d3696df632c4141cea8d5bc3d621f0b9",
    remedy=_REMEDY,
)
RATINGS_FILE = OriginalFile("ratings.dat", "MovieLens 1M", _FOLDERS, 32_000_000, None, _REMEDY)
RATINGS_ARRAYS = OriginalFile("ratings.npz", "MovieLens 1M", _FOLDERS, 32_000_000, None, _REMEDY)
"""The same ratings as arrays `user_id`, `movie_id` and `rating` of numpy, where somebody keeps them
so."""
TRIPLES_SHA256 = "9c309bc51d79adeb3a259f89dcfbe1c64792d99cff46ce20eb2fc2846e1ed42e"
"""SHA-256 of the triples (user, film, stars), ascending, as little-endian numbers of two bytes, row
after row."""


@dataclass(frozen=True, eq=False)
class MovieLens:
    """Users in the order of their ids, 1 to 6,040, and their ratings."""

    female: Integers
    """1 where the user is female, else 0; shape (6040,)."""
    age: Integers
    """The code of the age group: 1, 18, 25, 35, 45, 50 or 56; shape (6040,)."""
    occupation: Integers
    """A code from 0 to 20; shape (6040,)."""
    user: Integers
    """Of each rating, the user's id; shape (1000209,)."""
    film: Integers
    """Of each rating, the film's id."""
    stars: Integers
    """Of each rating, the stars, 1 to 5."""


def load_movielens(path: str | os.PathLike[str] | None = None) -> MovieLens:
    """Read MovieLens 1M.

    Parameters
    ----------
    path
        A folder that holds `users.dat`, `movies.dat` and `ratings.dat` (or the ratings as arrays,
        `ratings.npz`), itself or in a folder `movielens-1m` or `ml-1m`. By default the environment
        variable SMQOPT_DATA says.

    Raises
    ------
    DataMissingError
        If a file is missing; says how to get it, and under which terms.
    InputError
        If a file does not hold what GroupLens published.
    """
    users_file, films_file = USERS_FILE.find(path), FILMS_FILE.find(path)
    users = [line.split("::") for line in USERS_FILE.content(users_file).decode("ascii").splitlines() if line]
    films = [line for line in FILMS_FILE.content(films_file).splitlines() if line]
    user, film, stars, where = _ratings(path)
    loaded = MovieLens(
        female=np.array([row[1] == "F" for row in users], dtype=np.int64),
        age=np.array([int(row[2]) for row in users], dtype=np.int64),
        occupation=np.array([int(row[3]) for row in users], dtype=np.int64),
        user=user,
        film=film,
        stars=stars,
    )
    found = (
        len(users),
        int(loaded.female.sum()),
        len(films),
        user.size,
        tuple(np.bincount(stars, minlength=6)[1:].tolist()),
    )
    if found != (USERS, FEMALE, FILMS, RATINGS, STARS):
        raise InputError(
            where,
            f"must hold {USERS} users, {FEMALE} of them female, {FILMS} films and {RATINGS} ratings",
            value=found[:4],
            remedy=_REMEDY,
        )
    return loaded


def _ratings(path: str | os.PathLike[str] | None) -> tuple[Integers, Integers, Integers, str]:
    """Read the three columns, ascending by user and film, from either file."""
    try:
        place = RATINGS_FILE.find(path)
    except DataMissingError as missing:
        try:
            place = RATINGS_ARRAYS.find(path)
        except DataMissingError:
            raise missing from None
        table = _from_arrays(RATINGS_ARRAYS.content(place), str(place))
    else:
        table = _from_text(RATINGS_FILE.content(place), str(place))
    order = np.lexsort((table[1], table[0]))
    user, film, stars = (column[order] for column in table)
    digest = triples_digest(user, film, stars)
    if digest != TRIPLES_SHA256:
        raise InputError(
            str(place),
            f"does not hold the ratings of MovieLens 1M, whose triples have the SHA-256 {TRIPLES_SHA256}",
            value=digest,
            remedy=_REMEDY,
        )
    return user, film, stars, str(place)


def triples_digest(user: Integers, film: Integers, stars: Integers) -> str:
    """Return the SHA-256 of triples as little-endian numbers of two bytes."""
    return hashlib.sha256(np.stack([user, film, stars], axis=1).astype("<u2").tobytes()).hexdigest()


def _from_text(content: bytes, where: str) -> tuple[Integers, Integers, Integers]:
    rows = content.replace(b"::", b" ").split()
    if len(rows) % 4:
        raise InputError(where, "every line must have four fields, apart by '::'", remedy=_REMEDY)
    try:
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    except ValueError as error:
        raise InputError(where, "must hold whole numbers apart by '::'", remedy=_REMEDY) from error
    return table[:, 0], table[:, 1], table[:, 2]


def _from_arrays(content: bytes, where: str) -> tuple[Integers, Integers, Integers]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            user, film, stars = (arrays[name].astype(np.int64) for name in ("user_id", "movie_id", "rating"))
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise InputError(where, "must hold arrays user_id, movie_id and rating", remedy=_REMEDY) from error
    if not user.shape == film.shape == stars.shape == (user.size,):
        raise InputError(where, "must hold three arrays of one length", remedy=_REMEDY)
    return user, film, stars
