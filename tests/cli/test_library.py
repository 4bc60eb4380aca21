"""The model library: every model solves, certifies, and comes to the answer that it states."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from certified_answer import AnswerBounds, answer_bounds, digits_in_common, instance_of, price_bounds
from made_up_tables import made_up_parts, made_up_tables, tutorial_tables, write_made_up_tables
from marks import fill
from model_page import SCHEMA, TABLES, schema_text

import smqopt as smq
from smqopt.errors import InputError
from smqopt.files import read_csv
from smqopt.market import Status
from smqopt.model_files import Instance, model_files, read_model
from smqopt.model_files._library import model_path
from smqopt.model_files.schema._model_table import StatedNumber

ROOT = Path(__file__).parents[2]
NAMES = [path.stem for path in model_files()]
SLOW = ["copula-correlated"]
IN_PARTS = "two-parts"
"""It runs on Dask, in test_parts; and where there is no pyarrow, not at all."""
if importlib.util.find_spec("pyarrow") is None:
    SLOW.append(IN_PARTS)
QUICK = [name for name in NAMES if name not in SLOW]


@cache
def instance(name: str) -> Instance:
    return instance_of(name)


def agrees(stated: StatedNumber | None, ends: tuple[float, float]) -> bool:
    return stated is not None and stated.agrees(*ends)


def check(name: str) -> AnswerBounds:
    model, found = instance(name).model, answer_bounds(instance(name))
    answer = model.answer
    assert answer is not None
    assert found.certificate.valid, found.certificate.reasons
    assert found.status is answer.status
    own = found.certificate.solution.objective.kind == "purchased-privacy"
    assert agrees(answer.purchased_privacy if own else answer.objective_value, found.value)
    assert (answer.objective_value is None) is own
    if found.budget is not None:
        assert agrees(answer.budget, found.budget)
    price = found.certificate.solution.budget_price
    assert (answer.budget_price is None) is found.is_error
    if found.is_error:
        return found
    if found.status is Status.SLACK:
        assert (price, answer.budget_price) == (0, StatedNumber("0"))
    else:
        least, most = answer.budget_price.ends
        assert least - (most - least) <= price <= most + (most - least)
    return found


def test_there_are_enough_models() -> None:
    assert len(NAMES) >= 18


@pytest.mark.parametrize("name", QUICK)
def test_a_model_comes_to_the_answer_that_it_states(name: str) -> None:
    check(name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_bounds_at_neighbouring_budgets_show_every_digit(name: str) -> None:
    found, answer = check(name), instance(name).model.answer
    own = answer.purchased_privacy or answer.objective_value
    assert own.text == digits_in_common(*found.value, 12)
    if found.status is not Status.SLACK and not found.is_error:
        assert answer.budget_price.text == digits_in_common(*price_bounds(instance(name)), 7)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_says_what_it_is(name: str) -> None:
    model = read_model(name)
    assert model.title != name
    assert model.source
    assert model.teaches
    assert model.description
    assert model.query is not None
    assert model.seed is not None


@pytest.mark.parametrize(
    ("name", "shows"),
    [
        ("irregular-lotteries", lambda found: found.certificate.solution.lottery is not None),
        ("whole-cent-prices", lambda found: found.certificate.solution.lottery is not None),
        ("slack-market", lambda found: found.certificate.solution.total_spend < 60),
        ("one-price-per-city", lambda found: len(set(found.certificate.solution.thresholds.tolist())) == 3),
        ("one-price-many-laws", lambda found: found.certificate.solution.lottery.owner.size == 16),
        ("fair-coverage", lambda found: found.certificate.solution.constraint_prices.max() > 0.1),
        ("two-buyers", lambda found: found.certificate.solution.constraint_prices.tolist()[1] > 0.01),
        ("one-price-per-postcode", lambda found: len(set(found.certificate.solution.thresholds.tolist())) == 6),
        ("equal-pay-in-doubt", lambda found: found.certificate.solution.constraint_prices[-2:].tolist()[1] < -0.1),
        ("group-budgets", lambda found: found.certificate.solution.constraint_prices.max() > 0.01),
        ("heterogeneous-regions", lambda found: found.certificate.solution.market.valuation.size == 48),
    ],
)
def test_a_model_shows_what_it_teaches(name: str, shows: Callable[[AnswerBounds], bool]) -> None:
    assert shows(answer_bounds(instance(name)))


@pytest.mark.parametrize("change", ["3", "11.3", "11.195412990", "12.1954129893"])
def test_a_wrong_answer_is_noticed(change: str) -> None:
    found = answer_bounds(instance("linear-predictor"))
    assert not StatedNumber(change).agrees(*found.value)
    assert StatedNumber("11.19541").agrees(*found.value)


COVERED = """
budget = 1.5
seed = 7
[owners]
epsilon = [0.5, 1.0, 1.5, 2.0]
groups = { city = ["Oslo", "Oslo", "Bergen", "Bergen"] }
data = [1, 0, 1, 1]
[valuation]
law = "uniform"
low = 0
high = 1
[query]
kind = "count"
[question]
kind = "frontier"
budgets = [4, 0.2, 0.4, 1, 1.5]
[[constraint]]
kind = "coverage"
column = "city"
label = "Oslo"
at_least = 1
"""


def runs(smqopt: Callable, name: str, out: Path) -> dict[str, object]:
    called = smqopt("run", name, "--out", out, "--json")
    assert called.code == 0, called.err
    record = json.loads(called.out)
    assert record["certificate"]["valid"]
    assert smqopt("verify", out).code == 0
    return record


def test_a_run_says_where_constraints_cannot_be_paid_for(tmp_path: Path, smqopt: Callable) -> None:
    path = tmp_path / "frontier.toml"
    path.write_text(COVERED, encoding="utf-8")
    record = runs(smqopt, str(path), tmp_path / "out")
    table = read_csv(tmp_path / "out" / "frontier.csv")
    assert table["status"] == ["INFEASIBLE"] * 2 + ["BINDING"] * 2 + ["SLACK"]
    solved = smq.solve(
        smq.Market([0.5, 1.0, 1.5, 2.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Oslo", "Bergen", "Bergen"]}),
        1.0,
        constraints=[smq.Coverage("city", "Oslo", at_least=1)],
    )
    assert float(table["purchased_privacy"][2]) == pytest.approx(solved.purchased_privacy, rel=1e-12)
    question = json.loads((tmp_path / "out" / "question.json").read_text(encoding="utf-8"))
    assert question == record["question"]
    assert question["purchased_privacy"][:2] == ["-inf"] * 2
    assert "at least 1 expected owners of city = Oslo" in question["conflict"]
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "What would each budget buy?" in report
    assert "Up to a budget of 0.4" in report


def test_a_least_budget_is_spent(tmp_path: Path, smqopt: Callable) -> None:
    record = runs(smqopt, "least-budget", tmp_path / "out")
    assert record["question"]["asked"] == 12
    assert record["budget"] == record["question"]["budget"]
    assert "How much must be spent" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    called = smqopt("procure", tmp_path / "out", "--model", "least-budget")
    assert called.code == 0, called.err


@pytest.mark.parametrize("name", [name for name in NAMES if name != IN_PARTS])
def test_every_model_runs(name: str, tmp_path: Path, smqopt: Callable) -> None:
    runs(smqopt, name, tmp_path / "out")


@pytest.mark.parametrize("name", ["two-kinds-of-owners", "fair-coverage", "minimum-variance"])
def test_a_report_claims_of_op2_alone_what_holds_of_op2_alone(name: str, tmp_path: Path, smqopt: Callable) -> None:
    """λ in closed form and thresholds where J meets ε/λ are claims about OP2, false where something was added to it."""
    runs(smqopt, name, tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    plain = name == "two-kinds-of-owners"
    assert ("threshold is where J meets her ε/λ" in report) is plain
    assert ("It speaks of OP2 alone" in report) is not plain
    assert ("prices of the side constraints take" in " ".join(report.split())) is (name == "fair-coverage")
    assert ("The objective is the variance of" in report) is (name == "minimum-variance")
    assert ("units of <math" in report.split("one more unit of currency", 2)[2][:60]) is (name != "minimum-variance")


def test_the_list_and_one_model(smqopt: Callable) -> None:
    listed = smqopt("models")
    assert all(f"\n{name} " in f"\n{listed.out}" for name in NAMES)
    one = smqopt("models", "fair-coverage")
    assert "11.0143860964" in one.out
    assert "at least 6 expected owners of city = Oslo" in one.out
    record = json.loads(smqopt("models", "slack-market", "--json").out)
    assert (record["status"], record["budget_price"]) == ("SLACK", "0")


def test_a_name_that_is_none(smqopt: Callable, tmp_path: Path) -> None:
    called = smqopt("run", "fair-coverge", "--out", tmp_path / "out")
    assert called.code == 2
    assert "is neither a file nor a name of the library; did you mean 'fair-coverage'?" in called.error
    with pytest.raises(InputError):
        model_path("nothing")
    assert model_path("nothing.toml") == Path("nothing.toml")


def test_the_tables_are_those_of_the_program(tmp_path: Path) -> None:
    write_made_up_tables(tmp_path, made_up_tables())
    there = model_files()[0].parent / "tables"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in there.iterdir())
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (there / path.name).read_bytes()


def test_the_parts_are_those_of_the_program() -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs smqopt[scale]")
    there = model_files()[0].parent / "parts"
    made = dict(made_up_parts())
    assert {path.name: pq.read_table(path).to_pydict() for path in there.iterdir()} == made


def test_the_tables_of_the_tutorial_are_those_of_the_program(tmp_path: Path) -> None:
    write_made_up_tables(tmp_path, tutorial_tables())
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (ROOT / "docs" / "tutorial" / path.name).read_bytes()


def test_the_page_of_models_is_what_the_models_say() -> None:
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert fill(text, TABLES) == text, "run python docs/generate/model_page.py"
    with pytest.raises(ValueError, match="must hold the lines"):
        fill("nothing", TABLES)


def test_the_schema_of_model_files_is_what_reads_them() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), "run python docs/generate/model_page.py"


@pytest.mark.parametrize("path", model_files(), ids=lambda path: path.stem)
def test_every_model_of_the_library_follows_the_schema(path: Path) -> None:
    jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), json.loads(schema_text()))


def test_python_users_load_a_model() -> None:
    model = smq.load_model("fair-coverage")
    found = smq.solve(model.market, model.budget, objective=model.objective, constraints=model.constraints)
    assert smq.verify(found).valid
    assert model.query is not None


def test_an_objective_asks_no_question_of_purchased_privacy(tmp_path: Path, smqopt: Callable) -> None:
    path = tmp_path / "model.toml"
    text = model_path("diminishing-returns").read_text(encoding="utf-8").replace("tables/", f"{ROOT}/models/tables/")
    path.write_text(text + '[question]\nkind = "frontier"\n', encoding="utf-8")
    called = smqopt("solve", path, "--out", tmp_path / "out")
    assert called.code == 2
    assert "'question.kind': is asked of purchased privacy" in called.error
    path.write_text(text, encoding="utf-8")
    assert "has no frontier" in smqopt("frontier", path).error


def test_a_folder_made_for_another_objective_is_refused(tmp_path: Path, smqopt: Callable) -> None:
    assert smqopt("solve", "diminishing-returns", "--out", tmp_path / "out").code == 0
    assert smqopt("verify", tmp_path / "out").code == 0
    other = dataclasses.replace(read_model("diminishing-returns"))
    text = other.path.read_text(encoding="utf-8").replace("scale = 0.1", "scale = 0.2")
    path = tmp_path / "other.toml"
    path.write_text(text.replace("tables/", f"{ROOT}/models/tables/"), encoding="utf-8")
    called = smqopt("procure", tmp_path / "out", "--model", path)
    assert called.code == 2
    assert "is another objective than that of the folder" in called.error


def test_a_lasting_budget_is_solved_for_and_its_money_kept(tmp_path: Path, smqopt: Callable) -> None:
    record = runs(smqopt, "while-it-lasts", tmp_path / "out")
    assert (record["rule"], record["money"]) == ("while-it-lasts", 9)
    assert record["budget"] == record["question"]["budget"] != 9
    assert record["question"]["guaranteed"] <= record["question"]["most"]
    assert "Which budget should the thresholds be for?" in (tmp_path / "out" / "report.html").read_text("utf-8")
    bought = json.loads(smqopt("procure", tmp_path / "out", "--model", "while-it-lasts", "--json").out)
    assert (bought["money"], bought["rule"]) == (9, "while-it-lasts")
    less = smqopt("procure", tmp_path / "out", "--model", "while-it-lasts", "--money", 2, "--json")
    assert json.loads(less.out)["total_payment"] <= 2
    assert smqopt("verify", tmp_path / "out").code == 0
    refused = smqopt("procure", tmp_path / "out", "--model", "while-it-lasts", "--payments", "posted", "--money", 2)
    assert "offers in no order" in refused.error


def test_a_least_budget_for_an_error_is_spent(tmp_path: Path, smqopt: Callable) -> None:
    record = runs(smqopt, "least-budget-for-an-error", tmp_path / "out")
    question = record["question"]
    assert question["error"] <= question["asked"] == 6
    assert record["budget"] == question["budget"] >= question["lower_bound"]
    assert "so near the truth" in (tmp_path / "out" / "report.html").read_text("utf-8")
    called = smqopt("procure", tmp_path / "out", "--model", "least-budget-for-an-error")
    assert called.code == 0, called.err


def test_a_frontier_of_errors_is_a_table_and_a_picture(tmp_path: Path, smqopt: Callable) -> None:
    table, figure = tmp_path / "errors.csv", tmp_path / "errors.svg"
    called = smqopt("frontier", "least-error", "--budgets", "4,8", "--out", table, "--out", figure, "--json")
    record = json.loads(called.out)
    assert record["budgets"] == [4, 8]
    assert read_csv(table)["budget"] == ["4.0", "8.0"]
    assert all(bound <= error for bound, error in zip(record["error_bound"], record["error"], strict=True))
    assert figure.read_text("utf-8").startswith("<svg")
    path = tmp_path / "model.toml"
    text = model_path("least-error").read_text(encoding="utf-8").replace("tables/", f"{ROOT}/models/tables/")
    path.write_text(text + '[question]\nkind = "frontier"\nbudgets = [4, 8]\n', encoding="utf-8")
    asked = runs(smqopt, str(path), tmp_path / "out")["question"]
    assert asked["error"] == record["error"]
    assert read_csv(tmp_path / "out" / "frontier.csv")["rmse"] == read_csv(table)["rmse"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ('kind = "least-budget"', "must say what is to be reached"),
        ('kind = "least-budget"\nerror = 3\npurchased_privacy = 3', "must say what is to be reached"),
        ('kind = "least-budget"\nerror = 0', "must be > 0"),
        ('kind = "least-budget"\nerror = 3', "is asked of mean squared error"),
        ('kind = "lasting-budget"', "is missing"),
        ('kind = "lasting-budget"\nmoney = 0', "must be > 0"),
    ],
)
def test_a_question_without_an_object_is_refused(question: str, said: str, tmp_path: Path, smqopt: Callable) -> None:
    path = tmp_path / "model.toml"
    path.write_text(
        COVERED.split("[question]", maxsplit=1)[0].replace("budget = 1.5\n", "") + f"[question]\n{question}\n"
    )
    called = smqopt("solve", path, "--out", tmp_path / "out")
    assert called.code == 2
    assert said in called.error, called.error
    assert not (tmp_path / "out").exists()


def test_the_expected_error_stands_beside_the_error(tmp_path: Path, smqopt: Callable) -> None:
    record = runs(smqopt, "least-error", tmp_path / "out")
    low, high = record["expected_error"]
    assert record["error"] < low <= high < 1.001 * low
    assert "over who sells" in (tmp_path / "out" / "report.html").read_text("utf-8")
    solved = smqopt("solve", "least-error", "--out", tmp_path / "solved")
    assert "at the expected sums; 8.142" in solved.out
    assert json.loads(smqopt("verify", tmp_path / "out", "--json").out)["expected_error"] == [low, high]
