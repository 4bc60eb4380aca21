"""Write the made-up tables anew: of the model library, models/tables, and of the tutorial.

Nobody stands behind their rows. All numbers come from one seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from smqopt.files import write_csv

SEED = 2020
"""The seed of all tables."""

_CITIES = ("Oslo", "Bergen", "Tromsø")
_OWNERS = 48
_RESIDENTS, _POSTCODES = 60, 6
_AGES = ("18-39", "40-64", "65+")
_BUYERS = ("hospital", "registry", "both")
_BIDS = 150
_MEMBERS = 400
Rows = list[tuple[object, ...]]


def made_up_tables() -> Iterator[tuple[str, tuple[str, ...], Rows]]:
    """Give each table: the name of its file, its columns, its rows."""
    rng = np.random.default_rng(SEED)
    epsilon = np.round(0.05 + 0.95 * rng.random(_OWNERS) ** 2, 3)
    women, answers = rng.random(_OWNERS) < 0.5, rng.random(_OWNERS) < 0.4
    hours = np.round(60 * rng.random(_OWNERS)).astype(int)
    similarity = np.round(0.2 + 0.8 * rng.random(_OWNERS), 3)
    rows: Rows = [
        (
            f"owner-{i + 1:02}",
            _CITIES[i % len(_CITIES)],
            "f" if women[i] else "m",
            epsilon[i].item(),
            int(answers[i]),
            hours[i].item(),
            similarity[i].item(),
        )
        for i in range(_OWNERS)
    ]
    yield "panel.csv", ("owner", "city", "sex", "epsilon", "answer", "hours", "similarity"), rows
    quotas = [(city, sex, least, "") for city in _CITIES for sex, least in (("f", 3), ("m", 2))]
    yield "quotas.csv", ("city", "sex", "at_least", "share"), [*quotas, ("Oslo | Bergen", "", "", 0.7)]
    bids = np.round(0.2 + 4.8 * rng.beta(2.0, 4.0, _BIDS), 2)
    yield "past-bids.csv", ("auction", "bid"), [(i + 1, bid) for i, bid in enumerate(bids.tolist())]
    names = ("owner", "postcode", "age", "buyer", "epsilon", "answer")
    yield (
        "residents.csv",
        names,
        [
            (
                f"resident-{i + 1:02}",
                f"00{i % _POSTCODES + 10}",
                _AGES[rng.integers(len(_AGES))],
                _BUYERS[rng.choice(len(_BUYERS), p=(0.2, 0.5, 0.3))],
                np.round(0.05 + 0.95 * rng.random() ** 2, 3).item(),
                int(rng.random() < 0.3),
            )
            for i in range(_RESIDENTS)
        ],
    )


def made_up_parts() -> Iterator[tuple[str, dict[str, list[object]]]]:
    """Give each part of a market in Parquet, models/parts: the name of its file, its columns."""
    rng = np.random.default_rng(SEED)
    for part in range(2):
        rows = range(part * _OWNERS // 2, (part + 1) * _OWNERS // 2)
        yield (
            f"part-{part}.parquet",
            {
                "owner": [f"owner-{i + 1:02}" for i in rows],
                "city": [_CITIES[i % len(_CITIES)] for i in rows],
                "epsilon": np.round(0.05 + 0.95 * rng.random(len(rows)) ** 2, 3).tolist(),
                "report": np.round(rng.random(len(rows)), 3).tolist(),
                "entry": (rng.random(len(rows)) < 0.4).astype(int).tolist(),
            },
        )


def write_made_up_parts(folder: Path) -> None:
    """Write all parts; it needs pyarrow."""
    import pyarrow as pa  # noqa: PLC0415 -- comes with an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder.mkdir(exist_ok=True)
    for name, columns in made_up_parts():
        pq.write_table(pa.table(columns), folder / name, compression="none", write_statistics=False, store_schema=False)


def tutorial_tables() -> Iterator[tuple[str, tuple[str, ...], Rows]]:
    """List what the tutorial's broker holds: a panel, then what its owners report and hold."""
    rng = np.random.default_rng(SEED)
    names = [f"owner-{i + 1:03}" for i in range(_MEMBERS)]
    epsilon = rng.choice([0.5, 1.0, 1.5, 2.0], _MEMBERS).tolist()
    reports, entries = (
        np.round(20 * rng.random(_MEMBERS), 2).tolist(),
        (rng.random(_MEMBERS) < 0.3).astype(int).tolist(),
    )
    towns = [_CITIES[i % len(_CITIES)] for i in range(_MEMBERS)]
    yield "panel.csv", ("owner", "town", "epsilon"), list(zip(names, towns, epsilon, strict=True))
    yield "reports.csv", ("owner", "report"), list(zip(names, reports, strict=True))
    yield "entries.csv", ("owner", "data"), list(zip(names, entries, strict=True))


def write_made_up_tables(folder: Path, tables: Iterable[tuple[str, tuple[str, ...], Rows]]) -> None:
    """Write all tables, each whole."""
    for name, header, rows in tables:
        write_csv(folder / name, header, rows)


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    write_made_up_tables(root / "models" / "tables", made_up_tables())
    write_made_up_tables(root / "docs" / "tutorial", tutorial_tables())
    write_made_up_parts(root / "models" / "parts")
