"""The error that is to be expected of an answer, budget by budget."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from smqopt._door import higher
from smqopt._frame import TabularRecord
from smqopt._html_table import html_table
from smqopt.files import write_csv
from smqopt.numeric import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Prediction(TabularRecord):
    """The predicted RMSE of an answer at some budgets. Public.

    Split into sampling and noise; no entry is looked at.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market(np.full(100, 0.5), smq.Uniform(0, 1))
    >>> found = smq.predict(smq.Count(), market, [5.0, 10.0], smq.EntryPrior([0, 1], [0.7, 0.3]))
    >>> found.query, found.bought.round(1).tolist()
    ('count', [22.4, 31.6])
    """

    query: str
    assumption: str
    """What was assumed of the entries, in words."""
    unit: str
    """The unit of errors, in words."""
    budgets: Floats
    """Shape (m,), in currency."""
    bought: Floats
    """The expected number of entries bought, shape (m,)."""
    sampling: Floats
    """The RMSE, against the population's answer, of the answer before noise; shape (m,). +∞ where
    nothing is bought."""
    noise: Floats
    """The RMSE that the mechanism's noise and the rounding to candidates add, shape (m,)."""
    standard_error: Floats
    """Of `total`, from the simulated purchases behind it, relative; shape (m,)."""

    @property
    def total(self) -> Floats:
        """The predicted RMSE: √(sampling² + noise²), shape (m,)."""
        return np.hypot(self.sampling, self.noise)

    def least_budget(self, error: float) -> float | None:
        """Return the least predicted budget whose RMSE is at most `error`, or None."""
        enough = self.budgets[self.total <= error]
        return float(enough.min()) if enough.size else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one row a budget as CSV; whole or not at all."""
        columns = self._columns()
        write_csv(path, list(columns), zip(*(column.tolist() for column in columns.values()), strict=True))

    def _columns(self) -> dict[str, Floats]:
        return {
            "budget": self.budgets,
            "bought": self.bought,
            "rmse": self.total,
            "sampling": self.sampling,
            "noise": self.noise,
            "standard_error": self.standard_error,
        }

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the predicted RMSE and its two parts against the budget.

        Parameters
        ----------
        ax
            matplotlib's axes to draw on; those of a new figure by default.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        axes: Axes = higher("smqopt.report", "plot_prediction")(self, ax)
        return axes

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        rows = [
            (f"budget {budget:g}", f"RMSE {total:.6g} (sampling {sampling:.6g}, noise {noise:.6g})")
            for budget, total, sampling, noise in zip(
                self.budgets.tolist(), self.total.tolist(), self.sampling.tolist(), self.noise.tolist(), strict=True
            )
        ]
        return html_table(f"Predicted error of {self.query} in {self.unit}; assumed: {self.assumption}", rows)

    def __repr__(self) -> str:
        return f"Prediction({self.query}, {self.budgets.size} budgets, {self.assumption})"
