"""A law plugged in as a formula for its cdf: read, checked, and only then a law."""

from __future__ import annotations

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from smqopt.algebra import THETA, check_name, decimal, names_in, parse
from smqopt.errors import InputError
from smqopt.valuation.expression._symbolic_law import HIGH, LOW
from smqopt.valuation.from_formula._cdf_checks import check_cdf
from smqopt.valuation.from_formula._formula_law import FormulaLaw
from smqopt.valuation.law._conformance import validate
from smqopt.valuation.law._owner_names import without_names
from smqopt.valuation.law._parameters import checked_parameters, checked_support, require
from smqopt.valuation.law._work_at_the_door import within_work

MAX_SHOWN = 40
"""Characters of a formula that an error quotes."""

_NO_NUMBERS = (sp.nan, sp.zoo, sp.oo, -sp.oo)


@within_work
def from_cdf(cdf: str, low: ArrayLike, high: ArrayLike, unit: ArrayLike = 1.0, **parameters: ArrayLike) -> FormulaLaw:
    """Make a law from a formula for its cdf.

    Parameters
    ----------
    cdf
        F(θ) on the support, in `theta`, the names of the parameters, `low`, `high`, `pi`, numbers,
        `+ - * / **`, parentheses, and exp, log, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh,
        tanh, erf, abs, sign.
    low, high
        Ends of the support; scalars or shape (n,); 0 ≤ low < high. Like all numbers they are read
        as the decimals that they are printed as: 0.54 is 27/50.
    unit
        The unit in which the formula counts, in currency; scalar or shape (n,). The law is that of
        unit·θ.
    **parameters
        What the other names in the formula stand for; scalars or shape (n,).

    Raises
    ------
    InputError
        If the formula cannot be read, a parameter is bad or unused, or the formula is not a cdf on
        the support: not 0 at low, not 1 at high, somewhere falling, or somewhere not finite.

    Examples
    --------
    >>> F = from_cdf("theta**2 * (3 - 2*theta)", low=0, high=1)
    >>> float(F.cdf(0.5)), float(F.virtual_cost(0.5))
    (0.5, 0.8333333333333333)
    >>> from_cdf("theta**a", low=0, high=1, a=[1.0, 2.0]).cdf(0.5).tolist()
    [0.5, 0.25]
    """
    label = "the law of a cdf"
    if not isinstance(cdf, str):
        raise InputError(label, "must be a formula as text", value=type(cdf).__name__, remedy='write, say, "theta**2"')
    text = " ".join(cdf.split())
    for name in parameters:
        check_name(name, label)
        if hasattr(FormulaLaw, name):
            raise InputError(
                label, "the name has a meaning of its own", value=name, remedy="give the parameter another name"
            )
    values, names = without_names(label, {"low": low, "high": high, **parameters})
    given = checked_parameters(label, **values, unit=unit)
    checked_support(label, given["low"], given["high"])
    require(label, "unit", given["unit"], np.asarray(given["unit"]) > 0, "must be positive", "use unit > 0")
    symbols = {name: sp.Symbol(name, real=True) for name in parameters}
    expression = parse(text, {**symbols, "low": LOW, "high": HIGH}, f"cdf {_shown(text)}")
    ends = {
        end: decimal(value)
        for end, value in ((LOW, given["low"]), (HIGH, given["high"]))
        if not isinstance(value, np.ndarray)
    }
    exact = expression.xreplace(ends)
    plain = sp.Dummy("theta")
    slope = sp.diff(exact.xreplace({THETA: plain}), plain)
    if exact.has(*_NO_NUMBERS) or slope.has(*_NO_NUMBERS) or (slope == 0 and exact.has(THETA)):
        raise InputError(f"cdf {_shown(text)}", "has no density that is a number", remedy="correct the formula")
    if THETA not in exact.free_symbols:
        raise InputError(f"cdf {_shown(text)}", "does not depend on theta", remedy="write it in theta")
    for name in parameters:
        if name not in names_in(text):
            raise InputError(f"cdf {_shown(text)}", f"does not use the parameter {name!r}", remedy="drop it or use it")
    law = FormulaLaw(text, tuple(parameters), given)
    in_units = law if np.all(np.asarray(law.unit) == 1.0) else law.with_arguments({**given, "unit": 1.0})
    F, f, _ = law.evaluations()
    check_cdf(f"cdf {_shown(text)}", in_units, F, f)
    validate(law)
    vars(law).update(names)
    return law


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "...")
