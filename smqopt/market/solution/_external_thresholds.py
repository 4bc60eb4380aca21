"""Thresholds from elsewhere.

An array, or a table with one row an owner, made into what a solution is made of.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from smqopt.errors import InputError, nearest_column
from smqopt.files import read_csv
from smqopt.market._market import Market
from smqopt.market._numbers import checked_budget, numbers
from smqopt.market.response._classify import status_of
from smqopt.numeric import Floats, align, frame_columns, plain_array

GIVEN = "given"
"""The `solver` of a solution whose thresholds come from elsewhere."""
_IDS = ("owner_id", "owner")
"""Names of the column of owners, in the order in which they are looked for."""
_THRESHOLD = "threshold"


def given_arguments(market: Market, budget: float, thresholds: Any, budget_price: float | None) -> dict[str, Any]:
    """Return what a solution is made of, from thresholds alone.

    A threshold below an owner's support buys nobody: it is taken as no offer, and shown as θ̲. One
    above her support stays, for the verifier to refuse.

    Parameters
    ----------
    market, budget
        What the thresholds are for.
    thresholds
        Shape (n,), in currency, matched by name where they come with names; or a path to a CSV
        file, a mapping of columns or a data frame with columns `owner_id` (or `owner`) and
        `threshold`.
    budget_price
        λ, if it is known.

    Raises
    ------
    InputError
        If the thresholds are not one finite number ≥ 0 for each row of the market, or the table is
        not of its owners.
    """
    asked = checked_budget(budget)
    where, theta = _read(market, thresholds)
    bad = np.flatnonzero(~((theta >= 0) & (theta < np.inf)))
    if bad.size:
        raise InputError(
            f"{where}: threshold of owner {market.owner_ids[bad[0]]!r}",
            "must be a finite number ≥ 0",
            value=float(theta[bad[0]]),
            remedy="correct the row; a threshold below her support means no offer",
        )
    price = math.nan if budget_price is None else budget_price
    if not (isinstance(price, (int, float)) and (math.isnan(price) or price >= 0)):
        raise InputError("argument 'budget_price'", "must be a number ≥ 0", value=price, remedy="leave it out")
    offered = theta >= market.low
    theta = np.where(offered, theta, market.low)
    return {
        "market": market,
        "budget": asked,
        "thresholds": theta,
        "acceptance": np.where(offered, market.valuation.cdf(theta), 0.0),
        "budget_price": float(price),
        "status": status_of(market, asked),
        "solver": GIVEN,
        "market_fingerprint": market.fingerprint,
    }


def _read(market: Market, thresholds: Any) -> tuple[str, Floats]:
    if isinstance(thresholds, str) or hasattr(thresholds, "__fspath__"):
        return str(thresholds), _by_owner(market, read_csv(thresholds), str(thresholds))
    table = thresholds if isinstance(thresholds, Mapping) else frame_columns(thresholds, "argument 'thresholds'")
    if table is not None and _THRESHOLD in table and any(name in table for name in _IDS):
        return "table", _by_owner(market, table, "table")
    where = "argument 'thresholds'"
    array = plain_array(align(thresholds, market.owner_ids, where), where)
    if array.shape != (market.n,):
        raise InputError(
            where, f"must have shape ({market.n},)", value=array.shape, remedy="give one threshold for each row"
        )
    if array.dtype.kind not in "iuf":
        raise InputError(where, "must hold numbers", value=str(array.dtype), remedy="convert them to numbers")
    return where, array.astype(np.float64)


def _by_owner(market: Market, table: Mapping[str, Any], where: str) -> Floats:
    """Read the table by the names of the owners, in the order of the market."""
    names = [str(name) for name in table]
    ids_column = next((name for name in _IDS if name in names), _IDS[0])
    for name in (ids_column, _THRESHOLD):
        if name not in names:
            raise InputError(f"{where}: column {name!r}", "is missing", remedy=nearest_column(name, names))
    values = numbers(table[_THRESHOLD], f"{where}: column {_THRESHOLD!r}")
    rows = {name: row for row, name in enumerate(market.owner_ids)}
    theta = np.full(market.n, np.nan)
    for line, name in enumerate(str(entry) for entry in np.asarray(table[ids_column]).tolist()):
        place = f"{where}: column {ids_column!r}, row {line + 1}"
        if name not in rows:
            raise InputError(
                place, "is no owner of the market", value=name, remedy="give the thresholds of this market"
            )
        if not np.isnan(theta[rows[name]]):
            raise InputError(place, "repeats an owner", value=name, remedy="keep one row")
        theta[rows[name]] = values[line]
    missing = np.flatnonzero(np.isnan(theta))
    if missing.size:
        name = market.owner_ids[missing[0]]
        raise InputError(f"{where}: column {ids_column!r}", f"has no row for owner {name!r}", remedy="add one")
    return theta
