"""Public records are citizens of Python: they can be pickled, copied and taken apart."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from public_records import check_copies, public_records, unseen

import smqopt as smq

records = cache(public_records)


def test_records_are_pickled_copied_and_taken_apart() -> None:
    for record in records().values():
        check_copies(record)


def test_public_names_are_pickled_by_name() -> None:
    for name in smq.__all__:
        public = getattr(smq, name)
        assert pickle.loads(pickle.dumps(public)) is public or not callable(public), name  # noqa: S301 -- its own


def test_every_public_record_is_among_them() -> None:
    assert unseen(records()) == set()


def budget_price(market: smq.Market, budget: float) -> float:
    return smq.solve(market, budget).budget_price


def test_markets_go_to_other_processes() -> None:
    market = smq.Market([0.2, 0.5], smq.Uniform(0, 1), groups={"city": ["a", "b"]})
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(budget_price, market, 0.1).result() == budget_price(market, 0.1)


SHOWN = ("Market", "Solution", "Certificate", "Outcome", "Answer", "Prediction", "Frontier", "Audit")


def test_notebooks_show_records_as_tables() -> None:
    shown = [one for name, one in records().items() if name.partition("-")[2] in SHOWN]
    assert {type(one).__name__ for one in shown} == set(SHOWN)
    for record in shown:
        page = BeautifulSoup(record._repr_html_(), "html.parser")
        assert page.caption is not None
        rows = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in page.find_all("tr")]
        assert len(rows) >= 2
        assert all(len(row) == 2 and all(row) for row in rows)


def test_names_are_escaped() -> None:
    market = smq.Market([1.0, 2.0], smq.Uniform(0, 1), groups={"<script>": ["a", "b"]})
    assert "<script>" not in market._repr_html_()


def test_a_certificate_is_no_truth_value() -> None:
    certificate = next(one for one in records().values() if isinstance(one, smq.Certificate))
    with pytest.raises(TypeError, match=r"ask certificate\.valid"):
        bool(certificate)


def frames() -> dict[str, tuple[Any, str, Any]]:
    """A record of each kind that becomes a frame, with a column and what it must hold."""
    found = {type(one).__name__: one for one in records().values()}
    solution = found["Solution"]
    return {
        "Solution": (solution, "threshold", solution.thresholds),
        "Outcome": (found["Outcome"], "payment", found["Outcome"].payments),
        "Frontier": (found["Frontier"], "purchased_privacy", found["Frontier"].purchased_privacy),
        "Prediction": (found["Prediction"], "rmse", found["Prediction"].total),
        "ErrorFrontier": (found["ErrorFrontier"], "rmse", found["ErrorFrontier"].error),
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_records_become_frames(library: str) -> None:
    for name, (record, column, values) in frames().items():
        frame = record.to_frame(library)
        assert type(frame).__module__.startswith(library)
        assert np.asarray(frame[column]).tolist() == values.tolist()
        if name in ("Solution", "Outcome"):
            owners = np.asarray(frame["owner"]).tolist()
            assert owners == list((record.market if name == "Solution" else record).owner_ids)


def test_an_outcome_of_a_frame_round_trips() -> None:
    market = smq.Market({"ann": 0.2, "bo": 0.5, "cy": 1.0}, smq.Uniform(0, 1))
    certificate = smq.verify(smq.solve(market, 0.5))
    for library in ("pandas", "polars", "pyarrow"):
        reports = smq.solve(market, 0.5).to_frame(library)
        columns = reports[["owner", "threshold"]] if library != "pyarrow" else reports.select(["owner", "threshold"])
        assert smq.procure(certificate, columns).selected.all()


def test_frames_of_a_library_that_is_not_there_are_refused() -> None:
    for library in ("pandaz", "duckdb", 3):
        with pytest.raises(smq.InputError, match="library of frames that is installed"):
            frames()["Solution"][0].to_frame(library)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("Solution", ["thresholds"]), ("Solution", ["acceptance"]), ("Frontier", []), ("Prediction", [])],
)
def test_records_are_drawn_on_axes(name: str, arguments: list[str]) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    record = next(one for one in records().values() if type(one).__name__ == name)
    ax = record.plot(*arguments)
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    wanted = {
        "Solution": getattr(record, arguments[0] if arguments else "", None),
        "Frontier": getattr(record, "purchased_privacy", None),
        "Prediction": getattr(record, "total", None),
    }[name]
    assert set(np.asarray(wanted).tolist()) <= set(drawn.tolist())
    assert record.plot(*arguments, ax=ax) is ax
    plt.close(ax.figure)


def test_what_cannot_be_drawn_is_refused() -> None:
    solution = frames()["Solution"][0]
    with pytest.raises(smq.InputError, match="did you mean 'thresholds'"):
        solution.plot("threshold")
    with pytest.raises(smq.InputError, match="must be matplotlib Axes"):
        solution.plot(ax=3)


def test_drawing_is_loaded_when_it_is_asked_for() -> None:
    script = """import sys, smqopt as smq
smq.solve(smq.Market([1.0], smq.Uniform(0, 1)), 0.1)
assert not {"matplotlib", "narwhals", "smqopt.report"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
