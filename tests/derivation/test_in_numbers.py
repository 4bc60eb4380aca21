"""Statements at solved instances: what is printed in numbers is true there, and altered definitions are not."""

import re
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import LAMBDA, THRESHOLD, THRESHOLD_OF_SPEND, Equation, Relation
from smqopt.derivation import markdown_document
from smqopt.report import instance_numbers

LAWS = [
    smq.Uniform(0, 1),
    smq.Uniform(1, 3),
    smq.Power(2),
    smq.Power(2, low=0.5),
    smq.TruncatedExponential(2),
    smq.Kumaraswamy(2, 3),
    smq.Pareto(1, 1, 4),
    smq.Triangular(0, 0.5, 1),
    smq.PiecewiseUniform([0, 1, 2], [3, 1]),
    smq.Mixture([smq.Power(1), smq.Power(2)], [0.3, 0.7]),
    smq.Power(2, low=0, high=[1.0, 2.0, 1.5]),
]
EPSILON = np.array([0.1, 0.5, 1.0])
SHARES = (0.02, 0.2, 0.6, 0.9)


def solved(law, share, epsilon=EPSILON):
    market = smq.Market(epsilon, law)
    derivation = smq.derive(law)
    solution = smq.solve(market, share * market.most_that_can_be_spent)
    (numbers,) = instance_numbers(derivation, solution)
    return derivation, solution, numbers


def holds(numbers, equation):
    inserted = numbers.insert(equation)
    return numbers.instance.holds(equation if inserted is None else inserted)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_definitions_hold_or_say_where(law, share):
    derivation, _, numbers = solved(law, share)
    held = 0
    for step in derivation.steps:
        for equation in step.equations:
            found = holds(numbers, equation)
            held += found is True
            if found is False:
                assert numbers.at_numbers(equation)[0] is None, (step.name, equation)
            if equation.relation is Relation.DEFINED and found is False and equation.left.func != THRESHOLD:
                assert "Not at these numbers" in numbers.at_numbers(equation)[1], (step.name, equation)
    assert held > 20


def test_a_form_for_uncapped_owners_is_not_printed_of_capped_ones():
    market = smq.Market(EPSILON, smq.Power(2))
    solution = smq.solve(market, 1.2)
    derivation = smq.derive(market.valuation)
    page = markdown_document(derivation, numbers=instance_numbers(derivation, solution))
    assert np.isclose(solution.budget_price, 0.571508, rtol=1e-6)
    assert solution.thresholds[2] == 1.0
    assert "0.627357" not in page
    assert "Not at these numbers: ε<sub>i</sub>/λ is above J(high) for some owners i." in page


@pytest.mark.parametrize(
    ("law", "budget", "why"),
    [
        (smq.Uniform(0, 1), 0.0, "B is 0"),
        (smq.Uniform(0, 1), 30.0, "ε_i/λ is above J(high)"),
        (smq.Uniform(0.2, 1), 0.3, "ε_i/λ is below J(low)"),
        (smq.Uniform(0, [1, 2, 3]), 0.3, "the law is not common"),
        (smq.ByOwner([smq.Uniform(0, 1), smq.Uniform(0, 1), smq.Power(2)]), 0.3, "the law is not common"),
        (smq.Power(2, low=0.5), 0.9, "the support does not begin at 0"),
    ],
)
def test_a_closed_form_says_which_of_its_conditions_fails(law, budget, why):
    derivation, market = smq.derive(law), smq.Market([0.02, 0.5, 1], law)
    numbers = instance_numbers(derivation, smq.solve(market, budget))[0]
    argument = derivation.argument or derivation.parts[0].derivation.argument
    inserted, remark = numbers.at_numbers(Equation(LAMBDA, Relation.EQUAL, argument.budget_price.expression))
    assert inserted is None
    assert remark.startswith(f"Not at these numbers: {why}")


def test_the_inverse_of_spend_from_zero_is_not_printed_of_another_low_end():
    derivation, _, numbers = solved(smq.Power(2, low=0.5), 0.2)
    (form,) = [e for e in derivation.step("spend").equations if e.left.func == THRESHOLD_OF_SPEND and not e.verdict]
    assert numbers.at_numbers(form) == (None, "Not at these numbers: the support does not begin at 0.")


def test_sums_with_parameters_that_differ_are_not_printed():
    derivation, _, numbers = solved(LAWS[-1], 0.2)
    lines = [numbers.at_numbers(e)[0] for step in derivation.steps for e in step.equations]
    own = {symbol for symbol, _ in derivation.argument.law.parameters}
    assert not any(line.has(sp.Sum) and line.free_symbols & own for e in lines if e for line in (e.left, e.right))
    assert all(line.left != LAMBDA for line in lines if line)
    assert numbers.latex()[0] == f"i = {numbers.instance.owner + 1}"


def same(numbers, wrong, equation):
    """Tell whether both read the same in numbers, as k and 2 do where k = 2."""
    one, other = (numbers.insert(form) or form for form in (wrong, equation))
    return sp.expand(one.right - other.right) == 0 if not other.right.has(sp.Piecewise, sp.Sum) else one == other


def alterations(expression):
    """Alter an expression: its sign, a factor, an offset, a dropped case, a relation turned."""
    yield -expression
    yield 2 * expression
    yield expression + sp.Rational(1, 7)
    if isinstance(expression, sp.Piecewise):
        cases = list(expression.args)
        for k in range(len(cases) - 1):
            yield sp.Piecewise(*cases[:k], *cases[k + 1 :], evaluate=False)
            turned = [
                (case[0], sp.Ge(*case[1].args) if isinstance(case[1], sp.Le) else sp.Le(*case[1].args))
                for case in cases[k : k + 1]
            ]
            yield sp.Piecewise(*cases[:k], *turned, *cases[k + 1 :], evaluate=False)


UNSEEN = (
    "LAGRANGIAN",
    "lagrangian",
    "owner_lagrangian",
    "left_over",
    "allocation",
    "expected_payment",
    "utility",
    "rent",
)
"""Letters that only name a sum or a rule: what is said of them is claimed, and claims are altered elsewhere."""


@pytest.mark.parametrize("law", [LAWS[1], LAWS[3], LAWS[6]], ids=repr)
def test_altered_definitions_are_caught(law):
    several = [solved(law, share, np.linspace(0.05, 1, 12)) for share in SHARES]
    derivation, tried, missed = several[0][0], 0, []
    everyone = [
        replace(numbers, instance=replace(numbers.instance, owner=k))
        for _, _, numbers in several
        for k in (0, 4, 8, 11)
    ]
    for step in derivation.steps:
        for equation in step.equations:
            name = getattr(equation.left, "name", type(equation.left).__name__)
            if equation.relation is not Relation.DEFINED or name in UNSEEN:
                continue
            true_at = [numbers for numbers in everyone if holds(numbers, equation)]
            if not true_at:
                continue  # its condition fails at every budget
            for altered in alterations(equation.right):
                wrong = Equation(equation.left, equation.relation, altered)
                if all(same(numbers, wrong, equation) for numbers in true_at[:1]):
                    continue
                tried += 1
                if not any(holds(numbers, wrong) is not True for numbers in true_at):
                    missed.append((step.name, equation.left, altered))
    assert missed == []
    assert tried > 20


def test_numbers_are_those_that_were_typed():
    law = smq.Power(2, 0.3, 1.7)
    solution = smq.solve(smq.Market([0.1, 0.5, 1], law), 1.2)
    derivation = smq.derive(law)
    page = markdown_document(derivation, numbers=instance_numbers(derivation, solution))
    assert r"\frac{5 \theta_i}{7} - \frac{3}{14}" in page
    assert max(map(int, re.findall(r"\d+", page)), default=0) < 10**7
