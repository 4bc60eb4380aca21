"""Laws and derivations ask one place whether J rises, and what it proves holds in 40 digits."""

from types import SimpleNamespace

import pytest
import sympy as sp
from mpmath import mp, mpf
from truths import truth_of

import smqopt as smq
from smqopt.algebra import Verdict
from smqopt.derivation import derive
from smqopt.derivation.argument._argument import _on_piece
from smqopt.derivation.closed_form._agreement import disagreement
from smqopt.derivation.steps._regularity_step import _slope_by_cases
from smqopt.valuation.formulas._exact_pieces import exact_pieces
from smqopt.valuation.formulas._law_formulas import join

KNOWN = {
    "a power of a power": smq.from_cdf("1-(1-(theta/1.28)**a)**2", 0, 1.28, a=0.67),
    "a long exponent": smq.from_cdf("1/(1+(1/theta-1)**1.01)", 0, 1),
    "an exponential of a broken power": smq.from_cdf("(exp(a*theta**b)-1)/(exp(a)-1)", 0, 1, a=1.37, b=1.21),
    "beta and uniform": smq.Mixture([smq.Beta(3.2, 1.4), smq.Uniform()], [0.35, 0.65]),
    "three betas": smq.Mixture([smq.Beta(2.3, 3.1), smq.Beta(3.5, 2), smq.Beta(1.7, 1.9)], [0.3, 0.3, 0.4]),
    "gamma and power": smq.Truncated(
        smq.Mixture([smq.Gamma(1.75, 2.67, 0, 2), smq.Power(1.5, 0, 2)], [0.5, 0.5]), 0.3, 1.5
    ),
    "sine and beta": smq.Mixture([smq.from_cdf("sin(pi*theta/2)", 0, 1), smq.Beta(2.5, 1.5)], [0.5, 0.5]),
    "powers up to the last price": smq.Mixture(
        [smq.Triangular(0, 1.49, 2.98), smq.Kumaraswamy(0.71, 1.5, 0, 3.28), smq.Uniform(0, 3.58)], [0.05, 0.29, 0.66]
    ),
    "powers from the first price": smq.Mixture(
        [smq.Kumaraswamy(3, 3.071, 0, 1.1), smq.Kumaraswamy(1.04, 3, 0, 1.4)], [0.19, 0.81]
    ),
    "a beta law of mass pi": smq.Mixture([smq.Beta(0.5, 1.5), smq.Triangular(0, 1, 1)], [0.6, 0.4]),
    "three ends": smq.Mixture(
        [smq.Triangular(0, 0.26, 0.52), smq.Gamma(3.73, 0.5, 0, 0.82), smq.Power(1, 0, 1.12)], [0.06, 0.06, 0.88]
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_law_that_is_regular_is_proved_so(name):
    assert isinstance(KNOWN[name].regularity(), smq.Regular)


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_its_derivation_says_so_too(name):
    assert derive(KNOWN[name]).step("regularity").verdict is Verdict.PROVED


def test_a_case_that_stands_for_neighbours_is_that_of_each():
    theta = sp.Symbol("theta", positive=True)
    pieces = tuple(SimpleNamespace(law=SimpleNamespace(theta=theta, high=sp.Integer(end))) for end in (1, 2, 3))
    slope = sp.Piecewise((2, theta <= 2), (2 * theta, True))
    assert [_on_piece(1 + slope, k, pieces) for k in range(3)] == [3, 3, 1 + 2 * theta]
    for wrong in (sp.Piecewise((2, theta >= 2), (1, True)), sp.Piecewise((2, theta <= 2.5), (1, True))):
        assert _on_piece(wrong, 0, pieces) == wrong


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 0.5])
def test_a_fall_that_no_doubles_show_is_open_to_both(share):
    """Masses of a third and two thirds, rounded: the density rises by 2e-17."""
    law = smq.PiecewiseUniform([0, 1, 3], [0.3333333333333333, 0.6666666666666667])
    law = smq.Mixture([law, smq.Uniform(0, 3)], [1 - share, share]) if share else law
    assert isinstance(law.regularity(), smq.Undecided)
    assert derive(law).step("regularity").verdict is Verdict.UNDECIDED


def test_neighbours_with_one_slope_are_one_case():
    theta = sp.Symbol("theta", positive=True)
    bounds = [theta <= 1, theta <= 2, True]
    cost = sp.Piecewise(*zip((2 * theta, 2 * theta + 1, theta**2), bounds, strict=True))
    slope = _slope_by_cases(cost, theta)
    assert slope.args == ((2, theta <= 2), (2 * theta, True))


@pytest.mark.parametrize("more", [1e-3, 1e-4, 1e-6])
def test_a_fall_at_a_joint_alone_has_two_doubles_that_show_it(more):
    law = smq.Mixture([smq.Uniform(0, 1), smq.Uniform(1, 2)], [0.5 - more, 0.5 + more])
    verdict = law.regularity()
    assert isinstance(verdict, smq.Irregular)
    before, after = law.virtual_cost(list(verdict.witness))
    assert before > after
    assert [before, after] == pytest.approx(verdict.virtual_costs)
    assert derive(law).step("regularity").verdict is Verdict.REFUTED


@pytest.mark.parametrize("joint", [0.30001, 0.3000001])
def test_what_holds_on_a_piece_says_nothing_beside_it(joint):
    laws = [smq.Uniform(0, 0.3), smq.Uniform(0, joint), smq.Uniform(0, 1.1)]
    found = derive(smq.Mixture(laws, [0.3, 0.3, 0.4]))
    assert [step.name for step in found.steps if step.verdict is Verdict.REFUTED] == []


CUT_AT = 1.0999999999999999
NEAR = {
    "a spacing wide": smq.Truncated(smq.Triangular(0.5, 0.8, 1.1), CUT_AT, 1.1),
    "seven spacings wide": smq.Truncated(
        smq.Mixture([smq.Uniform(0, 0.7), smq.Uniform(0, 0.5)], [0.56, 0.44]), 0.6999999999999985, 0.7
    ),
    "three ends beside each other": smq.Truncated(
        smq.Mixture(
            [smq.Uniform(0, 2.199999999999999), smq.Kumaraswamy(1, 2, 0, 2.200000000000001), smq.Power(0.5, 0.5, 1.1)],
            [0.55, 0.36, 0.09],
        ),
        1.099999999,
        2.2000000000000006,
    ),
    "far from 0 for its width": smq.Mixture(
        [smq.Weibull(2, 0.96, 1.1501, 1.151), smq.Logistic(1.15051, 0.0007, 1.15, 1.151)], [0.74, 0.26]
    ),
    "a power that begins within": smq.Truncated(
        smq.Mixture([smq.Beta(1, 1, 0, 1.3), smq.Power(3, 0.30000000000000004, 0.7)], [0.4, 0.6]), 0.1, 0.5
    ),
    "a fall within a spacing": smq.Truncated(
        smq.Mixture([smq.Uniform(0, 1.2999999999999994), smq.Power(3, 0.7, 2.2)], [0.7, 0.3]), 0.5, 1.2999999999999998
    ),
}
"""Laws with joints so near that doubles tell little between them."""


@pytest.mark.parametrize("name", NEAR)
def test_formulas_are_those_of_the_doubles_that_a_law_has(name):
    assert disagreement(join(exact_pieces(NEAR[name])), NEAR[name]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", NEAR)
def test_nothing_true_is_refuted_within_spacings_of_joints(name):
    found, verdict = derive(NEAR[name]), NEAR[name].regularity()
    refuted = {step.name for step in found.steps if step.verdict is Verdict.REFUTED}
    is_irregular = isinstance(verdict, smq.Irregular)
    assert is_irregular == (name in ("a fall within a spacing", "far from 0 for its width"))
    assert refuted == ({"regularity", "threshold"} if is_irregular else set())


def test_a_fall_within_a_spacing_is_shown_in_balls():
    verdict = NEAR["a fall within a spacing"].regularity()
    assert isinstance(verdict, smq.Irregular)
    assert verdict.witness[0] < verdict.witness[1]


def test_a_power_that_begins_within_is_regular():
    assert isinstance(NEAR["a power that begins within"].regularity(), smq.Regular)


def test_a_fall_at_a_joint_of_incomplete_functions_is_shown_in_balls():
    parts = [smq.Gamma(2.588, 0.473, 0.5, 2), smq.Kumaraswamy(2, 3, 0, 0.5)]
    verdict = smq.Mixture(parts, [0.6, 0.4]).regularity()
    assert isinstance(verdict, smq.Irregular)
    assert "ball arithmetic" in verdict.method


@pytest.mark.parametrize("share", [0.1, 0.45, 0.5, 0.9])
def test_the_mass_across_a_joint_is_the_sum_of_both_sides(share):
    """Sums on 16 and on 24 nodes agree on what is wrong, where the joint lies in the middle."""
    law = NEAR["three ends beside each other"]
    theta = law.low + (1.1 - law.low) / share
    with mp.workdps(40):
        truth = truth_of(law)
        assert float(law.cdf(theta)) == pytest.approx(float(truth.cdf(mpf(theta))), rel=2e-8, abs=0)
