"""Multipliers of side constraints for a market in parts.

A sketch of each law in each stratum is solved in memory with the same constraints. Thresholds at
its multipliers are posted to all, and what rows miss then, exactly, is taken back by Newton's
method with the slopes of the sketch, until the bound is met. Where money is left, a stratum may
have owners whose ε the multipliers take off: they are tied, and sell with what acceptance rows
ask for. Requirements near theirs are counted one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import ConstraintRecord, Status
from smqopt.numeric import BUDGET_MARGIN, UNITS, Floats, Mask, nearest_of_units
from smqopt.scale._few_owners import FewRows, Guess, Tie, solve_few
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.parts._cluster import Progress
from smqopt.scale.parts._laws import laws_of
from smqopt.scale.parts._part_records import join_strata, total
from smqopt.scale.parts._strata import Stratum, StratumRow, StratumTerms, rows_of, terms_of
from smqopt.scale.passes._first_pass import Overview
from smqopt.scale.passes._offers_pass import OffersOfPart, Price, offers_pass
from smqopt.scale.passes._sketch import Sketch, windows_around
from smqopt.scale.passes._window_pass import open_windows

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale.parts._parquet_market import ParquetMarket

_MARGIN = 2.0**-44
"""How far inside budget and rows the multipliers aim, relative to the sum of absolute terms."""
_GAP = 2.0**-39
"""What is left of budget and rows may be worth so much, relative to purchased privacy."""
_EQUAL = 2.0**-40
"""Equations may be missed by so much, relative to the sum of absolute terms."""
_STEP = 2.0**-17
"""Of multipliers, for the slopes of the sketch; only a step's direction hangs on it."""
_LEAST_UNIT = 2.0**-10
"""Of a multiplier near 0, as a share of what its row could cost; only a step hangs on it."""
_RANK = 1e-12
"""Singular values below this share of the largest are no direction of a step."""
_TIED = 2.0**-30
"""So near to a requirement, relative to it, multipliers of the sketch mean it."""
_NOTHING = 2.0**-46
"""Rows worth less, relative to purchased privacy, have no price."""
_MOST_PASSES = 16


@dataclass(frozen=True)
class _Usage:
    """What the budget and each row hold; arrays of shape (k + 1,)."""

    left: Floats
    size: Floats


@dataclass(frozen=True, eq=False)
class ConstrainedSearch:
    """Searches multipliers, and posts the thresholds that they ask for."""

    market: ParquetMarket
    """Split by the strata."""
    budget: float
    records: tuple[ConstraintRecord, ...]
    out: Path
    overview: Overview
    client: Client
    progress: Progress | None

    def run(self) -> ParquetSolution:
        """Search.

        Raises
        ------
        InputError
            If a row leaves no choice.
        SolverError
            If constraints cannot hold together, or are not met within a limit of passes.
        """
        every = rows_of(self.records, self.market.strata, self.counts)
        rows = [row for one in every for row in one]
        for row in rows:
            if row.fixed:
                raise InputError(
                    f"constraint {row.name!r}", "leaves a group no choice: not supported for a market in parts",
                    remedy="relax it a little, or leave the group out of the folder",
                )  # fmt: skip
        guess = self._start(every, rows)
        free = np.array([False, *(row.equal for row in rows)])
        active = free | (guess.z > 0)
        for passes in range(1, _MOST_PASSES + 1):
            posted = self._post(rows, guess)
            usage = self._usage(rows, posted)
            if self._is_met(rows, posted, guess.z):
                return self._deliver(guess.z, posted, passes)
            active |= usage.left < 0
            value = nearest_of_units(total([one.record for one in posted], "privacy"))
            guess = self._step(rows, guess, active, usage, value)
            active &= free | (guess.z > 0)
        raise SolverError(
            "solve", f"did not meet budget and constraints in {_MOST_PASSES} passes", value=self.budget,
            remedy="relax a constraint a little, or change the budget",
        )  # fmt: skip

    @property
    def counts(self) -> dict[Stratum, int]:
        """How many owners there are of each stratum."""
        found: dict[Stratum, int] = {}
        for (_, stratum), counted in self.overview.counts.items():
            found[stratum] = found.get(stratum, 0) + counted.owners
        return found

    def _start(self, every: Sequence[Sequence[StratumRow]], rows: Sequence[StratumRow]) -> Guess:
        """Solve the sketch; count one by one who is near to be tied."""
        sketch = Sketch(self.overview.counts, {})
        for _ in range(_MOST_PASSES):
            found, sold = solve_few(
                laws_of(self.market.valuation), self.records, every, sketch, self.budget * (1.0 - _MARGIN)
            )
            z = self._settle(rows, np.array([found.budget_price, *found.constraint_prices]), found.purchased_privacy)
            open_ended = {stratum: one for stratum, one in self._terms(rows, z).items() if one.price == 0}
            windows = {}
            for kind, counted in sketch.counts.items():
                taken = open_ended[kind[1]].taken if kind[1] in open_ended else 0.0
                if counted.in_bins and taken > 0 and not sketch.has_opened(kind, asked := [(taken, taken)]):
                    windows[kind] = windows_around([*(sketch.opened[kind][0] if kind in sketch.opened else ()), *asked])
            if not windows:
                break
            sketch = open_windows(self.market, sketch, windows, self.overview, self.client, self.progress)
        ties = {}
        for stratum, one in open_ended.items():
            epsilon, weight, q = (np.concatenate(each) for each in zip(*sold[stratum], strict=True))
            nearest = float(epsilon[np.argmin(np.abs(epsilon - one.taken))])
            if abs(nearest - one.taken) <= _TIED * (nearest + one.size):
                at = epsilon == nearest
                share = (weight @ q - weight[epsilon > nearest].sum()) / weight[at].sum()
                ties[stratum] = Tie(nearest, float(np.clip(share, 0.0, 1.0)))
        guess = Guess(sketch, z, ties)
        few, at = FewRows.of(rows, sorted(self.counts)), np.flatnonzero(z)
        slopes, missing = few.ties(guess, at)
        z[at] += np.linalg.lstsq(slopes * z[at], missing, rcond=_RANK)[0] * z[at]
        return guess

    def _settle(self, rows: Sequence[StratumRow], z: Floats, value: float) -> Floats:
        """Return multipliers without roundings around 0: they would say who is tied."""
        counts, few = self.counts, FewRows.of(rows, sorted(self.counts))
        owners = np.array([counts[stratum] for stratum in few.strata], dtype=np.float64)
        size = np.append(self.budget, np.abs(few.at_most) + np.abs(few.a) @ owners)
        return np.where(np.abs(z) * size <= _NOTHING * value, 0.0, z)

    def _terms(self, rows: Sequence[StratumRow], z: Floats) -> dict[Stratum, StratumTerms]:
        return terms_of(rows, float(z[0]), z[1:].tolist(), sorted(self.counts))

    def _post(self, rows: Sequence[StratumRow], guess: Guess) -> list[OffersOfPart]:
        z, terms = guess.z, self._terms(rows, guess.z)
        status, x = (Status.BINDING, 1.0 / float(z[0])) if z[0] > 0 else (Status.SLACK, math.inf)
        strata = tuple(
            (
                stratum,
                one.taken,
                one.size,
                1.0 / one.price if one.price else math.inf,
                guess.ties[stratum].share if stratum in guess.ties else 0.0,
            )
            for stratum, one in terms.items()
        )
        price = Price(status.name, x, x, strata)
        return offers_pass(self.market, self.out, self.overview.parts, price, self.client, self.progress)

    def _usage(self, rows: Sequence[StratumRow], posted: Sequence[OffersOfPart]) -> _Usage:
        """Return what all owners leave of budget and rows, inside the margin."""
        sums = join_strata(one for part in posted for one in part.strata)
        acceptance, spend = ({one.stratum: getattr(one, name) for one in sums} for name in ("acceptance", "spend"))
        left, size = [], []
        for row in rows:
            low, high, whole = row.usage(acceptance, spend, UNITS)
            left.append(float(Fraction(row.at_most) - (low + high) / 2))
            size.append(float(whole))
        spent = sum(one.spend[0] for one in sums)
        return self._inside(
            rows,
            np.array([float(Fraction(self.budget) - Fraction(spent, UNITS)), *left]),
            np.array([self.budget, *size]),
        )

    def _inside(self, rows: Sequence[StratumRow], left: Floats, size: Floats) -> _Usage:
        equal = np.array([False, *(row.equal for row in rows)])
        return _Usage(left - np.where(equal, 0.0, _MARGIN * size), size)

    def _is_met(self, rows: Sequence[StratumRow], posted: Sequence[OffersOfPart], z: Floats) -> bool:
        """Return whether all rows are kept, and little is left of those with a price."""
        sums = join_strata(one for part in posted for one in part.strata)
        acceptance, spend = ({one.stratum: getattr(one, name) for one in sums} for name in ("acceptance", "spend"))
        worth = Fraction(0)
        for row, y in zip(rows, z[1:].tolist(), strict=True):
            low, high, size = row.usage(acceptance, spend, UNITS)
            over = max(
                high - Fraction(row.at_most), Fraction(row.at_most) - low if row.equal else high - Fraction(row.at_most)
            )
            if over > (Fraction(_EQUAL) * size if row.equal else 0):
                return False
            worth += abs(Fraction(y) * (Fraction(row.at_most) - low))
        records = [one.record for one in posted]
        left = Fraction(self.budget) - Fraction(total(records, "spend"), UNITS)
        worth += Fraction(float(z[0])) * left
        enough = left >= Fraction(BUDGET_MARGIN.value) * Fraction(self.budget)
        return bool(enough and worth <= Fraction(_GAP) * Fraction(total(records, "privacy"), UNITS))

    def _step(self, rows: Sequence[StratumRow], guess: Guess, active: Mask, usage: _Usage, value: float) -> Guess:
        """Take a step of Newton's method on the rows that hold with equality, and on ties."""
        z, at, tied = guess.z, np.flatnonzero(active), sorted(guess.ties)
        unit = np.maximum(np.abs(z), _LEAST_UNIT * value / np.maximum(usage.size, np.finfo(float).tiny))
        few, columns = FewRows.of(rows, sorted(self.counts)), []
        share = np.array([guess.ties[stratum].share for stratum in tied])
        for j in range(at.size + len(tied)):
            ends = []
            for side in (1.0, -1.0):
                moved, shares = z.copy(), share.copy()
                if j < at.size:
                    moved[at[j]] += side * _STEP * unit[at[j]]
                else:
                    shares[j - at.size] += side * _STEP
                held = dict(zip(tied, shares.tolist(), strict=True))
                ends.append(few.left(self.budget, laws_of(self.market.valuation), guess, moved, held))
            columns.append(((ends[1] - ends[0]) / (2.0 * _STEP) / usage.size)[at])
        slopes, missing = few.ties(guess, at)
        kept = np.hstack([slopes * unit[at], np.zeros((len(tied), len(tied)))])
        change = np.linalg.lstsq(
            np.vstack([np.column_stack(columns), kept]), np.append((usage.left / usage.size)[at], missing), rcond=_RANK
        )[0]
        better = z.copy()
        better[at] += change[: at.size] * unit[at]
        equal = np.array([False, *(row.equal for row in rows)])
        better[~equal] = np.maximum(better[~equal], 0.0)
        better[0] = max(better[0], 0.5 * z[0])
        share = np.clip(share + change[at.size :], 0.0, 1.0)
        ties = {stratum: replace(guess.ties[stratum], share=q) for stratum, q in zip(tied, share.tolist(), strict=True)}
        return Guess(guess.sketch, self._settle(rows, better, value), ties)

    def _deliver(self, z: Floats, posted: Sequence[OffersOfPart], passes: int) -> ParquetSolution:
        return ParquetSolution(
            market=self.market.split_by(()),
            out=self.out,
            budget=self.budget,
            budget_price=float(z[0]),
            status=Status.BINDING if z[0] > 0 else Status.SLACK,
            probability_of_high=0.0,
            parts=tuple(one.record for one in posted),
            passes=passes,
            constraints=self.records,
            constraint_prices=tuple(z[1:].tolist()),
            strata=tuple(sorted(self.counts.items())),
        )
