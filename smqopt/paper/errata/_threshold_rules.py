"""E17: threshold rules are feasible, and optimal for regular laws only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.market import Market
from smqopt.mechanism import Types, best_mechanism
from smqopt.numeric import MECHANISM_LP, Floats
from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.solvers import solve
from smqopt.valuation import PiecewiseUniform, Uniform, Valuation, flat_pieces
from smqopt.verification import verify

Optimum = Callable[[Valuation, float], float]
"""From the law of one owner with ε = 1 and a budget to the largest acceptance that any mechanism
buys."""

TYPES = 24


def best_threshold(law: Valuation, budget: float) -> float:
    """Return F(θ) at the largest threshold with θ F(θ) ≤ B, by bisection."""
    low, high = float(np.min(law.low)), float(np.max(law.high))
    middle = 0.5 * (low + high)
    while low < middle < high:
        low, high = (middle, high) if middle * float(law.cdf(middle)) <= budget else (low, middle)
        middle = 0.5 * (low + high)
    return float(law.cdf(low))


def best_lottery(law: Valuation, budget: float) -> float:
    """Solve with lotteries where J falls; certified by the dual bound."""
    solution = solve(Market([1.0], law), budget)
    return solution.purchased_privacy if verify(solution).valid else np.nan


def best_of_all(law: Valuation, budget: float, types: Floats) -> tuple[float, float]:
    """Solve OP1 for one owner of finitely many types, as a linear program.

    Parameters
    ----------
    law
        The owner of type t_k stands for all with θ in (t_{k−1}, t_k].
    budget
        B.
    types
        t_1 < … < t_m, the last at the upper end of the support; shape (m,).

    Returns
    -------
    tuple
        The largest expected acceptance; and the expected payment minus Σ_k f_k J_k Q_k, with J_k
        the virtual cost of type k: 0 by the payment identity, where the budget binds.
    """
    cdf = law.cdf(types)
    mass = np.diff(cdf, prepend=0.0)
    found = best_mechanism([Types(types, mass)], np.ones(1), np.ones(1), budget)
    Q, P = found.allocation[0], found.payment[0]
    weighted = np.diff(types * cdf, prepend=0.0)  # f_k J_k
    return found.value, float(mass @ P - weighted @ Q)


def _trial(optimum: Optimum) -> Finding:
    told = []
    for name, law, budget, types in _cases():
        claimed = optimum(law, budget)
        found, residual = best_of_all(law, budget, types)
        told.append(f"{name}: {claimed:.6f} claimed, the best of all mechanisms buys {found:.6f}")
        if not abs(claimed - found) <= MECHANISM_LP.value or abs(residual) > MECHANISM_LP.value:
            return Finding(False, told[-1])
    return Finding(True, "; ".join(told))


def _cases() -> list[tuple[str, Valuation, float, Floats]]:
    """Choose types that hold the thresholds which the optimum uses."""
    regular = Uniform(0, 1)
    grid = np.linspace(0.0, 1.0, TYPES + 1)[1:]
    irregular = PiecewiseUniform([0.0, 1.0, 2.0], [1.0, 4.0])  # J rises to 2 at θ = 1, and starts again from 1.25
    piece = flat_pieces(irregular)
    ends = np.array([piece.low[0], piece.high[0]])
    middle = float(np.mean(ends * irregular.cdf(ends)))
    types = np.unique(np.concatenate([2.0 * grid, ends]))
    return [
        ("Uniform(0, 1)", regular, float(grid[11] * regular.cdf(grid[11])), grid),
        ("an irregular histogram", irregular, middle, types),
    ]


THRESHOLD_RULES = Entry(
    "E17",
    "Lemma 3, Theorem 1",
    Claim("feasible threshold rules are optimal for OP1", best_threshold),
    Claim(
        "the printed proof shows feasibility; optimality needs the payment identity and a non-decreasing J; else lotteries do better",
        best_lottery,
    ),
    _trial,
)
