"""What a law knows of its hazard rate f/(1 − F) by its parameters.

A log-concave density has a log-concave survival function (Bagnoli and Bergstrom 2005), and so a
hazard rate that rises; a density that does not fall has one too. A density that is infinite at the
low end and finite inside has a hazard rate that falls there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smqopt.valuation.law._protocol import Law
from smqopt.valuation.law._verdict import Hazard

LOG_CONCAVE = "the density is log-concave, truncated or not, and so is 1 − F"
INFINITE = "the density is infinite at low and finite inside"
HALVINGS = 60
"""Points are tried at low + width/2^k for so many k."""


@dataclass(frozen=True)
class HazardRule:
    """Where the hazard rate is known to rise, and to fall.

    A bool each, or one an owner.
    """

    rises: Any
    reason: str
    falls: Any = False
    why_it_falls: str = INFINITE


def decide_by_rule(law: Law, rule: HazardRule | None) -> Hazard:
    """Decide the hazard rate by a rule, or by the formula where it leaves a gap."""
    if rule is None:
        return decide_by_formula(law)
    rises, falls = (np.broadcast_to(np.asarray(said, dtype=bool), law.size or 1) for said in (rule.rises, rule.falls))
    if np.any(falls):
        return _show_fall(law, int(np.flatnonzero(falls)[0]), rule.why_it_falls)
    if np.all(rises):
        return Hazard(True, rule.reason)
    unknown = int(np.flatnonzero(~rises)[0])
    one = law if law.size is None else law.take(np.array([unknown]))
    if one.formula:
        return decide_by_formula(law)
    reason = "no rule covers these parameters, and the law has no formula"
    return Hazard(None, reason, owner=None if law.size is None else unknown)


def decide_by_formula(law: Law) -> Hazard:
    """Decide the hazard rate by the law's formula, where it has one."""
    from smqopt.valuation.monotonicity._hazard_rate import decide_hazard_of_formula  # noqa: PLC0415 (loads sympy)

    first = None if law.size is None else 0
    if np.any(np.asarray(law.low) == law.high) or np.any(np.asarray(law.cdf(law.low)) > 0):
        return Hazard(None, "a law of atoms has no hazard rate", owner=first)
    if law.formula:
        return decide_hazard_of_formula(law)
    return Hazard(None, "the law has no formula, and sampling alone proves nothing", owner=first)


def _show_fall(law: Law, owner: int, reason: str) -> Hazard:
    """Show a known fall by two doubles near low, of those tried.

    The two between which h falls most.
    """
    one = law if law.size is None else law.take(np.array([owner]))
    low, high = (float(np.ravel(end)[0]) for end in (one.low, one.high))
    theta = np.unique(low + (high - low) * 2.0 ** -np.arange(1.0, HALVINGS))
    theta = theta[theta > low]
    h = np.array([float(np.ravel(one.pdf(t) * np.exp(-np.asarray(one.log_survival(t))))[0]) for t in theta])
    last = int(np.argmax(np.maximum.accumulate(h) / h))
    first = int(np.argmax(h[: last + 1]))
    whose = None if law.size is None else owner
    if not h[first] > h[last]:
        return Hazard(None, f"{reason}, but no two doubles show it", owner=whose)
    return Hazard(False, reason, (float(theta[first]), float(theta[last])), (float(h[first]), float(h[last])), whose)
