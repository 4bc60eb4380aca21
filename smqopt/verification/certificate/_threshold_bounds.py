"""Error bars on thresholds: between which two prices every optimal threshold lies.

For the price search's own answers: spend does not rise with λ, so two prices at which the spend
lies on either side of the budget enclose λ*, and the answers at these two enclose θ*. For
thresholds from elsewhere: with G the gap between bound and purchased privacy, no owner's Lagrangian
h(θ) = F(θ)(ε − λθ) falls short of its maximum by more than G at an optimum (weak duality), and h is
flat at its top; so these bars are of the size of √G, and wide where ε is near 0, for there h is
flat everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from smqopt.market import Market, Solution, Status
from smqopt.numeric import Ball, Floats, precision
from smqopt.valuation import BallLaw, Regular, ball_law
from smqopt.verification.checks._weak_duality import offers_at_price, spend_at_price, widths
from smqopt.verification.proof._enclosed_thresholds import answer_bounds, near_top_bounds

_MOST_ROWS = 30_000
"""Of more owners no bars are proved."""
BITS = 192
"""Precision of the balls."""
SHARES = tuple(2.0**-k for k in (48, 46, 44, 42, 40, 36, 32, 28, 24, 20))
"""Relative distances from λ at which the spend is tried."""
WIDE = 1e-3
"""Bars wider than this share of the support are called wide."""
SPACINGS = 64
"""Spacings of doubles that are added to either end where nothing is proved."""
STEPS = 80
"""Bisections that find where the Lagrangian has fallen by the gap."""


@dataclass(frozen=True, eq=False)
class ThresholdBounds:
    """Two thresholds around every optimal one, in currency; shape (n,) each.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> solution = smq.solve(market, 0.5)
    >>> bounds = smq.verify(solution).threshold_bounds()
    >>> bool(((bounds.low <= solution.thresholds) & (solution.thresholds <= bounds.high)).all())
    True
    """

    low: Floats
    high: Floats
    budget_price: tuple[float, float]
    """Two prices that enclose λ*; (0, +∞) where nothing is known of it."""
    method: Literal["price", "gap"]
    """"price": from the spend at two prices; "gap": from what the Lagrangian may fall short by."""
    proved: bool
    """Whether every bar is proved in ball arithmetic; else it is floating point with some spacings
    of doubles added."""
    wide: NDArray[np.bool_]
    """Whose bar is wider than a thousandth of her support: where ε is near 0, next to nothing hangs
    on the threshold."""

    @property
    def note(self) -> str:
        """What to know of the bars, in a line."""
        count = int(np.count_nonzero(self.wide))
        base = "proved in ball arithmetic" if self.proved else "floating point, not proved"
        wide = f"; {count} are wide: ε is near 0 there, or the gap leaves much open" if count else ""
        return f"{base}, by the {self.method}{wide}"


def threshold_bounds(solution: Solution, shortfall: float, *, proved: bool) -> ThresholdBounds:
    """Enclose the thresholds of every optimal answer.

    Parameters
    ----------
    solution
        A feasible solution of OP2 without side constraints.
    shortfall
        G ≥ 0: at least what the thresholds buy less than the weak-duality bound at the solution's
        price, in units of ε.
    proved
        Whether that is proved.
    """
    with precision(BITS):
        laws = _balls(solution.market)
        if solution.status is Status.BINDING and solution.claims_response and solution.lottery is None:
            found = _by_price(solution, laws)
            if found is not None:
                return found
        return _by_gap(solution, shortfall, laws if proved else None)


def _balls(market: Market) -> list[tuple[BallLaw, int]] | None:
    """Return each owner's law and place; None where bars cannot be proved."""
    if market.n > _MOST_ROWS:
        return None
    owners: list[tuple[BallLaw, int] | None] = [None] * market.n
    for law, index in market.valuation.parts():
        found = ball_law(law) if isinstance(law.regularity(), Regular) else "not regular"
        if isinstance(found, str):
            return None
        for place, owner in enumerate(np.arange(market.n)[index].tolist()):
            owners[owner] = (found, place if law.size is not None else 0)
            exact = found(place).jumps == 0 if law.size is not None or place == 0 else True
            if not exact:
                return None
    return [pair for pair in owners if pair is not None]


def _by_price(solution: Solution, laws: list[tuple[BallLaw, int]] | None) -> ThresholdBounds | None:
    """Enclose by two prices; None where no two are found."""
    market, price, budget = solution.market, solution.budget_price, solution.budget
    dear = cheap = None
    for share in SHARES:
        if dear is None:
            tried = price * (1.0 + share)
            low, high = _answers(market, tried, laws)
            if _spend_is(market, high, budget, tried, laws, above=False):
                dear = tried, low
        if cheap is None:
            tried = price * (1.0 - share)
            low, high = _answers(market, tried, laws)
            if _spend_is(market, low, budget, tried, laws, above=True):
                cheap = tried, high
    if dear is None or cheap is None:
        return None
    (most, low), (least, high) = dear, cheap
    return ThresholdBounds(low, high, (least, most), "price", laws is not None, (high - low) > WIDE * widths(market))


def _answers(market: Market, price: float, laws: list[tuple[BallLaw, int]] | None) -> tuple[Floats, Floats]:
    """Enclose θ(λ)."""
    near, _ = offers_at_price(market, price)
    if laws is None:
        return _moved_out(market, near, near)
    bars = [
        answer_bounds(law(place), e, arb(price), t, low, high)
        for (law, place), e, t, low, high in _rows(market, near, laws)
    ]
    low, high = np.array(bars, dtype=np.float64).T
    return low, high


def _rows(
    market: Market, thresholds: Floats, laws: list[tuple[BallLaw, int]]
) -> Iterator[tuple[tuple[BallLaw, int], float, float, float, float]]:
    columns = (column.tolist() for column in (market.epsilon, thresholds, market.low, market.high))
    return zip(laws, *columns, strict=True)


def _moved_out(market: Market, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    return (
        np.maximum(low - SPACINGS * np.spacing(low), market.low),
        np.minimum(high + SPACINGS * np.spacing(high), market.high),
    )


def _spend_is(
    market: Market,
    thresholds: Floats,
    budget: float,
    price: float,
    laws: list[tuple[BallLaw, int]] | None,
    *,
    above: bool,
) -> bool:
    """Return whether the spend at thresholds is more, or less, than the budget."""
    if laws is None:
        spend = spend_at_price(market, price)
        return spend > budget if above else spend < budget
    counts = market.weights
    total: Ball = arb(0)
    for ((law, place), _, t, low, high), m in zip(_rows(market, thresholds, laws), counts.tolist(), strict=True):
        F = arb(0) if t <= low else arb(1) if t >= high else law(place).cdf(arb(t))
        total += arb(m) * F * t
    return bool(total > budget) if above else bool(total < budget)


def _by_gap(solution: Solution, shortfall: float, laws: list[tuple[BallLaw, int]] | None) -> ThresholdBounds:
    """Enclose by what no owner's Lagrangian may fall short by."""
    market, price = solution.market, solution.budget_price
    if price == math.inf:
        low = np.array(market.low)
        return ThresholdBounds(
            low, low, (0.0, math.inf), "gap", proved=laws is not None, wide=np.zeros(market.n, dtype=np.bool_)
        )
    top = np.where(market.epsilon > 0, market.high, market.low) if price == 0 else offers_at_price(market, price)[0]
    h = market.valuation.cdf(top) * (market.epsilon - price * top)
    low = _crossing(market, price, h - shortfall, top, np.array(market.low))
    high = _crossing(market, price, h - shortfall, top, np.array(market.high))
    low, high = _moved_out(market, low, high)
    if laws is not None:
        bars = [
            near_top_bounds(law(place), e, arb(price), t, (a, b), arb(shortfall), bottom, end)
            for ((law, place), e, t, bottom, end), a, b in zip(
                _rows(market, top, laws), low.tolist(), high.tolist(), strict=True
            )
        ]
        low, high = np.array(bars, dtype=np.float64).T
    wide = (high - low) > WIDE * widths(market)
    return ThresholdBounds(low, high, (0.0, math.inf), "gap", laws is not None, wide)


def _crossing(market: Market, price: float, wanted: Floats, inside: Floats, end: Floats) -> Floats:
    """Bisect for where the Lagrangian falls below what is wanted."""
    near, far = inside.copy(), end.copy()
    for _ in range(STEPS):
        middle = 0.5 * (near + far)
        holds = market.valuation.cdf(middle) * (market.epsilon - price * middle) >= wanted
        near, far = np.where(holds, middle, near), np.where(holds, far, middle)
    at_end = market.valuation.cdf(end) * (market.epsilon - price * end) >= wanted
    return np.where(at_end, end, far)
