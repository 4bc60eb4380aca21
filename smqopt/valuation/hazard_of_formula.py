"""Whether the hazard rate of a formula is non-decreasing, decided for the very numbers that the law was given.

With S = 1 − F, h = f/S has h′ = (f² + S f′)/S², so it is non-decreasing where f² + S f′ ≥ 0; a non-decreasing density suffices.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from smqopt.errors import InputError
from smqopt.numeric.balls import Ball
from smqopt.valuation.base import Valuation
from smqopt.valuation.expressions import THETA
from smqopt.valuation.fall_witness import proved_fall
from smqopt.valuation.monotone import MAX_ROWS, distinct_owners
from smqopt.valuation.parameter_boxes import FEWEST, covered, generic_law
from smqopt.valuation.regularity import Hazard
from smqopt.valuation.sign import Negative, Nonnegative, sign_on
from smqopt.valuation.symbols import symbolic_law

__all__ = ["decide_hazard_of_formula"]


def decide_hazard_of_formula(law: Valuation) -> Hazard:
    """Decide by ball arithmetic for boxes of parameters, and by exact root counting or ball arithmetic for each different row that is left.

    Parameters
    ----------
    law
        A law with a formula; its unit of currency is 1.

    Returns
    -------
    Hazard
        The worst over the owners, with the first such owner and, if it falls, a witness proved in ball arithmetic.
    """
    owners = distinct_owners(law)
    done, methods = _by_boxes(law, owners)
    rest = [owner for owner in owners if owner not in done]
    undecided: Hazard | None = None
    for owner in rest[:MAX_ROWS]:
        found = _decide_one(law, owner)
        if found.monotone is False:
            return found
        if found.monotone is None:
            undecided = undecided or found
        elif found.method not in methods:
            methods.append(found.method)
    if undecided is None and len(rest) > MAX_ROWS:
        undecided = Hazard(
            None, f"{len(rest)} different laws that no proof for boxes of parameters covers", owner=rest[MAX_ROWS]
        )
    return undecided or Hazard(True, "; ".join(methods))


def _by_boxes(law: Valuation, owners: list[int | None]) -> tuple[set[int], list[str]]:
    """Give the rows whose hazard rate rises by a proof for a box of parameters, and the methods."""
    rows = [owner for owner in owners if owner is not None]
    if len(rows) < FEWEST:
        return set(), []
    generic = generic_law(law, rows)
    F, f, u = generic.cdf, generic.pdf, generic.u
    slope_of_density = sp.diff(f, u)
    goals = (
        ("the density is non-decreasing", slope_of_density),
        ("f² + (1 − F) f′ ≥ 0", f**2 + (1 - F) * slope_of_density),
    )

    def proof(box: Mapping[sp.Symbol, Ball]) -> str | None:
        for claim, expression in goals:
            if isinstance(sign_on(expression, u, Fraction(0), generic.top, box), Nonnegative):
                return f"{claim}: ball arithmetic over boxes of parameters"
        return None

    return covered(generic, proof)


def _decide_one(law: Valuation, owner: int | None) -> Hazard:
    try:
        exact = symbolic_law(law).at(owner)
    except InputError as error:
        return Hazard(None, f"the exact law is too large: {error.rule}", owner=owner)
    x = sp.Dummy("x")  # of which nothing is assumed: SymPy's guesses at signs can take for ever
    F, f = exact.cdf.xreplace({THETA: x}), exact.pdf.xreplace({THETA: x})
    low, high = (Fraction(int(end.p), int(end.q)) for end in (exact.low, exact.high))
    slope_of_density = sp.diff(f, x)
    rising = sign_on(slope_of_density, x, low, high)
    if isinstance(rising, Nonnegative):
        return Hazard(True, f"the density is non-decreasing: {rising.method}")
    sign = sign_on(f**2 + (1 - F) * slope_of_density, x, low, high)
    if isinstance(sign, Nonnegative):
        return Hazard(True, f"f² + (1 − F) f′ ≥ 0: {sign.method}")
    if isinstance(sign, Negative):
        fall = proved_fall(exact, low, high, sign.point, lambda _, F, f: f / (1 - F))
        if fall is not None:
            return Hazard(False, f"found by {sign.method}, checked in ball arithmetic", *fall, owner)
    return Hazard(None, f"the sign of f² + (1 − F) f′: {sign.method}", owner=owner)
