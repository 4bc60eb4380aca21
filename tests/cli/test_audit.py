"""`smqopt audit`: overspending under a declared correlation, forged thresholds, and wrong calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[2] / "models"

OWNERS = """
budget = 1.0
seed = 3

[owners]
ids = ["ann", "bo", "cy", "di", "ed", "flo"]
epsilon = [0.1, 0.3, 0.5, 0.7, 0.9, 0.95]
"""
UNIFORM = '{ law = "uniform", low = 0, high = 1 }'
IGNORING = OWNERS + '[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n'
DECLARING = (
    OWNERS
    + f"""
[valuation]
law = "gaussian-copula"
correlation = -0.5
valuation = {UNIFORM}
requirement = {UNIFORM}
"""
)


@pytest.fixture
def ignoring(tmp_path: Path) -> Path:
    return written(tmp_path / "ignoring.toml", IGNORING)


@pytest.fixture
def declaring(tmp_path: Path) -> Path:
    return written(tmp_path / "declaring.toml", DECLARING)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_thresholds_that_ignore_a_declared_correlation_are_found_out(declaring: Path, smqopt: Callable) -> None:
    called = smqopt("audit", declaring, "--marginal", "--json")
    assert called.code == 1
    found = json.loads(called.out)
    assert not found["passes"]
    assert [reason.split(":")[0] for reason in found["reasons"]] == ["expected budget"]
    assert 1.25 < found["spend_share"] < 1.6
    assert found["overspending"] == pytest.approx((found["spend_share"] - 1) * found["budget"])
    assert found["expected_spend_error"] < 1e-14
    assert (found["runs"], found["owners"]) == (200, 6)
    realised = next(check for check in found["checks"] if check["name"] == "realised budget")
    assert realised["value"] > 0.5
    heeded = json.loads(smqopt("audit", declaring, "--json").out)
    assert heeded["passes"]
    assert heeded["spend_share"] == pytest.approx(1.0)


def test_a_folder_is_audited_under_another_model_s_law(
    ignoring: Path, declaring: Path, tmp_path: Path, smqopt: Callable
) -> None:
    out = tmp_path / "out"
    assert smqopt("solve", ignoring, "--out", out).code == 0
    own = smqopt("audit", out)
    assert own.code == 0
    assert "posted thresholds, 6 owners: passes" in own.out
    assert "realised budget" not in own.out  # no seed, no runs
    believed = smqopt("audit", out, "--belief", declaring, "--seed", 5, "--draws", 30)
    assert believed.code == 1
    assert "FAILED: expected budget" in believed.out
    assert "reported: realised budget" in believed.out
    alone = json.loads(smqopt("audit", declaring, "--marginal", "--json").out)
    folder = json.loads(smqopt("audit", out, "--belief", declaring, "--json").out)
    assert folder["expected_spend"] == alone["expected_spend"]


def test_the_ex_post_budget_moves_the_loss_to_the_owners(declaring: Path, smqopt: Callable) -> None:
    called = smqopt("audit", declaring, "--marginal", "--payments", "ex-post-budget")
    assert called.code == 1
    assert "passed: expected budget" in called.out
    assert "passed: realised budget" in called.out
    assert "FAILED: interim participation" in called.out
    assert smqopt("audit", declaring, "--payments", "ex-post-budget").code == 0


def test_forged_thresholds_need_no_certificate_to_be_found_out(
    ignoring: Path, tmp_path: Path, smqopt: Callable
) -> None:
    out = tmp_path / "out"
    assert smqopt("solve", ignoring, "--out", out).code == 0
    path = out / "thresholds.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    last = lines[-1].split(",")
    for name, value in (("threshold", "0.9"), ("acceptance", "0.9"), ("spend", repr(0.9 * 0.9))):
        last[lines[0].split(",").index(name)] = value
    path.write_text("\n".join([*lines[:-1], ",".join(last)]) + "\n", encoding="utf-8")
    called = smqopt("audit", out)
    assert called.code == 1
    assert "FAILED: expected budget" in called.out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"flo"', '"gus"'), "the owners differ"),
        (("0.95", "0.96"), "the requirements differ"),
        (("0.9, 0.95", "0.9"), "shape"),
        (("seed = 3", "seed = 3\nbelief = 1"), "belief"),
    ],
)
def test_a_belief_about_other_owners_is_refused(
    ignoring: Path, declaring: Path, tmp_path: Path, smqopt: Callable, change: tuple[str, str], message: str
) -> None:
    assert smqopt("solve", ignoring, "--out", tmp_path / "out").code == 0
    written(declaring, DECLARING.replace(*change))
    called = smqopt("audit", tmp_path / "out", "--belief", declaring)
    assert called.code == 2
    assert message in called.error or "hold 5 names" in called.error


def test_wrong_calls_are_one_line(ignoring: Path, declaring: Path, tmp_path: Path, smqopt: Callable) -> None:
    assert "declares no correlation" in smqopt("audit", ignoring, "--marginal").error
    assert "is missing" in smqopt("audit", tmp_path).error
    assert smqopt("solve", ignoring, "--out", tmp_path / "out").code == 0
    assert "--marginal belongs to a model" in smqopt("audit", tmp_path / "out", "--marginal").error
    one = written(
        tmp_path / "one.toml",
        'budget = 0.2\n[owners]\nepsilon = [1.0]\n[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n',
    )
    called = smqopt("audit", one, "--payments", "ex-post-budget")
    assert (called.code, "at least two owners" in called.error) == (2, True)
    assert smqopt("audit", tmp_path / "nowhere.toml").code == 2


@pytest.mark.exhaustive
def test_the_library_s_model_overspends_when_its_correlation_is_ignored(smqopt: Callable) -> None:
    called = smqopt("audit", MODELS / "copula-correlated.toml", "--marginal", "--json")
    assert called.code == 1
    found = json.loads(called.out)
    assert found["owners"] == 32561
    assert found["spend_share"] == pytest.approx(1.18, abs=0.01)  # between 1.32 at B = 0.1 n and 1.09 at 0.3 n
