"""The verdicts on regularity: whether the virtual cost J is non-decreasing on the whole support.

Regularity here is the buyer's: J(θ) = θ + F(θ)/f(θ) non-decreasing, which makes OP2 convex in spend (errata E1). It is
not the monotone hazard rate f/(1 − F) that the paper prints as (A2).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Irregular", "Regular", "Undecided", "Verdict"]


@dataclass(frozen=True)
class Regular:
    """J is non-decreasing on the whole support, proved."""

    method: str
    """What proves it, in a line."""


@dataclass(frozen=True)
class Irregular:
    """J falls somewhere: θ₁ < θ₂ with J(θ₁) > J(θ₂)."""

    method: str
    witness: tuple[float, float]
    """The two points (θ₁, θ₂), in currency."""
    virtual_costs: tuple[float, float]
    """J at the two points, in currency."""
    owner: int | None = None
    """The owner whose law it is, from 0; None for a common law."""


@dataclass(frozen=True)
class Undecided:
    """Neither a proof nor a witness was found; the law is treated as irregular."""

    method: str
    """What was tried."""
    owner: int | None = None


Verdict = Regular | Irregular | Undecided
