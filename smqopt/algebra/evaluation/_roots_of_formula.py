"""Equations in θ, solved in doubles or, where these cancel, in balls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smqopt.algebra.evaluation._evaluation import KEPT, Evaluation
from smqopt.numeric import Floats, Indices, increasing_root

TAIL = 2.0**-10
"""Quantiles closer to low, relative to the width of the support, are given to their own last
digits."""
ERROR_STEP = 2.0**-30
"""Step of the difference that estimates a slope, relative to the width of the support."""


class FormulaEquation:
    """Many equations F(x) = w, or x + F(x)/f(x) = w, each with its own parameters."""

    def __init__(
        self, evaluation: Evaluation, wanted: Floats, arguments: Sequence[Floats | float], *, with_theta: bool
    ) -> None:
        self.evaluation = evaluation
        self.wanted = wanted
        self.arguments = arguments
        self.with_theta = with_theta

    def solve(self, low: Floats, top: Floats, high: Floats, start: Floats | None = None) -> Floats:
        """Solve in doubles, and in balls where rounding moved the solution.

        The support is from low to high.
        """
        bottom = low if start is None else start
        x = increasing_root(self._in_doubles, bottom, top)
        with np.errstate(all="ignore"):
            lost = np.flatnonzero(~(self._error(x, low, high) <= KEPT * self._scale(x, low, high)))
        if lost.size:
            part = self._take(lost)
            x[lost] = increasing_root(part.in_balls, bottom[lost], top[lost])
        return x

    def _scale(self, x: Floats, low: Floats, high: Floats) -> Floats:
        """Say what the error of a solution is compared with.

        The width, or in the tail of a cdf the distance to low.
        """
        width = high - low
        return width if self.with_theta else np.where(x - low < TAIL * width, x - low, width)

    def _take(self, owners: Indices) -> FormulaEquation:
        return FormulaEquation(self.evaluation, self.wanted[owners], self._at(owners), with_theta=self.with_theta)

    def _at(self, owners: Indices) -> list[Floats | float]:
        return [argument[owners] if isinstance(argument, np.ndarray) else argument for argument in self.arguments]

    def _in_doubles(self, x: Floats, owners: Indices) -> Floats:
        value: Floats = self.evaluation.in_doubles(x, *self._at(owners))
        return (value + (x - self.wanted[owners])) if self.with_theta else value - self.wanted[owners]

    def in_balls(self, x: Floats, owners: Indices) -> Floats:
        less = self.wanted[owners] - x if self.with_theta else self.wanted[owners]
        return self.evaluation.sharp(np.ones(x.shape, dtype=bool), [x, *self._at(owners)], less)

    def _error(self, x: Floats, low: Floats, high: Floats) -> Floats:
        """Estimate how far rounding can have moved the solution.

        The error of the value over its slope.
        """
        step = np.minimum(ERROR_STEP * (high - low), TAIL * (x - low))
        before, after = np.maximum(x - step, low), np.minimum(x + step, high)
        owners = np.arange(x.size)
        slope = (self._in_doubles(after, owners) - self._in_doubles(before, owners)) / (after - before)
        carried: Floats = self.evaluation.error(x, *self.arguments) / (
            np.maximum(slope, 1.0) if self.with_theta else slope
        )
        return carried
