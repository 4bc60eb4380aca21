"""What a formula must be before it is a law: a cdf on its support."""

from __future__ import annotations

import numpy as np

from smqopt.algebra import Evaluation
from smqopt.errors import InputError
from smqopt.numeric import SUPPORT_END, Floats
from smqopt.valuation.law._base import Valuation
from smqopt.valuation.monotonicity._distinct_rows import distinct_owners

PIECES = 64
"""Every different law is looked at between so many pieces of its support."""


def check_cdf(where: str, law: Valuation, F: Evaluation, f: Evaluation) -> None:
    """Check that a formula rises from 0 at low to 1 at high and is finite between.

    Every different row of parameters is looked at on a grid, and then asked for a proof, which
    can refute a cdf between the points of a grid.

    Parameters
    ----------
    where
        What to call the formula in an error.
    law
        The law with a unit of 1.
    F, f
        The cdf and its derivative as functions of θ and the parameters.

    Raises
    ------
    InputError
        Naming the formula, the owner, the point and the values.
    """
    owners = distinct_owners(law)
    part = law if law.size is None else law.take(np.array(owners, dtype=np.intp))
    _Grid(where, part, owners, F, f).check()
    verdict = law.is_proved_cdf()
    if verdict.holds is False:
        raise InputError(_of(where, verdict.owner), "must not fall", value=verdict.method, remedy="correct the formula")


class _Grid:
    """The formula at equally spaced points of every support."""

    def __init__(self, where: str, law: Valuation, owners: list[int | None], F: Evaluation, f: Evaluation) -> None:
        self.where, self.owners = where, owners
        shape = (len(owners),)
        self.low, self.high = np.broadcast_to(law.low, shape), np.broadcast_to(law.high, shape)
        self.arguments = [np.broadcast_to(law.arguments[str(symbol)], shape) for symbol in F.symbols[1:]]
        self.F, self.f = F, f

    def check(self) -> None:
        before, F_before = self.low, self._limit(self.low, self.high)
        self._require(np.isfinite(F_before), "must be finite at low", self.low, F_before, "fix the formula")
        self._require(
            F_before <= SUPPORT_END.value,
            "must be 0 at low: an atom at the low end is not supported yet",
            self.low,
            F_before,
            "choose low where the cdf is 0",
        )
        self._require(F_before >= -SUPPORT_END.value, "must be 0 at low", self.low, F_before, "fix the formula or low")
        F_high = self._limit(self.high, self.low)
        self._require(
            np.abs(F_high - 1.0) <= SUPPORT_END.value,
            "must be 1 at high",
            self.high,
            F_high,
            "fix the formula or high",
        )
        for k in range(1, PIECES + 1):
            t = self.low + (self.high - self.low) * (k / PIECES) if k < PIECES else self.high
            F_here = self.F(t, *self.arguments) if k < PIECES else F_high
            self._require(np.isfinite(F_here), "must be finite on the support", t, F_here, "fix the formula")
            falls = F_here < F_before - SUPPORT_END.value
            self._require(~falls, "must not fall", t, F_here, "fix the formula", before=(before, F_before))
            if k < PIECES:
                f_here = self.f(t, *self.arguments)
                self._require(np.isfinite(f_here), "must have a finite density inside", t, f_here, "fix the formula")
                self._require(f_here >= 0, "must not fall: its density is negative", t, f_here, "fix the formula")
            before, F_before = t, F_here

    def _limit(self, end: Floats, inside: Floats) -> Floats:
        """Return F at an end of the support, or beside it.

        Beside it where the formula says 0/0 there.
        """
        F = self.F(end, *self.arguments)
        return np.where(np.isnan(F), self.F(np.nextafter(end, inside), *self.arguments), F)

    def _require(
        self,
        good: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
        rule: str,
        at: Floats,
        value: Floats,
        remedy: str,
        before: tuple[Floats, Floats] | None = None,
    ) -> None:
        bad = np.flatnonzero(~good)
        if bad.size:
            k = bad[0]
            earlier = "" if before is None else f"{float(before[1][k])!r} at theta = {float(before[0][k])!r}, then "
            found = f"{earlier}{float(value[k])!r} at theta = {float(at[k])!r}"
            raise InputError(_of(self.where, self.owners[k]), rule, value=found, remedy=remedy)


def _of(where: str, owner: int | None) -> str:
    return where if owner is None else f"{where} of owner {owner + 1}"
