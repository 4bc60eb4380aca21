"""A law's formulas on its whole support: gaps, joints and ends agree with the law, and so does the verdict on J."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import Verdict
from smqopt.derivation import _derive
from smqopt.derivation.closed_form._agreement import disagreement
from smqopt.derivation.closed_form._comparison import fails, instances_of
from smqopt.valuation import Irregular, Regular
from smqopt.valuation.formulas._exact_pieces import exact_pieces
from smqopt.valuation.formulas._law_formulas import join
from smqopt.valuation.formulas._symbolic_forms import formulas_of

PARTS = [smq.Uniform(0, 1), smq.Uniform(2, 3), smq.Power(2, 0, 2), smq.Triangular(1, 1.5, 4), smq.Uniform(0.5, 1)]
HISTOGRAMS = [smq.PiecewiseUniform([0.5, 1, 2, 4, 5], [*masses, 1]) for masses in product((0, 1, 4), repeat=3)]
MIXTURES = [smq.Mixture(pair, [0.9, 0.1]) for pair in combinations(PARTS, 2)]
TRUNCATIONS = [
    smq.Truncated(law, low, high)
    for law in [*HISTOGRAMS[:4], *MIXTURES[:3]]
    for low, high in ((0.6, 4.5), (0.75, 2.5))
    if law.low < high and law.high > low and law.cdf(high) > law.cdf(low)
]
LAWS = [*HISTOGRAMS, *MIXTURES, *TRUNCATIONS]
NAMED = [
    smq.PiecewiseUniform([0.5, 1, 2, 4], [4, 0, 1]),
    smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [0.9, 0.1]),
    smq.Truncated(smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 1]), 0.5, 2.5),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_formulas_are_the_law_on_the_whole_support(law):
    pieces = exact_pieces(law)
    assert [piece.low for piece in pieces[1:]] == [piece.high for piece in pieces[:-1]]
    assert (float(pieces[0].low), float(pieces[-1].high)) == (law.low, law.high)
    assert disagreement(formulas_of(law), law) == ""
    gaps = [piece for piece in pieces if piece.is_gap]
    assert all(np.isinf(law.virtual_cost(float(piece.low + piece.high) / 2)) for piece in gaps)


@pytest.mark.parametrize("law", NAMED, ids=repr)
def test_a_law_with_a_gap_is_irregular(law):
    derivation = smq.derive(law)
    assert isinstance(law.regularity(), Irregular)
    assert derivation.step("regularity").verdict is Verdict.REFUTED
    assert "F is flat" in derivation.step("regularity").method
    assert derivation.step("law").verdict is Verdict.PROVED
    assert derivation.threshold_rule is None


@pytest.mark.parametrize("law", [*HISTOGRAMS[::4], *MIXTURES[::3], *TRUNCATIONS[::4]], ids=repr)
def test_the_derivation_decides_as_the_law_does(law):
    expected = {Regular: Verdict.PROVED, Irregular: Verdict.REFUTED}
    verdict = law.regularity()
    if type(verdict) in expected:
        assert smq.derive(law).step("regularity").verdict is expected[type(verdict)]


def test_formulas_of_another_law_are_refuted(monkeypatch):
    law = NAMED[0]
    known = exact_pieces(law)
    closed = (known[0], replace(known[2], low=known[0].high))  # the gap is handed to the next piece
    assert "by the law" in disagreement(join(closed), law)
    monkeypatch.setattr(_derive, "disagreement", lambda *_: "F is another")
    assert smq.derive(law).step("law").verdict is Verdict.REFUTED


THIRD = 0.1 + 0.2
BESIDE = {
    "cut beside a joint": smq.Truncated(
        smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0, 1.1)], [0.3, 0.7]), 0.1, THIRD
    ),
    "cut from just before a joint": smq.Truncated(
        smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0, 1.1)], [0.3, 0.7]), np.nextafter(0.3, 0), 0.9
    ),
    "joints side by side": smq.Mixture(
        [smq.Uniform(0, 0.3), smq.Uniform(0, THIRD), smq.Uniform(0, 1.1)], [0.3, 0.3, 0.4]
    ),
    "an edge beside an edge": smq.PiecewiseUniform([0, 0.3, THIRD, 1.0], [3, 1e-16, 1]),
    "a piece of two doubles": smq.PiecewiseUniform([0, 1, 1 + 4e-16, 2], [1, 1, 1]),
    "a level at an edge": smq.PiecewiseUniform([0, 1, 3], [0.23, 0.77]),
    "a cut at a joint": smq.Truncated(smq.Mixture([smq.Uniform(0, 0.3), smq.Uniform(0, 1.1)], [0.3, 0.7]), 0.1, 0.3),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_is_true_a_double_beside_a_joint_is_not_refuted(name):
    found = smq.derive(BESIDE[name])
    falls = name in ("a level at an edge", "a piece of two doubles")
    allowed = {"regularity", "threshold"} if falls else set()
    assert {step.name for step in found.steps if step.verdict is Verdict.REFUTED} <= allowed


def test_a_cut_at_a_joint_has_the_density_below_it():
    law = BESIDE["a cut at a joint"]
    assert law.pdf([0.2, 0.3]).tolist() == [law.pdf(0.2)] * 2
    np.testing.assert_allclose(law.virtual_cost(0.3), 0.5)


@pytest.mark.parametrize(
    ("beyond", "verdict"),
    [
        (smq.Power(2, 2.2, 3.3), Verdict.PROVED),
        (smq.Uniform(2.2, 3.3), Verdict.REFUTED),
        (smq.Power(0.5, 2.2, 3.3), Verdict.REFUTED),
    ],
)
def test_beyond_a_gap_the_cost_is_infinite_where_the_density_starts_at_0(beyond, verdict):
    law = smq.Mixture([smq.Uniform(0, 1.1), beyond], [0.9, 0.1])
    step = smq.derive(law).step("regularity")
    assert step.claims[-1].verdict is verdict
    assert step.verdict is Verdict.REFUTED


def test_a_step_of_many_families_has_the_worst_verdict():
    law = smq.Beta(2, [2, 1, 0.5], 0, 1.7)
    found = smq.derive(law)
    assert found.step("regularity").verdict is Verdict.REFUTED is found.verdict
    assert law.regularity().owner == 2
    assert any("for owner 3" in claim.method for claim in found.step("regularity").claims)
    with pytest.raises(KeyError):
        found.step("none")


def test_a_bound_is_a_joint_even_where_no_value_tells():
    law = smq.Mixture([smq.Triangular(0.47, 0.47, 2.65), smq.Uniform(0.99, 2.66)], [0.3, 0.7])
    found = smq.derive(law)
    shown = found.step("law").equations[0]
    instances = instances_of(law, found.argument.law)
    *cases, last = shown.right.args
    for factor in (sp.Rational(1001, 1000), sp.Rational(6, 5)):
        value, condition = cases[-1]
        symbol, bound = condition.args
        moved = (*cases[:-1], (value, condition.func(symbol, bound * factor)), last)
        assert fails(replace(shown, right=sp.Piecewise(*moved, evaluate=False)), "law", instances)
    assert not fails(shown, "law", instances)
