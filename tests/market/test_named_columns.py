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


def test_an_index_of_row_numbers_names_nobody() -> None:
    rows = TABLE.reset_index(drop=True).iloc[[2, 0]]
    market = smq.Market(rows.eps, UNIT, owner_ids=rows.id, groups=rows[["city"]])
    assert (market.owner_ids, market.epsilon.tolist()) == (("z", "x"), [1.0, 0.2])


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


def test_a_frame_that_holds_no_rows_yet_is_refused() -> None:
    with pytest.raises(smq.InputError, match="collect it first"):
        smq.Market.from_table(pl.from_pandas(TABLE).lazy(), UNIT, epsilon="eps")


def laws_of(k: Any) -> dict[str, Any]:
    """Laws whose parameters come in the order of `k`, or by position."""
    rate, epsilon = k * 1.5, k / 10.0
    copula = smq.GaussianCopula(UNIT, smq.Uniform(0, 1), -0.5)
    return {
        "family": smq.Power(k),
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
    rows = pd.Series([3.0, 1.0], index=[7, 2])  # counts rows
    assert smq.Market([0.5, 0.2], smq.Power(rows)).valuation.arguments["k"].tolist() == [3, 1]
    both = smq.TruncatedExponential(TABLE.k[order], 0.0, TABLE.k)
    assert smq.Market(TABLE.eps, both).valuation.arguments["rate"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: smq.Market(TABLE.eps, smq.Power(TABLE.k.rename({"cy": "di"}))), "owner 'cy': is not named"),
        (lambda: smq.Market([0.1, 0.2, 0.3], smq.Power(TABLE.k)), "owner '1': is not named"),
        (lambda: smq.Power(TABLE.k, 0.0, TABLE.k[:2]), "owner 'cy': is not named"),
        (lambda: smq.Power(TABLE.k, 0.0, [1.0, 2.0, 3.0]), "must come with the owners' names like the others"),
        (lambda: smq.PointMass(TABLE.k), "must come without names here"),
        (
            lambda: smq.Market(TABLE.eps, smq.Mixture([smq.Power(TABLE.k), smq.Uniform(0, TABLE.k[::-1])], [1, 1])),
            "must name its owners in one order",
        ),
    ],
)
def test_names_of_parameters_that_do_not_fit_are_refused(make: Any, words: str) -> None:
    with pytest.raises(smq.InputError, match=words):
        make()
