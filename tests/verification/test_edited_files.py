"""Every entry of a certificate file and of its table is edited in turn: what decides or shows anything is refused."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import SmqoptError

DELETED = object()


def leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(node, (dict, list)):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, (*path, key))
    else:
        yield path, node


def edits(value: Any) -> Iterator[Any]:
    yield DELETED
    yield from (other for other in (None, True, "", 7, [value], {"is": value}) if other != value)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value * (1 + 1e-7) + (1e-9 if abs(value) < 1e-3 else 0), -value - 1e-6, str(value), "inf", "nan")
    elif isinstance(value, str):
        yield value + "x"


def put(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    edited = node = copy.deepcopy(content)
    for key in path[:-1]:
        node = node[key]
    if value is DELETED:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return edited


def harmless(content: Any, path: tuple[Any, ...], value: Any) -> bool:
    """Say whether nothing follows from an entry.

    That is what stands under `unchecked`, while it is of its kind.
    """
    if path[0] != "unchecked":
        return False
    return path[1] == "versions" or value not in (DELETED, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    irregular = smq.PiecewiseUniform([0, 1, 2], [1, 4])
    market = smq.Market(
        [0.2, 0.5, 1.0, 1.0],
        smq.ByOwner([smq.Uniform(0, 1), irregular, smq.Power(2), irregular]),
        owner_ids=list("abcd"),
        groups={"city": ["Oslo", "Rome", "Oslo", "Rome"]},
        multiplicity=[1, 2, 1, 1],
    )
    solution = smq.solve(market, 1.3)
    assert solution.lottery is not None
    certificate = smq.verify(solution, against=solution)
    assert certificate.valid, certificate.reasons
    place = tmp_path_factory.mktemp("certified")
    solution.save(place)
    certificate.save(place / "certificate.json")
    return place


def other_numbers(column: str, text: str) -> list[str]:
    """Give a number one unit in the last place away; spend, which follows from two others, a little further."""
    if not text.replace(".", "", 1).isdigit():
        return []
    if column == "multiplicity":
        return [str(int(text) + 1)]
    return [repr(float(text) * 1.001 + 1e-9) if column == "spend" else repr(float(np.nextafter(float(text), 9)))]


def accepted(folder: Path, every: int) -> list[tuple[tuple[Any, ...], Any]]:
    """Give the edits of the certificate that were let through, of one in so many."""
    content = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    faults = [
        (path, new) for path, value in leaves(content) for new in edits(value) if not harmless(content, path, new)
    ]
    assert len(faults) > 1000
    through = []
    for path, new in faults[:: every or 1]:
        edited = folder / "edited.json"
        edited.write_text(json.dumps(put(content, path, new)), encoding="utf-8")
        try:
            smq.Certificate.load(edited, thresholds=folder / "thresholds.csv")
        except SmqoptError:
            continue
        through.append((path, new))
    return through


def test_no_edited_entry_of_a_certificate_is_let_through(folder: Path) -> None:
    assert accepted(folder, every=17) == []


@pytest.mark.exhaustive
def test_no_edited_entry_of_a_certificate_is_let_through_at_length(folder: Path) -> None:
    assert accepted(folder, every=1) == []


def test_no_edited_cell_of_the_table_is_let_through(folder: Path) -> None:
    rows = list(csv.reader((folder / "thresholds.csv").read_text(encoding="utf-8").splitlines()))
    edited = folder / "edited.csv"
    tried = 0
    for line, row in enumerate(rows[1:], 1):
        for column, text in enumerate(row):
            for new in (text + "x", *other_numbers(rows[0][column], text)):
                bent = [list(cells) for cells in rows]
                bent[line][column] = new
                with edited.open("w", newline="", encoding="utf-8") as stream:
                    csv.writer(stream).writerows(bent)
                tried += 1
                with pytest.raises(SmqoptError):
                    smq.Certificate.load(folder / "certificate.json", thresholds=edited)
    assert tried > 60  # lotteries included
