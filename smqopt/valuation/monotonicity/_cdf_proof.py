"""Whether a formula is a cdf: continuous, f ≥ 0, 0 at low and 1 at high.

All is shown for the exact numbers that the parameters are, over boxes of parameters first and then
row by row. A formula that is shown to fall somewhere is refuted; what is neither stays undecided,
and nothing that rests on it is proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from smqopt.algebra import THETA, Negative, Nonnegative, is_continuous, sign_on
from smqopt.errors import InputError
from smqopt.numeric import SUPPORT_END, Ball, ball, ball_function, precision
from smqopt.valuation.expression._symbolic_law import symbolic_law
from smqopt.valuation.law._protocol import Law
from smqopt.valuation.law._verdict import CdfVerdict
from smqopt.valuation.monotonicity._distinct_rows import MAX_ROWS, distinct_owners
from smqopt.valuation.monotonicity._parameter_boxes import FEWEST, cover_rows, generic_law

NEAREST = 900
"""Where F has no value at an end, it is enclosed at so many halvings of the width from it."""
BITS = 2 * NEAREST
"""Precision of the balls that enclose F at the ends, and so near them."""


def decide_cdf(law: Law) -> CdfVerdict:
    """Decide whether a law with a formula has a cdf.

    Parameters
    ----------
    law
        Its unit of currency is 1.

    Returns
    -------
    CdfVerdict
        Refuted if any row is; proved if all are; else undecided, with the first such owner.
    """
    owners = distinct_owners(law)
    done, methods = _rows_in_boxes(law, [owner for owner in owners if owner is not None])
    rest = [owner for owner in owners if owner not in done]
    undecided: CdfVerdict | None = None
    for owner in rest[:MAX_ROWS]:
        found = _decide_row(law, owner)
        if found.holds is False:
            return found
        if found.holds is None:
            undecided = undecided or found
        elif found.method not in methods:
            methods.append(found.method)
    if undecided is None and len(rest) > MAX_ROWS:
        undecided = CdfVerdict(None, f"{len(rest)} different laws that no proof for boxes covers", rest[MAX_ROWS])
    return undecided or CdfVerdict(True, "; ".join(methods))


def _rows_in_boxes(law: Law, rows: list[int]) -> tuple[set[int], list[str]]:
    """Return the rows that proofs for boxes of parameters cover, and the methods."""
    if len(rows) < FEWEST:
        return set(), []
    generic = generic_law(law, rows)
    F, f, u, zero, top = generic.cdf, generic.pdf, generic.u, Fraction(0), generic.top

    def proof(box: Mapping[sp.Symbol, Ball]) -> str | None:
        rises = isinstance(sign_on(f, u, zero, top, box), Nonnegative) and is_continuous(F, u, zero, top, box)
        return "f ≥ 0: ball arithmetic over boxes of parameters" if rises else None

    done, methods = cover_rows(generic, proof)
    if not done:
        return done, methods
    symbols = list(generic.rows[rows[0]])
    at = ball_function(F, [u, *symbols])
    with precision(BITS):
        ends = ball(zero), ball(top)
        for row in sorted(done):
            values = [ball(generic.rows[row][symbol]) for symbol in symbols]
            if not (_is_near(at(ends[0], *values), 0) and _is_near(at(ends[1], *values), 1)):
                done.discard(row)  # then it is looked at alone
    return done, methods


def _decide_row(law: Law, owner: int | None) -> CdfVerdict:
    try:
        exact = symbolic_law(law).at(owner)
    except InputError as error:
        return CdfVerdict(None, f"the exact law is too large: {error.rule}", owner)
    x = sp.Dummy("x")  # of which nothing is assumed: SymPy's guesses at signs can take for ever
    F, f = exact.cdf.xreplace({THETA: x}), exact.pdf.xreplace({THETA: x})
    low, high = (Fraction(int(end.p), int(end.q)) for end in (exact.low, exact.high))
    sign = sign_on(f, x, low, high)
    if isinstance(sign, Negative):
        where = f"at theta = {float(sign.point)!r}, by {sign.method}"
        return CdfVerdict(False, f"its density is negative {where}", owner)
    if not isinstance(sign, Nonnegative):
        return CdfVerdict(None, f"f ≥ 0 could not be proved: {sign.method}", owner)
    if not is_continuous(F, x, low, high):
        return CdfVerdict(None, "the cdf could not be proved continuous", owner)
    value_at, width = ball_function(F, [x]), high - low
    with precision(BITS):
        for end, inwards, value in ((low, width, 0), (high, -width, 1)):
            # F does not fall, so that what it is nearer to the end lies between
            if not any(_is_near(value_at(ball(end + inwards * step)), value) for step in (0, Fraction(1, 2**NEAREST))):
                return CdfVerdict(None, f"F could not be proved to be {value} at {float(end)!r}", owner)
    return CdfVerdict(True, f"f ≥ 0: {sign.method}")


def _is_near(value: Ball, wanted: int) -> bool:
    """Tell whether a ball lies within the tolerance of plug-ins round a number."""
    return bool(abs(value - wanted) <= ball(SUPPORT_END.value))
