"""Laws under a Gaussian copula in balls: against mpmath, and proved where F has an infinite density."""

import mpmath
import numpy as np
import pytest
from flint import arb

import smqopt as smq
from smqopt.numeric import precision
from smqopt.valuation import ORDER, ball_law, piece_law

MARGINALS = {
    "uniform": (smq.Uniform(0, 1), lambda t: t),
    "beta": (smq.Beta(0.5, 2), lambda t: mpmath.betainc(0.5, 2, 0, t, regularized=True)),
    "power": (smq.Power(0.5), mpmath.sqrt),
}


def given(law, epsilon=(0.2, 0.5, 0.9), rho=-0.5):
    return smq.GaussianCopula(valuation=law, requirement=smq.Uniform(0.1, 1), correlation=rho).given(np.array(epsilon))


@pytest.mark.parametrize("name", MARGINALS)
def test_balls_hold_the_cdf_and_its_taylor_coefficients(name):
    law, marginal = MARGINALS[name]
    copula = given(law)
    with mpmath.workdps(40), precision(192):
        r = 2 * mpmath.sin(mpmath.pi * mpmath.mpf(-0.5) / 6)
        z = mpmath.mpf(float(copula.score[0]))

        def cdf(t):
            x = mpmath.sqrt(2) * mpmath.erfinv(2 * marginal(t) - 1)
            return mpmath.ncdf((x - r * z) / mpmath.sqrt(1 - r * r))

        own, (piece,) = ball_law(copula)(0), piece_law(copula)(0)
        for t in (0.125, 0.5, 0.875):
            right = mpmath.taylor(cdf, mpmath.mpf(t), ORDER - 1)
            found = piece.taylor(arb(t), arb(t))
            for k, (one, other) in enumerate(zip(found, right, strict=True)):
                assert one.is_finite()
                assert abs(float(one.mid()) - float(other)) <= 1e-9 * (1 + abs(float(other))), (t, k)
            assert float(own.cdf(arb(t)).mid()) == pytest.approx(float(right[0]), rel=1e-15)
            assert float(own.pdf(arb(t)).mid()) == pytest.approx(float(right[1]), rel=1e-15)


@pytest.mark.parametrize(
    "law",
    [
        smq.Uniform(0, 1),
        smq.Beta(0.5, 2),
        smq.Power(0.5),
        pytest.param(smq.Beta(0.5, 0.5), marks=pytest.mark.slow),
        pytest.param(smq.Gamma(0.5, 1, 0, 10), marks=pytest.mark.slow),
        pytest.param(smq.LogNormal(0, 1, 0, 5), marks=pytest.mark.slow),
    ],
)
def test_copulas_are_proved(law):
    certificate = smq.verify(smq.solve(smq.Market([0.2, 0.5, 0.9], given(law)), 0.1 * float(law.high)))
    assert certificate.grade == "proved", certificate.unproved
    assert certificate.gap <= 1e-14


def test_atoms_under_a_copula_are_not_proved():
    mixed = smq.Mixture([smq.PointMass(0.5), smq.Uniform(0, 1)], [0.3, 0.7])
    assert "atoms" in ball_law(given(mixed))
