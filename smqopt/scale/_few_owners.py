"""The few owners that stand for all of a market in parts, and their rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from smqopt.errors import SolverError
from smqopt.market import ConstraintRecord, Market, Row, Solution, Status
from smqopt.numeric import Floats, Indices
from smqopt.scale.parts._strata import Stratum, StratumRow, is_tied
from smqopt.scale.passes._sketch import Sketch, owner_part
from smqopt.solvers import answers, solve
from smqopt.valuation import ByOwner, Valuation


@dataclass(frozen=True, eq=False, kw_only=True)
class _Restated(ConstraintRecord):
    """The rows of a record over the few owners that stand for all."""

    kind: ClassVar[str] = "restated"

    given: tuple[Row, ...]

    def rows(self, market: Market) -> Iterator[Row]:  # noqa: ARG002 -- as all records have it
        yield from self.given


@dataclass(frozen=True)
class Tie:
    """Owners of a stratum who have to sell in part."""

    epsilon: float
    share: float
    """Their acceptance."""


@dataclass(frozen=True, eq=False)
class Guess:
    """Multipliers, and the answers that they leave open."""

    sketch: Sketch
    z: Floats
    """Of the budget and each row, shape (k + 1,)."""
    ties: Mapping[Stratum, Tie]


@dataclass(frozen=True, eq=False)
class FewRows:
    """Rows in doubles: coefficients of acceptance and spend, shape (k, strata)."""

    strata: Sequence[Stratum]
    a: Floats
    s: Floats
    at_most: Floats

    @classmethod
    def of(cls, rows: Sequence[StratumRow], strata: Sequence[Stratum]) -> FewRows:
        a = [[float(sum(row.acceptance.get(g, (0,)))) / 2.0 for g in strata] for row in rows]
        s = [[float(row.spend.get(g, 0)) for g in strata] for row in rows]
        return cls(strata, np.array(a), np.array(s), np.array([row.at_most for row in rows]))

    def ties(self, guess: Guess, at: Indices) -> tuple[Floats, Floats]:
        """Return how multipliers move what is taken off tied ε, and what it misses."""
        places = [self.strata.index(stratum) for stratum in sorted(guess.ties)]
        epsilon = np.array([guess.ties[stratum].epsilon for stratum in sorted(guess.ties)])
        slopes = np.vstack([np.zeros(len(self.strata)), self.a])[:, places].T
        unit = epsilon + np.abs(slopes) @ np.abs(guess.z)
        unit = np.where(unit > 0, unit, 1.0)
        return slopes[:, at] / unit[:, None], (epsilon - slopes @ guess.z) / unit

    def left(
        self, budget: float, laws: Sequence[Valuation], guess: Guess, z: Floats, shares: Mapping[Stratum, float]
    ) -> Floats:
        """Return what the sketch leaves of the budget and rows.

        Who sells at a price of 0 does not move with multipliers.
        """
        taken, price = self.a.T @ z[1:], z[0] + self.s.T @ z[1:]
        still = guess.z[0] + self.s.T @ guess.z[1:] <= 0
        taken[still] = (self.a.T @ guess.z[1:])[still]
        size = np.abs(self.a).T @ np.abs(guess.z[1:])
        acceptance, spend = np.zeros(taken.size), np.zeros(taken.size)
        for kind in sorted(guess.sketch.counts):
            g = self.strata.index(kind[1])
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
        return np.append(budget - spend.sum(), self.at_most - self.a @ acceptance - self.s @ spend)


def solve_few(
    laws: Sequence[Valuation],
    records: Sequence[ConstraintRecord],
    every: Sequence[Sequence[StratumRow]],
    sketch: Sketch,
    budget: float,
) -> tuple[Solution, dict[Stratum, list[tuple[Floats, Floats, Floats]]]]:
    """Solve for few owners in memory, each in a bin by herself.

    Returns the solution, and by strata requirements, numbers of owners and acceptances.
    """
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
        for record, of_record in zip(records, every, strict=True)
    ]
    found = solve(few, budget, constraints=restated)
    if found.status is Status.INFEASIBLE:
        raise SolverError(
            "solve", "the constraints cannot hold together", value="; ".join(found.conflict), remedy="relax one"
        )
    sold: dict[Stratum, list[tuple[Floats, Floats, Floats]]] = {}
    for k, (_, stratum) in enumerate(kinds):
        (epsilon, count), q = means[k], found.acceptance[ends[k] : ends[k + 1]]
        sold.setdefault(stratum, []).append((epsilon, count.astype(np.float64), q))
    return found, sold


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
