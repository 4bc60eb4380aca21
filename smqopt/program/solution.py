"""A solution: thresholds, and what the solver says of them. It judges nothing; `smqopt.verification` does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, nearest
from smqopt.files import from_json_number, read_csv, read_json, to_json_number, write_csv, write_json
from smqopt.numeric.sums import exact_dot
from smqopt.program.constraints.record import ConstraintRecord
from smqopt.program.constraints.registry import constraint_from_dict
from smqopt.program.lottery import Lottery
from smqopt.program.market import Market, checked_budget, numbers
from smqopt.program.status import Status
from smqopt.valuation.registry import valuation_from_dict

__all__ = [
    "SOLUTION_FILE",
    "THRESHOLDS_FILE",
    "Solution",
    "solution_from_parts",
    "solution_to_dict",
    "write_thresholds",
]

Floats = NDArray[np.float64]

SOLUTION_FILE = "solution.json"
THRESHOLDS_FILE = "thresholds.csv"
FORMAT = "smqopt solution 1"


@dataclass(frozen=True, eq=False)
class Solution:
    """Thresholds for a market and a budget.

    Multipliers are in acceptance units (errata E2, E15): for each owner ε − λJ(θ) + lower − upper = 0 with lower, upper ≥ 0, lower
    zero unless acceptance is 0, upper zero unless acceptance is 1.
    """

    market: Market
    budget: float
    """B, in currency."""
    thresholds: Floats
    """θ_i*, shape (n,), in currency; θ̲_i where there is no offer."""
    acceptance: Floats
    """q_i = F_i(θ_i*), shape (n,); 0 means no offer."""
    budget_price: float
    """λ ≥ 0, privacy per unit of currency; +∞ only at a zero budget."""
    status: Status
    solver: str
    """Which route found it: "dual", "conic" or "structured"."""
    market_fingerprint: str
    """The fingerprint of the market that was solved."""
    constraints: tuple[str, ...] = ()
    """Side constraints beyond OP2, in words."""
    records: tuple[ConstraintRecord, ...] = ()
    """The side constraints as records; `constraints` holds their words, and those of constraints that have no record."""
    constraint_prices: Floats = field(default_factory=lambda: np.zeros(0))
    """Multipliers y of the linear rows that the records state, in their order, shape (k,), in units of ε per unit of the row; ≥ 0, but of
    any sign for equations. What one more unit of a row's limit is worth."""
    blame: tuple[str, ...] = ()
    """Where the status is INFEASIBLE: constraints that cannot hold together, and could if any one of them went."""
    lottery: Lottery | None = None
    """Lotteries between two thresholds, for owners on a flat piece of their ironed cost curve; None where nobody draws.

    For these owners `thresholds` shows the lower threshold, `acceptance` and `spend` are expectations over the draw.
    """
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """What the solver reports of its work; never relied upon."""

    @property
    def spend(self) -> Floats:
        """Expected payments B_i = θ_i* F_i(θ_i*) for one owner of each row, shape (n,), in currency (Appendix D)."""
        spend = self.thresholds * self.acceptance
        if self.lottery is not None:
            spend[self.lottery.owner] = self.lottery.spend
        return spend

    @property
    def offered(self) -> NDArray[np.bool_]:
        """Who gets an offer: owners with positive acceptance, shape (n,)."""
        return self.acceptance > 0

    @property
    def total_spend(self) -> float:
        """Σ m_i θ_i* F_i(θ_i*), in currency, with one rounding after the products."""
        weights = self.market.multiplicity
        return exact_dot(self.spend, np.ones(1) if weights is None else weights.astype(np.float64))

    @property
    def purchased_privacy(self) -> float:
        """Σ m_i ε_i F_i(θ_i*), the objective of OP2, rounded once."""
        weights = self.market.multiplicity
        return exact_dot(self.acceptance if weights is None else self.acceptance * weights, self.market.epsilon)

    @property
    def lower_multiplier(self) -> Floats:
        """μ_i = (λJ_i(θ_i*) − ε_i)₊ where acceptance is 0, else 0; shape (n,), in units of ε (KKT, errata E2)."""
        return np.where(self.acceptance <= 0, np.maximum(-self._marginal_value(), 0.0), 0.0)

    @property
    def upper_multiplier(self) -> Floats:
        """γ_i = (ε_i − λJ_i(θ_i*))₊ where acceptance is 1, else 0; shape (n,), in units of ε (KKT, errata E2)."""
        return np.where(self.acceptance >= 1, np.maximum(self._marginal_value(), 0.0), 0.0)

    def _marginal_value(self) -> Floats:
        """ε − λJ(θ): what one more unit of acceptance is worth, in units of ε."""
        cost = self.market.valuation.virtual_cost(self.thresholds)
        with np.errstate(invalid="ignore"):
            price = np.where(cost == 0, 0.0, self.budget_price * cost)
        return self.market.epsilon - price

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `thresholds.csv` and `solution.json` into a folder, each whole or not at all."""
        write_thresholds(self, Path(folder) / THRESHOLDS_FILE)
        write_json(Path(folder) / SOLUTION_FILE, solution_to_dict(self))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Solution:
        """Read a solution that `save` wrote.

        Raises
        ------
        InputError
            If a file is missing, or a key, a column or a row is bad.
        """
        path = Path(folder) / SOLUTION_FILE
        return solution_from_parts(read_json(path), Path(folder) / THRESHOLDS_FILE, str(path))

    def __repr__(self) -> str:
        return (
            f"Solution({self.status.name}, {self.market.n} rows, budget {self.budget:g}, "
            f"purchased privacy {self.purchased_privacy:.12g}, budget price {self.budget_price:.12g})"
        )


def solution_to_dict(solution: Solution) -> dict[str, Any]:
    """Give all of a solution but its columns as data; the columns stand in `thresholds.csv`."""
    return {
        "format": FORMAT,
        "owners": solution.market.n,
        "valuation": solution.market.valuation.to_dict(),
        "budget": solution.budget,
        "budget_price": to_json_number(solution.budget_price),
        "status": solution.status.name,
        "solver": solution.solver,
        "constraints": list(solution.constraints),
        **_side_to_dict(solution),
        "market_fingerprint": solution.market_fingerprint,
    }


def write_thresholds(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write one row an owner: id, requirement, multiplicity, groups, threshold, acceptance, spend, offer."""
    market = solution.market
    columns: dict[str, list[Any]] = {"owner": list(market.owner_ids), "epsilon": market.epsilon.tolist()}
    if market.multiplicity is not None:
        columns["multiplicity"] = market.multiplicity.tolist()
    columns |= {f"group:{name}": labels.tolist() for name, labels in market.groups.items()}
    columns |= {
        "threshold": solution.thresholds.tolist(),
        "acceptance": solution.acceptance.tolist(),
        "spend": solution.spend.tolist(),
        "offer": ["yes" if offered else "no" for offered in solution.offered.tolist()],
    }
    if solution.lottery is not None:
        columns |= _lottery_columns(solution.lottery, market.n)
    write_csv(path, list(columns), zip(*columns.values(), strict=True))


def solution_from_parts(
    content: Mapping[str, Any], thresholds: str | os.PathLike[str], where: str = SOLUTION_FILE
) -> Solution:
    """Rebuild a solution from `solution_to_dict`'s data and the table of thresholds.

    Raises
    ------
    InputError
        If the format, a key, a column or a row is bad.
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
    ):
        if not isinstance(content[key], kind):
            raise InputError(
                f"{where}: key {key!r}", f"must be {word}", value=type(content[key]).__name__, remedy="solve again"
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
    return Solution(
        market=market,
        budget=checked_budget(content["budget"], f"{where}: key 'budget'"),
        thresholds=numbers(table["threshold"], f"{thresholds}: column 'threshold'"),
        acceptance=numbers(table["acceptance"], f"{thresholds}: column 'acceptance'"),
        budget_price=from_json_number(content["budget_price"], f"{where}: key 'budget_price'"),
        status=Status[content["status"]],
        solver=str(content["solver"]),
        market_fingerprint=str(content["market_fingerprint"]),
        constraints=tuple(str(name) for name in content["constraints"]),
        **_side_from_dict(content, where),
        lottery=_lottery_from_columns(table, str(thresholds)),
    )


def _side_to_dict(solution: Solution) -> dict[str, Any]:
    """Give what side constraints add; nothing where there are none."""
    content: dict[str, Any] = {}
    if solution.records:
        content["records"] = [record.to_dict() for record in solution.records]
        content["constraint_prices"] = [to_json_number(price) for price in solution.constraint_prices.tolist()]
    if solution.blame:
        content["blame"] = list(solution.blame)
    return content


def _side_from_dict(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Read what `_side_to_dict` wrote."""
    entries = {}
    for key in ("records", "constraint_prices", "blame"):
        entries[key] = content.get(key, [])
        if not isinstance(entries[key], list):
            raise InputError(
                f"{where}: key {key!r}", "must be an array", value=type(entries[key]).__name__, remedy="solve again"
            )
    prices = [from_json_number(price, f"{where}: key 'constraint_prices'") for price in entries["constraint_prices"]]
    return {
        "records": tuple(
            constraint_from_dict(record, f"{where}: record {number}")
            for number, record in enumerate(entries["records"], 1)
        ),
        "constraint_prices": np.array(prices, dtype=np.float64),
        "blame": tuple(str(name) for name in entries["blame"]),
    }


_LOTTERY_COLUMNS = ("high", "low_acceptance", "high_acceptance", "probability_of_low")


def _lottery_columns(lottery: Lottery, n: int) -> dict[str, list[Any]]:
    """Give the columns `lottery:…`, empty for owners who do not draw."""
    columns: dict[str, list[Any]] = {}
    for name in _LOTTERY_COLUMNS:
        column: list[Any] = [""] * n
        for row, value in zip(lottery.owner.tolist(), getattr(lottery, name).tolist(), strict=True):
            column[row] = value
        columns[f"lottery:{name}"] = column
    return columns


def _lottery_from_columns(table: Mapping[str, list[str]], where: str) -> Lottery | None:
    present = [name for name in _LOTTERY_COLUMNS if f"lottery:{name}" in table]
    if not present:
        return None
    if len(present) < len(_LOTTERY_COLUMNS):
        missing = next(name for name in _LOTTERY_COLUMNS if name not in present)
        raise InputError(f"{where}: column 'lottery:{missing}'", "is missing", remedy="solve again")
    owner = np.array([row for row, text in enumerate(table["lottery:high"]) if text], dtype=np.intp)

    def column(name: str) -> Floats:
        return numbers([table[name][row] for row in owner.tolist()], f"{where}: column {name!r}")

    return Lottery(owner, column("threshold"), *(column(f"lottery:{name}") for name in _LOTTERY_COLUMNS))
