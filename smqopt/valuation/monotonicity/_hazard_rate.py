"""Whether a formula's hazard rate rises, decided for exact parameters.

With S = 1 − F, h = f/S has h′ = (f² + S f′)/S², so it is non-decreasing where f² + S f′ ≥ 0; a
non-decreasing density suffices.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from smqopt.algebra import THETA, Negative, Nonnegative, sign_on
from smqopt.errors import InputError
from smqopt.valuation.expression._symbolic_law import symbolic_law
from smqopt.valuation.law._protocol import Law
from smqopt.valuation.law._verdict import Hazard
from smqopt.valuation.monotonicity._distinct_rows import decide_rows
from smqopt.valuation.monotonicity._witness import proved_fall


def decide_hazard_of_formula(law: Law) -> Hazard:
    """Decide over boxes of parameters first, then row by row.

    Parameters
    ----------
    law
        A law with a formula; its unit of currency is 1.

    Returns
    -------
    Hazard
        The worst over the owners, with the first such owner and, if it falls, a witness proved in
        ball arithmetic.
    """
    found = decide_rows(law, _goals, _decide_row, density_is_proved=False)
    if found.failing is not None:
        return found.failing
    if found.undecided is not None:
        return found.undecided
    if found.unseen is not None:
        return Hazard(
            None, f"{found.uncovered} different laws that no proof for boxes of parameters covers", owner=found.unseen
        )
    return Hazard(True, "; ".join(found.methods))


def _goals(F: sp.Expr, f: sp.Expr, slope: sp.Expr) -> tuple[tuple[str, sp.Expr], ...]:
    return (
        ("the density is non-decreasing", slope),
        ("f² + (1 − F) f′ ≥ 0", f**2 + (1 - F) * slope),
    )


def _decide_row(law: Law, owner: int | None) -> tuple[bool | None, Hazard, str]:
    found = _decide_one(law, owner)
    return found.monotone, found, found.method


def _decide_one(law: Law, owner: int | None) -> Hazard:
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
