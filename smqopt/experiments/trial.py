"""One market of an experiment: every mechanism, budget and query on the same ε and θ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smqopt.experiments.allocation import Allocation, paid
from smqopt.experiments.drawn import CUT, cheapest, draw_results, linear_law
from smqopt.experiments.fair_inner_product import FairInnerProductOrder, InnerProductPurchase, dominant_owner
from smqopt.experiments.fair_query import (
    FairQueryOrder,
    count_base,
    laplace_scale,
    local_sensitivity,
    median_base,
)
from smqopt.experiments.grid import DECILES, MECHANISMS, METRICS, QUERIES, SMQ, budget_of, columns
from smqopt.experiments.offers import Offer, known_valuation_offer, marginal_offer, uniform_price
from smqopt.experiments.population import Population
from smqopt.experiments.price_table import PriceTable, price_table
from smqopt.query.count import Count
from smqopt.query.median import Median
from smqopt.valuation.gaussian_copula import GaussianCopula
from smqopt.valuation.uniform import Uniform

__all__ = ["Setting", "Streams", "market", "outcomes"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]
Noted = tuple[Floats, float, Allocation, float]
"""Answers, shape (draws,); the answer without noise; what was bought; Σ ε of the bought."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What all markets of one data set and correlation share."""

    population: Population
    correlation: float
    shares: tuple[float, ...]
    """Budgets, B/(θ̄ n)."""
    table: PriceTable | None
    """Prices given ε, where 0 < |ρ| < 1."""
    weight: Floats
    """Of the owners of the linear predictor, which are all but the new individual; shape (n − 1,)."""
    target: Integers
    """Their entries, shape (n − 1,)."""
    printed_linear: tuple[Offer, ...]
    """SMQ as printed for the linear predictor, by budget: ε_i ∝ w_i, so its thresholds are the same in all markets."""
    dominant: int | None
    """Who outweighs all others in the linear predictor."""

    @classmethod
    def of(cls, population: Population, correlation: float, shares: tuple[float, ...]) -> Setting:
        """Prepare a setting."""
        at = population.newcomer
        weight, target = np.delete(population.weight, at), np.delete(population.target, at)
        table = price_table(correlation) if 0.0 < abs(correlation) < 1.0 else None
        offers = tuple(marginal_offer(weight, budget_of(share, weight.size)) for share in shares)
        return cls(population, correlation, shares, table, weight, target, offers, dominant_owner(weight))

    def without_newcomer(self, column: NDArray[Any]) -> NDArray[Any]:
        """Leave the new individual out of a column of shape (n,)."""
        at = self.population.newcomer
        return np.concatenate([column[:at], column[at + 1 :]])


@dataclass(frozen=True)
class Streams:
    """Generators that share no numbers."""

    market: np.random.Generator
    """Draws ε and θ."""
    lottery: np.random.Generator
    """Decides which uncertain offers are made."""
    noise: dict[str, np.random.Generator]
    """Draws the noise, by query."""

    @classmethod
    def of(cls, seed: int, key: tuple[int, ...], noise_key: tuple[int, ...] | None = None) -> Streams:
        """Make the streams of a key; the noise may come from another one."""
        market, lottery, noise = np.random.SeedSequence(seed, spawn_key=key).spawn(3)
        if noise_key is not None:
            noise = np.random.SeedSequence(seed, spawn_key=noise_key)
        by_query = dict(zip(QUERIES, map(np.random.default_rng, noise.spawn(len(QUERIES))), strict=True))
        return cls(np.random.default_rng(market), np.random.default_rng(lottery), by_query)


def market(correlation: float, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw ε and θ of n owners: uniform, joined by a Gaussian copula with Pearson correlation ρ."""
    return GaussianCopula(Uniform(0, 1), Uniform(0, 1), correlation).sample(rng, n)


def outcomes(setting: Setting, streams: Streams, draws: int = 1) -> tuple[Floats, Floats]:
    """Run all mechanisms, budgets and queries on one market.

    Parameters
    ----------
    setting
        Data set, correlation and budgets.
    streams
        Sources of randomness.
    draws
        How often the noise is drawn.

    Returns
    -------
    tuple
        Notes of shape (draws, budgets, columns, metrics), in the order of `grid.columns` and `grid.METRICS`; and the share of the owners of each
        tenth of ε that is bought for counts and medians, shape (budgets, mechanisms, tenths).
    """
    population = setting.population
    epsilon, theta = market(setting.correlation, population.n, streams.market)
    order = FairQueryOrder.of(theta, epsilon)
    buyer = _LinearBuyer.of(setting, theta, epsilon, order)
    tenth = np.minimum((epsilon * DECILES).astype(np.intp), DECILES - 1)
    in_tenth = np.maximum(np.bincount(tenth, minlength=DECILES), 1)
    table = columns()
    notes = np.full((draws, len(setting.shares), len(table), len(METRICS)), math.nan)
    bought_by_tenth = np.zeros((len(setting.shares), len(MECHANISMS["count"]), DECILES))
    for b, share in enumerate(setting.shares):
        budget = budget_of(share, population.n)
        noise = {query: _Noise.drawn(streams.noise[query], draws, len(MECHANISMS[query])) for query in QUERIES}
        bought = _common(setting, epsilon, theta, order, budget, streams.lottery)
        fair = {rule: order.buy(rule, budget) for rule in ("printed", "original")}
        inner = buyer.order.buy(budget_of(share, buyer.epsilon.size))
        for c, (query, name) in enumerate(table):
            here = noise[query].of(MECHANISMS[query].index(name))
            if query == "linear":
                found = buyer.answer(name, b, bought, inner, here, streams.lottery)
            else:
                found = _plain(query, name, population, epsilon, bought, fair, here)
            if found is None:
                continue
            answers, exact, allocation, privacy = found
            notes[:, b, c, 0] = answers
            notes[:, b, c, 1:] = (
                exact,
                np.count_nonzero(allocation.bought),
                allocation.spend,
                privacy,
                allocation.spread,
            )
            if query == "count":
                held = np.bincount(tenth[allocation.bought], minlength=DECILES)
                bought_by_tenth[b, MECHANISMS[query].index(name)] = held / in_tenth
    return notes, bought_by_tenth


@dataclass(frozen=True, eq=False)
class _Noise:
    """Uniform numbers an answer is drawn with, and standard Laplace noise; shape (draws,) once a mechanism is chosen."""

    u: Floats
    laplace: Floats

    @classmethod
    def drawn(cls, rng: np.random.Generator, draws: int, mechanisms: int) -> _Noise:
        return cls(rng.random((draws, mechanisms)), rng.laplace(size=(draws, 1)))

    def of(self, mechanism: int) -> _Noise:
        return _Noise(self.u[:, mechanism], self.laplace[:, 0])


def _common(
    setting: Setting, epsilon: Floats, theta: Floats, order: FairQueryOrder, budget: float, rng: np.random.Generator
) -> dict[str, Allocation]:
    """Buy once for all queries: SMQ with both laws, the single price, and who knows every θ."""
    marginal = marginal_offer(epsilon, budget).accept(theta, rng)
    if setting.table is not None:
        conditional = setting.table.offer(epsilon, budget).accept(theta, rng)
    elif setting.correlation == 0.0:
        conditional = marginal
    else:
        conditional = known_valuation_offer(epsilon, theta, budget).accept(theta, rng)
    single = uniform_price(theta.size, budget).accept(theta, rng)
    affordable = int(np.searchsorted(np.cumsum(theta[order.order]), budget, side="right"))
    known = np.zeros(theta.size, dtype=np.bool_)
    known[order.order[:affordable]] = True
    return dict(zip(SMQ, (marginal, conditional, single, paid(known, theta)), strict=True))


def _plain(
    query: str,
    name: str,
    population: Population,
    epsilon: Floats,
    common: dict[str, Allocation],
    fair: dict[str, tuple[int, Allocation] | None],
    noise: _Noise,
) -> Noted | None:
    """Answer a count or a median."""
    if name in common:
        allocation = common[name]
        bought = allocation.bought
        if not np.any(bought):
            return None
        held = epsilon[bought]
        return (*_private(query, population, bought, held, noise.u), allocation, float(held.sum()))
    _, rule, reading, *sensitivity = name.split("-")
    found = fair[rule]
    if found is None:
        return None
    k, allocation = found
    left = float(population.n - k)
    if query == "count":
        base, amount = count_base(population.ones, allocation.bought), left
    else:
        base = median_base(population.value, allocation.bought)
        if math.isnan(base):
            return None
        amount = left * (
            population.high - population.low
            if sensitivity == ["public"]
            else local_sensitivity(population.value, allocation.bought, population.low, population.high)
        )
    return (
        base + laplace_scale(reading, amount) * noise.laplace,
        base,
        allocation,
        float(epsilon[allocation.bought].sum()),
    )


def _private(query: str, population: Population, bought: Mask, epsilon: Floats, u: Floats) -> tuple[Floats, float]:
    """Draw P-E answers for the population, and give the one without noise."""
    k = epsilon.size
    asked: Count | Median = Count() if query == "count" else Median(population.low, population.high)
    entries = (population.ones if query == "count" else population.value)[bought]
    score = asked.score(entries, epsilon, CUT)
    exact = score.start[np.argmin(score.cost)]
    results = np.append(draw_results(score, u), entries.sum() if query == "count" else exact)
    values = asked.values(results, k, population.n).astype(np.float64)
    return values[:-1], float(values[-1])


@dataclass(frozen=True, eq=False)
class _LinearBuyer:
    """The linear predictor on one market: entries within [0, 1], the new individual no owner."""

    setting: Setting
    theta: Floats
    epsilon: Floats
    order: FairInnerProductOrder
    by_ratio: NDArray[np.intp]
    """Positions of the owners with a positive weight, ascending by ε_i/w_i."""

    @classmethod
    def of(cls, setting: Setting, theta: Floats, epsilon: Floats, fair: FairQueryOrder) -> _LinearBuyer:
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
        noise: _Noise,
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
