"""Which laws a proof can look at, and through what curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smqopt.numeric import Floats, precision
from smqopt.valuation import BallLaw, Regular, SampleLaw, StepLaw, Valuation, ball_law, piece_law, step_law
from smqopt.verification.enclosures._cover_terms import CoverCurve
from smqopt.verification.enclosures._curve import Curve
from smqopt.verification.enclosures._floor_terms import FlooredCurve
from smqopt.verification.enclosures._monotone_cover import BITS, MOST_CELLS, covers, different_laws
from smqopt.verification.enclosures._smooth_terms import SmoothCurve
from smqopt.verification.enclosures._step_terms import StepCurve, listed_law

LIST = "prices come from a list: the maximum is taken over all of them"
INTERVALS = "J rises on intervals, proved in balls owner by owner; elsewhere the cost curves are bounded cell by cell"
TABLE = "the cost curve is a table: its maximum is taken over all pieces, in closed form"

COVER = 3_000
"""As how many owners a support counts that is covered by cells: some hundredths of a second each,
so that a thousand irregular laws are looked at, and more where a proof is asked for."""
NOTHING = StepLaw((Fraction(0),), (Fraction(0),), (Fraction(0),), (Fraction(0),))
"""The curve of an owner who can be offered no price at all."""


@dataclass(frozen=True, eq=False)
class PriceRules:
    """What the prices of some owners of one law must keep to; shape (k,) each."""

    place: NDArray[np.intp]
    """Which owner of the law, from 0."""
    floor: Floats
    """In currency."""
    ceiling: Floats
    low: Floats
    """The ends of the support."""
    high: Floats
    prices: Floats | None = None
    """The list that all of them share; None where there is none."""


@dataclass(frozen=True, eq=False)
class Provable:
    """How the owners of one law are enclosed."""

    law: Valuation
    curve: Callable[[], Curve]
    """Makes their curves at the precision of the context."""
    is_table: bool
    """Whether the curve is one of tables, on which rules of prices can be kept by leaving out the
    rest."""
    rule: str
    """Why the maximum of a Lagrangian over all prices is what it is said to be."""
    unproved: str = ""
    """Why it is not, where only F is known; prices from a list need no more."""
    effort: int = 0
    """What has to be worked out first, as so many owners."""

    def within(self, rules: PriceRules) -> tuple[Callable[[], Curve], NDArray[np.intp]]:
        """Restrict the curves to what price rules leave, with each owner's place.

        Where the curve is no table and there is no list it is that of all prices from the floor on:
        ceilings are then left to bounds of acceptance.
        """
        k = rules.place.size
        if rules.prices is None and not self.is_table:
            if not np.any((rules.floor > rules.low) & (rules.floor < rules.high)):
                return self.curve, rules.place
            slope = self.law.take(rules.place).virtual_cost(np.clip(rules.floor, rules.low, rules.high))
            return lambda: FlooredCurve(self.curve(), rules.place, rules.floor, slope), np.arange(k, dtype=np.intp)
        columns = np.column_stack([rules.place, rules.floor, rules.ceiling])
        _, first, number = np.unique(columns, axis=0, return_index=True, return_inverse=True)
        which = number.ravel().tolist()

        def tables() -> Curve:
            whole = self.curve()
            if rules.prices is None:
                assert isinstance(whole, StepCurve)  # noqa: S101
                return StepCurve([_restricted_table(whole, rules, row) for row in first.tolist()], which.__getitem__)
            return StepCurve([_listed_table(whole, rules, row) for row in first.tolist()], which.__getitem__)

        return tables, np.arange(k, dtype=np.intp)


def _restricted_table(whole: StepCurve, rules: PriceRules, row: int) -> StepLaw:
    table = whole.tables[whole.which(int(rules.place[row]))]
    floor, ceiling = float(rules.floor[row]), float(rules.ceiling[row])
    return table.restrict(floor, ceiling) if floor > rules.low[row] or ceiling < rules.high[row] else table


def _listed_table(whole: Curve, rules: PriceRules, row: int) -> StepLaw:
    """Return the points of the curve at the listed prices open to an owner."""
    assert rules.prices is not None  # noqa: S101
    low, high = rules.low[row], rules.high[row]
    prices = rules.prices[(rules.prices >= low) & (rules.prices <= rules.ceiling[row])]
    if not prices.size:
        return NOTHING
    ends = (np.full(prices.size, end) for end in (low, high))
    place = np.full(prices.size, rules.place[row])
    acceptances = whole.acceptances(place, np.minimum(prices, high), *ends)
    return listed_law(prices.tolist(), acceptances)


def provable(given: Valuation) -> Provable | str:
    """Return how the owners of one law are enclosed, or why they cannot be."""
    law = given.law if isinstance(given, SampleLaw) else given
    steps = step_law(law)
    if steps is not None:
        return Provable(law, lambda: StepCurve(*steps), is_table=True, rule=TABLE)
    verdict, balls = law.regularity(), ball_law(law)
    if isinstance(balls, str):
        return balls
    if isinstance(verdict, Regular) and _has_ends(law, balls):
        return Provable(law, lambda: SmoothCurve(balls), is_table=False, rule=verdict.method)
    return _by_intervals(law, balls)


def _has_ends(law: Valuation, balls: BallLaw) -> bool:
    """Return whether a common formula is finite at the ends of its support."""
    if law.size is not None:
        return True
    with precision(BITS):
        return bool(balls(0).jumps.is_finite())


def _by_intervals(law: Valuation, balls: BallLaw) -> Provable | str:
    """Return how a smooth law is enclosed without asking that it be regular."""
    pieces = piece_law(law)
    if isinstance(pieces, str):
        return pieces
    cover = covers(law, pieces)
    unproved, rule = "", INTERVALS
    if law.size is None:
        rule = cover(0).rule
        unproved = (
            ""
            if cover(0).complete
            else f"{MOST_CELLS} cells do not settle where the virtual cost of the {law.name} law rises"
        )
    return Provable(
        law,
        lambda: CoverCurve(law, balls, pieces, cover),
        is_table=False,
        rule=rule,
        unproved=unproved,
        effort=COVER * different_laws(law),
    )
