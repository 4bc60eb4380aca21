"""Hulls of laws whose density has no bound at the high end, where the quantiles of a grid are a few doubles apart and may be out of order."""

import numpy as np
import pytest

import smqopt as smq
from smqopt.valuation import iron

ROWS = 5


@pytest.mark.parametrize("b", [0.5, 0.8])
def test_one_law_an_owner_has_the_pieces_of_the_common_law(b):
    common, own = iron(smq.Beta(2, b)).pieces, iron(smq.Beta(np.full(ROWS, 2.0), np.linspace(b, 0.9, ROWS))).pieces
    assert np.array_equal(np.unique(own.owner), np.arange(ROWS))
    assert own.high[own.owner == 0][-1] == common.high[-1] == 1.0
    assert own.slope[0] == pytest.approx(common.slope[0], rel=1e-13)
    same = own.owner[1:] == own.owner[:-1]
    assert np.all(np.diff(own.slope)[same] > 0)


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_a_market_of_them_beside_others_is_certified(share):
    laws = [smq.Beta(2, 3), smq.Beta(2, 0.5), smq.Uniform(0.5, 2.0)]
    market = smq.Market(np.random.default_rng(0).random(60), smq.ByOwner([laws[i % 3] for i in range(60)]))
    certificate = smq.verify(smq.solve(market, share * market.most_that_can_be_spent))
    assert certificate.valid, certificate.reasons
