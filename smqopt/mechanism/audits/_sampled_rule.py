"""What can be said of a rule without expectations, from draws of the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smqopt.mechanism.audits._best_deviation import Deviations, best_deviations
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import Floats
from smqopt.valuation import Valuation

STANDARD_ERRORS = 4.0
"""A mean of draws counts as different from what it is compared with beyond so many of its standard
errors."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of the mechanism with truthful reports."""

    reports: tuple[Floats, ...]
    """PRIVATE in a real purchase; here they are drawn from the believed law."""
    responses: tuple[Responses, ...]
    total: Floats
    """What each run pays, shape (R,), in currency."""
    privacy: Floats
    """Σ ε over those who sell in each run, shape (R,)."""


def runs(rule: OutcomeRule, law: Valuation, draws: int, rng: np.random.Generator, *, keep: bool) -> Runs:
    """Draw valuations, report them, and see what the rule does.

    Parameters
    ----------
    rule, law
        The rule, and the law of valuations.
    draws
        R, how many runs.
    rng
        Draws valuations and the rule's own draws.
    keep
        Whether to keep reports and responses of all runs.
    """
    reports: list[Floats] = []
    kept: list[Responses] = []
    total, privacy = np.empty(draws), np.empty(draws)
    for run in range(draws):
        theta = law.sample(rng, None if law.size is not None else rule.n)
        found = rule.responses(theta, rng)
        sale, paid = found.at(theta)
        total[run], privacy[run] = paid.sum(), sale @ rule.market.epsilon
        if keep:
            reports.append(theta)
            kept.append(found)
    return Runs(tuple(reports), tuple(kept), total, privacy)


@dataclass(frozen=True, eq=False)
class SampledInterim:
    """Interim deviations found in one half of the draws, and tested by the other."""

    deviations: Deviations
    """Of the mean over the first half: exact for the law that puts equal mass on these draws."""
    gain: Floats
    """Mean of what the same misreports gain in the second half, shape (N,), in currency."""
    gain_error: Floats
    """`STANDARD_ERRORS` of that mean, shape (N,)."""
    utility: Floats
    """Mean of what truth brings at the worst valuation, in the second half, shape (N,)."""
    utility_error: Floats


def sampled_interim(responses: tuple[Responses, ...], low: Floats, high: Floats) -> SampledInterim:
    """Choose the best interim deviations in half the draws; test in the rest."""
    half = len(responses) // 2
    found = best_deviations(mean_responses(responses[:half]), low, high)
    gains, utilities = [], []
    for other in responses[half:]:
        sale, paid = _beside(other, found.valuation, found.valuation_side)
        lying_sale, lying_paid = _beside(other, found.report, found.report_side)
        truth = paid - found.valuation * sale
        gains.append(lying_paid - found.valuation * lying_sale - truth)
        sale, paid = other.at(found.least_at)
        utilities.append(paid - found.least_at * sale)
    (gain, gain_error), (utility, utility_error) = (_mean(np.array(values)) for values in (gains, utilities))
    return SampledInterim(found, gain, gain_error, utility, utility_error)


def mean_responses(samples: tuple[Responses, ...]) -> Responses:
    """Return the mean of responses: its knots are all of theirs."""
    rows = [_mean_of_owner(samples, owner) for owner in range(samples[0].n)]
    width = max(row[0].size for row in rows)

    def column(k: int, places: int, filler: float | None) -> Floats:
        """Lay the rows out in one table, filled beyond an owner's own places."""
        return np.array(
            [np.append(r[k], np.full(places - r[k].size, r[k][-1] if filler is None else filler)) for r in rows]
        )

    return Responses(
        knots=column(0, width, np.inf),
        sale=np.clip(column(1, width + 1, None), 0.0, 1.0),
        payment=column(2, width + 1, None),
        slope=column(3, width + 1, None),
        sale_at=np.clip(column(4, width, 0.0), 0.0, 1.0),
        payment_at=column(5, width, 0.0),
    )


def _mean_of_owner(samples: tuple[Responses, ...], owner: int) -> tuple[Floats, ...]:
    """Return knots, and means on pieces and at knots, for one owner."""
    knots = np.unique(np.concatenate([one.knots[owner] for one in samples]))
    knots = knots[knots < np.inf]
    sums = [np.zeros(knots.size + 1) for _ in range(3)] + [np.zeros(knots.size) for _ in range(2)]
    for one in samples:
        own = one.knots[owner]
        at = np.searchsorted(own, knots, side="left")
        piece = np.append(0, np.searchsorted(own, knots, side="right"))
        for k, values in enumerate((one.sale, one.payment, one.slope)):
            sums[k] += values[owner, piece]
        on = np.flatnonzero(own[np.minimum(at, own.size - 1)] == knots) if own.size else np.empty(0, dtype=np.intp)
        sale, paid = one.sale[owner, at], one.payment[owner, at] + one.slope[owner, at] * knots
        sale[on], paid[on] = one.sale_at[owner, at[on]], one.payment_at[owner, at[on]]
        sums[3] += sale
        sums[4] += paid
    return knots, *(total / len(samples) for total in sums)


def _beside(responses: Responses, report: Floats, side: NDArray[np.int8]) -> tuple[Floats, Floats]:
    """Return chance of sale and payment at a report, or just to one side of it."""
    psi = np.where(side < 0, np.nextafter(report, 0.0), np.where(side > 0, np.nextafter(report, np.inf), report))
    return responses.at(np.where(np.isinf(report), np.finfo(np.float64).max, psi))


def _mean(values: Floats) -> tuple[Floats, Floats]:
    spread = values.std(axis=0, ddof=1) if values.shape[0] > 1 else np.full(values.shape[1], np.inf)
    return values.mean(axis=0), STANDARD_ERRORS * spread / np.sqrt(values.shape[0])
