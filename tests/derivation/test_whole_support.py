"""A law's formulas on its whole support: gaps, joints and ends agree with the law, and so does the verdict on J."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import smqopt as smq
from smqopt.algebra import Verdict
from smqopt.derivation import _derive
from smqopt.derivation.closed_form._agreement import disagreement
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
