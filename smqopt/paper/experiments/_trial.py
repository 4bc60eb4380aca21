"""One market of an experiment: every mechanism, budget and query."""

from __future__ import annotations

import math

import numpy as np

from smqopt.numeric import Floats, Mask
from smqopt.paper.baselines._allocation import Allocation, paid
from smqopt.paper.baselines._fair_query import (
    FairQueryOrder,
    count_base,
    laplace_scale,
    local_sensitivity,
    median_base,
)
from smqopt.paper.baselines._linear_buyer import LinearBuyer, Noted
from smqopt.paper.baselines._posted_prices import known_valuation_offer, marginal_offer, uniform_price
from smqopt.paper.data_sets._population import Population
from smqopt.paper.experiments._exact_draws import CUT, draw_results
from smqopt.paper.experiments._grid import (
    DECILES,
    MECHANISMS,
    METRICS,
    QUERIES,
    SMQ,
    budget_of,
    columns,
)
from smqopt.paper.experiments._setting import Setting
from smqopt.paper.experiments._streams import Noise, Streams
from smqopt.query import Count, Median
from smqopt.valuation import GaussianCopula, Uniform


def market(correlation: float, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw ε and θ of n owners: uniform, joined by a Gaussian copula."""
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
        Notes of shape (draws, budgets, columns, metrics), in the order of `grid.columns` and
        `grid.METRICS`; and the share of the owners of each tenth of ε that is bought for counts and
        medians, shape (budgets, mechanisms, tenths).
    """
    population = setting.population
    epsilon, theta = market(setting.correlation, population.n, streams.market)
    order = FairQueryOrder.of(theta, epsilon)
    buyer = LinearBuyer.of(setting, theta, epsilon, order)
    tenth = np.minimum((epsilon * DECILES).astype(np.intp), DECILES - 1)
    in_tenth = np.maximum(np.bincount(tenth, minlength=DECILES), 1)
    table = columns()
    notes = np.full((draws, len(setting.shares), len(table), len(METRICS)), math.nan)
    bought_by_tenth = np.zeros((len(setting.shares), len(MECHANISMS["count"]), DECILES))
    for b, share in enumerate(setting.shares):
        budget = budget_of(share, population.n)
        noise = {query: Noise.draw(streams.noise[query], draws, len(MECHANISMS[query])) for query in QUERIES}
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


def _common(
    setting: Setting, epsilon: Floats, theta: Floats, order: FairQueryOrder, budget: float, rng: np.random.Generator
) -> dict[str, Allocation]:
    """Buy once for all queries: SMQ by both laws, one price, full knowledge."""
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
    noise: Noise,
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
