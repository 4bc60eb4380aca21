"""Rows that bind where money is left over: owners who cost nothing tie, and many are alike."""

from __future__ import annotations

import numpy as np
import pytest

import smqopt as smq

N = 60


def market(law, epsilon):
    return smq.Market(epsilon, law, groups={"city": ["a", "b", "c"] * (N // 3), "sex": ["f", "m"] * (N // 2)})


EPSILON = np.resize([0.0, 0.1, 0.5, 1.0, 2.0], N)
LAWS = [smq.Uniform(0, 1), smq.Uniform(0.5, 1), smq.Beta(2, 3), smq.Power(2)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name}-{law.low}")
@pytest.mark.parametrize(
    "records",
    [
        [smq.GroupBudget("city", "a", at_most=0.5), smq.Parity("city", within=0.0)],
        [smq.GroupBudget("city", "a", at_most=0.5), smq.Parity("sex", within=0.02)],
        [smq.GroupBudget("city", "a", at_most=0.5), smq.ExpectedOwners(at_most=N / 2)],
        [smq.ExpectedOwners(at_most=N / 3)],
    ],
    ids=["parity by city", "parity by sex", "fewer owners", "rows without money"],
)
def test_rows_bind_and_money_is_left_over(law, records):
    certificate = smq.verify(smq.solve(market(law, EPSILON), 100.0, constraints=records))
    assert certificate.valid, certificate.reasons
    assert certificate.grade == "proved", certificate.unproved


def test_alike_owners_who_cost_nothing_share_what_a_row_leaves():
    """Σ q ≤ 30 over 60 owners, money enough: 24 of ε ≥ 1 and 6 of .5 at once, worth 24·1.5 + 6·.5 = 39."""
    solution = smq.solve(market(smq.Uniform(0, 1), EPSILON), 100.0, constraints=[smq.ExpectedOwners(at_most=30)])
    assert solution.purchased_privacy == pytest.approx(39.0, rel=1e-12)
    assert solution.constraint_prices == pytest.approx([0.5], rel=1e-12)


def test_owners_who_tie_at_an_end_of_their_bounds_stand_there():
    """Σ q and a group's budget bind, and owners outside the group tie: nobody may jump as multipliers move."""
    rng = np.random.default_rng(162)
    epsilon, city = rng.choice([0.0, 0.1, 0.5, 1.0, 2.0], 220), rng.choice(["a", "b", "c"], 220)
    one = smq.Market(epsilon, smq.Beta(2, 3), groups={"city": city})
    for budget in (60.0, 200.0, 400.0):
        records = [smq.ExpectedOwners(at_most=115.786), smq.GroupBudget("city", "a", at_most=2.16577)]
        certificate = smq.verify(smq.solve(one, budget, constraints=records))
        assert certificate.grade == "proved", certificate.reasons
