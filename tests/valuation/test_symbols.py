import numpy as np
import pytest
import sympy as sp

import smqopt as smq
from smqopt.algebra import THETA, rational
from smqopt.errors import InputError
from smqopt.valuation import HIGH, LOW
from smqopt.valuation.expression._symbolic_law import WIDTH, symbolic_law

LAWS = [
    smq.Uniform(1, 2),
    smq.Power([1.5, 2.0], low=0.25, high=[1.0, 2.0]),
    smq.TruncatedExponential(rate=2, low=0.5, high=3),
    smq.from_cdf("theta**a", 0, 1, a=[0.5, 2.0]),
    smq.from_cdf("((theta - low)/(high - low))**2", 0.5, [1.0, 2.0]),
    smq.from_cdf("theta**2*(3-2*theta)", 0, 1).rescale(3.0),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_exact_law_of_an_owner_is_the_law(law):
    owner = None if law.size is None else 1
    exact = symbolic_law(law).at(owner)
    low, high = (float(np.broadcast_to(end, 2)[1]) for end in (law.low, law.high))
    assert exact.low == rational(low)
    assert exact.high == rational(high)
    for share in (0.25, 0.5, 0.75):
        t = low + share * (high - low)
        at = {exact.theta: rational(t)}
        assert float(exact.cdf.evalf(30, subs=at)) == pytest.approx(float(np.broadcast_to(law.cdf(t), 2)[1]), rel=1e-14)
        assert float(exact.pdf.evalf(30, subs=at)) == pytest.approx(float(np.broadcast_to(law.pdf(t), 2)[1]), rel=1e-14)


@pytest.mark.parametrize("law", LAWS[:3], ids=repr)
def test_the_generic_law_serves_all_owners(law):
    generic = symbolic_law(law)
    assert (generic.low, generic.high) == (LOW, HIGH)
    assert {"low", "high"} <= set(generic.parameters)
    spelt = generic.with_width()
    assert sp.expand(spelt.high - spelt.low) == WIDTH == spelt.width
    assert sp.simplify(spelt.without_width(spelt.cdf) - generic.cdf) == 0
    assert sp.simplify(sp.diff(spelt.cdf, THETA) - spelt.pdf) == 0


def test_ends_of_a_formula_are_exact_numbers():
    generic = symbolic_law(LAWS[3])
    assert (generic.low, generic.high) == (0, 1)
    assert generic.parameters == {"a": sp.Symbol("a", positive=True)}
    assert generic.with_width() is generic


def test_an_owner_must_be_named():
    with pytest.raises(InputError, match="say which owner"):
        symbolic_law(LAWS[1]).at()


def test_different_laws_have_no_one_formula():
    with pytest.raises(InputError, match="no one formula"):
        symbolic_law(smq.ByOwner([smq.Uniform(), smq.Power(2)]))
