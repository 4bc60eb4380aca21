"""The budget price λ: what it is, and what it says."""

from __future__ import annotations

import math

import numpy as np

from smqopt.document import Section, shown, shown_latex, shown_share, supported_digits
from smqopt.market import PurchasedPrivacy, Solution, Status, state, under_each_law
from smqopt.numeric import PRICE
from smqopt.report._of_op2 import is_in_doubt

_DUAL_PRICE = r"\max_p \sum_s \{ a_{is} - (\lambda_s + s_{is}) \, p \} \, F_{is}(p)"
"""What an owner's prices make largest under laws in doubt."""


def drawn_from(solution: Solution) -> str:
    """Say from how many thresholds an offer is drawn."""
    return "two" if solution.lottery is None or solution.lottery.prices.shape[1] == 2 else "several"


def budget_price_section(solution: Solution, *, brief: bool = False) -> Section:
    """Tell the status, λ, and how the owners fall between no offer and a sure sale.

    In brief it leaves what λ is to the argument that holds for every law.
    """
    market = solution.market
    weights = market.weights.astype(np.int64)
    sure = solution.acceptance >= 1
    price = solution.budget_price
    drawn = np.zeros(market.n, dtype=np.bool_)
    if solution.lottery is not None:
        drawn[solution.lottery.owner] = True
    plain = isinstance(solution.objective, PurchasedPrivacy)
    doubt = is_in_doubt(solution)
    most = max(one.solution.total_spend for one in under_each_law(solution))
    pooled = bool(solution.records) and not doubt and state(market, solution.records).blocks is not None
    constrained = bool(solution.constraints) and not pooled
    groups = [
        ("No offer", ~solution.offered & ~drawn),
        ("Offer that some accept", solution.offered & ~sure & ~drawn),
        ("Offer that all accept", sure & ~drawn),
    ]
    if solution.lottery is not None:
        groups.append((f"Offer drawn from {drawn_from(solution)} thresholds", drawn))
    return Section(
        "budget-price",
        "The shadow price of the budget",
        "budget_price.html",
        {
            "brief": brief,
            "is_plain_objective": plain,
            "is_constrained": constrained,
            "shares_prices": pooled,
            "in_doubt": doubt,
            "condition": _DUAL_PRICE if doubt else _condition(plain=plain, constrained=constrained),
            "status": solution.status.name.replace("_", " ").lower(),
            "explanation": str(solution.status),
            "price": shown_latex(price, supported_digits(price, PRICE.value * price)),
            "price_text": shown(price, 4),
            "is_binding": solution.status is Status.BINDING and math.isfinite(price),
            "spend": shown(most, 12),
            "budget": shown(solution.budget, 12),
            "left": shown(max(solution.budget - most, 0.0), 3),
            "groups": [
                (name, shown(int(weights[who].sum())), shown_share(int(weights[who].sum()), market.population))
                for name, who in groups
            ],
            "population": shown(market.population),
        },
    )


def _condition(*, plain: bool, constrained: bool) -> str:
    """Write the optimality condition of one owner (KKT)."""
    utility = r"\varepsilon_i" if plain else r"\varphi_i'(F_i(\theta_i^*))"
    cost = r"a_i - (\lambda + s_i) J_i(\theta_i^*)" if constrained else r"\lambda J_i(\theta_i^*)"
    return rf"{utility} - {cost} + \mu_i - \gamma_i = 0, \qquad \mu_i, \gamma_i \ge 0"
