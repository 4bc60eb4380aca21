"""The whole road: from a model file to a certified answer and a report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import smqopt as smq
from smqopt.cli.outputs._folder import OUTPUTS
from smqopt.files import read_csv, read_json
from smqopt.model_files import make_instance, read_model

MODELS = Path(__file__).parents[2] / "models"
SIMULATION = "simulation, not a private release"


def test_the_run_on_adult_writes_everything(adult_run: Path) -> None:
    assert sorted(path.name for path in adult_run.iterdir()) == sorted(OUTPUTS)
    assert [path.name for path in adult_run.parent.iterdir()] == ["out"]


def test_its_certificate_is_valid_and_says_why(adult_run: Path) -> None:
    certificate = read_json(adult_run / "certificate.json")
    assert {"valid", "grade", "lower_bound", "upper_bound", "gap", "budget", "checks"} <= set(certificate)
    assert certificate["valid"] is True
    assert certificate["budget"] == 6512.2
    assert 0 <= certificate["gap"] <= 1e-10
    assert all(check["passed"] for check in certificate["checks"] if check["required"])


def test_its_solution_is_the_one_that_the_library_finds(adult_run: Path) -> None:
    instance = make_instance(read_model(MODELS / "adult-income-count.toml"))
    solution = smq.solve(instance.market, 6512.2)
    assert smq.Solution.load(adult_run).thresholds.tolist() == solution.thresholds.tolist()


def test_its_outcome_is_algorithm_1(adult_run: Path) -> None:
    instance = make_instance(read_model(MODELS / "adult-income-count.toml"))
    table = read_csv(adult_run / "outcome.csv")
    thresholds = np.array(table["threshold"], dtype=float)
    sold = instance.require("reports") <= thresholds
    assert table["owner"] == [str(i + 1) for i in range(32_561)]
    assert (np.array(table["selected"]) == "yes").tolist() == sold.tolist()
    assert np.array(table["payment"], dtype=float).tolist() == np.where(sold, thresholds, 0.0).tolist()


def test_its_answer_is_near_the_count_and_says_what_it_is(adult_run: Path) -> None:
    answer = read_json(adult_run / "answer.json")
    sold = np.array(read_csv(adult_run / "outcome.csv")["selected"]) == "yes"
    assert (answer["n"], answer["bought"], answer["simulation"], answer["seed"]) == (32_561, int(sold.sum()), True, 1)
    assert SIMULATION in answer["note"]
    data = make_instance(read_model(MODELS / "adult-income-count.toml")).require("data")
    exact = data[sold].sum() * 32_561 / sold.sum()
    assert abs(answer["value"] - exact) <= answer["noise_half_width"]
    assert 0 < answer["noise_half_width"] < 800


def test_its_report_is_self_contained_and_says_simulation(adult_run: Path) -> None:
    report = (adult_run / "report.html").read_text(encoding="utf-8")
    assert SIMULATION in report.lower()
    assert "<script" not in report
    assert "Kohavi" in report
    assert "10.24432/C5XW20" in report
    assert report.count("<math") > 5
    assert report.count("<svg") >= 2


def test_no_report_or_entry_leaves_the_run(adult_run: Path) -> None:
    reports = make_instance(read_model(MODELS / "adult-income-count.toml")).require("reports")
    written = "".join((adult_run / name).read_text(encoding="utf-8") for name in OUTPUTS)
    assert not [report for report in reports[:300].tolist() if repr(report) in written]


def test_verify_finds_the_run_in_order(adult_run: Path, smqopt: Callable) -> None:
    called = smqopt("verify", adult_run, "--json")
    assert (called.code, called.err) == (0, "")
    assert json.loads(called.out)["checked"] == ["certificate.json", "outcome.csv", "answer.json"]


def test_verify_sees_an_edited_requirement_on_adult(adult_run: Path, tmp_path: Path, smqopt: Callable) -> None:
    folder = tmp_path / "out"
    shutil.copytree(adult_run, folder)
    lines = (folder / "thresholds.csv").read_text().splitlines()
    owner, epsilon, *rest = lines[20_000].split(",")
    lines[20_000] = ",".join([owner, repr(np.nextafter(float(epsilon), 2.0).item()), *rest])
    (folder / "thresholds.csv").write_text("\n".join(lines) + "\n")
    called = smqopt("verify", folder)
    assert called.code == 1
    assert "fingerprint" in called.error


def test_the_median_model_runs(tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt("run", MODELS / "adult-median-age.toml", "--out", tmp_path / "out", "--json")
    assert (called.code, called.err) == (0, "")
    record = json.loads(called.out)
    assert (record["query"], record["low"], record["high"]) == ("median", 0, 120)
    assert abs(record["value"] - 37) <= 2
    assert record["noise_unit"].startswith("ranks")


def test_json_is_one_object_and_people_get_lines(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    machine = smqopt("run", small, "--out", tmp_path / "a", "--json")
    people = smqopt("run", small, "--out", tmp_path / "b")
    assert (machine.code, people.code, machine.err, people.err) == (0, 0, "", "")
    record = json.loads(machine.out)
    assert machine.out.count("\n") == 1
    assert record["certificate"]["valid"] is True
    answer = read_json(tmp_path / "a" / "answer.json")
    assert {key: record[key] for key in answer} == answer
    assert people.out.startswith("small\ncertificate: valid")
    assert SIMULATION in people.out
    assert str(tmp_path / "b" / "report.html") in people.out


def test_a_seed_fixes_every_file_and_another_seed_another_noise(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    for name, seed in (("a", ()), ("b", ("--seed", 7)), *((f"s{k}", ("--seed", k)) for k in range(4))):
        assert smqopt("run", small, "--out", tmp_path / name, *seed).code == 0
    for name in OUTPUTS:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    values = {read_json(tmp_path / f"s{k}" / "answer.json")["value"] for k in range(4)}
    assert len(values) > 1


def test_without_a_seed_the_release_is_private(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    small.write_text(small.read_text().replace("seed = 7\n", ""), encoding="utf-8")
    called = smqopt("run", small, "--out", tmp_path / "out", "--json")
    assert called.code == 0
    answer = read_json(tmp_path / "out" / "answer.json")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert answer["simulation"] is False
    assert "seed" not in answer
    assert "simulation" not in answer["note"] + called.out.replace('"simulation": false', "")
    assert SIMULATION not in report.lower()


def test_owner_ids_travel_through_every_table(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("run", small, "--out", tmp_path / "out").code == 0
    for name in ("thresholds.csv", "outcome.csv"):
        assert read_csv(tmp_path / "out" / name)["owner"] == ["ann", "bo", "cy", "di"]


def test_a_small_market_is_compared_with_the_conic_route(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("run", small, "--out", tmp_path / "out").code == 0
    content = read_json(tmp_path / "out" / "certificate.json")
    checks = {check["name"]: check for check in content["checks"] + content["unchecked"]["agreement"]}
    assert 0 <= checks["agreement with conic"]["value"] < 1e-3
    assert checks["closed form"]["passed"] is True


def test_a_formula_runs_without_a_cone_form(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    text = small.read_text().replace('law = "uniform"', 'cdf = "theta**2 * (3 - 2*theta)"')
    small.write_text(text, encoding="utf-8")
    called = smqopt("run", small, "--out", tmp_path / "out")
    assert (called.code, called.err) == (0, "")


def test_alike_owners_are_bought_one_by_one(tmp_path: Path, smqopt: Callable) -> None:
    model = tmp_path / "model.toml"
    model.write_text(
        """budget = 2
seed = 3
[owners]
ids = ["north", "south"]
epsilon = [1, 2]
multiplicity = [3, 2]
reports = [0.0, 0.0]
data = [1, 0]
[valuation]
law = "power"
k = 2
low = 0
high = 1
[query]
kind = "count"
""",
        encoding="utf-8",
    )
    assert smqopt("run", model, "--out", tmp_path / "out").code == 0
    table = read_csv(tmp_path / "out" / "outcome.csv")
    assert table["owner"] == ["north#1", "north#2", "north#3", "south#1", "south#2"]
    assert table["selected"] == ["yes"] * 5
    assert smqopt("verify", tmp_path / "out").code == 0


def test_data_is_refused_for_a_model_without_a_data_set(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt("run", small, "--out", tmp_path / "out", "--data", "x")
    assert called.code == 2
    assert "option '--data'" in called.error
    assert not (tmp_path / "out").exists()


def test_a_missing_data_file_is_told_with_its_source(tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt(
        "run", MODELS / "adult-income-count.toml", "--out", tmp_path / "out", "--data", tmp_path / "adult.data"
    )
    assert called.code == 2
    assert "10.24432/C5XW20" in called.error
    assert not (tmp_path / "out").exists()


def test_a_run_that_buys_nothing_answers_with_the_midpoint(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    small.write_text(small.read_text().replace("budget = 1.5", "budget = 0"), encoding="utf-8")
    called = smqopt("run", small, "--out", tmp_path / "out")
    assert called.code == 0
    assert "public midpoint" in read_json(tmp_path / "out" / "answer.json")["nothing"]


def test_a_run_replaces_an_earlier_one(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("run", small, "--out", tmp_path / "out").code == 0
    before = read_json(tmp_path / "out" / "certificate.json")["budget"]
    small.write_text(small.read_text().replace("budget = 1.5", "budget = 1.25"), encoding="utf-8")
    assert smqopt("run", small, "--out", tmp_path / "out").code == 0
    assert (before, read_json(tmp_path / "out" / "certificate.json")["budget"]) == (1.5, 1.25)


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["adult-income-count", "adult-median-age"])
def test_the_original_file_runs(tmp_path: Path, smqopt: Callable, name: str) -> None:
    from smqopt.model_files.adult import _adult as adult

    data = adult.ORIGINAL.find()
    called = smqopt("run", MODELS / f"{name}.toml", "--out", tmp_path / "out", "--data", data, "--json")
    assert called.code == 0
    assert json.loads(called.out)["n"] == 32_561
    assert "the original file" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


IRREGULAR = """budget = 2
seed = 4
[owners]
epsilon = [1, 1, 1, 1, 1, 1, 1, 1]
reports = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
data = [1, 0, 1, 1, 0, 0, 1, 1]
[valuation]
cdf = "((1 - 99*theta/100)**(-1/2) - 1)/9"
low = 0
high = 1
[query]
kind = "count"
"""
"""The law of errata E1, whose optimum here is a lottery between two thresholds for every owner."""


@pytest.mark.slow
def test_a_seed_fixes_the_lotteries_too(tmp_path: Path, smqopt: Callable) -> None:
    model = tmp_path / "model.toml"
    model.write_text(IRREGULAR, encoding="utf-8")
    drawn = {}
    for name, seed in (("a", 4), ("b", 4), ("other", 5)):
        assert smqopt("run", model, "--out", tmp_path / name, "--seed", seed).code == 0
        drawn[name] = tuple(read_csv(tmp_path / name / "outcome.csv")["threshold"])
    assert len(set(drawn["a"])) == 2
    assert drawn["a"] == drawn["b"]
    assert len(set(drawn.values())) > 1
    for name in OUTPUTS:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


HISTOGRAM = """budget = 90
seed = 7
[owners]
epsilon = [{epsilon}]
data = [{data}]
[valuation]
law = "piecewise-uniform"
edges = [{edges}]
masses = [{masses}]
[query]
kind = "count"
"""


def test_the_comparison_is_a_choice_and_off_where_it_takes_long(tmp_path: Path, small: Path, smqopt: Callable) -> None:
    text = HISTOGRAM.format(
        epsilon=", ".join(f"{0.1 + k / 400}" for k in range(400)),
        data=", ".join(["1"] * 400),
        edges=", ".join(f"{k / 20}" for k in range(21)),
        masses=", ".join(f"{1 + k % 3}" for k in range(20)),
    )
    path = tmp_path / "histogram.toml"
    path.write_text(text, encoding="utf-8")
    called = smqopt("run", path, "--out", tmp_path / "out")
    assert called.code == 0, called.err
    assert "compared with the conic route: no: more than 2000 pieces of cost curves" in called.out
    for compare, told in (("auto", "yes"), ("yes", "yes"), ("no", "no: not asked for")):
        called = smqopt("run", small, "--out", tmp_path / "small", "--compare", compare)
        assert f"compared with the conic route: {told}" in called.out
