"""Multipliers of side constraints for a market in parts.

A sketch of each law in each stratum is solved in memory with the same constraints. Thresholds at
its multipliers are posted to all, and what rows miss then, exactly, is taken back by Newton's
method with the slopes of the sketch, until the bound is met. Where money is left, a stratum may
have owners whose ε the multipliers take off: they are tied, and sell with what acceptance rows
ask for. Requirements near theirs are counted one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import InputError, SolverError
from smqopt.market import ConstraintRecord, Market, Row, Status
from smqopt.numeric import BUDGET_MARGIN, UNITS, Floats, Indices, Mask, nearest_of_units
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.parts._cluster import Progress
from smqopt.scale.parts._laws import laws_of
from smqopt.scale.parts._part_records import join_strata, total
from smqopt.scale.parts._strata import Stratum, StratumRow, StratumTerms, is_tied, rows_of, terms_of
from smqopt.scale.passes._first_pass import Overview
from smqopt.scale.passes._offers_pass import OffersOfPart, Price, offers_pass
from smqopt.scale.passes._sketch import Sketch, owner_part, windows_around
from smqopt.scale.passes._window_pass import open_windows
from smqopt.solvers import answers, solve
from smqopt.valuation import ByOwner

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


@dataclass(frozen=True, eq=False, kw_only=True)
class _Restated(ConstraintRecord):
    """The rows of a record over the few owners that stand for all."""

    kind: ClassVar[str] = "restated"

    given: tuple[Row, ...]

    def rows(self, market: Market) -> Iterator[Row]:  # noqa: ARG002 -- as all records have it
        yield from self.given


@dataclass(frozen=True)
class _Usage:
    """What the budget and each row hold; arrays of shape (k + 1,)."""

    left: Floats
    size: Floats


@dataclass(frozen=True, eq=False)
class _FewRows:
    """Rows in doubles: coefficients of acceptance and spend, shape (k, strata)."""

    strata: Sequence[Stratum]
    a: Floats
    s: Floats
    at_most: Floats

    @classmethod
    def of(cls, rows: Sequence[StratumRow], strata: Sequence[Stratum]) -> _FewRows:
        a = [[float(sum(row.acceptance.get(g, (0,)))) / 2.0 for g in strata] for row in rows]
        s = [[float(row.spend.get(g, 0)) for g in strata] for row in rows]
        return cls(strata, np.array(a), np.array(s), np.array([row.at_most for row in rows]))


@dataclass(frozen=True)
class _Tie:
    """Owners of a stratum who have to sell in part."""

    epsilon: float
    share: float
    """Their acceptance."""


@dataclass(frozen=True, eq=False)
class _Guess:
    """Multipliers, and the answers that they leave open."""

    sketch: Sketch
    z: Floats
    """Of the budget and each row, shape (k + 1,)."""
    ties: Mapping[Stratum, _Tie]


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

    def _start(self, every: Sequence[Sequence[StratumRow]], rows: Sequence[StratumRow]) -> _Guess:
        """Solve the sketch; count one by one who is near to be tied."""
        sketch = Sketch(self.overview.counts, {})
        for _ in range(_MOST_PASSES):
            z, sold = self._solve_few(every, sketch)
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
                ties[stratum] = _Tie(nearest, float(np.clip(share, 0.0, 1.0)))
        guess = _Guess(sketch, z, ties)
        few, at = _FewRows.of(rows, sorted(self.counts)), np.flatnonzero(z)
        slopes, missing = self._ties_of_few(few, guess, at)
        z[at] += np.linalg.lstsq(slopes * z[at], missing, rcond=_RANK)[0] * z[at]
        return guess

    def _solve_few(
        self, every: Sequence[Sequence[StratumRow]], sketch: Sketch
    ) -> tuple[Floats, dict[Stratum, list[tuple[Floats, Floats, Floats]]]]:
        """Solve for few owners in memory, each in a bin by herself.

        Returns multipliers, and by strata requirements, numbers of owners and acceptances.
        """
        laws = laws_of(self.market.valuation)
        kinds = sorted(sketch.counts)
        means = [sketch.means(kind) for kind in kinds]
        ends = np.cumsum([0] + [points.size for points, _ in means])
        weights = np.concatenate([count for _, count in means])
        places = [(range(ends[k], ends[k + 1]), laws[key]) for k, (key, _) in enumerate(kinds)]
        law = laws[0] if len(laws) == 1 else ByOwner.from_parts(places)
        few = Market(np.concatenate([points for points, _ in means]), law, multiplicity=weights)
        of_stratum: dict[Stratum, list[Indices]] = {}
        for k, (_, stratum) in enumerate(kinds):
            of_stratum.setdefault(stratum, []).append(np.arange(ends[k], ends[k + 1], dtype=np.intp))
        owners = {stratum: np.concatenate(found) for stratum, found in of_stratum.items()}
        restated = [
            _Restated(name=record.words, given=tuple(_over(row, owners, weights) for row in of_record))
            for record, of_record in zip(self.records, every, strict=True)
        ]
        found = solve(few, self.budget * (1.0 - _MARGIN), constraints=restated)
        if found.status is Status.INFEASIBLE:
            raise SolverError(
                "solve", "the constraints cannot hold together", value="; ".join(found.conflict), remedy="relax one"
            )
        sold: dict[Stratum, list[tuple[Floats, Floats, Floats]]] = {}
        for k, (_, stratum) in enumerate(kinds):
            (epsilon, count), q = means[k], found.acceptance[ends[k] : ends[k + 1]]
            sold.setdefault(stratum, []).append((epsilon, count.astype(np.float64), q))
        z = np.array([found.budget_price, *found.constraint_prices])
        return self._settle([row for one in every for row in one], z, found.purchased_privacy), sold

    def _settle(self, rows: Sequence[StratumRow], z: Floats, value: float) -> Floats:
        """Return multipliers without roundings around 0: they would say who is tied."""
        counts, few = self.counts, _FewRows.of(rows, sorted(self.counts))
        owners = np.array([counts[stratum] for stratum in few.strata], dtype=np.float64)
        size = np.append(self.budget, np.abs(few.at_most) + np.abs(few.a) @ owners)
        return np.where(np.abs(z) * size <= _NOTHING * value, 0.0, z)

    def _terms(self, rows: Sequence[StratumRow], z: Floats) -> dict[Stratum, StratumTerms]:
        return terms_of(rows, float(z[0]), z[1:].tolist(), sorted(self.counts))

    def _post(self, rows: Sequence[StratumRow], guess: _Guess) -> list[OffersOfPart]:
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

    def _step(self, rows: Sequence[StratumRow], guess: _Guess, active: Mask, usage: _Usage, value: float) -> _Guess:
        """Take a step of Newton's method on the rows that hold with equality, and on ties."""
        z, at, tied = guess.z, np.flatnonzero(active), sorted(guess.ties)
        unit = np.maximum(np.abs(z), _LEAST_UNIT * value / np.maximum(usage.size, np.finfo(float).tiny))
        few, columns = _FewRows.of(rows, sorted(self.counts)), []
        share = np.array([guess.ties[stratum].share for stratum in tied])
        for j in range(at.size + len(tied)):
            ends = []
            for side in (1.0, -1.0):
                moved, shares = z.copy(), share.copy()
                if j < at.size:
                    moved[at[j]] += side * _STEP * unit[at[j]]
                else:
                    shares[j - at.size] += side * _STEP
                ends.append(self._left_of_few(few, guess, moved, dict(zip(tied, shares.tolist(), strict=True))))
            columns.append(((ends[1] - ends[0]) / (2.0 * _STEP) / usage.size)[at])
        slopes, missing = self._ties_of_few(few, guess, at)
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
        return _Guess(guess.sketch, self._settle(rows, better, value), ties)

    def _ties_of_few(self, few: _FewRows, guess: _Guess, at: Indices) -> tuple[Floats, Floats]:
        """Return how multipliers move what is taken off tied ε, and what it misses."""
        places = [few.strata.index(stratum) for stratum in sorted(guess.ties)]
        epsilon = np.array([guess.ties[stratum].epsilon for stratum in sorted(guess.ties)])
        slopes = np.vstack([np.zeros(len(few.strata)), few.a])[:, places].T
        unit = epsilon + np.abs(slopes) @ np.abs(guess.z)
        unit = np.where(unit > 0, unit, 1.0)
        return slopes[:, at] / unit[:, None], (epsilon - slopes @ guess.z) / unit

    def _left_of_few(self, few: _FewRows, guess: _Guess, z: Floats, shares: Mapping[Stratum, float]) -> Floats:
        """Return what the sketch leaves of the budget and rows.

        Who sells at a price of 0 does not move with multipliers.
        """
        laws, taken, price = laws_of(self.market.valuation), few.a.T @ z[1:], z[0] + few.s.T @ z[1:]
        still = guess.z[0] + few.s.T @ guess.z[1:] <= 0
        taken[still] = (few.a.T @ guess.z[1:])[still]
        size = np.abs(few.a).T @ np.abs(guess.z[1:])
        acceptance, spend = np.zeros(taken.size), np.zeros(taken.size)
        for kind in sorted(guess.sketch.counts):
            g = few.strata.index(kind[1])
            epsilon, weight = guess.sketch.rows(kind)
            x = 1.0 / float(price[g]) if price[g] > 0 else math.inf
            found = answers([owner_part(laws[kind[0]], np.maximum(epsilon - taken[g], 0.0))], x, epsilon.size)
            theta, q = found.thresholds, found.acceptance
            if still[g] and kind[1] in shares:
                tied = is_tied(epsilon, taken[g], size[g])
                share = shares[kind[1]]
                theta = np.where(tied, laws[kind[0]].ppf(min(max(share, 0.0), 1.0)), theta)
                q = np.where(tied, share, q)
            acceptance[g] += weight @ q
            spend[g] += weight @ (q * theta)
        return np.append(self.budget - spend.sum(), few.at_most - few.a @ acceptance - few.s @ spend)

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


def _over(row: StratumRow, owners: Mapping[Stratum, Indices], weights: NDArray[np.int64]) -> Row:
    """Return a row over few owners of each stratum."""

    def columns(terms: Mapping[Stratum, float]) -> tuple[Indices, Floats]:
        if not terms:
            return np.empty(0, dtype=np.intp), np.empty(0)
        at = np.concatenate([owners[stratum] for stratum in terms])
        each = np.concatenate([np.full(owners[stratum].size, value) for stratum, value in terms.items()])
        return at, each * weights[at]

    acceptance = {stratum: float(sum(ends) / 2) for stratum, ends in row.acceptance.items()}
    return Row(
        row.name,
        row.at_most,
        row.equal,
        acceptance=columns(acceptance),
        spend=columns({stratum: float(s) for stratum, s in row.spend.items()}),
        rounded=True,
    )
