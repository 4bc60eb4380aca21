"""A release, file by file: nothing in it comes from private data but the released value. And every query by its stages."""

from __future__ import annotations

import itertools
import json
import math
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import smqopt as smq
from smqopt.cli.outputs._folder import OUTPUTS
from smqopt.files import read_csv, read_json

pytestmark = pytest.mark.filterwarnings("ignore::smqopt.PrivacyWarning")
OWNERS = 12
REPORTS = [round(0.0173 + 0.0391 * i, 4) for i in range(OWNERS)]
ENTRIES = [round(50.1237 + 3.4519 * i * (-1) ** i, 4) for i in range(OWNERS)]
WHOLE = [31 + 5 * i * (-1) ** i for i in range(OWNERS)]
MODEL = f"""
budget = 4.0
[owners]
epsilon = [{", ".join(str(0.5 + 0.25 * i) for i in range(OWNERS))}]
reports = {REPORTS}
data = DATA
[valuation]
law = "uniform"
low = 0
high = 1
[query]
QUERY
"""
QUERIES = {
    "count": ('kind = "count"', [i % 2 for i in range(OWNERS)]),
    "count by inverse probability": (
        'kind = "count"\nweighting = "inverse-probability"',
        [i % 2 for i in range(OWNERS)],
    ),
    "median": ('kind = "median"\nlow = -200\nhigh = 200', WHOLE),
    "quantile": ('kind = "quantile"\np = 0.25\nlow = -200\nhigh = 200', WHOLE),
    "sum": ('kind = "sum"\nlow = 0\nhigh = 100', ENTRIES),
    "mean": ('kind = "mean"\nlow = 0\nhigh = 100\nweighting = "inverse-probability"', ENTRIES),
    "weighted-sum": (f'kind = "weighted-sum"\nweights = {[1.5] * OWNERS}\nlow = 0\nhigh = 100', ENTRIES),
    "histogram": ('kind = "histogram"\nedges = [0, 40, 60, 100]', ENTRIES),
    "joint-histogram": ('kind = "joint-histogram"\nedges = [0, 40, 100]', ENTRIES),
    "own": (
        'kind = "own"\ntitle = "most"\nalphabet = [0, 1]\ncandidates = [0, 1]\nchange = [[0, 1], [1, 0]]',
        [i % 2 for i in range(OWNERS)],
    ),
}


def written(tmp_path: Path, name: str) -> Path:
    query, data = QUERIES[name]
    path = tmp_path / "model.toml"
    path.write_text(MODEL.replace("DATA", str(data)).replace("QUERY", query), encoding="utf-8")
    return path


def numbers_in(text: str) -> set[float]:
    """Every number a file shows."""
    return {float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)}


@pytest.mark.parametrize("name", ["sum", "median"])
def test_a_release_folder_holds_nothing_private_but_the_value(
    name: str, tmp_path: Path, smqopt: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    below = secrets.randbelow
    monkeypatch.setattr(secrets, "randbelow", lambda bound: asked.append(bound) or below(bound))
    called = smqopt("run", written(tmp_path, name), "--out", tmp_path / "out", "--json")
    assert called.code == 0, called.err
    assert asked
    assert name != "median" or len(asked) == 1  # the noise came from the cryptographic source
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*OUTPUTS, "public", "PRIVATE.txt"}
    files = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file())
    public = read_json(tmp_path / "out" / "public" / "release.json")
    assert not {"bought", "noise_half_width", "candidates", "rounding", "ledger_head"} & set(public)
    assert public["grid" if name == "sum" else "half_width"] > 0
    assert smqopt("verify", tmp_path / "out" / "public").code == 0  # anybody can

    answer = read_json(tmp_path / "out" / "answer.json")
    value = answer["value"]
    data = QUERIES[name][1]
    outcome_text = (tmp_path / "out" / "outcome.csv").read_text(encoding="utf-8")
    selected = [row.split(",")[3] == "yes" for row in outcome_text.splitlines()[1:]]
    bought = [d for d, s in zip(data, selected, strict=True) if s]
    exact = sum(bought) * OWNERS / len(bought) if name == "sum" else sorted(bought)[(len(bought) + 1) // 2 - 1]

    market = smq.Market([0.5 + 0.25 * i for i in range(OWNERS)], smq.Uniform(0, 1))
    outcome = smq.procure(smq.verify(smq.solve(market, 4.0)), REPORTS)
    query = smq.Sum(0, 100) if name == "sum" else smq.Median(-200, 200)
    _, law = smq.answer(query, bought, outcome, np.random.default_rng(0), estimator="P-E").distribution()
    likeliest = sorted(law.tolist(), reverse=True)[:50]
    costs = {round(2 * math.log(likeliest[0] / p), 6) for p in likeliest} - {0.0}

    for file in files:
        text = (tmp_path / "out" / file).read_text(encoding="utf-8")
        if file != "report.html":
            assert "seed" not in text, file
        assert "distribution" not in text.lower() or file == "report.html"
        assert 'id="output-law"' not in text
        shown = numbers_in(text)
        for secret in REPORTS:
            assert secret not in shown, file
        if name == "sum":  # entries and the exact answer have digits of their own
            for secret in [*ENTRIES, exact, sum(bought), float(np.mean(bought)), min(bought), max(bought)]:
                assert not any(math.isclose(secret, one, abs_tol=1e-6) for one in shown if one != value), (file, secret)
        for p in likeliest:
            assert not any(math.isclose(p, one, rel_tol=1e-6) for one in shown), (file, p)
        for cost in costs - {0.5 + 0.25 * i for i in range(40)}:
            assert not any(math.isclose(cost, one, rel_tol=1e-5) for one in shown), (file, cost)
    assert set(answer) <= {
        *("value", "query", "n", "bought", "noise_half_width", "noise_level", "noise_unit", "simulation", "note"),
        *("low", "high", "weighting", "excluded_owners", "excluded_weight", "candidates", "rounding"),
        *("estimator", "tau", "variance"),
    }


@pytest.mark.parametrize(
    ("name", "key", "value", "code"),
    [
        ("weighted-sum", "estimator", [], 2),
        ("weighted-sum", "weighting", {}, 2),
        ("weighted-sum", "high", 10**400, 2),
        ("weighted-sum", "low", -(10**30), 1),
        ("own", "alphabet", None, 2),
        ("own", "candidates", 1, 2),
        ("own", "change", {}, 2),
        ("own", "change", [1, 2], 2),
    ],
)
def test_answers_with_other_kinds_of_parameters_are_refused(name, key, value, code, tmp_path, smqopt) -> None:
    assert smqopt("run", written(tmp_path, name), "--out", tmp_path / "out").code == 0
    answer = tmp_path / "out" / "answer.json"
    answer.write_text(json.dumps(read_json(answer) | {key: value}), encoding="utf-8")
    called = smqopt("verify", tmp_path / "out")
    assert (called.code, called.err[:8]) == (code, "smqopt: ")


def test_what_is_published_is_checked_against_the_answer(tmp_path: Path, smqopt: Callable) -> None:
    out = tmp_path / "out"
    assert smqopt("run", written(tmp_path, "histogram"), "--out", out).code == 0
    assert "public/release.json" in json.loads(smqopt("verify", out, "--json").out)["checked"]
    release = out / "public" / "release.json"
    published = read_json(release)
    edited = {key: published | {key: "other"} for key in ("grid", "new")}
    edited |= {"unrounded": published | {"value": [*published["value"][:-1], published["value"][-1] + 1e-9]}}
    for key, content in edited.items():
        release.write_text(json.dumps(content), encoding="utf-8")
        called = smqopt("verify", out)
        assert called.code != 0, key
        assert f"release.json: key '{key.replace('unrounded', 'value')}'" in called.err
    release.write_text(json.dumps(published), encoding="utf-8")
    assert smqopt("verify", out).code == 0
    copy = out / "public" / "solution.json"
    copy.write_text(copy.read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert "is no copy of" in smqopt("verify", out).err
    copy.write_bytes((out / "solution.json").read_bytes())
    assert smqopt("answer", out, "--model", tmp_path / "model.toml", "--seed", 1).code == 0
    assert not release.exists()
    assert smqopt("verify", out).code == 0
    release.write_text(json.dumps(published), encoding="utf-8")
    assert "stands beside a simulation" in smqopt("verify", out).err
    (out / "answer.json").unlink()
    assert json.loads(smqopt("verify", out, "--json").out)["unchecked"][-1] == "public/release.json"
    assert json.loads(smqopt("verify", out / "public", "--json").out)["unchecked"][-1] == "release.json"


def test_what_is_published_beside_the_value_does_not_depend_on_the_entries(tmp_path: Path, smqopt: Callable) -> None:
    beside = []
    for name, flip in itertools.product(QUERIES, (False, True)):
        query, data = QUERIES[name]
        entries = list(reversed(data)) if flip else data
        folder = tmp_path / f"{len(beside)}"
        folder.mkdir()
        model = folder / "model.toml"
        model.write_text(MODEL.replace("DATA", str(entries)).replace("QUERY", query), encoding="utf-8")
        if not beside:
            assert smqopt("run", model, "--out", tmp_path / "out").code == 0
        called = smqopt("answer", tmp_path / "out", "--model", model, "--json")
        assert called.code == 0, called.err
        assert smqopt("verify", tmp_path / "out").code == 0
        record = json.loads(called.out)
        record.pop("value")
        beside.append(record)
    for one, other in zip(beside[::2], beside[1::2], strict=True):
        one.pop("removed", None), other.pop("removed", None)
        assert one == other


@pytest.mark.parametrize("seed", [(), ("--seed", 3)], ids=["release", "simulation"])
def test_a_histogram_goes_all_the_way_to_the_report(seed: tuple[object, ...], tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt("run", written(tmp_path, "histogram"), "--out", tmp_path / "out", *seed)
    assert called.code == 0, called.err
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "edges 0, 40, 60, 100" in report
    assert 'id="output-law"' not in report  # there are three laws, and none is a figure


def test_queries_by_options(tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("run", written(tmp_path, "sum"), "--out", tmp_path / "out").code == 0
    table = tmp_path / "entries.csv"
    rows = "\n".join(f"{i + 1},{x}" for i, x in enumerate(ENTRIES))
    table.write_text(f"owner,data\n{rows}\n", encoding="utf-8")
    kept = tmp_path / "privacy.csv"
    assert smqopt("answer", tmp_path / "out", "--model", tmp_path / "model.toml", "--privacy", kept).code == 0
    columns = read_csv(kept)
    assert len(columns["owner"]) == read_json(tmp_path / "out" / "answer.json")["bought"]
    for promised, given in zip(columns["promised"], columns["given"], strict=True):
        assert 0 < float(given) <= float(promised)
    refused = smqopt("answer", tmp_path / "out", "--model", tmp_path / "model.toml", "--privacy", kept, "--seed", 1)
    assert refused.code == 2
    assert "a simulation protects nobody" in refused.err
    for options in (
        ("sum", "--low", 0, "--high", 100),
        ("mean", "--low", 0, "--high", 100, "--weighting", "inverse-probability", "--step", 0.5),
        ("histogram", "--edges", "0,40,100"),
        ("joint-histogram", "--edges", "0,40,100"),
    ):
        called = smqopt("answer", tmp_path / "out", "--data", table, "--query", *options)
        assert called.code == 0, called.err
        assert called.out.startswith(f"{options[0]}: ")
        assert smqopt("verify", tmp_path / "out").code == 0
    tampered = json.loads((tmp_path / "out" / "answer.json").read_text(encoding="utf-8")) | {"edges": [0, 50, 100]}
    (tmp_path / "out" / "answer.json").write_text(json.dumps(tampered), encoding="utf-8")
    assert "release.json: key 'edges'" in smqopt("verify", tmp_path / "out").err  # another partition was published
    tampered["noise_half_width"] *= 0.5
    (tmp_path / "out" / "answer.json").write_text(json.dumps(tampered), encoding="utf-8")
    assert smqopt("verify", tmp_path / "out").code == 1


ODD_CELLS = ["", "unknown", "nan", "inf", "-1", "7", "1e400", "٣", "=1+1", "1_0", "yes", " "]


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_a_release_does_not_depend_on_rows_that_were_not_bought(cell: str, tmp_path: Path, smqopt: Callable) -> None:
    """Whatever stands in the entry of an owner who asked too much: the same answer, byte by byte, by both ways in."""
    model = tmp_path / "model.toml"
    text = 'budget = 1.0\nseed = 4\n[owners]\ntable = "owners.csv"\nids = "owner"\nepsilon = "epsilon"\n'
    text += (
        'reports = "report"\ndata = "entry"\n[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n[query]\nkind = "count"\n'
    )
    model.write_text(text, encoding="utf-8")
    written_answers = []
    for entry in ("0", cell):
        table = f"owner,epsilon,report,entry\nann,1,0.1,1\nbo,1,0.2,0\ncy,1,0.99,{entry}\ndi,1,0.3,1\n"
        (tmp_path / "owners.csv").write_text(table, encoding="utf-8")
        assert smqopt("run", model, "--out", tmp_path / "out").code == 0
        by_model = (tmp_path / "out" / "answer.json").read_bytes()
        answered = smqopt(
            "answer", tmp_path / "out", "--data", tmp_path / "owners.csv", "--column", "entry", "--query", "count",
            "--seed", "4",
        )  # fmt: skip
        assert answered.code == 0, answered.err
        written_answers.append((by_model, (tmp_path / "out" / "answer.json").read_bytes()))
    assert written_answers[0] == written_answers[1]
    if cell not in ("0", "1"):
        bought = table.replace("ann,1,0.1,1", f"ann,1,0.1,{cell}")
        (tmp_path / "owners.csv").write_text(bought, encoding="utf-8")
        refused = smqopt("run", model, "--out", tmp_path / "out")
        assert refused.code == 2
        assert "ann" in refused.err
        assert not cell.strip() or len(cell) < 3 or cell not in refused.err
