"""Budgets that owners of different laws who share a price just need, and hardly more."""

import numpy as np
import pytest

import smqopt as smq

COMMON = smq.CommonPrice("h")
AIMS = {
    "privacy": smq.PurchasedPrivacy(),
    "bends": smq.DiminishingReturns(scale=0.3),
    "worst": smq.WorstGroup("s"),
    "spend": smq.LeastSpend(),
}


def one_tie():
    """A single price is left: 1/2, where all sell as they do."""
    laws = [smq.Uniform(0, 1), smq.Uniform(0, 1), smq.Beta(2, 3)]
    groups = {"h": ["a"] * 3, "s": ["x", "y", "y"]}
    market = smq.Market([1.0, 0.7, 0.4], smq.ByOwner(laws), groups=groups)
    return market, [COMMON, smq.AcceptanceRange(at_least=0.5, column="s", label="x")], 0.5 * (1.0 + 0.6875)


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("more", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
def test_the_least_budget_and_a_little_more(aim, more):
    market, records, least = one_tie()
    solution = smq.solve(market, least * (1.0 + more), constraints=records, objective=AIMS[aim])
    certificate = smq.verify(solution)
    assert certificate.valid
    q = np.array([0.5, 0.5, 0.6875])
    np.testing.assert_allclose(solution.acceptance, q, rtol=1e-12 + 4 * more)


def two_tangents():
    """The least spend mixes two prices where spend is level: with dB more, prices move by √dB."""
    laws = [smq.TruncatedExponential(2)] * 4 + [smq.Uniform(0.1, 0.6), smq.Power(2)]
    groups = {"h": list("baabaa"), "s": list("xxxxyx"), "t": list("rqrqpq")}
    market = smq.Market([0.82, 1.62, 0.43, 1.76, 1.13, 1.81], smq.ByOwner(laws), groups=groups)
    return market, [COMMON, smq.Coverage("t", "q", at_least=0.25), smq.Parity("s", within=0.05)]


@pytest.mark.parametrize("aim", ["privacy", "bends"])
@pytest.mark.parametrize("more", [1e-6, 1e-5, 1e-3])
def test_budgets_a_little_above_a_level_least_one(aim, more):
    market, records = two_tangents()
    least = smq.solve(market, 10.0, constraints=records, objective=smq.LeastSpend())
    assert smq.verify(least).valid
    budget = least.objective_value * (1.0 + more)
    solution = smq.solve(market, budget, constraints=records, objective=AIMS[aim])
    assert smq.verify(solution).valid
    wide = smq.solve(market, budget * (1.0 + 3.0 * more), constraints=records, objective=AIMS[aim])
    assert smq.verify(wide).valid
    assert wide.objective_value > solution.objective_value


def test_a_billionth_above_a_level_least_budget():
    """HiGHS finds no room there; what is bought goes with the root of what is more."""
    market, records = two_tangents()
    least = smq.solve(market, 10.0, constraints=records, objective=smq.LeastSpend()).objective_value
    found = [smq.solve(market, least * (1.0 + more), constraints=records) for more in (1e-9, 4e-9, 1.6e-8)]
    assert max(smq.verify(solution).gap for solution in found) < 1e-8
    first, second = np.diff([solution.objective_value for solution in found])
    assert second == pytest.approx(2.0 * first, rel=1e-2)
