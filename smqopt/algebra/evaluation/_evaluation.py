"""A formula evaluated to its last digits.

In doubles where these keep them, in balls where they cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from smqopt.algebra.evaluation._lambdify import lambdify
from smqopt.algebra.evaluation._running_error import error_function
from smqopt.numeric import Floats, ball, ball_function, precision

KEPT = 2.0**-46
"""A relative error estimate up to this is left to doubles; such estimates are mostly several times
too large."""
PRECISIONS = (128, 256, 512, 1024)
"""Bits that balls are tried with, in this order."""
ENOUGH_BITS = 60
"""Relative accuracy of a ball that gives the nearest double, or its neighbour."""
NOTHING = 2.0**-1000
"""Errors up to this come from values that underflow."""
ZERO = 2.0**-300
"""A ball this small, round zero, is taken for zero."""


@dataclass(frozen=True)
class Evaluation:
    """One expression as a function of θ and the parameters."""

    expression: sp.Expr
    symbols: tuple[sp.Symbol, ...]
    """θ and the parameters, in the order of the arguments."""

    @cached_property
    def in_doubles(self) -> Any:
        """The expression in plain floating point, vectorised."""
        return lambdify(self.symbols, self.expression)

    @cached_property
    def error(self) -> Any:
        """An estimate of the absolute error of `in_doubles`, vectorised."""
        return error_function(self.symbols, self.expression)

    @cached_property
    def in_balls(self) -> Any:
        """The expression in ball arithmetic, point by point."""
        return ball_function(self.expression, self.symbols)

    def __call__(self, *arguments: Floats | float) -> Floats:
        """Evaluate to the last digit; where doubles cancel, in balls.

        NaN where the expression has no real value.
        """
        value = np.array(self.in_doubles(*arguments))
        error = self.error(*arguments)
        lost = ~(error <= np.maximum(KEPT * np.abs(value), NOTHING)) & np.isfinite(arguments[0])
        if np.any(lost):
            sharp = self.sharp(lost, arguments)
            value[lost] = np.where(np.isnan(sharp), value[lost], sharp)
        return value

    def sharp(
        self, where: NDArray[np.bool_], arguments: Sequence[Floats | float], less: Floats | None = None
    ) -> Floats:
        """Evaluate in balls where asked.

        Parameters
        ----------
        where
            Flags, of the shape the arguments broadcast to.
        arguments
            θ and the parameters.
        less
            What to take off the value before it is rounded, one number a flagged point.
        """
        rows = np.column_stack([np.broadcast_to(argument, where.shape)[where] for argument in arguments])
        offsets = np.zeros(rows.shape[0]) if less is None else less
        return np.array(
            [self._sharp_at(row, offset) for row, offset in zip(rows.tolist(), offsets.tolist(), strict=True)]
        )

    def _sharp_at(self, row: Sequence[float], offset: float) -> float:
        value: Any = None
        for bits in PRECISIONS:
            with precision(bits):
                value = self.in_balls(*(ball(x) for x in row)) - ball(offset)
                if not value.is_finite():
                    continue
                if value.rel_accuracy_bits() >= ENOUGH_BITS:
                    return float(value.mid())
                if value.abs_upper() < ZERO:
                    return 0.0
        return float(value.mid()) if value.is_finite() else float("nan")


def sharpest(forms: Sequence[sp.Expr], symbols: tuple[sp.Symbol, ...], arguments: Sequence[Floats | float]) -> sp.Expr:
    """Choose the form of an expression that doubles evaluate best.

    Parameters
    ----------
    arguments
        θ and the parameters, as for `Evaluation`.
    """

    def loss(form: sp.Expr) -> float:
        evaluation = Evaluation(form, symbols)
        with np.errstate(all="ignore"):
            relative = evaluation.error(*arguments) / np.abs(evaluation.in_doubles(*arguments))
        return float(np.sum(np.where(np.isfinite(relative), np.minimum(relative, 1.0), 1.0)))

    return min(dict.fromkeys(forms), key=loss)
