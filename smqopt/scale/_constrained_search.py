"""Multipliers of side constraints for a market in parts.

A sketch of each law in each stratum is solved in memory with the same constraints. Thresholds at
its multipliers are posted to all, and what rows miss then, exactly, is taken back by Newton's
method with the slopes of the sketch, until the bound is met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from smqopt.scale.parts._strata import Stratum, StratumRow, StratumTerms, rows_of, terms_of
from smqopt.scale.passes._first_pass import Overview
from smqopt.scale.passes._offers_pass import OffersOfPart, Price, offers_pass
from smqopt.scale.passes._sketch import owner_part
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
            If a row leaves no choice, or the constraints leave money that nobody can spend.
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
        z = self._start(every)
        free = np.array([False, *(row.equal for row in rows)])
        active = free | (z > 0)
        if any(one.price == 0 and one.taken > 0 for one in self._terms(rows, z).values()):
            raise InputError(
                "solve: argument 'budget'", "is more than can be spent under the constraints", value=self.budget,
                remedy="lower it: with money left over, prices alone do not say who sells",
            )  # fmt: skip
        for passes in range(1, _MOST_PASSES + 1):
            posted = self._post(rows, z)
            usage = self._usage(rows, posted)
            if self._is_met(rows, posted, z):
                return self._deliver(z, posted, passes)
            active |= usage.left < 0
            z = self._step(rows, z, active, usage, nearest_of_units(total([one.record for one in posted], "privacy")))
            active &= free | (z > 0)
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

    def _start(self, every: Sequence[Sequence[StratumRow]]) -> Floats:
        """Solve for few owners, each in a bin by herself, in memory."""
        laws = laws_of(self.market.valuation)
        kinds = sorted(self.overview.counts)
        means = [self.overview.counts[kind].means() for kind in kinds]
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
        return np.array([found.budget_price, *found.constraint_prices])

    def _terms(self, rows: Sequence[StratumRow], z: Floats) -> dict[Stratum, StratumTerms]:
        return terms_of(rows, float(z[0]), z[1:].tolist(), sorted(self.counts))

    def _post(self, rows: Sequence[StratumRow], z: Floats) -> list[OffersOfPart]:
        terms = self._terms(rows, z)
        status, x = (Status.BINDING, 1.0 / float(z[0])) if z[0] > 0 else (Status.SLACK, math.inf)
        strata = tuple(
            (stratum, one.taken, 1.0 / one.price if one.price else math.inf) for stratum, one in terms.items()
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

    def _step(self, rows: Sequence[StratumRow], z: Floats, active: Mask, usage: _Usage, value: float) -> Floats:
        """Take a step of Newton's method on the rows that hold with equality."""
        at = np.flatnonzero(active)
        unit = np.maximum(np.abs(z), _LEAST_UNIT * value / np.maximum(usage.size, np.finfo(float).tiny))
        few, slopes = _FewRows.of(rows, sorted(self.counts)), np.empty((at.size, at.size))
        for column, j in enumerate(at.tolist()):
            ends = []
            for side in (1.0, -1.0):
                moved = z.copy()
                moved[j] += side * _STEP * unit[j]
                ends.append(self._left_of_few(few, moved))
            slopes[:, column] = ((ends[1] - ends[0]) / (2.0 * _STEP) / usage.size)[at]
        change = np.linalg.lstsq(slopes, (usage.left / usage.size)[at], rcond=_RANK)[0] * unit[at]
        better = z.copy()
        better[at] += change
        equal = np.array([False, *(row.equal for row in rows)])
        better[~equal] = np.maximum(better[~equal], 0.0)
        better[0] = max(better[0], 0.5 * z[0])
        return better

    def _left_of_few(self, few: _FewRows, z: Floats) -> Floats:
        """Return what the sketch leaves of the budget and rows."""
        laws, taken, price = laws_of(self.market.valuation), few.a.T @ z[1:], z[0] + few.s.T @ z[1:]
        acceptance, spend = np.zeros(taken.size), np.zeros(taken.size)
        for (key, stratum), counted in sorted(self.overview.counts.items()):
            g = few.strata.index(stratum)
            epsilon, weight = counted.rows()
            part = owner_part(laws[key], np.maximum(epsilon - taken[g], 0.0))
            found = answers([part], 1.0 / float(price[g]) if price[g] > 0 else math.inf, epsilon.size)
            acceptance[g] += weight @ found.acceptance
            spend[g] += weight @ (found.acceptance * found.thresholds)
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
