"""Programs of irregular laws: refused with a witness, or stated on the hull of the cost curve."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import smqopt as smq
from smqopt.errors import IrregularLawError
from smqopt.market import offers_from_acceptance

HISTOGRAM = smq.PiecewiseUniform([0, 0.9, 1], [1, 1])
E1 = "((1 - 99*theta/100)**(-1/2) - 1)/9"


class Steep(smq.Valuation):
    """A law of which nothing can be proved."""

    low, high = 0.0, 1.0

    def cdf(self, t):
        return np.clip(t, 0.0, 1.0) ** 2

    def pdf(self, t):
        return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= 1), 2.0 * np.asarray(t), 0.0)


def test_an_irregular_law_is_refused_with_its_owner_and_witness():
    law = smq.ByOwner([smq.Uniform(), smq.PiecewiseUniform([0, 1, 2], [3, 1]), HISTOGRAM])
    market = smq.Market([0.2, 0.5, 1.0], law, owner_ids=["ann", "bo", "cy"])
    with pytest.raises(
        IrregularLawError, match=r"owner 'cy'.*irregular.*J\(0\.89\d*\) = 1\.[78]\d* > J\(0\.9\) = 1\.0"
    ) as caught:
        smq.Program(market, 0.5)
    assert "ironed=True" in caught.value.remedy
    assert "\n" not in str(caught.value)
    assert smq.Program(market, 0.5, ironed=True).ironed


@pytest.mark.parametrize("law", [smq.from_cdf(E1, 0, 1), smq.Beta(2, 0.5)], ids=["E1", "beta"])
def test_a_smooth_irregular_law_is_refused_with_the_way_out(law):
    market = smq.Market([0.5, 1.0], law)
    with pytest.raises(IrregularLawError, match=r"owner '1'.*J\(.*\) = .* > J\(") as caught:
        smq.Program(market, 0.5)
    assert "ironed=True" in caught.value.remedy
    dual, conic = smq.solve(market, 0.5), smq.solve(smq.Program(market, 0.5, ironed=True))
    assert conic.details["two_sided_gap"] <= 1e-7
    assert conic.raw.purchased_privacy == pytest.approx(dual.purchased_privacy, rel=1e-7)
    assert smq.verify(conic).valid


@pytest.mark.parametrize("law", [Steep(), smq.PointMass(1.0)], ids=["foreign", "point mass"])
def test_undecided_is_treated_as_irregular(law):
    with pytest.raises(IrregularLawError, match="Undecided"):
        smq.Program(smq.Market([0.5, 1.0], law), 0.5)


def test_a_regular_law_is_stated_as_it_is():
    market = smq.Market([0.5, 1.0], smq.PiecewiseUniform([0, 1, 2], [3, 1]))
    plain, ironed = smq.Program(market, 0.5), smq.Program(market, 0.5, ironed=True)
    assert plain.problem.solve() == pytest.approx(ironed.problem.solve(), rel=1e-8)


@st.composite
def markets(draw):
    laws = []
    for _ in range(draw(st.integers(1, 6))):
        masses = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4).filter(any))
        widths = draw(st.lists(st.sampled_from([0.25, 1.0, 2.0]), min_size=len(masses), max_size=len(masses)))
        if draw(st.booleans()):
            laws.append(smq.PiecewiseUniform(np.cumsum([0.5, *widths]), masses))
        else:
            laws.append(smq.Discrete(np.cumsum(widths), np.array(masses) + 1))
    epsilon = draw(st.lists(st.sampled_from([0.2, 0.5, 1.0]), min_size=len(laws), max_size=len(laws)))
    counts = draw(st.lists(st.integers(1, 3), min_size=len(laws), max_size=len(laws)))
    return smq.Market(epsilon, smq.ByOwner(laws), multiplicity=counts)


@settings(max_examples=25, deadline=None)
@given(markets(), st.floats(0.05, 1.1))
def test_both_routes_agree_and_both_are_certified(market, share):
    budget = share * market.most_that_can_be_spent
    solution, dual = smq.solve(smq.Program(market, budget, ironed=True)), smq.solve(market, budget)
    certificate = smq.verify(solution.raw, dual, gap_tolerance=1e-6)
    assert certificate.valid, certificate.reasons
    assert solution.raw.total_spend <= budget
    assert solution.raw.purchased_privacy == pytest.approx(dual.purchased_privacy, rel=1e-6)
    assert smq.verify(dual).valid
    assert smq.verify(solution).valid


def test_the_conic_solver_irons_as_the_dual_does():
    market = smq.Market([0.2, 0.5, 1.0], HISTOGRAM)
    assert smq.solve(market, 1.2, solver="conic").purchased_privacy == pytest.approx(
        smq.solve(market, 1.2).purchased_privacy, rel=1e-8
    )
    market = smq.Market([1.0], smq.from_cdf(E1, 0, 1))
    assert smq.solve(market, 0.5, solver="conic").raw.purchased_privacy == pytest.approx(
        smq.solve(market, 0.5).purchased_privacy, rel=1e-7
    )


def test_an_added_constraint_meets_a_lottery(tmp_path):
    """Half of the way over the flat piece from θ = 0.6 to the top."""
    program = smq.Program(smq.Market([1.0, 0.0], HISTOGRAM), 5.0, ironed=True)
    middle = 0.5 * (float(HISTOGRAM.cdf(0.6)) + 1.0)
    program.constraints += [program.acceptance[1] == middle, cp.sum(program.acceptance) <= 1.0]
    solution = smq.solve(program)
    assert solution.acceptance[1] == pytest.approx(middle, rel=1e-8)
    place = int(np.flatnonzero(solution.lottery.owner == 1)[0])
    assert solution.lottery.probability_of_low[place] == pytest.approx(0.5, abs=1e-7)
    assert (solution.lottery.low[place], solution.lottery.high[place]) == (pytest.approx(0.6), 1.0)
    solution.save(tmp_path)
    assert smq.Solution.load(tmp_path).acceptance.tolist() == solution.acceptance.tolist()


def test_a_lottery_is_drawn_from_a_conic_solution():
    market = smq.Market(np.full(40, 0.5), HISTOGRAM)
    solution = smq.solve(smq.Program(market, 25.0, ironed=True))
    certificate = smq.verify(solution, gap_tolerance=1e-6)
    outcome = smq.procure(certificate, np.full(40, 0.3), rng=np.random.default_rng(3))
    assert len(solution.lottery) == 40
    assert outcome.selected.all()


def test_offers_from_acceptance_at_the_ends_of_pieces():
    law = smq.Discrete([1.0, 2.0, 5.0], [1, 2, 1])
    market = smq.Market(np.ones(6), law)
    offers = offers_from_acceptance(market, np.array([0.0, 0.25, 0.5, 0.75, 0.875, 1.0]))
    assert offers.acceptance.tolist() == [0.0, 0.25, 0.5, 0.75, 0.875, 1.0]
    assert offers.thresholds.tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 5.0]
    assert offers.lottery.owner.tolist() == [2, 4]
    assert offers.lottery.high.tolist() == [2.0, 5.0]
    assert offers.lottery.probability_of_low.tolist() == [0.5, 0.5]
    everywhere = offers_from_acceptance(market, np.array([0.0, 0.25, 0.75, 1.0, 1.0, 0.0]))
    assert everywhere.lottery is None
