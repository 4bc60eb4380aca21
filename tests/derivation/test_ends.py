"""What stands at an end of the support, without powers that SymPy would multiply out."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import Verdict
from smqopt.algebra.decision._reduction import _is_zero_in_letters
from smqopt.derivation import proved_threshold_rule
from smqopt.derivation.argument._limits import value_at
from smqopt.derivation.closed_form._solved_instance import has_bounded_cost

x = sp.Symbol("x", real=True)


def test_the_log_of_a_power_stays_a_product():
    power = sp.log((x + 1) ** (x + sp.Rational(1, 3)))
    assert value_at(power, x, sp.Integer(1)) == sp.Rational(4, 3) * sp.log(2)
    assert value_at(power, x, sp.Integer(0)) == 0
    assert value_at(sp.log((x - 3) ** 2), x, sp.Integer(1)) == sp.log(4)  # a whole power says nothing of the sign


def test_a_logarithm_with_long_numbers_comes_to_an_end():
    """Its J simplifies to the log of a power whose base and exponent are doubles: (p/q)^(r/s) would have 10¹⁵ digits."""
    law = smq.from_cdf(
        "log(1 + c*((theta - low)/(high - low)))/log(1 + c)", low=0.0, high=2.8991294626913238, c=1.143621162539272
    )
    assert proved_threshold_rule(law) is None  # found out at once
    assert smq.verify(smq.solve(smq.Market([0.5, 1.0], law), 1.0)).valid


@pytest.mark.parametrize("law", [smq.Beta(2, 0.5), smq.Beta(1.3, 0.7, 0.5, 2), smq.Kumaraswamy(1.7, 0.6)], ids=repr)
def test_a_density_without_bound_lets_the_cost_end_at_high(law):
    derivation = smq.derive(law)
    assert derivation.argument.cost_at_high == derivation.argument.law.high
    assert derivation.step("slackness").verdict is Verdict.PROVED  # though the law is irregular
    assert derivation.step("law").verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("b**(a - 1) - b**a/b", True),
        ("(1 - b**a)**(a - 1)*(1 - b**a) - (1 - b**a)**a", True),
        ("sqrt(b + 1)**3 - sqrt(b + 1)*(b + 1)", True),
        ("exp(2*a) - exp(a)**2", True),
        ("(b + 1)**Rational(1, 3)*(b + 1)**Rational(2, 3) - b - 1", True),
        ("tanh(b)**2 + 1/cosh(b)**2 - 1", True),
        ("2*sinh(a*b)*cosh(a*b) - sinh(2*a*b)", True),
        ("sin(b)**2 - (1 - cos(2*b))/2", True),
        ("tan(b)*cos(b) + sin(b)", False),
        ("log(sqrt(b) + 1) - log(1 + sqrt(b)*b**a/b**a)", True),
        ("sqrt(b)*log(sqrt(b) + b) - b", False),
        ("b**(a - 1) - b**a", False),
        ("sqrt(b + 1)**3 - sqrt(b + 1)*b", False),
        ("sqrt(a**2/(b + 1)**2 + 2*a/(b + 1) + 1) - a/(b + 1) - 1", True),
        ("sqrt(a**3 + a**2*b) - a*sqrt((a**2 - b**2)/(a - b))", True),
        ("sqrt((a - b)**2 + 0*a) + b - a", False),
        ("(a*b + b)**(1/3)*(a*b + b)**(2/3) - b*(a + 1)", True),
        ("(a + 1)/(sqrt(b + a)*sqrt(a + b) - a - b)", False),
        ("sqrt(sqrt(a) + sqrt(b))**4 - a - b - 2*sqrt(a*b)", True),
        ("(a + b)**1000 - (b + a)**999*(a + b + 1)", False),
    ],
)
def test_powers_of_one_base_are_told_apart(form, shown):
    a, b = sp.symbols("a b", positive=True)
    expression = sp.sympify(form, {"a": a, "b": b})
    assert _is_zero_in_letters(expression) is shown


def test_a_density_that_vanishes_but_for_roundings_refutes_nothing():
    """(2.55 − 1.39)/1.16 is 1 beside one rounding, whose power 0.3 is no longer small."""
    law = smq.from_cdf("1 - (1 - ((theta - 1.39)/1.16)**3)**1.3", low=1.39, high=2.55)
    assert not has_bounded_cost(law)
    assert smq.derive(law).verdict is Verdict.PROVED
    assert has_bounded_cost(smq.Power(2))
    assert has_bounded_cost(smq.Uniform(1e6, 1e6 + 1))


def test_a_root_below_nought_by_a_rounding_leaves_a_cost_at_high():
    law = smq.from_cdf("1 - (1 - (theta/1.85)**2)**1.3", low=0.0, high=1.85)
    assert law.virtual_cost(1.85) > 1.85
    assert smq.derive(law).verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        smq.Gamma(170, 0.02, 0, 9),
        smq.Gamma(170, 0.02, 0.5, 9),
        smq.Truncated(smq.Gamma(200, 0.01, 0, 5), 1, 3),
        smq.Gamma(100.5, 0.01, 0, 2),
        smq.Beta(60, 80),
        smq.Weibull(150, 0.01, 0, 1),
    ],
    ids=repr,
)
def test_large_shapes_overflow_no_double_and_refute_nothing(law):
    """Γ(200) and 0.02^170 are no doubles; as a sum of 200 terms F is too deep for SymPy."""
    assert smq.derive(law).verdict is Verdict.PROVED


@pytest.mark.slow
def test_a_composition_with_a_long_sum_is_refused():
    law = smq.Mixture([smq.Gamma(150, 0.01, 0, 1), smq.Uniform(0, 2)], [0.5, 0.5])
    with pytest.raises(smq.InputError, match="no formula in symbols"):
        smq.derive(law)


@pytest.mark.slow
def test_the_high_end_keeps_its_case_where_its_cost_hangs_on_the_owner():
    """J(1) is 2 for a = 1, and infinite for a > 1."""
    law = smq.from_cdf("theta**a/(theta**a+(1-theta)**a)", 0, 1, a=np.array([1.0, 1.5, 2.0]))
    derivation = smq.derive(law)
    assert not [step.name for step in derivation.steps if step.verdict is Verdict.REFUTED]
    rule = derivation.step("threshold").equations[-1].right
    assert [value for value, _ in rule.args[:-1]] == [0, 1]
