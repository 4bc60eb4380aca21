"""F1: the slope of the virtual cost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import sympy as sp

from smqopt.paper.errata._entry import Claim, Entry, Finding

Slope = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""From F, f and f′ to J′."""


def of_the_seller(F: sp.Expr, f: sp.Expr, slope: sp.Expr) -> sp.Expr:
    """2 + (1 − F) f′/f², the slope of the virtual value θ − (1 − F)/f."""
    return 2 + (1 - F) * slope / f**2


def of_the_buyer(F: sp.Expr, f: sp.Expr, slope: sp.Expr) -> sp.Expr:
    """2 − F f′/f²."""
    return 2 - F * slope / f**2


def _trial(slope: Slope) -> Finding:
    theta = sp.Symbol("theta", real=True)
    F = sp.Function("F")(theta)
    f = F.diff(theta)
    residual = sp.simplify((theta + F / f).diff(theta) - slope(F, f, f.diff(theta)))
    if residual != 0:
        return Finding(False, f"J′ minus the claim is {residual}")
    halves = [sp.Rational(k, 2) for k in range(5)]
    least = min(slope(G, g + sp.Rational(1, 2), -fall) for G, g, fall in product(halves[:3], halves, halves))
    return Finding(bool(least >= 2), f"J′ is the claim, and at least {least} where the density does not rise")


SLOPE_OF_VIRTUAL_COST = Entry(
    "F1",
    "regularity",
    Claim("J′ = 2 + (1 − F) f′/f², as for a seller", of_the_seller),
    Claim("J′ = 2 − F f′/f², so a non-increasing density makes J′ ≥ 2", of_the_buyer),
    _trial,
)
