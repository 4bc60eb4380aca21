"""Owners in a folder of Parquet at the command line: files part by part, one certificate, in one line what is wrong."""

import contextlib
import io
import json
import shutil

import numpy as np
import pytest

from smqopt.cli.terminal import _progress

distributed = pytest.importorskip("distributed", reason="needs smqopt[scale]")
pa = pytest.importorskip("pyarrow", reason="needs smqopt[scale]")
import pyarrow.parquet as pq  # noqa: E402

MODEL = """
title = "A market in parts"
budget = 8.0

[owners]
folder = "owners"
ids = "id"
groups = ["city"]
reports = "reports"
data = "entries"

[valuation]
{law}

[query]
kind = "count"
"""
LAWS = {
    "common": 'law = "beta"\na = 2.0\nb = 3.0\nlow = 0.0\nhigh = 1.0',
    "by group": 'law = "by-group"\ncolumn = "city"\n[valuation.laws.a]\nlaw = "uniform"\nlow = 0.0\nhigh = 1.0\n'
    '[valuation.laws.b]\nlaw = "power"\nk = 2.0\nlow = 0.0\nhigh = 1.0',
    "by columns": 'law = "uniform"\nlow = 0.0\nhigh = "most"',
}


@pytest.fixture(scope="module")
def client():
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as one:
        yield one


@pytest.fixture(autouse=True)
def _lend(client, monkeypatch):
    monkeypatch.setattr("smqopt.cli.work._parts.workers", lambda _: contextlib.nullcontext(client))


@pytest.fixture
def model(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("owners", "reports", "entries"):
        (tmp_path / name).mkdir()
    for part in range(2):
        ids, n = np.arange(40) + 40 * part, 40
        city = pa.array(["a", "b"]).take(pa.array(rng.integers(0, 2, n)))
        tables = {
            "owners": {"id": ids, "epsilon": rng.uniform(0.1, 2, n), "city": city, "most": rng.uniform(1, 2, n)},
            "reports": {"id": ids, "report": rng.random(n)},
            "entries": {"id": ids, "entry": rng.integers(0, 2, n)},
        }
        for name, columns in tables.items():
            pq.write_table(pa.table(columns), tmp_path / name / f"part-{part}.parquet")

    def write(law="common", change=lambda text: text):
        path = tmp_path / "model.toml"
        path.write_text(change(MODEL.format(law=LAWS[law])))
        return str(path)

    return write


@pytest.mark.parametrize("law", LAWS)
def test_a_run_writes_parts_and_one_certificate(model, smqopt, tmp_path, law):
    out = tmp_path / "out"
    found = smqopt("run", model(law), "--out", str(out), "--ledger", str(tmp_path / "ledger.txt"), "--json")
    assert found.code == 0
    told = json.loads(found.out)
    assert (told["certificate"]["valid"], told["certificate"]["grade"], told["n"]) == (True, "proved", 80)
    parts = ["part-0.parquet", "part-1.parquet"]
    for folder in (out / "thresholds", out / "private" / "outcome"):
        assert sorted(path.name for path in folder.iterdir()) == parts
    written = json.loads((out / "private" / "answer.json").read_text())
    assert written["value"] == told["value"]
    published = json.loads((out / "public" / "release.json").read_text())
    assert "bought" not in published
    assert published["grid"] > 0
    found = smqopt("verify", str(out), "--json")
    assert found.code == 0
    assert json.loads(found.out)["root"] == json.loads((out / "certificate.json").read_text())["manifest"]["root"]
    path = out / "thresholds" / "part-1.parquet"
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(bytes(content))
    found = smqopt("verify", str(out))
    assert found.code != 0
    assert "part-1.parquet" in found.err


def test_stages_leave_what_they_are_to_leave(model, smqopt, tmp_path):
    out = tmp_path / "out"
    found = smqopt("solve", model(), "--out", str(out))
    assert found.code == 0
    assert "80 owners in 2 parts, not verified yet" in found.out
    assert not (out / "certificate.json").exists()
    found = smqopt("verify", str(out))
    assert found.code == 0
    assert "valid (proved), 2 parts" in found.out
    assert (out / "certificate.json").is_file()
    # a simulation publishes nothing
    shutil.rmtree(out)
    found = smqopt("run", model(), "--out", str(out), "--seed", "3")
    assert found.code == 0
    assert json.loads((out / "private" / "answer.json").read_text())["seed"] == 3
    assert not (out / "public").exists()


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda text: text.replace('folder = "owners"', 'folder = "nowhere"'), [], "owners.folder"),
        (lambda text: text.replace('reports = "reports"\n', ""), [], "owners.reports"),
        (lambda text: text.replace('folder = "owners"', 'folder = "owners"\ntable = "x.csv"'), [], "cannot stand beside"),
        (lambda text: text.replace('folder = "owners"', 'folder = "owners"\nunique = true'), [], "is unknown"),
        (lambda text: text + '[objective]\nkind = "diminishing-returns"\nsaturation = 1.0\n', [], "objective"),
        (lambda text: text.replace('ids = "id"', 'ids = "idd"'), [], "idd"),
        (lambda text: text + '[[constraint]]\nkind = "expected-owners"\nat_most = 9.0\n', [], "constraint"),
        (lambda text: text, ["--reserve", "0.1"], "--reserve"),
        (lambda text: text, ["--payments", "ex-post-budget"], "--payments"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(model, smqopt, tmp_path, change, options, said):
    found = smqopt("run", model(change=change), "--out", str(tmp_path / "out"), *options)
    assert found.code == 2
    assert said in found.error


def test_a_folder_of_somebody_else_is_left_alone(model, smqopt, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("")
    found = smqopt("solve", model(), "--out", str(out))
    assert found.code == 2
    assert "thesis.txt" in found.err
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_a_bar_is_drawn_over_the_parts_of_each_pass(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr(_progress.sys, "stderr", shown)
    progress = _progress.PartsProgress()
    for _ in range(2):
        for done in range(1, 4):
            progress(done, 3)
    assert "pass 1" in shown.getvalue()
    assert "pass 2" in shown.getvalue()
    assert "3/3" in shown.getvalue()
