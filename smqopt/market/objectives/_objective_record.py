"""What every objective record can say of itself."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._utility import Utility
from smqopt.numeric import Floats, NumberList, exact_dot, refuse_names

LARGEST_WEIGHT = 1e100
"""And the inverse of the smallest one: squares of weights are doubles."""


@dataclass(frozen=True)
class Objective(abc.ABC):
    """What is to be as large, or as small, as the budget allows.

    Σ m_i φ_i(q_i), as data.

    A record states the φ_i by `worth`. All objectives are functions of acceptance alone, and never
    worse for more of it.
    """

    kind: ClassVar[str]
    """What model files call the record."""
    separable: ClassVar[bool] = True
    """Whether it is a sum over owners, so that the dual search takes it and the weak-duality bound
    covers it."""

    @property
    def smallest(self) -> bool:
        """Whether it is minimised; its value is then −Σ m_i φ_i(q_i)."""
        return False

    @property
    @abc.abstractmethod
    def words(self) -> str:
        """The objective in words, to follow "the objective is"."""

    @property
    def laws(self) -> int:
        """How many laws it is the worst of: 1 but for programs under laws in doubt."""
        return 1

    def weighing(self, shares: Sequence[float]) -> Objective:  # noqa: ARG002
        """Return the mean over its laws that bounds it."""
        return self

    def utility(self, market: Market) -> Utility:  # noqa: ARG002
        """Return the φ_i of a market's rows.

        Raises
        ------
        InputError
            If the record does not fit the market, or is no sum over owners.
        """
        raise InputError(
            f"objective {self.kind!r}",
            "is no sum over owners of functions of acceptance",
            remedy="ask `solve` and `verify` alone, or use PurchasedPrivacy",
        )

    def linear_form(self, market: Market) -> LinearTerms:  # noqa: ARG002
        """Return the objective as linear terms, and minima of such.

        Raises
        ------
        InputError
            If it is neither, or does not fit the market.
        """
        raise InputError(
            f"objective {self.kind!r}",
            "is not linear in acceptance, which laws in doubt and weighted sums need",
            remedy="use PurchasedPrivacy, BoughtOwners, WorstGroup or LeastSpend",
        )

    def slope_in_requirements(self, market: Market, acceptance: Floats) -> Floats:  # noqa: ARG002
        """Return ∂φ_i/∂ε_i at acceptances, shape (n,): 0 where requirements play no part."""
        return np.zeros(acceptance.size)

    def value(self, market: Market, acceptance: Floats) -> float:
        """Return the objective at acceptances, shape (n,).

        With one rounding after the terms. ±∞ where it has no finite value.
        """
        terms = self.utility(market).value(acceptance)
        counts = market.weights
        total = exact_dot(terms, counts)
        return -total if self.smallest else total

    def to_dict(self) -> dict[str, Any]:
        """Return the record as data: what a model file's `[objective]` table would say."""
        entries = dataclasses.fields(self)
        given = {entry.name: getattr(self, entry.name) for entry in entries}
        defaults = {entry.name: entry.default for entry in entries}
        return {"kind": self.kind} | {
            key: [list(one) if isinstance(one, tuple) else one for one in value] if isinstance(value, tuple) else value
            for key, value in given.items()
            if value != defaults[key]
        }

    @property
    def as_asked(self) -> Objective:
        """The record without what solving filled in."""
        return self

    def where(self, argument: str) -> str:
        """Say where in the record something is wrong."""
        return f"objective {self.kind!r}: argument {argument!r}"


RANGE_REMEDY = "give the public width of the range of entries, 1 for a count"


def positive_number(objective: Objective, key: str, value: object, remedy: str, least: float) -> float:
    """Take a number between `least` and 1/`least`, whose products stay doubles.

    Raises
    ------
    InputError
        If it is none.
    """
    known = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not known or not least < value < 1.0 / least:  # type: ignore[operator]
        raise InputError(objective.where(key), "must be a finite number > 0", value=value, remedy=remedy)
    return float(value)  # type: ignore[arg-type]


def given_weights(objective: Objective, weights: object, *, least: float) -> tuple[float, ...] | float | None:
    """Take weights as a user gives them.

    None, a number, or one number for each row of the market.

    Raises
    ------
    InputError
        If a weight is not a finite number of at least `least`.
    """
    where = objective.where("weights")
    if weights is None:
        return None
    refuse_names(where, weights)
    kept = np.asarray(weights) if not isinstance(weights, str | bytes) else np.empty((0, 0))
    if kept.dtype.kind not in "iuf" or kept.ndim > 1 or kept.size == 0:
        rule = "must be a number, or a list of one number for each row of the market"
        raise InputError(where, rule, value=type(weights).__name__, remedy="give, say, weights=[1.0, 2.5]")
    floats = kept.astype(np.float64)
    sizes = np.abs(floats)
    moderate = (floats == 0) | ((sizes >= 1 / LARGEST_WEIGHT) & (sizes <= LARGEST_WEIGHT))
    bad = np.flatnonzero(~(moderate & (floats >= least)))
    if bad.size:
        row = f", row {bad[0] + 1}" if floats.ndim else ""
        span = "" if least == -np.inf else f" ≥ {least:g}"
        value = float(np.ravel(floats)[bad[0]])
        span += f", 0 or of size {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        raise InputError(f"{where}{row}", f"must be a finite number{span}", value=value, remedy="correct the weight")
    return tuple(floats.tolist()) if floats.ndim else float(floats)


def weights_of(objective: Objective, weights: NumberList | float | None, market: Market) -> Floats:
    """Return weights as one number a row, 1 where there are none; shape (n,).

    Raises
    ------
    InputError
        If there is another number of weights than of rows.
    """
    if weights is None or isinstance(weights, (int, float, np.number)):
        return np.full(market.n, 1.0 if weights is None else weights, dtype=np.float64)
    if len(weights) != market.n:
        raise InputError(
            objective.where("weights"),
            f"must hold one weight for each of the {market.n} rows of the market",
            value=len(weights),
            remedy="give as many weights as rows",
        )
    return np.array(weights, dtype=np.float64)
