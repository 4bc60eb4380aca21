"""Columns that come with the owners' names are matched by name, whatever library holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import smqopt as smq

UNIT = smq.Uniform(0, 1)
TABLE = pd.DataFrame(
    {"eps": [0.2, 0.5, 1.0], "city": ["a", "b", "a"], "k": [1, 2, 3], "id": ["x", "y", "z"]}, index=["ann", "bo", "cy"]
)


@given(st.permutations(["ann", "bo", "cy"]), st.permutations(["ann", "bo", "cy"]), st.permutations(["ann", "bo", "cy"]))
def test_columns_of_a_market_are_matched_by_name(own: list[str], one: list[str], other: list[str]) -> None:
    market = smq.Market(TABLE.eps[own], UNIT, groups=TABLE[["city"]].loc[one], multiplicity=TABLE.k[other])
    assert market.owner_ids == tuple(own)
    assert market.epsilon.tolist() == TABLE.eps[own].tolist()
    assert market.groups["city"].tolist() == TABLE.city[own].tolist()
    assert market.multiplicity is not None
    assert market.multiplicity.tolist() == TABLE.k[own].tolist()
    named = smq.Market({name: TABLE.eps[name] for name in other}, UNIT, owner_ids=own)
    assert (named.owner_ids, named.epsilon.tolist()) == (tuple(own), TABLE.eps[own].tolist())


ROWS = TABLE.reset_index(drop=True)


@pytest.mark.parametrize("ids", [lambda rows: rows.id, lambda rows: rows.id.tolist()], ids=["series", "list"])
def test_an_index_of_row_numbers_matches_rows(ids: Any) -> None:
    """Columns of one frame may be sorted each in its way, where their index counts the frame's rows."""
    rows = ROWS.iloc[[2, 0]]
    back = rows[::-1]
    market = smq.Market(rows.eps, smq.Power(back.k), owner_ids=ids(rows), groups=back[["city"]], multiplicity=back.k)
    assert (market.owner_ids, market.epsilon.tolist()) == (("z", "x"), [1.0, 0.2])
    assert market.multiplicity is not None
    assert (market.multiplicity.tolist(), market.valuation.arguments["k"].tolist()) == ([3, 1], [3, 1])
    assert smq.Market(rows.eps, UNIT, groups=ROWS[["city"]][::-1].iloc[[0, 2]]).owner_ids == ("2", "0")


@given(st.permutations(range(3)), st.permutations(range(3)))
def test_the_default_index_names_owners_who_are_so_called(own: list[int], other: list[int]) -> None:
    """Sorted columns of a frame whose index counts rows go by it, be it in order or not."""
    frame = ROWS.loc[own]
    market = smq.Market(frame.eps, smq.Power(ROWS.k[other]), groups=ROWS[["city"]].loc[other])
    assert market.epsilon.tolist() == frame.eps.tolist()
    assert market.groups["city"].tolist() == frame.city.tolist()
    assert market.valuation.arguments["k"].tolist() == frame.k.tolist()
    same = smq.Market.from_table(frame, UNIT, epsilon="eps", groups=["city"])
    assert (same.owner_ids, same.groups["city"].tolist()) == (market.owner_ids, market.groups["city"].tolist())
    named = smq.Market(ROWS.eps[own].to_numpy(), UNIT, owner_ids=own)
    outcome = smq.procure(smq.verify(smq.solve(named, 0.5), prove=False), pd.Series([0.0, 9.0, 9.0])[other])
    assert dict(zip(outcome.owner_ids, outcome.selected.tolist(), strict=True)) == {"0": True, "1": False, "2": False}
    found = smq.Solution.from_thresholds(named, 0.5, pd.Series([0.125, 0.25, 0.375])[other])
    assert found.thresholds.tolist() == [(i + 1) / 8 for i in own]


def test_past_pairs_and_charges_are_matched_by_name(tmp_path: Any) -> None:
    e, t = pd.Series([0.1, 0.2, 0.3, 0.9], list("abcd")), pd.Series([0.9, 0.3, 0.2, 0.1], list("dcba"))
    assert smq.GaussianCopula.fit(e, t).correlation == 1.0
    with pytest.raises(smq.InputError, match="owner 'a': is not named"):
        smq.GaussianCopula.fit(e, t.rename({"a": "x"}))
    ledger = smq.Ledger(tmp_path / "ledger.txt")
    assert ledger.charge(["b", "a"], e[:2], 1).epsilon.tolist() == [0.2, 0.1]


THRESHOLDS = pd.DataFrame({"owner": ["cy", "ann", "bo"], "threshold": [0.5, 0.25, 0.75], "note": "x"})


@pytest.mark.parametrize(
    "given_thresholds",
    [
        THRESHOLDS,
        pl.from_pandas(THRESHOLDS),
        pa.Table.from_pandas(THRESHOLDS),
        THRESHOLDS.set_index("owner").threshold,
        THRESHOLDS.set_index("owner")[["threshold"]],
        {"cy": 0.5, "ann": 0.25, "bo": 0.75},
        [0.25, 0.75, 0.5],
    ],
    ids=["pandas", "polars", "pyarrow", "series", "frame of a column", "mapping", "array"],
)
def test_thresholds_from_elsewhere_are_matched_by_name(given_thresholds: Any) -> None:
    market = smq.Market(TABLE.eps, UNIT)
    assert smq.Solution.from_thresholds(market, 0.5, given_thresholds).thresholds.tolist() == [0.25, 0.75, 0.5]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": TABLE.eps, "groups": {"city": TABLE.city[:2]}}, "owner 'cy': is not named"),
        ({"epsilon": TABLE.eps, "groups": {"city": {**TABLE.city, "di": "a"}}}, "owner 'di': is not in the market"),
        ({"epsilon": [0.2, 0.5, 1.0], "groups": TABLE[["city"]]}, "owner '1': is not named"),
        ({"epsilon": TABLE.eps, "multiplicity": pd.concat([TABLE.k, TABLE.k])}, "is named twice"),
        ({"epsilon": TABLE.eps, "groups": [1, 2, 3]}, "must be a mapping or a frame"),
        ({"epsilon": TABLE.eps, "owner_ids": ["a", "b", "c"]}, "owner 'a': is not named"),
    ],
)
def test_names_that_do_not_match_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(smq.InputError, match=words):
        smq.Market(valuation=UNIT, **arguments)


@pytest.mark.parametrize(
    "frame",
    [TABLE, pl.from_pandas(TABLE), pa.Table.from_pandas(TABLE, preserve_index=False)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_tables_of_any_library(frame: Any) -> None:
    market = smq.Market.from_table(frame, UNIT, epsilon="eps", owner_id="id", groups=["city"], multiplicity="k")
    assert market.owner_ids == ("x", "y", "z")
    assert (market.epsilon.tolist(), market.groups["city"].tolist()) == ([0.2, 0.5, 1.0], ["a", "b", "a"])
    certificate = smq.verify(smq.solve(smq.Market.from_table(frame, UNIT, epsilon="eps", owner_id="id"), 0.5))
    threshold = dict(zip("xyz", certificate.solution.thresholds.tolist(), strict=True))
    reports = pd.DataFrame(
        {"owner": ["z", "x", "y"], "report": [threshold["z"], threshold["x"], np.nextafter(threshold["y"], 1)]}
    )
    same = {"pandas": lambda one: one, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}[
        type(frame).__module__.split(".")[0]
    ]
    outcome = smq.procure(certificate, same(reports))
    assert outcome.selected.tolist() == [True, False, True]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("column", ["city", "share", "id"])
def test_missing_names_are_refused_whatever_library_holds_them(make: Any, column: str) -> None:
    table = make({"epsilon": [0.5, 1.0], "city": ["a", None], "share": [0.5, float("nan")], "id": ["x", None]})
    if column == "id":
        with pytest.raises(smq.InputError, match="'owner_ids', row 2: must not be masked or missing"):
            smq.Market.from_table(table, UNIT, owner_id="id")
    with pytest.raises(smq.InputError, match=f"group '{column}', row 2: must not be masked or missing"):
        smq.Market.from_table(table, UNIT, groups=[column])


def test_a_frame_that_holds_no_rows_yet_is_refused() -> None:
    with pytest.raises(smq.InputError, match="collect it first"):
        smq.Market.from_table(pl.from_pandas(TABLE).lazy(), UNIT, epsilon="eps")


def laws_of(k: Any) -> dict[str, Any]:
    """Laws whose parameters come in the order of `k`, or by position."""
    rate, epsilon = k * 1.5, k / 10.0
    copula = smq.GaussianCopula(UNIT, smq.Uniform(0, 1), -0.5)
    return {
        "family": smq.Power(k),
        "point masses": smq.PointMass(k),
        "two parameters": smq.TruncatedExponential(rate, 0.0, k),
        "formula": smq.from_cdf("theta**a", 0, 1, a=k),
        "another unit": smq.Power(k).rescale(2.0),
        "truncated": smq.Truncated(smq.Power(k), 0.25, 0.75),
        "mixture": smq.Mixture([smq.Power(k), UNIT], [1, 2]),
        "given ε": copula.given(epsilon),
    }


@pytest.mark.parametrize("order", [["ann", "bo", "cy"], ["cy", "ann", "bo"]])
def test_parameters_of_laws_are_matched_by_name(order: list[str]) -> None:
    wanted = laws_of(TABLE.k.to_numpy())
    for name, law in laws_of(TABLE.k[order]).items():
        market = smq.Market(TABLE.eps, law)
        plain = smq.Market(TABLE.eps, wanted[name])
        assert market.valuation.cdf(0.6).tolist() == plain.valuation.cdf(0.6).tolist(), name
        assert market.fingerprint == plain.fingerprint, name
    first = smq.Market(TABLE.eps, smq.Power({name: TABLE.k[name] for name in order}))
    assert first.valuation.arguments["k"].tolist() == [1, 2, 3]
    both = smq.TruncatedExponential(TABLE.k[order], 0.0, TABLE.k)
    assert smq.Market(TABLE.eps, both).valuation.arguments["rate"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: smq.Market(TABLE.eps, smq.Power(TABLE.k.rename({"cy": "di"}))), "owner 'cy': is not named"),
        (lambda: smq.Market([0.1, 0.2, 0.3], smq.Power(TABLE.k)), "owner '1': is not named"),
        (lambda: smq.Power(TABLE.k, 0.0, TABLE.k[:2]), "owner 'cy': is not named"),
        (lambda: smq.Power(TABLE.k, 0.0, [1.0, 2.0, 3.0]), "must come with the owners' names like the others"),
        (lambda: smq.Truncated(UNIT, TABLE.k / 10, 1), "must come without names here"),
        (lambda: smq.WeightedSum(TABLE.k, 0, 1), "must come without names here"),
        (lambda: smq.BoughtOwners(TABLE.k), "must come without names here"),
        (lambda: smq.Market([0.5, 0.2], smq.Power(ROWS.k[[2, 0]])), "owner '1': is not named"),
        (lambda: smq.Power(ROWS.k[[0, 1]], 0.0, ROWS.eps[[1, 2]]), "must come with the owners' names like the others"),
        (
            lambda: smq.Market(TABLE.eps, smq.Mixture([smq.Power(TABLE.k), smq.Uniform(0, TABLE.k[::-1])], [1, 1])),
            "must name its owners in one order",
        ),
    ],
)
def test_names_of_parameters_that_do_not_fit_are_refused(make: Any, words: str) -> None:
    with pytest.raises(smq.InputError, match=words):
        make()


@pytest.mark.parametrize("ask", ["audit", "misspecification"])
def test_another_law_than_the_markets_goes_by_owner_too(ask):
    market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])
    solution = smq.solve(market, 0.5)
    named, plain = smq.Power(pd.Series({"cy": 0.5, "bo": 1.0, "ann": 3.0})), smq.Power([3.0, 1.0, 0.5])
    spends = [
        smq.audit(solution, belief=law).expected_spend
        if ask == "audit"
        else smq.misspecification(solution, law).expected_spend
        for law in (named, plain)
    ]
    assert spends[0] == spends[1]


def test_a_value_that_is_neither_true_nor_false_is_told():
    market = smq.Market([0.5], smq.Uniform(0, 1))
    for value in (pd.NA, pd.Series([0.5])):
        with pytest.raises(smq.InputError, match="must be a number"):
            smq.solve(market, value)
