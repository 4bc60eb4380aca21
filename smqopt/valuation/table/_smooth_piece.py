"""A part of a support on which one formula gives F, with its series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp

from smqopt.algebra import THETA, parse
from smqopt.numeric import Ball, bound_series_function, count_calls

ORDER = 8
"""How many Taylor coefficients of F are worked out unless more are asked for."""


@dataclass(frozen=True)
class SmoothPiece:
    """F on [low, high] by one formula, which holds at both ends from within."""

    low: float
    high: float
    cdf: Callable[[Ball], Ball]
    pdf: Callable[[Ball], Ball]
    """f strictly inside; at the ends it need not be finite."""
    taylor: Callable[[Ball, Ball], list[Ball]]
    """From a ≤ b: for k below the order asked for a ball that holds F^(k)(ξ)/k! for every ξ in
    [a, b]; not finite where it is not known."""
    bend: Callable[[Ball, Ball], Ball] | None = None
    """The same for F″(ξ)/2 alone; by default from `taylor`."""

    def __post_init__(self) -> None:
        """Count evaluations as work."""
        if self.bend is None:
            object.__setattr__(self, "bend", lambda a, b: self.taylor(a, b)[2])
        for name, evaluations in (("cdf", 1), ("pdf", 1), ("taylor", ORDER), ("bend", 1)):
            object.__setattr__(self, name, count_calls(getattr(self, name), evaluations))


PieceLaw = Callable[[int], tuple[SmoothPiece, ...]]
"""Gives the pieces of an owner's law, in their order, by her place in the law, from 0."""


def with_ends(
    low: float, high: float, at_low: Ball, at_high: Ball, inside: Callable[[Ball], Ball]
) -> Callable[[Ball], Ball]:
    """Return F from what holds at the ends and between them."""
    return lambda t: at_low if t == low else at_high if t == high else inside(t)


@lru_cache(maxsize=256)
def taylor_series(
    formula: str, names: tuple[str, ...], order: int = ORDER
) -> Callable[..., Callable[[Ball], list[Ball]]]:
    """Compile the Taylor coefficients of a formula in θ."""
    theta, *symbols = (sp.Dummy(name) for name in ("theta", *names))
    F = parse(formula, dict(zip(names, symbols, strict=True)), "the law of a proof").xreplace({THETA: theta})
    return bound_series_function(F, [theta, *symbols], order)
