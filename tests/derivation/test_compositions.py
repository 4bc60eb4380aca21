"""Mixtures and truncations: weights that add to 1, work that is bounded, and nothing true refuted."""

import contextlib
import time
from itertools import combinations

import numpy as np
import pytest

import smqopt as smq
from smqopt.algebra import Verdict, within_limit, work_budget
from smqopt.derivation.law._law_formulas import spelled_by_text, weight_groups
from smqopt.valuation import Regular

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
        pass


def test_work_beyond_its_limit_is_given_up():
    with work_budget(0.2):
        assert within_limit(lambda: 1, 0) == 1
        assert within_limit(forever, "given up") == "given up"
        assert within_limit(lambda: 1, 0) == 0  # nothing is left of the budget
    assert within_limit(lambda: 1, 0) == 1


def test_giving_up_is_tried_again_where_it_was_lost():
    """As a finaliser or a callback of the garbage collector loses it."""

    def spin(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    def deaf_once():
        with contextlib.suppress(BaseException):
            spin(5.0)
        spin(5.0)
        return "done"

    with work_budget(0.05):
        assert within_limit(deaf_once, "given up") == "given up"
