"""Whether a formula's virtual cost rises, decided for exact parameters.

J′ = (2f² − F f′)/f², so J is non-decreasing where 2f² − F f′ ≥ 0; a non-increasing density suffices
(errata E1).
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from smqopt.algebra import (
    THETA,
    Domain,
    Negative,
    Nonnegative,
    Sign,
    SymbolRange,
    Unknown,
    decide_sign,
    is_never_negative,
    work_budget,
)
from smqopt.errors import InputError
from smqopt.valuation.expression._information_rent import information_rent, is_small
from smqopt.valuation.expression._symbolic_law import SymbolicLaw, symbolic_law
from smqopt.valuation.law._protocol import Law
from smqopt.valuation.law._verdict import Irregular, Regular, Undecided, Verdict
from smqopt.valuation.monotonicity._distinct_rows import MAX_ROWS, decide_rows
from smqopt.valuation.monotonicity._witness import proved_fall

MAX_OPERATIONS = 40
"""Information rents with more operations are not decided by the signs of symbols."""
MAX_EXPONENT = 12
"""Nor are powers with a longer exponent."""
_FREE = Domain(())
"""Of the symbols nothing is known but their signs."""


def decide_regularity(law: Law) -> Verdict:
    """Decide the regularity of a law that is a formula.

    First for all parameters at once, by the signs of symbols; then for boxes of parameters, by ball
    arithmetic; then for each different row that is left, by exact root counting or ball arithmetic.

    Parameters
    ----------
    law
        A law with a formula; its unit of currency is 1.

    Returns
    -------
    Verdict
        The worst over the owners, with the first such owner and, if irregular, a witness proved in
        ball arithmetic.
    """
    reason = _for_all_parameters(symbolic_law(law))
    if reason is not None:
        return Regular(reason)
    with work_budget(rows=min(law.size or 1, MAX_ROWS)):
        found = decide_rows(law, regularity_goals, _decide_row, density_is_proved=True)
    if found.failing is not None:
        return found.failing
    if found.undecided is not None:
        return found.undecided
    if found.unseen is not None:
        return Undecided(
            f"{found.rows} different laws, of which no proof for boxes of parameters covers {found.uncovered}; {MAX_ROWS} were decided one by one",
            found.unseen,
        )
    return Regular("; ".join(found.methods))


def regularity_goals(F: sp.Expr, f: sp.Expr, slope: sp.Expr) -> tuple[tuple[str, sp.Expr], ...]:
    """Return what suffices for J′ ≥ 0, for F, f and f′.

    Expressions that must be nonnegative.
    """
    return (
        ("the density is non-increasing, so J′ = 2 − F f′/f² ≥ 2", -slope),
        ("2f² − F f′ ≥ 0", 2 * f**2 - F * slope),
    )


def _decide_row(law: Law, owner: int | None) -> tuple[bool | None, Verdict, str]:
    verdict = _decide_one(law, owner)
    holds = True if isinstance(verdict, Regular) else False if isinstance(verdict, Irregular) else None
    return holds, verdict, verdict.method


def _for_all_parameters(generic: SymbolicLaw) -> str | None:
    """Prove J′ ≥ 0 and f ≥ 0 from the signs of the symbols alone.

    None if that says nothing.
    """
    spelt = generic.with_width()
    distance = sp.Symbol("distance", nonnegative=True)
    quotient = spelt.cdf / spelt.pdf
    if not is_small(quotient) or any(_is_long(p.exp) for p in quotient.atoms(sp.Pow)):
        return None
    rent = information_rent(spelt.cdf, spelt.pdf).subs(THETA, spelt.low + distance)
    if rent.count_ops() > MAX_OPERATIONS:
        return None
    pdf = spelt.pdf.subs(THETA, spelt.low + distance)
    slope = sp.factor_terms(sp.powsimp(sp.expand_mul(1 + sp.diff(rent, distance))))
    if is_never_negative(slope, _FREE) and (is_never_negative(rent, _FREE) or is_never_negative(pdf, _FREE)):
        shown = slope.subs(distance, THETA - spelt.low)
        return f"J′(θ) = {spelt.without_width(shown)} is never negative, by the signs of its symbols"
    return None


def _is_long(exponent: sp.Expr) -> bool:
    """Say whether SymPy's guesses at the sign of such a power could take for ever."""
    return bool(exponent.is_Rational and max(abs(exponent.p), exponent.q) > MAX_EXPONENT)


def _decide_one(law: Law, owner: int | None) -> Verdict:
    try:
        exact = symbolic_law(law).at(owner)
    except InputError as error:
        return Undecided(f"the exact law is too large: {error.rule}", owner)
    sign = rises_on(exact.cdf, exact.pdf, exact.low, exact.high)
    match sign:
        case Nonnegative():
            return Regular(sign.method)
        case Negative():
            low, high = (Fraction(int(end.p), int(end.q)) for end in (exact.low, exact.high))
            return _witness(exact, low, high, sign, owner)
        case _:
            return Undecided(sign.method, owner)


def rises_on(cdf: sp.Expr, pdf: sp.Expr, low: sp.Rational, high: sp.Rational) -> Sign:
    """Decide whether f ≥ 0 and J′ ≥ 0 between two ends, from formulas in numbers.

    Laws and derivations both ask here.

    Returns
    -------
    Sign
        Negative with a point at which 2f² − F f′ < 0.
    """
    domain = Domain((SymbolRange(THETA, low, high),))
    for claim, goal in regularity_goals(cdf, pdf, sp.diff(pdf, THETA)):
        sign = decide_sign(goal, domain)
        if isinstance(sign, Nonnegative):
            density = decide_sign(pdf, domain)
            if isinstance(density, Nonnegative):
                return Nonnegative(f"{claim}: {sign.method}")
            return _by_rent(cdf, pdf, domain) or Unknown(f"f ≥ 0 could not be proved: {density.method}")
    if isinstance(sign, Negative):
        return sign
    return _by_rent(cdf, pdf, domain) or Unknown(f"the sign of 2f² − F f′: {sign.method}")


def _by_rent(F: sp.Expr, f: sp.Expr, domain: Domain) -> Nonnegative | None:
    """Prove J′ = 1 + (F/f)′ ≥ 0 and F/f ≥ 0 from the quotient itself.

    Factors of F and f cancel in it; where both die out fast no ball tells their signs.
    """
    if not is_small(F / f) or any(_is_long(p.exp) for p in (F / f).atoms(sp.Pow)):
        return None
    x = sp.Dummy("x")  # of which nothing is assumed: SymPy's guesses at signs can take for ever
    rent = information_rent(F.xreplace({THETA: x}), f.xreplace({THETA: x}))
    if rent.count_ops() > MAX_OPERATIONS:
        return None
    slope = sp.factor_terms(1 + sp.diff(rent, x))
    signs = [decide_sign(each.xreplace({x: THETA}), domain) for each in (rent, slope)]
    if not all(isinstance(sign, Nonnegative) for sign in signs):
        return None
    return Nonnegative(f"J′ = 1 + (F/f)′ ≥ 0, and F/f ≥ 0: {signs[1].method}")


def _witness(exact: SymbolicLaw, low: Fraction, high: Fraction, sign: Negative, owner: int | None) -> Verdict:
    """Find two doubles in the support between which J falls, proved in balls."""
    fall = proved_fall(exact, low, high, sign.point, lambda t, F, f: t + F / f)
    if fall is None:
        return Undecided(f"2f² − F f′ < 0 at θ = {float(sign.point)!r}, but no two doubles show it", owner)
    return Irregular(f"found by {sign.method}, checked in ball arithmetic", *fall, owner)
