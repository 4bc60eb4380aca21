"""What owners sell and are paid in expectation, when they are truthful."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import ROUNDING, Floats
from smqopt.valuation import Valuation

PANELS = 8
"""Pieces of an interval that a quadrature is made on."""
NODES = (16, 24)
"""Gauss–Legendre nodes on each; the two answers' difference is the error that is stated."""


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
    """Return ∫ F dθ from a to b, and the difference of two quadratures; (N,) each."""
    answers = []
    for nodes in NODES:
        x, weight = np.polynomial.legendre.leggauss(nodes)
        total = np.zeros(a.shape)
        for panel in range(PANELS):
            for place, w in zip((panel + 0.5 * (x + 1.0)).tolist(), weight.tolist(), strict=True):
                total += w * law.cdf(a + (b - a) * (place / PANELS))
        answers.append(total * 0.5 * (b - a) / PANELS)
    return answers[-1], np.abs(answers[-1] - answers[0])
