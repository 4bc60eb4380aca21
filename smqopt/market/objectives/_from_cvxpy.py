"""An objective that a user stated in cvxpy, as data.

Its words, its value, and a plane that lies above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._utility import Linear
from smqopt.numeric import Floats


@dataclass(frozen=True)
class InCvxpy(Objective):
    """A concave function V of acceptance that cvxpy knows, and files do not.

    V(q) ≤ height + Σ slope_i q_i for all acceptances q.

    Value, height and slopes are the conic solver's word. With them the weak-duality bound is that
    of a straight objective; it rests on the instance alone but for this plane.

    Parameters
    ----------
    text
        The function as cvxpy writes it, or as its user called it.
    total
        Its value for the offers, in its own direction.
    height, slope
        The plane, in the direction of maximising; slope by rows of the market, multiplicities
        included.
    minimised
        Whether it is convex, and to be small.
    """

    kind: ClassVar[str] = "in-cvxpy"
    separable: ClassVar[bool] = False

    text: str
    total: float
    height: float
    slope: tuple[float, ...]
    minimised: bool = False

    def __post_init__(self) -> None:
        for key, good in (
            ("text", isinstance(self.text, str)),
            ("total", _is_number(self.total)),
            ("height", _is_number(self.height)),
            ("minimised", isinstance(self.minimised, bool)),
        ):
            if not good:
                raise InputError(self.where(key), "is of the wrong kind", value=repr(getattr(self, key))[:60])
        slope: Any = self.slope
        if not isinstance(slope, (list, tuple)) or not all(_is_number(one) and math.isfinite(one) for one in slope):
            raise InputError(self.where("slope"), "must be a list of finite numbers", remedy="solve again")
        object.__setattr__(self, "slope", tuple(float(one) for one in slope))

    @property
    def smallest(self) -> bool:
        """Whether it is minimised."""
        return self.minimised

    @property
    def words(self) -> str:
        """The objective in words."""
        return f"{self.text}, as {'small' if self.minimised else 'large'} as can be"

    def utility(self, market: Market) -> Linear:
        """Return the plane's slopes for one owner of each row.

        What more acceptance is worth at the offers.

        Raises
        ------
        InputError
            If there is another number of slopes than of rows.
        """
        if len(self.slope) != market.n:
            rule = f"must hold one number for each of the {market.n} rows of the market"
            raise InputError(self.where("slope"), rule, value=len(self.slope), remedy="solve again")
        counts = market.weights
        return Linear(np.array(self.slope) / counts)

    def value(self, market: Market, acceptance: Floats) -> float:  # noqa: ARG002 -- the conic solver's word
        """Return the value for the offers that the solver found."""
        return self.total


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
