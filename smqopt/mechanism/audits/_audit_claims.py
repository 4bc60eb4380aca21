"""What a rule claims of itself, held against what it does.

A rule may say that others change nothing for an owner, what she expects, and that no run exceeds
the budget. These words make an audit exact, so they are tried before they are believed: in runs
with reports drawn from the law, and at reports that are far from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smqopt.mechanism.audits._ex_post_budget_rule import ExPostBudget
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._posted_rule import PostedThresholds
from smqopt.mechanism.audits._responses import Responses
from smqopt.numeric import INCENTIVE, Floats, exact_sum
from smqopt.valuation import Valuation
from smqopt.verification import Check

_RUNS = 64
"""Runs in which a claim is tried where the caller draws none."""
_SEED = 20_201_116
"""Trials are the same each time, so that a verdict is."""
_STANDARD_ERRORS = 6.0
"""Beyond so many the mean of draws refutes a stated expectation, N owners by M places at once."""
_INSIDE = (0.25, 0.5, 0.75)
"""Quantiles of the law at which expectations are compared, beside all knots."""


def is_ours(rule: OutcomeRule) -> bool:
    """Whether a rule's claims are proved in this package, so that they need no trial."""
    return type(rule) in (PostedThresholds, ExPostBudget)


def trial_runs(rule: OutcomeRule, law: Valuation) -> tuple[Responses, ...]:
    """Return responses to reports drawn from a law."""
    rng = np.random.default_rng(_SEED)
    size = None if law.size is not None else rule.n
    return tuple(rule.responses(law.sample(rng, size), rng) for _ in range(_RUNS))


def extreme_runs(rule: OutcomeRule, law: Valuation) -> tuple[Responses, ...]:
    """Return responses to reports of nothing, of either end, of both, and beyond."""
    rng = np.random.default_rng(_SEED)
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (rule.n,)) for end in (law.low, law.high))
    odd = np.arange(rule.n) % 2 == 0
    reports = (np.zeros(rule.n), low, high, np.where(odd, low, high), np.where(odd, high, low), 2.0 * high + 1.0)
    return tuple(rule.responses(one.copy(), rng) for one in reports)


def independence_check(rule: OutcomeRule, stated: Responses, tried: Sequence[Responses], scale: float) -> Check:
    """Check that nothing but her report moves an owner's outcome, if a rule says so."""
    allowed = INCENTIVE.value * scale
    worst, owner = 0.0, 0
    for one in tried:
        apart = np.max(_differences(stated, one), axis=1)
        if np.max(apart) > worst:
            worst, owner = float(np.max(apart)), int(np.argmax(apart))
    passed: bool | None = True
    note = f"tried with {len(tried)} vectors of reports"
    if worst > allowed:
        passed, note = (
            False,
            f"owner {rule.market.owner_ids[owner]!r}: the rule says that others and draws change nothing",
        )
    elif _draws(rule):
        passed, note = None, "the rule draws, and says that draws change nothing"
    return Check("independence", passed, worst, allowed, "largest change with others' reports or draws", note)


def _draws(rule: OutcomeRule) -> bool:
    """Whether a rule takes anything from the generator that it is given."""
    rng = np.random.default_rng(_SEED)
    before = rng.bit_generator.state
    rule.responses(np.zeros(rule.n), rng)
    return bool(rng.bit_generator.state != before)


def expectation_check(
    rule: OutcomeRule, law: Valuation, stated: Responses, drawn: Sequence[Responses], scale: float
) -> Check:
    """Check the expectations that a rule states against means of draws.

    A difference beyond the error of the mean refutes them; one that the draws cannot resolve
    leaves them undecided. The error is that of the draws, and at least that of sales as rare as
    the rule states, all paid alike.
    """
    places = _places(rule, law, stated)
    rounding = INCENTIVE.value * scale
    worst = (-np.inf, 0.0, 0.0, 0, True)
    for psi in places.T:
        Q, P = stated.at(psi)
        values = np.array([one.at(psi) for one in drawn])
        rare = np.sqrt(np.maximum(Q * (1.0 - Q), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            paid = np.where(Q > 0, np.abs(P) / Q, 0.0) * rare
        for column, mean, least, unit in ((0, Q, rare, scale), (1, P, paid, 1.0)):
            spread = values[:, column].std(axis=0, ddof=1)
            allowed = _STANDARD_ERRORS * np.maximum(spread, least) / np.sqrt(len(drawn)) + rounding / unit
            over = (np.abs(values[:, column].mean(axis=0) - mean) - allowed) * unit
            i = int(np.argmax(over))
            if over[i] > worst[0]:
                worst = (
                    float(over[i]),
                    float(over[i] + allowed[i] * unit),
                    float(allowed[i] * unit),
                    i,
                    bool(spread[i] > 0 or not rule.depends_on_others),
                )
    over, value, allowed, owner, resolved = worst
    passed = True if over <= 0 else False if resolved else None
    note = f"{len(drawn)} draws" + ("" if passed else f"; owner {rule.market.owner_ids[owner]!r}")
    return Check("stated expectations", passed, value, allowed, "distance from the mean of draws, in currency", note)


def most_paid(rule: OutcomeRule, stated: Responses | None, law: Valuation) -> float | None:
    """Return the most that a run can pay, in currency; None where nothing proves it.

    For a rule under which others change nothing, each owner's largest payment, added up.
    """
    if isinstance(rule, ExPostBudget):
        return rule.total
    if rule.depends_on_others or stated is None:
        return None
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (rule.n,)) for end in (law.low, law.high))
    limits, there = stated.limits(low, high)
    return exact_sum(np.max(np.where(there, limits.payment, -np.inf), axis=1))


def _differences(one: Responses, other: Responses) -> Floats:
    """Return the largest differences of sale and payment, at knots and on pieces."""
    knots = np.sort(np.column_stack([np.zeros(one.n), one.knots, other.knots]), axis=1)
    last = np.max(np.where(knots < np.inf, knots, 0.0), axis=1)[:, np.newaxis]
    ends = np.column_stack([np.where(knots < np.inf, knots, last), last + 1.0])
    width = np.diff(ends, axis=1)
    found = []
    for psi in np.column_stack([ends, ends[:, :-1] + width / 3.0, ends[:, :-1] + 2.0 * width / 3.0]).T:
        (q, p), (q_other, p_other) = one.at(psi), other.at(psi)
        found += [np.abs(q - q_other), np.abs(p - p_other)]
    return np.array(found).T


def _places(rule: OutcomeRule, law: Valuation, stated: Responses) -> Floats:
    """Return reports to compare at: knots, either side of them, and some valuations."""
    last = np.max(np.where(stated.knots < np.inf, stated.knots, 0.0), axis=1, initial=0.0)[:, np.newaxis]
    knots = np.where(stated.knots < np.inf, stated.knots, last)
    inside = [np.broadcast_to(np.ravel(law.ppf(np.full(law.size or 1, q))), (rule.n,)) for q in _INSIDE]
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (rule.n,)) for end in (law.low, law.high))
    return np.column_stack([knots, np.nextafter(knots, 0.0), np.nextafter(knots, np.inf), low, *inside, high])
