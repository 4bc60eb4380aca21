"""Rules that say false things of themselves, and laws whose supports have gaps."""

import numpy as np
import pytest

import smqopt as smq

MARKET = smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1), owner_ids=["ann", "bo", "cy"])


def verdicts(found):
    return {check.name: check.passed for check in found.checks}


class Posted(smq.OutcomeRule):
    """Honest thresholds of 0.6; 1.8 where all three sell."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.6] * self.n)


class Promising(Posted):
    keeps_budget_always = True


class Rivals(smq.OutcomeRule):
    """The threshold is half the mean of the others' reports, or a draw; `interim` is given by subclasses."""

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers((reports.sum() - reports) / (2 * (self.n - 1)))


class Silent(Rivals):
    depends_on_others = False


class Drawn(Silent):
    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers(rng.choice([0.2, 0.8], self.n))


class OnlyAtTheTop(Silent):
    """Others matter only where all of them report the most."""

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers(np.where(reports.sum() - reports >= self.n - 1, 0.9, 0.5))


class PaidAsBid(smq.OutcomeRule):
    """States posted thresholds, and pays what was asked."""

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.5] * self.n, paid=0.0, slope=1.0)

    def interim(self, law):  # noqa: ARG002
        return smq.Responses.offers([0.5] * self.n)


class MoreSales(PaidAsBid):
    """States a chance of sale that is twice the true one."""

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.5] * self.n, offered=rng.random(self.n) < 0.5)


class Rare(PaidAsBid):
    """Honest: sells with chance 1/100, as it states."""

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.5] * self.n, offered=rng.random(self.n) < 0.01)

    def interim(self, law):  # noqa: ARG002
        one = np.ones((self.n, 1))
        return smq.Responses(0.5 * one, np.hstack([0.01 * one, 0 * one]), np.hstack([0.005 * one, 0 * one]),
                             np.zeros((self.n, 2)), 0.01 * one, 0.005 * one)  # fmt: skip


@pytest.mark.parametrize("budget", [1.7, 1.79999, 0.0])
def test_a_promise_that_one_run_can_break_is_refuted_without_draws(budget):
    found = smq.audit(Promising(MARKET, budget))
    assert verdicts(found)["realised budget"] is False
    assert not found.passes
    assert any("can pay 1.8 of" in reason for reason in found.reasons)


def test_a_promise_that_no_run_can_break_passes():
    assert smq.audit(Promising(MARKET, 1.8)).passes
    solution = smq.solve(MARKET, 0.6)
    found = smq.audit(smq.ExPostBudget(solution))
    assert verdicts(found)["realised budget"] is True
    assert found.passes


def test_a_promise_that_nothing_proves_is_undecided():
    class Hoping(Rivals):
        keeps_budget_always = True

    found = smq.audit(Hoping(MARKET, 1.7), draws=40, rng=np.random.default_rng(1))
    assert verdicts(found)["realised budget"] is None
    assert not found.passes


@pytest.mark.parametrize("rule", [Silent, Drawn, OnlyAtTheTop])
def test_a_rule_that_hides_its_dependence_is_caught(rule):
    found = smq.audit(rule(MARKET, 3.0))
    assert verdicts(found)["independence"] is False
    assert not found.passes


class SeldomDrawn(Silent):
    """Pays 0.6 with chance 1/1000 each: 1.8 of 1.7 once in 10^9 runs."""

    keeps_budget_always = True

    def responses(self, reports, rng):  # noqa: ARG002
        return smq.Responses.offers([0.6] * self.n, offered=rng.random(self.n) < 0.001)


def test_a_rule_that_draws_is_not_taken_at_its_word():
    found = smq.audit(SeldomDrawn(MARKET, 1.7))
    assert verdicts(found)["independence"] is None
    assert not found.passes


def test_a_promise_that_rests_on_a_word_says_so():
    for more in ({}, {"draws": 8, "rng": np.random.default_rng(1)}):
        found = smq.audit(Promising(MARKET, 1.8), **more)
        assert found.passes
        kept = next(check for check in found.checks if check.name == "realised budget")
        assert kept.note.endswith("if others and draws change nothing, as the rule says")


@pytest.mark.parametrize("rule", [PaidAsBid, MoreSales])
def test_a_rule_that_states_other_expectations_is_caught(rule):
    found = smq.audit(rule(MARKET, 3.0))
    assert verdicts(found)["stated expectations"] is not True
    assert not found.passes


@pytest.mark.parametrize("rule", [Posted, Rare])
def test_honest_claims_pass(rule):
    found = smq.audit(rule(MARKET, 3.0))
    assert found.passes, found.reasons
    assert verdicts(found)["stated expectations"] is True


class Tenth(smq.OutcomeRule):
    """Offers of 0.6, but a report of exactly 0.3 brings a tenth of a cent more."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        n = self.n
        one = np.ones((n, 1))
        return smq.Responses(np.hstack([0.3 * one, 0.6 * one]), np.hstack([one, one, 0 * one]),
                             np.hstack([0.6 * one, 0.6 * one, 0 * one]), np.zeros((n, 3)), np.ones((n, 2)),
                             np.hstack([0.601 * one, 0.6 * one]))  # fmt: skip


@pytest.mark.parametrize("far", [1.0, 1e3, 1e9, 1e12, 1e15, 1e300])
def test_a_support_with_a_far_end_hides_no_gain(far):
    """What is rounding at valuations of 10^12 is no rounding at 0.3."""
    found = smq.audit(Tenth(smq.Market([1.0], smq.Discrete([0.1, far], [0.5, 0.5])), 1.0))
    assert verdicts(found)["interim truthfulness"] is False
    assert found.interim.gain[0] == pytest.approx(0.001, rel=1e-9)


class AsBid(smq.OutcomeRule):
    """Sells always, and is paid the report: expected spend is the mean of the law."""

    depends_on_others = False

    def responses(self, reports, rng):  # noqa: ARG002
        n = self.n
        return smq.Responses(np.zeros((n, 0)), np.ones((n, 1)), np.zeros((n, 1)), np.ones((n, 1)), np.zeros((n, 0)),
                             np.zeros((n, 0)))  # fmt: skip


GAPS = [
    (smq.PiecewiseUniform([0, 1e-6, 0.999999, 1], [0.5, 0.0, 0.5]), 0.5),
    *(
        (smq.PiecewiseUniform([0, at, at + 1e-9, 1], [0.25, 0.5, 0.25]), 0.125 * at + 0.5 * at + 0.125 * (1 + at))
        for at in (0.0625, 0.064, 0.0665, 0.3125, 0.501, 0.9375)
    ),
    (smq.Normal(0.0644, 1e-9, 0, 1), 0.0644),
    (smq.Mixture([smq.Uniform(0, 1e-7), smq.Uniform(5, 5.0000001)], [0.5, 0.5]), 2.50000005),
]


@pytest.mark.parametrize(("law", "mean"), GAPS)
def test_the_spend_of_a_law_with_gaps_is_within_its_error(law, mean):
    """F is nearly a step: a quadrature that looks past it gave wrong amounts with an error of 0."""
    found = smq.audit(AsBid(smq.Market([1.0], law), 10.0))
    assert abs(found.expected_spend - mean) <= found.expected_spend_error + 1e-9
    assert found.expected_spend_error < 1e-2
