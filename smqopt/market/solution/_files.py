"""A solution as files.

`solution.json`, and `thresholds.csv` with one row an owner.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import CertificateError, InputError, nearest
from smqopt.files import from_json_number, read_csv, write_csv
from smqopt.market._lottery import Lottery
from smqopt.market._market import Market
from smqopt.market._numbers import checked_budget, numbers
from smqopt.market._offers import Offers
from smqopt.market._status import Status
from smqopt.market.constraints._constraint_registry import constraint_from_dict
from smqopt.market.objectives._objective_registry import objective_from_dict
from smqopt.market.objectives._worst_case_error import WorstCaseError
from smqopt.market.random_prices._random_prices import RandomPrices
from smqopt.numeric import RECHECK, Floats
from smqopt.valuation import valuation_from_dict

SOLUTION_FILE = "solution.json"
THRESHOLDS_FILE = "thresholds.csv"
FORMAT = "smqopt solution 1"


def write_thresholds(path: str | os.PathLike[str], market: Market, offers: Offers, spend: Floats) -> None:
    """Write one row an owner, with the columns of `threshold_columns`."""
    columns = threshold_columns(market, offers, spend)
    write_csv(path, list(columns), zip(*columns.values(), strict=True))


def threshold_columns(market: Market, offers: Offers, spend: Floats) -> dict[str, list[Any]]:
    """Return the columns of `thresholds.csv`.

    Id, requirement, count, groups, threshold, spend, offer, lottery.
    """
    columns: dict[str, list[Any]] = {"owner": list(market.owner_ids), "epsilon": market.epsilon.tolist()}
    if market.multiplicity is not None:
        columns["multiplicity"] = market.multiplicity.tolist()
    columns |= {f"group:{name}": labels.tolist() for name, labels in market.groups.items()}
    columns |= {
        "threshold": offers.thresholds.tolist(),
        "acceptance": offers.acceptance.tolist(),
        "spend": spend.tolist(),
        "offer": ["yes" if offered else "no" for offered in (offers.acceptance > 0).tolist()],
    }
    if offers.lottery is not None:
        columns |= _lottery_columns(offers.lottery, market.n)
    return columns


def solution_arguments(content: Mapping[str, Any], thresholds: str | os.PathLike[str], where: str) -> dict[str, Any]:
    """Read a solution's parts from `to_dict`'s data and the table of thresholds.

    Raises
    ------
    InputError
        If the format, a key, a column or a row is bad.
    CertificateError
        If spend or offers are not what thresholds and acceptances give.
    """
    if content.get("format") != FORMAT:
        raise InputError(
            f"{where}: key 'format'", f"must be {FORMAT!r}", value=content.get("format"), remedy="solve again"
        )
    keys = ("valuation", "budget", "budget_price", "status", "solver", "constraints", "market_fingerprint")
    for key in keys:
        if key not in content:
            raise InputError(f"{where}: key {key!r}", "is missing", remedy="solve again")
    for key, kind, word in (
        ("valuation", dict, "an object"),
        ("status", str, "text"),
        ("constraints", list, "an array"),
        ("claims_response", bool, "true or false"),
    ):
        if not isinstance(content.get(key), kind):
            raise InputError(
                f"{where}: key {key!r}", f"must be {word}", value=type(content.get(key)).__name__, remedy="solve again"
            )
    if content["status"] not in Status.__members__:
        raise InputError(
            f"{where}: key 'status'",
            "is unknown",
            value=content["status"],
            remedy=nearest(str(content["status"]), Status.__members__),
        )
    table = read_csv(thresholds)
    for name in ("owner", "epsilon", "threshold", "acceptance"):
        if name not in table:
            raise InputError(f"{thresholds}: column {name!r}", "is missing", remedy=nearest(name, table))
    counts = table.get("multiplicity")
    default_ids = table["owner"] == [str(i + 1) for i in range(len(table["owner"]))]
    market = Market(
        numbers(table["epsilon"], f"{thresholds}: column 'epsilon'"),
        valuation_from_dict(content["valuation"], f"{where}: key 'valuation'"),
        owner_ids=None if default_ids else table["owner"],
        groups={
            name.removeprefix("group:"): np.array(column) for name, column in table.items() if name.startswith("group:")
        },
        multiplicity=None if counts is None else numbers(counts, f"{thresholds}: column 'multiplicity'"),
    )
    if content.get("owners") != market.n:
        raise InputError(
            f"{where}: key 'owners'",
            f"must be the number of rows of {thresholds}, {market.n}",
            value=content.get("owners"),
            remedy="solve again",
        )
    arguments = {
        "market": market,
        "budget": checked_budget(content["budget"], f"{where}: key 'budget'"),
        "thresholds": numbers(table["threshold"], f"{thresholds}: column 'threshold'"),
        "acceptance": numbers(table["acceptance"], f"{thresholds}: column 'acceptance'"),
        "budget_price": from_json_number(content["budget_price"], f"{where}: key 'budget_price'"),
        "status": Status[content["status"]],
        "solver": str(content["solver"]),
        "claims_response": content["claims_response"],
        "market_fingerprint": str(content["market_fingerprint"]),
        "constraints": tuple(str(name) for name in content["constraints"]),
        **_side_from_dict(content, where),
        **_objective_from_dict(content, where),
        "lottery": _lottery_from_columns(table, str(thresholds)),
    }
    if "random_prices" in content:
        arguments["random_prices"] = RandomPrices.from_dict(content["random_prices"], f"{where}: key 'random_prices'")
    _check_shown(table, arguments, str(thresholds))
    return arguments


def _check_shown(table: Mapping[str, list[str]], arguments: Mapping[str, Any], where: str) -> None:
    """Refuse a table whose spend and offers do not follow from its thresholds.

    A file that contradicts itself is bad input.
    """
    acceptance, lottery = arguments["acceptance"], arguments["lottery"]
    wrong: dict[str, NDArray[np.bool_]] = {}
    if "spend" in table:
        spend = arguments["thresholds"] * acceptance
        drawn, objective = arguments.get("random_prices"), arguments.get("objective")
        if drawn is not None and isinstance(objective, WorstCaseError):
            spend = drawn.on(arguments["market"], objective).spend
        if lottery is not None:
            spend[lottery.owner] = lottery.spend
        shown = numbers(table["spend"], f"{where}: column 'spend'")
        wrong["spend"] = ~(np.abs(shown - spend) <= RECHECK.value * np.abs(spend))
    if "offer" in table:
        wrong["offer"] = np.array(table["offer"]) != np.where(acceptance > 0, "yes", "no")
    for name, rows in wrong.items():
        if rows.any():
            row = int(np.argmax(rows))
            raise CertificateError(
                f"{where}: column {name!r}, row {row + 1} (owner {table['owner'][row]!r})",
                "must be what threshold and acceptance give",
                value=table[name][row],
                remedy="solve again",
            )


def _objective_from_dict(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read the objective; its value follows from the thresholds."""
    if "objective" not in content:
        return {}
    return {"objective": objective_from_dict(content["objective"], f"{where}: key 'objective'", of_solution=True)}


def _side_from_dict(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read what `_side_to_dict` wrote."""
    entries = {}
    for key in ("records", "constraint_prices", "conflict"):
        entries[key] = content.get(key, [])
        if not isinstance(entries[key], list):
            raise InputError(
                f"{where}: key {key!r}", "must be an array", value=type(entries[key]).__name__, remedy="solve again"
            )
    prices = [from_json_number(price, f"{where}: key 'constraint_prices'") for price in entries["constraint_prices"]]
    return {
        "records": tuple(
            constraint_from_dict(record, f"{where}: record {number}", of_solution=True)
            for number, record in enumerate(entries["records"], 1)
        ),
        "constraint_prices": np.array(prices, dtype=np.float64),
        "conflict": tuple(str(name) for name in entries["conflict"]),
    }


_LOTTERY = (("price", "prices"), ("acceptance", "acceptances"), ("probability", "probabilities"))
"""Columns `lottery:price 1`, `lottery:price 2`, …; and what they hold."""


def lottery_columns(lottery: Lottery | None) -> list[str]:
    """Return the names of the columns that hold a lottery, price by price."""
    count = 0 if lottery is None else lottery.prices.shape[1]
    return [f"lottery:{name} {k + 1}" for k in range(count) for name, _ in _LOTTERY]


def _lottery_columns(lottery: Lottery, n: int) -> dict[str, list[Any]]:
    """Return the columns of a lottery, empty for owners who do not draw."""
    columns: dict[str, list[Any]] = {name: [""] * n for name in lottery_columns(lottery)}
    for name, of in _LOTTERY:
        for k, values in enumerate(getattr(lottery, of).T):
            column = columns[f"lottery:{name} {k + 1}"]
            for row, value in zip(lottery.owner.tolist(), values.tolist(), strict=True):
                column[row] = value
    return columns


def _lottery_from_columns(table: Mapping[str, list[str]], where: str) -> Lottery | None:
    present = [name for name in table if name.startswith("lottery:")]
    if not present:
        return None
    count = max(2, sum(name.startswith("lottery:price ") for name in present))
    names = [f"lottery:{name} {k + 1}" for k in range(count) for name, _ in _LOTTERY]
    for name in names:
        if name not in table:
            raise InputError(f"{where}: column {name!r}", "is missing", remedy="solve again")
    owner = np.array([row for row, text in enumerate(table[names[0]]) if text], dtype=np.intp)
    for name in names:
        for row, text in enumerate(table[name]):
            if text and not table[names[0]][row]:
                raise InputError(
                    f"{where}: column {name!r}, row {row + 1} (owner {table['owner'][row]!r})",
                    "must be empty for an owner who does not draw",
                    value=text,
                    remedy="solve again",
                )

    def column(name: str) -> Floats:
        return numbers([table[name][row] for row in owner.tolist()], f"{where}: column {name!r}")

    columns = (
        np.column_stack([column(f"lottery:{name} {k + 1}") for k in range(count)]).reshape(owner.size, count)
        for name, _ in _LOTTERY
    )
    return Lottery(owner, *columns)
