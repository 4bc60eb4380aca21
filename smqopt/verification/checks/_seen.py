"""What is seen of a solution's offers while they are enclosed for a proof."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class Seen:
    """Numbers for checks that a proof of the sums finds on its way."""

    drift: float = 0.0
    """How far an acceptance lies outside the enclosure of F(θ), at most."""
    violation: float = 0.0
    """The largest |ε − λJ(θ)| that no multiplier takes up, in units of ε."""
    spend: float = 0.0
    """At least what is spent, in currency."""
