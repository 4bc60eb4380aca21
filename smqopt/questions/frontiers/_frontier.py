"""The frontier of a market in one pass, with the budget price as its slope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from smqopt.errors import InputError
from smqopt.market import ConstraintRecord, Market, Objective, PurchasedPrivacy, Status, needs_expansion
from smqopt.numeric import FRONTIER_EXACT, FRONTIER_GAP, ROUNDING, Floats, exact_dot
from smqopt.questions.frontiers._at_budgets import AtBudgets, as_records
from smqopt.questions.frontiers._budget_prices import price_of_each
from smqopt.questions.frontiers._constrained_frontier import constrained_frontier
from smqopt.questions.frontiers._curve import Frontier, Supports, checked_budgets
from smqopt.questions.frontiers._power_sums import power_sums
from smqopt.questions.frontiers._price_blocks import PowerSums
from smqopt.questions.frontiers._support_points import Tangents, refine, solve_each
from smqopt.verification import weights

if TYPE_CHECKING:
    from smqopt.program import Program

_BUDGETS = 100
"""Budgets where none are given."""
_IN_CLOSED_FORM = "closed form; bounds include the rounding of its sums"
_BY_CHORDS = "chords between solved points, and tangents at their prices; "
_VERIFIED = "each tangent is the verifier's weak-duality bound"
_UNVERIFIED = "each tangent rests on the owners' answers, with an allowance for rounding"


def frontier(
    market: Market | Program,
    budgets: ArrayLike | None = None,
    *,
    constraints: Sequence[ConstraintRecord] = (),
    objective: Objective | None = None,
    gap: float = FRONTIER_GAP.value,
    verified: bool = True,
) -> Frontier:
    """Return the most purchased privacy V(B) and its slope λ, at many budgets.

    V is concave with dV/dB = λ, so chords bound it from below, and for every λ weak duality has a
    tangent that bounds it from above. For uniform and power laws whose low ends are 0, or whose
    exponents are whole numbers up to 8 (at most 16 different ones), spend and privacy are closed
    forms in λ, piece by piece, and the bounds are as near as rounding; budgets at which they are
    not (small ones, where a high exponent meets a low end above 0) are solved one by one, which
    takes long. For other laws points are solved until the bounds are within `gap` at every budget;
    between two points V is interpolated, inside its bounds. With constraints every budget is
    solve_each on its own.

    Parameters
    ----------
    market
        n owners; irregular laws are ironed. Or a `Program` under linear constraints, with its
        objective; its budget is not used.
    budgets
        B ≥ 0, in currency, shape (p,), in any order; by default 100, closer together where the
        frontier is steep, up to what buying from everybody costs.
    constraints
        Constraint records. Where they cannot be paid for, V is −∞, and `status` says INFEASIBLE.
    objective
        Another record in place of purchased privacy, of a sum over owners or of linear terms and
        minima; `purchased_privacy` of what is returned is then its value, negative where the record
        is minimised. Every budget is solved.
    gap
        The largest distance of the bounds, relative to the upper one, for laws without a closed
        form; in (0, 1).
    verified
        For what is solved: whether every tangent is worked out by `smqopt.verification`, which
        trusts no answer of the solver. It takes most of the time. With constraints: whether every
        solution is verified.

    Returns
    -------
    Frontier
        Budgets sorted, each once.

    Raises
    ------
    InputError
        If a budget is not a finite number ≥ 0, or the gap does not lie in (0, 1).

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> curve = frontier(market, [0.5, 1.0, 3.0])
    >>> curve.purchased_privacy.round(6).tolist(), curve.budget_price.round(6).tolist()
    ([0.803119, 1.135782, 1.7], [0.803119, 0.567891, 0.0])
    """
    if not 0 < gap < 1:
        raise InputError("frontier: argument 'gap'", "must lie in (0, 1)", value=gap, remedy="use, say, 1e-4")
    market, constraints, objective = as_records(market, constraints, objective)
    plain = isinstance(objective, PurchasedPrivacy) and not constraints and not needs_expansion(market, objective)
    solver = None if plain else AtBudgets(market, constraints, objective)
    most = market.most_that_can_be_spent if solver is None else solver.most
    if budgets is None:
        wanted = most * (np.arange(1, _BUDGETS + 1) / _BUDGETS) ** 2
        wanted = wanted if most > 0 else np.zeros(1)
    else:
        wanted = np.unique(checked_budgets(budgets))
    if solver is not None:
        return constrained_frontier(solver, wanted, verified=verified)
    inside = wanted[(wanted > 0) & (wanted < most)]
    total = _everybody(market)
    last = Supports(
        *(np.array([value]) for value in (most, 0.0, total * (1.0 - ROUNDING.value), total * (1.0 + ROUNDING.value)))
    )
    sums = power_sums(market) if inside.size else None
    tangents = Tangents(market, verified=verified)
    if sums is not None:
        supports, value, price = _in_closed_form(tangents, sums, inside, last)
        method = _IN_CLOSED_FORM
    else:
        supports = refine(tangents, inside, last, gap) if inside.size else last
        value, price = _interpolate(supports, inside)
        method = _BY_CHORDS + (_VERIFIED if verified else _UNVERIFIED) if inside.size else _IN_CLOSED_FORM
    lower, upper = supports.bounds(wanted)
    privacy, prices = np.where(wanted > 0, total, 0.0), np.where(wanted > 0, 0.0, np.inf)
    at = (wanted > 0) & (wanted < most)
    privacy[at], prices[at] = value, price
    privacy = np.clip(privacy, lower, upper)
    status = tuple(
        Status.ZERO_BUDGET if budget == 0 else Status.BINDING if budget < most else Status.SLACK
        for budget in wanted.tolist()
    )
    return Frontier(wanted, privacy, prices, np.minimum(wanted, most), lower, upper, method, supports, status)


def _everybody(market: Market) -> float:
    """Σ m_i ε_i, rounded once."""
    return exact_dot(market.epsilon, np.broadcast_to(weights(market), market.epsilon.shape))


def _in_closed_form(
    tangents: Tangents, sums: PowerSums, budgets: Floats, last: Supports
) -> tuple[Supports, Floats, Floats]:
    """Return V and λ at every budget; solve alone where rounding shows."""
    budgets_in_reach = np.minimum(budgets, np.nextafter(sums.spend(sums.corners[-1:])[0][0], 0.0))
    x, found = price_of_each(sums, budgets_in_reach)
    price = 1.0 / x
    value = found.privacy + price * (budgets - found.spend)
    points = Supports(
        found.spend + found.spend_error,
        price,
        found.privacy - found.privacy_error,
        found.privacy + found.privacy_error + price * 2.0 * found.spend_error,
    )
    supports = points.join(last)
    lower, upper = supports.bounds(budgets)
    rough = np.flatnonzero(~(upper - lower <= FRONTIER_EXACT.value * upper))
    if rough.size:
        again = solve_each(tangents, budgets[rough])
        supports = supports.join(again)
        value[rough] = again.reached
        price[rough] = again.price
    return supports, value, price


def _interpolate(supports: Supports, budgets: Floats) -> tuple[Floats, Floats]:
    """Interpolate V and λ between points: cubic (Hermite), λ held monotone."""
    S, V, slope = supports.spend, supports.reached, supports.price
    right = (
        np.clip(np.searchsorted(S, budgets, side="left"), 1, max(S.size - 1, 1))
        if S.size > 1
        else np.zeros(budgets.shape, dtype=np.intp)
    )
    left = np.maximum(right - 1, 0)
    h = S[right] - S[left]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(h > 0, np.clip((budgets - S[left]) / h, 0.0, 1.0), 0.0)
        chord = np.where(h > 0, (V[right] - V[left]) / h, slope[right])
    a, b = slope[left] - chord, slope[right] - chord
    value = V[left] + h * t * (chord + (1.0 - t) * (a * (1.0 - t) - b * t))
    price = chord + a * (1.0 - t) * (1.0 - 3.0 * t) + b * t * (3.0 * t - 2.0)
    return value, np.clip(price, np.minimum(slope[right], slope[left]), np.maximum(slope[right], slope[left]))
