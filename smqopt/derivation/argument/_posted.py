"""A posted threshold as allocation and payment on both sides (`qi`, `pi`)."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from smqopt.algebra import CLIPPED_THRESHOLD


@dataclass(frozen=True)
class PostedRule:
    """What happens to a report at most the threshold, and to one above it."""

    sold: sp.Expr
    """Q(ψ) for ψ ≤ θ*."""
    unsold: sp.Expr
    """Q(ψ) for ψ > θ*."""
    paid: sp.Expr
    """P(ψ) for ψ ≤ θ*, in currency."""
    unpaid: sp.Expr
    """P(ψ) for ψ > θ*, in currency."""

    def utility(self, theta: sp.Expr, *, sells: bool) -> sp.Expr:
        """Return P(ψ) − θQ(ψ) for a report on one side of the threshold, in currency."""
        return self.paid - theta * self.sold if sells else self.unpaid - theta * self.unsold


def posted_threshold() -> PostedRule:
    """State the take-it-or-leave-it offer: she sells where ψ ≤ θ*, and is paid θ*."""
    return PostedRule(sp.Integer(1), sp.Integer(0), CLIPPED_THRESHOLD, sp.Integer(0))
