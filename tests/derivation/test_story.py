"""The order of the steps, what an irregular law leaves out, and the integrals of the story against quadrature."""

import mpmath
import numpy as np
import pytest

import smqopt as smq
from smqopt.algebra import Verdict
from smqopt.derivation import derive

ORDER = (
    *("law", "virtual-cost", "regularity", "spend", "acceptance", "cvxpy-form", "lagrangian", "stationarity"),
    *("slackness", "threshold", "budget-price", "incentives", "payment-identity", "optimality", "degenerate"),
    *("weak-duality", "sensitivity"),
)
LAWS = {
    "uniform": smq.Uniform(0, 1),
    "power above 0": smq.Power(2, low=0.5, high=2),
    "exponential": smq.TruncatedExponential(2),
    "density 0 at both ends": smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1),
}
IRREGULAR = {
    "errata E1": smq.from_cdf("((1-c*theta)**(-1/2) - 1)/((1-c)**(-1/2) - 1)", low=0, high=1, c=0.99),
    "rising histogram": smq.PiecewiseUniform([0, 1, 2], [0.25, 0.75]),
}
RESTS = ("acceptance", "cvxpy-form", "optimality")
"""Steps of which a part is left out where J falls."""


@pytest.mark.parametrize("name", LAWS)
def test_all_steps_in_their_order(name):
    derivation = derive(LAWS[name])
    assert tuple(step.name for step in derivation.steps) == ORDER
    assert derivation.verdict is Verdict.PROVED
    needing = {step.name for step in derivation.steps for claim in step.claims if claim.needs_regularity}
    assert needing == set(RESTS)


@pytest.mark.parametrize("name", IRREGULAR)
def test_irregular_law_leaves_out_what_needs_regularity_and_says_why(name):
    derivation = derive(IRREGULAR[name])
    assert tuple(step.name for step in derivation.steps) == ORDER
    assert not any(claim.needs_regularity for step in derivation.steps for claim in step.claims)
    for rest in RESTS:
        step = derivation.step(rest)
        assert step.verdict is Verdict.PROVED
        assert "J falls somewhere on the support (step 3)" in step.note
        assert "lottery" in step.note
    for step in derivation.steps:
        if step.name not in (*RESTS, "threshold", "budget-price"):  # whose rules are left out
            assert "left out" not in step.note


@pytest.mark.parametrize("name", LAWS)
def test_expected_payment_by_quadrature(name):
    law = LAWS[name]
    low, high = float(law.low), float(law.high)
    for share in (0.1, 0.5, 0.9):
        star = low + share * (high - low)

        def payment(report, star=star):
            sold = 1.0 if report <= star else 0.0
            return report * sold + max(star - report, 0.0)  # `pi`: the integral of the allocation above the report

        found = mpmath.quad(lambda v: payment(v) * float(law.pdf(float(v))), [low, star, high])
        assert float(found) == pytest.approx(star * float(law.cdf(star)), rel=1e-12)


def drawn_mechanism(law, rng, steps=4):
    """Draw a non-increasing allocation with steps: where it falls, and by how much; what remains sells for sure."""
    places = np.sort(rng.uniform(float(law.low), float(law.high), steps))
    falls = rng.dirichlet(np.ones(steps + 2))
    return places, falls[:steps], falls[steps]


@pytest.mark.parametrize("name", LAWS)
def test_no_mechanism_beats_the_threshold_of_its_acceptance(name):
    law, rng = LAWS[name], np.random.default_rng(7)
    low, high = float(law.low), float(law.high)
    for _ in range(20):
        places, falls, always = drawn_mechanism(law, rng)
        edges = [low, *places, high]
        allocation = [always + falls[k:].sum() for k in range(falls.size)] + [always]
        rent = [
            sum(a * (edges[j + 1] - edges[j]) for j, a in enumerate(allocation) if j > k)
            for k in range(len(allocation))
        ]
        spend = acceptance = 0.0
        for k, (a, r) in enumerate(zip(allocation, rent, strict=True)):
            start, end = edges[k], edges[k + 1]
            mass = float(law.cdf(end) - law.cdf(start))
            # θQ + ∫_θ^high Q is constant where Q is: its value at the end of the stretch.
            spend += (end * a + r) * mass
            acceptance += a * mass
        lottery = float(np.dot(falls, places * law.cdf(places)) + always * high)
        assert spend == pytest.approx(lottery, rel=1e-12)
        assert acceptance == pytest.approx(float(np.dot(falls, law.cdf(places)) + always), rel=1e-12)
        assert spend >= acceptance * float(law.ppf(acceptance)) * (1 - 1e-12)


def test_lottery_beats_every_threshold_of_an_irregular_law():
    law = IRREGULAR["rising histogram"]
    # J is 2θ up to 1, where it falls from 2 to 4/3, then 2θ − 2/3: both thresholds have J = 8/5.
    places = np.array([4 / 5, 17 / 15])
    weight = 0.5
    acceptance = float(weight * law.cdf(places).sum())
    spend = float(weight * np.dot(places, law.cdf(places)))
    assert spend < acceptance * float(law.ppf(acceptance)) * (1 - 1e-3)
