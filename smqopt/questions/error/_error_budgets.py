"""The error that each budget leaves, and the least budget for an error, certified."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from smqopt._frame import TabularRecord
from smqopt.document import Chart, Dots, Figure, PlottedCurve, chart, draw_axes, render, shown
from smqopt.errors import InputError, check_kind
from smqopt.files import write_csv
from smqopt.market import ConstraintRecord, Market, MeanSquaredError, Solution, Status
from smqopt.numeric import Floats
from smqopt.questions.frontiers._curve import checked_budgets
from smqopt.solvers import solve
from smqopt.verification import Certificate, verify

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CLOSE = 2e-6
"""Of budgets, relative: the bracket in which the search ends."""
_STEP_DOWN = 4e-6
"""How far below a budget that is enough the first one is looked at that is not."""
_MOST_STEPS = 80


@dataclass(frozen=True, eq=False)
class ErrorFrontier(TabularRecord):
    """The least error at some budgets, with bounds from both sides. Public.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> curve = smq.error_frontier(market, [1.0, 2.0], smq.MeanSquaredError(range=1))
    >>> curve.error.round(3).tolist(), curve.to_svg().startswith("<svg")
    ([3.865, 2.835], True)
    """

    budgets: Floats
    """Shape (m,), in currency, ascending."""
    error: Floats
    """Root mean squared error of the purchase found, in units of the answer; shape (m,)."""
    error_bound: Floats
    """No purchase and no weights err less; shape (m,)."""
    tau: Floats
    """τ of each purchase's weights min(ε_i, τ), shape (m,)."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one row a budget as CSV; whole or not at all."""
        columns = self._columns()
        write_csv(path, list(columns), zip(*(column.tolist() for column in columns.values()), strict=True))

    def _columns(self) -> dict[str, Floats]:
        return {"budget": self.budgets, "rmse": self.error, "rmse_bound": self.error_bound, "tau": self.tau}

    def figure(self) -> Figure:
        """Draw the error against the budget, with a caption."""
        told = "At no budget is anything bought."
        if np.any(np.isfinite(self.error)):
            told = f"At a budget of {shown(float(self.budgets[-1]), 6)} it is {shown(float(self.error[-1]), 5)}."
        return Figure.of(
            self._chart(), f"The least root mean squared error of the answer that each budget buys. {told}"
        )

    def to_svg(self) -> str:
        """Draw the error against the budget, as SVG text."""
        return render(self._chart())

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the error against the budget.

        Parameters
        ----------
        ax
            matplotlib's axes to draw on; those of a new figure by default.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        return draw_axes(self._chart(), ax)

    def _chart(self) -> Chart:
        seen = np.isfinite(self.error)
        x, y = self.budgets[seen], self.error[seen]
        return chart(
            "error-frontier",
            (0.0, float(x.max(initial=1.0))),
            (0.0, float(y.max(initial=1.0))),
            x_label="budget, in currency",
            y_label="root mean squared error, in units of the answer",
            description="The least error of the answer that each budget buys.",
            marks=(PlottedCurve(x, y), Dots(x, y, style="big-dots")),
        )


@dataclass(frozen=True, eq=False)
class ErrorBudget:
    """The least budget for an error, with thresholds that keep it.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.least_budget(market, error=4.0, objective=smq.MeanSquaredError(range=1))
    >>> found.lower_bound <= found.budget, found.gap < 1e-4
    (True, True)
    """

    error: float
    """What was asked for, a root mean squared error in units of the answer."""
    budget: float
    """Enough, in currency; +∞ where no budget is."""
    lower_bound: float
    """No smaller budget than this is enough, by a certificate at it; in currency."""
    status: Status
    """That of the thresholds; UNREACHABLE where no budget is enough."""
    certificate: Certificate | None = field(repr=False)
    """Of the thresholds at the budget; None where no budget is enough."""

    @property
    def solution(self) -> Solution | None:
        """The thresholds at the budget."""
        return None if self.certificate is None else self.certificate.solution

    @property
    def gap(self) -> float:
        """The distance between the budget and its lower bound, relative to the budget."""
        return (self.budget - self.lower_bound) / self.budget if 0 < self.budget < math.inf else 0.0


def error_frontier(
    market: Market,
    budgets: ArrayLike,
    objective: MeanSquaredError,
    *,
    constraints: Sequence[ConstraintRecord] = (),
) -> ErrorFrontier:
    """Return the least error at each budget, verified.

    Parameters
    ----------
    market
        n owners.
    budgets
        B ≥ 0, in currency, shape (m,), in any order.
    objective
        The error.
    constraints
        Constraint records.

    Raises
    ------
    InputError
        If a budget is bad, or no thresholds meet the constraints.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.linspace(0.1, 1.0, 50), smq.Uniform(0, 1))
    >>> curve = error_frontier(market, [5.0, 20.0], smq.MeanSquaredError(range=1))
    >>> curve.error.round(2).tolist(), bool(np.all(curve.error_bound <= curve.error))
    ([9.47, 5.0], True)
    """
    where = "error_frontier: argument"
    check_kind(market, Market, f"{where} 'market'", "a Market", "make one of requirements and a law")
    check_kind(objective, MeanSquaredError, f"{where} 'objective'", "a MeanSquaredError", "say of what the error is")
    wanted = np.unique(checked_budgets(budgets))
    rows = []
    for budget in wanted.tolist():
        certificate = verify(_solve(market, budget, objective, constraints))
        solution = certificate.solution
        tau = objective.sums(market, solution.acceptance)[2]
        rows.append((solution.error, certificate.error_bound, tau))
    return ErrorFrontier(wanted, *np.array(rows, dtype=np.float64).reshape(-1, 3).T)


def budget_for_error(
    market: Market, error: float, objective: MeanSquaredError, constraints: Sequence[ConstraintRecord]
) -> ErrorBudget:
    """Find the least budget whose purchase errs by at most `error`.

    The error does not rise with the budget, so two budgets enclose the least one: one whose
    purchase keeps to the error, and one where a certificate says that none does.

    Parameters
    ----------
    market, objective, constraints
        As for `error_frontier`.
    error
        > 0, in units of the answer.
    """
    if not 0 < error < math.inf:
        raise InputError(
            "least_budget: argument 'error'", "must be a finite number > 0", value=error, remedy="correct it"
        )
    most = market.most_that_can_be_spent
    enough = _solve(market, most, objective, constraints)
    if enough.error > error:
        return ErrorBudget(
            error, math.inf, most if verify(enough).error_bound > error else 0.0, Status.UNREACHABLE, None
        )
    low, high, low_error = 0.0, most, math.inf
    for _ in range(_MOST_STEPS):
        width = high - low
        if width <= _CLOSE * high:
            break
        if 0 < low_error < math.inf:  # the error falls about as a power of the budget
            power = math.log(high / low) / math.log(low_error / enough.error)
            guess = low * (low_error / error) ** power
            tries = [guess * (1.0 + _CLOSE / 3.0), guess * (1.0 - _CLOSE / 3.0), math.sqrt(low * high)]
        else:
            tries = [high / 4.0]
        for at in tries:
            if not low < at < high or high - low <= width / 2.0:
                continue
            found = _solve(market, at, objective, constraints)
            if found.error <= error:
                high, enough = at, found
            else:
                low, low_error = at, found.error
    certificate = verify(enough)
    below, step = 0.0, _STEP_DOWN
    while step < 1.0:
        at = high * (1.0 - step)
        if verify(_solve(market, at, objective, constraints)).error_bound > error:
            below = at
            break
        step *= 4.0
    return ErrorBudget(error, high, below, enough.status, certificate)


def _solve(
    market: Market, budget: float, objective: MeanSquaredError, constraints: Sequence[ConstraintRecord]
) -> Solution:
    found = solve(market, budget, objective=objective, constraints=constraints)
    if found.status is Status.INFEASIBLE:
        raise InputError("error", "no thresholds meet the constraints", value=budget, remedy="raise the budget")
    return found
