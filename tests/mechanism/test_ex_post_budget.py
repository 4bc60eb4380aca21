"""Payments that never exceed the budget: totals for any reports, interim payments by exact integration, and where the rule cannot be kept."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import markets, shares

import smqopt as smq
from smqopt.mechanism._offers import posted_offers
from smqopt.mechanism.payments._ex_post_budget import ex_post_budget_payments
from smqopt.mechanism.payments._payments import payments_of

IRREGULAR = smq.PiecewiseUniform([0, 0.9, 1], [0.5, 0.5])
RULE = "ex-post-budget"

MARKETS = {
    "two owners": (smq.Market([1.0, 0.5], smq.Uniform(0, 1)), 0.6),
    "ties": (smq.Market([1.0, 1.0, 1.0], smq.Uniform(0, 1)), 0.7),
    "slack": (smq.Market([1.0, 0.5, 0.0], smq.Uniform(0, 1)), 9.0),
    "nothing to spend": (smq.Market([1.0, 0.5, 0.0], smq.Uniform(0, 1)), 0.0),
    "low ends above 0": (smq.Market([1.0, 0.5, 0.1], smq.Uniform([0.5, 1.0, 2.0], [1.0, 2.0, 2.5])), 1.2),
    "alike owners": (smq.Market([1.0, 2.0], smq.Uniform(0, 1), multiplicity=[2, 2]), 1.0),
    "lotteries": (smq.Market([0.2, 0.5, 1.0, 1.0], IRREGULAR), 1.7),
    "lotteries of alike owners": (smq.Market([0.2, 1.0], IRREGULAR, multiplicity=[2, 2]), 1.7),
    "a lottery with no offer": (smq.Market([0.5, 0.5], smq.Discrete([1.0, 2.0], [0.1, 0.9])), 1.0),
    "power": (smq.Market([0.3, 0.9, 1.1], smq.Power(3, low=0, high=1)), 0.9),
}


def certified(market, budget):
    certificate = smq.verify(smq.solve(market, budget))
    assert certificate.valid, certificate.reasons
    return certificate


def exact(values):
    return sum((Fraction(x) for x in np.asarray(values).tolist()), Fraction(0))


def types(certificate):
    """For each owner the pairs (probability, threshold, sold) that matter, as exact numbers."""
    solution = certificate.solution
    counts = solution.market.multiplicity
    rows = range(solution.market.n) if counts is None else np.repeat(np.arange(counts.size), counts).tolist()
    for row in rows:
        ends = [(Fraction(1), solution.thresholds[row], solution.acceptance[row])]
        if solution.lottery is not None and row in solution.lottery.owner:
            k, drawn = solution.lottery.owner.tolist().index(row), solution.lottery
            p = Fraction(float(drawn.probability_of_low[k]))
            ends = [(p, drawn.low[k], drawn.low_acceptance[k]), (1 - p, drawn.high[k], drawn.high_acceptance[k])]
        yield [
            (chance * (Fraction(float(q)) if sold else 1 - Fraction(float(q))), float(theta), sold)
            for chance, theta, q in ends
            for sold in ((True, False) if q > 0 else (False,))
        ]


@pytest.mark.parametrize("name", MARKETS)
def test_interim_payments_are_the_posted_ones_and_no_total_exceeds_the_budget(name):
    """Every pattern of draws and sales, with its exact probability: that is the integral over the others' reports."""
    certificate = certified(*MARKETS[name])
    budget = Fraction(certificate.solution.budget)
    offers = posted_offers(certificate, np.random.default_rng(1))
    owners = np.arange(len(offers.owner_ids))
    expected = exact(offers.expected)
    scale = float(np.max(certificate.solution.market.high)) * 2.0**-48
    interim = {}
    for pattern in itertools.product(*types(certificate)):
        thresholds = np.array([theta for _, theta, _ in pattern])
        sold = np.array([sells for _, _, sells in pattern])
        drawn = type(offers)(
            offers.owner_ids, offers.epsilon, thresholds, sold | offers.offered, offers.acceptance, offers.expected
        )
        payments = payments_of(certificate, RULE, drawn, sold, owners)
        assert exact(payments) <= min(budget, expected)
        assert float(expected - exact(payments)) <= owners.size * scale
        for i, (_, theta, sells) in enumerate(pattern):
            others = Fraction(1)
            for j, (probability, _, _) in enumerate(pattern):
                others *= 1 if j == i else probability
            interim[i, theta, sells] = interim.get((i, theta, sells), Fraction(0)) + others * Fraction(payments[i])
    for (_, theta, sells), payment in interim.items():
        assert abs(float(payment - (Fraction(theta) if sells else 0))) <= 4 * scale


@pytest.mark.parametrize("name", MARKETS)
def test_expected_payments_are_rounded_down_and_hardly(name):
    certificate = certified(*MARKETS[name])
    for found, cases in zip(posted_offers(certificate).expected.tolist(), types(certificate), strict=True):
        mean = sum((chance * Fraction(theta) for chance, theta, sold in cases if sold), Fraction(0))
        assert mean * (1 - Fraction(1, 2**48)) <= Fraction(found) <= mean


def totals_within_the_budget(runs):
    rng = np.random.default_rng(11)
    certificate = certified(smq.Market(rng.random(7), smq.Uniform(0, 1), multiplicity=[1, 2, 3, 1, 1, 5, 1]), 3.0)
    offers = posted_offers(certificate)
    owners, n = np.arange(len(offers.owner_ids)), len(offers.owner_ids)
    budget = certificate.solution.budget
    least = 0.0
    for _ in range(runs):
        # reports of any law, and not even independent: a common level, ends, ties
        reports = rng.choice([rng.random(n), np.full(n, rng.random()), offers.thresholds, np.zeros(n)])
        payments = payments_of(certificate, RULE, offers, offers.offered & (reports <= offers.thresholds), owners)
        assert math.fsum([*payments.tolist(), -budget]) <= 0  # rounded once, so of the right sign
        least = min(least, float(payments.min()))
    assert least < 0


def test_four_thousand_random_report_vectors_stay_within_the_budget():
    totals_within_the_budget(4_000)


@pytest.mark.exhaustive
def test_a_hundred_thousand_random_report_vectors_stay_within_the_budget():
    totals_within_the_budget(100_000)


@settings(max_examples=40)
@given(
    posted=st.lists(st.floats(0, 1e300), min_size=2, max_size=9),
    data=st.data(),
    spare=st.sampled_from([0.0, 1e-300, 1.0]),
)
def test_the_sum_stays_below_for_any_numbers(posted, data, spare):
    expected = np.array(data.draw(st.lists(st.floats(0, 1e300), min_size=len(posted), max_size=len(posted))))
    if data.draw(st.booleans()):
        expected = np.array(posted)
    limit = float(exact(expected)) + spare
    payments = ex_post_budget_payments(np.array(posted), expected, 0.0, limit)
    assert exact(payments) <= min(Fraction(limit), exact(expected))
    size = max(*posted, *expected.tolist())
    assert float(min(Fraction(limit), exact(expected)) - exact(payments)) <= 40 * len(posted) * 2.0**-52 * size + 1e-300


@settings(max_examples=8)
@given(market=markets(most=5), share=shares, seed=st.integers(0, 2**32 - 1))
def test_truth_stays_dominant_and_the_total_within_the_budget(market, share, seed):
    certificate = certified(market, share * market.most_that_can_be_spent)
    n = market.population
    if n == 1:
        return
    rng = np.random.default_rng(seed)
    theta = market.expand().valuation.sample(rng, n)
    honest = smq.procure(certificate, theta, RULE)
    assert exact(honest.payments) <= certificate.solution.budget
    posted = smq.procure(certificate, theta)
    assert honest.selected.tolist() == posted.selected.tolist()
    i = int(rng.integers(n))
    offers = posted_offers(certificate)
    for report in (0.0, offers.thresholds[i], 10.0 * float(market.high.max())):
        reports = theta.copy()
        reports[i] = report
        lie = smq.procure(certificate, reports, RULE)
        gain = [outcome.payments[i] - theta[i] * outcome.selected[i] for outcome in (honest, lie)]
        assert gain[1] <= gain[0] + 2.0**-40 * float(market.high.max())


def test_a_slack_budget_that_buys_everybody_pays_the_posted_thresholds_to_the_bit():
    certificate = certified(smq.Market([1.0, 0.5, 0.25], smq.Uniform([0.0, 0.1, 0.2], [1.0, 1.1, 1.3])), 9.0)
    outcome = smq.procure(certificate, [0.1, 0.2, 0.3], RULE)
    assert outcome.payments.tolist() == [1.0, 1.1, 1.3]


def test_the_outcome_says_what_the_rule_does():
    certificate = certified(smq.Market([1.0, 1.0, 0.0], smq.Uniform(0, 1)), 0.5)
    outcome = smq.procure(certificate, [0.25, 0.25, 0.0], RULE)
    assert outcome.rule == RULE
    assert outcome.owing == 1
    assert not outcome.selected[2]
    assert outcome.payments[2] < 0
    told = " ".join(outcome.caveats)
    for word in ("negative", "not bought receive or pay", "interim", "at most the budget"):
        assert word in told
    assert "1 owing" in repr(outcome)
    nobody = smq.procure(certificate, [0.9, 0.9, 0.9], RULE)
    assert np.all(nobody.payments > 0)
    assert nobody.total_payment <= 0.5
    posted = smq.procure(certificate, [0.25, 0.25, 0.0])
    assert "may exceed" in posted.caveats[0]
    assert "thresh" in posted.meaning


def test_one_owner_may_be_paid_up_to_the_budget_and_no_more():
    dear = certified(smq.Market([1.0], smq.Uniform(0, 1)), 0.25)
    assert dear.solution.thresholds[0] > 0.25
    for report in (0.1, 0.9):  # refused whatever she reports
        with pytest.raises(smq.InputError, match="needs two owners"):
            smq.procure(dear, [report], RULE)
    slack = certified(smq.Market([1.0], smq.Uniform(0, 1)), 1.0)
    assert smq.procure(slack, [0.9], RULE).payments.tolist() == [1.0]
    assert smq.procure(slack, [1.1], RULE).payments.tolist() == [0.0]
    nothing = certified(smq.Market([1.0], smq.Uniform(0, 1)), 0.0)
    assert smq.procure(nothing, [0.0], RULE).payments.tolist() == [0.0]
    lottery = certified(smq.Market([1.0], IRREGULAR), 0.3)
    assert lottery.solution.lottery is not None
    assert lottery.solution.lottery.high[0] > 0.3
    for seed in range(8):  # also when the low threshold is drawn
        with pytest.raises(smq.InputError, match="needs two owners"):
            smq.procure(lottery, [0.1], RULE, rng=np.random.default_rng(seed))
    none_or_dear = certified(smq.Market([0.5], smq.Discrete([1.0, 2.0], [0.1, 0.9])), 1.0)
    assert none_or_dear.solution.lottery is not None
    for seed in range(8):  # also when no offer is drawn: what is refused does not depend on the draw
        with pytest.raises(smq.InputError, match="needs two owners"):
            smq.procure(none_or_dear, [1.0], RULE, rng=np.random.default_rng(seed))
    pair = certified(smq.Market([1.0], smq.Uniform(0, 1), multiplicity=[2]), 0.25)
    assert exact(smq.procure(pair, [0.1, 0.1], RULE).payments) <= 0.25


def test_an_outcome_of_this_rule_comes_back_and_does_not_bend(tmp_path):
    certificate = certified(*MARKETS["lotteries of alike owners"])
    outcome = smq.procure(certificate, [0.1, 0.9, 0.5, 1.0], RULE, rng=np.random.default_rng(3))
    path = tmp_path / "outcome.csv"
    outcome.save(path)
    again = smq.Outcome.load(path, certificate)
    assert again.payments.tolist() == outcome.payments.tolist()
    assert (again.rule, again.thresholds.tolist()) == (RULE, outcome.thresholds.tolist())
    text = path.read_text()
    path.write_text(text.replace(repr(float(outcome.payments[0])), repr(float(outcome.payments[0]) + 0.25)))
    with pytest.raises(smq.InputError, match="must be what the rule 'ex-post-budget' pays"):
        smq.Outcome.load(path, certificate)
    path.write_text(text.replace(RULE, "posted"))
    with pytest.raises(smq.InputError, match="must be what the rule 'posted' pays"):
        smq.Outcome.load(path, certificate)
