"""The price of a market in parts, from a sketch and exact sums.

A pass over all owners says exactly what is spent at a price; what the sketch is off by there is
added to it, and it is searched again. At a jump of the spend all who are on a flat piece of their
ironed cost curve draw between its ends, with one chance, so that it ends. The two prices between
which the budget lies are kept, and halved where the sketch does not help.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from smqopt.errors import InputError, SolverError
from smqopt.market import ConstraintRecord, Status, check_records, checked_budget
from smqopt.numeric import BUDGET_MARGIN, SEARCH_CLOSE, UNITS, Bracket, largest_within, log_ratio, nearest_of_units
from smqopt.scale._constrained_search import ConstrainedSearch
from smqopt.scale._solution import ParquetSolution
from smqopt.scale.parts._cluster import Progress, workers
from smqopt.scale.parts._laws import LawByColumns, laws_of
from smqopt.scale.parts._part_records import OfferRecord, total
from smqopt.scale.parts._strata import below, checked_constraints
from smqopt.scale.passes._first_pass import Overview, first_pass
from smqopt.scale.passes._offers_pass import Price, offers_pass
from smqopt.scale.passes._sketch import Sketch, owner_part
from smqopt.scale.passes._window_pass import open_windows
from smqopt.solvers import OwnerPart
from smqopt.valuation import Ironed

if TYPE_CHECKING:
    from distributed import Client

    from smqopt.scale.parts._parquet_market import ParquetMarket

_NEAR = 2.0**-46
"""So near to the target, relative to it, a spend is taken."""
_BELOW = 2.0**-50
"""How far below the target the price is sought."""
_STEEPEST = 0.5
"""The correction of a model tilts by no more, in log spend a log x: spend rises still."""
_MOST_PASSES = 64
"""Halving the bracket alone needs about as many."""


def solve_parts(
    market: ParquetMarket,
    budget: float,
    client: Client | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    constraints: Sequence[ConstraintRecord] = (),
) -> ParquetSolution:
    """Find thresholds for a market in parts.

    Parameters
    ----------
    market
        The market.
    budget
        B ≥ 0, in currency.
    client
        Of a Dask cluster; by default a pool of processes on this machine.
    out
        The folder of results, `NAME-solution` beside the owners by default. A run that was stopped
        goes on there where it stopped.
    progress
        Told how many parts are done of how many, pass by pass.
    constraints
        Records of coverage, group budgets, parity and expected owners over columns of groups, of a
        market whose laws have virtual costs that rise.

    Raises
    ------
    InputError
        Naming the file, row group and row that is wrong; or the part that changed on the way; or
        the constraint that is not supported, before the first pass.
    SolverError
        If the budget is not met within a limit of passes, or constraints cannot hold together.
    """
    checked_budget(budget)
    if out is not None and not (isinstance(out, str | os.PathLike) and os.fspath(out)):
        raise InputError("solve: argument 'out'", "must be a path", value=out, remedy="name a folder, or leave it out")
    place = market.folder.with_name(f"{market.folder.name}-solution") if out is None else Path(out).absolute()
    if place == market.folder or market.folder in place.parents:
        raise InputError("solve: argument 'out'", "must lie outside the owners' folder", value=str(out))
    if place.exists() and not place.is_dir():
        raise InputError("solve: argument 'out'", "must be a folder", value=str(place), remedy="choose another place")
    check_records(constraints)
    split = market
    if constraints:
        split = market.split_by(checked_constraints(market.valuation, market.label_columns, constraints, budget))
    with workers(client) as pool:
        overview = first_pass(split, place / ".work", pool, progress)
        if constraints:
            found = ConstrainedSearch(split, budget, tuple(constraints), place, overview, pool, progress).run()
        else:
            found = _PartsSearch(market, budget, place, overview, pool, progress).run()
    found.save()
    return found


@dataclass(frozen=True)
class _PartsSearch:
    market: ParquetMarket
    budget: float
    out: Path
    overview: Overview
    client: Client
    progress: Progress | None

    def run(self) -> ParquetSolution:
        """Search for the price and post it."""
        status = self._status()
        if status is not Status.BINDING:
            x = 0.0 if status is Status.ZERO_BUDGET else math.inf
            return self._deliver(status, x, self._post(Price(status.name, x, x)), 0)
        target = self.budget * (1.0 - BUDGET_MARGIN.value)
        sketch = Sketch(self.overview.counts, {})
        model = SpendModel(self._few(sketch))
        low, high, x, nudges = 0.0, math.inf, _start(model.parts), 0
        for passes in range(1, _MOST_PASSES):
            sketch, model, found = self._next(sketch, model, target, x)
            x, above = found.below, found.above
            if not low < x < high:
                nudges += 1
                x = above = _beside(low, high, x, 0.5 * SEARCH_CLOSE * 4.0**nudges)
            if not low < x < high or high <= low * (1.0 + 4 * SEARCH_CLOSE):  # they are neighbours
                x, above = low, high
            adjacent = x < above <= x * (1.0 + 4 * SEARCH_CLOSE)
            records = self._post(Price(status.name, x, above if adjacent else x))
            spend, jump = total(records, "spend"), total(records, "more_spend")
            if Fraction(spend, UNITS) <= Fraction(target):
                low = x
                near = Fraction(spend, UNITS) >= Fraction(target * (1.0 - _NEAR))
                spans = Fraction(spend + jump, UNITS) > Fraction(target)
                if near or spans or high <= x * (1.0 + 4 * SEARCH_CLOSE):
                    return self._deliver(status, x, records, passes)
            else:
                high = x
            model = model.correct(x, nearest_of_units(spend))
        raise SolverError(
            "solve", f"did not meet the budget in {_MOST_PASSES} passes", value=self.budget, remedy="change it a little"
        )

    def _status(self) -> Status:
        if self.budget == 0:
            return Status.ZERO_BUDGET
        return Status.SLACK if Fraction(self.budget) * UNITS >= self.overview.most else Status.BINDING

    def _next(
        self, sketch: Sketch, model: SpendModel, target: float, start: float
    ) -> tuple[Sketch, SpendModel, Bracket]:
        """Search the model; open bins where answers jump near the price."""
        goal = target * (1.0 - _BELOW)
        found = largest_within(model.spend, goal, start, 1.0, SEARCH_CLOSE)
        windows = sketch.windows(laws_of(self.market.valuation), found.below)
        if windows:
            sketch = open_windows(self.market, sketch, windows, self.overview, self.client, self.progress)
            model = replace(model, parts=self._few(sketch))
            found = largest_within(model.spend, goal, found.below, found.slope, SEARCH_CLOSE)
        return sketch, model, found

    def _few(self, sketch: Sketch) -> list[OwnerPart]:
        law = self.market.valuation
        if not isinstance(law, LawByColumns):
            return sketch.owner_parts(laws_of(law))
        sample = self.overview.sample
        assert sample is not None  # noqa: S101
        columns = dict(zip(sorted(set(law.columns.values())), sample.rows[:, 1:].T.copy(), strict=True))
        return [owner_part(law.of(columns), sample.rows[:, 0].copy(), sample.weights)]

    def _post(self, price: Price) -> list[OfferRecord]:
        posted = offers_pass(self.market, self.out, self.overview.parts, price, self.client, self.progress)
        return [one.record for one in posted]

    def _deliver(self, status: Status, x: float, records: Sequence[OfferRecord], passes: int) -> ParquetSolution:
        jump = total(records, "more_spend")
        high = 0.0
        if jump > 0:
            left = Fraction(self.budget * (1.0 - BUDGET_MARGIN.value)) - Fraction(total(records, "spend"), UNITS)
            share = min(max(left * UNITS / jump, Fraction(0)), Fraction(1))
            high = below(share)  # the rounding must not spend more
        price = math.inf if x == 0 else 0.0 if x == math.inf else 1.0 / x
        return ParquetSolution(
            market=self.market,
            out=self.out,
            budget=self.budget,
            budget_price=price,
            status=status,
            probability_of_high=high,
            parts=tuple(records),
            passes=passes,
        )


@dataclass(frozen=True)
class SpendModel:
    """What few owners say of the spend of all.

    Corrected by what it was at the last two prices.
    """

    parts: Sequence[OwnerPart]
    miss: float = 0.0
    """log(spend of all/spend of the few) at `at`."""
    tilt: float = 0.0
    """How fast that rises in log x."""
    at: float = 1.0

    def few(self, x: float) -> float:
        """Return what the few are paid at price 1/x, in currency."""
        with np.errstate(over="ignore"):
            return math.fsum(part_total for part in self.parts for part_total in part.spend(x))

    def spend(self, x: float) -> float:
        """Return about what all owners are paid at price 1/x, in currency."""
        few = self.few(x)
        return few * math.exp(self.miss + self.tilt * log_ratio(x, self.at)) if few > 0 and self.miss else few

    def correct(self, x: float, spend: float) -> SpendModel:
        """Return the model that is exact at one price, and as it was at the one before."""
        few = self.few(x)
        if not (few > 0 and spend > 0):
            return self
        miss, tilt = log_ratio(spend, few), self.tilt
        if self.miss and x != self.at:
            tilt = min(max((miss - self.miss) / log_ratio(x, self.at), -_STEEPEST), _STEEPEST)
        return replace(self, miss=miss, tilt=tilt, at=x)


def _start(parts: Sequence[OwnerPart]) -> float:
    """Return x at which the search begins: where about everybody sells."""
    laws = [part.law.law if isinstance(part.law, Ironed) else part.law for part in parts]
    return max(float(np.max(law.high)) for law in laws) / max(float(part.epsilon.max()) for part in parts)


def _beside(low: float, high: float, x: float, far: float) -> float:
    """Return a point between two prices, near the one that the model points to."""
    if 0 < low < high < math.inf and high <= low * (1.0 + 2.0 * far):
        middle = math.sqrt(low) * math.sqrt(high)
        return middle if low < middle < high else 0.5 * (low + high)
    return low * (1.0 + far) if x <= low else high * (1.0 - min(far, 0.5))
