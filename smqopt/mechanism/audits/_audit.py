"""The audit of an outcome rule: truthfulness, participation and budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smqopt._html_table import html_table
from smqopt.errors import InputError, check_kind
from smqopt.market import Market, Solution
from smqopt.mechanism.audits._audit_checks import (
    budget_check,
    participation_check,
    realised_check,
    truth_check,
)
from smqopt.mechanism.audits._audit_claims import (
    expectation_check,
    extreme_runs,
    independence_check,
    is_ours,
    most_paid,
    trial_runs,
)
from smqopt.mechanism.audits._best_deviation import Deviations, best_deviations
from smqopt.mechanism.audits._expected_outcome import expected_outcome
from smqopt.mechanism.audits._outcome_rule import OutcomeRule
from smqopt.mechanism.audits._posted_rule import PostedThresholds
from smqopt.mechanism.audits._responses import Responses
from smqopt.mechanism.audits._sampled_rule import (
    STANDARD_ERRORS,
    Runs,
    SampledInterim,
    runs,
    sampled_interim,
)
from smqopt.numeric import Floats, exact_dot, exact_sum
from smqopt.valuation import EmpiricalConditional, GaussianCopula, Valuation
from smqopt.verification import Check

Belief = Valuation | GaussianCopula | EmpiricalConditional
"""The law of each owner's valuation, or the joint law of valuation and requirement, taken given the
ε that she announces (errata E4)."""


_FEWEST_DRAWS = 4
"""Two halves, of two draws each, so that a standard error can be had."""


@dataclass(frozen=True, eq=False)
class Audit:
    """What was found. Amounts are in currency; N owners, counted one by one.

    Examples
    --------
    >>> import smqopt as smq
    >>> market = smq.Market([0.2, 0.5, 1.0], smq.Uniform(0, 1))
    >>> found = smq.audit(smq.solve(market, 0.5))
    >>> found.passes, round(found.expected_spend, 9)
    (True, 0.5)
    """

    rule: OutcomeRule
    law: Valuation
    """The law of valuations that was believed, given the announced requirements."""
    checks: tuple[Check, ...]
    interim: Deviations
    """The best deviations where an owner knows her own valuation, and of the others' the law."""
    ex_post: Deviations | None
    """The best deviations where she knows all reports, the largest over all cases that were looked
    at.

    None where the rule names no cases and none were drawn.
    """
    expected_payments: Floats
    """E P_i(θ_i), shape (N,); NaN where the rule has no expectations."""
    expected_spend: float
    """Σ of expected payments, truthful reports."""
    expected_spend_error: float
    """How far it may be off: rounding, quadrature, or the standard errors of a simulation."""
    purchased_privacy: float
    """Expected Σ ε_i Q_i, in units of ε."""
    totals: Floats | None = field(repr=False)
    """What simulated runs paid, sorted; None where none were drawn."""

    @property
    def passes(self) -> bool:
        """Whether every required check passed; an undecided one did not."""
        return not any(check.fails for check in self.checks)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not pass: a line for each required check that did not."""
        return tuple(
            f"{check.name}: {check.norm} is {check.value:.6g}, allowed {check.tolerance:.6g}"
            + (f" ({check.note})" if check.note else "")
            for check in self.checks
            if check.fails
        )

    @property
    def overspending(self) -> float:
        """Expected spend minus budget, in currency; negative where money is left."""
        return self.expected_spend - self.rule.budget

    @property
    def spend_share(self) -> float:
        """Expected spend over budget; NaN at a zero budget that is not overspent."""
        if self.rule.budget > 0:
            return self.expected_spend / self.rule.budget
        return math.inf if self.expected_spend > 0 else math.nan

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        rows = [
            ("passes", "yes" if self.passes else "no: " + "; ".join(self.reasons)),
            ("rule", self.rule.name),
            ("owners", self.rule.n),
            ("share of the budget spent", self.spend_share),
            *((check.name, f"{check.norm} is {check.value:.6g}") for check in self.checks),
        ]
        return html_table("Audit", rows)

    def __repr__(self) -> str:
        verdict = "passes" if self.passes else "does not pass: " + "; ".join(self.reasons)
        return f"Audit({self.rule.name}, {self.rule.n} owners, spends {self.spend_share:.6g} of the budget, {verdict})"


def audit(
    rule: OutcomeRule | Solution,
    *,
    belief: Belief | None = None,
    draws: int = 0,
    rng: np.random.Generator | None = None,
) -> Audit:
    """Audit a rule: best deviations, what truth brings, and what is spent.

    For rules with expectations (posted thresholds with their lotteries, ex-post budget, and
    your own with `interim`) the deviations are exact, suprema at one-sided limits included, and the
    expected spend is a sum or a quadrature with its error. For others the others' valuations are
    drawn: deviations are exact in each owner's own report and valuation, found in half of the draws
    and tested by the rest, and a verdict that the draws do not force is "undecided".

    Parameters
    ----------
    rule
        What to audit; a solution stands for its thresholds, posted. No certificate is needed.
    belief
        The law that valuations have: of θ_i, or jointly of θ_i and ε_i, which is then taken given
        the announced ε_i. By default the market's law.
    draws
        How many runs to simulate, for the realised payments; at least 4, and better 1000, for rules
        without expectations.
    rng
        Draws them.

    Raises
    ------
    InputError
        If an argument is of another kind, or the rule needs draws and there are none.

    Examples
    --------
    Thresholds that ignore how valuations hang together with requirements break the budget (errata
    E4):

    >>> import numpy as np
    >>> import smqopt as smq
    >>> epsilon = (np.arange(100) + 0.5) / 100
    >>> thresholds = smq.solve(smq.Market(epsilon, smq.Uniform(0, 1)), 10.0)
    >>> joint = smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), correlation=-0.5)
    >>> found = audit(thresholds, belief=joint)
    >>> found.passes, round(found.spend_share, 3)
    (False, 1.322)
    >>> audit(thresholds).passes
    True
    """
    audited = PostedThresholds(rule) if isinstance(rule, Solution) else rule
    _check_arguments(audited, belief, draws, rng)
    law = _audit_law(audited, belief)
    low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (audited.n,)) for end in (law.low, law.high))
    exact = audited.interim(law)
    cases = audited.worst_cases()
    if exact is None and draws < _FEWEST_DRAWS:
        raise InputError(
            "audit: argument 'draws'",
            f"must be at least {_FEWEST_DRAWS} for the rule {audited.name!r}, which gives no expectations",
            value=draws,
            remedy="give draws and a generator, or the rule's `interim`",
        )
    keep = exact is None or cases is None or not is_ours(audited)
    drawn_runs = runs(audited, law, draws, rng, keep=keep) if draws and rng is not None else None
    looked_at = cases if cases is not None else drawn_runs.responses if drawn_runs is not None else ()
    claims: tuple[Check, ...] = ()
    if exact is not None and not is_ours(audited):
        drawn = trial_runs(audited, law) + (drawn_runs.responses if drawn_runs is not None else ())
        extreme = extreme_runs(audited, law)
        scale = _scale(audited, law, exact)
        claims = (expectation_check(audited, law, exact, drawn, scale),)
        if not audited.depends_on_others:
            claims += (independence_check(audited, exact, drawn + extreme, scale),)
        looked_at += drawn + extreme
    ex_post = _over_cases(looked_at, low, high) if looked_at else None
    if exact is None:
        assert drawn_runs is not None  # noqa: S101
        return _by_draws(audited, law, drawn_runs, sampled_interim(drawn_runs.responses, low, high), ex_post)
    return _exactly(
        audited, law, exact, best_deviations(exact, low, high), ex_post, drawn_runs, claims, drawn_cases=cases is None
    )


def _exactly(
    rule: OutcomeRule,
    law: Valuation,
    exact: Responses,
    interim: Deviations,
    ex_post: Deviations | None,
    drawn_runs: Runs | None,
    claims: tuple[Check, ...],
    *,
    drawn_cases: bool,
) -> Audit:
    expected = expected_outcome(exact, law)
    spend, error = exact_sum(expected.payment), exact_sum(expected.error)
    return Audit(
        rule=rule,
        law=law,
        checks=(
            truth_check(rule, "interim", interim),
            participation_check(rule, "interim", interim),
            *_ex_post_checks(rule, ex_post, drawn=drawn_cases),
            budget_check(rule, spend, error),
            *realised_check(rule, drawn_runs, most_paid(rule, exact, law)),
            *claims,
        ),
        interim=interim,
        ex_post=ex_post,
        expected_payments=expected.payment,
        expected_spend=spend,
        expected_spend_error=error,
        purchased_privacy=exact_dot(expected.sale, rule.market.epsilon),
        totals=None if drawn_runs is None else np.sort(drawn_runs.total),
    )


def _by_draws(
    rule: OutcomeRule, law: Valuation, drawn_runs: Runs, sampled: SampledInterim, ex_post: Deviations | None
) -> Audit:
    draws = drawn_runs.total.size
    spend, error = (
        float(drawn_runs.total.mean()),
        STANDARD_ERRORS * float(drawn_runs.total.std(ddof=1)) / math.sqrt(draws),
    )
    interim = sampled.deviations
    return Audit(
        rule=rule,
        law=law,
        checks=(
            truth_check(rule, "interim", interim, sampled=(sampled.gain, sampled.gain_error), cases=ex_post),
            participation_check(rule, "interim", interim, sampled=(sampled.utility, sampled.utility_error)),
            *_ex_post_checks(rule, ex_post, drawn=True),
            budget_check(rule, spend, error, drawn=True),
            *realised_check(rule, drawn_runs, None),
        ),
        interim=interim,
        ex_post=ex_post,
        expected_payments=np.full(rule.n, np.nan),
        expected_spend=spend,
        expected_spend_error=error,
        purchased_privacy=float(drawn_runs.privacy.mean()),
        totals=np.sort(drawn_runs.total),
    )


def _ex_post_checks(rule: OutcomeRule, found: Deviations | None, *, drawn: bool) -> tuple[Check, ...]:
    if found is None:
        return ()
    return (
        truth_check(rule, "ex post", found, drawn=drawn),
        participation_check(rule, "ex post", found, drawn=drawn),
    )


def _over_cases(cases: tuple[Responses, ...], low: Floats, high: Floats) -> Deviations:
    """Return each owner's best deviation and least utility over all cases."""
    found = [best_deviations(case, low, high) for case in cases]
    best = np.argmax(np.array([one.gain - one.gain_rounding for one in found]), axis=0)
    least = np.argmin(np.array([one.least_utility + one.least_rounding for one in found]), axis=0)
    rows = np.arange(low.size)

    def pick(name: str, which: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(np.array([getattr(one, name) for one in found])[which, rows])

    return Deviations(
        gain=pick("gain", best),
        valuation=pick("valuation", best),
        valuation_side=pick("valuation_side", best).astype(np.int8),
        report=pick("report", best),
        report_side=pick("report_side", best).astype(np.int8),
        least_utility=pick("least_utility", least),
        least_at=pick("least_at", least),
        gain_rounding=pick("gain_rounding", best),
        least_rounding=pick("least_rounding", least),
    )


def _scale(rule: OutcomeRule, law: Valuation, responses: Responses) -> float:
    """Return the scale of rounding: the largest valuation or payment."""
    knots = np.where(responses.knots < np.inf, responses.knots, 0.0)
    amounts = (np.asarray(law.high), responses.payment, responses.payment_at, knots, np.asarray(rule.market.high))
    return max(float(np.max(np.abs(amount), initial=0.0)) for amount in amounts)


def _audit_law(rule: OutcomeRule, belief: Belief | None) -> Valuation:
    law = rule.market.valuation if belief is None else belief
    if not isinstance(law, Valuation):
        law = law.given(rule.market.epsilon)
    if law.size not in (None, rule.n):
        raise InputError(
            "audit: argument 'belief'",
            f"must be a common law, or have one law for each of the {rule.n} owners",
            value=law.size,
            remedy="give alike owners one law each",
        )
    return Market(rule.market.epsilon, law, owner_ids=rule.market.owner_ids).valuation


def _check_arguments(rule: object, belief: object, draws: object, rng: object) -> None:
    check_kind(
        rule, OutcomeRule, "audit: argument 'rule'", "an OutcomeRule or a Solution", "give, say, what `solve` returns"
    )
    if belief is not None and not isinstance(belief, (Valuation, GaussianCopula, EmpiricalConditional)):
        raise InputError(
            "audit: argument 'belief'",
            "must be a law or a joint law",
            value=type(belief).__name__,
            remedy="give, say, GaussianCopula(Uniform(0, 1), Uniform(0, 1), -0.5)",
        )
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 0:
        raise InputError("audit: argument 'draws'", "must be a whole number ≥ 0", value=draws, remedy="use, say, 1000")
    if draws and not isinstance(rng, np.random.Generator):
        raise InputError(
            "audit: argument 'rng'",
            "must be a numpy Generator",
            value=type(rng).__name__,
            remedy="give numpy.random.default_rng(seed)",
        )
