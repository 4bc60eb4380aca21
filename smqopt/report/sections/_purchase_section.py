"""The purchase by band of requirement, and its cost; no single owner."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from smqopt.document import Section, column, round_step, shown, shown_share
from smqopt.market import Solution, under_each_law
from smqopt.mechanism import POSTED
from smqopt.numeric import Floats, exact_dot, exact_sum
from smqopt.report._of_op2 import is_in_doubt
from smqopt.report.sections._budget_price_section import drawn_from

if TYPE_CHECKING:
    from smqopt.mechanism import Outcome


_ON_AN_EDGE = 1e-9
"""An end within this share of a step of an edge is on it."""
_BANDS = 5
"""About so many bands of ε."""
SMALLEST_BAND = 10
"""A band holds at least so many owners, so that a row of the table speaks of no single one."""


def purchase_section(outcome: Outcome) -> Section:
    """Count who was bought by band of ε, and set what was paid against the budget."""
    solution = outcome.certificate.solution
    paid, doubt = outcome.total_payment, is_in_doubt(solution)
    rows = _table(outcome, outcome.acceptance)
    return Section(
        "purchase",
        "The purchase",
        "purchase.html",
        {
            "bands": rows[:-1],
            "total": rows[-1],
            "bought": shown(outcome.bought),
            "population": shown(outcome.population),
            "market": None if outcome.is_whole else shown(solution.market.population),
            "batches": shown(int(outcome.batch.max())),
            "share": shown_share(outcome.bought, outcome.population),
            "paid": shown(paid, 8),
            "expected": shown(expected_payment(outcome), 8),
            "in_doubt": doubt,
            "budget": shown(outcome.budget, 8),
            "side": "above" if paid > outcome.budget else "below" if paid < outcome.budget else "",
            "drawn": solution.lottery is not None,
            "drawn_from": drawn_from(solution),
            "difference": shown(abs(paid - outcome.budget), 4),
            "deviation": shown(payment_deviation(solution), 3) if outcome.is_whole and not doubt else None,
            "privacy": shown(exact_dot(outcome.epsilon, outcome.selected.astype(np.float64)), 8),
            "expected_privacy": shown(exact_dot(outcome.epsilon, outcome.acceptance), 8),
            "posted": outcome.rule == POSTED.name,
            "meaning": outcome.meaning,
            "owing": shown(outcome.owing),
            "owed": shown(-exact_sum(np.minimum(outcome.payments, 0.0)), 6),
            "smallest": SMALLEST_BAND,
        },
    )


def bands(epsilon: Floats) -> Floats:
    """Choose edges of bands of ε, each with at least ten owners.

    Parameters
    ----------
    epsilon
        Shape (N,).

    Returns
    -------
    Floats
        Edges, increasing, at least two; band k is [edge k, edge k + 1), the last one with its right
        end. With fewer than ten owners there is one band.
    """
    least, largest = float(epsilon.min()), float(epsilon.max())
    if least == largest:
        return np.array([least, largest])
    step = round_step((largest - least) / _BANDS)
    edges = step * np.arange(math.floor(least / step + _ON_AN_EDGE), math.ceil(largest / step - _ON_AN_EDGE) + 1)
    edges[0], edges[-1] = min(edges[0], least), max(edges[-1], largest)
    kept = [float(edges[0])]
    for edge in edges[1:-1].tolist():
        if np.count_nonzero((epsilon >= kept[-1]) & (epsilon < edge)) >= SMALLEST_BAND:
            kept.append(edge)
    while len(kept) > 1 and np.count_nonzero(epsilon >= kept[-1]) < SMALLEST_BAND:
        kept.pop()
    return np.array([*kept, float(edges[-1])])


def expected_payment(outcome: Outcome) -> float:
    """Return the expected cost of the posted prices; of laws in doubt the largest."""
    counts = np.bincount(outcome.rows, minlength=outcome.certificate.solution.market.n).astype(np.float64)
    return max(exact_dot(one.solution.spend, counts) for one in under_each_law(outcome.certificate.solution))


def payment_deviation(solution: Solution) -> float:
    """Return the standard deviation of the sum of payments, in currency."""
    second_moment = solution.thresholds**2 * solution.acceptance
    drawn = solution.lottery
    if drawn is not None:
        second_moment[drawn.owner] = (drawn.probabilities * drawn.prices**2 * drawn.acceptances).sum(axis=1)
    variance = np.maximum(second_moment - solution.spend**2, 0.0)
    counts = solution.market.multiplicity
    return math.sqrt(exact_dot(variance, np.ones(1) if counts is None else counts.astype(np.float64)))


def _table(outcome: Outcome, acceptance: Floats) -> list[tuple[str, ...]]:
    """Return one row a band, and last the row of all."""
    edges = bands(outcome.epsilon)
    count = edges.size - 1
    member = np.clip(np.searchsorted(edges, outcome.epsilon, side="right") - 1, 0, count - 1)
    names = column(edges.tolist(), 4)
    owners = np.bincount(member, minlength=count)
    bought = np.bincount(member, weights=outcome.selected, minlength=count)
    expected = np.bincount(member, weights=acceptance, minlength=count).tolist()
    paid = np.bincount(member, weights=outcome.payments, minlength=count).tolist()
    return list(
        zip(
            [*(f"{low} – {high}" if low != high else low for low, high in itertools.pairwise(names)), "All"],
            [shown(int(k)) for k in (*owners, outcome.population)],
            column([*expected, exact_sum(acceptance)], 6),
            [shown(int(k)) for k in (*bought, outcome.bought)],
            column([*paid, outcome.total_payment], 7),
            strict=True,
        )
    )
