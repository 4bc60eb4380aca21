r"""What is sure to be bought while the money lasts, and the best budget for it.

Owners come by value per money r_i = ε_i/θ_i*, the most first; whom the money left does not cover is
passed over. Let W be the sum of the prices in a prefix of that order at which owners are willing to
sell, with mean m, and S what of it is spent. Where W ≤ B nobody in the prefix is passed over, and
S = W; where somebody is, S > B − c, c the highest price at which that can happen. So
S ≥ min(W, B − c), and, summed by parts,

    E[purchased privacy] = Σ_i r_i E[spent on i] ≥ Σ_i (r_i − r_{i+1}) E min(W_i, B − c_i).

An owner with a lottery stands at each of her prices, of which one is drawn: what she adds to W
still lies between 0 and the highest price, independently of the others, and nothing else is used.

Two bounds of E min(W, b) = m − E(W − b)⁺ follow, of which the better is taken:

- E(W − b)⁺ ≤ (√(v + (b − m)²) − (b − m))/2 with v the variance (Scarf 1958);
- E(W − b)⁺ ≤ p E(N − b/p)⁺, N Poisson of mean m/p, p the highest price of the prefix: a sum of
  independent parts in [0, p] is below p N in the convex order.

By the second one, thresholds of OP2 at the budget B − p, k = B/p, leave at least
1 − 1/√(2π⌊k − 1⌋) of what they would buy in expectation: for N of mean κ,
E(N − κ)⁺/κ = e^(−κ) κ^⌊κ⌋/⌊κ⌋! ≤ 1/√(2π⌊κ⌋). With k in place of k − 1 that is false: after sure
sellers who leave a little less than B/k, an owner of price B/k is never served, and up to a part
1/k of the value is lost, which for k ≤ 6 is more than 1/√(2πk). For equal prices and whole k it is
true with k (Balkanski and Hartline 2016, after Yan 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.market import (
    ConstraintRecord,
    Market,
    PurchasedPrivacy,
    Solution,
    Status,
    checked_budget,
    require_one_law,
)
from smqopt.numeric import Floats
from smqopt.solvers import solve
from smqopt.verification import verify

_SOLVED = (Status.BINDING, Status.SLACK, Status.ZERO_BUDGET)
_FIRST_GRID = 2.0 ** np.linspace(-6.0, 2.0, 25)
"""Budgets tried first, times the money in hand."""
_FINER = (9, 9, 9)
"""So many between the neighbours of the best, again and again."""
_ROUNDING = 1e-9
"""Relative; above what sums over all owners and the Poisson law are off by."""


@dataclass(frozen=True, eq=False)
class LastingBudget:
    """A budget to solve for, if what is bought is paid while the money lasts.

    Examples
    --------
    >>> import numpy as np
    >>> import smqopt as smq
    >>> market = smq.Market(np.full(400, 0.5), smq.Uniform(0, 1))
    >>> found = smq.lasting_budget(market, 100.0)
    >>> round(found.guaranteed, 1), round(found.most, 1), found.solution.budget < 100.0
    (97.3, 100.0, True)
    """

    money: float
    """B in hand, in currency: no purchase ever costs more."""
    solution: Solution
    """For the budget found: to be verified, and bought with, `money=` this."""
    guaranteed: float
    """The purchase by value per money buys at least so much in expectation, in units of ε."""
    most: float
    """No purchase that never costs more than B buys more in expectation, in units of ε."""

    @property
    def share(self) -> float:
        """What is guaranteed of the most, at least."""
        return self.guaranteed / self.most if self.most > 0 else 1.0


def lasting_budget(
    market: Market,
    money: float,
    *,
    constraints: Sequence[ConstraintRecord] = (),
    **solver_options: Any,
) -> LastingBudget:
    """Find the budget for OP2 whose purchase is guaranteed the most.

    The purchase is by `payments="while-it-lasts"` in the order by value, all owners in one batch,
    truthful and independent. `guaranteed` is proved for the solution that is given back
    (`guaranteed_privacy`); the budget is the best of a search, which may be above the money. Side
    constraints hold for offers as if nobody were passed over.

    Parameters
    ----------
    market, constraints, solver_options
        As for `solve`.
    money
        B in hand, in currency.

    Raises
    ------
    InputError
        If an argument is bad, or no budget that was tried meets the constraints.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market(np.random.default_rng(1).random(1000), smq.Uniform(0, 1))
    >>> found = lasting_budget(market, 200.0)
    >>> round(found.solution.budget, 1), round(found.share, 3)
    (199.2, 0.981)
    """
    where = "lasting_budget: argument"
    check_kind(market, Market, f"{where} 'market'", "a Market", "make one of requirements and a law")
    require_one_law(market, f"{where} 'market'")
    most = checked_budget(money, f"{where} 'money'")
    if "objective" in solver_options and not isinstance(solver_options["objective"], PurchasedPrivacy):
        raise InputError(f"{where} 'objective'", "is purchased privacy here", remedy="leave it out")
    top = market.most_that_can_be_spent

    def attempt(budget: float) -> tuple[float, Solution] | None:
        solution = solve(market, budget, constraints=constraints, **solver_options)
        return (guaranteed_privacy(solution, most), solution) if solution.status in _SOLVED else None

    found = {min(most * at, top): attempt(min(most * at, top)) for at in _FIRST_GRID.tolist()}
    for finer in _FINER:
        grid = sorted(found)
        values = [-1.0 if (one := found[budget]) is None else one[0] for budget in grid]
        at = int(np.argmax(values))
        ends = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        for budget in np.linspace(*ends, finer + 2)[1:-1].tolist():
            found.setdefault(budget, attempt(budget))
    best = max((one for one in found.values() if one is not None), key=lambda one: one[0], default=None)
    if best is None:
        raise InputError("lasting_budget", "no budget that was tried meets the constraints", remedy="raise the money")
    return LastingBudget(most, best[1], best[0], verify(solve(market, most), prove=False).upper_bound)


def guaranteed_privacy(solution: Solution, money: float) -> float:
    """Bound what is bought while the money lasts, by value per money.

    Parameters
    ----------
    solution
        Of OP2 at any budget.
    money
        B in hand, in currency.

    Returns
    -------
    float
        In units of ε. At least so much is bought in expectation by `payments="while-it-lasts"` in
        the order by value, all owners in one batch, truthful and independent under the certified
        laws, lotteries drawn on their own. Floating point, an allowance for rounding taken off.

    Raises
    ------
    InputError
        If prices are drawn at random, or the money is bad.

    Examples
    --------
    >>> import smqopt as smq
    >>> solution = smq.solve(smq.Market([1.0] * 100, smq.Uniform(0, 1)), 25.0)
    >>> round(guaranteed_privacy(solution, 25.0), 1), round(guaranteed_privacy(solution, 50.0), 1)
    (47.0, 50.0)
    """
    where = "guaranteed_privacy: argument"
    check_kind(solution, Solution, f"{where} 'solution'", "a Solution", "give what `solve` returns")
    B = checked_budget(money, f"{where} 'money'")
    require_one_law(solution.market, f"{where} 'solution'")
    if solution.random_prices is not None:
        raise InputError(f"{where} 'solution'", "has random prices, which pass nobody over", remedy="give another")
    epsilon, price, chance, second, copies = _offers(solution)
    covered = price <= B
    epsilon, price, chance, second, copies = (column[covered] for column in (epsilon, price, chance, second, copies))
    free = price == 0
    value = float((copies * chance) @ np.where(free, epsilon, 0.0))
    epsilon, price, chance, second, copies = (
        column[~free & (chance > 0)] for column in (epsilon, price, chance, second, copies)
    )
    if price.size:
        order = np.argsort(-epsilon / price, kind="stable")
        ratio, price, chance, second, copies = (
            column[order] for column in (epsilon / price, price, chance, second, copies)
        )
        spent = np.cumsum(copies * price * chance)
        variance = np.cumsum(copies * price**2 * second)
        held_back = np.maximum.accumulate(np.where(np.cumsum(copies * price) > B * (1.0 - _ROUNDING), price, 0.0))
        highest = np.maximum.accumulate(price)
        kept = _least_of_both(spent, variance, highest, B - held_back)
        kept = np.maximum.accumulate(np.where(held_back > 0, kept, spent))
        value += float((ratio - np.append(ratio[1:], 0.0)) @ kept)
    return value * (1.0 - _ROUNDING)


def _offers(solution: Solution) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return the offers, a column each.

    That is ε, price, chance, variance over price², and how many owners have it. An owner with a
    lottery has an offer at each of her prices, whose second moment bounds its part of the variance.
    """
    market, q = solution.market, solution.acceptance
    posted = solution.offered.copy()
    lottery = solution.lottery
    if lottery is not None:
        posted[lottery.owner] = False
    columns = [market.epsilon, solution.thresholds, q, q * (1.0 - q), market.weights]
    columns = [column[posted] for column in columns]
    if lottery is not None:
        wide = lottery.prices.shape[1]
        chance = (lottery.probabilities * lottery.acceptances).ravel()
        own = [np.repeat(column[lottery.owner], wide) for column in (market.epsilon, market.weights)]
        drawn = [own[0], lottery.prices.ravel(), chance, chance, own[1]]
        columns = [np.concatenate(both) for both in zip(columns, drawn, strict=True)]
    return tuple(columns)  # type: ignore[return-value]


def _least_of_both(mean: Floats, variance: Floats, price: Floats, b: Floats) -> Floats:
    """Bound E min(W, b) from below, shape (n,); W ≥ 0."""
    from scipy.special import pdtrc  # noqa: PLC0415 -- takes a quarter of a second

    room = b - mean
    root = np.hypot(np.sqrt(variance), room)
    scarf = np.where(room > 0, variance / (2.0 * (root + np.abs(room))), (root - room) / 2.0)
    rate, at = mean / price, np.maximum(b, 0.0) / price
    whole = np.floor(at)
    at_least = np.where(whole > 0, pdtrc(whole - 1.0, rate), 1.0)
    poisson = price * (rate * at_least - at * pdtrc(whole, rate)) + _ROUNDING * mean
    return np.where(b > 0, np.maximum(mean - np.minimum(scarf, np.maximum(poisson, 0.0)), 0.0), 0.0)
