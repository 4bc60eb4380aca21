"""Objectives that bend, under each of several laws.

φ lies below the line of every slope e at the height φ*(e): at the slopes of a solution's own
acceptances the lines bound it, touch it there, and leave a program that is linear.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from smqopt.errors import InputError
from smqopt.market._market import Market
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._mean_squared_error import MeanSquaredError
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._utility import Utility
from smqopt.numeric import ROUNDING, Floats

_WITHOUT = 0.5
"""Where lines touch, in acceptance, for owners without whom there is no value, who have no
offer."""


@dataclass(frozen=True, eq=False)
class BentTerms(LinearTerms):
    """Lines above Σ m φ(q); its terms are those of φ itself."""

    utility: Utility | None = None

    def terms(self, m: Floats, q: Floats, spend: Floats) -> Floats:  # noqa: ARG002
        """Return m φ(q), shape (n,)."""
        assert self.utility is not None  # noqa: S101
        return np.asarray(m * self.utility.value(q))


def lines_at(utility: Utility, m: Floats, q: Floats) -> BentTerms:
    """Return the lines that touch φ at acceptances; heights are rounded up."""
    slopes = utility.slope(np.where(utility.needed & (q <= 0), _WITHOUT, q))
    height, size = utility.tangent(slopes)
    return BentTerms(slopes, height=math.fsum(m * (height + ROUNDING.value * size)), utility=utility)


@dataclass(frozen=True, eq=False)
class OverLaws(Objective):
    """Σ_k w_k V_k or min_k V_k, with V_k = Σ m_i φ_i(q_ik) of an expanded market."""

    kind: ClassVar[str] = "over-laws"

    utilities: tuple[Utility, ...] = ()
    shares: tuple[float, ...] = ()
    """w; none where the worst law counts."""
    rest: int = 0
    """How many rows stand for no owner."""

    @property
    def words(self) -> str:
        """The objective in words."""
        return "a mean over laws" if self.shares else "the worst of several laws"

    @property
    def laws(self) -> int:
        """How many laws the worst is taken of."""
        return 1 if self.shares else len(self.utilities)

    def weighing(self, shares: Sequence[float]) -> OverLaws:
        """Return a mean over the laws."""
        return replace(self, shares=tuple(shares))

    def utility(self, market: Market) -> Utility:  # noqa: ARG002
        """Return the φ of all rows; of the worst that of an even mean, which bounds it."""
        first, even = self.utilities[0], [1.0 / len(self.utilities)] * len(self.utilities)
        return first.after_each_other(self.utilities[1:], self.shares or even, self.rest)


def bent_utilities(aim: Objective, base: Sequence[Market]) -> tuple[Utility, ...]:
    """Return the φ of each law's rows.

    Raises
    ------
    InputError
        If the objective has no bound where the law is not known.
    """
    if isinstance(aim, MeanSquaredError) or not aim.separable:
        why = "is not convex in acceptances, so that no prices weigh one law against another"
        if not isinstance(aim, MeanSquaredError):
            why = "draws its prices from menus of one law, and has no bound under several"
        remedy = "solve with each of the `laws`, or use PurchasedPrivacy or InverseProbabilityVariance"
        raise InputError(f"objective {aim.kind!r}", why, remedy=remedy)
    return tuple(aim.utility(market) for market in base)
