"""Laws at parameters where a formula taken at its word underflows, overflows, cancels or takes for ever."""

import time

import mpmath
import numpy as np
import pytest
import scipy.stats

import smqopt as smq
from smqopt.errors import InputError
from smqopt.valuation.truncation._standard_gamma import StandardGamma

RNG = np.random.default_rng(41)


def agrees(law, F, S, theta, rel=4e-13):
    assert law.cdf(theta) == pytest.approx([float(F(t)) for t in theta], rel=rel)
    assert np.exp(law.log_survival(theta)) == pytest.approx([float(S(t)) for t in theta], rel=rel)


def gamma_masses(law):
    k = mpmath.mpf(law.shape)

    def mass(s, t):
        return mpmath.gammainc(k, mpmath.mpf(s) / mpmath.mpf(law.scale), mpmath.mpf(t) / mpmath.mpf(law.scale))

    total = mass(law.low, law.high)
    return lambda t: mass(law.low, t) / total, lambda t: mass(t, law.high) / total


@pytest.mark.parametrize("k", [1e-9, 1e-6, 5e-4, 1e-3, 1e-2])
def test_gamma_of_a_tiny_shape(k):
    with mpmath.workdps(50):
        for low, high in ((0.0, 10.0), (1e-3, 10.0), (1.0, 2.0)):
            law = smq.Gamma(k, 1, low, high)
            theta = np.unique(low + (high - low) * np.array([1e-200, 1e-100, 1e-5, 0.1, 0.5, 0.9, 1 - 1e-9]))
            agrees(law, *gamma_masses(law), theta[theta > low])
    law = smq.Gamma(k, 1, 0, 10)
    assert np.all((law.cdf([5e-324, 1e-310, 1e-300]) > 0) & (law.cdf([5e-324, 1e-310, 1e-300]) < 1))
    assert smq.verify(smq.solve(smq.Market([0.5], smq.Gamma(k, 1, 0, 10)), 0.1)).valid


@pytest.mark.parametrize("k", [1, 1.5, 5.5, 31.9, 32, 100, 1e3, 1e4])
def test_mills_ratios_of_the_gamma_law(k):
    """Both by 64 nodes from shape 32 on, to the last digits, and as many evaluations for every shape."""
    parent = StandardGamma(k)
    with mpmath.workdps(40):
        for t in float(parent.centre) * np.array([1, 1.01, 1.3, 2]):
            density = mpmath.mpf(t) ** (k - 1) * mpmath.exp(-mpmath.mpf(t))
            right = float(mpmath.gammainc(k, t, mpmath.inf) / density)
            assert float(parent.upper_ratio(np.asarray(t))) == pytest.approx(right, rel=1e-15)
        for t in float(parent.centre) * np.array([1, 0.99, 0.7, 0.1]):
            right = float(mpmath.hyp1f1(1, mpmath.mpf(k) + 1, t) * t / k)
            assert float(parent.lower_ratio(np.asarray(t))) == pytest.approx(right, rel=1e-15)


@pytest.mark.parametrize("law", [smq.Gamma(1e6, 1e-6, 0, 1), smq.Gamma(1000, 0.357, 0, 420)], ids=["1e6", "1000"])
def test_gamma_laws_of_a_large_shape_are_proved(law):
    epsilon = np.linspace(0.1, 1, 30)
    assert smq.verify(smq.solve(smq.Market(epsilon, law), 4.5 * law.high)).grade == "proved"


@pytest.mark.parametrize(
    ("k", "scale", "low", "high"), [(50, 1, 0, 1e-7), (50, 1, 5e-8, 1e-7), (500, 1, 0, 0.01), (20, 3, 0, 1e-9)]
)
def test_weibull_whose_hazard_underflows(k, scale, low, high):
    law = smq.Weibull(k, scale, low, high)

    def F(t):
        return (mpmath.mpf(t) ** k - mpmath.mpf(low) ** k) / (mpmath.mpf(high) ** k - mpmath.mpf(low) ** k)

    with mpmath.workdps(40):
        theta = low + (high - low) * np.array([0.5, 0.9, 0.999])
        agrees(law, F, lambda t: 1 - F(t), theta)
        assert law.ppf(law.cdf(theta)) == pytest.approx(theta, rel=1e-14)
    assert smq.verify(smq.solve(smq.Market([0.5, 1.0], law), 0.5 * high)).valid


def test_densities_of_uneven_beta_laws():
    """1,000 pairs of shapes from 1e-3 to 1e5, at a draw of each."""
    with mpmath.workdps(40):
        for _ in range(1000):
            a, b = 10 ** RNG.uniform(-3, 5, 2)
            x = float(RNG.beta(a, b))
            if not 1e-300 < x < 1:
                continue
            a_exact, b_exact, t = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
            exact = t ** (a_exact - 1) * (1 - t) ** (b_exact - 1) / mpmath.beta(a_exact, b_exact)
            assert float(smq.Beta(a, b).pdf(x)) == pytest.approx(float(exact), rel=3e-13), (a, b, x)


def test_quantiles_at_a_pole():
    assert float(smq.Beta(2, 0.02).ppf(0.6)) == 1.0  # F just below 1 is .497
    assert float(smq.Beta(1e-3, 100).ppf(0.1)) == 5e-324
    start = time.perf_counter()
    smq.Beta(1e-3, 100).ppf(np.linspace(0.05, 0.95, 19))
    assert time.perf_counter() - start < 2.0


def test_quantiles_ask_for_f_a_bounded_number_of_times(monkeypatch):
    law = smq.Mixture(
        [smq.Mixture([smq.Gamma(0.3, 1, 0, 4), smq.Beta(0.1, 3)], [1, 2]), smq.PiecewiseUniform([0, 1, 3], [1, 9])],
        [1, 1],
    )
    asked = []
    tail = type(law)._log_survival
    monkeypatch.setattr(
        type(law), "_log_survival", lambda self, theta: asked.append(np.size(theta)) or tail(self, theta)
    )
    law.ppf(RNG.random(500))
    assert sum(asked) <= 30 * 500


@pytest.mark.parametrize(
    ("distribution", "low", "high"),
    [
        (scipy.stats.gamma(400, loc=-17, scale=0.05), 0.5, 2),
        (scipy.stats.pareto(0.01), 1, 10),
        (scipy.stats.norm(), 50, 60),
        (scipy.stats.weibull_min(0.12), 0, 5),
        (scipy.stats.weibull_min(0.05), 0, 5),
        (scipy.stats.beta(1e-3, 1e-3), 0, 1),
    ],
    ids=lambda x: getattr(getattr(x, "dist", None), "name", str(x)),
)
def test_sound_scipy_laws_are_taken(distribution, low, high):
    law = smq.from_scipy(distribution, low, high)
    u = np.array([1e-9, 0.01, 0.3, 0.7, 0.99])
    theta = law.ppf(u)
    assert np.all((law.cdf(np.nextafter(theta, -1)) <= u) & (u <= law.cdf(np.nextafter(theta, 99)) * (1 + 1e-12)))


def test_a_density_that_scipy_sums_wrongly():
    law = smq.from_scipy(scipy.stats.norminvgauss(5027.8, -457, 3.35, 23.8), 0, 30)
    truth = [0.022257157463749171388, 0.52593097438468915102, 0.89445311008336015332]  # mpmath, 40 digits
    assert law.cdf([0.5, 1.2, 1.6]) == pytest.approx(truth, rel=0, abs=1e-12)


def test_supports_of_very_different_widths_in_one_law():
    law = smq.TruncatedExponential(2.0, 0.0, [1e9, 1.0])
    assert smq.verify(smq.solve(smq.Market([0.3, 0.4], law), 0.1)).valid


@pytest.mark.parametrize(
    "values", [[True, False, True], np.array([True, False]), [1.0, None], np.ma.masked_equal([1.0, 2.0, 9.0], 9.0)]
)
def test_samples_that_are_no_numbers_are_refused(values):
    with pytest.raises(InputError, match=r"must be a number|masked"):
        smq.from_samples(values)


def test_the_plain_empirical_law_keeps_its_heaps():
    """Three in ten answer 0: a histogram spreads them, and buys a fourth of what is free."""
    values = np.concatenate([np.zeros(30), np.repeat([1.0, 2.0, 5.0, 10.0], [20, 20, 20, 10])])
    law = smq.empirical_law(values)
    certificate = smq.verify(smq.solve(smq.Market(np.ones(10), law), 1.0))
    assert certificate.valid
    assert certificate.grade == "proved"
    assert certificate.lower_bound >= 10 * 0.3
    assert np.mean(values <= 0) == float(law.cdf(0.0)) == 0.3


def test_deep_mixtures_ask_each_law_once(monkeypatch):
    """Both tails of each level from both tails of the next would double the work with every level."""
    law = smq.Uniform(0, 1)
    for k in range(14):
        law = smq.Mixture([law, smq.Gamma(1.0 + k, 0.2, 0, 1)], [1, 1])
    asked = []
    tail = smq.Uniform._log_survival
    monkeypatch.setattr(smq.Uniform, "_log_survival", lambda self, theta: asked.append(1) or tail(self, theta))
    law.log_cdf(np.linspace(0, 1, 9))
    assert len(asked) == 1
