"""What the optimum gains from budget, requirements or parameters.

By the envelope theorem only the direct effect counts. With x_i(p) the chance that p is posted, y
the multipliers of the rows A q + S b ≤ r, c_i = m_i φ_i′(q_i) − (Aᵀy)_i and d_i = λ m_i + (Sᵀy)_i,

    dV/dB = λ,   dV/dε_i = m_i ∂φ_i/∂ε_i,   dV/da = Σ_i Σ_p x_i(p) (c_i − d_i p) ∂F_i(p)/∂a.

Where a price inside a support may move, (c − d p) f = d F: that is −d q ∂F⁻¹(q)/∂a, which holds at
a bound of acceptance too. An acceptance inside a flat piece of an ironed cost curve costs what its
lottery does, whose chances and acceptances may be held fixed too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.errors import InputError, check_kind
from smqopt.market import (
    AllowedPrices,
    InCvxpy,
    Market,
    MeanSquaredError,
    Solution,
    Statement,
    Status,
    WorstCaseError,
    at_budget,
    expansion_of,
    needs_expansion,
    require_one_law,
    state,
    unfold,
)
from smqopt.numeric import Floats, Indices, Mask
from smqopt.questions.payment._posted_offers import OffersMade, offers_of
from smqopt.questions.robustness._quantile_slopes import cdf_slopes, quantile_slopes
from smqopt.valuation import Index

_AT_LIMIT = 2.0**-36
"""Prices and acceptances so near to a limit, relatively, are at it."""


@dataclass(frozen=True, eq=False)
class ParameterSensitivity:
    """dV/da for one parameter of one family of laws."""

    law: str
    """The family's name."""
    parameter: str
    owners: Index
    """Whose law it is: rows of the market."""
    by_owner: Floats
    """What each row contributes, in units of ε per unit of the parameter: dV/da_i where each owner
    has her own."""
    method: str
    """"closed form", or by differences of F."""

    @property
    def total(self) -> float:
        """dV/da where the parameter is common to these owners."""
        return float(np.sum(self.by_owner))


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of the optimum V, at that of a solution.

    In the direction of maximising: of what is minimised they say by how much it falls.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.sensitivity(smq.solve(market, 0.5))
    >>> round(found.budget, 3), found.epsilon.round(3).tolist()
    (0.803, [0.125, 0.311, 0.623])
    """

    budget: float
    """dV/dB = λ, per unit of currency."""
    epsilon: Floats
    """dV/dε_i, of purchased privacy m_i q_i, shape (n,); where ε_i = 0, of a rise."""
    parameters: tuple[ParameterSensitivity, ...]
    """dV/da for the numeric parameters of each family of laws; families without parameters are left
    out."""

    def parameter(self, name: str) -> ParameterSensitivity:
        """Return dV/da of the one parameter of this name.

        Raises
        ------
        KeyError
            If there is none, or more than one family has it.
        """
        found = [one for one in self.parameters if one.parameter == name]
        if len(found) != 1:
            raise KeyError(f"{len(found)} families of laws have a parameter {name!r}; look through `parameters`")
        return found[0]


def sensitivity(solution: Solution) -> Sensitivity:
    """Return the derivatives of the optimum V(B; ε, law) in closed form.

    They hold where V is differentiable; at a corner they are one of its slopes. The solution is
    taken to be optimal: certify it first.

    Parameters
    ----------
    solution
        An optimal solution, under one law and any constraint records; of any objective record but
        of an error.

    Returns
    -------
    Sensitivity
        At a zero budget, where λ is +∞ and V is 0 whatever the law, derivatives for parameters are
        0. They are NaN where the law does not say how F moves, and for an owner whose one price and
        acceptance are both at their limits, which share a multiplier.

    Raises
    ------
    InputError
        If the solution is infeasible, of laws in doubt, is one for an error, or has an objective in
        cvxpy.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([1.0, 2.0], smq.Uniform(0, 3))
    >>> found = sensitivity(smq.solve(market, 1.0))
    >>> found.epsilon.round(4).tolist(), round(found.parameter("high").total, 4)
    ([0.2582, 0.5164], -0.2152)
    """
    check_kind(solution, Solution, "sensitivity: argument 'solution'", "a Solution", "give what `solve` returns")
    require_one_law(solution.market, "sensitivity: argument 'solution'")
    _refuse_without_slopes(solution)
    market, own = _as_ordinary(solution)
    offers, limits = offers_of(solution), _limits_of(own, market.n)
    held = limits.at_limits(offers.row, offers.threshold)
    c = _where_both_bind(limits, offers, held)
    found = []
    for law, owners in market.valuation.parts():
        rows = np.arange(market.n)[owners]
        place = np.full(market.n, -1, dtype=np.intp)
        place[rows] = np.arange(rows.size)
        here = np.flatnonzero(place[offers.row] >= 0)
        of = offers.row[here]
        theta, chance, q = offers.threshold[here], offers.chance[here], offers.acceptance[here]
        own_law = law.take(place[of]) if law.size is not None else law
        for name in law.parameters:
            slopes, method = quantile_slopes(own_law, name, theta, q)
            moved = -limits.d[of] * chance * q * slopes
            fixed = np.flatnonzero(held[here])
            if fixed.size:
                few = law.take(place[of[fixed]]) if law.size is not None else law
                net = c[of[fixed]] - limits.d[of[fixed]] * theta[fixed]
                moved[fixed] = chance[fixed] * net * cdf_slopes(few, name, theta[fixed])
            moved = np.zeros(moved.size) if not np.isfinite(solution.budget_price) else moved
            value = np.bincount(place[of], weights=moved, minlength=rows.size).astype(np.float64)
            found.append(ParameterSensitivity(law.name, name, owners, value, method))
    return Sensitivity(solution.budget_price, _by_requirement(solution, own), tuple(found))


def _refuse_without_slopes(solution: Solution) -> None:
    where = "sensitivity: argument 'solution'"
    if isinstance(solution.objective, WorstCaseError | InCvxpy):
        why = "must have posted prices and an objective record"
        raise InputError(where, why, value=solution.objective.kind, remedy="its budget_price is dV/dB")
    if isinstance(solution.objective, MeanSquaredError):
        why = "is one of several purchases that bound an error, and the multipliers of one of them are no slopes"
        raise InputError(where, why, value=solution.objective.kind, remedy="take differences along error_frontier")
    if solution.status is Status.INFEASIBLE:
        raise InputError(where, "is infeasible, and has no optimum", remedy="relax what its conflict names")


def _as_ordinary(solution: Solution) -> tuple[Market, tuple[Solution, Statement | None]]:
    """Return the market, and the ordinary program of a sum over owners."""
    aim, market = solution.objective, solution.market
    if needs_expansion(market, aim, solution.records):
        e = expansion_of(market, solution.budget, solution.records, aim)
        assert e is not None  # noqa: S101
        return market, (unfold(e, solution), at_budget(state(e.market, e.records), e.budget))
    return market, (solution, at_budget(state(market, solution.records), solution.budget) if solution.records else None)


def _by_requirement(solution: Solution, own: tuple[Solution, Statement | None]) -> Floats:
    """Return m_i ∂φ_i/∂ε_i, or what minima rise by; shape (n,)."""
    aim, market, q = solution.objective, solution.market, solution.acceptance
    if own[0] is solution:
        return market.weights * aim.slope_in_requirements(market, q)
    now, then = (
        aim.linear_form(Market(market.epsilon + more, market.valuation, groups=market.groups, multiplicity=counts))
        for counts in [market.multiplicity]
        for more in (0.0, 1.0)
    )
    risen, first = market.weights * (then.each - now.each) * q, 0
    for before, after in zip(now.least, then.least, strict=True):
        y = own[0].constraint_prices[first : first + before.forms.shape[0]]
        first += y.size
        risen = risen + np.asarray((after.forms - before.forms).T @ y) * q
    return risen


@dataclass(frozen=True, eq=False)
class _Limits:
    """What acceptance and money count at the optimum, and what is at its limits; (n,)."""

    c: Floats
    d: Floats
    open: Mask
    """Whether her acceptance is inside its bounds."""
    shared: Mask
    """Whether others have her price."""
    prices: AllowedPrices | None

    def at_limits(self, row: Indices, theta: Floats) -> Mask:
        """Say which posted prices stay as the law moves: listed, at limits, or shared."""
        if self.prices is None:
            return np.zeros(row.size, dtype=np.bool_)
        ends = [np.abs(theta - end[row]) <= _AT_LIMIT * theta for end in (self.prices.floor, self.prices.ceiling)]
        at_limit = (self.prices.number[row] >= 0) | ends[0] | ends[1]
        return at_limit | (self.shared[row] & self.open[row])


def _where_both_bind(limits: _Limits, offers: OffersMade, held: Mask) -> Floats:
    """Return c; where acceptance is at a bound too, from two offers that tie.

    NaN where there are no two, no offer being one.
    """
    c = limits.c.copy()
    for row in np.unique(offers.row[held & ~limits.open[offers.row]]).tolist():
        mine = np.flatnonzero(offers.row == row)
        p, F = offers.threshold[mine], offers.acceptance[mine]
        if np.sum(offers.chance[mine]) < 1.0 - _AT_LIMIT:
            p, F = np.append(0.0, p), np.append(0.0, F)
        paid = p * F
        c[row] = limits.d[row] * (paid[-1] - paid[0]) / (F[-1] - F[0]) if F[-1] > F[0] else np.nan
    return c


def _limits_of(own: tuple[Solution, Statement | None], n: int) -> _Limits:
    solution, form = own
    market, aim = solution.market, solution.objective
    price = solution.budget_price if np.isfinite(solution.budget_price) else 0.0
    m, q = market.weights, solution.acceptance
    with np.errstate(divide="ignore", over="ignore"):
        c, d = m * aim.utility(market).slope(q), price * m
    if form is None:
        yes = np.ones(n, dtype=np.bool_)
        return _Limits(c, d, yes, ~yes, None)
    taken, paid = (form.expand(each) for each in form.charge(price, solution.constraint_prices))
    inside = np.ones(market.n, dtype=np.bool_)
    for record in solution.records:
        for bounds in record.acceptance_bounds(market):
            at = q[bounds.owners]
            inside[bounds.owners] &= (at > np.multiply(bounds.least, 1.0 + _AT_LIMIT)) | (np.equal(bounds.least, 0.0))
            inside[bounds.owners] &= (at < np.multiply(bounds.most, 1.0 - _AT_LIMIT)) | (np.equal(bounds.most, 1.0))
    of_row = np.arange(market.n) if form.row_of_owner is None else form.row_of_owner
    shared = np.bincount(of_row)[of_row] > 1
    inside = (np.bincount(of_row, weights=~inside) == 0)[of_row]
    if form.blocks is not None:
        in_blocks = form.expand(form.blocks.of_row) >= 0  # bounds have rows there, with multipliers
        shared, inside = shared | in_blocks, inside | in_blocks
    return _Limits((c - m * taken)[:n], (m * paid)[:n], inside[:n], shared[:n], form.prices_of_use())
