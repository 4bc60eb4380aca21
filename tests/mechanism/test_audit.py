"""Audits: honest rules pass, forged ones are caught with the exact best lie, and overspending under another law is measured."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import markets, shares

import smqopt as smq
from smqopt.mechanism.audits._best_deviation import best_deviations
from smqopt.mechanism.audits._expected_outcome import expected_outcome
from smqopt.mechanism.audits._sampled_rule import mean_responses
from smqopt.numeric import INCENTIVE

HALF = smq.Market([1.0, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo"])
IRREGULAR = smq.PiecewiseUniform([0, 1, 2], [1, 4])


def verdicts(found):
    return {check.name: check.passed for check in found.checks}


class PayAsBid(smq.OutcomeRule):
    """Sells up to 0.5, and is paid what she asked for."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.5] * self.n, paid=0.0, slope=1.0)


class JustBelow(smq.OutcomeRule):
    """As pay as bid, but a report of exactly 0.5 does not sell: the best lie is approached and never attained."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        n = self.n
        two, one = np.ones((n, 1)), np.zeros((n, 1))
        return smq.Responses(
            knots=0.5 * two, sale=np.hstack([two, one]), payment=np.zeros((n, 2)), slope=np.hstack([two, one]),
            sale_at=one, payment_at=one,
        )  # fmt: skip


class OwnReport(smq.OutcomeRule):
    """The threshold is 0.2 + ψ/2: it depends on the report. She sells up to 0.4, and is paid the threshold."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.4] * self.n, paid=0.2, slope=0.5)


class BelowReport(smq.OutcomeRule):
    """Pays a tenth less than was asked for."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.5] * self.n, paid=-0.1, slope=1.0)


class Jackpot(smq.OutcomeRule):
    """An honest offer, but for one report, 0.123, that is paid more: no grid finds it."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        n = self.n
        column = np.ones((n, 1))
        return smq.Responses(
            knots=np.hstack([0.123 * column, 0.5 * column]),
            sale=np.hstack([column, column, 0 * column]),
            payment=np.hstack([0.5 * column, 0.5 * column, 0 * column]),
            slope=np.zeros((n, 3)),
            sale_at=np.ones((n, 2)),
            payment_at=np.hstack([0.6 * column, 0.5 * column]),
        )


class WithoutBound(smq.OutcomeRule):
    """Who asks for much is paid much, and does not sell."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        n = self.n
        return smq.Responses(
            knots=np.ones((n, 1)), sale=np.zeros((n, 2)), payment=np.zeros((n, 2)), slope=np.tile([0.0, 0.25], (n, 1)),
            sale_at=np.zeros((n, 1)), payment_at=np.zeros((n, 1)),
        )  # fmt: skip


class Lowest(smq.OutcomeRule):
    """The lowest report sells; paid her report (first price) or the next lowest (second price)."""

    def __init__(self, market, budget, *, second):
        super().__init__(market, budget)
        self.second = second

    def responses(self, reports, rng):  # noqa: ARG002 -- no draws
        others = np.array([np.min(np.delete(reports, i)) for i in range(self.n)])
        return smq.Responses.offers(others, **({} if self.second else {"paid": 0.0, "slope": 1.0}))


FORGED = {
    # rule → largest gain, best report and its side, of which valuation, interim participation holds
    PayAsBid: (0.5, 0.5, 0, 0.0, True),
    JustBelow: (0.5, 0.5, -1, 0.0, True),
    OwnReport: (0.2, 0.4, 0, 0.0, True),
    BelowReport: (0.5, 0.5, 0, 0.0, False),
    Jackpot: (0.1, 0.123, 0, 0.0, True),
    WithoutBound: (math.inf, math.inf, -1, 0.0, True),
}


@pytest.mark.parametrize("rule", FORGED, ids=lambda rule: rule.__name__)
def test_a_forged_rule_is_caught_with_its_best_lie(rule):
    gain, report, side, valuation, participates = FORGED[rule]
    found = smq.audit(rule(HALF, 2.0))
    assert not found.passes
    said = verdicts(found)
    assert said["interim truthfulness"] is False
    assert said["ex post truthfulness"] is False
    assert said["interim participation"] is participates
    assert found.interim.gain.tolist() == pytest.approx([gain] * 2, abs=1e-15)
    assert found.interim.report.tolist() == [report] * 2
    assert found.interim.report_side.tolist() == [side] * 2
    if math.isfinite(gain) and rule is not Jackpot:
        assert found.interim.valuation.tolist() == [valuation] * 2
    assert any(reason.startswith("interim truthfulness") and "'ann'" in reason for reason in found.reasons)


class FartherKnot(smq.OutcomeRule):
    """An honest offer of 0.5; a knot at 3 that changes nothing, for the first owner alone."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses(
            knots=np.array([[0.5, 3.0], [0.5, np.inf]]), sale=np.array([[1.0, 0.0, 0.0]] * 2),
            payment=np.array([[0.5, 0.0, 0.0]] * 2), slope=np.zeros((2, 3)),
            sale_at=np.array([[1.0, 0.0]] * 2), payment_at=np.array([[0.5, 0.0]] * 2),
        )  # fmt: skip


def test_a_knot_far_away_changes_no_verdict():
    truthfulness = next(
        check for check in smq.audit(FartherKnot(HALF, 2.0)).checks if check.name == "interim truthfulness"
    )
    assert truthfulness.passed
    assert truthfulness.tolerance <= INCENTIVE.value


def test_payments_below_the_report_lose_what_is_cut():
    found = smq.audit(BelowReport(HALF, 2.0))
    assert found.interim.least_utility.tolist() == pytest.approx([-0.1, -0.1], abs=1e-15)


def test_the_first_price_is_caught_by_draws():
    """Against one other U(0, 1) report, an owner of valuation 0 does best to ask 1/2, and gains 1/4."""
    found = smq.audit(Lowest(HALF, 2.0, second=False), draws=600, rng=np.random.default_rng(5))
    said = verdicts(found)
    assert said["interim truthfulness"] is False
    assert said["interim participation"] is None  # nothing was lost in any draw, which proves nothing
    check = found.checks[0]
    assert abs(check.value - 0.25) < 0.05
    assert np.all(found.interim.valuation < 0.02)
    assert np.all(np.abs(found.interim.report - 0.5) < 0.15)
    assert np.isnan(found.expected_payments).all()
    assert abs(found.expected_spend - 1 / 3) < found.expected_spend_error  # E of the lower of two
    assert found.expected_spend_error == pytest.approx(4 * np.std(found.totals, ddof=1) / math.sqrt(found.totals.size))
    assert abs(found.purchased_privacy - 1.0) < 1e-12


def test_the_second_price_is_undecided_by_draws_and_never_called_false():
    found = smq.audit(Lowest(HALF, 2.0, second=True), draws=40, rng=np.random.default_rng(6))
    said = verdicts(found)
    assert said["interim truthfulness"] is None
    assert said["ex post truthfulness"] is None
    assert not found.passes
    assert "nobody gains by any report in any draw" in found.checks[0].note
    assert float(np.max(found.ex_post.gain)) <= 1e-15


# --- honest rules ----------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(markets(most=6), shares)
def test_posted_thresholds_pass(market, share):
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    found = smq.audit(solution)
    assert found.passes, found.reasons
    assert np.all(found.interim.gain == 0)
    assert np.all(found.interim.least_utility >= 0)
    assert abs(found.expected_spend - solution.total_spend) <= found.expected_spend_error + 1e-300
    assert found.purchased_privacy == pytest.approx(solution.purchased_privacy, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(
    ("market", "budget"),
    [
        (smq.Market([1.0], smq.Uniform(0, 1)), 0.25),
        (smq.Market([1.0, 1.0, 0.0], smq.Uniform(1, 2)), 0.0),
        (smq.Market([1.0, 0.0], smq.Uniform(0, 1)), 9.0),
        (smq.Market([1.0, 1.0], smq.Uniform([0.0, 5.0], [1.0, 6.0])), 0.2),
        (smq.Market([1.0, 0.5], smq.Discrete([0.0, 1.0, 2.0], [1, 1, 1])), 0.5),
        (smq.Market([1.0, 0.5], smq.PointMass([1.0, 2.0])), 0.5),
        (smq.Market([1.0, 1.0], IRREGULAR, multiplicity=[2, 3]), 1.0),
    ],
    ids=["one owner", "zero budget", "slack", "no offer", "atoms", "point masses", "lotteries"],
)
def test_posted_thresholds_at_the_edges(market, budget):
    solution = smq.solve(market, budget)
    found = smq.audit(solution, draws=200, rng=np.random.default_rng(1))
    assert found.passes, found.reasons
    assert verdicts(found)["ex post truthfulness"] is True
    assert verdicts(found)["ex post participation"] is True
    assert {check.note for check in found.checks if check.name.startswith(("interim", "ex post"))} == {""}
    assert abs(found.expected_spend - solution.total_spend) <= found.expected_spend_error
    assert found.totals.shape == (200,)
    spread = found.totals.std() / math.sqrt(200)
    assert abs(found.totals.mean() - solution.total_spend) <= 4 * spread + 1e-12
    assert found.rule.n == market.population


def test_a_lottery_over_thresholds_is_truthful_in_every_draw_and_in_expectation():
    solution = smq.solve(smq.Market([1.0], IRREGULAR), 0.2)
    lottery = solution.lottery
    found = smq.audit(solution)
    responses = found.rule.interim(found.law)
    low, high, p = lottery.low[0], lottery.high[0], lottery.probability_of_low[0]
    for psi, sale in (
        (0.0, 1.0),
        (low, 1.0),
        (np.nextafter(low, 2), 1 - p),
        (high, 1 - p),
        (np.nextafter(high, 2), 0.0),
    ):
        q, paid = responses.at([psi])
        assert q[0] == pytest.approx(sale, abs=1e-15)
        assert paid[0] == pytest.approx(
            (p * low if psi <= low else 0) + ((1 - p) * high if psi <= high else 0), abs=1e-15
        )
    assert found.passes
    assert found.expected_spend == pytest.approx(0.2, rel=1e-12)


# --- errata E4 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correlation", "share", "spent"), [(-0.5, 0.1, 1.32), (-1.0, 0.1, 1.60), (-0.5, 0.3, 1.09), (-1.0, 0.3, 1.16)]
)
def test_thresholds_that_ignore_a_correlation_overspend_as_the_errata_say(correlation, share, spent):
    n = 1500
    epsilon = (np.arange(n) + 0.5) / n
    ignoring = smq.solve(smq.Market(epsilon, smq.Uniform(0, 1)), share * n)
    joint = smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), correlation)
    found = smq.audit(ignoring, belief=joint, draws=60, rng=np.random.default_rng(2))
    assert not found.passes
    assert verdicts(found)["expected budget"] is False
    assert verdicts(found)["interim truthfulness"] is True  # the law decides what is spent, not whether truth pays
    assert found.spend_share == pytest.approx(spent, abs=0.006)
    assert found.overspending == pytest.approx((found.spend_share - 1) * share * n)
    assert found.expected_spend_error < 1e-12 * share * n
    spread = max(found.totals.std() / math.sqrt(60), 1e-9)
    assert abs(found.totals.mean() - found.expected_spend) < 4 * spread
    assert found.checks[-1].value == 1.0  # every run overspends
    direct = math.fsum(ignoring.thresholds * joint.given(epsilon).cdf(ignoring.thresholds))
    assert found.expected_spend == pytest.approx(direct, rel=1e-14)


def test_thresholds_of_the_law_given_the_requirement_keep_the_budget():
    n = 300
    epsilon = (np.arange(n) + 0.5) / n
    joint = smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), -0.5)
    heeding = smq.solve(smq.Market(epsilon, joint.given(epsilon)), 0.1 * n)
    found = smq.audit(heeding, belief=joint)
    assert found.passes, found.reasons
    assert found.spend_share == pytest.approx(1.0, rel=1e-9)
    assert smq.audit(heeding, belief=smq.Uniform(0, 1)).spend_share < 1.0


def test_other_joint_laws_can_be_believed():
    rng = np.random.default_rng(3)
    epsilon = rng.random(40)
    solution = smq.solve(smq.Market(epsilon, smq.Uniform(0, 1)), 6.0)
    past = smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), -0.8).sample(rng, 2000)
    found = smq.audit(solution, belief=smq.EmpiricalConditional.fit(*past))
    assert found.spend_share > 1.05
    assert verdicts(found)["expected budget"] is False
    none = smq.audit(solution, belief=smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), 0.0))
    assert none.passes


# --- ex-post budget --------------------------------------------------------------------------------------------------


def test_the_ex_post_budget_rule_keeps_every_run_within_the_budget():
    market = smq.Market([0.5, 1.0, 2.0], smq.Uniform(0, 1))
    solution = smq.solve(market, 0.6)
    found = smq.audit(smq.ExPostBudget(solution), draws=300, rng=np.random.default_rng(4))
    assert found.passes, found.reasons
    assert np.ptp(found.totals) < 1e-14
    assert found.totals[0] == pytest.approx(solution.total_spend, rel=1e-14)
    assert verdicts(found)["ex post truthfulness"] is True
    assert verdicts(found)["ex post participation"] is False
    worst = []
    theta, expected = solution.thresholds, solution.spend
    for sells in itertools.product((0.0, 1.0), repeat=3):  # brute force: who sells decides the transfers
        excess = np.array(sells) * theta - expected
        transfer = -(excess.sum() - excess) / 2
        worst.append(transfer + np.where(np.array(sells) == 1, 0.0, 0.0))  # at θ = θ* a sale brings nothing
    assert found.ex_post.least_utility.tolist() == pytest.approx(np.min(worst, axis=0).tolist(), abs=1e-15)
    assert np.all(found.interim.least_utility >= -1e-15)


def test_the_ex_post_budget_rule_hurts_owners_where_the_law_is_another():
    """With others selling more than expected the budget holds and participation does not: the loss has changed hands."""
    n = 50
    epsilon = (np.arange(n) + 0.5) / n
    solution = smq.solve(smq.Market(epsilon, smq.Uniform(0, 1)), 0.1 * n)
    joint = smq.GaussianCopula(smq.Uniform(0, 1), smq.Uniform(0, 1), -0.5)
    found = smq.audit(smq.ExPostBudget(solution), belief=joint, draws=30, rng=np.random.default_rng(4))
    said = verdicts(found)
    assert said["expected budget"] is True
    assert said["realised budget"] is True
    assert said["interim participation"] is False
    posted = smq.audit(solution, belief=joint)
    excess = posted.expected_payments - solution.spend
    assert found.interim.least_utility.tolist() == pytest.approx(
        (-(excess.sum() - excess) / (n - 1)).tolist(), abs=1e-14
    )


def test_a_rule_that_breaks_its_promise_of_an_ex_post_budget_is_caught():
    class Promising(PayAsBid):
        keeps_budget_always = True

    found = smq.audit(Promising(HALF, 0.3), draws=50, rng=np.random.default_rng(1))
    assert verdicts(found)["realised budget"] is False


def test_ex_post_budget_needs_two_owners():
    with pytest.raises(smq.InputError, match="at least two owners"):
        smq.ExPostBudget(smq.solve(smq.Market([1.0], smq.Uniform(0, 1)), 0.2))


# --- the parts -------------------------------------------------------------------------------------------------------


@st.composite
def responses(draw, owners=2):
    k = draw(st.integers(0, 3))
    quarters = st.integers(0, 8).map(lambda x: x / 4)
    chances = st.sampled_from([0.0, 0.25, 0.5, 1.0])

    def table(width, values):
        return np.array([[draw(values) for _ in range(width)] for _ in range(owners)], dtype=float).reshape(
            owners, width
        )

    return smq.Responses(
        knots=np.array([sorted(draw(st.sets(quarters, min_size=k, max_size=k))) for _ in range(owners)]).reshape(
            owners, k
        ),
        sale=table(k + 1, chances),
        payment=table(k + 1, quarters),
        slope=np.hstack([table(k, st.sampled_from([-1.0, 0.0, 0.5])), np.zeros((owners, 1))]),
        sale_at=table(k, chances),
        payment_at=table(k, quarters),
    )


@settings(max_examples=80)
@given(responses(), st.sampled_from([(0.0, 1.0), (0.25, 1.5), (0.5, 0.5)]))
def test_the_best_lie_is_no_worse_than_any_on_a_fine_grid_and_hardly_better(given_responses, ends):
    low, high = (np.full(2, end) for end in ends)
    found = best_deviations(given_responses, low, high)
    base = np.linspace(0, 2.5, 81)
    tiny = 1e-9
    places = np.unique(np.clip(np.concatenate([base, base - tiny, base + tiny]), 0, 4))
    types = places[(places >= ends[0]) & (places <= ends[1])]
    tables = [given_responses.at(np.full(2, psi)) for psi in places]
    truths = [given_responses.at(np.full(2, theta)) for theta in types]
    for owner in range(2):
        Q, P = (np.array([table[k][owner] for table in tables]) for k in (0, 1))
        truth = np.array([paid[owner] - theta * sale[owner] for theta, (sale, paid) in zip(types, truths, strict=True)])
        gain = np.max(P[np.newaxis] - types[:, np.newaxis] * Q[np.newaxis], axis=1) - truth
        assert gain.max() <= found.gain[owner] + 1e-12
        assert found.gain[owner] <= max(gain.max(), 0.0) + 1e-8
        assert truth.min() >= found.least_utility[owner] - 1e-12
        assert found.least_utility[owner] >= truth.min() - 1e-8


@settings(max_examples=30)
@given(st.lists(responses(), min_size=1, max_size=4))
def test_mean_responses_are_the_mean_everywhere(samples):
    mean = mean_responses(tuple(samples))
    for psi in (0.0, 0.1, 0.25, 0.3, 0.5, 1.0, 1.99, 2.0, 2.1, 7.0):
        sale, paid = mean.at(np.full(2, psi))
        found = [one.at(np.full(2, psi)) for one in samples]
        assert sale == pytest.approx(np.mean([q for q, _ in found], axis=0), abs=1e-14)
        assert paid == pytest.approx(np.mean([p for _, p in found], axis=0), abs=1e-14)


def test_expected_payments_by_quadrature_state_an_error_that_covers_the_truth():
    rule = smq.Responses.offers([0.5, 0.5, 0.5], paid=0.0, slope=1.0)
    for law, exact in (
        (smq.Uniform(0, 1), 0.125),
        (smq.Power(2), 2 / 3 * 0.5**3),
        (smq.Power(0.5), (0.5**1.5) / 3),  # an infinite density at 0
        (smq.Uniform(0.25, 1), (0.5**2 - 0.25**2) / 2 / 0.75),
        (smq.Uniform(0.6, 1), 0.0),
        (smq.Discrete([0.25, 0.5, 2.0], [1, 1, 2]), 0.25 * 0.25 + 0.25 * 0.5),
    ):
        found = expected_outcome(rule, law)
        assert np.all(np.abs(found.payment - exact) <= found.error), law
        assert np.all(
            found.error < (0.05 if isinstance(law, smq.Discrete) else 1e-3 if law.name == "power" else 1e-13)
        ), law
        assert found.sale.tolist() == pytest.approx([float(law.cdf(0.5))] * 3, abs=1e-15)


def test_atoms_at_knots_are_paid_what_the_knot_says():
    law = smq.Discrete([1.0, 2.0], [1, 3])
    open_at_one = smq.Responses([[1.0]], [[1.0, 0.0]], [[5.0, 0.0]], [[0.0, 0.0]], [[0.0]], [[0.5]])
    found = expected_outcome(open_at_one, law)
    assert (found.sale[0], found.payment[0]) == pytest.approx((0.0, 0.25 * 0.5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"knots": [[1.0, 0.5]]}, "rise in each row"),
        ({"knots": [[0.5, 0.5]]}, "rise in each row"),
        ({"knots": [[math.inf, 0.5]]}, "rise in each row"),
        ({"knots": [[-1.0, 0.5]]}, "≥ 0"),
        (
            {
                "knots": [[0.5, 1.0, 0.75]],
                **{name: [[0.0] * 4] for name in ("sale", "payment", "slope")},
                **{name: [[0.0] * 3] for name in ("sale_at", "payment_at")},
            },
            "rise in each row",
        ),
        ({"sale": [[1.0, 2.0, 0.0]]}, r"must lie in \[0, 1\]"),
        ({"sale": [[1.0, 0.0]]}, r"must have shape \(1, 3\)"),
        ({"payment": [[math.nan, 0.0, 0.0]]}, "finite numbers"),
        ({"slope": [[math.inf, 0.0, 0.0]]}, "finite numbers"),
    ],
)
def test_bad_responses_are_refused(arguments, message):
    good = {
        "knots": [[0.5, 1.0]],
        "sale": [[1.0, 0.5, 0.0]],
        "payment": [[0.5, 0.2, 0.0]],
        "slope": [[0.0, 0.0, 0.0]],
        "sale_at": [[1.0, 0.5]],
        "payment_at": [[0.5, 0.2]],
    }
    smq.Responses(**good)
    with pytest.raises(smq.InputError, match=message):
        smq.Responses(**{**good, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "posted"}, "must be an OutcomeRule or a Solution"),
        ({"belief": -0.5}, "must be a law or a joint law"),
        ({"belief": smq.Uniform([0.0] * 3, [1.0] * 3)}, "one law for each of the 2 owners"),
        ({"draws": -1}, "whole number ≥ 0"),
        ({"draws": 5}, "must be a numpy Generator"),
        ({"rule": Lowest(HALF, 1.0, second=True)}, "must be at least 4"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    given_arguments = {"rule": smq.solve(HALF, 0.5), **arguments}
    with pytest.raises(smq.InputError, match=message):
        smq.audit(given_arguments.pop("rule"), **given_arguments)


def test_overspending_at_a_zero_budget_has_no_share():
    solution = smq.solve(HALF, 0.5)
    assert smq.audit(dataclasses.replace(solution, budget=0.0)).spend_share == math.inf
    assert math.isnan(smq.audit(smq.solve(HALF, 0.0)).spend_share)


@pytest.mark.parametrize(
    "law", [smq.Uniform(0, 1), smq.Uniform([0, 1, 2], [1, 3, 4]), IRREGULAR], ids=["one", "each", "drawn"]
)
def test_the_rule_that_is_audited_is_the_rule_that_is_applied(law):
    market = smq.Market([0.5, 1.0, 1.0], law, multiplicity=[2, 1, 3])
    solution = smq.solve(market, 0.7)
    certificate = smq.verify(solution)
    rules = {"posted": smq.PostedThresholds, "ex-post-budget": smq.ExPostBudget}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        reports = market.expand().valuation.sample(rng, None if law.size else market.population)
        _compare(certificate, reports, rules, seed)


def _compare(certificate, reports, rules, seed):
    solution = certificate.solution
    for name, rule in rules.items():
        outcome = smq.procure(certificate, reports, payments=name, rng=np.random.default_rng(seed))
        sale, paid = rule(solution).responses(reports, np.random.default_rng(seed)).at(reports)
        assert (sale == 1).tolist() == outcome.selected.tolist()
        assert paid == pytest.approx(outcome.payments, rel=1e-12, abs=1e-12)
