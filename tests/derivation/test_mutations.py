"""Every part of the argument of every law, changed in every simple way: flipped, dropped, swapped, raised. All changes are caught."""

import random
from dataclasses import replace

import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import EPSILON, GAMMA, LAMBDA, MU, F, J, Relation, Verdict, values_at
from smqopt.derivation import derive
from smqopt.derivation._story import steps_of
from smqopt.derivation.closed_form._comparison import compare
from smqopt.derivation.steps._lagrangian_step import lagrangian
from smqopt.derivation.steps._law_step import law_and_support
from smqopt.derivation.steps._slackness_step import complementary_slackness
from smqopt.derivation.steps._stationarity_step import stationarity
from smqopt.derivation.steps._threshold_step import threshold
from smqopt.derivation.steps._virtual_cost_step import virtual_cost
from smqopt.numeric import precision
from smqopt.valuation import HIGH, LAWS, LOW, valuation_from_dict

WITHOUT_DENSITY = ("point-mass", "discrete")
ALL = {
    **{name: valuation_from_dict({"law": name, **LAWS[name][2]}) for name in LAWS if name not in WITHOUT_DENSITY},
    "smoothstep": smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1),
    "log-uniform": smq.from_cdf("log(theta)/log(4)", low=1, high=4),
    "root": smq.from_cdf("sqrt(1+3*theta)-1", low=0, high=1),
    "beta(1, 2)": smq.Beta(1, 2),
    "kumaraswamy(2, 1)": smq.Kumaraswamy(2, 1),
}
BITS = 512


def variants(expression):
    """Change an expression in simple ways: a sign, a factor, a power, the ends of the support."""
    yield -expression
    yield 2 * expression
    yield expression + sp.Rational(1, 10**12)
    yield expression.subs({LOW: HIGH, HIGH: LOW}, simultaneous=True)
    inner = [part for part in sp.preorder_traversal(expression) if isinstance(part, sp.Add | sp.Mul | sp.Pow)]
    for part in dict.fromkeys(inner):
        if part.is_Add:
            changed = [part - 2 * term for term in part.args] + [part - term for term in part.args]
        elif part.is_Mul:
            changed = [part / factor for factor in part.args]
        else:
            changed = [part * part.base, 1 / part]
        for new in changed:
            yield expression.xreplace({part: new})


def different(wrong, right, argument):
    """Whether a change is one: some changes of form change no value."""
    if wrong.has(sp.zoo, sp.nan, sp.oo) or right in (sp.oo, None):
        return False
    points = list(argument.domain.points(3))
    opened = sp.Dummy("opened", nonnegative=True)
    gap = (wrong - right).replace(J, lambda *_: opened).replace(F, lambda *_: opened).subs(opened, EPSILON)
    with precision(BITS):
        return any(value.is_finite() and not value.contains(0) for value in values_at(gap, points))


def law_with(argument, **changes):
    return replace(argument, law=replace(argument.law, **changes))


def in_piece(argument, change):
    """Make a change in the first piece of a law, or in the law where it has no pieces."""
    if not argument.pieces:
        return change(argument)
    return replace(argument, pieces=(change(argument.pieces[0]), *argument.pieces[1:]))


PARTS = {
    "cdf": (law_and_support, lambda a: a.law.cdf, lambda a, e: law_with(a, cdf=e)),
    "pdf": (law_and_support, lambda a: a.law.pdf, lambda a, e: law_with(a, pdf=e)),
    "virtual cost": (virtual_cost, lambda a: a.virtual_cost, lambda a, e: replace(a, virtual_cost=e)),
    "threshold": (
        threshold,
        lambda a: None if a.inverse is None else a.inverse.threshold,
        lambda a, e: replace(a, inverse=replace(a.inverse, threshold=e)),
    ),
}
"""Parts that a piece of a law has: the step that sees a change, how to read the part, and how to change it."""
WHOLE = {
    "J(low)": (complementary_slackness, lambda a: a.cost_at_low, lambda a, e: replace(a, cost_at_low=e)),
    "J(high)": (complementary_slackness, lambda a: a.cost_at_high, lambda a, e: replace(a, cost_at_high=e)),
    "μ": (complementary_slackness, lambda a: a.lower_multiplier, lambda a, e: replace(a, lower_multiplier=e)),
    "γ": (complementary_slackness, lambda a: a.upper_multiplier, lambda a, e: replace(a, upper_multiplier=e)),
    "ℓ": (lagrangian, lambda a: a.owner_lagrangian, lambda a, e: replace(a, owner_lagrangian=e)),
    "stationarity": (stationarity, lambda a: a.stationarity, lambda a, e: replace(a, stationarity=e)),
    "L": (lagrangian, lambda a: a.lagrangian, lambda a, e: replace(a, lagrangian=e)),
}


def faults(law, share=1):
    """Give changes of an argument, all or a seeded share of them: a name, the change, the step that must see it, and the changed argument."""
    argument = derive(ALL[law]).argument
    every = []
    for name, (_, read, _) in {**PARTS, **WHOLE}.items():
        part = argument.pieces[0] if argument.pieces and name in PARTS else argument
        right = read(part)
        if right is not None and right != sp.oo:
            every += [(name, wrong, right, part) for wrong in dict.fromkeys(variants(right))]
    rng = random.Random(law)  # noqa: S311
    for name, wrong, right, part in rng.sample(every, -(-len(every) // share)):
        if not different(wrong, right, part):
            continue
        if name in PARTS:
            step, _, change = PARTS[name]
            yield name, wrong, step, in_piece(argument, lambda a, w=wrong, c=change: c(a, w))
        else:
            step, _, change = WHOLE[name]
            yield name, wrong, step, change(argument, wrong)


def stands(claim):
    """Whether a claim is proved, or awaits nothing but the verdict on regularity."""
    slope = claim.relation is Relation.AT_LEAST and isinstance(claim.left, sp.Derivative) and claim.left.expr.func == J
    return claim.verdict is Verdict.PROVED or claim.rests_on_regularity or (slope and claim.right == 0)


def check(law, share):
    """Check that changes are caught, and count them."""
    caught = 0
    for name, wrong, step, argument in faults(law, share):
        assert not all(stands(claim) for claim in step(argument).claims), (name, wrong)
        caught += 1
    return caught


RARE = ("beta", "kumaraswamy", "gamma", "weibull", "log-normal", "normal", "logistic")
"""Laws whose derivation takes seconds: long runs alone look at their faults."""
SLOW = ("kumaraswamy(2, 1)", "beta(1, 2)")


@pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, marks=[pytest.mark.exhaustive] * (law in RARE) + [pytest.mark.slow] * (law in SLOW))
        for law in ALL
    ],
)
def test_a_tenth_of_the_faults_is_caught(law):
    seen = ("law", "virtual-cost", "lagrangian", "stationarity", "slackness", "threshold")
    derivation = derive(ALL[law])
    assert all(stands(claim) for name in seen for claim in derivation.step(name).claims)  # what is right stands
    assert check(law, 10) >= 4


@pytest.mark.exhaustive
@pytest.mark.parametrize("law", ALL)
def test_every_fault_is_caught(law):
    assert check(law, 1) >= 100  # 101 for the histogram, at most 339


def test_there_are_many():
    assert sum(1 for law in ("uniform", "triangular") for _ in faults(law)) >= 100
    assert {EPSILON, LAMBDA, MU, GAMMA} <= derive(ALL["uniform"]).argument.stationarity.free_symbols


FIELDS = {
    "budget_price": ("lowest", "highest", "constant", "coefficient", "exponent", "expression", "by_sets"),
    "curve": ("quantile", "cost", "parameter", "weight"),
    "posted": ("sold", "unsold", "paid", "unpaid"),
    "": ("lagrangian", "owner_lagrangian", "stationarity"),
}
"""What a derivation exposes, record by record."""


@pytest.mark.slow
@pytest.mark.parametrize("record", FIELDS)
def test_every_exposed_expression_is_read_by_a_claim(record):
    law = smq.Power(1, 0, 1) if record == "curve" else smq.Uniform(0, 1)
    argument = derive(law).argument
    for name in FIELDS[record]:
        held = getattr(argument, record) if record else argument
        right = getattr(held, name)
        for wrong in (2 * right, right + sp.Rational(1, 7)):
            if wrong == right:
                continue
            changed = replace(held, **{name: wrong})
            steps = compare(steps_of(replace(argument, **{record: changed}) if record else changed), [])
            assert {step.verdict for step in steps} != {Verdict.PROVED}, (name, wrong)
