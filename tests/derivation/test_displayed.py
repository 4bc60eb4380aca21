"""Every statement that a derivation shows, altered: each alteration is refuted by the law's own functions."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import THETA, THRESHOLD, Equation, J, Relation, Verdict, X
from smqopt.derivation import derive
from smqopt.derivation._story import general_steps
from smqopt.derivation.closed_form._comparison import compare, fails, general_instances, instances_of
from smqopt.valuation import HIGH, LAWS, LOW, candidates, valuation_from_dict

REGISTRY = {
    name: valuation_from_dict({"law": name, **LAWS[name][2]}) for name in LAWS if name not in ("point-mass", "discrete")
}
COMPOSITIONS = {
    repr(law): law
    for law in (
        smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1),
        smq.from_cdf("log(theta)/log(4)", low=1, high=4),
        smq.from_cdf("sqrt(1+3*theta)-1", low=0, high=1),
        smq.from_cdf("sin(pi*theta/2)", low=0, high=1),
        smq.from_cdf("tanh(theta)/tanh(2)", low=0, high=2),
        smq.from_cdf("theta**a", low=0, high=1, a=1.5),
        smq.Mixture([smq.Power(1), smq.Power(2)], [0.3, 0.7]),
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 2)], [0.25, 0.75]),
        smq.Mixture([smq.Beta(2, 3), smq.Uniform(0, 1)], [0.5, 0.5]),
        smq.Mixture([smq.TruncatedExponential(1), smq.TruncatedExponential(3)], [0.5, 0.5]),
        smq.Truncated(smq.Power(2), 0.25, 0.75),
        smq.Truncated(smq.Triangular(0, 0.5, 1), 0.2, 0.9),
        smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1]),
        smq.PiecewiseUniform([0, 1, 2, 4], [4, 3, 1]),
        smq.Triangular(0, 0, 1),
        smq.Triangular(0, 1, 1),
        smq.Beta(1, 2),
        smq.Kumaraswamy(2, 1),
        smq.Power(2, low=0.5),
        smq.Pareto(1, 1, 4),
    )
}
MOVED = (sp.Rational(6, 5), sp.Rational(4, 5), sp.Rational(101, 100))
"""By what factors a bound of a case is moved."""


def statements(steps):
    return [(step, equation) for step in steps for equation in step.equations]


def with_low_end(law, low):
    """Move the low end of a law, if it has one to move."""
    one = law if law.size is None else law.take(np.zeros(1, dtype=np.intp))
    if "low" not in one.arguments or not one.ends_are_symbols:
        return None
    return one.with_arguments({**one.arguments, "low": low})


@cache
def places(law):
    """Make instances of a law, those with its low end where it is, at 0, and above."""
    laws = (law,)
    if derive(law).argument.law.low == LOW and law.arguments.get("mode") != law.low:
        laws = (law, with_low_end(law, 0.0), with_low_end(law, 0.3 * float(law.high)))
    formulas = next(candidates(law))[0]
    return [instances_of(one, formulas) for one in filter(None, laws)]


def at(step, equation, law):
    """Return the instances with which a statement of a step is evaluated."""
    if equation.every_law:
        return general_instances(step)
    return [replace(each, step=step) for one in places(law) for each in one]


def is_caught(equation, step, law):
    """Tell whether a statement fails with the law, or with another low end."""
    return any(fails(equation, step, [replace(each, step=step) for each in one]) for one in places(law))


def moved(cases):
    """Move the bound of each case."""
    for k, (value, condition) in enumerate(cases[:-1]):
        symbol, bound = condition.args
        for factor in MOVED:
            new = (value, condition.func(symbol, bound * factor, evaluate=False))
            yield sp.Piecewise(*cases[:k], new, *cases[k + 1 :], evaluate=False)


def alterations(equation):
    """Change a statement: signs and factors, ends, cases, and the relation."""
    left, right, relation = equation.left, equation.right, equation.relation
    if relation in (Relation.AT_LEAST, Relation.AT_MOST):
        turned = {Relation.AT_LEAST: Relation.AT_MOST, Relation.AT_MOST: Relation.AT_LEAST}[relation]
        yield replace(equation, relation=turned)
        yield replace(equation, left=-left, right=-right)
        return
    for side in ("left", "right"):
        whole = getattr(equation, side)
        changed = [-whole, 2 * whole, whole.xreplace({LOW: HIGH, HIGH: LOW})]
        changed += [whole - 2 * term for term in whole.args] if whole.is_Add else []
        if isinstance(whole, sp.Piecewise):
            cases = whole.args
            changed += moved(cases)
            changed += [sp.Piecewise(*cases[:k], *cases[k + 1 :], evaluate=False) for k in range(len(cases) - 1)]
            values = [case for case, _ in cases]
            for k, (value, condition) in enumerate(cases):
                for new in (-value, 2 * value, values[k - 1]):
                    changed.append(sp.Piecewise(*cases[:k], (new, condition), *cases[k + 1 :], evaluate=False))
        for new in changed:
            if new != whole and not new.has(sp.nan, sp.zoo):
                yield replace(equation, **{side: new})


def bounds_of(equation, instances):
    """List the conditions of all cases, with what their bounds come to."""
    cases = equation.left.atoms(sp.Piecewise) | equation.right.atoms(sp.Piecewise)
    conditions = {condition for each in cases for _, condition in each.args if condition.args}
    return {(one.func, one.args[0], tuple(each.value(one.args[1]) for each in instances)) for one in conditions}


def is_same(wrong, right, instances):
    """Tell whether an alteration says the same wherever it says anything."""
    if wrong.relation is not Relation.EQUAL and wrong.relation is not Relation.DEFINED:
        return all(each.is_tight(right) for each in instances)
    if wrong.right == right.right == sp.oo and wrong.left == 2 * right.left:
        return True
    if bounds_of(wrong, instances) - bounds_of(right, instances):  # a moved bound is never the same
        return False
    pairs = (
        Equation(getattr(wrong, side), Relation.EQUAL, getattr(right, side), domain=right.domain)
        for side in ("left", "right")
    )
    return not any(each.holds(pair) is False for pair in pairs for each in instances)


def count(law, share=1):
    """Count the alterations that are caught, and list those that are not."""
    steps = derive(law).steps
    shown = [
        (step, equation) for step in steps for equation in step.equations if equation.verdict is not Verdict.REFUTED
    ]
    every = [(step, right, wrong) for step, right in shown for wrong in alterations(right)]
    rng = random.Random(repr(law))  # noqa: S311
    caught, missed = 0, []
    for step, right, wrong in rng.sample(every, -(-len(every) // share)):
        if is_caught(wrong, step.name, law):
            caught += 1
        elif not is_same(wrong, right, at(step.name, right, law)):
            missed.append((step.name, wrong.left, wrong.relation.value, wrong.right))
    return caught, missed


MOST_WORDS = 1200
"""Of a page, formulas counted too."""
QUICK = ("uniform", "piecewise-uniform")
LAWS_HERE = {**REGISTRY, **COMPOSITIONS}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in LAWS_HERE]
)
def test_statements_hold_and_a_share_of_their_alterations_fails(name):
    law = LAWS_HERE[name]
    assert len(derive(law).to_markdown().split()) <= MOST_WORDS
    for step, equation in statements(derive(law).steps):
        if equation.verdict is not Verdict.REFUTED:
            assert not is_caught(equation, step.name, law), (step.name, equation)
    caught, missed = count(law, 10)
    assert missed == []
    assert caught >= 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sinh(theta)", "asin(theta)", "tanh(theta)"])
def test_functions_of_texts_have_values(name):
    law = smq.from_cdf(f"{name}/{name.replace('theta', '0.9')}", 0, 0.9)
    step, slope = next(each for each in statements(derive(law).steps) if each[0].name == "virtual-cost")
    assert is_caught(replace(slope, left=2 * slope.left), step.name, law)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LAWS_HERE)
def test_every_alteration_fails(name):
    caught, missed = count(LAWS_HERE[name])
    assert missed == []
    assert caught >= 200


@pytest.mark.parametrize("name", ["uniform", "piecewise-uniform", "triangular"])
def test_what_is_exposed_is_what_is_shown(name):
    derivation = derive(REGISTRY[name])
    rule = Equation(THRESHOLD(X), Relation.EQUAL, derivation.threshold_rule)
    instances = [replace(each, step="threshold") for each in places(REGISTRY[name])[0] if each.price > 0]
    values = derivation.argument.meaning
    held = [each.holds(replace(rule, left=rule.left)) for each in instances]
    assert True in held
    assert False not in held
    broken = rule.right.xreplace({LOW: HIGH, HIGH: LOW}) if rule.right.has(LOW) else -rule.right
    assert False in [each.holds(replace(rule, right=broken)) for each in instances]
    assert values is not None
    for relation in derivation.kkt:
        kinds = {sp.Eq: Relation.EQUAL, sp.Ge: Relation.AT_LEAST, sp.Le: Relation.AT_MOST}
        condition = Equation(relation.args[0], kinds[type(relation)], relation.args[1])
        assert False not in [each.holds(condition) for each in instances if not each.rests and each.is_optimal]
    price = derivation.budget_price
    if price is not None:
        assert {price.lowest, price.highest} >= {
            derivation.argument.cost_at_low.subs({} if price.low is None else {LOW: price.low})
        }


def test_an_altered_statement_is_refuted_when_it_is_compared():
    derivation = derive(REGISTRY["uniform"])
    steps = list(derivation.steps)
    k = next(k for k, step in enumerate(steps) if step.name == "threshold")
    wrong = [replace(each, right=2 * each.right) if each.left == THRESHOLD(X) else each for each in steps[k].equations]
    steps[k] = replace(steps[k], equations=tuple(wrong))
    found = compare(tuple(steps), instances_of(REGISTRY["uniform"], derivation.argument.law))
    assert [step.name for step in found if step.verdict is Verdict.REFUTED] == ["threshold"]


def test_general_steps_are_of_no_law():
    for step in general_steps().values():
        assert step.verdict is Verdict.PROVED
        assert all(equation.every_law for equation in step.equations)


@pytest.mark.parametrize(
    "law",
    [
        smq.TruncatedExponential(30.0),
        smq.TruncatedExponential(1e4),
        smq.Pareto(0.01, 1, 1e4),
        smq.Uniform(1e6, 1e6 + 1),
        smq.PiecewiseUniform([1e6, 1e6 + 1e-4, 1e6 + 3e-4], [4, 3]),
        smq.Kumaraswamy(2, 3, 1e5, 1e5 + 1e-5),
        smq.Weibull(2, 1e-3, 1e3, 1e3 + 1e-8),
    ],
)
def test_what_doubles_cannot_tell_is_not_refuted(law):
    derivation = derive(law)
    assert derivation.verdict is Verdict.PROVED
    formulas = derivation.argument.law
    for step, equation in statements(derivation.steps):
        if step.name == "law" and equation.relation is Relation.DEFINED:
            wrong = replace(equation, right=equation.right * sp.Rational(1001, 1000))
            assert any(each.holds(wrong) is False for each in instances_of(law, formulas))


def test_no_equation_is_stated_where_the_cost_jumps():
    """At θ = 1 and 2 the cost jumps from 3/2 to 7/3 and from 13/3 to 16, and θ* rests."""
    derivation = derive(smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 3, 1]))
    (form,) = [
        each for each in derivation.step("threshold").equations if each.left == THRESHOLD(X) and not each.verdict
    ]
    rule, cost = form.right, derivation.virtual_cost
    for name in ("threshold", "slackness"):
        stated = [e for e in derivation.step(name).equations if e.left.has(THRESHOLD(X)) and e.verdict and e.domain]
        assert [each.domain[0].above for each in stated] == [False, True, True]  # at x = 7/3 θ* still rests at 1
        for each in stated:
            ((low, high),) = [(r.lower, r.upper) for r in each.domain]
            for x in (low + sp.Rational(1, 10**6), (low + high) / 2, high):
                assert cost.subs(derivation.argument.theta, rule.subs(X, x)) == x
    squares = [e for e in derivation.step("cvxpy-form").equations if e.relation is Relation.EQUAL]
    for each in squares:
        spoken = each.left - each.right
        for function, formula in derivation.argument.meaning.items():
            spoken = spoken.replace(function, formula)
        for r in each.domain:
            for place in (r.lower + sp.Rational(1, 10**6), (r.lower + r.upper) / 2, r.upper):
                assert spoken.subs(r.symbol, place) == 0


def stated(name, left):
    """Give a statement about θ*(x), and instances of its step."""
    derivation = derive(LAWS_HERE[name])
    law = derivation.argument.law
    instances = [replace(each, step="threshold") for each in instances_of(LAWS_HERE[name], law)]
    return next(each for each in derivation.step("threshold").equations if each.left == left), instances


@pytest.mark.parametrize("name", ["triangular", "pareto"])
def test_a_threshold_that_is_not_real_is_refuted(name):
    """The roots of −D in the place of those of D, and of D with θ for low."""
    form, instances = stated(name, THRESHOLD(X))
    roots = [each for each in form.right.atoms(sp.Pow) if each.exp == sp.Rational(1, 2)]
    assert roots
    assert not fails(form, "threshold", instances)
    for root in roots:
        for wrong in (sp.sqrt(-root.base), root.xreplace({LOW: THETA})):
            if wrong != root:
                assert fails(replace(form, right=form.right.xreplace({root: wrong})), "threshold", instances)


def test_cases_are_in_the_letter_of_their_function():
    form, instances = stated("triangular", THRESHOLD(X))
    (value, condition), *others = form.right.args
    wrong = sp.Piecewise((value, condition.xreplace({X: THETA})), *others, evaluate=False)
    assert fails(replace(form, right=wrong), "threshold", instances)
    cdf = derive(REGISTRY["triangular"]).step("law").equations[0]
    (value, condition), *others = cdf.right.args
    wrong = sp.Piecewise((value, condition.xreplace({THETA: X})), *others, evaluate=False)
    assert fails(replace(cdf, right=wrong), "law", instances)


@pytest.mark.parametrize("factor", [2, sp.Rational(101, 100)])
@pytest.mark.parametrize("name", ["uniform", "pareto", "piecewise-uniform"])
def test_a_range_of_x_ends_where_the_cost_ends_or_jumps(name, factor):
    """Ends of x moved: beyond J(high), below J(low), or into a jump of J, θ* does not solve J = x."""
    for left in (J(THRESHOLD(X)), THRESHOLD(X)):
        right, instances = stated(name, left)
        wide = tuple(replace(each, upper=factor * each.upper) for each in right.domain)
        assert not fails(right, "threshold", instances)
        assert fails(replace(right, domain=wide), "threshold", instances)
        below = tuple(replace(each, lower=each.lower / factor) for each in right.domain)
        if instances[0].value(right.domain[0].lower) > 0:
            assert fails(replace(right, domain=below), "threshold", instances)


@pytest.mark.parametrize("low", [0.0, 1e3])
def test_what_a_double_of_a_threshold_cannot_explain_is_refuted(low):
    """A double moves F by 10^−4 of itself; F times 1.01 is told from F."""
    law = smq.Uniform(low, low + 1e-9)
    derivation = derive(law)
    cdf = derivation.step("law").equations[0]
    instances = instances_of(law, derivation.argument.law)
    assert not fails(cdf, "law", instances)
    assert fails(replace(cdf, right=cdf.right * sp.Rational(101, 100)), "law", instances)


@pytest.mark.parametrize("name", ["piecewise-uniform", "triangular"])
def test_slopes_are_stated_off_joints(name):
    """F, f and J have two slopes where pieces meet; the range without the joints is the alteration."""
    derivation = derive(REGISTRY[name])
    instances = instances_of(REGISTRY[name], derivation.argument.law)
    slopes = [
        (step.name, each) for step, each in statements(derivation.steps) if any(place.off for place in each.domain)
    ]
    assert {step for step, _ in slopes} >= {"law", "regularity", "sensitivity"}
    for step, each in slopes:
        assert not fails(each, step, instances)
        wrong = replace(each, domain=tuple(replace(place, off=()) for place in each.domain))
        assert fails(wrong, step, instances)


@pytest.mark.parametrize("law", [smq.Triangular(0, 1, 1), smq.PiecewiseUniform([0, 1, 2], [3, 1])])
def test_no_statement_is_of_numbers_alone(law):
    """Neither 3/2 ≥ 1 nor −λx ≥ 0 for x = 0."""
    for _, equation in statements(derive(law).steps):
        inequality = equation.relation in (Relation.AT_LEAST, Relation.AT_MOST) and not equation.every_law
        assert not (inequality and equation.left.is_number and equation.right.is_number)
        assert not any(each.lower == each.upper == 0 and each.symbol == X for each in equation.domain)
