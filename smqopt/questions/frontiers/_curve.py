"""The frontier V(B), between chords from below and tangents from above."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smqopt._door import higher
from smqopt._frame import TabularRecord
from smqopt._html_table import html_table
from smqopt.errors import InputError
from smqopt.files import to_json_number, write_csv
from smqopt.market import Status, numbers
from smqopt.numeric import ROUNDING, Floats, plain_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNDECIDED = "UNDECIDED"
FRONTIER_COLUMNS = ("budget", "purchased_privacy", "budget_price", "spend", "lower_bound", "upper_bound", "status")


@dataclass(frozen=True, eq=False)
class Supports:
    """Points and tangents of the frontier; arrays of one length by spend.

    V(spend) ≥ reached at each, and V(B) ≤ ceiling + price (B − spend) for every B (weak duality).
    """

    spend: Floats
    """In currency."""
    price: Floats
    """λ, privacy per unit of currency; 0 at the end, where everybody sells."""
    reached: Floats
    """In units of ε."""
    ceiling: Floats
    """In units of ε."""
    starts_at_nothing: bool = field(default=True, kw_only=True)
    """Whether V(0) = 0; where constraints ask for something, less than the first spend may buy
    nothing that they allow."""

    def join(self, other: Supports) -> Supports:
        """Return both, in order of spend."""
        columns = [
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("spend", "price", "reached", "ceiling")
        ]
        order = np.argsort(columns[0], kind="stable")
        return Supports(*(column[order] for column in columns), starts_at_nothing=self.starts_at_nothing)

    def bounds(self, budgets: Floats) -> tuple[Floats, Floats]:
        """Bound V at budgets ≥ 0, by chords below and nearest tangents above."""
        if self.spend.size == 0:
            return np.full(budgets.shape, -np.inf), np.full(budgets.shape, np.inf)
        spend, reached = self.spend, np.maximum.accumulate(self.reached)
        if self.starts_at_nothing:
            spend, reached = np.append(0.0, spend), np.append(0.0, reached)
        lower = np.interp(budgets, spend, reached, left=-np.inf) * (1.0 - ROUNDING.value)
        right = np.searchsorted(self.spend, budgets, side="left")
        upper = np.full(budgets.shape, np.inf)
        for k in (np.maximum(right - 1, 0), np.minimum(right, self.spend.size - 1)):
            rise = self.price[k] * (budgets - self.spend[k])
            allowance = ROUNDING.value * (np.abs(self.ceiling[k]) + np.abs(rise))
            upper = np.minimum(upper, self.ceiling[k] + rise + allowance)
        highest = self.ceiling[-1] if self.price[-1] == 0 else np.inf
        upper = np.where(budgets > 0, np.maximum(np.minimum(upper, highest), 0.0), 0.0)
        return np.minimum(lower, upper), upper


@dataclass(frozen=True, eq=False)
class Frontier(TabularRecord):
    """Purchased privacy V(B) and budget price λ = dV/dB at increasing budgets.

    Where no thresholds satisfy all constraints V and its bounds are −∞, λ is +∞, and spend is NaN.
    So they are where that is undecided, but for the upper bound.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> curve = smq.frontier(market, budgets=[0.25, 0.5])
    >>> curve.purchased_privacy.round(3).tolist(), curve.budget_price.round(3).tolist()
    ([0.568, 0.803], [1.136, 0.803])
    """

    budgets: Floats
    """In currency."""
    purchased_privacy: Floats
    """V(B), in units of ε: between the two bounds."""
    budget_price: Floats
    """λ, privacy per unit of currency: the slope of V. +∞ at a zero budget, 0 where the budget is
    slack."""
    spend: Floats
    """What is spent, in currency: the budget, or where it is slack what buying from everybody
    costs."""
    lower_bound: Floats
    """V(B) is no less."""
    upper_bound: Floats
    """V(B) is no more (weak duality)."""
    method: str
    """How V was found, and what the bounds rest on."""
    supports: Supports
    status: tuple[Status | None, ...]
    """How the program ends at each budget; None where it is undecided whether the budget pays for
    the constraints."""
    conflict: tuple[str, ...] = ()
    """Where it is INFEASIBLE at some: constraints that cannot hold together at the largest of these
    budgets."""

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """At which budgets thresholds are known that satisfy all constraints, shape (p,)."""
        return np.array([status not in (None, Status.INFEASIBLE) for status in self.status])

    @property
    def status_names(self) -> list[str]:
        """The names of the statuses, and UNDECIDED."""
        return [UNDECIDED if status is None else status.name for status in self.status]

    @property
    def gap(self) -> float:
        """The largest relative distance of the bounds where thresholds are known."""
        with np.errstate(invalid="ignore", divide="ignore"):
            gaps = np.where(self.upper_bound > 0, (self.upper_bound - self.lower_bound) / self.upper_bound, 0.0)
        return float(np.max(gaps, where=self.feasible, initial=0.0))

    def bounds(self, budgets: ArrayLike) -> tuple[Floats, Floats]:
        """Bound V at any budgets, by chords from below and tangents from above.

        Parameters
        ----------
        budgets
            B ≥ 0, in currency; shape (q,).

        Returns
        -------
        lower, upper
            In units of ε, shape (q,) each.

        Raises
        ------
        InputError
            If a budget is not a finite number ≥ 0.
        """
        return self.supports.bounds(checked_budgets(budgets))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV table with a row a budget, whole or not at all."""
        *columns, status = self._columns().values()
        numbers = ([to_json_number(value) for value in row] for row in np.stack(columns, axis=1).tolist())
        rows = ([*row, name] for row, name in zip(numbers, status, strict=True))
        write_csv(path, FRONTIER_COLUMNS, rows)

    def _columns(self) -> dict[str, Any]:
        values = (
            self.budgets,
            self.purchased_privacy,
            self.budget_price,
            self.spend,
            self.lower_bound,
            self.upper_bound,
            self.status_names,
        )
        return dict(zip(FRONTIER_COLUMNS, values, strict=True))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw V(B), between its bounds, at the feasible budgets.

        Parameters
        ----------
        ax
            matplotlib's axes to draw on; those of a new figure by default.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        axes: Axes = higher("smqopt.report", "plot_frontier")(self, ax)
        return axes

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        rows = [
            (f"budget {budget:g}", f"purchased privacy {privacy:.9g}, λ = {price:.6g}, {status}")
            for budget, privacy, price, status in zip(
                self.budgets.tolist(),
                self.purchased_privacy.tolist(),
                self.budget_price.tolist(),
                self.status_names,
                strict=True,
            )
        ]
        return html_table(f"Frontier, gap {self.gap:.2g}", rows)

    def __repr__(self) -> str:
        return f"Frontier({self.budgets.size} budgets from {self.budgets[0]:g} to {self.budgets[-1]:g}, gap {self.gap:.2g})"


def checked_budgets(budgets: ArrayLike) -> Floats:
    """Check budgets; return them as floats, shape (q,).

    Raises
    ------
    InputError
        If there is none, or one is not a finite number ≥ 0.
    """
    where = "argument 'budgets'"
    array = plain_array(budgets, where)
    if array.ndim != 1 or array.size == 0:
        raise InputError(where, "must have shape (p,) with p ≥ 1", value=array.shape, remedy="give a list of budgets")
    found = numbers(array, where)
    bad = np.flatnonzero(found < 0)
    if bad.size:
        raise InputError(
            f"{where}, row {bad[0] + 1}", "must be ≥ 0", value=float(found[bad[0]]), remedy="correct the budget"
        )
    return found
