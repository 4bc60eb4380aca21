"""Laws taken from scipy: against mpmath in both tails, against the laws by name, and what is refused."""

# ruff: noqa: ARG002 - scipy calls the functions of a distribution with all its parameters

import subprocess
import sys
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import scipy.stats as st
from round_trip import solved_and_loaded
from scipy.integrate import quad

import smqopt as smq


def survival(t):
    return mpmath.erfc(mpmath.mpf(t) / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("whole", [st.norm(0, 1), st.norm(), st.Normal(mu=0, sigma=1)], ids=["frozen", "bare", "new"])
@pytest.mark.parametrize("level", [1e-12, 0.1, 0.9, 1 - 2.0**-30])
def test_quantiles_far_out(whole, level):
    F = smq.from_scipy(whole, 8, 9)
    with mpmath.workdps(40):
        u, total = mpmath.mpf(level), survival(8) - survival(9)
        root = mpmath.findroot(lambda t: survival(8) - survival(t) - u * total, float(F.ppf(level)))
        density = mpmath.npdf(root) / total
    # the spacing of doubles at 8, and what rounding of the level is worth
    assert abs(float(F.ppf(level)) - root) <= 2 * np.spacing(8.0) + 2.0**-53 * min(level, 1 - level) / density


def test_the_quantile_of_the_pitfall():
    assert round(float(smq.from_scipy(st.norm(0, 1), 8, 9).ppf(0.9)), 4) == 8.2786


@pytest.mark.parametrize(("low", "high"), [(8.0, 9.0), (0.0, 0.25), (0.0, 12.0), (1.0, 1.0 + 2.0**-16), (40.0, 41.0)])
def test_normal_against_mpmath(low, high):
    F = smq.from_scipy(st.norm(0, 1), low, high)
    with mpmath.workdps(60):
        total = survival(low) - survival(high)
        for share in (2.0**-24, 0.125, 0.5, 0.875):
            t = low + share * (high - low)
            mass, g = survival(low) - survival(t), mpmath.npdf(t)
            # scipy's own functions have lost some digits of e^(−t²/2) at t = 40
            slack = 4e-15 + 2.0**-52 * t**2
            assert float(F.cdf(t)) == pytest.approx(float(mass / total), rel=slack, abs=0)
            assert float(F.pdf(t)) == pytest.approx(float(g / total), rel=slack, abs=0)
            rent = mass / g
            assert float(F.virtual_cost(t)) == pytest.approx(
                float(t + rent), rel=4e-16 + float(slack * rent / (t + rent))
            )
            above = (survival(t) - survival(high)) / total
            assert float(F.log_survival(t)) == pytest.approx(float(mpmath.log(above)), rel=slack, abs=slack)


@pytest.mark.parametrize(
    ("whole", "named"),
    [
        (st.lognorm(0.5), smq.LogNormal(0, 0.5, 0, 3)),
        (st.gamma(2.5, scale=0.5), smq.Gamma(2.5, 0.5, 0, 3)),
        (st.weibull_min(0.7), smq.Weibull(0.7, 1, 0, 3)),
        (st.beta(2, 3, scale=3), smq.Beta(2, 3, 0, 3)),
        (st.logistic(1, 0.3), smq.Logistic(1, 0.3, 0, 3)),
        (st.uniform(0, 5), smq.Uniform(0, 3)),
        (st.Logistic(), smq.Logistic(0, 1, 0, 3)),
        (st.make_distribution(st.lognorm)(s=0.5), smq.LogNormal(0, 0.5, 0, 3)),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_agrees_with_the_law_by_name(whole, named):
    F = smq.from_scipy(whole, 0, 3)
    t = 3 * np.array([2.0**-20, 0.01, 0.3, 0.6, 0.99])
    for method in ("cdf", "pdf", "virtual_cost"):
        assert getattr(F, method)(t) == pytest.approx(getattr(named, method)(t), rel=1e-12)
    u = np.array([1e-9, 0.01, 0.5, 0.99, 1 - 1e-9])
    assert F.ppf(u) == pytest.approx(named.ppf(u), rel=1e-12)


def test_the_support_is_the_narrower_one():
    F = smq.from_scipy(st.uniform(1, 1), 0, 5)
    assert (F.low, F.high) == (1.0, 2.0)
    F = smq.from_scipy(st.beta(2, 3))
    assert (F.low, F.high) == (0.0, 1.0)
    assert F.cdf([-1.0, 0.0, 1.0, 2.0]).tolist() == [0, 0, 1, 1]
    assert np.isnan(F.virtual_cost([-1.0, 2.0])).all()


@pytest.mark.parametrize("moved", [False, True])
def test_a_histogram_is_a_histogram(moved):
    counts, edges = [3, 1, 0, 2], [0, 1, 1.5, 2, 4]
    whole = st.rv_histogram((counts, edges), density=False)
    whole = whole(loc=1, scale=2) if moved else whole
    F = smq.from_scipy(whole, 0.5, 3.0)
    assert isinstance(F, smq.PiecewiseUniform)
    t = np.linspace(F.low, F.high, 41)
    G = whole.cdf
    assert F.cdf(t) == pytest.approx((G(t) - G(0.5)) / (G(3.0) - G(0.5)), abs=1e-15)


def test_verdicts():
    for regular in (st.norm(1, 1), st.lognorm(2), st.gamma(0.5), st.gamma(3), st.beta(1, 4), st.Normal(mu=1, sigma=2)):
        assert isinstance(smq.from_scipy(regular, 0, 0.9).regularity(), smq.Regular), regular
    verdict = smq.from_scipy(st.beta(2, 0.5), 0, 1).regularity()
    assert isinstance(verdict, smq.Irregular)
    J = smq.Beta(2, 0.5).virtual_cost(list(verdict.witness))
    assert J[0] > J[1]
    assert isinstance(smq.from_scipy(st.t(3, loc=2), 0, 5).regularity(), smq.Undecided)


@pytest.mark.parametrize(
    "whole",
    [
        st.norm(0, 1),
        st.beta(2, 0.5),
        st.Normal(mu=0.5, sigma=1),
        st.rv_histogram(([1, 3, 2], [0, 1, 2, 9]), density=True),
    ],
    ids=["log-concave", "irregular", "new", "histogram"],
)
def test_solves_certifies_and_survives_files(tmp_path, whole):
    assert solved_and_loaded(smq.from_scipy(whole, 0.25, 0.99), tmp_path).valid


def test_what_code_made_no_file_brings_back(tmp_path):
    solution = smq.solve(smq.Market([0.3, 0.9], smq.from_scipy(st.make_distribution(st.lognorm)(s=0.5), 0, 3)), 0.3)
    assert smq.verify(solution).valid
    solution.save(tmp_path)
    with pytest.raises(smq.InputError, match="made by code"):
        smq.Solution.load(tmp_path)


class Custom:
    __make_distribution_version__ = "1.16.0"

    def __init__(self, **functions):
        self.__dict__.update(functions)

    @property
    def parameters(self):
        return {"c": (-np.inf, np.inf)}

    @property
    def support(self):
        return {"endpoints": (0, 1)}


class TwicePdf(Custom):
    def pdf(self, x, c):
        return 2.0 * np.ones_like(x)


class WavyCdf(Custom):
    def cdf(self, x, c):
        return x + 0.9 * np.sin(12 * x) * x * (1 - x)

    def pdf(self, x, c):
        return np.ones_like(x)


class NanPdf(Custom):
    def cdf(self, x, c):
        return x

    def pdf(self, x, c):
        return np.where(x > 0.5, np.nan, 1.0)


class OtherPdf(Custom):
    def cdf(self, x, c):
        return x

    def pdf(self, x, c):
        return 2.0 * x


class CdfAlone(Custom):
    def cdf(self, x, c):
        return x


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (TwicePdf, "add to 1"),
        (WavyCdf, "must not fall"),
        (NanPdf, "must be finite|must lie"),
        (OtherPdf, "derivative"),
        (CdfAlone, "define pdf and cdf both"),
    ],
)
def test_broken_distributions_are_refused(made, rule):
    whole = st.make_distribution(made())(c=1.0)
    with pytest.raises(smq.InputError, match=rule):
        smq.from_scipy(whole, 0, 1)


@pytest.mark.parametrize(
    ("whole", "ends", "rule"),
    [
        (st.poisson(3), (0, 9), "continuous"),
        (st.Binomial(n=3, p=0.5), (0, 3), "continuous"),
        (st.lognorm, (0, 3), "lacks parameters"),
        (st.norm([0, 1], 1), (0, 3), "scalar"),
        (st.Normal(mu=[0.0, 1.0], sigma=1.0), (0, 3), "scalar"),
        (st.norm(0, -1), (0, 3), "out of range|support"),
        (st.norm(0, 1), (None, 3), "'low'.* must be given"),
        (st.norm(0, 1), (0, None), "'high'.* must be given"),
        (st.norm(0, 1), (-1, 3), "must not be negative"),
        (st.norm(0, 1), (3, 3), "must exceed low"),
        (st.norm(0, 1), (0, float("nan")), "must be finite"),
        (st.uniform(0, 1), (2, 3), "must meet"),
        (3.0, (0, 1), "must be a continuous distribution"),
    ],
)
def test_refusals(whole, ends, rule):
    with pytest.raises(smq.InputError, match=rule):
        smq.from_scipy(whole, *ends)


@pytest.mark.parametrize(
    ("table", "rule"),
    [
        ({"law": "scipy", "distribution": "os"}, "no continuous distribution"),
        ({"law": "scipy", "distribution": "test"}, "no continuous distribution"),
        ({"law": "scipy", "distribution": 3}, "no continuous distribution"),
        ({"law": "scipy", "distribution": "poisson", "args": [1]}, "no continuous distribution"),
        ({"law": "scipy", "distribution": "lognorm", "args": ["0.5"]}, "must hold numbers"),
        ({"law": "scipy", "distribution": "lognorm", "kwds": {"scale": 1}, "high": 3}, "lacks|does not take"),
        ({"law": "scipy", "distribution": "lognorm", "shape": 3}, "'shape'"),
    ],
)
def test_bad_tables_are_refused(table, rule):
    from smqopt.valuation import valuation_from_dict

    with pytest.raises(smq.InputError, match=rule):
        valuation_from_dict(table)


def test_the_package_does_not_import_scipy_stats():
    code = "import sys, smqopt as smq; smq.from_scipy, smq.Mixture, smq.Truncated, smq.from_samples; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Straight(st.rv_continuous):
    """Of which nothing is known but its density, 2θ."""

    def _pdf(self, x):
        return 2.0 * x


INTEGRATED = {
    "norminvgauss": (st.norminvgauss(50, -4, 1, 1), 0.0, 3.0),
    "a power at an end": (st.gausshyper(13.8, 3.12, 2.51, 5.18), 0.0, 1.0),
    "one's own": (Straight(a=0, b=1)(), 0.25, 0.75),
}


@pytest.mark.parametrize("name", INTEGRATED)
def test_a_density_is_integrated_once(name):
    """Where scipy integrates at each value, cells of the density answer, to more digits."""
    distribution, low, high = INTEGRATED[name]
    law = smq.from_scipy(distribution, low, high)
    assert type(law._source).__name__ == "_Integrated"
    theta = np.linspace(low, high, 9)[1:-1]
    parts = [quad(distribution.pdf, a, b, epsabs=0, epsrel=1e-13)[0] for a, b in pairwise([low, *theta, high])]
    np.testing.assert_allclose(law.cdf(theta), np.cumsum(parts)[:-1] / sum(parts), rtol=1e-11)
    np.testing.assert_allclose(np.exp(law.log_survival(theta)), np.cumsum(parts[::-1])[-2::-1] / sum(parts), rtol=1e-11)


def test_a_law_that_scipy_integrates_is_certified():
    certificate = smq.verify(smq.solve(smq.Market([0.2, 0.5, 1.0], smq.from_scipy(*INTEGRATED["norminvgauss"])), 0.3))
    assert certificate.valid
    assert certificate.gap <= 1e-6


def test_a_spike_that_sums_do_not_see_is_left_to_scipy():
    class Spike(st.rv_continuous):
        def _pdf(self, x):
            return 0.5 + 0.5 * np.exp(-(((x - 0.61803) / 1e-4) ** 2)) / (1e-4 * np.sqrt(np.pi))

    assert type(smq.from_scipy(Spike(a=0, b=1)(), 0, 1)._source).__name__ == "Frozen"


def test_a_density_that_scipy_cannot_find_is_refused():
    with pytest.raises(smq.InputError, match="scipy does not find"):
        smq.from_scipy(st.gausshyper(0.5, 3.12, 2.51, 5.18), 0, 1)
