"""The paper's own condition (A2), a non-decreasing hazard rate f/(1 − F), decided for any law as regularity is: never by sampling.

It is the seller's condition, and neither implies regularity nor follows from it (errata E1); it is
reported, and decides nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from smqopt.valuation.composition._by_owner import ByOwner
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.composition._truncated import TruncatedLaw
from smqopt.valuation.copula._conditional import CopulaConditional
from smqopt.valuation.copula._hazard import decide_copula_hazard
from smqopt.valuation.estimation._from_samples import SampleLaw
from smqopt.valuation.from_formula._formula_law import FormulaLaw
from smqopt.valuation.law._base import Rescaled, Valuation
from smqopt.valuation.law._verdict import Hazard
from smqopt.valuation.monotonicity._hazard_rate import decide_hazard_of_formula
from smqopt.valuation.monotonicity._hazard_rules import hazard_rule, scipy_density_is_log_concave
from smqopt.valuation.scipy_laws._from_scipy import ScipyLaw
from smqopt.valuation.tabular._piecewise_uniform import PiecewiseUniform

HALVINGS = 60
"""Points are tried at low + width/2^k for so many k."""


def decide_hazard(law: Valuation) -> Hazard:
    """Decide whether the hazard rate of a law is non-decreasing on its whole support (A2).

    Parameters
    ----------
    law
        Any law.

    Returns
    -------
    Hazard
        The worst over the owners, and the first owner it holds for.
    """
    match law:
        case ByOwner():
            return _worst(law)
        case Rescaled():
            return _scaled(decide_hazard(law._law), law._factor)
        case SampleLaw():
            return decide_hazard(law.histogram)
        case PiecewiseUniform():
            return _of_histogram(law)
        case CopulaConditional():
            return decide_copula_hazard(law)
        case ScipyLaw():
            return _of_scipy(law)
        case TruncatedLaw():
            return _truncated(law)
        case Mixture() if len(law.laws) == 1:
            return decide_hazard(law.laws[0])
        case FormulaLaw():
            unit = np.broadcast_to(np.asarray(law.unit), law.size or 1)
            found = decide_hazard_of_formula(law._with(**{**law._values, "unit": 1.0}))
            return _scaled(found, float(unit[found.owner or 0]))
    return _by_rule(law) or _by_formula(law)


def _worst(law: ByOwner) -> Hazard:
    undecided: Hazard | None = None
    methods: list[str] = []
    for part, owners in law.parts():
        found = decide_hazard(part)
        first = int(np.arange(law.size or 1)[owners][found.owner or 0])
        if found.monotone is False:
            return Hazard(False, f"{part.name}: {found.method}", found.witness, found.hazards, first)
        if found.monotone is None:
            undecided = undecided or Hazard(None, f"{part.name}: {found.method}", owner=first)
        else:
            methods.append(f"{part.name}: {found.method}")
    return undecided or Hazard(True, "; ".join(methods))


def _scaled(found: Hazard, factor: float) -> Hazard:
    if found.witness is None or found.hazards is None:
        return found
    (a, b), (at_a, at_b) = found.witness, found.hazards
    return Hazard(found.monotone, found.method, (factor * a, factor * b), (at_a / factor, at_b / factor), found.owner)


def _of_histogram(law: PiecewiseUniform) -> Hazard:
    """On a piece h = f/(1 − F) rises, for f is constant and F rises; at an edge it jumps as f does (exact comparison)."""
    filled = np.flatnonzero(law.masses > 0)
    edges = [Fraction(edge) for edge in law.edges[filled[0] : filled[-1] + 2].tolist()]
    masses = [Fraction(mass) for mass in law.masses[filled[0] : filled[-1] + 1].tolist()]
    density = [mass / (b - a) for mass, (a, b) in zip(masses, pairwise(edges), strict=True)]
    falls = [k for k in range(1, len(density)) if density[k] < density[k - 1]]
    if not falls:
        return Hazard(True, "the density is non-decreasing from piece to piece (exact comparison)")
    k = falls[0]
    at = float(edges[k])
    first = math.nextafter(at, -math.inf)
    above = sum(masses[k:], Fraction(0))
    hazards = density[k - 1] / (above + density[k - 1] * (edges[k] - Fraction(first))), density[k] / above
    reason = "the density falls from one piece to the next (exact comparison)"
    if not hazards[0] > hazards[1]:
        return Hazard(None, f"{reason}, but no two doubles show it")
    return Hazard(False, reason, (first, at), (float(hazards[0]), float(hazards[1])))


def _of_scipy(law: ScipyLaw) -> Hazard:
    name, shapes = law._source.name_and_shapes()
    if scipy_density_is_log_concave(name, shapes):
        return Hazard(True, f"the density of scipy's {name} is log-concave, truncated or not")
    return Hazard(None, f"nothing is known of scipy's {law._source.shown()} but its values")


def _truncated(law: TruncatedLaw) -> Hazard:
    """Cut from below h is what it was; cut from above, its logarithmic slope f′/f + f/(F(high) − F) only grows."""
    whole = decide_hazard(law.law)
    return Hazard(True, f"truncation keeps it: {whole.method}") if whole.monotone else _by_formula(law)


def _by_formula(law: Valuation) -> Hazard:
    if np.any(np.asarray(law.low) == law.high) or np.any(np.asarray(law.cdf(law.low)) > 0):
        return Hazard(None, "a law of atoms has no hazard rate", owner=None if law.size is None else 0)
    if law.formula:
        return decide_hazard_of_formula(law)
    return Hazard(
        None, "the law gives no formula, and sampling alone proves nothing", owner=None if law.size is None else 0
    )


def _by_rule(law: Valuation) -> Hazard | None:
    known = hazard_rule(law)
    if known is None:
        return None
    rule, rises, falls = known
    if np.any(falls):
        return _fall(law, int(np.flatnonzero(falls)[0]), rule.why_it_falls)
    if np.all(rises):
        return Hazard(True, rule.reason)
    unknown = int(np.flatnonzero(~rises)[0])
    one = law if law.size is None else law.take(np.array([unknown]))
    if one.formula:
        return decide_hazard_of_formula(law)
    return Hazard(
        None,
        "no rule covers these parameters, and the law gives no formula",
        owner=None if law.size is None else unknown,
    )


def _fall(law: Valuation, owner: int, reason: str) -> Hazard:
    """Show a fall that is known by the two doubles near low, of those tried, between which h falls most."""
    one = law if law.size is None else law.take(np.array([owner]))
    low, width = float(np.ravel(one.low)[0]), float(np.ravel(one.width)[0])
    theta = np.unique(low + width * 2.0 ** -np.arange(1.0, HALVINGS))
    theta = theta[theta > low]
    h = np.array([float(np.ravel(one.pdf(t) * np.exp(-np.asarray(one.log_survival(t))))[0]) for t in theta])
    last = int(np.argmax(np.maximum.accumulate(h) / h))
    first = int(np.argmax(h[: last + 1]))
    whose = None if law.size is None else owner
    if not h[first] > h[last]:
        return Hazard(None, f"{reason}, but no two doubles show it", owner=whose)
    return Hazard(False, reason, (float(theta[first]), float(theta[last])), (float(h[first]), float(h[last])), whose)
