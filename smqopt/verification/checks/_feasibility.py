"""Whether a solution is feasible and of its market and status."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from smqopt.market import Lottery, Solution, Status, WorstCaseError, status_of
from smqopt.numeric import ACCEPTANCE, Floats, exact_dot
from smqopt.valuation import Regular, Valuation
from smqopt.verification.checks._check import Check
from smqopt.verification.checks._seen import Seen
from smqopt.verification.checks._weak_duality import expected_spend, weights, widths


def check_shape(solution: Solution) -> Check:
    """Check for one finite threshold and one acceptance in [0, 1] a row."""
    n = solution.market.n
    columns = (np.asarray(solution.thresholds), np.asarray(solution.acceptance))
    good = all(column.shape == (n,) and column.dtype == np.float64 for column in columns)
    bad = n if not good else int(np.count_nonzero(~(np.isfinite(columns[0]) & (columns[1] >= 0) & (columns[1] <= 1))))
    good = good and bad == 0 and 0 <= solution.budget < math.inf and not math.isnan(solution.budget_price)
    good = good and _has_lottery_shape(solution.lottery, columns[0]) and _draws_alone(solution)
    return Check("well formed", good, float(bad), 0.0, "rows without a finite threshold and an acceptance in [0, 1]")


def _draws_alone(solution: Solution) -> bool:
    """Return whether random prices, if any, go with their objective alone."""
    beside = solution.records or solution.constraints or solution.lottery is not None
    return solution.random_prices is None or (isinstance(solution.objective, WorstCaseError) and not beside)


def _has_lottery_shape(drawn: Lottery | None, thresholds: Floats) -> bool:
    """Return whether each lottery is of one owner, finite, with shares that sum to 1."""
    if drawn is None:
        return True
    owner = np.asarray(drawn.owner)
    prices, shares = np.asarray(drawn.prices), (np.asarray(drawn.acceptances), np.asarray(drawn.probabilities))
    if owner.ndim != 1 or prices.ndim != 2 or prices.shape[0] != owner.size or prices.shape[1] < 2:
        return False
    if not all(share.shape == prices.shape for share in shares):
        return False
    if not (np.all((owner >= 0) & (owner < thresholds.size)) and np.all(np.diff(owner) > 0)):
        return False
    sums = np.abs(shares[1].sum(axis=1) - 1.0) <= ACCEPTANCE.value
    good = np.isfinite(prices).all() and np.all([(share >= 0) & (share <= 1) for share in shares]) and sums.all()
    return bool(good and np.array_equal(thresholds[owner], prices[:, 0]))


def checks_of_claim(
    solution: Solution, ceilings: Floats | None = None, seen: Seen | None = None, hashed: str = ""
) -> list[Check]:
    """Check market, supports, budget and status against what is claimed.

    Parameters
    ----------
    solution
        A well-formed one.
    ceilings
        The highest prices that owners may be offered, shape (n,), where these are not θ̄.
    seen
        What was seen of the offers while they were enclosed, where they were.
    hashed
        The hash of the market, where it was worked out a moment ago.
    """
    market, theta = solution.market, solution.thresholds
    law = market.valuation
    most = market.high if ceilings is None else ceilings
    if ceilings is None and law.size is None:
        outside = max(float(law.low) - float(np.min(theta)), float(np.max(theta)) - float(law.high))
    else:
        outside = float(np.max(np.maximum(market.low - theta, theta - most)))
    if outside > 0:
        outside = float(np.max(np.maximum(market.low - theta, theta - most) / widths(market)))
    if seen is None or solution.lottery is not None:
        drift, probable = reliable_acceptance(solution)
        over = solution_spend(solution, probable) - solution.budget
    else:
        drift, over = seen.drift, seen.spend - solution.budget
    hashed = hashed or market.content_hash()
    status = status_of(market, solution.budget, solution.objective)
    by_price = bool(solution.records) or not solution.objective.separable
    agrees = status_with_constraints(solution) if by_price else solution.status is status is not Status.INFEASIBLE
    recorded = {words for record in solution.records for words in record.recorded}
    unrecorded = sum(words not in recorded for words in solution.constraints)
    verdict = law.regularity()
    return [
        Check(
            "fingerprint",
            solution.market_fingerprint == hashed == market.fingerprint,
            0.0 if solution.market_fingerprint == hashed else 1.0,
            0.0,
            "hashes of the market that differ",
        ),
        Check(
            "support",
            outside <= 0,
            max(outside, 0.0),
            0.0,
            "largest distance of a threshold from its support, in widths",
        ),
        Check("acceptance", drift <= ACCEPTANCE.value, drift, ACCEPTANCE.value, ACCEPTANCE.norm),
        Check("budget", over <= 0, over, 0.0, "expected spend minus budget, in currency"),
        Check(
            "status",
            agrees,
            0.0 if agrees else 1.0,
            0.0,
            "statuses that differ",
            note=f"{solution.status.name}: {solution.status}" if by_price else f"{status.name}: {status}",
        ),
        Check(
            "regularity",
            True if isinstance(verdict, Regular) else None,
            0.0 if isinstance(verdict, Regular) else 1.0,
            0.0,
            "laws not proved regular; such cost curves are ironed",
            note=verdict.method,
            required=False,
        ),
        Check(
            "side constraints",
            unrecorded == 0,
            float(unrecorded),
            0.0,
            "constraints that the bound does not cover",
            note="; ".join(solution.constraints),
        ),
    ]


def status_with_constraints(solution: Solution) -> bool:
    """Return whether the status agrees with budget and price."""
    price, budget = solution.budget_price, solution.budget
    agree = {
        Status.ZERO_BUDGET: budget == 0,
        Status.SLACK: budget > 0 and price == 0,
        Status.BINDING: budget > 0 and price > 0,
    }
    return agree.get(solution.status, False)


def reliable_acceptance(solution: Solution) -> tuple[float, Floats]:
    """Return the largest |q − F(θ)|, and the larger of the two for each owner.

    No offer has acceptance 0, at the low end of the support, also where F has an atom there.
    """
    market, theta, q = solution.market, solution.thresholds, solution.acceptance
    law = market.valuation
    expected = np.where((q == 0) & (theta == market.low), 0.0, law.cdf(theta))
    drift = np.abs(q - expected)
    drawn = solution.lottery
    if drawn is not None:
        rows = drawn.owner
        none = (drawn.acceptances == 0) & (drawn.prices == market.low[rows, np.newaxis])
        own = np.column_stack([expected_at(law, rows, theta) for theta in drawn.prices.T])
        real = Lottery(rows, drawn.prices, np.where(none, 0.0, own), drawn.probabilities)
        mixed = real.acceptance
        drift[rows] = np.maximum(np.max(np.abs(real.acceptances - drawn.acceptances), axis=1), np.abs(mixed - q[rows]))
        expected[rows] = mixed
    return float(np.max(drift)), np.maximum(q, expected)


def expected_at(law: Valuation, rows: NDArray[np.intp], theta: Floats) -> Floats:
    """Return F at one threshold for each of some rows."""
    return law.take(rows).cdf(theta)


def solution_spend(solution: Solution, acceptance: Floats) -> float:
    """Return the expected spend at these acceptances, in currency."""
    market, drawn = solution.market, solution.lottery
    if drawn is None:
        return expected_spend(market, solution.thresholds, acceptance)
    alone = acceptance.copy()
    alone[drawn.owner] = 0.0
    counts = np.broadcast_to(weights(market), (market.n,))[drawn.owner]
    return math.fsum([expected_spend(market, solution.thresholds, alone), exact_dot(drawn.spend, counts)])
