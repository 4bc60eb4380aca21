"""Wrong steps are caught: sign flips, wrong branches, dropped factors, swapped bounds, wrong supports."""

from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import BUDGET, EPSILON, GAMMA, LAMBDA, MU, THRESHOLD, J, N, Relation, Verdict, X, decide_claim
from smqopt.derivation import derive
from smqopt.derivation._story import STEPS, proved_part

LAWS = {
    "uniform": smq.Uniform(0, 1),
    "power": smq.Power(2),
    "truncated-exponential": smq.TruncatedExponential(2),
    "smoothstep": smq.from_cdf("theta**2*(3-2*theta)", low=0, high=1),
}


@cache
def steps():
    """The steps by name."""
    return dict(zip([step.name for step in derive(LAWS["uniform"]).steps], STEPS, strict=True))


def with_law(argument, **changes):
    return replace(argument, law=replace(argument.law, **changes))


def with_threshold(argument, threshold):
    return replace(argument, inverse=replace(argument.inverse, threshold=threshold))


FAULTS = {
    "cdf with the sign flipped": ("law", lambda a: with_law(a, cdf=-a.law.cdf)),
    "cdf of the complement": ("law", lambda a: with_law(a, cdf=1 - a.law.cdf)),
    "cdf with a factor": ("law", lambda a: with_law(a, cdf=a.law.cdf / 2)),
    "cdf with its own square": ("law", lambda a: with_law(a, cdf=a.law.cdf**2)),
    "density with a factor": ("law", lambda a: with_law(a, pdf=2 * a.law.pdf)),
    "density with the sign flipped": ("law", lambda a: with_law(a, pdf=-a.law.pdf)),
    "support swapped": ("law", lambda a: with_law(a, low=a.law.high, high=a.law.low)),
    "support too wide": ("law", lambda a: with_law(a, high=a.law.high + 1)),
    "support begins too early": ("law", lambda a: with_law(a, low=a.law.low - 1)),
    "J = θ − F/f": ("virtual-cost", lambda a: replace(a, virtual_cost=2 * a.theta - a.virtual_cost)),
    "J without θ": ("virtual-cost", lambda a: replace(a, virtual_cost=a.virtual_cost - a.theta)),
    "J with a factor": ("virtual-cost", lambda a: replace(a, virtual_cost=2 * a.virtual_cost)),
    "J of the seller": (
        "virtual-cost",
        lambda a: replace(a, virtual_cost=a.theta - (1 - a.law.cdf) / a.law.pdf),
    ),
    "J moved by 10⁻³⁰": ("virtual-cost", lambda a: replace(a, virtual_cost=a.virtual_cost + sp.Rational(1, 10**30))),
    "J falling": ("regularity", lambda a: replace(a, virtual_cost=-a.virtual_cost)),
    "B inside the sum over owners": (
        "lagrangian",
        lambda a: replace(a, lagrangian=a.lagrangian + (N - 1) * LAMBDA * BUDGET),
    ),
    "spend added": ("lagrangian", lambda a: replace(a, lagrangian=a.lagrangian.subs(LAMBDA, -LAMBDA))),
    "budget dropped": ("lagrangian", lambda a: replace(a, lagrangian=a.lagrangian - LAMBDA * BUDGET)),
    "μ with the sign flipped in ℓ": (
        "stationarity",
        lambda a: replace(a, owner_lagrangian=a.owner_lagrangian.subs(MU, -MU)),
    ),
    "γ with the sign flipped in ℓ": (
        "stationarity",
        lambda a: replace(a, owner_lagrangian=a.owner_lagrangian.subs(GAMMA, -GAMMA)),
    ),
    "λ dropped from ℓ": ("stationarity", lambda a: replace(a, owner_lagrangian=a.owner_lagrangian.subs(LAMBDA, 1))),
    "μ and γ swapped": (
        "stationarity",
        lambda a: replace(a, stationarity=a.stationarity.subs({MU: GAMMA, GAMMA: MU}, simultaneous=True)),
    ),
    "stationarity without γ": ("stationarity", lambda a: replace(a, stationarity=a.stationarity.subs(GAMMA, 0))),
    "stationarity with −ε": ("stationarity", lambda a: replace(a, stationarity=a.stationarity - 2 * EPSILON)),
    "stationarity in θ": ("stationarity", lambda a: replace(a, stationarity=a.stationarity * a.law.pdf)),
    "μ with the sign flipped": ("slackness", lambda a: replace(a, lower_multiplier=-a.lower_multiplier)),
    "μ with a factor": ("slackness", lambda a: replace(a, lower_multiplier=2 * a.lower_multiplier)),
    "J(low) wrong": ("slackness", lambda a: replace(a, cost_at_low=a.cost_at_low + 1)),
    "γ with the sign flipped": ("slackness", lambda a: replace(a, upper_multiplier=-a.upper_multiplier)),
    "γ taken at the low end": (
        "slackness",
        lambda a: replace(a, upper_multiplier=EPSILON - LAMBDA * a.cost_at_low),
    ),
    "J(high) wrong": ("threshold", lambda a: replace(a, cost_at_high=2 * a.cost_at_high)),
    "θ*(x) = x": ("threshold", lambda a: with_threshold(a, X)),
    "θ* with a factor": ("threshold", lambda a: with_threshold(a, 2 * a.inverse.threshold)),
    "θ* with the sign flipped": ("threshold", lambda a: with_threshold(a, -a.inverse.threshold)),
    "θ* moved by 10⁻³⁰": ("threshold", lambda a: with_threshold(a, a.inverse.threshold + sp.Rational(1, 10**30))),
    "θ* from the wrong end": ("threshold", lambda a: with_threshold(a, a.law.low + a.law.high - a.inverse.threshold)),
    "λ with a factor": (
        "budget-price",
        lambda a: replace(a, budget_price=replace(a.budget_price, expression=2 * a.budget_price.expression)),
    ),
    "λ inverted": (
        "budget-price",
        lambda a: replace(a, budget_price=replace(a.budget_price, expression=1 / a.budget_price.expression)),
    ),
    "λ without the budget": (
        "sensitivity",
        lambda a: replace(
            a, budget_price=replace(a.budget_price, expression=a.budget_price.expression.subs(BUDGET, 1))
        ),
    ),
    "spend with another exponent": (
        "budget-price",
        lambda a: replace(a, budget_price=replace(a.budget_price, exponent=a.budget_price.exponent + 1)),
    ),
    "spend with another constant": (
        "budget-price",
        lambda a: replace(a, budget_price=replace(a.budget_price, constant=a.budget_price.constant + 1)),
    ),
}
"""A fault, the step that must see it, and how it is injected."""


def applies(fault, argument):
    missing = {
        "λ": argument.budget_price is None,
        "spend": argument.budget_price is None,
        "γ": argument.upper_multiplier is None,
        "J(high)": argument.cost_at_high == sp.oo,
    }
    names = ("λ with", "λ inverted", "spend with", "γ with the sign flipped", "γ taken", "J(high)")
    if fault.endswith("in ℓ") or not fault.startswith(names):
        return True
    return not any(absent for start, absent in missing.items() if fault.startswith(start))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_caught(law, fault):
    argument = derive(LAWS[law]).argument
    if not applies(fault, argument):
        assert law in ("truncated-exponential", "smoothstep")
        return
    name, inject = FAULTS[fault]
    step = steps()[name](inject(argument))
    assert step.verdict is not Verdict.PROVED, step


WRONG_BRANCHES = {
    "theta**2*(3-2*theta)": (9 + 6 * X + sp.sqrt((9 + 6 * X) ** 2 - 192 * X)) / 16,
    "2*theta/(1+theta)": -1 - sp.sqrt(1 + X),
    "1-(1-theta)**2": (X + 2 + sp.sqrt(X**2 - 2 * X + 4)) / 3,
}


@pytest.mark.parametrize("cdf", WRONG_BRANCHES)
def test_wrong_branch_is_refuted(cdf):
    argument = derive(smq.from_cdf(cdf, low=0, high=1)).argument
    wrong = with_threshold(argument, WRONG_BRANCHES[cdf])
    # It solves J(θ) = x just as well: what refutes it is that θ*(J(θ)) does not give θ back.
    assert sp.simplify(argument.virtual_cost.subs(argument.theta, wrong.inverse.threshold) - X) == 0
    back = wrong.claim(THRESHOLD(J(wrong.theta)), wrong.theta)
    assert back.verdict is Verdict.REFUTED
    kept = proved_part(wrong)
    assert kept.inverse is None
    assert kept.budget_price is None


def test_wrong_budget_price_is_dropped():
    argument = derive(smq.Uniform(0, 1)).argument
    wrong = replace(
        argument, budget_price=replace(argument.budget_price, expression=2 * argument.budget_price.expression)
    )
    assert proved_part(wrong).budget_price is None
    assert proved_part(wrong).inverse == argument.inverse
    assert proved_part(argument) is argument


PLAIN_STEPS = (
    "law",
    "virtual-cost",
    "regularity",
    "lagrangian",
    "stationarity",
    "slackness",
    "threshold",
    "weak-duality",
)
"""Steps whose claims are judged as they stand."""


@pytest.mark.parametrize("law", LAWS)
def test_no_proved_claim_survives_a_small_change(law):
    derivation = derive(LAWS[law])
    argument = derivation.argument
    changed = 0
    for step in derivation.steps:
        if step.name not in PLAIN_STEPS:
            continue  # claims of others hold where something is put in, or by cases
        for claim in step.claims:
            if claim.relation is not Relation.EQUAL:
                continue
            if isinstance(claim.left, sp.Limit):
                end, value = claim.left.args[2], claim.right
                wrong_limits = [value + sp.Rational(1, 10**25), -1 - value] if value != sp.oo else [argument.law.high]
                for limit in wrong_limits:
                    assert argument.limit(end, limit).verdict is not Verdict.PROVED, (step.name, claim, limit)
                continue
            wrong = [claim.right + sp.Rational(1, 10**25), claim.right + EPSILON * X]
            wrong += [-claim.right, claim.right / 3] if claim.right != 0 else []
            for right in wrong:
                verdict = decide_claim(
                    claim.left, claim.relation, right, argument.inside, argument.meaning, every_law=True
                ).verdict
                assert verdict is Verdict.REFUTED, (step.name, claim, right)
                changed += 1
    assert changed >= 40


@pytest.mark.parametrize("law", LAWS)
def test_inequalities_turned_round_are_refuted(law):
    derivation = derive(LAWS[law])
    for name in ("law", "regularity"):
        for claim in derivation.step(name).claims:
            if claim.relation is Relation.AT_LEAST:
                turned = decide_claim(
                    claim.left, Relation.AT_MOST, claim.right, derivation.argument.domain, derivation.argument.meaning
                )
                assert turned.verdict is Verdict.REFUTED


def test_what_cannot_be_shown_is_undecided():
    argument = derive(smq.Uniform(0, 1)).argument
    hidden = sp.Function("hidden")(X)
    assert argument.claim(hidden, X).verdict is Verdict.UNDECIDED
    assert argument.claim(sp.sqrt(-X) ** 2 + hidden, hidden, Relation.AT_LEAST).verdict is Verdict.UNDECIDED
    # True, but beyond the reach of signs of terms: x² − x + 1 > 0.
    assert argument.claim(X**2 - X + 1, sp.Integer(0), Relation.AT_LEAST).verdict is Verdict.UNDECIDED
