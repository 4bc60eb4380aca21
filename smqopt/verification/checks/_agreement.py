"""How far a solution is from another route, in thresholds."""

from __future__ import annotations

import math

import numpy as np

from smqopt.market import Solution
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._weak_duality import widths


def agreement_checks(solution: Solution, against: Solution | None) -> list[Check]:
    """Report distances to the raw answer and to another route's."""
    checks = []
    if solution.raw is not None:
        checks.append(_agreement(solution, solution.raw, f"{solution.raw.solver} before polishing"))
    if against is not None:
        checks.append(_agreement(solution.raw or solution, against.raw or against, against.solver))
    return checks


def _agreement(solution: Solution, other: Solution, name: str) -> Check:
    """Report the largest distance in θ over owners with an offer in either."""
    norm = f"largest |θ − θ({name})|, relative to the width of the support"
    if other.market.fingerprint != solution.market.fingerprint or other.budget != solution.budget:
        return Check(
            f"agreement with {name}",
            False,
            math.inf,
            math.inf,
            norm,
            note="another market or budget",
            required=False,
        )
    market = solution.market
    distance = np.abs(solution.thresholds - other.thresholds) / widths(market)
    matters = solution.objective.utility(market).wanted & ((solution.acceptance > 0) | (other.acceptance > 0))
    largest = float(np.max(distance, where=matters, initial=0.0))
    if other.objective != solution.objective:
        note = "another objective"
        return Check(f"agreement with {name}", False, math.inf, math.inf, norm, note=note, required=False)
    privacy = other.purchased_privacy - solution.purchased_privacy
    return Check(
        f"agreement with {name}",
        None,
        largest,
        math.inf,
        norm,
        note=f"purchased privacy differs by {privacy:.3g}",
        required=False,
    )
