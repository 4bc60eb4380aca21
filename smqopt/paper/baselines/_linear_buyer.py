"""The linear predictor on one market, by every mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats
from smqopt.paper.baselines._allocation import Allocation
from smqopt.paper.baselines._fair_inner_product import FairInnerProductOrder, InnerProductPurchase
from smqopt.paper.baselines._fair_query import FairQueryOrder
from smqopt.paper.experiments._exact_draws import CUT, cheapest, linear_law
from smqopt.paper.experiments._grid import SMQ
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Noise

Noted = tuple[Floats, float, Allocation, float]
"""Answers, shape (draws,); the answer without noise; what was bought; Σ ε of the bought."""


@dataclass(frozen=True, eq=False)
class LinearBuyer:
    """The linear predictor on one market, for entries within [0, 1]."""

    setting: Setting
    theta: Floats
    epsilon: Floats
    order: FairInnerProductOrder
    by_ratio: NDArray[np.intp]
    """Positions of the owners with a positive weight, ascending by ε_i/w_i."""

    @classmethod
    def of(cls, setting: Setting, theta: Floats, epsilon: Floats, fair: FairQueryOrder) -> LinearBuyer:
        """FIP's order is FQ's, without the new individual."""
        newcomer, weight = setting.population.newcomer, setting.weight
        keep = fair.order != newcomer
        positions = fair.order[keep]
        order = FairInnerProductOrder(weight, positions - (positions > newcomer), fair.v[keep], setting.dominant)
        drawn = setting.without_newcomer(epsilon)
        counted = np.flatnonzero(weight > 0)
        by_ratio = counted[np.argsort(drawn[counted] / weight[counted], kind="stable")]
        return cls(setting, setting.without_newcomer(theta), drawn, order, by_ratio)

    def answer(
        self,
        name: str,
        b: int,
        common: dict[str, Allocation],
        inner: InnerProductPurchase,
        noise: Noise,
        rng: np.random.Generator,
    ) -> Noted | None:
        """Answer by the name of the mechanism."""
        weight, target = self.setting.weight, self.setting.target
        printed = inner.requirements(weight)
        if name in ("fip", SMQ[0]) and printed is None:
            return None
        if name == "fip":
            assert printed is not None  # noqa: S101
            taken = inner.allocation.bought
            base = float(weight[taken & (target == 1)].sum()) + inner.rest / 2
            return base + inner.rest * noise.laplace, base, inner.allocation, float(printed[taken].sum())
        if name == SMQ[0]:
            assert printed is not None  # noqa: S101
            allocation = self.setting.printed_linear[b].accept(self.theta, rng)
            return self._private(allocation, printed, np.flatnonzero(allocation.bought), noise.u)
        whole = common[name]
        allocation = Allocation(self.setting.without_newcomer(whole.bought), whole.spend, whole.spread)
        return self._private(allocation, self.epsilon, self.by_ratio[allocation.bought[self.by_ratio]], noise.u)

    def _private(self, allocation: Allocation, epsilon: Floats, order: NDArray[np.intp], u: Floats) -> Noted | None:
        """Draw P-E answers; `order` holds the bought by ε_i/w_i."""
        weight, target = self.setting.weight, self.setting.target
        mine = weight[allocation.bought]
        held = float(mine.sum())
        if held == 0:
            return None
        exact = float(mine[target[allocation.bought] == 1].sum())  # no dot product: long ones start threads
        near = cheapest(order, target, epsilon, CUT)
        law = linear_law(weight[near], target[near].astype(np.float64), epsilon[near], 0.0, 1.0, exact=exact)
        scale = float(weight.sum()) / held  # errata E8
        return law.draw(u) * scale, exact * scale, allocation, float(epsilon[allocation.bought].sum())
