"""What a file says of a law is read as it is: the same bits, whatever the parameters."""

import json

import numpy as np
import pytest
import scipy.stats

import smqopt as smq
from smqopt.valuation import valuation_from_dict

RNG = np.random.default_rng(15)


def numbers(low, high):
    return float(np.exp(RNG.uniform(np.log(low), np.log(high))))


def ends():
    low = float(RNG.choice([0.0, numbers(1e-3, 10)]))
    return low, low + numbers(1e-2, 10)


FAMILIES = {
    "uniform": lambda: smq.Uniform(*ends()),
    "power": lambda: smq.Power(numbers(0.01, 100), *ends()),
    "truncated-exponential": lambda: smq.TruncatedExponential(numbers(0.01, 100), *ends()),
    "triangular": lambda: smq.Triangular(*np.sort(RNG.random(3)).tolist()),
    "beta": lambda: smq.Beta(numbers(0.1, 10), numbers(0.1, 10), *ends()),
    "kumaraswamy": lambda: smq.Kumaraswamy(numbers(0.1, 10), numbers(0.1, 10), *ends()),
    "gamma": lambda: smq.Gamma(numbers(0.1, 10), numbers(0.1, 10), *ends()),
    "weibull": lambda: smq.Weibull(numbers(0.1, 10), numbers(0.1, 10), *ends()),
    "log-normal": lambda: smq.LogNormal(RNG.normal(), numbers(0.1, 10), *ends()),
    "normal": lambda: smq.Normal(RNG.normal(), numbers(0.1, 10), *ends()),
    "logistic": lambda: smq.Logistic(RNG.normal(), numbers(0.1, 10), *ends()),
    "pareto": lambda: smq.Pareto(numbers(0.1, 10), 0.5, 0.5 + numbers(0.1, 10)),
    "point-mass": lambda: smq.PointMass(RNG.random()),
    "discrete": lambda: smq.Discrete(np.unique(RNG.random(5)), RNG.random(5)),
    "piecewise-uniform": lambda: smq.PiecewiseUniform(np.unique(RNG.random(6)), RNG.random(5)),
}
PLAIN = [name for name in FAMILIES if name not in ("point-mass", "discrete")]


def plain():
    return FAMILIES[PLAIN[RNG.integers(len(PLAIN))]]()


def mixture():
    count = int(RNG.integers(1, 7))
    return smq.Mixture([plain() for _ in range(count)], RNG.random(count) + 1e-3)


def truncated(law):
    """Cut a law at two of its quantiles, so that mass is left."""
    low, high = law.ppf(np.sort(RNG.random(2)))
    return smq.Truncated(law, low, high) if low < high else law


def conditional():
    rho = float(RNG.uniform(-0.9, 0.9))
    return smq.GaussianCopula(valuation=plain(), requirement=smq.Uniform(0, 1), correlation=rho).given(RNG.random(3))


def from_scipy():
    shape = numbers(0.5, 5)
    laws = (scipy.stats.gamma(shape), scipy.stats.lognorm(shape, scale=2), scipy.stats.norm(1, shape))
    return smq.from_scipy(laws[RNG.integers(3)], 0.1, 0.1 + numbers(0.5, 5))


COMPOSITIONS = {
    "mixture": mixture,
    "mixture of mixtures": lambda: smq.Mixture([mixture(), mixture(), plain()], RNG.random(3) + 1e-3),
    "truncated": lambda: truncated(plain()),
    "truncated mixture": lambda: truncated(mixture()),
    "by owner": lambda: smq.ByOwner([plain() for _ in range(4)]),
    "rescaled": lambda: smq.LogNormal(RNG.normal(), 1.0, *ends()).rescale(numbers(0.1, 10)),
    "copula": conditional,
    "samples": lambda: smq.from_samples(RNG.random(int(RNG.integers(3, 40)))),
    "formula": lambda: smq.from_cdf("theta**a", 0, 1, a=numbers(0.2, 5), unit=numbers(0.1, 10)),
    "scipy": from_scipy,
}
SLOW = {"scipy": 10, "formula": 20, "copula": 100, "truncated mixture": 30, "mixture of mixtures": 200}
"""Each of these takes milliseconds to make: the conformance tests run on it, or SymPy reads it."""


@pytest.mark.parametrize("name", [*FAMILIES, *COMPOSITIONS])
def test_a_law_comes_back_bit_by_bit(name):
    make = {**FAMILIES, **COMPOSITIONS}[name]
    for _ in range(SLOW.get(name, 1000)):
        law = make()
        said = law.to_dict()
        again = valuation_from_dict(json.loads(json.dumps(said)))
        assert again.to_dict() == said, said
        for point in np.linspace(np.min(law.low), np.max(law.high), 5):
            assert np.array_equal(again.cdf(point), law.cdf(point)), said


def test_the_weights_of_six_equal_parts_are_read_as_they_are():
    law = smq.Mixture([smq.Uniform(0, k + 1) for k in range(6)], [1] * 6)
    assert valuation_from_dict(law.to_dict()).weights.tolist() == law.weights.tolist()
