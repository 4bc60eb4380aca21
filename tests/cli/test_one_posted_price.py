"""Model files that ask for one posted price each, from the solve to the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import smqopt as smq
from smqopt.errors import CertificateError
from smqopt.files import read_json
from smqopt.model_files import read_model
from smqopt.second_checker import check

MODEL = """title = "one price each"
seed = 3
budget = {budget}
{options}
[owners]
epsilon = [0.5, 0.8, 1.0, 1.1, 1.6, 2.0]
data = [1, 0, 1, 1, 0, 1]
[valuation]
law = "piecewise-uniform"
edges = [0, 0.9, 1]
masses = [0.5, 0.5]
[query]
kind = "count"
"""
REFUSED = {
    "gap = 1e-3": r"line 4: key 'gap': goes with lotteries = false \(found 0.001\); correct it, or leave it out",
    "lotteries = false\ngap = 1.5": r"line 5: key 'gap': must lie in \[0, 1\) \(found 1.5\)",
    "lotteries = 0": r"line 4: key 'lotteries': must be true or false \(found 0\)",
    'lotteries = "no"': r"line 4: key 'lotteries': must be true or false",
    "lottery = false": r"line 4: key 'lottery': is unknown; did you mean 'lotteries'\?",
}


def written(folder: Path, options: str, budget: float = 2.0) -> Path:
    path = folder / "model.toml"
    path.write_text(MODEL.format(options=options, budget=budget), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", REFUSED)
def test_bad_options_name_line_and_key(options: str, tmp_path: Path) -> None:
    with pytest.raises(smq.InputError, match=REFUSED[options]):
        read_model(written(tmp_path, options))


def test_lotteries_are_needed_where_budgets_are_asked_for(tmp_path: Path, smqopt: Callable) -> None:
    model = written(tmp_path, "lotteries = false")
    for command in (
        ("frontier", model),
        ("predict", model),
        ("solve", model, "--reserve", 0.9, "--out", tmp_path / "r"),
    ):
        called = smqopt(*command)
        assert called.code == 2
        assert "line 4: key 'lotteries': must be true for " in called.err
    question = '[question]\nkind = "frontier"\nbudgets = [1.0, 2.0]\n'
    model.write_text(model.read_text() + question)
    with pytest.raises(smq.InputError, match="key 'lotteries': must be true where"):
        read_model(model)


@pytest.mark.parametrize("gap", ["1e-6", "0", "0.0"])
def test_a_folder_is_read_back_with_the_gap_that_is_stated(tmp_path: Path, smqopt: Callable, gap: str) -> None:
    model = written(tmp_path, f"lotteries = false\ngap = {gap}")
    instance = smq.load_model(model)
    free = smq.solve(instance.market, instance.budget)
    posted = smq.solve(instance.market, instance.budget, **instance.model.options)
    assert free.lottery is not None
    assert posted.lottery is None
    assert posted.purchased_privacy < free.purchased_privacy
    out = tmp_path / "out"
    assert smqopt("run", model, "--out", out).code == 0
    content = read_json(out / "certificate.json")
    assert content["valid"]
    assert content["lower_bound"] == pytest.approx(posted.purchased_privacy, rel=1e-14)
    assert content["gap"] > 1e-10
    called = smqopt("verify", out)
    assert "key 'gap_tolerance': is not the one asked for" in called.err
    assert check(out)[0] == "refused"
    stated = content["gap_tolerance"]
    assert smqopt("verify", out, "--gap-tolerance", stated).code == 0
    assert check(out, stated)[0] == "not checked"  # it knows histograms that fall
    with pytest.raises(CertificateError, match="gap_tolerance"):
        smq.Certificate.load(out / "certificate.json", thresholds=out / "thresholds.csv")


def test_each_command_takes_the_gap(tmp_path: Path, smqopt: Callable) -> None:
    model, out = written(tmp_path, "lotteries = false"), tmp_path / "out"
    assert smqopt("solve", model, "--out", out).code == 0
    assert smqopt("verify", out).code == 1
    (out / "certificate.json").unlink()
    gap = ("--gap-tolerance", 0.05)
    for command in (
        ("verify", out),
        ("procure", out, "--model", model),
        ("answer", out, "--model", model),
        ("verify", out),
    ):
        assert smqopt(*command, *gap).code == 0
    assert smqopt("procure", out, "--model", model).code != 0
