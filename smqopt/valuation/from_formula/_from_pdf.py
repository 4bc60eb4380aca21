"""A law plugged in as a formula for its density, which need not be normalised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from smqopt.algebra import (
    ABOVE_MINUS_ONE,
    THETA,
    Negative,
    antiderivative,
    check_name,
    decimal,
    names_in,
    parse,
    rename_symbols,
    sign_on,
)
from smqopt.errors import InputError
from smqopt.numeric import Floats, ball, ball_function, precision
from smqopt.valuation.from_formula._formula_law import FormulaLaw
from smqopt.valuation.from_formula._from_cdf import from_cdf
from smqopt.valuation.law._parameters import checked_parameters, checked_support
from smqopt.valuation.law._work_at_the_door import within_work

SHARES = (0.0625, 0.3125, 0.5, 0.6875, 0.9375)
"""Points of the support at which A′ = f is checked, as shares of its width."""
BITS = 256
"""Precision of the balls that check it."""
AGREED = 2.0**-160
"""Largest |A′ − f| at a point, relative to f, for which they are one function."""
MAX_SHOWN = 40
"""Characters of a formula that an error quotes."""


@within_work
def from_pdf(pdf: str, low: ArrayLike, high: ArrayLike, **parameters: ArrayLike) -> FormulaLaw:
    """Make a law from a formula for its density, up to a constant factor.

    F(θ) = (A(θ) − A(low))/(A(high) − A(low)) with A′ = f.

    SymPy finds A, and its derivative is checked against f in ball arithmetic; so the constant
    1/(A(high) − A(low)) is exact.

    Parameters
    ----------
    pdf
        f(θ) on the support, up to a factor, as the text of a formula (see `from_cdf`).
    low, high
        Ends of the support; scalars or shape (n,); 0 ≤ low < high.
    **parameters
        What the other names in the formula stand for; scalars or shape (n,).

    Raises
    ------
    InputError
        If the formula cannot be read, a parameter is bad or unused, the density is somewhere
        negative or not finite inside, its mass is not finite, or no antiderivative in closed form
        was found in time; then use `from_cdf`, or a law of your own.

    Examples
    --------
    >>> F = from_pdf("theta*(1 - theta)", low=0, high=1)
    >>> float(F.cdf(0.5)), float(F.pdf(0.5))
    (0.5, 1.5)
    """
    if not isinstance(pdf, str):
        raise InputError(
            "from_pdf", "must be a formula as text", value=type(pdf).__name__, remedy='write, say, "theta*(1 - theta)"'
        )
    text = " ".join(pdf.split())
    where = f"pdf {_shown(text)}"
    for name in parameters:
        check_name(name, where)
    given = checked_parameters(where, low=low, high=high, **parameters)
    checked_support(where, given["low"], given["high"])
    symbols = {name: _symbol(name, value) for name, value in given.items()}
    parse(text, symbols, where)
    for name in parameters:
        if name not in names_in(text):
            raise InputError(where, f"does not use the parameter {name!r}", remedy="drop it or use it")
    for end in ("low", "high"):
        value = given[end]
        if end in names_in(text) and isinstance(value, float):
            text = rename_symbols(text, {end: f"({decimal(value)})"})
    _check_sign(where, text, given)
    bottom = str(decimal(given["low"])) if isinstance(given["low"], float) else None
    signs = tuple((name, _sign(value)) for name, value in given.items() if bottom is None or name != "low")
    found = antiderivative(text, signs, bottom)
    if found is None or not _is_derivative(text, found[0], symbols, given):
        raise InputError(
            where,
            "has no antiderivative in closed form that was found in time",
            remedy="give the cdf by from_cdf, or subclass Valuation",
        )
    A, at_low = found
    if not at_low:
        raise InputError(where, "must have a finite mass: its integral diverges at low", remedy="choose a higher low")
    if isinstance(given["high"], float):
        highest = parse(A, symbols, where).xreplace({THETA: decimal(given["high"])})
        if highest.is_infinite:
            raise InputError(
                where, "must have a finite mass: its integral diverges at high", remedy="choose a lower high"
            )
    at_high = rename_symbols(A, {"theta": "high"})
    cdf = f"(({A}) - ({at_low}))/(({at_high}) - ({at_low}))"
    try:
        return from_cdf(cdf, low, high, **parameters)
    except InputError as error:
        raise InputError(
            where, f"gives no law: its cdf {error.rule}", value=error.value, remedy="fix the formula or the support"
        ) from error


def _check_sign(where: str, text: str, given: dict[str, float | Floats]) -> None:
    """Refuse a density that is negative somewhere, or 0 all over.

    A common law exactly, others where their cdf would fall.
    """
    if any(isinstance(value, np.ndarray) for value in given.values()):
        return
    numbers = {name: decimal(float(value)) for name, value in given.items()}
    exact = parse(text, numbers, where)
    if exact == 0:
        raise InputError(where, "must not be 0 all over", remedy="fix the formula")
    low, high = (Fraction(int(numbers[end].p), int(numbers[end].q)) for end in ("low", "high"))
    sign = sign_on(exact, THETA, low, high)
    if isinstance(sign, Negative):
        raise InputError(
            where,
            "must not be negative",
            value=f"at theta = {float(sign.point)!r}, by {sign.method}",
            remedy="fix the formula",
        )


def _is_derivative(text: str, primitive: str, symbols: dict[str, sp.Symbol], given: dict[str, float | Floats]) -> bool:
    """Check A′ = f at a few points, in balls, for the first owner's numbers."""
    order = [THETA, *symbols.values()]
    f, F = parse(text, symbols), parse(primitive, symbols)
    density, slope = ball_function(f, order), ball_function(sp.diff(F, THETA), order)
    first = {name: float(np.ravel(value)[0]) for name, value in given.items()}
    with precision(BITS):
        for share in SHARES:
            theta = first["low"] + share * (first["high"] - first["low"])
            point = [ball(theta), *(ball(first[name]) for name in symbols)]
            wanted, got = density(*point), slope(*point)
            if not abs(got - wanted).upper() <= AGREED * max(abs(wanted).upper(), AGREED):
                return False
    return True


def _symbol(name: str, value: float | Floats) -> sp.Symbol:
    known = _sign(value)
    return sp.Symbol(name, real=True) if known == ABOVE_MINUS_ONE else sp.Symbol(name, **{known: True})


def _sign(value: float | Floats) -> str:
    if np.all(np.asarray(value) > 0):
        return "positive"
    if np.all(np.asarray(value) >= 0):
        return "nonnegative"
    return ABOVE_MINUS_ONE if np.all((np.asarray(value) > -1) & (np.asarray(value) < 0)) else "real"


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "...")
