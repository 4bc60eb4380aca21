"""What blocks and price lists add at most: by cells in balls, between doubles, and by definition."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest
from flint import arb

import smqopt as smq
from smqopt.market import state
from smqopt.numeric import GAP, precision
from smqopt.valuation import ball_law, piece_law
from smqopt.verification.enclosures import _block_terms
from smqopt.verification.enclosures._block_terms import BlockTerm, top_of_range
from smqopt.verification.enclosures._smooth_terms import SmoothCurve
from smqopt.verification.proof._case import in_supports
from smqopt.verification.proof._proof import prove, prove_in_doubles

LAWS = {
    "beta": lambda rng, k: smq.Beta(1 + rng.random(k), 2 + rng.random(k)),
    "steep beta": lambda rng, k: smq.Beta(0.5 + rng.random(k), 1.5 + rng.random(k)),
    "power": lambda rng, k: smq.Power(0.5 + 2 * rng.random(k), 0.0, 1.0 + rng.random(k)),
    "shifted uniform": lambda rng, k: smq.Uniform(rng.random(k), 1.0 + rng.random(k)),
    "triangular": lambda rng, k: smq.Triangular(np.zeros(k), 0.2 + rng.random(k), 1.5),
}


@pytest.mark.parametrize("posted", ["none", "the top", "any", "many", "none, all derivatives"])
@pytest.mark.parametrize("name", LAWS)
def test_the_bound_is_above_a_grid_and_no_more_than_needed(name, posted, monkeypatch):
    if posted == "none, all derivatives":
        monkeypatch.setattr(_block_terms, "_FEW_CELLS", 0)
    rng = np.random.default_rng(5)
    k = 5
    law = LAWS[name](rng, k)
    low, high = (np.broadcast_to(end, k) for end in (law.low, law.high))
    a, c = rng.normal(0.7, 0.7, k), rng.normal(0.9, 0.5, k)
    c[0] += 4.0  # Σ c > 0
    price = np.linspace(0.0, 2.5, 4001)[:, np.newaxis]
    F = np.where(price >= high, 1.0, np.where(price < low, 0.0, law.cdf(np.clip(price, low, high))))
    h = np.sum((a - c * price) * F, axis=1)
    hints = {
        "none": [],
        "none, all derivatives": [],
        "the top": [float(price[np.argmax(h), 0])],
        "any": [float(0.1 + rng.random())],
        "many": np.sort(rng.random(6)).tolist(),
    }[posted]
    with precision(128):
        pieces, finer, balls = piece_law(law, 3), piece_law(law), ball_law(law)
        terms = [
            BlockTerm(
                arb(a[i]), arb(c[i]), float(low[i]), float(high[i]), pieces(i), SmoothCurve(balls), i, lambda: finer
            )
            for i in range(k)
        ]
        top = top_of_range(terms, 0.0, np.inf, hints)
        bend = [piece.bend(arb(0.4), arb(0.5)) for piece in pieces(1)]
        assert all(
            own.overlaps(piece.taylor(arb(0.4), arb(0.5))[2]) for own, piece in zip(bend, pieces(1), strict=True)
        )
    best = max(h.max(), 0.0)
    assert best <= top <= best + 2e-5 * np.abs(a).sum()


def test_what_cancels_to_all_orders_is_seen_in_few_cells(monkeypatch):
    monkeypatch.setattr(_block_terms, "_MOST_CELLS", 150)
    with precision(128):
        laws = [smq.Power(3), smq.Power(4), smq.Power(2.5), smq.Power(3.5)]
        worths = [(0, 2), (2, 0), (0, 1), (1, 0)]  # (a − c p) F: −2p⁴ + 2p⁴ − p³·⁵ + p³·⁵
        terms = [
            BlockTerm(
                arb(a), arb(c), 0.0, 1.0, piece_law(law, 3)(0), SmoothCurve(ball_law(law)), 0, partial(piece_law, law)
            )
            for law, (a, c) in zip(laws, worths, strict=True)
        ]
        assert top_of_range(terms, 0.0, np.inf) < 1e-11
        monkeypatch.setattr(_block_terms, "_FEW_CELLS", 150)
        assert top_of_range(terms, 0.0, np.inf) > 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_straight_laws_are_bounded_between_doubles_as_in_balls(seed):
    rng = np.random.default_rng(seed)
    n = 24
    group = rng.integers(3, size=n)
    low = rng.random(n) * rng.choice([0.0, 1.0])
    market = smq.Market(
        rng.random(n),
        smq.Uniform(low, low + 0.2 + rng.random(n)),
        groups={"g": group},
        multiplicity=rng.integers(1, 5, n) if seed % 3 == 0 else None,
    )
    records = [smq.CommonPrice("g")]
    if seed % 2:
        records.append(smq.GroupBudget("g", int(group[0]), at_most=0.02 * n))
    honest = smq.solve(market, 0.1 * n, constraints=records)
    for share in (1.0, 0.6, 1.7):
        solution = dataclasses.replace(
            honest, budget_price=share * honest.budget_price, constraint_prices=honest.constraint_prices / share
        )
        quick = prove_in_doubles(solution, GAP.value)
        if quick is None:
            assert not in_supports(solution, None)  # posted above a support
            continue
        slow = prove(solution, precisions=(128,))
        assert slow.upper_bound * (1 - 1e-12) <= quick.upper_bound <= slow.upper_bound * (1 + GAP.value)
        assert quick.holds or share != 1.0 or not slow.holds or quick.within_budget is None


@pytest.mark.parametrize("seed", range(12))
def test_price_lists_are_bounded_between_doubles_as_in_balls(seed):
    rng = np.random.default_rng([seed, 1])
    n = 24
    group = rng.integers(3, size=n)
    low = rng.random(n) * rng.choice([0.0, 0.2])
    law = [smq.Uniform(low, low + 0.9 + rng.random(n)), smq.Uniform(0.1, 1), smq.Power(2, 0, 1)][seed % 3]
    market = smq.Market(rng.random(n), law, groups={"g": group})
    prices = np.unique(np.round(rng.random(6), 2))
    records = [smq.PriceMenu(prices.tolist())]
    if seed % 2:
        records.append(smq.GroupBudget("g", int(group[0]), at_most=0.02 * n))
    honest = smq.solve(market, 0.1 * n, constraints=records)
    for share in (1.0, 0.6, 1.7):
        y = honest.constraint_prices / share
        solution = dataclasses.replace(honest, budget_price=share * honest.budget_price, constraint_prices=y)
        quick = prove_in_doubles(solution, GAP.value)
        slow = prove(solution, precisions=(128,))
        assert slow.upper_bound * (1 - 1e-13) <= quick.upper_bound <= slow.upper_bound * (1 + 1e-12)
        assert slow.holds or not quick.holds  # these may not decide whether the budget is kept
    A, S = state(market, records).owner_rows()
    p = np.append(prices, np.inf)
    for share in (0.5, 1.5):  # the dual by its definition
        price, y = share * honest.budget_price, honest.constraint_prices
        solution = dataclasses.replace(honest, budget_price=price, constraint_prices=y)
        e, c = market.epsilon - A.T @ y, price + S.T @ y
        F = np.column_stack([np.where(t >= market.high, 1, law.cdf(np.full(n, min(t, 2.0)))) for t in p[:-1]])
        h = (e[:, np.newaxis] - c[:, np.newaxis] * p[:-1]) * F
        dual = price * 0.1 * n + y @ state(market, records).at_most + np.maximum(h.max(axis=1), 0).sum()
        assert prove_in_doubles(solution, GAP.value).upper_bound == pytest.approx(dual, rel=1e-12)
