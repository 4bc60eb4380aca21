"""What the optimum gains from budget, requirements or parameters, from λ.

By the envelope theorem only the direct effect counts: with L = Σ m_i (ε_i q_i − λ C_i(q_i)) + λB at
the optimal q,

    dV/dB = λ,   dV/dε_i = m_i q_i,   dV/da = −λ Σ m_i ∂C_i(q_i)/∂a,   ∂C/∂a = q ∂F⁻¹(q)/∂a = −q
    (∂F/∂a)/f.

An acceptance inside a flat piece of an ironed cost curve costs what its lottery does, whose chances
and acceptances may be held fixed too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.errors import check_kind
from smqopt.market import Solution, require_one_law
from smqopt.numeric import Floats
from smqopt.questions.payment._posted_offers import offers_of, require_purchased_privacy
from smqopt.questions.robustness._quantile_slopes import quantile_slopes
from smqopt.valuation import Index


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
    """Derivatives of the most purchased privacy V, at the optimum of a solution.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.sensitivity(smq.solve(market, 0.5))
    >>> round(found.budget, 3), found.epsilon.round(3).tolist()
    (0.803, [0.125, 0.311, 0.623])
    """

    budget: float
    """dV/dB = λ, privacy per unit of currency."""
    epsilon: Floats
    """dV/dε_i = m_i q_i, shape (n,); where ε_i = 0, of a rise."""
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
    """Return the derivatives of the optimum V(B; ε, law) in closed form from λ.

    They hold where V is differentiable; at a corner they are one of its slopes. The solution is
    taken to be optimal: certify it first.

    Parameters
    ----------
    solution
        An optimal solution of OP2, without side constraints.

    Raises
    ------
    InputError
        If the solution is one for another objective than purchased privacy.

    Returns
    -------
    Sensitivity
        At a zero budget, where λ is +∞ and V is 0 whatever the law, derivatives for parameters are
        0.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([1.0, 2.0], smq.Uniform(0, 3))
    >>> found = sensitivity(smq.solve(market, 1.0))
    >>> found.epsilon.round(4).tolist(), round(found.parameter("high").total, 4)
    ([0.2582, 0.5164], -0.2152)
    """
    check_kind(solution, Solution, "sensitivity: argument 'solution'", "a Solution", "give what `solve` returns")
    require_purchased_privacy(solution, "sensitivity")
    require_one_law(solution.market, "sensitivity: argument 'solution'")
    market = solution.market
    counts, offers = market.weights, offers_of(solution)
    sells = offers.chance * offers.acceptance
    price = solution.budget_price if np.isfinite(solution.budget_price) else 0.0
    found = []
    for law, owners in market.valuation.parts():
        rows = np.arange(market.n)[owners]
        place = np.full(market.n, -1, dtype=np.intp)
        place[rows] = np.arange(rows.size)
        here = np.flatnonzero(place[offers.row] >= 0)
        rows_of_part = place[offers.row[here]]
        own = law.take(rows_of_part) if law.size is not None else law
        for name in law.parameters:
            slopes, method = quantile_slopes(own, name, offers.threshold[here], offers.acceptance[here])
            moved = -price * counts[rows[rows_of_part]] * sells[here] * slopes
            value = np.bincount(rows_of_part, weights=moved, minlength=rows.size).astype(np.float64)
            found.append(ParameterSensitivity(law.name, name, owners, value, method))
    return Sensitivity(solution.budget_price, counts * solution.acceptance, tuple(found))
