"""The law of θ given ε against 30-digit arithmetic, limits in ρ, both tails, and joint samples."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import ndtr, ndtri

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation import CopulaConditional, GaussianCopula, PointMass, valuation_from_dict
from smqopt.valuation.copula._normal_scores import normal_score, valuation_at_score
from smqopt.valuation.copula._shape import GaussianLink
from smqopt.valuation.law._conformance import validate

UNIT = smq.Uniform(0, 1)


def phi(x):
    return mp.npdf(x)


def quantile(u):
    return mp.sqrt(2) * mp.erfinv(2 * u - 1)


class Exact:
    """F_i, f_i and J by mpmath, from the marginal F and f."""

    def __init__(self, rho, z, F, f):
        self.r = 2 * mp.sin(mp.pi * mp.mpf(rho) / 6)
        self.s, self.z, self.F, self.f = mp.sqrt(1 - self.r**2), mp.mpf(z), F, f

    def y(self, t):
        return (quantile(self.F(t)) - self.r * self.z) / self.s

    def cdf(self, t):
        return mp.ncdf(self.y(t))

    def pdf(self, t):
        return phi(self.y(t)) / self.s / phi(quantile(self.F(t))) * self.f(t)

    def cost(self, t):
        return t + self.cdf(t) / self.pdf(t)


MARGINALS = {
    "uniform": (smq.Uniform(0, 1), lambda t: t, lambda _: mp.mpf(1)),
    "shifted": (smq.Uniform(1, 3), lambda t: (t - 1) / 2, lambda _: mp.mpf(1) / 2),
    "power": (smq.Power(2.0), lambda t: t**2, lambda t: 2 * t),
    "exponential": (
        smq.TruncatedExponential(2.0, 0.5, 2.0),
        lambda t: (1 - mp.exp(-2 * (t - 0.5))) / (1 - mp.exp(-3)),
        lambda t: 2 * mp.exp(-2 * (t - 0.5)) / (1 - mp.exp(-3)),
    ),
}


@pytest.mark.parametrize("name", MARGINALS)
@pytest.mark.parametrize("rho", [-0.9, -0.5, -1e-3, 0.2, 0.7, 0.999])
def test_cdf_pdf_and_virtual_cost_to_thirty_digits(name, rho):
    law, F, f = MARGINALS[name]
    for z in (-6.0, -1.0, 0.0, 2.0, 6.0):
        conditional = CopulaConditional(law, rho, z)
        for share in (1e-6, 0.1, 0.5, 0.8, 0.999):
            t = float(law.low + share * (law.high - law.low))
            with mp.workdps(60):
                exact = Exact(rho, z, F, f)
                q, density, cost = exact.cdf(mp.mpf(t)), exact.pdf(mp.mpf(t)), exact.cost(mp.mpf(t))
                sensitivity = 1e-15 * float(
                    1 + abs(exact.y(mp.mpf(t))) * (abs(quantile(F(mp.mpf(t)))) + abs(z)) / exact.s**2
                )
            assert float(conditional.log_cdf(t)) == pytest.approx(
                float(mp.log(q)), rel=20 * sensitivity, abs=20 * sensitivity
            )
            if 1e-300 < q < 1 - 1e-16:
                assert float(conditional.cdf(t)) == pytest.approx(float(q), rel=100 * sensitivity)
            if 1e-290 < density < 1e290:
                assert float(conditional.pdf(t)) == pytest.approx(float(density), rel=100 * sensitivity)
            if cost < 1e290:
                assert float(conditional.virtual_cost(t)) == pytest.approx(float(cost), rel=100 * sensitivity)


def test_cdf_is_the_double_integral_of_the_joint_density():
    rho, z = -0.5, 0.8
    with mp.workdps(30):
        r = 2 * mp.sin(mp.pi * mp.mpf(rho) / 6)
        top = quantile(mp.mpf("0.3"))
        h = mp.mpf(10) ** -8
        joint = lambda x, w: mp.exp(-(x**2 - 2 * r * x * w + w**2) / (2 * (1 - r**2))) / (2 * mp.pi * mp.sqrt(1 - r**2))  # noqa: E731
        # P(θ ≤ .3, z−h < Z < z+h)/P(z−h < Z < z+h); the inner integral by Simpson's rule, error h⁴
        inner = lambda x: (joint(x, z - h) + 4 * joint(x, z) + joint(x, z + h)) * h / 3  # noqa: E731
        mass = mp.quad(inner, [-12, -4, -2, 0, top])
        share = mass / (mp.ncdf(z + h) - mp.ncdf(z - h))
    assert float(CopulaConditional(UNIT, rho, z).cdf(0.3)) == pytest.approx(float(share), rel=1e-14)


@pytest.mark.parametrize("rho", [-0.8, -0.3, 0.5])
def test_the_uniform_scores_have_pearson_correlation_rho(rho):
    """ρ = 12 E[v E[θ | v]] − 3, by Gauss-Hermite quadrature in both scores."""
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    w = weights / weights.sum()
    laws = CopulaConditional(UNIT, rho, z[np.abs(z) < 8.2])
    z, w = z[np.abs(z) < 8.2], w[np.abs(z) < 8.2]
    mean = sum(wk * laws.ppf(ndtr(yk)) for yk, wk in zip(z, w, strict=True))  # E[θ | ε]
    assert 12 * float(w @ (ndtr(z) * mean)) - 3 == pytest.approx(rho, abs=1e-9)


def test_parameter_s_does_not_cancel():
    for rho in (1 - 1e-12, -(1 - 1e-9), 0.5, 1e-9, 1.0, -1.0):
        with mp.workdps(50):
            r = 2 * mp.sin(mp.pi * mp.mpf(rho) / 6)
            exact = mp.sqrt(max(1 - r**2, 0))
        assert GaussianLink(rho).s == pytest.approx(float(exact), rel=1e-14, abs=0)


def test_joint_samples():
    rng = np.random.default_rng(11)
    for rho in (-0.9, -0.2, 0.6):
        copula = GaussianCopula(smq.Power(2.0), smq.TruncatedExponential(1.0), rho)
        epsilon, theta = copula.sample(rng, 40_000)
        u, v = copula.valuation.cdf(theta), copula.requirement.cdf(epsilon)
        assert np.corrcoef(u, v)[0, 1] == pytest.approx(rho, abs=4 / np.sqrt(40_000))
        transform = np.sort(copula.given(epsilon).cdf(theta))
        distance = np.max(np.abs(transform - (np.arange(40_000) + 0.5) / 40_000))
        assert distance < 1.95 / np.sqrt(40_000)  # Kolmogorov, p = 0.001
        again = copula.given(epsilon).sample(rng)
        assert np.corrcoef(copula.valuation.cdf(again), v)[0, 1] == pytest.approx(rho, abs=4 / np.sqrt(40_000))


def test_no_correlation_gives_the_marginal_law_itself():
    for rho in (0.0, 0, 1e-30):
        assert GaussianCopula(UNIT, UNIT, rho).given([0.1, 0.9]) is UNIT
    near = GaussianCopula(UNIT, UNIT, 1e-12).given([0.1, 0.5, 0.9])
    t = np.array([0.3, 0.5, 0.99])
    assert near.cdf(t) == pytest.approx(t, rel=1e-10)


def test_full_correlation_gives_point_masses():
    epsilon = np.array([0.0, 0.1, 0.75, 1.0])
    up, down = (GaussianCopula(smq.Uniform(1, 3), UNIT, rho).given(epsilon) for rho in (1, -1))
    assert isinstance(up, PointMass)
    assert np.asarray(up.value) == pytest.approx(1 + 2 * epsilon, rel=1e-15)
    assert np.asarray(down.value) == pytest.approx(3 - 2 * epsilon, rel=1e-15)
    assert up.cdf([1.0, 1.3, 2.4, 3.0]).tolist() == [1.0, 1.0, 0.0, 1.0]
    pieces = up.flat_pieces()
    assert pieces.slope.tolist() == np.asarray(up.value).tolist()
    assert pieces.high_acceptance.tolist() == [1.0] * 4
    market = smq.Market([0.1, 0.2, 0.3, 0.4], up)
    assert market.low.tolist() == market.high.tolist()
    near = GaussianCopula(UNIT, UNIT, -0.999_999).given([0.3])
    assert near.ppf([0.5]) == pytest.approx([0.7], abs=1e-5)
    assert near.ppf([0.99]) - near.ppf([0.01]) < 0.01


def test_point_mass_contract():
    law = PointMass([0.5, 2.0])
    assert law.ppf([0.3, 1.0]).tolist() == [0.5, 2.0]
    assert law.virtual_cost([0.5, 1.0]).tolist()[0] == 0.5
    assert law.offer(np.array([0.4, 2.0]))[1].tolist() == [0.0, 1.0]
    assert law.rescale(2.0).low.tolist() == [1.0, 4.0]
    assert law.take(np.array([1])).value.tolist() == [2.0]
    with pytest.raises(InputError, match="owner 2"):
        PointMass([1.0, -1.0])


def test_an_epsilon_at_the_end_of_its_support_is_nearly_a_point_mass():
    copula = GaussianCopula(UNIT, UNIT, -0.9)
    law = copula.given([0.0, 1.0])
    assert law.ppf([1e-9, 1e-9])[0] > 1 - 1e-6
    assert law.ppf([1 - 1e-9, 1 - 1e-9])[1] < 1e-6
    solution = smq.solve(smq.Market([0.0, 1.0], law), 0.1)
    assert smq.verify(solution).valid


@pytest.mark.parametrize("rho", [-0.95, -0.5, 0.3])
def test_tails_keep_their_relative_accuracy(rho):
    law = CopulaConditional(UNIT, rho, np.array([-6.0, 6.0]))
    q = 10.0 ** -np.arange(1.0, 14.0)[:, None]
    for levels in (q, 1 - q):
        theta = law.ppf(np.broadcast_to(levels, (13, 2)))
        inside = (theta > 1e-300) & (theta < 1 - 1e-3)
        back = law.cdf(theta)
        assert back[inside] == pytest.approx(np.broadcast_to(levels, (13, 2))[inside], rel=1e-11)
    assert law.low == 0.0
    assert law.virtual_cost([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert np.all(np.isinf(law.virtual_cost([1.0, 1.0])))
    assert np.all(np.isnan(law.virtual_cost([-0.1, 1.1])))
    assert law.pdf([0.0, 1.0]).tolist() == [0.0, 0.0]
    assert law.cdf([-1.0, 2.0]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", MARGINALS)
def test_battery(name):
    law = MARGINALS[name][0]
    validate(CopulaConditional(law, -0.6, np.linspace(-1.5, 1.5, 7)))
    validate(CopulaConditional(law, 0.4, 0.5))


@settings(max_examples=60, deadline=None)
@given(
    rho=st.floats(-0.99, 0.99).filter(lambda r: abs(r) > 1e-6),
    z=st.floats(-6, 6),
    share=st.floats(1e-3, 3.0),
    low=st.sampled_from([0.0, 1.0]),
)
def test_inverse_virtual_cost_is_the_best_response(rho, z, share, low):
    """No threshold on a grid earns more than v q − C(q) at the one returned, and J equals v there."""
    law = CopulaConditional(smq.Uniform(low, low + 2), rho, z)
    v = low + 2 * share
    theta = float(law.inverse_virtual_cost(v))
    grid = np.concatenate([law.ppf(np.linspace(0, 1, 400)), np.linspace(low, low + 2, 400)])
    gain = lambda t: (v - t) * law.cdf(t)  # noqa: E731
    assert np.max(gain(grid)) <= gain(np.array(theta)) + 1e-12
    inside = low + 1e-9 < theta < low + 2 - 1e-6
    if inside and float(law.virtual_cost(np.nextafter(theta, low + 2))) < 1e6:
        local = 1e-14 + 4 * abs(
            float(law.virtual_cost(np.nextafter(theta, 9)) - law.virtual_cost(np.nextafter(theta, 0)))
        )
        assert float(law.virtual_cost(theta)) == pytest.approx(v, rel=1e-12, abs=local)


def test_inverse_for_other_marginals_and_shapes():
    law = CopulaConditional(smq.Power(2.0), -0.5, np.array([-2.5, 0.0, 2.0]))
    v = np.array([0.7, 0.9, 0.4])
    theta = law.inverse_virtual_cost(v)
    assert law.virtual_cost(theta) == pytest.approx(v, rel=1e-12)
    stacked = law.inverse_virtual_cost(np.stack([v, v]))
    assert stacked.tolist() == [theta.tolist()] * 2
    assert law.inverse_virtual_cost(np.inf).tolist() == [1.0, 1.0, 1.0]
    assert law.inverse_virtual_cost(0.0).tolist() == [0.0, 0.0, 0.0]
    common = CopulaConditional(UNIT, -0.5, -0.3)
    assert common.inverse_virtual_cost(np.array([[0.2, 0.4]])).shape == (1, 2)


def test_owners_can_be_taken_stacked_scaled_and_written():
    law = GaussianCopula(UNIT, UNIT, -0.5).given(np.array([0.01, 0.5, 0.02, 0.9]))
    part = law.take(np.array([2, 0]))
    assert part.cdf(0.4).tolist() == law.cdf(0.4)[[2, 0]].tolist()
    law.flat_pieces()
    assert law.take(np.array([2, 0])).flat_pieces().slope.tolist() == part.flat_pieces().slope.tolist()
    again = valuation_from_dict(law.to_dict())
    assert again.cdf(0.4).tolist() == law.cdf(0.4).tolist()
    assert again.to_dict() == law.to_dict()
    singles = [CopulaConditional(UNIT, -0.5, float(z)) for z in law.score]
    gathered = smq.ByOwner(singles)
    assert len(list(gathered.parts())) == 1
    assert gathered.cdf(0.4).tolist() == law.cdf(0.4).tolist()
    twice = law.rescale(2.0)
    assert twice.virtual_cost(0.8) == pytest.approx(2 * law.virtual_cost(0.4), rel=1e-14)
    points = valuation_from_dict(PointMass([1.0, 2.0]).to_dict())
    assert points.ppf(0.5).tolist() == [1.0, 2.0]


def test_marginal_laws_one_an_owner():
    marginal = smq.Uniform([0.0, 1.0], [1.0, 5.0])
    law = GaussianCopula(marginal, UNIT, -0.5).given([0.2, 0.05])
    single = GaussianCopula(smq.Uniform(1, 5), UNIT, -0.5).given(0.05)
    assert float(law.cdf([0.3, 2.0])[1]) == float(single.cdf(2.0))
    pieces, one = law.flat_pieces(), single.flat_pieces()
    assert pieces.owner.tolist() == [1]
    assert pieces.slope == pytest.approx(one.slope, rel=1e-14)


def test_normal_scores_keep_both_tails():
    for law in (smq.Uniform(0, 1), smq.TruncatedExponential(3.0)):
        x = np.array([-8.0, -3.0, 0.0, 3.0])
        assert normal_score(law, valuation_at_score(law, x)) == pytest.approx(x, rel=1e-12, abs=1e-15)
    assert float(normal_score(UNIT, 1 - 2.0**-53)) == pytest.approx(-float(ndtri(2.0**-53)), rel=1e-15)
    assert float(ndtr(normal_score(UNIT, 1e-200))) == pytest.approx(1e-200, rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"correlation": 1.5}, "in \\[−1, 1\\]"),
        ({"correlation": float("nan")}, "in \\[−1, 1\\]"),
        ({"correlation": "high"}, "in \\[−1, 1\\]"),
        ({"valuation": 3.0}, "must be a law"),
        ({"requirement": None}, "must be a law"),
    ],
)
def test_bad_copulas_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        GaussianCopula(**{"valuation": UNIT, "requirement": UNIT, "correlation": -0.5, **arguments})


@pytest.mark.parametrize("epsilon", [[0.5, 1.2], [0.5, -0.1], [0.5, float("nan")], [], ["a"], [[0.5]]])
def test_bad_requirements_are_refused(epsilon):
    with pytest.raises(InputError, match="epsilon"):
        GaussianCopula(UNIT, UNIT, -0.5).given(epsilon)


def test_bad_conditional_laws_are_refused():
    for correlation, score in ((0.0, 0.5), (1.0, 0.5), (0.5, 9.0), (0.5, float("inf"))):
        with pytest.raises(InputError):
            CopulaConditional(UNIT, correlation, score)
    with pytest.raises(InputError, match="shape"):
        CopulaConditional(smq.Uniform([0.0, 0.0], [1.0, 2.0]), 0.5, 0.1)
