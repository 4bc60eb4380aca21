"""Objectives that count the spend, where the best spend is far below the budget."""

import numpy as np
import pytest

import smqopt as smq


@pytest.mark.parametrize("more", [1.0, 1e3, 1e6, 1e12])
def test_a_budget_that_is_not_needed_changes_nothing(more):
    """One of a million buyers: ε q − w q²·2e6 is best at q = 1/(4e6 w), and is half of that worth there."""
    market = smq.Market([1.0], smq.Uniform(0, 2e6))
    w = 0.5
    aim = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (w, smq.LeastSpend())])
    solution = smq.solve(market, more, objective=aim)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    q = 1.0 / (4e6 * w)
    np.testing.assert_allclose(solution.acceptance, q, rtol=1e-4)
    assert solution.objective_value == pytest.approx(0.5 * q, rel=1e-9)
    assert certificate.upper_bound <= 0.5 * q * (1.0 + 1e-9)


@pytest.mark.parametrize("more", [1.0, 1e3, 1e6, 1e9])
def test_the_least_spend_beside_a_large_budget(more):
    """A fifth of two owners is asked for: b = q² each."""
    market = smq.Market([1.0, 1.0], smq.Uniform(0, 1), groups={"g": ["a", "b"]})
    row = smq.LinearRow(-0.4, acceptance=[(0, -1.0), (1, -1.0)])
    solution = smq.solve(market, 0.1 * more, objective=smq.LeastSpend(), constraints=[row])
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    assert solution.objective_value == pytest.approx(0.08, rel=1e-9)
    assert certificate.lower_bound == pytest.approx(0.08, rel=1e-9)


def test_spend_in_small_units_under_a_budget_in_large_ones():
    """2 q₀ + q₀² − q₁ + 2 q₂ = 1/2: what is asked for is far from what the budget could buy."""
    market = smq.Market([1.0] * 3, smq.Uniform(0, 1e-6))
    row = smq.LinearRow(0.5, acceptance=[(0, 2.0), (1, -1.0), (2, 2.0)], spend=[(0, 1e6)], equal=True)
    records = [row, smq.PriceRange(at_most=2e-6)]
    solution = smq.solve(market, 6.0, objective=smq.LeastSpend(), constraints=records)
    certificate = smq.verify(solution)
    assert certificate.grade == "proved"
    q = np.linspace(0.0, 0.25, 200_001)
    brute = 1e-6 * np.min(q**2 + ((0.5 - 2.0 * q - q**2) / 2.0).clip(0.0) ** 2)
    assert solution.objective_value == pytest.approx(brute, rel=1e-8)
    assert certificate.lower_bound == pytest.approx(brute, rel=1e-8)


def test_laws_in_doubt_count_the_spend_each():
    laws = smq.Scenarios([smq.Uniform(0, 1e6), smq.Uniform(0, 2e6)])
    aim = smq.WeightedObjectives([(1.0, smq.PurchasedPrivacy()), (1.0, smq.LeastSpend())])
    solution = smq.solve(smq.Market([1.0], laws), 10.0, objective=aim)
    assert smq.verify(solution).valid
    assert solution.objective_value == pytest.approx(0.25 / 2e6, rel=1e-6)  # the worst law at its best price, 1/2


def test_nothing_to_spend_is_the_least():
    market = smq.Market([1.0, 1.0], smq.Beta(1, 3), groups={"h": ["b", "c"]})
    records = [smq.Parity("h", within=0.0, of="payment"), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(market, 10.0, objective=smq.LeastSpend(), constraints=records)
    assert smq.verify(solution).valid
    assert solution.objective_value == 0


def test_an_aim_of_spend_alone_is_no_gain():
    """Nobody has privacy to sell: what is weighed is the cost of a tenth of an acceptance."""
    market = smq.Market([0.0], smq.Uniform(0, 2))
    aim = smq.WeightedObjectives([(0.5, smq.PurchasedPrivacy()), (10.0, smq.LeastSpend())])
    solution = smq.solve(market, 1.0, constraints=[smq.AcceptanceRange(at_least=0.1)], objective=aim)
    certificate = smq.verify(solution)
    assert certificate.valid
    assert solution.objective_value == pytest.approx(-0.2, rel=1e-12)
    assert certificate.upper_bound == pytest.approx(-0.2, rel=1e-9)


def test_what_monotone_laws_hide_is_proved_where_terms_cancel():
    """Bounds from F alone are a 1e-6 share of terms that are five times the optimum."""
    laws = smq.ByOwner([smq.Uniform(0, 1), smq.Kumaraswamy(0.5, 0.5)])
    market = smq.Market([1.0, 1.0], laws, groups={"h": ["c", "b"]})
    budget = 0.25 * 0.19140625 + 0.07**2
    records = [smq.Coverage("h", "b", at_least=0.25)]
    solution = smq.solve(market, budget, constraints=records, objective=smq.WorstGroup("h"))
    assert smq.verify(solution).grade == "proved"
    assert solution.objective_value == pytest.approx(0.07, rel=1e-9)
