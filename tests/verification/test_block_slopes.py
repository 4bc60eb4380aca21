"""Slopes of objectives without a value where somebody does not sell, in blocks."""

import smqopt as smq


def test_who_does_not_sell_leaves_no_warning():
    """Nobody may be paid, and a row asks for spend: infinite slopes are no numbers to reckon with."""
    law = smq.Mixture([smq.Uniform(0, 1), smq.PointMass(0)], weights=[0.5, 0.5])
    market = smq.Market([1.0, 2.0, 0.5], law, groups={"h": ["b", "a", "a"]})
    records = [smq.LinearRow(-3.0, spend=[(0, -1.0), (2, -1.0)]), smq.PriceRange(at_most=1.0)]
    solution = smq.solve(market, 0.0, constraints=records, objective=smq.InverseProbabilityVariance())
    assert solution.status is smq.Status.INFEASIBLE
    assert not smq.verify(solution).valid
