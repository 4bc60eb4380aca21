"""The cost curve that a derivation states is the one that the program's cone form gives to a solver, and the law's own."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import ACCEPTANCE, Verdict
from smqopt.derivation import derive
from smqopt.derivation.argument._cone_curve import Cone
from smqopt.derivation.steps._cone_form_step import cvxpy_form
from smqopt.program.cones._cone_registry import CONE_FORMS, cone_forms

LAWS = {
    "uniform": (smq.Uniform(0, 1), Cone.SECOND_ORDER),
    "uniform above 0": (smq.Uniform(1, 3), Cone.SECOND_ORDER),
    "power": (smq.Power(2, low=0.5, high=2), Cone.POWER),
    "power without a second-order form": (smq.Power(0.7), Cone.POWER),
    "power that is uniform": (smq.Power(1.0), Cone.POWER),
    "exponential": (smq.TruncatedExponential(rate=2, low=0.25, high=1), Cone.EXPONENTIAL),
    "pareto": (smq.Pareto(1, low=0.5, high=2), Cone.INVERSE),
    "kumaraswamy": (smq.Kumaraswamy(1, 3, low=0.25, high=2), Cone.FALLING_POWER),
    "beta": (smq.Beta(1, 2.5), Cone.FALLING_POWER),
    "triangular that falls": (smq.Triangular(0.5, 0.5, 2), Cone.FALLING_POWER),
    "exponential of little mass": (smq.TruncatedExponential(rate=0.25), Cone.EXPONENTIAL),
}
TIERS = LAWS
SHARES = np.array([0.0, 0.125, 0.5, 0.9375, 1.0])
AGREEMENT = 1e-6
"""Relative to the high end: what a conic solver is held to."""


def stated(law):
    """Give C(q) as the derivation states it, with the law's numbers."""
    argument = derive(law).argument
    numbers = {symbol: sp.Float(getattr(law, name), 30) for name, symbol in argument.law.parameters}
    curve = argument.curve.cost.subs(numbers)
    return np.array([float(sp.limit(curve, ACCEPTANCE, q, "-" if q else "+")) for q in map(sp.Rational, SHARES)])


@pytest.mark.parametrize("name", TIERS)
def test_statement_agrees_with_the_law(name):
    law, cone = LAWS[name]
    assert derive(law).argument.curve.cone is cone
    np.testing.assert_allclose(stated(law), SHARES * law.ppf(SHARES), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", TIERS)
def test_statement_agrees_with_the_cone_form(name):
    law, cone = LAWS[name]
    shares = SHARES[1:]  # at 0 a solver's q is a little below
    if cone is Cone.FALLING_POWER:
        shares = shares[:-1]  # at 1, where the slope has no bound, so that half the digits are lost
    q = cp.Variable(shares.size)
    (form,) = cone_forms(law, q, np.ones(shares.size))
    problem = cp.Problem(cp.Minimize(cp.sum(form.cost)), [q == shares, *form.side])
    assert problem.is_dcp()
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(form.cost.value, stated(law)[1 : 1 + shares.size], atol=AGREEMENT * float(law.high))


def test_every_law_with_a_form_of_its_own_has_a_curve_or_pieces():
    for law in (
        smq.Uniform(0, 1),
        smq.Power(2),
        smq.TruncatedExponential(2),
        smq.PiecewiseUniform([0, 1, 2], [0.75, 0.25]),
    ):
        assert type(law) in CONE_FORMS
        step = derive(law).step("cvxpy-form")
        assert step.verdict is Verdict.PROVED
        assert "straight pieces" not in step.note


@pytest.mark.parametrize("factor", [-1, 2])
def test_wrong_density_of_a_piece_is_caught(factor):
    argument = derive(smq.PiecewiseUniform([0.0, 1.0, 3.0], [0.75, 0.25])).argument
    assert cvxpy_form(argument).verdict is Verdict.PROVED
    first, last = argument.pieces
    wrong = replace(last, law=replace(last.law, pdf=factor * last.law.pdf))
    assert cvxpy_form(replace(argument, pieces=(first, wrong))).verdict is Verdict.REFUTED


def test_other_laws_say_that_they_are_stated_by_straight_pieces():
    step = derive(smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1)).step("cvxpy-form")
    assert step.verdict is Verdict.PROVED
    assert "straight pieces" in step.note
