import numpy as np
import pytest

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation import valuation_from_dict

LAWS = [smq.Uniform(0, 1), smq.Power(2), smq.Uniform(1, 3), smq.TruncatedExponential(2.0), smq.Power(0.5, 1, 2)]


def test_each_owner_has_her_own_law():
    law = smq.ByOwner(LAWS)
    q = np.linspace(0.1, 0.9, len(LAWS))
    theta = np.array([float(own.ppf(u)) for own, u in zip(LAWS, q, strict=True)])
    assert law.ppf(q) == pytest.approx(theta, rel=4e-16)
    for method, argument in (
        ("cdf", theta),
        ("pdf", theta),
        ("virtual_cost", theta),
        ("inverse_virtual_cost", 2 * theta),
    ):
        expected = [float(getattr(own, method)(x)) for own, x in zip(LAWS, argument, strict=True)]
        assert getattr(law, method)(argument) == pytest.approx(expected, rel=4e-16)
    assert law.low.tolist() == [0, 0, 1, 0, 1]
    assert law.high.tolist() == [1, 1, 3, 1, 2]


def test_owners_of_a_family_are_gathered():
    assert [part.size or len(owners) for part, owners in smq.ByOwner(LAWS).parts()] == [2, 2, 1]
    formulas = [smq.from_cdf("theta**a", 0, 1, a=a) for a in (1.0, 2.0, 3.0)]
    assert len(list(smq.ByOwner(formulas).parts())) == 1


def test_one_owner():
    law = smq.ByOwner([smq.Uniform(0, 2)])
    assert law.size == 1
    assert law.cdf(1.0).tolist() == [0.5]


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ([], "at least one law"),
        ([smq.Uniform(), "uniform"], "owner 2: must be a law"),
        ([smq.Power([1.0, 2.0])], "owner 1: must have scalar parameters"),
    ],
)
def test_bad_laws(laws, message):
    with pytest.raises(InputError, match=message):
        smq.ByOwner(laws)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "must name a law"),
        ({"law": 5}, "must name a law"),
        ({"law": "unifrom"}, "did you mean 'uniform'"),
        ({"law": "uniform", "lo": 0, "high": 1}, "did you mean 'low'"),
        ({"law": "power", "low": 0, "high": 1}, "lacks a parameter"),
        ({"law": "uniform", "low": 1, "high": 0}, "must exceed low"),
        ({"law": "uniform", "low": "0", "high": 1}, "must be a number"),
        ({"cdf": '__import__("os").system("true")', "low": 0, "high": 1}, "no formula has"),
        ({"law": "rescaled", "factor": -1, "valuation": {"law": "uniform", "low": 0, "high": 1}}, "must be positive"),
        ({"law": "rescaled", "valuation": {"law": "uniform", "low": 0, "high": 1}}, "is missing"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(InputError, match=message) as error:
        valuation_from_dict(table)
    assert "\n" not in str(error.value)
