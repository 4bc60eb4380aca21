"""A model under laws in doubt: valuations are drawn from one of them, the same for all owners."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup
from page_checks import check_page

import smqopt as smq
from smqopt.market import under_each_law
from smqopt.model_files import make_instance, read_model
from smqopt.report import RunRecord, run_report

MODEL = """
title = "two scenarios"
budget = 4
seed = 1

[owners]
epsilon = [0.2, 0.5, 1.0, 0.9]

[valuation]
law = "scenarios"
laws = [{ law = "uniform", low = 0, high = 1 }, { law = "uniform", low = 5, high = 6 }]
"""


def test_one_scenario_is_drawn_for_all_owners(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(MODEL, encoding="utf-8")
    drawn = [make_instance(read_model(str(path)), seed=seed).reports for seed in range(20)]
    below = [bool(np.all(reports <= 1)) for reports in drawn]
    assert all(low or np.all(reports >= 5) for low, reports in zip(below, drawn, strict=True))
    assert 0 < sum(below) < 20
    model = smq.load_model(path)
    assert smq.verify(smq.solve(model.market, model.budget)).valid


ASKED = """
title = "which of two"
budget = 1
seed = 1

[owners]
epsilon = [0.2, 0.5, 1.0, 0.9]
data = [1, 0, 1, 1]
groups = { city = ["Oslo", "Oslo", "Bergen", "Bergen"] }

[valuation]
law = "scenarios"
laws = [{ law = "uniform", low = 0, high = 1 }, { law = "uniform", low = 0, high = 2 }]

[query]
kind = "count"

[[constraint]]
kind = "coverage"
column = "city"
label = "Oslo"
at_least = 0.5
"""


def test_a_run_says_what_holds_under_each_law(tmp_path: Path, smqopt: Callable) -> None:
    path, out = tmp_path / "model.toml", tmp_path / "out"
    path.write_text(ASKED, encoding="utf-8")
    called = smqopt("run", path, "--out", out, "--json")
    assert called.code == 0, called.err
    told = json.loads(called.out)
    assert told["certificate"]["valid"]
    assert "several laws at once" in told["compared_with"]
    # both laws are uniform from 0: twice the top is half the chance, and half the spend
    first, second = told["laws"]
    assert first["spend"] == pytest.approx(1, abs=1e-9) == pytest.approx(2 * second["spend"], rel=1e-9)
    assert first["objective"] == pytest.approx(2 * second["objective"], rel=1e-9)
    assert second["objective"] == pytest.approx(told["certificate"]["lower_bound"], rel=1e-12)
    page = check_page((out / "report.html").read_text(encoding="utf-8"))
    rows = [[cell.text for cell in row.find_all(["th", "td"])] for row in page.find(id="law").select("tbody tr")]
    assert [row[0] for row in rows] == ["law 1 of 2", "law 2 of 2"]
    assert [float(row[2]) for row in rows] == pytest.approx([first["spend"], second["spend"]], rel=1e-6)
    checked = smqopt("verify", out, "--json")
    assert checked.code == 0, checked.err
    assert json.loads(checked.out)["laws"] == told["laws"]


def test_the_error_of_a_constraint_names_its_line_under_scenarios(tmp_path: Path, smqopt: Callable) -> None:
    path = tmp_path / "model.toml"
    path.write_text(ASKED.replace('label = "Oslo"', 'label = "Rome"'), encoding="utf-8")
    called = smqopt("solve", path, "--out", tmp_path / "out")
    assert called.code != 0
    assert "Rome" in called.err
    assert "line 21" in called.err
    assert "no single" not in called.err


def test_the_explorer_shows_the_dearest_law_and_predicts_nothing(tmp_path: Path, smqopt: Callable) -> None:
    path = tmp_path / "model.toml"
    path.write_text(ASKED.partition("[[constraint]]")[0], encoding="utf-8")
    called = smqopt("explore", path, "--out", tmp_path / "page.html")
    assert called.code == 0, called.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "largest under any of the laws" in text
    assert "RMSE" not in BeautifulSoup(text, "html.parser").find("main").text
    called = smqopt("explore", path, "--share", "0.5", "--out", tmp_path / "other.html")
    assert called.code != 0
    assert "need one law" in called.err


def the_report(law: smq.Scenarios, **options: object) -> str:
    market = smq.Market([0.4, 1.0], law)
    return run_report(RunRecord("made up", "nowhere", smq.verify(smq.solve(market, 0.3, **options))))


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0, 2)], weights=[1, 3]), "weighted mean over the laws"),
        (smq.from_samples([0.1, 0.4, 0.5, 0.9] * 20, low=0, high=1, band=0.9), "what the lower edge guarantees"),
        (smq.ByOwner([smq.from_samples([0.1, 0.9] * 40, low=0, high=1, band=0.9), smq.Uniform(0, 1)]), "lower edge"),
    ],
)
def test_a_report_names_the_laws_and_what_counts(law: smq.Scenarios, says: str) -> None:
    text = " ".join(check_page(the_report(law)).text.split())
    assert says in text
    assert "means over the laws" in text


def test_what_one_law_comes_to_is_that_law_itself() -> None:
    solution = smq.solve(smq.Market([0.4, 1.0], smq.Uniform(0, 1)), 0.3)
    (one,) = under_each_law(solution)
    assert one.solution is solution
    assert one.name == ""
    market = smq.Market([0.4, 1.0], smq.Scenarios([smq.Uniform(0, 1), smq.Uniform(0.5, 1)]))
    solution = smq.solve(market, 0.3)
    each = under_each_law(solution)
    assert min(one.solution.purchased_privacy for one in each) == pytest.approx(solution.objective_value, rel=1e-12)
    for law in each:
        q = np.where(
            solution.acceptance > 0, law.solution.market.valuation.cdf(np.clip(solution.thresholds, 0.5, 1)), 0
        )
        if solution.lottery is None:
            assert law.solution.acceptance.tolist() == q.tolist()


BANDED = """
title = "a band around a sample"
budget = 1
seed = 1

[owners]
epsilon = [0.2, 0.5, 1.0, 0.9]

[valuation]
law = "from-samples"
table = "bids.csv"
column = "bid"
low = 0
high = 1
band = {band}
"""


def test_a_band_around_samples_is_stated_in_a_model(tmp_path: Path) -> None:
    bids = np.random.default_rng(0).random(300).round(4).tolist()
    (tmp_path / "bids.csv").write_text("bid\n" + "\n".join(map(str, bids)) + "\n", encoding="utf-8")
    path = tmp_path / "model.toml"
    path.write_text(BANDED.format(band=0.95), encoding="utf-8")
    model = smq.load_model(path)
    market = smq.Market([0.2, 0.5, 1.0, 0.9], smq.from_samples(bids, low=0, high=1, band=0.95))
    solution = smq.solve(model.market, model.budget)
    assert smq.verify(solution).valid
    assert solution.purchased_privacy == smq.solve(market, 1.0).purchased_privacy
    path.write_text(BANDED.format(band=1.5), encoding="utf-8")
    with pytest.raises(smq.InputError, match=r"model.toml line 15: .*.band'.*must lie in \(0, 1\)"):
        smq.load_model(path)


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("low = 5, high = 6", "low = 6, high = 5", "line 11: [valuation]: key 'laws', law 2: uniform: parameter 'high': must exceed low"),
        ("seed = 1\n", 'seed = 1\nobjective = { kind = "least-spend", x = 1 }\n', "is unknown to 'least-spend'; drop it"),
        (
            "seed = 1\n",
            'seed = 1\nconstraint = [{ kind = "price-menu", prices = 0.5 }]\n',
            "argument 'prices': must be a list (found '0.5'); put it in brackets",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_where_it_stands(tmp_path: Path, was: str, becomes: str, says: str) -> None:
    path = tmp_path / "model.toml"
    path.write_text(MODEL.replace(was, becomes), encoding="utf-8")
    with pytest.raises(smq.InputError) as raised:
        smq.load_model(path)
    assert says in str(raised.value)
