"""What is wrong with a folder of owners is found by the first pass, with file, row group and row."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smqopt as smq
from smqopt.scale.parts import _row_groups

NUMBERS = itertools.count()
GOOD = {"epsilon": [0.5, 1.0, 0.25, 2.0], "id": ["a", "b", "c", "d"], "city": ["x", "y", "x", "y"]}


def solve(folder, client, law=None, **options):
    given = {"owner_id": "id", **options}
    out = folder.parent / f"out{next(NUMBERS)}"
    return smq.solve(smq.ParquetMarket(folder, law or smq.Uniform(0, 1), **given), 0.5, client=client, out=out)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, -np.inf, None])
def test_bad_requirements_are_named_by_file_row_group_and_row(write, client, value):
    folder = write(GOOD, parts=2)
    table = pa.table({"epsilon": pa.array([1.0, 1.0, value], from_pandas=False), "id": ["e", "f", "g"]})
    pq.write_table(table, folder / "part-001.parquet", row_group_size=2)
    with pytest.raises(smq.InputError, match=r"part-001\.parquet, row group 2, row 1: column 'epsilon'"):
        solve(folder, client)


def test_minus_zero_is_zero(write, client):
    assert solve(write(GOOD | {"epsilon": [-0.0, 1.0, 1.0, 1.0]}), client).parts[0].rows == 4


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"epsilom": [1.0], "id": ["a"]}, {}, "column 'epsilon': is missing; did you mean 'epsilom'"),
        ({"epsilon": ["1"], "id": ["a"]}, {}, "column 'epsilon': must hold numbers"),
        ({"epsilon": [True], "id": ["a"]}, {}, "column 'epsilon': must hold numbers"),
        ({"epsilon": [1.0], "id": [0.5]}, {}, "column 'id': must hold text or whole numbers"),
        (
            {"epsilon": [1.0], "id": np.array([2**63], np.uint64)},
            {},
            "column 'id': must hold text, or whole numbers below",
        ),
        ({"epsilon": [1.0], "id": ["a"]}, {"groups": ["city"]}, "column 'city': is missing"),
    ],
)
def test_bad_columns_are_named(write, client, columns, options, said):
    with pytest.raises(smq.InputError, match=said):
        solve(write(columns), client, **options)


@pytest.mark.parametrize("ids", [["a", "b", "a", "c"], ["a", "b", "c", "c"], [3, 1, 2, 3], ["", "a", "b", ""]])
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_an_id_that_stands_twice_is_found_in_whichever_parts(write, client, ids, parts):
    folder = write({"epsilon": np.ones(4), "id": ids}, parts)
    with pytest.raises(smq.InputError, match=r"row \d: column 'id': repeats the id of .*part-00\d.parquet, row group"):
        solve(folder, client)


def test_ids_are_of_one_kind_in_all_parts(write, client, tmp_path):
    owners = write({"epsilon": [1.0, 2.0], "id": [1, 2]})
    pq.write_table(pa.table({"epsilon": [1.0], "id": ["1"]}), owners / "part-001.parquet")
    with pytest.raises(smq.InputError, match=r"part-001.*must hold ids as part-000.parquet does: whole numbers"):
        smq.solve(smq.ParquetMarket(owners, smq.Uniform(0, 1), owner_id="id"), 1.0, client=client)


def test_results_go_into_a_folder_of_their_own(write, client, tmp_path):
    market = smq.ParquetMarket(write({"epsilon": [1.0]}), smq.Uniform(0, 1))
    (tmp_path / "file").write_text("")
    for out, said in ((tmp_path / "owners" / "out", "outside the owners' folder"), (tmp_path / "file", "be a folder")):
        with pytest.raises(smq.InputError, match=said):
            smq.solve(market, 1.0, client=client, out=out)
    for out in (3, ""):
        with pytest.raises(smq.InputError, match="'out': must be a path"):
            smq.solve(market, 1.0, client=client, out=out)


def test_ids_are_looked_for_within_parts_alone_where_the_user_says_so(write, client):
    folder = write({"epsilon": np.ones(4), "id": ["a", "b", "a", "c"]}, 2)
    found = smq.verify(solve(folder, client, unique_ids="within parts"), client=client)
    check = next(check for check in found.checks if check.name == "distinct ids")
    assert (check.passed, check.note) == (None, "looked for within parts alone")
    assert found.valid
    with pytest.raises(smq.InputError, match="repeats the id"):
        solve(write({"epsilon": np.ones(4), "id": ["a", "a", "b", "c"]}, 2), client, unique_ids="within parts")


def test_different_ids_of_one_hash_are_no_repeat(write, client, monkeypatch):
    monkeypatch.setattr(
        "smqopt.scale.passes._first_pass.numbers_of_ids", lambda ids: np.zeros(len(ids), dtype=np.uint64)
    )
    monkeypatch.setattr(
        "smqopt.scale.passes._id_search.numbers_of_ids", lambda ids: np.zeros(len(ids), dtype=np.uint64)
    )
    assert solve(write(GOOD, 2), client).rows == 4


def test_texts_hash_to_different_numbers():
    names = ["", "a", "b", "ab", "ba", "aa", "a" * 8, "a" * 9, "\0", "\0\0", "é", "日本"]
    names += [f"owner-{i}" for i in range(20000)]
    whole = _row_groups.numbers_of_ids(pa.array(names, type=pa.large_string()))
    assert np.unique(whole).size == len(names)
    sliced = _row_groups.numbers_of_ids(pa.array(names, type=pa.large_string())[5:40])
    assert np.array_equal(whole[5:40], sliced)


def test_row_groups_are_limited(write, client, monkeypatch):
    monkeypatch.setattr(_row_groups, "MOST_ROWS", 1)
    with pytest.raises(smq.InputError, match="row group 1: must hold at most 1 rows"):
        solve(write(GOOD), client)


@pytest.mark.parametrize("epsilon", [5e-324, 1e308])
def test_units_without_room_are_refused_as_in_memory(write, client, epsilon):
    folder = write(GOOD | {"epsilon": [0.0, 0.0, 0.0, epsilon]}, 2)
    with pytest.raises(smq.InputError, match=r"epsilon: the largest must be 0, or lie between"):
        solve(folder, client)


@pytest.mark.parametrize("kind", ["empty", "nested", "rows", "broken", "other", "file"])
def test_folders_that_are_no_market(write, client, tmp_path, kind):
    folder = write(GOOD)
    if kind == "empty":
        (folder / "part-000.parquet").unlink()
        said = "holds no .parquet file"
    elif kind == "nested":
        (folder / "city=x").mkdir()
        said = "city=x: is a folder"
    elif kind == "rows":
        pq.write_table(
            pa.table({"epsilon": pa.array([], pa.float64()), "id": pa.array([], pa.string())}), folder / "b.parquet"
        )
        said = "b.parquet: is empty"
    elif kind == "broken":
        (folder / "b.parquet").write_bytes(b"PAR1 no PAR1")
        said = "b.parquet: cannot be read"
    elif kind == "other":
        (folder / "part-000.parquet").rename(folder / "part-000.PARQUET")
        said = "part-000.PARQUET: is no part"
    else:
        folder = folder / "part-000.parquet"
        said = "is not a folder"
    with pytest.raises(smq.InputError, match=said):
        smq.solve(smq.ParquetMarket(folder, smq.Uniform(0, 1)), 1.0, client=client, out=tmp_path / "out")


def test_a_label_without_a_law_is_named(write, client):
    law = smq.LawsByGroup("city", {"x": smq.Uniform(0, 1), "z": smq.Power(2)})
    with pytest.raises(
        smq.InputError, match=r"row group 1, row 2: column 'city': has a label without a law \(found 'y'\)"
    ):
        solve(write(GOOD), client, law)


def test_parameters_in_columns_are_checked(write, client):
    law = smq.LawByColumns("uniform", low=0.0, high="most")
    with pytest.raises(smq.InputError, match=r"part-000.parquet, row group 1: .*'high'"):
        solve(write(GOOD | {"most": [1.0, 0.0, 1.0, 1.0]}), client, law)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"valuation": 3}, "must be a law, LawsByGroup or LawByColumns"),
        ({"valuation": smq.Uniform([0, 0], 1)}, "must have scalar parameters"),
        ({"valuation": smq.LawsByGroup("city", {"x": smq.Uniform([0, 0], 1)})}, "group 'x'"),
        ({"unique_ids": "no"}, "'unique_ids'"),
        ({"groups": "city"}, "must be a list of columns"),
        ({"groups": None}, "must be a list of columns"),
        ({"groups": [3]}, "names of columns"),
        ({"folder": 3}, "'folder'"),
        ({"epsilon": None}, "'epsilon'"),
        ({"owner_id": 3}, "'owner_id'"),
    ],
)
def test_arguments_are_checked_before_anything_is_read(arguments, said):
    with pytest.raises(smq.InputError, match=said):
        smq.ParquetMarket(**{"folder": "nowhere", "valuation": smq.Uniform(0, 1), **arguments})


@pytest.mark.parametrize(
    ("law", "parameters", "said"),
    [
        ("unifrom", {}, "did you mean 'uniform'"),
        ("uniform", {"lo": 0.0, "high": "h"}, "did you mean 'low'"),
        ("uniform", {"low": 0.0}, "lacks high"),
        ("uniform", {"low": 0.0, "high": 1.0}, "no parameter in a column"),
        ("uniform", {"low": None, "high": "h"}, "'low': must be a number or the name of a column"),
        ("uniform", {"low": [0.0], "high": "h"}, "'low': must be a number or the name of a column"),
        ("uniform", {"low": float("nan"), "high": "h"}, "'low': must be a number or the name of a column"),
    ],
)
def test_laws_by_columns_are_checked(law, parameters, said):
    with pytest.raises(smq.InputError, match=said):
        smq.LawByColumns(law, **parameters)


def test_what_is_not_supported_says_so_before_the_first_pass():
    market = smq.ParquetMarket("nowhere", smq.Uniform(0, 1))
    for options in ({"constraints": [smq.PriceRange(at_most=1)]}, {"solver": "conic"}, {"lotteries": False}):
        with pytest.raises(smq.InputError, match="is not supported for a market in parts"):
            smq.solve(market, 1.0, **options)
    with pytest.raises(smq.InputError, match="must be a finite number"):
        smq.solve(market, -1.0)
    with pytest.raises(smq.InputError, match=r"must be a dask\.distributed Client"):
        smq.solve(market, 1.0, client="tcp://host:8786")
