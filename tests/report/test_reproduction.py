"""The page of the experiments: every number comes from the results, and changes with them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from smqopt.document._svg import SVG
from smqopt.paper import DATA_SETS, FIGURES, Results, write_page
from smqopt.paper.experiments._grid import (
    BUDGET_SHARES,
    CORRELATIONS,
    EVERYTHING,
    NOISE_ONLY,
    columns,
)
from smqopt.paper.experiments._summary import Setup
from smqopt.paper.reproduction._findings import FINDINGS
from smqopt.paper.reproduction._page import reproduction_page
from smqopt.paper.reproduction._sizes import Size, sizes

COMMITTED = Path(__file__).parents[2] / "docs"


def forged(factor=1.0, **changes):
    """Results of a world where nothing varies but by budget; `changes` of every setup."""
    setups = {}
    for data_set in DATA_SETS:
        for rho in CORRELATIONS:
            for share in BUDGET_SHARES:
                for query, mechanism in columns():
                    for scheme in (EVERYTHING, NOISE_ONLY):
                        rmse = factor * (2 - share)
                        figures = {
                            "trials": 12,
                            "undefined": 0,
                            "truth": 50.0,
                            "mean": 50.0,
                            "deviation": rmse,
                            "mean_low": 49.0,
                            "mean_high": 51.0,
                            "low": 40.0,
                            "high": 60.0,
                            "rmse": rmse,
                            "rmse_error": rmse / 9,
                            "sampling_rmse": rmse / 2,
                            "noise_rmse": rmse / 2,
                            "bought": 20.0,
                            "spend": 0.9,
                            "privacy": 12.0,
                            "spread": 0.1,
                        }
                        one = Setup(data_set, query, rho, share, scheme, mechanism, **(figures | changes))
                        setups[one.key] = one
    tenths = {
        (d, rho, share, m): (0.5,) * 10
        for d in DATA_SETS
        for rho in CORRELATIONS
        for share in BUDGET_SHARES
        for q, m in columns()
        if q == "count"
    }
    return Results(setups, tenths, {(d, 0.3): (1.00002, 99.0, 100.0, 1.0) for d in DATA_SETS})


def test_the_page_says_what_the_results_say():
    page = reproduction_page(forged(), "here")
    assert "12 trials a setup" in page
    assert "purchased privacy lies at most 0.011 of it below" in page
    assert "all of the certificates are valid" in page
    assert "Every mechanism returned an answer in every trial" in page
    assert not re.search(r"\bnan\b|None|inf\b", page)
    for table in re.findall(r"(?:^\|.*\|\n)+", page, flags=re.MULTILINE):
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_every_sentence_follows_the_results():
    first = forged()
    changed = forged(3.0, undefined=2, spend=1.7, bought=33.0, privacy=7.0, noise_rmse=0.0)
    changed = replace(changed, checks={("adult", 0.1): (1.2, 50.0, 100.0, 0.0)})
    uneven = {
        key: replace(one, rmse=one.rmse * (5 if key[4] == NOISE_ONLY or key[5] == "fip" else 1))
        for key, one in changed.setups.items()
    }
    uneven = {
        key: replace(one, privacy=one.privacy * (2 if key[5] in ("smq-conditional", "fip") else 1))
        for key, one in uneven.items()
    }
    other = replace(changed, setups=uneven)
    for finding in FINDINGS:
        assert finding(first) != finding(other), finding.__name__


def test_trials_without_an_answer_are_told():
    page = reproduction_page(forged(undefined=2), "here")
    assert "fip (linear) 360" in page  # 90 setups, two schemes, 2 each


@pytest.mark.parametrize(
    ("known", "found", "error", "agrees"),
    [
        ((100, 100), (109, 109), 0, True),
        ((100, 100), (112, 112), 0, False),
        ((100, 100), (112, 112), 1, True),
        ((60, 170), (40, 100), 0, False),
        ((60, 170), (200, 210), 0, False),
        ((60, 170), (20, 30), 0, False),
        ((100, 100), (85, 85), 1, False),
    ],
)
def test_sizes_agree_within_their_allowances(known, found, error, agrees):
    size = Size("x", known, found, error)
    assert size.agrees is agrees
    assert size.row[3] == ("agrees" if agrees else "differs")


def test_a_size_that_differs_is_told():
    assert "differs" in reproduction_page(forged(), "here")
    assert all(size.row for size in sizes(forged()))


def test_figures_are_pictures_of_their_own(tmp_path):
    write_page(forged(), tmp_path / "page.md")
    for name in FIGURES:
        root = ET.parse(tmp_path / "page" / f"{name}.svg").getroot()
        assert root.tag == f"{{{SVG}}}svg"
        assert root.find(f"{{{SVG}}}style") is not None
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == reproduction_page(forged(), "page")
    charts = {
        name: sum(
            "translate" in (g.get("transform") or "")
            for g in ET.parse(tmp_path / "page" / f"{name}.svg").iter(f"{{{SVG}}}g")
        )
        for name in FIGURES
    }
    assert charts == {"count": 12, "median": 12, "linear": 6, "spend": 3, "bought": 3, "corrected": 9}


def test_answers_that_are_missing_leave_gaps_in_figures(tmp_path):
    results = forged()
    gaps = {
        key: replace(one, mean=float("nan"), low=float("nan"), high=float("nan"), rmse=float("nan"))
        if key[3] == 0.1 and key[5] == "fip"
        else one
        for key, one in results.setups.items()
    }
    for figure in FIGURES.values():
        ET.fromstring(figure(replace(results, setups=gaps)).svg)


def test_the_committed_page_is_generated_from_the_committed_results():
    results = Results.load(COMMITTED / "reproduction")
    assert (COMMITTED / "reproduction.md").read_text(encoding="utf-8") == reproduction_page(results, "reproduction")
    for name, figure in FIGURES.items():
        assert (COMMITTED / "reproduction" / f"{name}.svg").read_text(encoding="utf-8") == figure(results).standalone()


def test_the_committed_results_are_aggregates_alone():
    names = sorted(path.name for path in (COMMITTED / "reproduction").iterdir())
    assert [name for name in names if not name.endswith(".svg")] == sorted(
        [Results.SETUPS_FILE, Results.TENTHS_FILE, Results.CHECKS_FILE]
    )
    results = Results.load(COMMITTED / "reproduction")
    assert len(results.setups) == 3 * 3 * 10 * 25 * 2
    assert min(setup.trials for setup in results.setups.values()) >= 20


def test_answers_without_any_error_have_a_page_too():
    page = reproduction_page(forged(0.0, rmse_error=0.0, sampling_rmse=0.0, noise_rmse=0.0), "here")
    assert "SMQ's RMSE is 0 throughout" in page
