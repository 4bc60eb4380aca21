"""E1: the regularity that OP2 needs is the buyer's, not the seller's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.paper.errata._entry import Claim, Entry, Finding
from smqopt.valuation import Irregular, Kumaraswamy, Power, Regular, Uniform, Valuation, from_cdf

Condition = Callable[[Valuation], bool]
"""A condition on a law that is claimed to make J non-decreasing."""

FORMULA = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"
"""The hazard rate rises everywhere; J′ = 3√(1 − cθ) − 1 < 0 for θ > 8/(9c)."""
GRID = np.linspace(0.0, 1.0, 2001)[1:-1]


def rising_hazard_rate(law: Valuation) -> bool:
    """Whether f/(1 − F) does not fall on the grid."""
    hazard = law.pdf(GRID) / (1.0 - law.cdf(GRID))
    return bool(np.all(np.diff(hazard) >= 0))


def log_concave(law: Valuation) -> bool:
    """Whether f/F does not rise on the grid."""
    reversed_hazard = law.pdf(GRID) / law.cdf(GRID)
    return bool(np.all(np.diff(reversed_hazard) <= 0))


def _trial(condition: Condition) -> Finding:
    laws = {
        "F with c = 0.99": from_cdf(FORMULA, low=0, high=1, c=0.99),
        "F with c = 0.85": from_cdf(FORMULA, low=0, high=1, c=0.85),
        "Uniform": Uniform(0, 1),
        "Power(2)": Power(2),
        "Kumaraswamy(2, 1/2)": Kumaraswamy(2, 0.5),
        "Kumaraswamy(2, 3)": Kumaraswamy(2, 3),
    }
    met = {name: law.regularity() for name, law in laws.items() if condition(law)}
    for name, verdict in met.items():
        if isinstance(verdict, Irregular):
            (a, b), (high, low) = verdict.witness, verdict.virtual_costs
            return Finding(False, f"{name} meets the condition, yet J({a:.4f}) = {high:.4f} > J({b:.4f}) = {low:.4f}")
    proved = [name for name, verdict in met.items() if isinstance(verdict, Regular)]
    holds = len(proved) == len(met) >= 2
    return Finding(holds, f"{len(met)} of {len(laws)} laws meet the condition; J is proved monotone for {len(proved)}")


REGULARITY = Entry(
    "E1",
    "(A2), Appendix D",
    Claim("a non-decreasing hazard rate f/(1 − F) makes J = θ + F/f increasing", rising_hazard_rate),
    Claim("J itself must be non-decreasing; a log-concave F suffices", log_concave),
    _trial,
)
