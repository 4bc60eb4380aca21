"""The worst group: as much as can be for the one that gets least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from smqopt.errors import InputError, nearest
from smqopt.market._group import carriers
from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import Least, LinearTerms
from smqopt.market.objectives._objective_record import Objective

_OF = ("acceptance", "privacy")


@dataclass(frozen=True)
class WorstGroup(Objective):
    """The largest minimum over groups of what is bought on average from an owner.

    Max-min fairness (Rawls 1971): min over g of Σ_{i in g} m_i w_i q_i / Σ_{i in g} m_i.

    Parameters
    ----------
    column
        A group column of the market.
    of
        "acceptance", w = 1; or "privacy", w = ε.
    labels
        The groups to compare, all labels of the column by default.

    Raises
    ------
    InputError
        If `of` is neither, the column is no text, or the market has no such column or label.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1), groups={"city": ["Oslo", "Oslo", "Bergen"]})
    >>> solution = smq.solve(market, 0.5, objective=smq.WorstGroup("city"))
    >>> solution.acceptance.round(4).tolist(), round(solution.objective_value, 4)
    ([0.4082, 0.4082, 0.4082], 0.4082)
    """

    kind: ClassVar[str] = "worst-group"
    separable: ClassVar[bool] = False

    column: str
    of: Literal["acceptance", "privacy"] = "acceptance"
    labels: Sequence[str | int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise InputError(
                self.where("column"), "must name a column of groups", value=repr(self.column), remedy="quote it"
            )
        if not isinstance(self.of, str) or self.of not in _OF:
            raise InputError(
                self.where("of"), "must be a measure", value=repr(self.of), remedy=nearest(str(self.of), _OF)
            )
        if self.labels is not None:
            if not isinstance(self.labels, (list, tuple)) or not self.labels:
                rule = "must be a list of labels"
                raise InputError(self.where("labels"), rule, value=repr(self.labels), remedy="name the groups")
            object.__setattr__(self, "labels", tuple(self.labels))

    @property
    def words(self) -> str:
        """The objective in words."""
        return f"the least mean {self.of} of any {self.column}"

    def linear_form(self, market: Market) -> LinearTerms:
        """Return the minimum over the groups."""
        from scipy import sparse  # noqa: PLC0415 -- sparse matrices take a while to load

        if self.column not in market.groups:
            rule, known = "must be a column of groups", tuple(market.groups)
            raise InputError(self.where("column"), rule, value=self.column, remedy=nearest(self.column, known))
        labels = tuple(market.rows_of_group(self.column)) if self.labels is None else self.labels
        m, each = market.weights, np.ones(market.n) if self.of == "acceptance" else market.epsilon
        rows, columns, entries = [], [], []
        for k, label in enumerate(labels):
            owners = carriers(market, self.column, label, f"objective {self.kind!r}")
            rows.append(np.full(owners.size, k))
            columns.append(owners)
            entries.append(m[owners] * each[owners] / m[owners].sum())
        place = np.concatenate(rows), np.concatenate(columns)
        forms = sparse.csr_array((np.concatenate(entries), place), shape=(len(labels), market.n))
        return LinearTerms(np.zeros(market.n), (Least(1.0, forms),))
