"""`[[constraint]]` tables: solved, certified, and refused by file and line."""

import json
import re

import pytest

GROUPS = 'groups = { city = ["Oslo", "Oslo", "Bergen", "Bergen"] }\n\n[valuation]'
COVERAGE = '\n[[constraint]]\nkind = "coverage"\ncolumn = "city"\nlabel = "Oslo"\nat_least = 1.2\n'
MENU = '\n[[constraint]]\nkind = "price-menu"\nstep = 0.05\n'


@pytest.fixture
def fair(small):
    return small.read_text(encoding="utf-8").replace("[valuation]", GROUPS) + COVERAGE + MENU


@pytest.fixture
def model(tmp_path):
    def write(text):
        path = tmp_path / "fair.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_model_with_constraints_runs_and_is_certified(smqopt, model, fair, tmp_path):
    called = smqopt("run", model(fair), "--out", str(tmp_path / "out"), "--json")
    assert called.code == 0, called.err
    assert json.loads(called.out)["certificate"]["valid"] is True
    content = json.loads((tmp_path / "out" / "solution.json").read_text(encoding="utf-8"))
    assert [record["kind"] for record in content["records"]] == ["coverage", "price-menu"]
    assert "at least 1.2 expected owners of city = Oslo" in (tmp_path / "out" / "report.html").read_text(
        encoding="utf-8"
    )
    assert smqopt("verify", str(tmp_path / "out")).code == 0


def test_groups_come_from_a_table(smqopt, model, tmp_path):
    rows = "epsilon,city\n0.5,Oslo\n1.0,Oslo\n1.5,Bergen\n2.0,Bergen\n"
    (tmp_path / "owners.csv").write_text(rows, encoding="utf-8")
    law = '[valuation]\nlaw = "uniform"\nlow = 0\nhigh = 1\n'
    text = f'budget = 1.5\n[owners]\ntable = "owners.csv"\ngroups = ["city"]\n{law}{COVERAGE}'
    assert smqopt("solve", model(text), "--out", str(tmp_path / "out")).code == 0
    called = smqopt("solve", model(text.replace('["city"]', '["town"]')), "--out", str(tmp_path / "out"))
    assert (called.code, "column 'town'" in called.error) == (2, True)


@pytest.mark.parametrize("command", ["solve", "run"])
def test_constraints_that_cannot_hold_together_are_named(smqopt, model, fair, tmp_path, command):
    called = smqopt(command, model(fair.replace("budget = 1.5", "budget = 0.2")), "--out", str(tmp_path / "out"))
    assert called.code == 1
    assert re.search(r"at least 1.2 expected owners of city = Oslo \(\S*fair.toml line \d+\); the budget", called.error)
    by = float(re.search(r"'the budget' by (\S+) at least", called.error)[1])
    assert 0 < by <= 2 * 0.6**2 - 0.2 + 1e-9  # .6 of each of two at U(0, 1), less the budget
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "at_least",
            "at_leest",
            "fair.toml line 25: [[constraint]] 1: key 'at_leest': is unknown to 'coverage'; did you mean 'at_least'",
        ),
        (
            'kind = "price-menu"',
            'kind = "menu"',
            "fair.toml line 28: [[constraint]] 2: key 'kind': is missing or unknown",
        ),
        (
            "at_least = 1.2",
            "at_least = -1",
            "fair.toml line 25: [[constraint]] 1: constraint 'coverage': argument 'at_least'",
        ),
        (
            'label = "Oslo"',
            'label = "Olso"',
            "fair.toml line 24: [[constraint]] 1: constraint 'coverage': argument 'label'",
        ),
        (
            "step = 0.05\n",
            'step = 0.05\n\n[[constraint]]\nkind = "linear-row"\nat_most = 1\n',
            "fair.toml line 31: [[constraint]] 3: constraint 'linear-row': argument 'acceptance': or 'spend' must be given",
        ),
        (
            'kind = "price-menu"\nstep = 0.05',
            'kind = "price-range"',
            "fair.toml line 27: [[constraint]] 2: constraint 'price-range': argument 'at_most': or 'at_least' must be",
        ),
        (
            "at_least = 1.2\n",
            'share = 0.6\n[[constraint]]\nkind = "coverage"\ncolumn = "city"\nlabel = "Bergen"\nshare = 0.5\n',
            "fair.toml line 30: [[constraint]] 2: constraint 'coverage': argument 'share': must sum to at most 1",
        ),
        ("[[constraint]]", "[constraint]", "fair.toml line 27: [constraint]: is not TOML: stands twice"),
    ],
)
def test_bad_tables_are_refused_by_file_and_line(smqopt, model, fair, tmp_path, before, after, words):
    called = smqopt("solve", model(fair.replace(before, after)), "--out", str(tmp_path / "out"))
    assert called.code == 2
    assert words in called.error
