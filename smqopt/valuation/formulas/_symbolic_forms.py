"""The symbolic form of a law: by its text, by special functions, or in pieces."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import sympy as sp

from smqopt.algebra import decimal
from smqopt.errors import InputError
from smqopt.valuation.composition._mixture import Mixture
from smqopt.valuation.composition._truncated import TruncatedLaw
from smqopt.valuation.formulas._exact_pieces import MOST_PIECES, exact_pieces
from smqopt.valuation.formulas._incomplete_functions import (
    beta_formulas,
    gamma_formulas,
    is_long_sum,
    log_normal_from_zero,
)
from smqopt.valuation.formulas._law_formulas import (
    LawFormulas,
    Row,
    given_rows,
    join,
    reading_of,
    scale_to_one,
    spelled_by_text,
    weight_groups,
)
from smqopt.valuation.formulas._triangular_pieces import triangular_formulas
from smqopt.valuation.law._base import Index, Valuation

Candidate = tuple[LawFormulas, tuple[Row, ...]]
"""Formulas for a law, and parameters at which claims are evaluated; none where random ones will do.
"""

_BY_NAME: Mapping[str, Callable[[Valuation, Mapping[str, sp.Rational]], LawFormulas]] = {
    "beta": beta_formulas,
    "gamma": gamma_formulas,
    "triangular": triangular_formulas,
}
"""Laws by name whose formulas a text cannot say: a law and the values of the shapes to fix →
formulas."""
_OPEN_IN_LETTERS = ("beta", "kumaraswamy")
"""Laws whose J at the high end hangs on the side of 1 on which b lies."""
_ENDS = ("low", "high")
_UNITS = {"mean", "sd", "mu", "sigma", "scale", "rate"}
"""Parameters that count in some unit, where 1 is nothing special."""
_LONGEST = 2
"""Shapes are fixed to the numbers given where numerator and denominator are at most this: beyond, J
is of degree > 2."""


def formulas_of(law: Valuation) -> LawFormulas:
    """Spell a law out for all parameters.

    Raises
    ------
    InputError
        If the law has no symbolic form; the error says why.
    """
    return _formulas_at(law, {})


def candidates(law: Valuation) -> Iterator[Candidate]:
    """Yield formulas for a law, from the general to the special.

    A special form may decide, or invert, what the general one leaves open: the Pareto law of
    exponent 1 has a closed threshold, others have none.
    """
    general = formulas_of(law)
    rows = given_rows(general, law)
    if rows:
        yield general, rows
        if law.size is None:
            yield scale_to_one(general.fix(dict(rows[0]))), ()
        return
    shapes = _shapes(law, general)
    special = _by_side_of_one(law, general, shapes)
    if law.name not in _OPEN_IN_LETTERS or "b" not in {symbol.name for symbol, *_ in (special or general).ranges}:
        yield general if general.parameters else scale_to_one(general), ()
    if special is not None and special != general:
        yield special, ()
    numbers = {name: decimal(float(values[0])) for name, values in shapes.items() if np.all(values == values[0])}
    if numbers and len(numbers) == len(shapes) and all(max(abs(x.p), x.q) <= _LONGEST for x in numbers.values()):
        fixed = _formulas_at(law, numbers)
        if fixed != special:
            yield fixed, ()


def by_sides(law: Valuation) -> list[tuple[Valuation, Index]]:
    """Split owners of one family where no formula in letters serves all of them.

    By the side of 1 on which b lies, or by a mode at the low end, inside, or at the high end.
    """
    if law.size is None or law.name not in (*_OPEN_IN_LETTERS, "triangular"):
        return [(law, slice(None))]
    low, high = (law.arguments["low"], law.arguments["high"]) if law.name == "triangular" else (1.0, 1.0)
    place = law.arguments["mode" if law.name == "triangular" else "b"]
    kinds = np.broadcast_to(np.where(place <= low, -1, 0) + np.where(place >= high, 1, 0) * 2, law.size)
    groups = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
    return [(law.take(owners), owners) for owners in groups] if len(groups) > 1 else [(law, slice(None))]


def in_numbers(law: Valuation) -> LawFormulas | None:
    """Spell a common law out in its own numbers, so that balls decide signs.

    None where that is a sum of very many terms.
    """
    if is_long_sum(law):
        return None
    general, read = formulas_of(law), reading_of(law) if law.ends_are_symbols else decimal
    return scale_to_one(general.fix({symbol: read(float(law.arguments[name])) for name, symbol in general.parameters}))


def _formulas_at(law: Valuation, values: Mapping[str, sp.Rational]) -> LawFormulas:
    """Spell a law out with some shapes fixed."""
    if law.name in _BY_NAME:
        return _BY_NAME[law.name](law, values)
    pieces = exact_pieces(law) if law.size is None and isinstance(law, Mixture | TruncatedLaw) else None
    if pieces is not None and len(pieces) <= MOST_PIECES:  # numbers: in letters compositions are too large
        return join(pieces)
    if law.formula:
        formulas = spelled_by_text(law)
        symbols = dict(formulas.parameters)
        return formulas.fix({symbols[name]: value for name, value in values.items()}) if values else formulas
    if law.name == "log-normal" and np.all(np.asarray(law.low) == 0):
        return log_normal_from_zero()
    pieces = pieces if pieces is not None or law.size is not None else exact_pieces(law)
    if pieces is None or len(pieces) > MOST_PIECES:
        raise InputError(
            f"derivation of the {law.name} law",
            _why_not(law, pieces),
            value=repr(law),
            remedy=_REMEDIES[pieces is None],
        )
    return join(pieces)


_REMEDIES = {True: "derive a law with a formula; thresholds are found numerically", False: "join some pieces"}


def _why_not(law: Valuation, pieces: tuple[LawFormulas, ...] | None) -> str:
    """Say why a law has no symbolic derivation."""
    if pieces is not None:
        return f"is made of {len(pieces)} pieces; {MOST_PIECES} are derived at most"
    if law.name in ("point-mass", "discrete"):
        return "is not made: the law has atoms and no density, so that J = θ + F/f does not exist"
    if law.size is not None:
        return "is not made: the law has no one formula for all owners"
    return "is not made: the law has no formula in symbols"


def _shapes(law: Valuation, formulas: LawFormulas) -> dict[str, np.ndarray]:
    """Return the values of the positive parameters that are no ends, places or scales."""
    known = {"mode", *_ENDS, *itertools.chain.from_iterable(weight_groups(law))}
    letters = [(name, symbol) for name, symbol in formulas.parameters if not _UNITS & set(name.split("_"))]
    names = [name for name, symbol in letters if name not in known and symbol.is_positive]
    return {name: np.atleast_1d(np.asarray(law.arguments[name], dtype=np.float64)) for name in names}


def _by_side_of_one(law: Valuation, general: LawFormulas, shapes: Mapping[str, np.ndarray]) -> LawFormulas | None:
    """Fix shapes equal to 1, and bound those on one side of 1, for every owner."""
    fixed = {name: sp.Integer(1) for name, values in shapes.items() if np.all(values == 1)}
    spelled = _formulas_at(law, fixed) if fixed else general
    symbols, one = dict(spelled.parameters), sp.Integer(1)
    ranges = []
    for name, values in shapes.items():
        if name in symbols and np.all(values > 1):
            ranges.append((symbols[name], one, None))
        elif name in symbols and np.all(values < 1):
            ranges.append((symbols[name], sp.Integer(0), one))
    return spelled.within(tuple(ranges)) if fixed or ranges else None
