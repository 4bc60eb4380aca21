"""F8: the best weights of the linear release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smqopt.numeric import Floats
from smqopt.paper.errata._entry import Claim, Entry, Finding

Weights = Callable[[Floats, Floats, float], Floats]
"""From w, ε and t > 0 to weights a; t is to be chosen."""

VARIANCE, WIDTH = 0.25, 1.0
CASES = (
    (np.ones(4), np.array([1.0, 4.0, 10.0, 30.0])),
    (np.array([0.1, 2.0, 0.1, 2.0]), np.array([10.0, 10.0, 2.0, 30.0])),
    (np.array([1.0, 2.0, 3.0, -0.5]), np.array([5.0, 20.0, 10.0, 10.0])),
)
CHOICES = np.geomspace(0.05, 50.0, 701)
CLOSE = 3e-4
"""Relative: what the grid of t leaves open."""


def lower_of_both(w: Floats, epsilon: Floats, t: float) -> Floats:  # noqa: ARG001
    """Return min(ε_i, t)."""
    return np.minimum(epsilon, t)


def clip(w: Floats, epsilon: Floats, t: float) -> Floats:
    """Return clip(τ + w_i A/W, 0, ε_i), A/W = t, at the τ where the weights sum to A."""
    A, low, high = t * w.sum(), -t * float(np.abs(w).max()), t * float(np.abs(w).max()) + float(epsilon.max())
    for _ in range(60):
        tau = (low + high) / 2.0
        low, high = (tau, high) if np.clip(tau + w * t, 0.0, epsilon).sum() < A else (low, tau)
    return np.clip(high + w * t, 0.0, epsilon)


def error(w: Floats, a: Floats) -> float:
    """Return σ² Σ (W a_i/A − w_i)² + 2 W² R²/A², everybody bought."""
    A, W = float(a.sum()), float(w.sum())
    off = W * a / A - w
    return VARIANCE * float(off @ off) + 2.0 * (W * WIDTH / A) ** 2 if A > 0 else np.inf


def _trial(weights: Weights) -> Finding:
    """Let each weight move by itself.

    In a/A and 1/A the error is convex: what no move betters is least.
    """
    for w, epsilon in CASES:
        a = min((weights(w, epsilon, float(t)) for t in CHOICES), key=lambda one: error(w, one))
        best = error(w, a)
        for i in range(w.size):
            for other in np.linspace(0.0, epsilon[i], 101).tolist():
                moved = a.copy()
                moved[i] = other
                if error(w, moved) < best * (1.0 - CLOSE):
                    return Finding(
                        False, f"w = {w.tolist()}, ε = {epsilon.tolist()}: {error(w, moved):.6g} after {best:.6g}"
                    )
    return Finding(True, f"no weight betters it alone, in {len(CASES)} cases")


LINEAR_WEIGHTS = Entry(
    "F8",
    "the linear release",
    Claim("weights min(ε_i, τ) err least for every weighted sum", lower_of_both),
    Claim("clip(τ + w_i A/W, 0, ε_i) err least; that is min(ε_i, τ) where all w_i are alike", clip),
    _trial,
)
