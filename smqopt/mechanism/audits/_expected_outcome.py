"""What owners sell and are paid in expectation, when they are truthful."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import ROUNDING, Floats
from smqopt.valuation import Valuation

PANELS = 64
"""Even pieces of an interval that a quadrature is made on, and as many of even probability: so
steps of F, steep or true ones, lie at the ends of pieces, where no quadrature looks past them."""
NODES = (8, 12)
"""Gauss–Legendre nodes on each; the two answers' differences are the error that is stated."""


@dataclass(frozen=True, eq=False)
class ExpectedOutcome:
    """Expectations of N owners, shape (N,) each."""

    sale: Floats
    """E Q(θ)."""
    payment: Floats
    """E P(θ), in currency."""
    error: Floats
    """How far the payment may be off: rounding, and where a payment depends on the report the
    difference of two quadratures."""


def expected_outcome(responses: Responses, law: Valuation) -> ExpectedOutcome:
    """Return E Q(θ) and E P(θ) for θ ~ F_i.

    Sums of F at the knots, and of ∫ θ dF = [θ F] − ∫ F dθ over pieces on which payments depend on
    the report.

    Parameters
    ----------
    responses
        Of N owners.
    law
        Common, or one an owner.
    """
    n, k = responses.knots.shape
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (n,)) for end in (law.low, law.high))
    ends = np.column_stack([low, np.clip(responses.knots, low[:, np.newaxis], high[:, np.newaxis]), high])
    mass_below = np.column_stack(
        [np.zeros(n), *(_mass_up_to(law, responses.knots[:, j], low, high) for j in range(k)), np.ones(n)]
    )
    mass = np.maximum(np.diff(mass_below, axis=1), 0.0)  # each piece with the knot at its upper end
    sale, paid = responses.sale * mass, responses.payment * mass
    size, error = np.abs(paid), np.zeros(n)
    for j in np.flatnonzero(np.any(responses.slope != 0, axis=0)).tolist():
        between = ends[:, j + 1] * mass_below[:, j + 1] - ends[:, j] * mass_below[:, j]
        area, doubt = _area(law, ends[:, j], ends[:, j + 1])
        rising = responses.slope[:, j]
        paid[:, j] += rising * (between - area)
        size[:, j] += np.abs(rising) * (np.abs(between) + area)
        error += np.abs(rising) * doubt
    for j in range(k):
        knot = responses.knots[:, j]
        inside = knot < np.inf
        at = np.where(inside, knot, 0.0)
        below = responses.payment[:, j] + responses.slope[:, j] * at
        more, dearer = responses.sale_at[:, j] - responses.sale[:, j], responses.payment_at[:, j] - below
        special = inside & ((more != 0) | (dearer != 0))
        if special.any():
            atom = mass_below[:, j + 1] - _mass_up_to(law, np.nextafter(at, -np.inf), low, high)
            sale[:, j] += np.where(special, more * atom, 0.0)
            paid[:, j] += np.where(special, dearer * atom, 0.0)
    return ExpectedOutcome(sale.sum(axis=1), paid.sum(axis=1), error + ROUNDING.value * size.sum(axis=1))


def _mass_up_to(law: Valuation, theta: Floats, low: Floats, high: Floats) -> Floats:
    """Return F(θ) for any θ, +∞ included."""
    F = law.cdf(np.clip(theta, low, high))
    return np.where(theta < low, 0.0, np.where(theta >= high, 1.0, F))


def _area(law: Valuation, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ∫ F dθ from a to b, and the differences of two quadratures; (N,) each.

    Pieces are compared one by one: over all of them differences could cancel.
    """
    even = np.linspace(0.0, 1.0, PANELS + 1)[:, np.newaxis]
    steep = np.array([np.broadcast_to(law.ppf(np.full(law.size or 1, q)), a.shape) for q in even[:, 0].tolist()])
    ends = np.sort(np.concatenate([a + (b - a) * even, np.clip(steep, a, b)]), axis=0)
    area, doubt = np.zeros(a.shape), np.zeros(a.shape)
    rules = [np.polynomial.legendre.leggauss(nodes) for nodes in NODES]
    for left, width in zip(ends[:-1], np.diff(ends, axis=0), strict=True):
        if not np.any(width):
            continue
        coarse, fine = (
            sum(0.5 * w * width * law.cdf(left + width * (0.5 * (x + 1.0))) for x, w in zip(*rule, strict=True))
            for rule in rules
        )
        area += fine
        doubt += np.abs(fine - coarse)
    return area, doubt
