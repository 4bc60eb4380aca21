"""What is decided without costly algebra is what that algebra finds."""

import pytest

import smqopt as smq
from smqopt.derivation.argument._build import _has_no_closed_inverse, _virtual_cost, domain_of, general_argument
from smqopt.derivation.argument._inversion import invert
from smqopt.valuation import LAWS, candidates, valuation_from_dict

WITHOUT = (
    smq.Gamma(2, 1, 0, 5),
    smq.Weibull(2, 1, 0, 3),
    smq.Normal(0.5, 0.2, 0, 1),
    smq.from_cdf("(exp(theta**2) - 1)/(exp(1) - 1)", low=0, high=1),
)
WITH = (
    smq.Weibull(1, 1, 0, 3),
    smq.Gamma(1, 1, 0, 5),
    smq.from_cdf("(exp(2*theta) - 1)/(exp(2) - 1)", low=0, high=1),
)


@pytest.mark.parametrize("law", WITHOUT, ids=repr)
def test_some_form_is_refused(law):
    assert any(_has_no_closed_inverse(formulas) for formulas, _ in candidates(law))


@pytest.mark.parametrize("name", [name for name in LAWS if name not in ("point-mass", "discrete")])
def test_what_is_refused_has_no_closed_inverse(name):
    law = valuation_from_dict({"law": name, **LAWS[name][2]})
    for one in (law, *WITHOUT, *WITH) if name == "uniform" else (law,):
        for formulas, _ in candidates(one):
            if not formulas.pieces and _has_no_closed_inverse(formulas):
                assert invert(_virtual_cost(formulas), formulas.theta, domain_of(formulas)) is None


@pytest.mark.slow
@pytest.mark.parametrize("law", WITH[:2], ids=repr)
def test_closed_inverses_are_found(law):
    assert smq.derive(law).threshold is not None


def test_the_general_argument_is_made_once():
    assert general_argument() is general_argument()
