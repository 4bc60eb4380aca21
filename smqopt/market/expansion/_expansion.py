"""A program with laws in doubt, or minima in its objective, as an ordinary one.

With x_i(p) the probability of posting p to owner i, her acceptance under law s is Σ x_i(p) F_is(p)
and her payment Σ x_i(p) p F_is(p). Each owner has a row under each law, and all of them one offer;
the budget is a row for each law. Where the law is not in doubt, rows and budget stay as they are.

A minimum min_k L_k is t with t ≤ L_k for all k: t is U times the acceptance of one more owner whose
valuation is 0, so that it costs nothing, U what it can be at most. What is left of a little more
than the budget is such an owner's, too; it is never nothing, so that its row does not hold the
budget's multiplier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from smqopt.market._market import Market
from smqopt.market._offers import Offers
from smqopt.market.constraints._constraint_record import ConstraintRecord
from smqopt.market.expansion._bent import BentTerms
from smqopt.market.expansion._posted import Posted
from smqopt.market.objectives._linear_form import LinearTerms
from smqopt.market.objectives._objective_record import Objective
from smqopt.market.objectives._purchased_privacy import PurchasedPrivacy
from smqopt.numeric import ROUNDING, Floats, exact_dot

LEFT = 1.0 + 2.0**-10
"""What the spend is taken from, in units of what is counted: far more than roundings above it."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """An ordinary program that says the same as one with laws in doubt or minima."""

    base: tuple[Market, ...]
    """The user's market with each law; its n rows."""
    weights: Floats | None
    """Of the laws in the objective; None where the worst counts."""
    worths: tuple[LinearTerms, ...]
    """The objective under each law."""
    limit: float
    """B, the user's budget, in currency."""
    counted: float
    """How much spend is told apart where it counts: B, or what a known value leaves."""
    market: Market
    """n rows for each law, and one or two for each minimum."""
    records: tuple[ConstraintRecord, ...]
    budget: float
    """Of all rows together, in currency; it never binds where laws are in doubt."""
    units: Floats
    """U of each minimum."""
    shift: float
    """What the ordinary program's objective exceeds the user's by."""
    labels: tuple[str, ...]
    """What is added to the words of a law's rows."""
    budget_rows: slice
    """Which linear rows are the budget's; none where its own price is λ."""
    step: int
    """How many rows a minimum has."""
    levels: tuple[tuple[int, sparse.csr_array], ...] = ()
    """Which law a level is of, and the means that are held about it; the last of the minima."""
    objective: Objective = field(default_factory=PurchasedPrivacy)

    @property
    def shown(self) -> Floats:
        """What each law counts in the acceptances that a solution shows."""
        return np.full(len(self.base), 1.0 / len(self.base)) if self.weights is None else self.weights

    @property
    def n(self) -> int:
        """The rows of the user's market."""
        return self.base[0].n

    @property
    def bends(self) -> bool:
        """Whether the objective is no sum of linear terms and minima."""
        return any(isinstance(worth, BentTerms) for worth in self.worths)

    @property
    def lowest_height(self) -> float:
        """The least height of the laws' lines, which the worst law is counted from."""
        return min(worth.height for worth in self.worths)

    @property
    def never_negative(self) -> bool:
        """Whether the objective is at least 0, whatever is offered."""
        return not any(worth.price for worth in self.worths)

    @property
    def is_cost(self) -> bool:
        """Whether it is a cost of what is spent alone, and at most 0 so."""
        return not any(np.any(worth.each) or worth.least or worth.height for worth in self.worths)

    def shown_offers(self, offers: Offers) -> Offers:
        """Return the offers as they are shown: with their mean acceptances over the laws."""
        return self.show(Posted.of(offers, self.n, 1))

    def show(self, posted: Posted) -> Offers:
        """Return offers with their mean acceptances over the laws."""
        each = [w * posted.acceptance_of(one.valuation) for w, one in zip(self.shown, self.base, strict=True)]
        low = np.min([one.low for one in self.base], axis=0)
        return posted.offers(np.minimum(np.sum(each, axis=0), 1.0), low)

    def acceptances(self, offers: Offers) -> list[tuple[Floats, Floats]]:
        """Return acceptances and payments under each law, for a user's offers."""
        posted = Posted.of(offers, self.n, 1)
        found = []
        for market in self.base:
            F = posted.acceptance_of(market.valuation)
            found.append((np.minimum(posted.mean(F), 1.0), posted.mean(F * posted.price)))
        return found

    def value(self, offers: Offers) -> tuple[float, float]:
        """Return the objective in the direction of maximising, and its rounding."""
        m = self.base[0].weights
        each, off = list[float](), list[float]()
        for worth, (q, b) in zip(self.worths, self.acceptances(offers), strict=True):
            terms = worth.terms(m, q, b)
            if not np.all(np.isfinite(terms)):  # somebody without whom there is no value
                return -math.inf, 0.0
            each.append(math.fsum(terms))
            off.append(ROUNDING.value * math.fsum(np.abs(terms)))
        if self.weights is None:
            most, least = (min(x + s * r for x, r in zip(each, off, strict=True)) for s in (1.0, -1.0))
            return min(each), max(most - min(each), min(each) - least)
        mean, rounding = (
            math.fsum(w * x for w, x in zip(self.weights.tolist(), of, strict=True)) for of in (each, off)
        )
        return mean, rounding

    def gap(self, lower: float, upper: float) -> float:
        """Return the gap of bounds on the objective, relative to their terms."""
        if not math.isfinite(lower) or not math.isfinite(upper):
            return math.inf
        return (upper - lower) / self.size(lower, upper) if upper != lower else 0.0

    def size(self, lower: float, upper: float) -> float:
        """Return what the gap of two bounds is relative to."""
        return max(abs(lower), abs(upper)) + self.worths[0].price * self.counted

    def value_for_nothing(self) -> tuple[float, float]:
        """Return the value of a price of 0 to all: what a budget of 0 can buy."""
        return self.value(Offers(np.zeros(self.n), np.ones(self.n)))

    def spends(self, offers: Offers) -> Floats:
        """Return the expected spend under each law, rounded up; in currency."""
        m = self.base[0].weights
        return np.array([exact_dot(b, m, up=True) for _, b in self.acceptances(offers)])

    def shares(self, offers: Offers) -> Floats:
        """Return what each minimum comes to, as a share of the most it can be."""
        return np.zeros(0) if not self.units.size else self.minima(self.acceptances(offers)) / self.units

    def minima(self, found: Sequence[tuple[Floats, Floats]]) -> Floats:
        """Return the minima: those of each law, what is left, the worst law, levels."""
        m, values, totals = self.base[0].weights, list[float](), list[float]()
        for worth, (q, b) in zip(self.worths, found, strict=True):
            least = [float(np.min(one.forms @ q)) for one in worth.least]
            left = [max(LEFT * self.counted - math.fsum(m * b), 0.0)] if worth.price else []
            values += [*least, *left]
            totals.append(
                worth.height
                - self.lowest_height
                + math.fsum(
                    [*(m * worth.each * q), *(one.weight * x for one, x in zip(worth.least, least, strict=True))]
                )
                + worth.price * (left[0] if left else 0.0)
            )
        if self.weights is None and len(self.base) > 1:
            values.append(min(totals))
        for k, forms in self.levels:
            means = forms @ found[k][0]
            values.append(0.5 * (float(np.max(means)) + float(np.min(means))))
        down = 1.0 - ROUNDING.value
        return np.minimum(np.array(values) * down, self.units)
