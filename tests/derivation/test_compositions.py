"""Mixtures and truncations: weights that add to 1, work that is bounded, and nothing true refuted."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import (
    LONGEST_DERIVATION,
    OUT_OF_WORK,
    Domain,
    SymbolRange,
    Verdict,
    put_in,
    remember,
    within_limit,
    work_budget,
)
from smqopt.algebra.decision import _end_order, _reduction
from smqopt.algebra.decision._work import LONGEST_SIGNS
from smqopt.derivation import derive_within
from smqopt.derivation.closed_form._comparison import fails, instances_of
from smqopt.numeric import work_limit
from smqopt.valuation import Regular
from smqopt.valuation.formulas._law_formulas import spelled_by_text, weight_groups
from smqopt.valuation.formulas._symbolic_forms import formulas_of

ON_THE_UNIT_INTERVAL = [
    smq.Power(1),
    smq.Power(2),
    smq.Power(0.5),
    smq.TruncatedExponential(2),
    smq.Kumaraswamy(2, 3),
    smq.Beta(2, 3),
]
MIXTURES = [smq.Mixture(pair, [0.3, 0.7]) for pair in combinations(ON_THE_UNIT_INTERVAL, 2)]
NESTED = smq.Mixture([smq.Mixture(ON_THE_UNIT_INTERVAL[:2], [0.25, 0.75]), smq.Power(3)], [0.5, 0.5])
HARD = [
    smq.from_cdf("erf(a*(theta/7))/erf(a)", 0, 7, a=0.37),
    smq.Mixture([smq.Pareto(1.5, 1, 4), smq.Pareto(2.5, 1, 4)], [0.5, 0.5]),
]
SLOW = [
    smq.from_cdf("(theta/0.5)**a/(2-(theta/0.5)**a)", 0, 0.5, a=2.67),
    smq.Mixture([smq.Weibull(2, 1, 0, 2), smq.Weibull(3, 1, 0, 2)], [0.5, 0.5]),
    smq.Mixture([smq.Normal(1, 0.5, 0, 2), smq.Normal(1.5, 0.5, 0, 2)], [0.5, 0.5]),
    smq.Mixture([smq.Logistic(1, 0.5, 0, 2), smq.Logistic(1.5, 0.5, 0, 2)], [0.5, 0.5]),
]


@pytest.mark.parametrize(
    "law",
    [
        *MIXTURES[:4],
        NESTED,
        *(pytest.param(law, marks=pytest.mark.slow) for law in MIXTURES[4:]),
        *HARD,
        *(pytest.param(law, marks=pytest.mark.slow) for law in SLOW),
    ],
    ids=repr,
)
def test_what_is_true_of_a_law_is_not_refuted(law):
    derivation = smq.derive(law)
    if isinstance(law.regularity(), Regular):
        refuted = [(step.name, step.method) for step in derivation.steps if step.verdict is Verdict.REFUTED]
        assert refuted == []


BY_BALLS = {
    "three normals": smq.Mixture(
        [smq.Normal(0.2, 0.1, 0, 1), smq.Normal(0.5, 0.2, 0, 1), smq.Normal(0.7, 0.3, 0, 1)], [0.3, 0.3, 0.4]
    ),
    "two gammas": smq.Mixture([smq.Gamma(2, 1, 0, 10), smq.Gamma(3.5, 0.7, 0, 10)], [0.5, 0.5]),
    "cut mixture": smq.Truncated(smq.Mixture([smq.Power(1.5), smq.Triangular(0, 0.4, 1)], [0.4, 0.6]), 0.1, 0.9),
    "irregular": smq.Mixture([smq.Normal(0.1, 0.02, 0, 1), smq.Normal(0.8, 0.05, 0, 1)], [0.5, 0.5]),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", BY_BALLS.values(), ids=BY_BALLS)
def test_a_derivation_decides_regularity_as_the_law_does(law):
    wanted = Verdict.PROVED if isinstance(law.regularity(), Regular) else Verdict.REFUTED
    assert smq.derive(law).step("regularity").verdict is wanted


@pytest.mark.parametrize("law", [MIXTURES[0], NESTED, smq.Truncated(NESTED, 0.25, 0.75)], ids=repr)
def test_weights_in_letters_add_to_one(law):
    formulas, groups = spelled_by_text(law), list(weight_groups(law))
    assert all(np.isclose(sum(law.arguments[name] for name in group), 1) for group in groups)
    names = [name for name, _ in formulas.parameters]
    assert [group[-1] in names for group in groups] == [False] * len(groups)
    assert all(name in names for group in groups for name in group[:-1])
    high = formulas.cdf.subs(formulas.theta, formulas.high)
    assert abs(float(high.subs({symbol: law.arguments[name] for name, symbol in formulas.parameters})) - 1) < 1e-12


@pytest.mark.slow
def test_mixtures_by_owner_are_derived_in_letters():
    law = smq.Mixture([smq.Uniform(0, [1, 2]), smq.Power(2, 0, [1, 2])], [0.3, 0.7])
    assert [step.name for step in smq.derive(law).steps if step.verdict is Verdict.REFUTED] == []


def forever():
    while True:
        sp.sqrt(sp.Dummy())


def test_work_beyond_its_limit_is_given_up():
    with work_budget(1000):
        assert within_limit(lambda: 1, 0) == 1
        assert within_limit(forever, "given up") == "given up"
        assert within_limit(lambda: 1, 0) == 0  # nothing is left of the budget
    assert within_limit(lambda: 1, 0) == 1


def test_nothing_to_a_positive_power_is_nothing():
    """Once the mixture is written out the exponent of 0/scale is a letter for a positive number."""
    whole = smq.Mixture([smq.Weibull(2.2, 0.5, 0, 1.4), smq.Weibull(1.3, 0.7, 0, 1.4)], [0.5, 0.5])
    law = smq.Truncated(whole, 0.2, 1.1)
    given = (whole.cdf(0.8) - whole.cdf(0.2)) / (whole.cdf(1.1) - whole.cdf(0.2))
    assert np.isclose(law.cdf(0.8), given, rtol=1e-13)
    assert not spelled_by_text(law).cdf.has(sp.zoo, sp.nan)


def test_roots_that_take_for_ever_are_given_up(monkeypatch):
    def forms(*_):
        while True:
            yield sp.sqrt(sp.Dummy())

    monkeypatch.setattr(_reduction, "_by_inner_root", forms)
    theta = sp.Symbol("theta", positive=True)
    with work_budget(20_000):
        assert not _reduction.vanishes(sp.sqrt(theta) - theta, Domain(()))


def test_derivatives_of_quotients_that_grow_for_ever_are_given_up(monkeypatch):
    """A mixture of Power(1.7) and Kumaraswamy(1.4, 2.2) in the tenth root of the valuation: 0 to the eighth order."""
    x = sp.Dummy("root")
    quotients = [
        x**k * (1 - x**14) ** sp.Rational(k, 5) / (2 * x**3 + 3 * (1 - x**14) ** sp.Rational(6, 5)) ** 2
        for k in (14, 17, 20, 31)
    ]
    slope = sp.diff

    def bounded(expression, symbol):
        assert expression.count_ops() <= _end_order.MAX_OPERATIONS
        return slope(expression, symbol)

    monkeypatch.setattr(sp, "diff", bounded)
    assert _end_order.order_at(sp.Add(*quotients), _end_order.SignDomain(x, Fraction(0), Fraction(1), {}), 0) is None


def test_a_power_that_would_fill_the_memory_is_not_begun():
    exact = sp.Rational(*(0.4).as_integer_ratio())  # 12^(p/q) is written with 2^(2p mod q)
    assert within_limit(lambda: sp.Integer(12) ** exact, "given up") == "given up"
    assert within_limit(lambda: sp.Integer(2) ** sp.Integer(10**12), "given up") == "given up"

    for base, power in ((12, sp.Rational(2, 3)), (2, exact), (6, exact), (1, exact)):
        assert within_limit(lambda: sp.Integer(base) ** power, None) == sp.Integer(base) ** power  # noqa: B023


ROOTS = smq.Mixture(
    [
        smq.Weibull(2.87, 2.2344, 1.03, 3.97),
        smq.Weibull(3.76, 2.7489, 1.03, 3.97),
        smq.Logistic(2.79, 0.4, 1.03, 3.97),
        smq.Gamma(1.03, 1.03, 1.03, 3.97),
    ],
    [0.45, 0.28, 0.17, 0.1],
)
"""(θ/s)^k is (low/s)^k at the low end, which SymPy writes in two ways."""


def test_the_polynomial_of_a_sum_of_roots_is_not_sought(monkeypatch):
    one, other = sp.Integer(103**19 * 10**13) ** sp.Rational(1, 25), sp.Integer(103) ** sp.Rational(19, 25)
    same = one * 27489 ** sp.Rational(6, 25) - 10 ** sp.Rational(13, 25) * other * 27489 ** sp.Rational(6, 25)
    assert within_limit(lambda: same.is_positive, "given up") == "given up"
    small = sp.sqrt(2) + sp.sqrt(3) - sp.sqrt(5 + 2 * sp.sqrt(6))
    assert within_limit(lambda: small.is_positive, "given up") is False

    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr("sympy.polys.numberfields.minimal_polynomial", never)
    formulas = formulas_of(ROOTS)
    assert abs(put_in(formulas.cdf, {formulas.theta: formulas.high}).evalf(40) - 1) < 1e-38
    assert put_in(formulas.cdf, {formulas.theta: formulas.low}) == 0


CUTS = smq.Truncated(
    smq.Mixture(
        [smq.Weibull(2.6, 3.0972, 0.3, 2.08), smq.Beta(3.32, 2.32, 0.3, 2.08), smq.LogNormal(-0.12, 0.79, 0.3, 2.08)],
        [0.26, 0.46, 0.28],
    ),
    0.57,
    1.72,
)


@pytest.mark.slow
@pytest.mark.parametrize("law", [ROOTS, CUTS], ids=["four families", "a cut of three"])
def test_a_deep_mixture_is_proved_by_a_quarter_of_the_work(law):
    """It took three times 10 s, outside of what is counted, and more than all that is."""
    steps = derive_within(law, LONGEST_DERIVATION // 4).steps
    assert [step.name for step in steps if step.verdict is not Verdict.PROVED] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        smq.Truncated(smq.Beta(0.41, 2.73, 0.91, 2.18), 0.91, 2),
        smq.Mixture([smq.PiecewiseUniform([0.91, 1.5, 3.63], [2, 1]), smq.Power(2.39, 0.91, 3.63)], [0.5, 0.5]),
    ],
    ids=repr,
)
def test_an_end_is_a_decimal_for_formulas_too(law):
    """The double next to .91 is not .91: a power of their difference is 1e-7, and its slope infinite."""
    refuted = {step.name for step in smq.derive(law).steps if step.verdict is Verdict.REFUTED}
    assert refuted <= {"regularity", "threshold"}


@pytest.mark.slow
def test_an_infinity_is_seen_by_careful_instances_too():
    law = smq.Kumaraswamy(1, 2)
    derivation = smq.derive(law)
    claims = [claim for step in derivation.steps for claim in step.equations if claim.right == sp.oo]
    instances = instances_of(law, derivation.argument.law)
    assert claims
    assert [claim for claim in claims if fails(claim, "slackness", instances)] == []
    assert [claim for claim in claims if not fails(replace(claim, left=-claim.left), "slackness", instances)] == []


def test_what_sympy_takes_for_nothing_is_not_divided_by():
    rate = -sp.Rational(17661, 3125) / (1 - sp.exp(-sp.Rational(916803, 15625)))
    assert within_limit(lambda: rate.is_positive, "unknown") in (False, "unknown")
    law = smq.Mixture([smq.Beta(0.5, 2, 0, 0.86), smq.Weibull(3, 0.5, 0.58, 1.96)], [0.3, 0.7])
    assert type(law.regularity()).__name__ == "Irregular"


@pytest.mark.parametrize("law", ["a formula with a double", "nested powers"])
def test_laws_with_doubles_as_exponents_are_verified(law):
    mixed = smq.Beta(2, 3)
    for k in range(14):
        mixed = smq.Mixture([mixed, smq.Power(1 + 0.2 * k, 0, 1 + 0.05 * k)], [0.5, 0.5])
    text = "p*log(1+theta)/log(2)+(1-p)*theta"
    F = mixed if law == "nested powers" else smq.from_cdf(text, 0, 1, p=0.4)
    assert smq.verify(smq.solve(smq.Market([0.1, 0.5, 1.0], F), 0.4)).grade == "proved"


def test_work_is_bounded_in_any_thread_and_within_other_work():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(within_limit, lambda: within_limit(forever, "inner"), "outer").result() == "outer"


def test_no_question_is_asked_twice_within_a_budget():
    asked = []

    @remember
    def answer(question):
        asked.append(question)
        return within_limit(forever, question)

    for number in (1, 2):
        with work_budget(1000):
            assert [answer("open") for _ in range(3)] == ["open"] * 3
        assert len(asked) == number  # what is what it is for want of work is not kept for others


def test_long_numbers_do_not_hide_a_sign():
    """SymPy seeks the signs of such numbers for up to millions of calls."""
    price, distance = sp.symbols("price distance", positive=True)
    parts = [sp.exp(-sp.Rational(k, 7)) / sp.sqrt(k * sp.pi) + sp.erf(sp.sqrt(k) / 7) for k in range(2, 8)]
    top = 7 + sp.Add(*parts[:3]) / (1 - sp.Add(*parts[3:]) / 9)
    domain = Domain((SymbolRange(price, 0, None), SymbolRange(distance, top, None)))
    with work_budget(100_000):
        assert _reduction.is_never_negative(price * distance - price * top, domain)
        assert not _reduction.is_never_negative(price * top - price * distance, domain)


def test_a_mixture_of_three_takes_bounded_work():
    law = smq.Mixture(
        [smq.Weibull(1.3, 1, 0, 3), smq.Weibull(2.2, 1.4, 0, 3), smq.Weibull(3.1, 2, 0, 3)], [0.2, 0.5, 0.3]
    )
    with work_limit(0) as allowance:
        derivation = smq.derive(law)
    assert allowance.evaluations - allowance.left < 2 * LONGEST_SIGNS  # the derivation's, and the law's own
    assert derivation.step("law").verdict is Verdict.PROVED
    assert derivation.verdict is not Verdict.REFUTED


def test_calls_are_counted_and_not_seconds():
    with work_budget(1000):
        assert within_limit(lambda: time.sleep(0.05) or "done", "given up") == "done"
        assert within_limit(lambda: [sp.Dummy() for _ in range(2000)] and "done", "given up") == "given up"


LOGARITHM = "log(1 + a*(theta/2.12))/log(1 + a)"


@pytest.mark.parametrize(
    "law",
    [
        smq.from_cdf("erf(a*((theta - 0.04)/0.94))/erf(a)", 0.04, 0.98, a=1.5),
        smq.from_cdf("tanh(a*((theta - 1.64)/1.25))/tanh(a)", 1.64, 2.89, a=0.5),
        smq.from_cdf("(theta/1.55)**a*(1 + c*(1 - theta/1.55))", 0, 1.55, a=3.83, c=0.3),
        smq.Mixture([smq.Uniform(0, 1.42), smq.Kumaraswamy(2.59, 1.5, 0, 2.34)], [0.3, 0.7]),
    ],
)
def test_a_form_that_is_not_proved_gives_way(law):
    assert not [step.name for step in smq.derive(law).steps if step.verdict is Verdict.UNDECIDED]


@pytest.mark.parametrize(
    ("cdf", "high"),
    [("sin(pi*theta/2)", 1), ("1 - cos(pi*theta/2)", 1), ("tan(pi*theta/4)", 1), ("tanh(theta)/tanh(2)", 2)],
)
def test_balls_decide_where_algebra_ends(cdf, high):
    law = smq.from_cdf(cdf, low=0, high=high)
    assert smq.derive(law).verdict is Verdict.PROVED
    assert isinstance(law.regularity(), smq.Regular)


@pytest.mark.parametrize(
    "law",
    [
        smq.Mixture([smq.Beta(2, 3), smq.Uniform(0, 1)], [0.5, 0.5]),
        smq.Mixture([smq.Beta(2.5, 3), smq.Uniform(0, 1)], [0.3, 0.7]),
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [0.9, 0.1]),
        smq.Truncated(smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0.5, 3)], [0.5, 0.5]), 0.1, 2.5),
        smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1]),
        smq.Mixture([smq.Logistic(0, 2, 0, 1.21), smq.from_cdf(LOGARITHM, 0, 2.12, a=1.5)], [0.3, 0.7]),
    ],
)
def test_derivation_and_regularity_agree(law):
    verdicts = {smq.Regular: Verdict.PROVED, smq.Irregular: Verdict.REFUTED, smq.Undecided: Verdict.UNDECIDED}
    assert smq.derive(law).step("regularity").verdict is verdicts[type(law.regularity())]


def test_nothing_is_kept_of_a_derivation_cut_short():
    law = smq.from_cdf("theta**3*(4 - 3*theta)", 0, 1)
    short = derive_within(law, 20_000)
    assert short.verdict is Verdict.UNDECIDED
    open_claims = [claim for step in short.steps for claim in step.claims if claim.verdict is Verdict.UNDECIDED]
    told = [OUT_OF_WORK in claim.method for claim in open_claims if not isinstance(claim.left, sp.Limit)]
    assert told
    assert all(told)
    assert smq.derive(law).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "law",
    [
        smq.Triangular([0, 0, 0], [0, 0.5, 1], 1),
        pytest.param(smq.Kumaraswamy([2, 2, 3], [1, 3, 1]), marks=pytest.mark.slow),
        pytest.param(smq.Beta(2, [1, 3]), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_owners_on_both_sides_of_a_case_are_derived_case_by_case(law):
    derivation = smq.derive(law)
    assert len(derivation.parts) > 1
    assert derivation.verdict is Verdict.PROVED
    rule = derivation.threshold_function()
    if rule is not None:
        x = law.virtual_cost(law.ppf(0.3))
        assert np.allclose(rule(x, law), law.ppf(0.3), rtol=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        smq.from_cdf("theta/0.54", 0, 0.54),
        smq.from_cdf("(theta/0.54)**2*(3-2*theta/0.54)", 0, 0.54),
        smq.from_pdf("theta*(0.54 - theta)", 0, 0.54),
        smq.from_cdf("(1 - exp(-theta))/0.8646647167633873", 0, 2),
        pytest.param(smq.from_cdf("(theta - 1.15)/2.34", 1.15, 1.15 + 2.34), marks=pytest.mark.slow),
        pytest.param(smq.from_cdf("((theta - 0)/1.23)**2*(3 - 2*((theta - 0)/1.23))", 0, 1.23), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_ends_and_numbers_of_a_text_are_read_as_typed(law):
    derivation = smq.derive(law)
    assert derivation.verdict is Verdict.PROVED
    formulas = derivation.argument.law
    assert formulas.cdf.subs(formulas.theta, formulas.high).equals(1)


def test_a_composition_is_written_in_the_decimals_that_were_given():
    cost = smq.derive(smq.Mixture([smq.Beta(2, 3), smq.Uniform(0, 1)], [0.3, 0.7])).virtual_cost
    assert {number.q for number in cost.atoms(sp.Rational)} == {1}
    low, high = (smq.Truncated(smq.Triangular(0, 0.3, 1), 0.1, 0.9).regularity(), sp.Rational(9, 10))
    assert isinstance(low, Regular)
    assert smq.derive(smq.Truncated(smq.Triangular(0, 0.3, 1), 0.1, 0.9)).argument.law.high == high


@pytest.mark.parametrize("edges", [[0, 0.1, 0.3], [0, 0.1, 0.3, 0.7]])
def test_equal_densities_in_decimals_do_not_rise(edges):
    law = smq.PiecewiseUniform(edges, np.diff(edges).round(1))
    assert isinstance(law.regularity(), Regular)
    assert smq.derive(law).step("regularity").verdict is Verdict.PROVED


def test_a_sum_of_many_roots_is_not_looked_for_by_its_polynomial():
    laws = [smq.Triangular(0, 1.21, 2.62), smq.Uniform(0, 2.62), smq.Kumaraswamy(2.29, 0.75, 0, 2.62)]
    steps = {step.name: step.verdict.name for step in smq.derive(smq.Mixture(laws, [0.55, 0.21, 0.24])).steps}
    assert {"PROVED"} < set(steps.values())  # it comes back; it went on for ever
    assert steps["spend"] == "PROVED"
