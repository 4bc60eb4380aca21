"""Proofs: what is enclosed holds the truth, what is undecided is not claimed, and honest solutions are proved."""

from __future__ import annotations

import dataclasses
import importlib
import math

import mpmath
import numpy as np
import pytest
from certified_answer import answer_bounds
from hypothesis import given, settings, strategies as st
from strategies import FORMULAS, REFERENCE, markets, reference_market, shares

import smqopt as smq
from smqopt.model_files import make_instance, model_files, read_model
from smqopt.numeric import ERROR_GAP
from smqopt.valuation import LAWS
from smqopt.verification.proof._owner_groups import together
from smqopt.verification.proof._proof import prove


def law_of(name):
    module, cls, example = LAWS[name]
    return getattr(importlib.import_module(module), cls)(**example)


# --- laws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 0.6])
@pytest.mark.parametrize("name", LAWS)
def test_every_law_of_the_registry_is_proved(name, share):
    market = smq.Market(np.linspace(0.0, 1.0, 7), law_of(name))
    certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12
    assert certificate.proof.spend[1] <= certificate.solution.budget


OTHERS = {
    "formula": lambda: smq.from_cdf("theta**2 * (3 - 2*theta)", low=0, high=1),
    "formula by owner": lambda: smq.from_cdf("theta**a", low=0, high=1, a=[0.5, 1.0, 2.0, 3.5]),
    "formula with a unit": lambda: smq.from_cdf("theta**2", low=0, high=1, unit=0.1),
    "falling mixture": lambda: smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], [1, 1]),
    "cut beta": lambda: smq.Truncated(smq.Beta(2, 3), 0.25, 0.75),
    "cut triangular": lambda: smq.Truncated(smq.Triangular(0, 1, 2), 0.25, 1.75),
    "log-normal from 0": lambda: smq.LogNormal(0, 1, 0, 3),
    "beta by owner": lambda: smq.Beta([0.5, 1, 2, 9], [1, 4, 3, 2]),
    "a rescaled log-normal": lambda: smq.LogNormal(0, 1, 0.5, 3).rescale(1e-3),
    "by owner": lambda: smq.ByOwner(
        [smq.Uniform(0, 1), smq.PiecewiseUniform([0, 1, 2], [1, 3]), smq.Power(2), smq.PointMass(0.5)]
    ),
    "histograms by owner": lambda: smq.ByOwner([smq.PiecewiseUniform([0, 1, 2], [k, 5 - k]) for k in (1, 2, 3, 4)]),
    "samples": lambda: smq.from_samples(np.random.default_rng(5).beta(2, 3, 300)),
    "a gap": lambda: smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 1]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_laws_made_in_other_ways_are_proved(name):
    market = smq.Market([0.3, 0.9, 0.6, 0.2], OTHERS[name]())
    certificate = smq.verify(smq.solve(market, 0.4 * market.most_that_can_be_spent))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12


NUMERICAL = {
    "a law without formula": (
        lambda: Squared(),  # noqa: PLW0108
        "comes from outside",
    ),
}


class Squared(smq.Valuation):
    low, high = 0.0, 1.0

    def cdf(self, t):
        return np.clip(t, 0.0, 1.0) ** 2

    def pdf(self, t):
        return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= 1), 2.0 * np.asarray(t), 0.0)

    def regularity(self):
        return smq.Regular("so it says")


@pytest.mark.parametrize("name", NUMERICAL)
def test_other_laws_are_numerical_and_say_why(name):
    make, reason = NUMERICAL[name]
    certificate = smq.verify(smq.solve(smq.Market([0.3, 0.9], make()), 0.3))
    assert certificate.valid
    assert certificate.grade == "numerical"
    assert reason in certificate.unproved[0]


# --- what is enclosed ---------------------------------------------------------------------------------------------


def oracle(instance):
    """F of each owner of a reference instance in mpmath, of the very doubles that its market holds."""
    F = {
        "uniform": lambda t, a=0, b=1: (t - a) / (b - a),
        "power": lambda t, k: t**k,
        "truncexp": lambda t, r, a=0, b=1: mpmath.expm1(-r * (t - a)) / mpmath.expm1(-r * (b - a)),
        "beta23": lambda t: 6 * t**2 - 8 * t**3 + 3 * t**4,
        "kumaraswamy": lambda t, p, q: 1 - (1 - t**p) ** q,
    }
    laws = [(F[name], [mpmath.mpf(float(p)) for p in given]) for name, *given in instance["valuation"]]
    laws = laws * len(instance["epsilon"]) if len(laws) == 1 else laws
    return [lambda t, f=f, given=given: f(t, *given) for f, given in laws]


@pytest.mark.parametrize("instance", REFERENCE, ids=lambda instance: instance["name"])
def test_the_enclosure_contains_the_optimum_of_the_doubles_given(instance):
    """The optimum is the least value of λB + Σ max h, flat in λ and θ at its place.

    So price and thresholds of the decimals, good to 20 digits and off by the rounding of the instance to doubles, give it to some 30.
    """
    cdfs = oracle(instance)
    epsilon, budget = [float(e) for e in instance["epsilon"]], float(instance["budget"])
    certificate = smq.verify(smq.solve(reference_market(instance, FORMULAS), budget))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12
    with mpmath.workdps(50):
        price = mpmath.mpf(instance["budget_price"])
        thetas = map(mpmath.mpf, instance["thresholds"])
        tops = [F(t) * (e - price * t) for e, t, F in zip(epsilon, thetas, cdfs, strict=True)]
        optimum = price * budget + mpmath.fsum(tops)
        assert mpmath.mpf(certificate.lower_bound) <= optimum * (1 + mpmath.mpf(10) ** -25)
        assert optimum * (1 - mpmath.mpf(10) ** -25) <= mpmath.mpf(certificate.upper_bound)


@settings(max_examples=25)
@given(markets(), shares)
def test_honest_solutions_are_proved(market, share):
    certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-12


@settings(max_examples=8)
@given(markets(common=True), shares, st.integers(0, 3))
def test_intervals_and_balls_enclose_the_same(market, share, which):
    law = [smq.Uniform(0.5, 2), smq.Power(3), smq.Power(1.5, 0.25, 4), smq.Power(0.5)][which]
    market = smq.Market(market.epsilon, law, multiplicity=market.multiplicity)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    rough, fine = prove(solution, precisions=(53,)), prove(solution, precisions=(128,))
    assert fine.holds
    for outer, inner in ((rough.purchased_privacy, fine.purchased_privacy), (rough.spend, fine.spend)):
        assert outer[0] <= inner[1]
        assert inner[0] <= outer[1]
    assert rough.upper_bound >= fine.purchased_privacy[0]


# --- what is not decided ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law", [smq.Normal(0.5, 0.02, 0, 1), smq.Kumaraswamy(2, 3), smq.Weibull(2, 1, 0, 3)], ids=lambda law: law.name
)
def test_the_grade_drops_where_precision_runs_out(law):
    """A budget one spacing above the spend: balls of few bits straddle it, and nothing may be claimed."""
    solution = smq.solve(smq.Market([0.3, 0.9, 0.6], law), 0.4)
    tight = dataclasses.replace(solution, budget=math.nextafter(prove(solution).spend[1], math.inf))
    assert prove(tight, precisions=(256,)).within_budget
    poor = prove(tight, precisions=(54,))
    assert poor.within_budget is None
    assert not poor.holds
    assert "bits" in poor.unproved[0]


def test_a_spend_above_the_budget_by_less_than_rounding_is_refuted():
    solution = smq.solve(smq.Market([0.3, 0.9, 0.6], smq.Kumaraswamy(2, 3)), 0.4)
    over = dataclasses.replace(solution, budget=math.nextafter(prove(solution).spend[0], 0.0))
    proof = prove(over)
    assert proof.within_budget is False
    assert not proof.holds


def test_no_proof_is_made_where_none_is_asked():
    solution = smq.solve(smq.Market([0.3, 0.9], smq.Uniform(0, 1)), 0.3)
    certificate = smq.verify(solution, prove=False)
    assert (certificate.grade, certificate.proof) == ("numerical", None)
    assert certificate.unproved == ("no proof was asked for",)


def test_many_different_owners_are_proved_on_demand(monkeypatch):
    monkeypatch.setattr("smqopt.verification.proof._proof.MOST_ROWS", 3)
    solution = smq.solve(smq.Market([0.3, 0.9, 0.5, 0.7], smq.Beta(2, 3)), 0.3)
    certificate = smq.verify(solution)
    assert certificate.grade == "numerical"
    assert "prove=True" in certificate.unproved[0]
    assert smq.verify(solution, prove=True).grade == "proved"
    alike = smq.solve(smq.Market([0.3, 0.9] * 50, smq.Beta(2, 3)), 3.0)
    assert smq.verify(alike).grade == "proved"


def test_owners_whose_laws_differ_in_what_has_no_name_are_not_taken_for_alike():
    inner = smq.LogNormal(np.array([0.0, 0.5]), 1.0, 0.5, 3.0)
    twice = smq.Mixture([inner.rescale(2.0), inner.rescale(2.0)], [1, 1])
    alike = smq.Power(np.array([2.0, 2.0]), 0.0, 4.0)
    for law, copies in ((twice, [1, 1]), (inner, [1, 1]), (alike, [2])):
        assert together(law, np.arange(2), [np.array([0.6, 0.6])])[1].tolist() == copies
    assert together(alike, np.arange(2), [np.array([0.6, 0.5])])[1].tolist() == [1, 1]


def test_intervals_decide_a_zero_budget_at_once():
    market = smq.Market(np.linspace(0, 1, 9), smq.Uniform(0, 1))
    proof = prove(smq.solve(market, 0.0))
    assert (proof.bits, proof.holds, proof.spend, proof.upper_bound) == (53, True, (0.0, 0.0), 0.0)


# --- edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize(
    "law",
    [smq.Uniform(0, 1), smq.Power(2.5, 1, 3), smq.Beta(2, 3), smq.Discrete([1, 2, 5], [1, 2, 1])],
    ids=lambda law: law.name,
)
def test_units_and_requirements_of_all_sizes(law, unit):
    market = smq.Market(np.geomspace(1e-12, 1.0, 9), law.rescale(unit))
    for share in (0.01, 0.5):
        certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
        assert certificate.grade == "proved", certificate.unproved
        assert certificate.gap <= 1e-12


@pytest.mark.parametrize(
    "law",
    [
        smq.Uniform(0, 1),
        smq.Uniform(0, 0.1),
        smq.Beta(2, 3),
        smq.Power(0.5),
        smq.PointMass(0.3),
        smq.PiecewiseUniform([0, 1, 2], [1, 3]),
    ],
    ids=lambda law: law.name,
)
@pytest.mark.parametrize("epsilon", [[0.7], [0.5, 0.5, 0.5]], ids=["one", "equal"])
def test_budgets_at_the_edges(law, epsilon):
    market = smq.Market(epsilon, law)
    most = market.most_that_can_be_spent
    for budget in (0.0, 5e-324, 1e-310, 2.0**-1000, math.nextafter(most, 0.0), most, math.nextafter(most, math.inf)):
        certificate = smq.verify(smq.solve(market, budget))
        if budget == 0 or budget > 1e-302:
            assert certificate.grade == "proved", (budget, certificate, certificate.unproved)
        else:  # the spacing of doubles near 0 may keep the gap open
            assert certificate.grade != "proved" or certificate.gap <= certificate.gap_tolerance


def test_what_sells_for_nothing_is_bought_at_a_zero_budget():
    market = smq.Market([1.0, 0.5], smq.Discrete([0, 1], [1, 1]))
    certificate = smq.verify(smq.solve(market, 0.0))
    assert (certificate.grade, certificate.lower_bound) == ("proved", 0.75)
    idle = dataclasses.replace(certificate.solution, acceptance=np.zeros(2))
    assert not smq.verify(idle).valid


def test_a_lottery_beyond_its_ends_is_not_well_formed():
    solution = smq.solve(smq.Market([1.0, 0.5], smq.Discrete([0, 1], [1, 1])), 0.3)
    drawn = dataclasses.replace(solution.lottery, probabilities=np.array([[-0.1, 1.1]]))
    assert smq.verify(dataclasses.replace(solution, lottery=drawn)).reasons[0].startswith("well formed")


# --- models -------------------------------------------------------------------------------------------------------

BEYOND = {
    "copula-correlated": "no cdf that ball arithmetic could evaluate",
    "random-prices": "random prices are verified in doubles",
}


def model_is_proved(path):
    instance = make_instance(read_model(path))
    certificate = smq.verify(answer_bounds(instance).certificate.solution, prove=True)
    assert certificate.valid, certificate.reasons
    if path.stem in BEYOND:
        assert BEYOND[path.stem] in certificate.unproved[0]
        return
    assert certificate.grade == "proved", certificate.unproved
    error = certificate.solution.objective.kind == "mean-squared-error"
    assert certificate.gap <= (ERROR_GAP.value if error else 1e-12 if certificate.solution.lottery is None else 2e-12)


@pytest.mark.parametrize(
    "path", [path for path in model_files() if path.stem not in (*BEYOND, "two-parts")], ids=lambda path: path.stem
)
def test_every_model_whose_law_has_an_elementary_cdf_is_proved(path):
    model_is_proved(path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", [path for path in model_files() if path.stem in BEYOND], ids=lambda path: path.stem)
def test_other_models_say_why_they_are_not(path):
    model_is_proved(path)
