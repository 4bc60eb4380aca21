"""The optimality conditions as data, at a known optimum and beside it."""

import re

import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import BUDGET, EPSILON, GAMMA, LAMBDA, LEFT, MU, THETA, THETAS, N
from smqopt.derivation import derive
from smqopt.derivation.render._typeset import latex_of_domain
from smqopt.valuation import HIGH, LOW

EPSILONS = [sp.Rational(1, 5), sp.Rational(1, 2), sp.Integer(1)]
INSTANCES = {
    "inside": (
        sp.Rational(1, 2),
        sp.Float("0.80311892021045052703", 25),
        ["0.12451456127293806621", "0.31128640318234516551", "0.62257280636469033103"],
        [0, 0, 0],
    ),
    "one owner at the cap": (
        sp.Integer(2),
        sp.Float("0.26925824035672520156", 25),
        ["0.37139067635410372629", "0.92847669088525931573", "1.0"],
        [0, 0, 1 - 2 * sp.Float("0.26925824035672520156", 25)],
    ),
}
"""The reference optima on U(0, 1): budget, λ, thresholds, multipliers at the high end."""


def residuals(budget, price, thresholds, uppers):
    """Put an optimum into every condition: left − right of each equation, and the truth of each inequality."""
    thetas = [sp.Float(theta, 25) for theta in thresholds]
    for epsilon, theta, upper in zip(EPSILONS, thetas, uppers, strict=True):
        values = {LOW: 0, HIGH: 1, BUDGET: budget, LAMBDA: price, EPSILON: epsilon, MU: 0, GAMMA: upper, N: len(thetas)}
        for relation in derive(smq.Uniform(0, 1)).kkt:
            left, right = (
                side.subs(values).doit().subs({THETAS[i + 1]: t for i, t in enumerate(thetas)}).subs(THETA, theta)
                for side in (relation.lhs, relation.rhs)
            )
            yield relation, left - right


@pytest.mark.parametrize("name", INSTANCES)
def test_reference_optimum_satisfies_them(name):
    for relation, surplus in residuals(*INSTANCES[name]):
        if isinstance(relation, sp.Eq):
            assert abs(surplus) < 1e-18, relation
        else:
            assert surplus > -1e-18 if isinstance(relation, sp.Ge) else surplus < 1e-18, relation


@pytest.mark.parametrize("name", INSTANCES)
def test_a_moved_optimum_does_not(name):
    budget, price, thresholds, uppers = INSTANCES[name]
    worst = max(
        abs(surplus)
        for relation, surplus in residuals(budget, price * 1.01, thresholds, uppers)
        if isinstance(relation, sp.Eq)
    )
    assert worst > 1e-3
    lower = [str(sp.Float(thresholds[0], 25) - sp.Float("1e-6")), *thresholds[1:]]
    worst = max(
        abs(surplus) for relation, surplus in residuals(budget, price, lower, uppers) if isinstance(relation, sp.Eq)
    )
    assert worst > 1e-8


def test_stationarity_comes_first_and_is_in_acceptance():
    first = derive(smq.Power(2)).kkt[0]
    assert first.rhs == 0
    assert not first.lhs.has(derive(smq.Power(2)).argument.law.pdf)
    assert first.lhs.coeff(EPSILON) == 1
    assert first.lhs.coeff(MU) == 1
    assert first.lhs.coeff(GAMMA) == -1


def test_errata_e15_point_fails_in_acceptance():
    """F = θ², ε = (1, 1), B = 1: θ = (0, 1) meets the printed system in θ; it must not meet ours."""
    law = smq.Power(2)
    derivation = derive(law)
    k = derivation.argument.law.parameters[0][1]
    stationarity, slack_low, slack_high, *_ = derivation.kkt
    at_zero = {k: 2, LOW: 0, HIGH: 1, EPSILON: 1, THETA: 0}
    assert stationarity.lhs.subs(at_zero | {GAMMA: 0}) == 1 + MU  # no μ ≥ 0 makes it vanish, whatever λ is
    printed = (derivation.argument.law.pdf * stationarity.lhs).subs({k: 2, LOW: 0, HIGH: 1, EPSILON: 1})
    assert sp.simplify(printed).subs(THETA, 0) == 0  # vacuous in θ
    assert slack_low.lhs.subs(at_zero) == 0
    assert slack_high.lhs.subs(at_zero) == GAMMA


@pytest.mark.parametrize("law", [smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1])], ids=repr)
def test_an_irregular_law_is_not_said_to_have_one_root(law):
    notes = " ".join(step.note for step in smq.derive(law).steps)
    assert "convex hull" in notes
    assert not re.search(r"\broot\b.* is the threshold|Spend does not fall", notes)


@pytest.mark.parametrize("law", [smq.Uniform(1, 3), smq.Power(2)], ids=repr)
def test_no_budget_left_is_outside_the_domain_of_the_price(law):
    step = smq.derive(law).step("budget-price")
    domains = [latex_of_domain(each.domain) for each in step.equations if each.right.has(LEFT) and each.left == LAMBDA]
    assert domains
    assert all("0 < R" in domain for domain in domains)
    assert "those of a common law" in step.note
