"""Faults on the way: what was changed is refused by name, and what was stopped goes on where it stopped."""

import errno
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import smqopt as smq
from smqopt.numeric import units_of_dot
from smqopt.scale import load_certificate
from smqopt.scale.parts import _part_files

N = 90
COLUMNS = {
    "epsilon": np.random.default_rng(3).choice([0.2, 0.5, 1.0, 1.7], N),
    "id": np.array([f"o{i}" for i in range(N)]),
    "report": np.random.default_rng(4).random(N),
}


@pytest.fixture
def market(write):
    return smq.ParquetMarket(write(COLUMNS, 3), smq.Uniform(0, 1), owner_id="id")


@pytest.fixture
def solve(market, client, tmp_path):
    return lambda budget=10.0, **options: smq.solve(market, budget, client=client, out=tmp_path / "out", **options)


def flip(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(bytes(content))


def fault(certificate):
    assert not certificate.valid
    assert certificate.lower_bound == 0.0
    return next(check for check in certificate.checks if check.name == "parts").note


def test_a_byte_flipped_in_a_part_of_thresholds_is_refused(solve, client):
    solution = solve()
    path = solution.file_of(solution.parts[1])
    for at in (4, path.stat().st_size // 2, path.stat().st_size - 3):
        flip(path, at)
        assert "part-001.parquet" in fault(smq.verify(solution, client=client))
        flip(path, at)
    assert smq.verify(solution, client=client).valid


def test_every_byte_of_owners_that_says_something_is_covered(market, solve, client):
    """A flipped byte is refused by name, or changes nothing of what is read."""
    solution = solve()
    path = market.folder / "part-002.parquet"
    before = pq.read_table(path, columns=["epsilon", "id"])
    refused = 0
    for at in range(4, path.stat().st_size, 97):
        flip(path, at)
        found = smq.verify(solution, client=client)
        if not found.valid:
            assert "part-002.parquet" in fault(found)
            refused += 1
        else:
            assert pq.read_table(path, columns=["epsilon", "id"]).equals(before)
        flip(path, at)
    assert refused


def test_rows_that_changed_their_order_are_refused(market, solve, client):
    solution = solve()
    path = market.folder / "part-000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.take(np.arange(table.num_rows)[::-1].copy()), path, row_group_size=15)
    assert "part-000.parquet" in fault(smq.verify(solution, client=client))


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_parts_that_came_or_went_are_named(market, solve, client, change):
    solution = solve()
    part = market.folder / "part-001.parquet"
    if change == "added":
        shutil.copy(part, market.folder / "part-009.parquet")
    elif change == "removed":
        part.unlink()
    else:
        part.rename(market.folder / "part-007.parquet")
    named = "part-009.parquet" if change == "added" else "part-001.parquet"
    assert named in fault(smq.verify(solution, client=client))
    with pytest.raises(smq.InputError, match=named):
        solve(11.0)


@pytest.mark.parametrize("when", ["offers", "window"])
def test_parts_that_change_between_passes_are_named(market, solve, monkeypatch, when):
    """A part is changed right after the first pass."""
    from smqopt.scale import _solve

    first = _solve.first_pass
    name = "part-001.parquet" if when == "offers" else "part-009.parquet"

    def change(*given):
        found = first(*given)
        if when == "offers":
            table = pq.read_table(market.folder / name)
            at = table.schema.get_field_index("epsilon")
            pq.write_table(table.set_column(at, "epsilon", [[3.0] * table.num_rows]), market.folder / name)
        else:
            shutil.copy(market.folder / "part-000.parquet", market.folder / name)
        return found

    monkeypatch.setattr(_solve, "first_pass", change)
    with pytest.raises(smq.InputError, match=f"{name}: was (changed|added) since the first pass"):
        solve()


def test_a_stale_part_is_refused_by_name_when_a_run_goes_on(market, solve):
    solve()
    path = market.folder / "part-002.parquet"
    path.write_bytes(path.read_bytes())
    with pytest.raises(smq.InputError, match=r"part-002\.parquet: was changed since an earlier run"):
        solve()


@pytest.mark.parametrize("stops", [1, 4, 5, 7])
def test_a_run_that_was_stopped_goes_on_and_ends_the_same(market, solve, client, monkeypatch, stops):
    """The disk is full at the k-th file that is written; a second run takes over what is there."""
    done = []
    write, note = _part_files.write_json, _part_files.write_part

    def full(path, *given):
        done.append(str(path))
        if len(done) == stops:
            raise smq.SmqoptError(str(path), "cannot be written: No space left on device")
        return write(path, *given)

    monkeypatch.setattr(_part_files, "write_json", full)
    with pytest.raises(smq.SmqoptError, match="No space left"):
        solve()
    assert note is _part_files.write_part
    monkeypatch.setattr(_part_files, "write_json", write)
    again = []
    monkeypatch.setattr(_part_files, "write_json", lambda path, *given: (again.append(str(path)), write(path, *given)))
    solution = solve()
    assert not set(again) & set(done[: stops - 1])  # what was noted is not done again
    assert smq.verify(solution, client=client).valid
    shutil.rmtree(solution.out)
    fresh = solve()
    assert [part.thresholds for part in fresh.parts] == [part.thresholds for part in solution.parts]


def test_what_was_damaged_in_the_folder_of_work_is_made_again(market, solve, client, write):
    """Every file that a run leaves for the next one: cut, garbled, gone, or JSON that says something else."""
    solution = solve()
    certificate = smq.verify(solution, client=client)
    reports = write({"id": COLUMNS["id"], "report": COLUMNS["report"]}, 3, "reports")
    outcome = smq.procure(certificate, reports, client=client)
    work = [path for name in (".work", "private/.work", "thresholds") for path in (solution.out / name).rglob("*.*")]
    assert len(work) == 3 * 5 + 1
    for path in [path for path in sorted(work) if "part-001" in path.name or path.name == "parts.json"]:
        whole = path.read_bytes()
        for content in (whole[: len(whole) // 2], bytes(len(whole)), whole.replace(b'"rows": 30', b'"rows": 31'), None):
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            assert solve().to_dict() == solution.to_dict(), (path, content)
            assert smq.procure(certificate, reports, client=client).parts == outcome.parts
            assert path.read_bytes() == whole


def test_notes_that_were_edited_and_sealed_anew_are_made_again(market, solve, client, write):
    solution = solve()
    certificate = smq.verify(solution, client=client)
    reports = write({"id": COLUMNS["id"], "report": COLUMNS["report"]}, 3, "reports")
    outcome = smq.procure(certificate, reports, client=client)
    edits = {
        "parts.json": [{"parts": [0, 1, 2]}, {"parts": 3}],
        "sketch/part-001.parquet.json": [
            *({"kinds": kinds} for kinds in ([], [[]], 3, [[0, [1]]], [["0", []]])),
            *({"part": part} for part in ({}, [], {"name": -1})), {"arrays": {}}, {"arrays": {"keys0": ["<f8", 1]}},
            {"most": 1}, {"required": "x"}, {"largest": []}, {"largest": [1, None]}, {"numbers": 0}, {"sample": True},
        ],
        "offers/part-001.parquet.json": [{"strata": "q"}, {"strata": [{}]}, {"record": {}}, {"record": 3}],
        "private": [{"bought": 1}, {"bought": "1"}, {"paid": 1}, {"paid": "y"}, {"name": "part-000.parquet"}, {"x": 1}],
    }  # fmt: skip
    for name, changes in edits.items():
        place = solution.out / ".work" / name
        if name == "private":
            place = solution.out / "private" / ".work" / "part-001.parquet.json"
        whole = place.read_bytes()
        for change in changes:
            note = json.loads(whole)
            _part_files.write_note(place, note["key"], note["content"] | change)
            if name == "private":
                assert smq.procure(certificate, reports, client=client).parts == outcome.parts
            else:
                assert solve().to_dict() == solution.to_dict()
            assert place.read_bytes() == whole


def test_a_full_disk_leaves_no_half_of_a_part(solve, client, tmp_path, monkeypatch):
    def full(self, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_part_files._HashedStream, "write", full)
    with pytest.raises(smq.SmqoptError, match=r"part-00\d\.parquet: cannot be written: No space left on device"):
        solve()
    client.submit(int, pure=False).result()  # after the other parts, which are on their way to the same error
    assert not list((tmp_path / "out" / "thresholds").iterdir())


def test_a_certificate_is_read_again_and_a_changed_one_is_refused(solve, client):
    solution = solve()
    certificate = smq.verify(solution, client=client)
    path = solution.out / "certificate.json"
    certificate.save(path)
    again = load_certificate(path, client=client)
    assert (again.root, again.lower_bound, again.upper_bound) == (
        certificate.root,
        certificate.lower_bound,
        certificate.upper_bound,
    )
    size = path.stat().st_size
    for at in range(3, size, size // 25):
        flip(path, at)
        with pytest.raises((smq.InputError, smq.CertificateError)):
            load_certificate(path, client=client)
        flip(path, at)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("upper_bound",), 0.1),
        (("valid",), False),
        (("grade",), "numerical"),
        (("manifest", "root"), "0" * 64),
        (("manifest", "parts", 1, "rows"), 7),
        (("manifest", "parts", 2, "owners"), "0" * 64),
        (("manifest", "parts", 0, "rest"), "0x0"),
        (("new",), 1),
        (("unchecked",), 3),
    ],
)
def test_a_forged_claim_with_a_right_digest_is_refused_by_name(solve, client, keys, value):
    from smqopt.verification import digest

    solution = solve()
    content = smq.verify(solution, client=client).to_dict()
    content = json.loads(json.dumps(content))
    place = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    content["digest"] = digest(content)
    path = solution.out / "certificate.json"
    path.write_text(json.dumps(content))
    named = f"part-00{keys[2]}.parquet" if "parts" in keys else keys[0]
    with pytest.raises(smq.CertificateError, match=named):
        load_certificate(path, client=client)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("certificate", {"gap_tolerance": "x"}),
        ("certificate", {"gap_tolerance": None}),
        ("certificate", {"manifest": []}),
        ("certificate", {"manifest": {"parts": [1]}}),
        ("solution", {"probability_of_high": "nan"}),
        ("solution", {"budget": "inf"}),
        ("solution", {"budget_price": "nan"}),
        ("solution", {"parts": []}),
    ],
)
def test_garbled_files_are_refused_in_one_line(solve, client, file, change):
    from smqopt.verification import digest

    solution = solve()
    smq.verify(solution, client=client).save(solution.out / "certificate.json")
    path = solution.out / f"{file}.json"
    content = json.loads(path.read_text()) | change
    path.write_text(json.dumps(content | ({"digest": digest(content)} if file == "certificate" else {})))
    with pytest.raises(smq.InputError, match=f"{file}.json"):
        load_certificate(solution.out / "certificate.json", client=client)


@pytest.mark.parametrize("name", ["privacy", "spend", "more_privacy", "more_spend"])
def test_sums_that_the_files_do_not_have_are_refused(solve, client, name):
    import dataclasses

    solution = solve()
    part = solution.parts[1]
    forged = dataclasses.replace(part, **{name: hex(int(getattr(part, name), 16) + 1)})
    parts = (solution.parts[0], forged, *solution.parts[2:])
    found = smq.verify(dataclasses.replace(solution, parts=parts), client=client)
    assert "part-001.parquet: does not add up" in fault(found)


def test_forged_thresholds_are_not_valid(market, solve, client):
    """Each with hashes that fit: who pays too much, posts outside supports, or offers less than could be had."""
    import dataclasses

    import pyarrow as pa

    solution = solve()
    path = solution.file_of(solution.parts[0])
    table = pq.read_table(path)
    epsilon = pq.read_table(market.folder / path.name)["epsilon"].to_numpy()
    for name, change in {
        "budget": lambda theta: np.minimum(theta * 1.2, 1.0),
        "support": lambda theta: theta + 2.0,
        "gap": lambda theta: theta * 0.9,
        "acceptance": None,
    }.items():
        theta = table["threshold"].to_numpy()
        forged = theta if change is None else change(theta)
        q = np.minimum(forged, 1.0) if change else table["acceptance"].to_numpy() + 1e-9
        columns = {"owner_id": table["owner_id"], "threshold": pa.array(forged), "acceptance": pa.array(q)}
        digest = _part_files.write_part(path, [pa.table(columns).slice(0, 15), pa.table(columns).slice(15)])
        sums = {"privacy": hex(units_of_dot(epsilon, q)), "spend": hex(units_of_dot(forged, q))}
        parts = (dataclasses.replace(solution.parts[0], thresholds=digest, **sums), *solution.parts[1:])
        found = smq.verify(dataclasses.replace(solution, parts=parts), client=client)
        assert not found.valid
        failing = {check.name for check in found.checks if check.fails}
        assert name in failing
        assert "parts" not in failing


def test_purchases(market, solve, client, write, tmp_path):
    solution = solve()
    certificate = smq.verify(solution, client=client)
    reports = write({"id": COLUMNS["id"], "report": COLUMNS["report"]}, 3, "reports")
    outcome = smq.procure(certificate, reports, client=client)
    memory = smq.Market(COLUMNS["epsilon"], smq.Uniform(0, 1), owner_ids=COLUMNS["id"])
    reference = smq.procure(smq.verify(smq.solve(memory, 10.0)), COLUMNS["report"])
    selected = np.concatenate([pq.read_table(outcome.file_of(part))["selected"].to_numpy() for part in outcome.parts])
    assert np.array_equal(selected, reference.selected)
    assert outcome.bought == reference.bought
    assert abs(outcome.total_payment - reference.total_payment) <= 1e-12
    assert smq.procure(certificate, reports, client=client).parts == outcome.parts
    # reports among the columns of the owners
    inside = smq.ParquetMarket(market.folder, smq.Uniform(0, 1), owner_id="id")
    assert smq.procure(certificate, inside.folder, client=client).bought == reference.bought


def test_reports_that_do_not_lie_as_the_owners_do_are_refused(solve, client, write):
    certificate = smq.verify(solve(), client=client)
    columns = {"id": COLUMNS["id"], "report": COLUMNS["report"]}
    for parts, said in ((4, "has no part of owners"), (2, "is missing: the owners have")):
        with pytest.raises(smq.InputError, match=f"{said}.*nothing is shuffled here"):
            smq.procure(certificate, write(columns, parts, "reports"), client=client)
    swapped = columns | {"id": np.concatenate([COLUMNS["id"][1::-1], COLUMNS["id"][2:]])}
    with pytest.raises(smq.InputError, match=r"part-000.*row 1: must be of owner 'o0' \(found 'o1'\)"):
        smq.procure(certificate, write(swapped, 3, "reports"), client=client)
    with pytest.raises(smq.InputError, match="does not have the rows of the owners"):
        smq.procure(certificate, write({k: v[:-3] for k, v in columns.items()}, 3, "reports"), client=client)
    secret = columns | {"report": np.where(np.arange(N) == 40, -0.12345, COLUMNS["report"])}
    with pytest.raises(smq.InputError, match="part-001") as error:
        smq.procure(certificate, write(secret, 3, "reports"), client=client)
    assert "12345" not in str(error.value)


def test_options_of_a_wrong_kind_are_refused(market, solve, client):
    with pytest.raises(smq.InputError, match="'progress': must be a function"):
        solve(progress=3)
    certificate = smq.verify(solve(), client=client)
    with pytest.raises(smq.InputError, match="'gap_tolerance': must be a number"):
        smq.verify(certificate.solution, client=client, gap_tolerance="x")
    with pytest.raises(smq.InputError, match="'column': must be the name of a column"):
        smq.procure(certificate, market.folder, column=3, client=client)


@pytest.mark.parametrize("rng", [3, True, "seed"])
def test_a_purchase_takes_no_other_generator(solve, client, write, rng):
    certificate = smq.verify(solve(), client=client)
    reports = write({"id": COLUMNS["id"], "report": COLUMNS["report"]}, 3, "reports")
    with pytest.raises(smq.InputError, match="'rng'"):
        smq.procure(certificate, reports, rng=rng, client=client)
    with pytest.raises(smq.InputError, match="'column': is a column of the owners"):
        smq.procure(certificate, reports, column="id", client=client)


def test_a_part_that_came_after_the_certificate_stops_purchase_and_answer(market, solve, client, write):
    certificate = smq.verify(solve(), client=client)
    reports = write({"id": COLUMNS["id"], "report": COLUMNS["report"]}, 3, "reports")
    outcome = smq.procure(certificate, reports, client=client)
    shutil.copy(market.folder / "part-000.parquet", market.folder / "part-003.parquet")
    with pytest.raises(smq.InputError, match=r"part-003\.parquet: was added since the first pass"):
        smq.procure(certificate, reports, client=client)
    with pytest.raises(smq.InputError, match=r"part-003\.parquet: was added since the first pass"):
        smq.answer(smq.Count(), reports, outcome, np.random.default_rng(1), column="report", client=client)


def test_only_a_valid_certificate_opens_the_purchase(solve, client, write):
    import copy
    import dataclasses

    solution = solve()
    certificate = smq.verify(solution, client=client)
    reports = write({"id": COLUMNS["id"], "report": COLUMNS["report"]}, 3, "reports")
    for forged in (
        copy.copy(certificate),
        dataclasses.replace(certificate, solution=dataclasses.replace(solution, budget=99.0)),
        smq.verify(solution, client=client, gap_tolerance=0.0),
    ):
        with pytest.raises(smq.UncertifiedError):
            smq.procure(forged, reports, client=client)
    flip(solution.file_of(solution.parts[2]), 40)
    with pytest.raises(smq.InputError, match=r"part-002\.parquet: was changed since it was verified"):
        smq.procure(certificate, reports, client=client)
    with pytest.raises(smq.InputError, match=r"'owner_ids'.*is not supported"):
        smq.procure(certificate, reports, client=client, owner_ids=["o1"])


def test_who_draws_gets_one_of_her_two_prices(write, client, tmp_path):
    """A histogram whose flat piece is met by all owners: about the share of them that was promised draws high."""
    law, n = smq.PiecewiseUniform([0, 1, 2, 3], [0.3, 0.6, 0.1]), 400
    owners = write({"epsilon": np.ones(n)}, 2)
    solution = smq.solve(smq.ParquetMarket(owners, law), 0.3 * n, client=client, out=tmp_path / "out")
    assert solution.drawing == n
    certificate = smq.verify(solution, client=client)
    assert (certificate.valid, certificate.grade) == (True, "proved")
    reports = write({"report": np.zeros(n)}, 2, "reports")
    outcome = smq.procure(certificate, reports, client=client, rng=np.random.default_rng(5))
    tables = [pq.read_table(outcome.file_of(part)) for part in outcome.parts]
    paid = np.concatenate([table["threshold"].to_numpy() for table in tables])
    low, high = np.unique(paid)
    share = np.mean(paid == high)
    assert abs(share - solution.probability_of_high) < 5 * np.sqrt(0.25 / n)
    assert Path(outcome.file_of(outcome.parts[0])).is_file()
    assert low < high
