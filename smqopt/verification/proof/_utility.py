"""What acceptance is worth to the buyer, in balls.

φ_i lies below the line of every slope e at the height φ_i*(e) = max {φ_i(q) − e q: 0 ≤ q ≤ 1}: the
Fenchel conjugate (Rockafellar 1970, section 12). Where a ball leaves open where the maximum is, the
height is that of the maximum over all q at which φ_i has a value, which is no less.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from flint import arb

from smqopt.market import (
    BoughtOwners,
    DiminishingReturns,
    Expansion,
    InverseProbabilityVariance,
    Logarithm,
    Market,
    Objective,
    OverLaws,
    PurchasedPrivacy,
)
from smqopt.numeric import Ball


@dataclass(frozen=True, eq=False)
class ProvedOverLaws(OverLaws):
    """The objective of an expanded market, with the user's, which has exact numbers."""

    aim: Objective | None = None
    market: Market | None = None
    """Her market under one of the laws: what acceptance is worth hangs on no law."""
    worst: bool = False
    """Whether offers are worth the least over the laws; the shares bound that from above."""


@dataclass(frozen=True, eq=False)
class SmallOverLaws(ProvedOverLaws):
    """The same of an objective that is to be small."""

    smallest: ClassVar[bool] = True


def proved_over_laws(mean: Expansion, aim: Objective, *, worst: bool) -> ProvedOverLaws:
    """Return the objective of a program whose laws have shares."""
    stated = mean.objective
    assert isinstance(stated, OverLaws)  # noqa: S101
    kind = SmallOverLaws if aim.smallest else ProvedOverLaws
    return kind(stated.utilities, stated.shares, stated.rest, aim, mean.base[0], worst)


class BallUtility(abc.ABC):
    """φ of the owners, with a minus sign where an objective is to be small."""

    @abc.abstractmethod
    def value(self, owner: int, q: Ball) -> Ball:
        """Return φ_i(q) for q in [0, 1]; not finite where it has no value."""

    def total(self, each: Iterable[tuple[int, Ball, Ball]]) -> Ball:
        """Return Σ m_i φ_i(q_i) of owners, counts and acceptances."""
        return sum((count * self.value(owner, q) for owner, count, q in each), arb(0))

    @abc.abstractmethod
    def height(self, owner: int, slope: Ball) -> Ball:
        """Return a ball whose upper end is at least φ_i*(e)."""


def ball_utility(objective: Objective, market: Market) -> BallUtility | str:
    """Return what an objective makes acceptance worth; or say why balls do not tell."""
    if isinstance(objective, PurchasedPrivacy):
        return _Linear(market.epsilon.tolist())
    if isinstance(objective, BoughtOwners):
        return _Linear(objective.utility(market).each.tolist())
    if isinstance(objective, InverseProbabilityVariance):
        return _Inverse(objective.utility(market).w.tolist())
    if isinstance(objective, ProvedOverLaws) and objective.aim is not None and objective.market is not None:
        own = ball_utility(objective.aim, objective.market)
        shares, n = list(objective.shares), objective.market.n
        return own if isinstance(own, str) else _OverLaws(own, shares, n, worst=objective.worst)
    if isinstance(objective, DiminishingReturns):
        utility: Logarithm = objective.utility(market)
        return _Logarithm(utility.w.tolist(), market.epsilon.tolist(), objective.scale)
    return "bounds on this objective are not proved"


@dataclass(frozen=True, eq=False)
class _OverLaws(BallUtility):
    """w_k φ_i of n owners under one law after the other, and 0 for rows beyond them."""

    own: BallUtility
    shares: list[float]
    n: int
    worst: bool

    def _share(self, law: int) -> Ball:
        """Return w_k at the precision of the context; rounded ones are no mean."""
        whole = sum(map(arb, self.shares), arb(0)) if self.worst else arb(1)
        return arb(self.shares[law]) / whole

    def value(self, owner: int, q: Ball) -> Ball:
        law, i = divmod(owner, self.n)
        return self._share(law) * self.own.value(i, q) if law < len(self.shares) else arb(0)

    def total(self, each: Iterable[tuple[int, Ball, Ball]]) -> Ball:
        if not self.worst:
            return super().total(each)
        totals = [arb(0)] * len(self.shares)
        for owner, count, q in each:
            law, i = divmod(owner, self.n)
            if law < len(totals):
                totals[law] += count * self.own.value(i, q)
        return functools.reduce(arb.min, totals)

    def height(self, owner: int, slope: Ball) -> Ball:
        law, i = divmod(owner, self.n)
        if law >= len(self.shares) or self.shares[law] == 0:
            return (-slope).max(arb(0))
        share = self._share(law)
        return share * self.own.height(i, slope / share)


@dataclass(frozen=True, eq=False)
class _Linear(BallUtility):
    """φ_i(q) = ε_i q, or w_i q."""

    epsilon: list[float]

    def value(self, owner: int, q: Ball) -> Ball:
        return arb(self.epsilon[owner]) * q

    def height(self, owner: int, slope: Ball) -> Ball:
        return (self.epsilon[owner] - slope).max(arb(0))


@dataclass(frozen=True, eq=False)
class _Inverse(BallUtility):
    """φ_i(q) = −w_i²/q; w²/q + e q ≥ 2w√e, and it falls in q up to w/√e."""

    w: list[float]

    def value(self, owner: int, q: Ball) -> Ball:
        w = arb(self.w[owner])
        return arb(0) if w == 0 else -w * w / q

    def height(self, owner: int, slope: Ball) -> Ball:
        w = arb(self.w[owner])
        if w == 0:
            return (-slope).max(arb(0))
        if slope < w * w:
            return -w * w - slope
        return -2 * w * slope.sqrt()


@dataclass(frozen=True, eq=False)
class _Logarithm(BallUtility):
    """φ_i(q) = w_i log(1 + x_i q) with x = ε/s, of slope w x/(1 + x q)."""

    w: list[float]
    epsilon: list[float]
    scale: float

    def value(self, owner: int, q: Ball) -> Ball:
        w, x = self._of(owner)
        return w * (x * q).log1p()

    def height(self, owner: int, slope: Ball) -> Ball:
        w, x = self._of(owner)
        first = w * x
        if first == 0:
            return (-slope).max(arb(0))
        if slope >= first:
            return arb(0)
        if slope * (1 + x) <= first:
            return w * x.log1p() - slope
        return w * (first / slope).log() - w + slope / x

    def _of(self, owner: int) -> tuple[Ball, Ball]:
        return arb(self.w[owner]), arb(self.epsilon[owner]) / arb(self.scale)
