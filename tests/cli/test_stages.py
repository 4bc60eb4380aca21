"""Each stage alone, file to file; and what `verify` sees when a file was edited."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import cvxpy as cp
import pytest

import smqopt as smq
from smqopt.cli.outputs._folder import OUTPUTS
from smqopt.files import read_csv, read_json, write_json

REPORTS = "owner,report\ndi,0.9375\ncy,0.375\nann,0.125\nbo,0.25\n"
ENTRIES = "owner,data\nann,1\nbo,0\ncy,1\ndi,1\n"


@pytest.fixture
def done(small: Path, tmp_path: Path, smqopt: Callable) -> Path:
    """A folder that `run` made from the small model."""
    assert smqopt("run", small, "--out", tmp_path / "done").code == 0
    return tmp_path / "done"


def table(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_the_stages_one_by_one_give_what_the_run_gives(
    small: Path, done: Path, tmp_path: Path, smqopt: Callable
) -> None:
    out = tmp_path / "out"
    reports, entries = table(tmp_path, "reports.csv", REPORTS), table(tmp_path, "entries.csv", ENTRIES)
    assert smqopt("solve", small, "--out", out).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["solution.json", "thresholds.csv"]
    assert smqopt("verify", out).code == 0
    assert smqopt("procure", out, "--reports", reports).code == 0
    assert smqopt("answer", out, "--data", entries, "--query", "count", "--seed", 7).code == 0
    for name in OUTPUTS[:-1]:
        assert (out / name).read_bytes() == (done / name).read_bytes(), name


def test_the_stages_take_the_model_too(small: Path, done: Path, tmp_path: Path, smqopt: Callable) -> None:
    out = tmp_path / "out"
    for arguments in (
        ("solve", small, "--out", out),
        ("verify", out),
        ("procure", out, "--model", small),
        ("answer", out, "--model", small),
    ):
        called = smqopt(*arguments, "--json")
        assert (called.code, called.err) == (0, "")
        assert isinstance(json.loads(called.out), dict)
    for name in OUTPUTS[:-1]:
        assert (out / name).read_bytes() == (done / name).read_bytes(), name


def test_an_answer_needs_only_the_bought_entries(done: Path, tmp_path: Path, smqopt: Callable) -> None:
    bought = [
        owner
        for owner, selected in zip(
            *(read_csv(done / "outcome.csv")[name] for name in ("owner", "selected")), strict=True
        )
        if selected == "yes"
    ]
    assert 0 < len(bought) < 4
    rows = [line for line in ENTRIES.splitlines()[1:] if line.split(",")[0] in bought]
    entries = table(tmp_path, "entries.csv", "\n".join(["owner,data", *reversed(rows)]) + "\n")
    before = (done / "answer.json").read_bytes()
    assert smqopt("answer", done, "--data", entries, "--query", "count", "--seed", 7).code == 0
    assert (done / "answer.json").read_bytes() == before


def test_an_answer_without_a_seed_is_a_private_release(done: Path, tmp_path: Path, smqopt: Callable) -> None:
    called = smqopt(
        "answer", done, "--data", table(tmp_path, "entries.csv", ENTRIES), "--query", "median", "--low", 0, "--high", 1
    )
    assert called.code == 0
    assert read_json(done / "answer.json")["simulation"] is False
    assert "simulation" not in called.out
    assert smqopt("verify", done).code == 0


def test_an_earlier_stage_removes_what_later_ones_made(
    small: Path, done: Path, tmp_path: Path, smqopt: Callable
) -> None:
    called = smqopt("procure", done, "--reports", table(tmp_path, "reports.csv", REPORTS))
    assert called.code == 0
    assert "removed" in called.out
    assert sorted(path.name for path in done.iterdir()) == [
        "certificate.json",
        "outcome.csv",
        "solution.json",
        "thresholds.csv",
    ]
    assert smqopt("solve", small, "--out", done).code == 0
    assert sorted(path.name for path in done.iterdir()) == ["solution.json", "thresholds.csv"]


def test_procure_refuses_a_folder_without_a_certificate(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    out = tmp_path / "out"
    assert smqopt("solve", small, "--out", out).code == 0
    called = smqopt("procure", out, "--reports", table(tmp_path, "reports.csv", REPORTS))
    assert called.code == 2
    assert "'certificate.json': is missing; run smqopt verify" in called.error


def test_procure_refuses_a_certificate_that_is_not_valid(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    out = tmp_path / "out"
    assert smqopt("solve", small, "--out", out).code == 0
    write_json(out / "solution.json", read_json(out / "solution.json") | {"budget": 1.25})
    called = smqopt("verify", out)
    assert (called.code, called.err) == (1, "")
    assert "not valid" in called.out
    assert read_json(out / "certificate.json")["valid"] is False
    assert smqopt("verify", out).code == 1
    called = smqopt("procure", out, "--reports", table(tmp_path, "reports.csv", REPORTS))
    assert called.code == 1
    assert "must be valid" in called.error
    assert not (out / "outcome.csv").exists()


BAD_REPORTS = {
    "missing owner": (REPORTS.replace("bo,0.25\n", ""), "has no row for owner 'bo'"),
    "owner twice": (REPORTS + "bo,0.5\n", "row 5: repeats an owner (found 'bo')"),
    "missing column": (REPORTS.replace("report", "reports"), "did you mean 'reports'?"),
    "missing id column": (REPORTS.replace("owner,", "owners,"), "did you mean 'owners'?"),
    "not a number": (REPORTS.replace("0.25", "nan"), "row 4: must be a finite number (value not shown"),
    "text": (REPORTS.replace("0.25", "cheap"), "row 4: must be a number (value not shown"),
    "negative": (REPORTS.replace("0.25", "-0.25"), "owner 'bo': must be a finite number ≥ 0 (value not shown"),
    "empty": ("", "the table is empty"),
}


@pytest.mark.parametrize("case", BAD_REPORTS)
def test_bad_reports(case: str, done: Path, tmp_path: Path, smqopt: Callable) -> None:
    text, told = BAD_REPORTS[case]
    before = (done / "outcome.csv").read_bytes()
    called = smqopt("procure", done, "--reports", table(tmp_path, "reports.csv", text))
    assert called.code == 2
    assert told in called.error
    assert "reports.csv" in called.error
    assert (done / "outcome.csv").read_bytes() == before
    assert (done / "answer.json").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("procure",), "needs either --reports or --model"),
        (("procure", "--reports", "x.csv", "--data", "y"), "--data belongs to --model"),
        (("procure", "--reports", "nothing.csv"), "nothing.csv: cannot be read"),
        (("answer",), "needs --data and --query, or --model"),
        (("answer", "--query", "count"), "needs --data and --query, or --model"),
        (("answer", "--query", "mode"), "'mode' is not one of"),
        (("answer", "--low", "1"), "--low belong to a --query"),
        (("answer", "--query", "median", "--low", "1"), "--query median takes --low and --high"),
        (("answer", "--query", "count", "--low", "1"), "--query count takes no other option, and may take --weighting"),
        (("answer", "--query", "median", "--low", "0.5", "--high", "1"), "option '--low': must be a whole number"),
        (("answer", "--query", "median", "--low", "nan", "--high", "1"), "'--low': 'nan' is not a finite number"),
        (("answer", "--query", "sum", "--low", "1", "--high", "1"), "sum: argument 'high'"),
        (("answer", "--query", "histogram", "--edges", "1,x"), "option '--edges'"),
        (("answer", "--query", "weighted-sum", "--low", "0", "--high", "1"), "needs weights; ask it by a model"),
        (("answer", "--query", "median", "--low", "2", "--high", "1"), "must be at most high"),
        (("answer", "--data", "nothing.csv", "--query", "count"), "nothing.csv: cannot be read"),
        (("answer", "--model", "nothing.toml"), "nothing.toml: cannot be read"),
    ],
)
def test_stages_called_wrongly(arguments: tuple[str, ...], told: str, done: Path, smqopt: Callable) -> None:
    command, *options = arguments
    called = smqopt(command, done, *options)
    assert called.code == 2
    assert told in called.error


def test_another_model_is_not_the_market_of_the_folder(
    small: Path, done: Path, tmp_path: Path, smqopt: Callable
) -> None:
    other = table(tmp_path, "other.toml", small.read_text().replace("[0.5, 1.0", "[0.5, 1.25"))
    for command in ("procure", "answer"):
        called = smqopt(command, done, "--model", other)
        assert called.code == 2
        assert "is not the market of the folder" in called.error


def test_a_folder_that_is_not_there(tmp_path: Path, smqopt: Callable) -> None:
    for command in (("verify",), ("procure", "--reports", "x.csv"), ("answer", "--data", "x.csv", "--query", "count")):
        called = smqopt(command[0], tmp_path / "nothing", *command[1:])
        assert called.code == 2
        assert "is missing" in called.error


def replaced(column: str, row: int, change: Callable[[str], str], name: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        lines = [line.split(",") for line in (folder / name).read_text().splitlines()]
        k = lines[0].index(column)
        lines[row][k] = change(lines[row][k])
        (folder / name).write_text("\n".join(",".join(line) for line in lines) + "\n")

    return edit


def keyed(name: str, **changes: object) -> Callable[[Path], None]:
    return lambda folder: write_json(folder / name, read_json(folder / name) | changes)


def nested(**changes: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        content = read_json(folder / "certificate.json")
        write_json(folder / "certificate.json", content | {"solution": content["solution"] | changes})

    return edit


EDITS: dict[str, tuple[Callable[[Path], None], int]] = {
    "threshold lowered": (replaced("threshold", 2, lambda x: repr(float(x) * 0.999), "thresholds.csv"), 1),
    "threshold raised in its last digits": (
        replaced("threshold", 2, lambda x: repr(float(x) * (1 + 4e-16)), "thresholds.csv"),
        1,
    ),
    "acceptance": (replaced("acceptance", 1, lambda x: repr(float(x) / 2), "thresholds.csv"), 1),
    "requirement": (replaced("epsilon", 1, lambda x: repr(float(x) * 2), "thresholds.csv"), 1),
    "owner renamed": (replaced("owner", 1, lambda _: "eve", "thresholds.csv"), 1),
    "budget of the solution": (keyed("solution.json", budget=3.0), 1),
    "price of the solution": (keyed("solution.json", budget_price=3.0), 1),
    "law of the solution": (keyed("solution.json", valuation={"law": "uniform", "low": 0.0, "high": 2.0}), 1),
    "budget of the certificate": (keyed("certificate.json", budget=3.0), 1),
    "budget inside the certificate": (nested(budget=3.0), 1),
    "bound": (keyed("certificate.json", upper_bound=30.0), 1),
    "verdict": (keyed("certificate.json", valid=False), 1),
    "fingerprint": (keyed("certificate.json", fingerprint="0"), 1),
    "payment": (replaced("payment", 1, lambda x: repr(float(x) + 1), "outcome.csv"), 2),
    "sale": (replaced("selected", 4, lambda _: "yes", "outcome.csv"), 2),
    "number bought": (keyed("answer.json", bought=4), 1),
    "half-width": (keyed("answer.json", noise_half_width=0.0), 1),
    "number bought as truth": (keyed("answer.json", bought=True), 1),
    "simulation hidden": (keyed("answer.json", simulation=False), 1),
    "value as text": (keyed("answer.json", value="many"), 2),
    "value infinite": (keyed("answer.json", value="inf"), 2),
    "unit of the noise": (keyed("answer.json", noise_unit="persons"), 1),
    "fingerprint of the solution": (keyed("solution.json", market_fingerprint="0"), 1),
    "checks dropped": (keyed("certificate.json", checks=[]), 1),
    "checks of another kind": (keyed("certificate.json", checks=3), 2),
    "law of another kind": (keyed("solution.json", valuation="uniform"), 2),
    "status of another kind": (keyed("solution.json", status=["BINDING"]), 2),
    "constraints of another kind": (keyed("solution.json", constraints=None), 2),
    "budget beyond doubles": (keyed("solution.json", budget=10**400), 2),
    "price beyond doubles": (keyed("solution.json", budget_price=10**400), 2),
    "bound beyond doubles": (keyed("certificate.json", lower_bound=10**400), 2),
    "number beyond reading": (lambda folder: (folder / "solution.json").write_text("[" + "1" * 5000 + "]") and None, 2),
    "query": (keyed("answer.json", query="mode"), 2),
    "query of another kind": (keyed("answer.json", query=["count"]), 2),
    "no number": (replaced("threshold", 2, lambda _: "nan", "thresholds.csv"), 2),
    "text": (replaced("threshold", 2, lambda _: "x", "thresholds.csv"), 2),
    "negative requirement": (replaced("epsilon", 1, lambda _: "-1", "thresholds.csv"), 2),
    "budget as text": (keyed("solution.json", budget="3"), 2),
    "no JSON": (lambda folder: (folder / "certificate.json").write_text("{") and None, 2),
    "table gone": (lambda folder: (folder / "thresholds.csv").unlink(), 2),
    "answer cut": (lambda folder: write_json(folder / "answer.json", {"value": 1}), 2),
}


@pytest.mark.parametrize("case", EDITS)
def test_verify_sees_edits(case: str, done: Path, smqopt: Callable) -> None:
    edit, code = EDITS[case]
    assert smqopt("verify", done).code == 0
    edit(done)
    assert smqopt("verify", done).code == code


def test_verify_of_an_untouched_copy(done: Path, tmp_path: Path, smqopt: Callable) -> None:
    shutil.copytree(done, tmp_path / "copy")
    called = smqopt("verify", tmp_path / "copy")
    assert (called.code, called.err) == (0, "")
    assert "checked: certificate.json, outcome.csv, answer.json" in called.out


def test_models_lists_the_library(smqopt: Callable) -> None:
    called = smqopt("models", "--json")
    assert called.code == 0
    listed = {model["name"]: model for model in json.loads(called.out)["models"]}
    assert Path(listed["adult-income-count"]["file"]).is_file()
    assert "adult-median-age" in smqopt("models").out


@pytest.mark.parametrize(
    "law", [("uniform",), ("power", "--param", "k=2"), ("--cdf", "theta**2", "--low", "0", "--high", "1")]
)
def test_derive_prints_or_writes_markdown(law: tuple[str, ...], tmp_path: Path, smqopt: Callable) -> None:
    printed = smqopt("derive", *law)
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("#")
    written = smqopt("derive", *law, "--out", tmp_path / "law.md")
    assert (written.code, written.out) == (0, "")
    assert (tmp_path / "law.md").read_text(encoding="utf-8").strip() == printed.out.strip()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("budget = 1.5", "budget = 1.25"), "is not the budget of the folder, 1.5"),
        (
            ("[query]", '[[constraint]]\nkind = "price-range"\nat_most = 0.9\n\n[query]'),
            "says other constraints than those of the folder",
        ),
        (('ids = ["ann", "bo", "cy", "di"]', 'ids = ["bo", "ann", "cy", "di"]'), "is not the market of the folder"),
    ],
)
@pytest.mark.parametrize("stage", ["procure", "answer"])
def test_a_model_that_was_changed_since_is_refused(
    small: Path, done: Path, smqopt: Callable, stage: str, edit: tuple[str, str], message: str
) -> None:
    small.write_text(small.read_text(encoding="utf-8").replace(*edit), encoding="utf-8")
    called = smqopt(stage, done, "--model", small)
    assert called.code == 2
    assert message in called.error


def test_a_model_with_constraints_is_the_folder_s_own(small: Path, tmp_path: Path, smqopt: Callable) -> None:
    small.write_text(
        small.read_text(encoding="utf-8") + '\n[[constraint]]\nkind = "price-range"\nat_most = 0.9\n', encoding="utf-8"
    )
    assert smqopt("run", small, "--out", tmp_path / "out").code == 0
    assert smqopt("procure", tmp_path / "out", "--model", small).code == 0


@pytest.mark.parametrize(
    ("key", "value"), [("value", 1e-6), ("tolerance", 1.0), ("required", False), ("note", "seen"), ("passed", None)]
)
def test_an_edited_check_closes_every_stage(done: Path, smqopt: Callable, key: str, value: object) -> None:
    content = read_json(done / "certificate.json")
    check = next(check for check in content["checks"] if check["name"] == "gap")
    check[key] = value
    write_json(done / "certificate.json", content)
    for stage in (("verify", done), ("procure", done, "--reports", "none.csv"), ("answer", done, "--query", "count")):
        called = smqopt(*stage)
        assert called.code == 1
        assert "check 'gap'" in called.error


def given(folder: Path, *rows: tuple[str, float]) -> Path:
    return table(folder, "given.csv", "owner_id,threshold\n" + "".join(f"{owner},{theta!r}\n" for owner, theta in rows))


def test_thresholds_from_elsewhere_are_judged(small: Path, done: Path, tmp_path: Path, smqopt: Callable) -> None:
    solved = read_csv(done / "thresholds.csv")
    best = list(zip(solved["owner"], map(float, solved["threshold"]), strict=True))
    for place in (small, done):
        called = smqopt("verify", place, "--thresholds", given(tmp_path, *reversed(best)))
        assert called.code == 0
        assert "keeps the budget" in called.out
        short = given(tmp_path, ("ann", 0.25), ("bo", 0.25), ("cy", 0.5), ("di", 0.75))
        called = smqopt("verify", place, "--thresholds", short, "--json")
        assert called.code == 1
        found = json.loads(called.out)
        assert (found["valid"], found["keeps_budget"], found["owners"]) == (False, True, 4)
        assert 0.2 < found["gap"] < 0.25
        assert found["purchased_privacy"] < found["upper_bound"]
        assert 0.19 < found["threshold_distance"] < 0.2
        assert smqopt("verify", place, "--thresholds", short, "--gap-tolerance", 0.25).code == 0
        called = smqopt("verify", place, "--thresholds", given(tmp_path, *((name, 0.9) for name, _ in best)))
        assert called.code == 1
        assert "breaks the budget: spends 3.24 of 1.5" in called.out
        assert "more than" in called.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("owner_id,threshold\nann,0.1\n", "has no row for owner 'bo'"),
        ("owner_id,threshold\nann,x\nbo,0\ncy,0\ndi,0\n", "row 1: must be a number"),
        ("owner_id,price\nann,0.1\n", "column 'threshold': is missing"),
    ],
)
def test_a_bad_table_of_thresholds_is_one_line(
    small: Path, tmp_path: Path, smqopt: Callable, text: str, message: str
) -> None:
    called = smqopt("verify", small, "--thresholds", table(tmp_path, "given.csv", text))
    assert called.code == 2
    assert message in called.error
    assert "given.csv" in called.error


def test_options_of_given_thresholds_stand_alone(small: Path, done: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert "belongs to --thresholds" in smqopt("verify", done, "--seed", 1).error
    assert "is not the one asked for" in smqopt("verify", done, "--gap-tolerance", 0.1).error
    assert "belongs to a model" in smqopt("verify", done, "--thresholds", "x.csv", "--seed", 1).error
    assert "'solution.json': is missing" in smqopt("verify", tmp_path, "--thresholds", "x.csv").error
    small.write_text(small.read_text() + '\n[[constraint]]\nkind = "price-range"\nat_most = 0.9\n', encoding="utf-8")
    assert "for OP2 alone" in smqopt("verify", small, "--thresholds", "x.csv").error
    plain = small.read_text(encoding="utf-8").split("[[constraint]]")[0]
    small.write_text(plain + '\n[objective]\nkind = "inverse-probability-variance"\n', encoding="utf-8")
    assert "another objective" in smqopt("verify", small, "--thresholds", "x.csv").error


def test_verify_judges_what_a_program_in_python_left_in_a_folder(tmp_path: Path, smqopt: Callable) -> None:
    """Constraints in cvxpy are not in the files; the rows that follow from them are."""
    market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    program = smq.Program(market, 0.5)
    program.constraints += [cp.norm(program.acceptance, 2) <= 0.6]
    smq.solve(program).save(tmp_path)
    shown = smqopt("verify", tmp_path, "--json")
    assert shown.code == 0, shown.err
    certificate = read_json(tmp_path / "certificate.json")
    assert certificate["valid"] is True
    assert certificate["grade"] == "numerical"
    assert smqopt("verify", tmp_path).code == 0
    content = read_json(tmp_path / "solution.json")
    content["records"][-1]["cuts"][0][0] *= 1.001
    write_json(tmp_path / "solution.json", content)
    assert smqopt("verify", tmp_path).code == 1
    (tmp_path / "certificate.json").unlink()
    assert smqopt("verify", tmp_path).code == 1
