"""Wrong changes of variables, cone forms, budget prices of sets, payments and allocations are caught by the steps that use them."""

from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import (
    ACCEPTANCE,
    ACCEPTS,
    CLIPPED_THRESHOLD,
    COSTLY,
    DENSE,
    GAMMA,
    LEFT,
    NOT_FALLING,
    OTHER,
    REPORT,
    RISEN,
    SPEND,
    THETA,
    F,
    J,
    Relation,
    Verdict,
    f,
    follows,
)
from smqopt.derivation import derive
from smqopt.derivation._story import proved_part
from smqopt.derivation.argument._cone_curve import Cone
from smqopt.derivation.steps._acceptance_step import acceptance_from_spend
from smqopt.derivation.steps._budget_step import budget_price
from smqopt.derivation.steps._cone_form_step import cvxpy_form
from smqopt.derivation.steps._degenerate_step import degenerate_cases
from smqopt.derivation.steps._incentives_step import incentives
from smqopt.derivation.steps._optimality_step import optimality
from smqopt.derivation.steps._payment_step import expected_payment
from smqopt.derivation.steps._spend_step import spend_from_threshold

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "power": smq.Power(2),
    "truncated-exponential": smq.TruncatedExponential(2),
}
CONES = {
    "pareto": smq.Pareto(1, low=1, high=4),
    "kumaraswamy": smq.Kumaraswamy(1, 3),
    "triangular": smq.Triangular(0, 0, 1),
}
"""Laws whose cone form is that of special parameters."""
ALL, CLOSED, POWERS = tuple(LAWS), ("uniform", "power"), ("uniform", "power")
BY_SHAPE = ("kumaraswamy", "triangular")
TINY = sp.Rational(1, 10**30)


def change(**parts):
    return lambda a: replace(a, change=replace(a.change, **{part: new(a) for part, new in parts.items()}))


def curve(**parts):
    return lambda a: replace(a, curve=replace(a.curve, **{part: new(a) for part, new in parts.items()}))


def price(**parts):
    return lambda a: replace(a, budget_price=replace(a.budget_price, **{part: new(a) for part, new in parts.items()}))


def posted(**parts):
    return lambda a: replace(a, posted=replace(a.posted, **parts))


def law(**parts):
    return lambda a: replace(a, law=replace(a.law, **{part: new(a) for part, new in parts.items()}))


def cost(new):
    return lambda a: replace(a, virtual_cost=new(a))


SELLER = cost(lambda a: a.theta - (1 - a.law.cdf) / a.law.pdf)
STAR = CLIPPED_THRESHOLD

FAULTS = {
    "spend doubled": (spend_from_threshold, ALL, change(image=lambda a: 2 * a.change.image)),
    "spend without θ": (spend_from_threshold, ALL, change(image=lambda a: a.law.cdf)),
    "spend by 1 − F": (spend_from_threshold, ALL, change(image=lambda a: a.theta * (1 - a.law.cdf))),
    "domain swapped": (spend_from_threshold, ALL, change(domain=lambda a: a.change.domain[::-1])),
    "range swapped": (spend_from_threshold, ALL, change(range=lambda a: a.change.range[::-1])),
    "range of acceptance": (spend_from_threshold, ALL, change(range=lambda _: (sp.Integer(0), sp.Integer(1)))),
    "range from the low end": (spend_from_threshold, ALL, change(range=lambda a: a.change.domain)),
    "slope without θf": (spend_from_threshold, ALL, change(slope=lambda a: F(a.theta))),
    "slope without F": (spend_from_threshold, ALL, change(slope=lambda a: a.theta * f(a.theta))),
    "slope with −F": (spend_from_threshold, ALL, change(slope=lambda a: a.theta * f(a.theta) - F(a.theta))),
    "falling spend": (spend_from_threshold, ALL, change(sign=lambda _: -1)),
    "inverse with a factor": (spend_from_threshold, CLOSED, change(inverse=lambda a: 2 * a.change.inverse)),
    "inverse moved by 10⁻³⁰": (spend_from_threshold, CLOSED, change(inverse=lambda a: a.change.inverse + TINY)),
    "inverse of the other root": (
        spend_from_threshold,
        ("uniform",),
        change(inverse=lambda a: a.law.low - a.change.inverse),
    ),
    "inverse is acceptance": (spend_from_threshold, CLOSED, change(inverse=lambda a: SPEND / a.law.high)),
    "acceptance by the seller's J": (acceptance_from_spend, ALL, SELLER),
    "acceptance by a doubled density": (acceptance_from_spend, ALL, law(pdf=lambda a: 2 * a.law.pdf)),
    "quantile without the low end": (cvxpy_form, ALL, curve(quantile=lambda a: a.curve.quantile - a.law.low)),
    "quantile of 1 − q": (
        cvxpy_form,
        ALL,
        curve(quantile=lambda a: a.curve.quantile.subs(ACCEPTANCE, 1 - ACCEPTANCE)),
    ),
    "quantile of k for 1/k": (
        cvxpy_form,
        ("power",),
        curve(quantile=lambda a: a.law.low + (a.law.high - a.law.low) * ACCEPTANCE ** (a.curve.parameter + 1)),
    ),
    "cost is the quantile": (cvxpy_form, ALL, curve(cost=lambda a: a.curve.quantile)),
    "cost without low q": (cvxpy_form, ALL, curve(cost=lambda a: a.curve.cost - a.law.low * ACCEPTANCE)),
    "cost with a factor": (cvxpy_form, ALL, curve(cost=lambda a: a.curve.cost / 2)),
    "entropy with the sign flipped": (
        cvxpy_form,
        ("truncated-exponential",),
        curve(cost=lambda a: a.curve.cost.subs(sp.log(1 - a.curve.parameter * ACCEPTANCE), 0)),
    ),
    "mass above 1": (cvxpy_form, ("truncated-exponential",), curve(parameter=lambda a: 2 - a.curve.parameter + 1)),
    "weight with the sign flipped": (cvxpy_form, ALL, curve(weight=lambda a: -a.curve.weight)),
    "exponent below 1": (cvxpy_form, ("power",), curve(parameter=lambda a: 1 / a.curve.parameter)),
    "square for a power": (cvxpy_form, ("power",), curve(cone=lambda _: Cone.SECOND_ORDER)),
    "cube for a square": (cvxpy_form, ("uniform",), curve(parameter=lambda _: sp.Integer(3))),
    "power doubled": (cvxpy_form, BY_SHAPE, curve(parameter=lambda a: 2 * a.curve.parameter)),
    "power halved": (cvxpy_form, BY_SHAPE, curve(parameter=lambda a: a.curve.parameter / 2)),
    "power inverted": (cvxpy_form, BY_SHAPE, curve(parameter=lambda a: 1 / a.curve.parameter)),
    "mass of the tail": (cvxpy_form, ("pareto",), curve(parameter=lambda a: 1 - a.curve.parameter)),
    "mass above 1 of a pareto law": (cvxpy_form, ("pareto",), curve(parameter=lambda a: 1 + a.curve.parameter)),
    "curve moved by 10⁻³⁰": (cvxpy_form, tuple(CONES), curve(cost=lambda a: a.curve.cost + TINY * ACCEPTANCE)),
    "curve of 1 − q": (cvxpy_form, tuple(CONES), curve(cost=lambda a: a.curve.cost.subs(ACCEPTANCE, 1 - ACCEPTANCE))),
    "curve with a factor": (cvxpy_form, tuple(CONES), curve(cost=lambda a: 2 * a.curve.cost)),
    "quantile of another law": (cvxpy_form, tuple(CONES), curve(quantile=lambda a: a.curve.quantile**2)),
    "quantile at half": (
        cvxpy_form,
        tuple(CONES),
        curve(quantile=lambda a: a.curve.quantile.subs(ACCEPTANCE, ACCEPTANCE / 2)),
    ),
    "weight doubled": (cvxpy_form, tuple(CONES), curve(weight=lambda a: 2 * a.curve.weight)),
    "weight flipped": (cvxpy_form, tuple(CONES), curve(weight=lambda a: -a.curve.weight)),
    "an inverse for a power": (cvxpy_form, BY_SHAPE, curve(cone=lambda _: Cone.INVERSE)),
    "a power for an inverse": (cvxpy_form, ("pareto",), curve(cone=lambda _: Cone.FALLING_POWER)),
    "λ of the sets doubled": (budget_price, POWERS, price(by_sets=lambda a: 2 * a.budget_price.by_sets)),
    "λ of the sets inverted": (budget_price, POWERS, price(by_sets=lambda a: 1 / a.budget_price.by_sets)),
    "λ of the sets without R": (budget_price, POWERS, price(by_sets=lambda a: a.budget_price.by_sets.subs(LEFT, 1))),
    "λ of the sets is that of all": (budget_price, POWERS, price(by_sets=lambda a: a.budget_price.expression)),
    "what M spends moved": (budget_price, POWERS, price(constant=lambda a: a.budget_price.constant + 1)),
    "F above 0 at the low end": (budget_price, ALL, law(cdf=lambda a: (1 + a.law.cdf) / 2)),
    "F below 1 at the high end": (budget_price, ALL, law(cdf=lambda a: a.law.cdf / 2)),
    "first price": (incentives, ALL, posted(paid=REPORT)),
    "half the threshold": (incentives, ALL, posted(paid=STAR / 2)),
    "payment without a sale": (incentives, ALL, posted(unpaid=STAR)),
    "a fee without a sale": (incentives, ALL, posted(unpaid=-STAR)),
    "sold at half": (incentives, ALL, posted(sold=sp.Rational(1, 2))),
    "sold at every report": (incentives, ALL, posted(unsold=sp.Integer(1))),
    "allocation turned round": (incentives, ALL, posted(sold=sp.Integer(0), unsold=sp.Integer(1))),
    "expected first price": (expected_payment, ALL, posted(paid=THETA)),
    "expected half": (expected_payment, ALL, posted(paid=STAR / 2)),
    "expected payment with a density doubled": (expected_payment, ALL, law(pdf=lambda a: 2 * a.law.pdf)),
    "expected payment with mass at the low end": (expected_payment, ALL, law(cdf=lambda a: (1 + a.law.cdf) / 2)),
    "expected payment for every report": (expected_payment, ALL, posted(unpaid=STAR)),
    "optimality by the seller's J": (optimality, ALL, SELLER),
    "optimality by the valuation alone": (optimality, ALL, cost(lambda a: a.theta)),
    "optimality with mass at the low end": (optimality, ALL, law(cdf=lambda a: (1 + a.law.cdf) / 2)),
    "optimality with F below 1": (optimality, ALL, law(cdf=lambda a: a.law.cdf / 2, pdf=lambda a: a.law.pdf / 2)),
    "optimality with the density flipped": (optimality, ALL, law(pdf=lambda a: -a.law.pdf)),
    "J below θ": (degenerate_cases, ALL, cost(lambda a: 2 * a.theta - a.virtual_cost)),
    "slack with γ flipped": (
        degenerate_cases,
        ALL,
        lambda a: replace(a, stationarity=a.stationarity.subs(GAMMA, -GAMMA)),
    ),
    "slack with F below 1": (degenerate_cases, ALL, law(cdf=lambda a: a.law.cdf / 2)),
    "nothing bought with mass at the low end": (degenerate_cases, ALL, law(cdf=lambda a: (1 + a.law.cdf) / 2)),
    "ends swapped": (degenerate_cases, ALL, law(low=lambda a: a.law.high, high=lambda a: a.law.low)),
}
"""A fault, the step that must see it, the laws it applies to, and how it is injected."""


def test_there_are_many_faults():
    assert len(FAULTS) >= 50
    assert {step for step, _, _ in FAULTS.values()} == {
        *(spend_from_threshold, acceptance_from_spend, cvxpy_form, budget_price),
        *(incentives, expected_payment, optimality, degenerate_cases),
    }


SLOW = ("kumaraswamy",)
"""Laws whose derivation takes seconds: long runs alone look at their faults."""


@cache
def verdict_of(step, name):
    """What the step says of the argument as it stands, found once."""
    return step(derive((LAWS | CONES)[name]).argument).verdict


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        pytest.param(fault, name, marks=[pytest.mark.exhaustive] * (name in SLOW))
        for fault, (_, laws, _) in FAULTS.items()
        for name in laws
    ],
)
def test_fault_is_caught(fault, name):
    step, _, inject = FAULTS[fault]
    argument = derive((LAWS | CONES)[name]).argument
    assert verdict_of(step, name) is Verdict.PROVED
    wrong = inject(argument)
    assert wrong != argument
    assert step(wrong).verdict is not Verdict.PROVED


@pytest.mark.parametrize("name", LAWS)
def test_wrong_closed_forms_are_dropped(name):
    argument = derive(LAWS[name]).argument
    wrong = curve(quantile=lambda a: a.curve.quantile + TINY)(argument)
    assert proved_part(wrong) == replace(argument, curve=None)
    if argument.change.inverse is not None:
        wrong = change(inverse=lambda a: a.change.inverse + TINY)(argument)
        assert proved_part(wrong) == replace(argument, change=replace(argument.change, inverse=None, low=None))


FALSE_CONCLUSIONS = {
    "convex acceptance": (
        sp.Derivative(J(THETA), THETA) / (f(THETA) * J(THETA) ** 3),
        Relation.AT_MOST,
        sp.Integer(0),
        (NOT_FALLING, COSTLY, DENSE),
    ),
    "falling spend": (F(THETA) + THETA * f(THETA), Relation.AT_MOST, F(THETA), (ACCEPTS, DENSE)),
    "curve below its tangent": (f(THETA) * (J(OTHER) - J(THETA)), Relation.AT_MOST, sp.Integer(0), (DENSE, RISEN)),
    "virtual cost below the valuation": (F(THETA) / f(THETA), Relation.AT_MOST, sp.Integer(0), (ACCEPTS, DENSE)),
    "acceptance above 1": (F(THETA), Relation.AT_LEAST, sp.Integer(1), (ACCEPTS,)),
}


@pytest.mark.parametrize("name", FALSE_CONCLUSIONS)
def test_what_does_not_follow_is_refuted(name):
    left, relation, right, premises = FALSE_CONCLUSIONS[name]
    assert follows(left, relation, right, *premises).verdict is Verdict.REFUTED


def test_nothing_follows_without_its_premise():
    second = -sp.Derivative(J(THETA), THETA) / (f(THETA) * J(THETA) ** 3)
    claim = (second, Relation.AT_MOST, sp.Integer(0))
    assert follows(*claim, NOT_FALLING, COSTLY, DENSE).verdict is Verdict.PROVED
    assert follows(*claim, COSTLY, DENSE).verdict is Verdict.UNDECIDED
