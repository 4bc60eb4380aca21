"""The triangular law: a piece below its mode and a piece above."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from smqopt.algebra import THETA
from smqopt.valuation.expression._symbolic_law import HIGH, LOW
from smqopt.valuation.formulas._law_formulas import LawFormulas, join
from smqopt.valuation.law._base import Valuation

_MODE = sp.Symbol("mode", nonnegative=True)
_WIDTH = HIGH - LOW


def triangular_formulas(law: Valuation, _: Mapping[str, sp.Rational]) -> LawFormulas:
    """Write out F up to the mode and beyond it, as two pieces.

    Where the mode of every owner is an end of the support, one of the pieces is empty, and the
    other is the law.
    """
    low, mode, high = (np.asarray(law.arguments[name]) for name in ("low", "mode", "high"))
    ends = (("low", LOW), ("high", HIGH))
    if np.all(mode == high):
        return _rising(HIGH, ends)
    if np.all(mode == low):
        return _falling(LOW, ends)
    parameters = (("low", LOW), ("mode", _MODE), ("high", HIGH))
    return join((_rising(_MODE, parameters), _falling(_MODE, parameters)), ((_MODE, LOW, HIGH),))


def _rising(mode: sp.Expr, parameters: tuple[tuple[str, sp.Symbol], ...]) -> LawFormulas:
    area = _WIDTH * (mode - LOW)
    return LawFormulas(THETA, LOW, mode, (THETA - LOW) ** 2 / area, 2 * (THETA - LOW) / area, parameters)


def _falling(mode: sp.Expr, parameters: tuple[tuple[str, sp.Symbol], ...]) -> LawFormulas:
    area = _WIDTH * (HIGH - mode)
    return LawFormulas(THETA, mode, HIGH, 1 - (HIGH - THETA) ** 2 / area, 2 * (HIGH - THETA) / area, parameters)
