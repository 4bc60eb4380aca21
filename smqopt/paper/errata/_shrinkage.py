"""F9: the cap on weights at one slope of the error's frontier."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from smqopt.paper.errata._entry import Claim, Entry, Finding

Cap = Callable[[Fraction], Fraction]
"""From μ > 0 to the cap τ on weights."""

SLOPES = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(7, 3))
REQUIREMENTS = (Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(2), Fraction(50))
PARTS = 60
SHARES = (Fraction(1, 5), Fraction(1, 2), Fraction(1))


def _trial(cap: Cap) -> Finding:
    """Try u in [0, ε q] for u − μ u²/q; and u²/q, a perspective, at middles."""
    for mu, epsilon, q in product(SLOPES, REQUIREMENTS, SHARES):
        a = min(epsilon, cap(mu))
        mine = q * (a - mu * a * a)
        for k in range(PARTS + 1):
            u = epsilon * q * k / PARTS
            if u - mu * u * u / q > mine:
                return Finding(
                    False, f"μ = {mu}, ε = {epsilon}: a = {u / q} gives {u - mu * u * u / q}, {a} gives {mine}"
                )
    for (q, p), (u, v) in product(product(SHARES, SHARES), product(REQUIREMENTS, REQUIREMENTS)):
        middle = ((u + v) / 2) ** 2 / ((q + p) / 2)
        if middle > (u * u / q + v * v / p) / 2:
            return Finding(False, f"u²/q is not convex between {(u, q)} and {(v, p)}")
    return Finding(True, "r = q (a − μ a²) at a = min(ε, τ) is the most, and u²/q is convex")


SHRINKAGE = Entry(
    "F9",
    "the error as the objective",
    Claim("X − μY is greatest at weights min(ε_i, 1/μ), where a − μa² is 0 again", lambda mu: 1 / mu),
    Claim(
        "it is at weights min(ε_i, τ), τ = 1/(2μ), whatever is bought: OP2 with r_i = a_i − μ a_i²",
        lambda mu: 1 / (2 * mu),
    ),
    _trial,
)
