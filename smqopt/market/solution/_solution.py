"""A solution: thresholds, and what the solver says of them. It verifies nothing.

`smqopt.verification` does.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smqopt._door import higher
from smqopt._frame import TabularRecord
from smqopt._html_table import html_table
from smqopt.files import read_json, to_json_number, write_json
from smqopt.market._lottery import Lottery
from smqopt.market._market import Market
from smqopt.market._offers import Offers
from smqopt.market._status import Status
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.market.objectives._mean_squared_error import error_objective
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._purchased_privacy import PurchasedPrivacy
from smqopt.market.objectives._worst_case_error import WorstCaseError
from smqopt.market.random_prices._random_prices import RandomPrices
from smqopt.market.solution._external_thresholds import given_arguments
from smqopt.market.solution._files import (
    FORMAT,
    SOLUTION_FILE,
    THRESHOLDS_FILE,
    solution_arguments,
    threshold_columns,
    write_thresholds,
)
from smqopt.numeric import Floats, FrozenDict, exact_dot
from smqopt.valuation import possible_laws

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Solution(TabularRecord):
    """Thresholds for a market and a budget.

    Multipliers are in acceptance units (errata E2, E15): for each owner ε − λJ(θ) + lower − upper =
    0 with lower, upper ≥ 0, lower zero unless acceptance is 0, upper zero unless acceptance is 1.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 0.5)
    >>> solution.thresholds.round(3).tolist(), solution.status.name, round(solution.budget_price, 3)
    ([0.125, 0.311, 0.623], 'BINDING', 0.803)
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
    """Which route found it: "dual", "conic" or "structured"; "given" where the thresholds come from
    elsewhere."""
    market_fingerprint: str
    """The fingerprint of the market that was solved."""
    claims_response: bool = False
    """Whether the thresholds are said to be the owners' responses to the budget price; the verifier
    then holds them to that, and not to the gap alone."""
    constraints: tuple[str, ...] = ()
    """Side constraints beyond OP2, in words."""
    records: tuple[ConstraintRecord, ...] = ()
    """The side constraints as records; `constraints` holds their words, and those of constraints
    that have no record."""
    constraint_prices: Floats = field(default_factory=lambda: np.zeros(0))
    """Multipliers y of the linear rows that the records state, in their order, shape (k,), in units
    of ε per unit of the row; ≥ 0, but of any sign for equations. By how much one more unit of a
    row's limit raises the optimum."""
    conflict: tuple[str, ...] = ()
    """Where the status is INFEASIBLE: constraints that cannot hold together, and could if any one
    of them went; `details["relax_by"]` says by how much each must be relaxed at least, if it alone
    does; about as much as these need where they are up to eight and no equations."""
    lottery: Lottery | None = None
    """Lotteries between two thresholds, for owners on a flat piece of their ironed cost curve; None
    where nobody draws.

    For these owners `thresholds` shows the lower threshold, `acceptance` and `spend` are
    expectations over the draw. """
    objective: Objective = field(default_factory=PurchasedPrivacy)
    """What was to be as large, or as small, as the budget allows; λ is in its unit per unit of
    currency."""
    random_prices: RandomPrices | None = None
    """What owners draw their prices from, by the objective `WorstCaseError`; else None.

    `thresholds` then shows the highest price that each owner is offered at least if she is offered
    any, θ̲ or a price near it where her chance falls at once; `acceptance` and `spend` are
    expectations over report and draw."""
    details: Mapping[str, Any] = field(default_factory=FrozenDict)
    """What the solver reports of its work; never relied upon."""
    raw: Solution | None = None
    """What the conic solver left, before it was polished from its multipliers; None where nothing
    was polished. It is not saved."""

    @property
    def spend(self) -> Floats:
        """Expected payments B_i = θ_i* F_i(θ_i*), shape (n,), in currency (Appendix D).

        For one owner of each row.
        """
        if self.random_prices is not None and isinstance(self.objective, WorstCaseError):
            return self.random_prices.on(self.market, self.objective).spend
        return Offers(self.thresholds, self.acceptance, self.lottery).spend

    @property
    def offered(self) -> NDArray[np.bool_]:
        """Who gets an offer: owners with positive acceptance, shape (n,)."""
        return self.acceptance > 0

    @property
    def total_spend(self) -> float:
        """Σ m_i θ_i* F_i(θ_i*), in currency, with one rounding after the products."""
        return exact_dot(self.spend, self.market.weights)

    @property
    def purchased_privacy(self) -> float:
        """Σ m_i ε_i F_i(θ_i*), the objective of OP2, rounded once."""
        weights = self.market.multiplicity
        return exact_dot(self.acceptance if weights is None else self.acceptance * weights, self.market.epsilon)

    @property
    def objective_value(self) -> float:
        """The objective's own value, rounded once.

        Purchased privacy, or what the record says; +∞ for a variance without an estimate.
        """
        if self.random_prices is not None and isinstance(self.objective, WorstCaseError):
            chances = self.random_prices.on(self.market, self.objective)
            return chances.error(self.market, self.objective, self.random_prices.noise_scale)
        from smqopt.market.expansion._make import expansion_of  # noqa: PLC0415 -- loads SciPy's sparse matrices

        e = expansion_of(self.market, self.budget, self.records, self.objective)
        if e is None:
            return self.objective.value(self.market, self.acceptance)
        value = e.value(Offers(self.thresholds, self.acceptance, self.lottery))[0]
        return -value if self.objective.smallest else value

    @property
    def error(self) -> float:
        """The root mean squared error, in units of the answer, of a solution made for it.

        For `MeanSquaredError` that of the linear release, at the expected sums and the best
        weights; for `WorstCaseError` the worst case over all entries of the range.

        Raises
        ------
        InputError
            If the solution was made for another objective.
        """
        if not isinstance(self.objective, WorstCaseError):
            error_objective(self.objective)
        return math.sqrt(self.objective_value)

    @property
    def lower_multiplier(self) -> Floats:
        """μ_i = (λJ_i(θ_i*) − ε_i)₊ where acceptance is 0, else 0.

        Shape (n,), in units of ε (KKT, errata E2).

        Under another objective φ_i′(q_i) stands for ε_i, here and in `upper_multiplier`.
        """
        return np.where(self.acceptance <= 0, np.maximum(-self._marginal_value(), 0.0), 0.0)

    @property
    def upper_multiplier(self) -> Floats:
        """γ_i = (ε_i − λJ_i(θ_i*))₊ where acceptance is 1, else 0.

        Shape (n,), in units of ε (KKT, errata E2).
        """
        return np.where(self.acceptance >= 1, np.maximum(self._marginal_value(), 0.0), 0.0)

    def _marginal_value(self) -> Floats:
        """ε − λJ(θ): what one more unit of acceptance adds, in units of the objective."""
        cost = self.market.valuation.virtual_cost(self.thresholds)
        with np.errstate(invalid="ignore"):
            price = np.where(cost == 0, 0.0, self.budget_price * cost)
        return self.objective.utility(self.market).slope(self.acceptance) - price

    @classmethod
    def from_thresholds(
        cls, market: Market, budget: float, thresholds: Any, *, budget_price: float | None = None
    ) -> Solution:
        """Take thresholds from elsewhere, to be verified.

        `verify` says how far they are from optimal, and whether they keep the budget.

        A threshold below an owner's support buys nobody: it is taken as no offer, and shown as θ̲.
        One above her support stays, for `verify` to refuse.

        Parameters
        ----------
        market, budget
            What they are for: OP2 without side constraints.
        thresholds
            Shape (n,), in currency, matched by name where they come with names; or a CSV file, a
            mapping of columns or a data frame with columns `owner_id` (or `owner`) and `threshold`,
            in any order of rows.
        budget_price
            λ, if it is known; `verify` finds the best one where it is not.

        Raises
        ------
        InputError
            If the thresholds are not one finite number ≥ 0 for each row of the market, or the table
            is not of its owners; names file, column, row and owner.

        Examples
        --------
        >>> import smqopt as smq
        >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
        >>> certificate = smq.verify(smq.Solution.from_thresholds(market, 0.5, [0.4, 0.4, 0.4]))
        >>> certificate.valid, round(certificate.gap, 3), certificate.solution.total_spend <= 0.5
        (False, 0.153, True)
        """
        return cls(**given_arguments(market, budget, thresholds, budget_price))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `thresholds.csv` and `solution.json`, each whole or not at all."""
        offers = Offers(self.thresholds, self.acceptance, self.lottery)
        write_thresholds(Path(folder) / THRESHOLDS_FILE, self.market, offers, self.spend)
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

    def _columns(self) -> dict[str, Any]:
        """Return the columns of `thresholds.csv`, and who is offered something."""
        offers = Offers(self.thresholds, self.acceptance, self.lottery)
        return {**threshold_columns(self.market, offers, self.spend), "offer": self.offered}

    def plot(self, what: str = "thresholds", *, ax: Axes | None = None) -> Axes:
        """Draw thresholds θ*, or acceptance F(θ*), against requirements ε.

        Parameters
        ----------
        what
            "thresholds" or "acceptance".
        ax
            matplotlib's axes to draw on; those of a new figure by default.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        axes: Axes = higher("smqopt.report", "plot_solution")(self, what, ax)
        return axes

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        mean = "" if possible_laws(self.market.valuation) is None else ", mean over laws in doubt"
        rows = [
            ("status", self.status),
            ("budget", self.budget),
            (f"expected spend{mean}", self.total_spend),
            ("budget price λ", self.budget_price),
            (f"purchased privacy{mean}", self.purchased_privacy),
            ("rows", self.market.n),
        ]
        return html_table("Solution, not verified", rows)

    def __repr__(self) -> str:
        aim = "" if self.objective == PurchasedPrivacy() else f"{self.objective.kind} {self.objective_value:.12g}, "
        return (
            f"Solution({self.status.name}, {self.market.n} rows, budget {self.budget:g}, {aim}"
            f"purchased privacy {self.purchased_privacy:.12g}, budget price {self.budget_price:.12g})"
        )


def solution_from_parts(
    content: Mapping[str, Any], thresholds: str | os.PathLike[str], where: str = SOLUTION_FILE
) -> Solution:
    """Rebuild a solution from `solution_to_dict`'s data and the table of thresholds.

    Raises
    ------
    InputError
        If the format, a key, a column or a row is bad.
    """
    return Solution(**solution_arguments(content, thresholds, where))


def solution_to_dict(solution: Solution) -> dict[str, Any]:
    """Return all of a solution but its columns as data.

    The columns stand in `thresholds.csv`.
    """
    return {
        "format": FORMAT,
        "owners": solution.market.n,
        "valuation": solution.market.valuation.to_dict(),
        "budget": solution.budget,
        **_objective_to_dict(solution),
        "budget_price": to_json_number(solution.budget_price),
        "status": solution.status.name,
        "solver": solution.solver,
        "claims_response": solution.claims_response,
        "constraints": list(solution.constraints),
        **_side_to_dict(solution),
        "market_fingerprint": solution.market_fingerprint,
    }


def _objective_to_dict(solution: Solution) -> dict[str, Any]:
    """Return an objective other than OP2's own."""
    return {} if solution.objective == PurchasedPrivacy() else {"objective": solution.objective.to_dict()}


def _side_to_dict(solution: Solution) -> dict[str, Any]:
    """Return what side constraints add; nothing where there are none."""
    content: dict[str, Any] = {}
    if solution.records or np.size(solution.constraint_prices):
        content["records"] = [record.to_dict() for record in solution.records]
        content["constraint_prices"] = [to_json_number(price) for price in solution.constraint_prices.tolist()]
    if solution.random_prices is not None:
        content["random_prices"] = solution.random_prices.to_dict()
    if solution.conflict:
        content["conflict"] = list(solution.conflict)
    return content
