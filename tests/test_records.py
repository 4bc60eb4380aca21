"""Public records are citizens of Python: they can be pickled, copied and taken apart."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup

import smqopt as smq


@cache
def records() -> Mapping[str, Any]:
    """One of each public record."""
    unit = smq.Uniform(0, 1)
    market = smq.Market([0.2, 0.5, 1.0, 1.5], unit, groups={"city": list("abab")})
    solution = smq.solve(market, 0.5, constraints=[smq.Coverage("city", "a", 0.2)])
    plain = smq.solve(market, 0.5)
    certificate = smq.verify(plain)
    outcome = smq.procure(certificate, [0.01] * 4)
    prior = smq.EntryPrior.share(0.5)
    laws = (
        unit, smq.Beta(2, 3), smq.Mixture([unit, smq.Uniform(0, 2)], [1, 1]), smq.from_cdf("theta**2", 0, 1), smq.from_samples([1, 2, 3.0, 4]),
        smq.Discrete([0.5, 1], [1, 2]), smq.PiecewiseUniform([0, 1, 2], [1, 2]), smq.ByOwner([unit, smq.Beta(2, 3)]),
        smq.Truncated(smq.Gamma(2, 1, 0, 9), 1, 2),
        smq.Power([1.0, 2.0]), smq.GaussianCopula(unit, unit, 0.5), smq.GaussianCopula(unit, unit, 0.5).given([0.2, 0.4]),
    )  # fmt: skip
    found = (
        *laws, market, solution, plain, certificate, outcome, prior, smq.Coverage("city", "a", 1), smq.Parity("city", 0.1), smq.PriceMenu([0.5, 1]),
        smq.PurchasedPrivacy(), smq.DiminishingReturns(1.0), smq.Count(), smq.Median(0, 3), smq.Sum(0, 1), smq.Histogram([0, 1, 2]),
        smq.answer(smq.Count(), [1] * outcome.bought, outcome, rng=np.random.default_rng(1)), smq.frontier(market, [0.1, 0.2]),
        smq.predict(smq.Count(), market, [0.2, 0.5], prior), smq.audit(smq.PostedThresholds(plain), belief=unit), smq.least_budget(market, 0.2),
        smq.sensitivity(plain), smq.reserve(plain, 0.05), smq.reserved_budget(market, 0.5, 0.05), smq.realised_payments(plain), smq.derive(unit),
        unit.regularity(), unit.monotone_hazard(), smq.Status.BINDING, smq.load_model("least-budget"), smq.mechanism_bounds(market, 0.5),
    )  # fmt: skip
    return {f"{number}-{type(one).__name__}": one for number, one in enumerate(found)}


NAMES = tuple(records())


@pytest.mark.parametrize("name", NAMES)
def test_records_are_pickled_and_copied(name: str) -> None:
    record = records()[name]
    for again in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), copy.copy(record)):  # noqa: S301
        assert type(again) is type(record)
        if isinstance(record, smq.Derivation):
            # SymPy multiplies out where it is read again: equal, and not alike
            assert [(step.title, step.verdict) for step in again.steps] == [
                (step.title, step.verdict) for step in record.steps
            ]
        else:
            assert repr(again) == repr(record)
        if isinstance(record, smq.Market):
            assert again.fingerprint == record.fingerprint
            assert again.rows_of_group("city").keys() == record.rows_of_group("city").keys()
            assert not again.epsilon.flags.writeable
        if isinstance(record, smq.Certificate):
            assert again.valid
            assert smq.procure(again, [0.01] * 4).bought == 4


@pytest.mark.parametrize("name", NAMES)
def test_records_are_taken_apart(name: str) -> None:
    record = records()[name]
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        assert dataclasses.asdict(record).keys() == {field.name for field in dataclasses.fields(record)}


def budget_price(market: smq.Market, budget: float) -> float:
    return smq.solve(market, budget).budget_price


def test_markets_go_to_other_processes() -> None:
    market = smq.Market([0.2, 0.5], smq.Uniform(0, 1), groups={"city": ["a", "b"]})
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(budget_price, market, 0.1).result() == budget_price(market, 0.1)


SHOWN = ("Market", "Solution", "Certificate", "Outcome", "Answer", "Prediction", "Frontier", "Audit")


@pytest.mark.parametrize("name", [name for name in NAMES if name.partition("-")[2] in SHOWN])
def test_notebooks_show_records_as_tables(name: str) -> None:
    page = BeautifulSoup(records()[name]._repr_html_(), "html.parser")
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
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["Solution", "Outcome", "Frontier", "Prediction"])
def test_records_become_frames(name: str, library: str) -> None:
    record, column, values = frames()[name]
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
