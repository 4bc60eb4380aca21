"""The least budget for an error, and the error that budgets leave."""

from __future__ import annotations

import math

import numpy as np
import pytest

import smqopt as smq

MARKET = smq.Market(np.linspace(0.05, 1.0, 60), smq.Uniform(0, 1), groups={"city": ["Oslo"] * 30 + ["Bergen"] * 30})
AIM = smq.MeanSquaredError(range=1, variance=0.2)


@pytest.mark.parametrize("constraints", [(), (smq.Coverage("city", "Oslo", at_least=6),)])
def test_the_least_budget_for_an_error_is_enclosed(constraints):
    error = smq.solve(MARKET, 14.0, objective=AIM, constraints=constraints).error
    found = smq.least_budget(MARKET, error=error, objective=AIM, constraints=constraints)
    assert found.budget == pytest.approx(14.0, rel=1e-5)
    assert found.lower_bound <= 14.0 * (1 + 1e-6)
    assert found.gap < 1e-4
    assert found.solution.error <= error
    assert found.certificate.valid


def test_an_error_below_all_is_out_of_reach():
    found = smq.least_budget(MARKET, error=0.1, objective=AIM)
    assert (found.status.name, found.budget, found.certificate) == ("UNREACHABLE", math.inf, None)
    assert found.lower_bound == MARKET.most_that_can_be_spent


def test_errors_fall_along_the_frontier_and_are_saved(tmp_path):
    curve = smq.error_frontier(MARKET, [30.0, 5.0, 60.0, 0.0], AIM)
    assert curve.error[0] == math.inf
    assert np.all(np.diff(curve.error[1:]) < 0)
    assert np.all(curve.error_bound <= curve.error)
    np.testing.assert_allclose(curve.error_bound[1:], curve.error[1:], rtol=1e-6)
    curve.save(tmp_path / "errors.csv")
    assert (tmp_path / "errors.csv").read_text(encoding="utf-8").startswith("budget,rmse,rmse_bound,tau\n0.0,inf,inf")
    assert 'class="big-dots"' in curve.to_svg()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"error": -1.0, "objective": AIM}, "'error': must be a finite number > 0"),
        ({"error": 3.0}, "takes a market, an error and a MeanSquaredError"),
        ({"objective": AIM}, "takes a market, an error and a MeanSquaredError"),
        ({"error": 3.0, "objective": smq.PurchasedPrivacy()}, "takes a market, an error and a MeanSquaredError"),
    ],
)
def test_refused_in_one_line(arguments, message):
    with pytest.raises(smq.InputError, match=message):
        smq.least_budget(MARKET, **arguments)
