"""The named laws written out anew in mpmath, before truncation: G, 1 − G and g; and instances that try them, gentle and extreme."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np
from mpmath import mpf

import smqopt as smq


@dataclass(frozen=True)
class Oracle:
    """F, 1 − F, f and J of one owner's law, in mpmath."""

    G: object
    S: object
    g: object
    low: mpf
    high: mpf

    def mass(self, a, b):
        """The mass before truncation, from the tail in which less cancels."""
        return self.S(a) - self.S(b) if self.S(b) < self.G(a) else self.G(b) - self.G(a)

    def cdf(self, t):
        return self.mass(self.low, t) / self.mass(self.low, self.high)

    def survival(self, t):
        return self.mass(t, self.high) / self.mass(self.low, self.high)

    def pdf(self, t):
        return self.g(t) / self.mass(self.low, self.high)

    def rent(self, t):
        return self.mass(self.low, t) / self.g(t)


def kumaraswamy(a, b, low, high):
    def x(t):
        return (t - low) / (high - low)

    return (
        lambda t: -mpmath.expm1(b * mpmath.log1p(-(x(t) ** a))) if x(t) < 1 else mpf(1),
        lambda t: (1 - x(t) ** a) ** b,
        lambda t: a * b * x(t) ** (a - 1) * (1 - x(t) ** a) ** (b - 1) / (high - low),
    )


def beta(a, b, low, high):
    def x(t):
        return (t - low) / (high - low)

    return (
        lambda t: mpmath.betainc(a, b, 0, x(t), regularized=True),
        lambda t: mpmath.betainc(b, a, 0, 1 - x(t), regularized=True),
        lambda t: x(t) ** (a - 1) * (1 - x(t)) ** (b - 1) / mpmath.beta(a, b) / (high - low),
    )


def triangular(low, mode, high):
    def G(t):
        if t < mode:
            return (t - low) ** 2 / ((high - low) * (mode - low))
        return 1 - ((high - t) ** 2 / ((high - low) * (high - mode)) if high > mode else 0)

    def g(t):
        up = t <= mode and mode > low
        return 2 * ((t - low) / (mode - low) if up else (high - t) / (high - mode)) / (high - low)

    return G, lambda t: 1 - G(t), g


def gamma(shape, scale, low, high):
    return (
        lambda t: mpmath.gammainc(shape, 0, t / scale, regularized=True),
        lambda t: mpmath.gammainc(shape, t / scale, mpmath.inf, regularized=True),
        lambda t: mpmath.exp((shape - 1) * mpmath.log(t / scale) - t / scale - mpmath.loggamma(shape)) / scale,
    )


def weibull(shape, scale, low, high):
    return (
        lambda t: -mpmath.expm1(-((t / scale) ** shape)),
        lambda t: mpmath.exp(-((t / scale) ** shape)),
        lambda t: shape / scale * (t / scale) ** (shape - 1) * mpmath.exp(-((t / scale) ** shape)),
    )


def normal(mean, sd, low, high):
    return (
        lambda t: mpmath.erfc((mean - t) / sd / mpmath.sqrt(2)) / 2,
        lambda t: mpmath.erfc((t - mean) / sd / mpmath.sqrt(2)) / 2,
        lambda t: mpmath.npdf(t, mean, sd),
    )


def log_normal(mu, sigma, low, high):
    G, S, g = normal(mu, sigma, low, high)

    def log(t):
        return mpmath.log(t) if t > 0 else mpf("-1e30")

    return lambda t: G(log(t)), lambda t: S(log(t)), lambda t: g(log(t)) / t


def logistic(mean, scale, low, high):
    def G(t):
        return 1 / (1 + mpmath.exp((mean - t) / scale))

    def S(t):
        return 1 / (1 + mpmath.exp((t - mean) / scale))

    return G, S, lambda t: G(t) * S(t) / scale


def pareto(a, low, high):
    return lambda t: 1 - (low / t) ** a, lambda t: (low / t) ** a, lambda t: a / t * (low / t) ** a


FAMILIES = {
    "kumaraswamy": kumaraswamy, "beta": beta, "triangular": triangular, "gamma": gamma, "weibull": weibull,
    "normal": normal, "log-normal": log_normal, "logistic": logistic, "pareto": pareto,
}  # fmt: skip


def oracle(law, owner=0):
    """Give the oracle of one owner of a named law, in the precision of the caller."""
    given = [mpf(float(np.broadcast_to(law.arguments[name], law.size or 1)[owner])) for name in law.parameters]
    named = dict(zip(law.parameters, given, strict=True))
    return Oracle(*FAMILIES[law.name](*given), named["low"], named["high"])


LOW = np.array([0.0, 0.5, 1.0, 2.0])
HIGH = np.array([1.0, 2.0, 1.25, 7.0])

REGULAR = [
    smq.Kumaraswamy(0.5, 1), smq.Kumaraswamy(1, 4),
    smq.Kumaraswamy([0.5, 1, 2, 5], [1, 1, 3, 1.5], LOW, HIGH),
    smq.Beta(0.5, 1), smq.Beta(1, 1, 0, 2), smq.Beta(30, 20),
    smq.Beta([0.5, 1, 2, 9], [1, 4, 3, 2], LOW, HIGH), smq.Beta([2, 3.0], 1.5),
    smq.Triangular(0, 0, 1), smq.Triangular(0, 1, 1), smq.Triangular(1, 1.25, 3), smq.Triangular(0, 1e-9, 1),
    smq.Triangular(LOW, [0.0, 1.0, 1.25, 3.0], HIGH),
    smq.Gamma(0.5, 1, 0, 5), smq.Gamma(1, 2, 0, 1), smq.Gamma(40, 0.05, 0, 4), smq.Gamma(3, 1, 1, 4),
    smq.Gamma([0.5, 1, 2, 9], [1, 2, 0.5, 1], LOW, HIGH),
    smq.Weibull(0.5, 1, 0, 5), smq.Weibull(1, 2, 1, 2), smq.Weibull(5, 1, 0, 1.5),
    smq.Weibull([0.5, 1, 2, 4], [1, 2, 0.5, 5], LOW, HIGH),
    smq.LogNormal(0, 1, 0, 3), smq.LogNormal(-1, 0.5, 0.2, 1), smq.LogNormal(1, 3, 0, 50), smq.LogNormal(0, 0.2, 0.5, 2),
    smq.LogNormal([0, 1, 0, 1], [1, 2, 0.5, 1], LOW, HIGH),
    smq.Normal(0, 1, 0, 3), smq.Normal(-2, 1, 0, 1), smq.Normal(5, 1, 0, 1), smq.Normal(1, 1000, 0, 1),
    smq.Normal([0, 1, 3, 4], [1, 2, 0.5, 1], LOW, HIGH),
    smq.Logistic(0, 0.5, 0, 3), smq.Logistic(-3, 1, 0, 1), smq.Logistic(1, 1000, 0.5, 1),
    smq.Logistic([0, 1, 3, 4], [1, 2, 0.5, 1], LOW, HIGH),
    smq.Pareto(0.1, 1, 1000), smq.Pareto(5, 2, 2.001), smq.Pareto([1, 0.5, 3], 1, [2, 3, 4]),
]  # fmt: skip
"""Laws that go through the contract: gentle, with a singular density, with low > 0, one an owner."""

EXTREME = [
    # infinite densities at low > 0, where one spacing of doubles holds much mass, so that the budget cannot be met closely
    smq.Kumaraswamy(0.3, 7, 1, 2), smq.Beta(0.3, 7, 1, 3),
    smq.Kumaraswamy(50, 30), smq.Kumaraswamy(0.1, 20, 1, 2), smq.Kumaraswamy(2, 0.5), smq.Kumaraswamy(0.5, 0.2, 1, 2),
    smq.Beta(500, 300), smq.Beta(0.01, 2.5), smq.Beta(3000, 2, 0.5, 1), smq.Beta(5, 0.7), smq.Beta(0.5, 0.5),
    smq.Triangular(0.5, 1 - 1e-9, 1),
    smq.Gamma(0.01, 1, 1e-9, 5), smq.Gamma(3, 0.01, 0.5, 1), smq.Gamma(1e4, 1e-4, 0.9, 1.1), smq.Gamma(0.3, 1, 30, 40),
    smq.Gamma(100, 0.01, 0, 2), smq.Gamma(7, 1, 3, 3 + 1e-9),
    smq.Weibull(50, 1, 0, 2), smq.Weibull(3, 0.1, 0.9, 1), smq.Weibull(2, 1, 1, 1 + 1e-9), smq.Weibull(0.1, 1, 1e-9, 1),
    smq.LogNormal(3, 0.1, 0.5, 2), smq.LogNormal(0, 1, 1, 1 + 1e-6), smq.LogNormal(-30, 1, 0.5, 2),
    smq.Normal(0, 1, 8, 9), smq.Normal(0, 1, 50, 60), smq.Normal(50, 1, 0, 2), smq.Normal(-40, 1, 0, 1),
    smq.Normal(2, 0.05, 1, 9), smq.Normal(1, 1, 1, 1 + 1e-9),
    smq.Logistic(0, 1, 30, 40), smq.Logistic(50, 1, 0, 1), smq.Logistic(5, 0.01, 0, 10), smq.Logistic(-100, 0.1, 0, 1),
    smq.Pareto(300, 1, 8), smq.Pareto(1e-9, 1, 2),
]  # fmt: skip
"""Laws in whose tails or narrow supports a plain evaluation loses digits, and irregular ones."""
