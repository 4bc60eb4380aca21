"""Owners in a folder of Parquet at the command line: files part by part, one certificate, in one line what is wrong."""

import contextlib
import io
import json
import shutil

import numpy as np
import pytest

from smqopt.cli.terminal import _progress
from smqopt.model_files import read_model

distributed = pytest.importorskip("distributed", reason="needs smqopt[scale]")
pa = pytest.importorskip("pyarrow", reason="needs smqopt[scale]")
import pyarrow.parquet as pq  # noqa: E402

from smqopt import second_checker_of_parts as second  # noqa: E402

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
    assert "Do not publish" in (out / "PRIVATE.txt").read_text()
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


def test_the_model_of_the_library(smqopt, tmp_path):
    out = tmp_path / "out"
    found = smqopt("run", "two-parts", "--out", str(out), "--json")
    assert found.code == 0
    told, stated = json.loads(found.out)["certificate"], read_model("two-parts").answer
    assert told["grade"] == "proved"
    assert stated.purchased_privacy.agrees(told["lower_bound"], told["upper_bound"])
    assert smqopt("verify", str(out)).code == 0
    assert second.check(out, None, None)[0] == "proved"


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


QUERIES = [
    'kind = "count"',
    'kind = "mean"\nlow = 0\nhigh = 5',
    'kind = "histogram"\nedges = [-0.5, 0.5, 1.5]',
    'kind = "median"\nlow = 0\nhigh = 5',
    'kind = "quantile"\np = 0.25\nlow = 0\nhigh = 5',
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.split('"')[1])
def test_an_answer_is_checked_against_the_purchase(model, smqopt, tmp_path, query):
    out, ledger = tmp_path / "out", str(tmp_path / "ledger.txt")
    path = model(change=lambda text: text.replace('kind = "count"', query))
    assert smqopt("run", path, "--out", str(out), "--ledger", ledger, "--share", "1/2").code == 0
    found = smqopt("verify", str(out), "--ledger", ledger, "--json")
    assert (found.code, found.err) == (0, "")
    told = json.loads(found.out)
    assert told["checked"] == ["certificate.json", "private/outcome", "private/answer.json", "public/release.json"]
    assert told["unchecked"] == ["time", "passes", "versions", "noise"]
    assert "charge" in json.loads(smqopt("verify", str(out), "--json").out)["unchecked"]
    answer = out / "private" / "answer.json"
    written = json.loads(answer.read_text())
    changes = {
        "value": [-1] if isinstance(written["value"], list) else -1, "n": 81, "bought": written["bought"] + 1,
        "noise_half_width": 0.5 * written["noise_half_width"], "share": "1/3", "simulation": True, "query": "sum",
        "note": "", "new": 1, "charge": "0" * 32, "ledger_head": "0" * 64,
    }  # fmt: skip
    for key, value in changes.items():
        answer.write_text(json.dumps(written | {key: value}))
        found = smqopt("verify", str(out), "--ledger", ledger)
        assert found.code != 0, key
        assert "answer.json" in found.err
    answer.write_text(json.dumps(written))
    release = out / "public" / "release.json"
    published = json.loads(release.read_text())
    without = {key: value for key, value in published.items() if key != "note"}
    for key, content in (("value", published | {"value": 0.5}), ("new", published | {"new": 0.5}), ("note", without)):
        release.write_text(json.dumps(content))
        found = smqopt("verify", str(out), "--ledger", ledger)
        assert found.code != 0, key
        assert f"release.json: key '{key}'" in found.err
    release.write_text(json.dumps(published))
    assert smqopt("verify", str(out), "--ledger", ledger).code == 0


def test_a_constraint_of_the_model_is_kept(model, smqopt, tmp_path):
    out = tmp_path / "out"
    row = '[[constraint]]\nkind = "coverage"\ncolumn = "city"\nlabel = "a"\nat_least = 12.0\n'
    found = smqopt("run", model("by group", lambda text: text + row), "--out", str(out), "--json")
    assert found.code == 0
    assert json.loads(found.out)["certificate"]["grade"] == "proved"
    said = json.loads((out / "certificate.json").read_text())
    assert said["solution"]["constraint_prices"][0] > 0
    assert "constraint: at least 12 expected owners of city = a" in [check["name"] for check in said["checks"]]


def test_each_stage_by_itself(model, smqopt, tmp_path):
    out, ledger = str(tmp_path / "out"), str(tmp_path / "ledger.txt")
    path = model()
    assert smqopt("solve", path, "--out", out).code == 0
    assert "smqopt verify" in smqopt("procure", out, "--model", path).error
    assert smqopt("verify", out).code == 0
    assert "private/outcome" in smqopt("answer", out, "--model", path).error
    found = smqopt("procure", out, "--reports", str(tmp_path / "reports"), "--json")
    assert found.code == 0
    told = json.loads(found.out)
    assert (told["n"], told["rule"]) == (80, "posted")
    assert 0 < told["bought"] < 80
    assert smqopt("procure", out, "--model", path, "--json").out == found.out
    found = smqopt(
        "answer", out, "--data", str(tmp_path / "entries"), "--query", "count", "--ledger", ledger, "--share", "1/2",
        "--json",
    )  # fmt: skip
    assert found.code == 0
    assert json.loads(found.out) == json.loads((tmp_path / "out" / "private" / "answer.json").read_text())
    assert json.loads((tmp_path / "out" / "public" / "release.json").read_text())["query"] == "count"
    assert smqopt("answer", out, "--model", path, "--ledger", ledger, "--share", "1/2").code == 0
    found = smqopt("answer", out, "--model", path, "--ledger", ledger, "--share", "1/2")
    assert "left" in found.error
    # a simulation leaves nothing to publish; a new purchase leaves no answer
    assert smqopt("answer", out, "--model", path, "--seed", "1").code == 0
    assert not (tmp_path / "out" / "public" / "release.json").exists()
    assert "answer.json" in smqopt("procure", out, "--model", path).out
    assert not (tmp_path / "out" / "private" / "answer.json").exists()
    path = tmp_path / "out" / "private" / "outcome" / "part-0.parquet"
    table = pq.read_table(path)
    paid = np.where(np.arange(40) == np.argmax(table["selected"].to_numpy()), 0.0, table["payment"].to_numpy())
    pq.write_table(table.set_column(3, "payment", [paid]), path)
    for command in (("verify", out), ("answer", out, "--model", model())):
        found = smqopt(*command)
        assert found.code == 2
        assert "is no outcome of its thresholds" in found.error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("procure",), "needs either --reports or --model"),
        (("procure", "--reports", "x", "--batch"), "--batch"),
        (("procure", "--reports", "x", "--payments", "ex-post-budget"), "--payments"),
        (("answer",), "needs --data and --query"),
        (("answer", "--query", "count"), "needs --data and --query"),
        (("answer", "--data", "x", "--query", "count", "--estimator", "linear"), "--estimator"),
    ],
)
def test_what_a_stage_lacks_is_said(model, smqopt, tmp_path, arguments, said):
    out = str(tmp_path / "out")
    assert smqopt("solve", model(), "--out", out).code == 0
    found = smqopt(arguments[0], out, *arguments[1:])
    assert found.code == 2
    assert said in found.error


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda text: text.replace('folder = "owners"', 'folder = "nowhere"'), [], "owners.folder"),
        (lambda text: text.replace('reports = "reports"\n', ""), [], "owners.reports"),
        (lambda text: text.replace('folder = "owners"', 'folder = "owners"\ntable = "x.csv"'), [], "cannot stand beside"),
        (lambda text: text.replace('folder = "owners"', 'folder = "owners"\nunique = true'), [], "is unknown"),
        (lambda text: text + '[objective]\nkind = "diminishing-returns"\nsaturation = 1.0\n', [], "objective"),
        (lambda text: text.replace('ids = "id"', 'ids = "idd"'), [], "idd"),
        (lambda text: text + '[[constraint]]\nkind = "price-range"\nat_most = 0.5\n', [], "constraint"),
        (lambda text: text + '[[constraint]]\nkind = "coverage"\ncolumn = "town"\nlabel = "a"\nat_least = 1.0\n', [], "town"),
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
