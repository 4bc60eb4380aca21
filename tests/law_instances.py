"""Every law and every way to make one, by instance: its law, the ends that its support must have, and its F and f in mpmath.

The second opinions are written out anew from the definition of each law or combinator; nothing of the package is called for them.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import scipy.stats
from law_oracles import FAMILIES, HIGH, LOW, REGULAR
from mpmath import mpf

import smqopt as smq
from smqopt.valuation import LAWS, EmpiricalConditional
from smqopt.valuation.law._base import Rescaled

Truth = tuple[Callable, Callable]
"""F and f of one owner's law, on its support."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A law with what it must be."""

    name: str
    law: smq.Valuation
    low: object
    high: object
    truth: Callable[[int], Truth] | None
    """F and f of an owner; None for a variant."""
    atoms: tuple[tuple[float, ...], ...] = ()
    """The values that have mass, one tuple an owner. Such a law has no density, which J, its inverse and the battery ask for."""
    kinks: tuple[float, ...] = ()
    """Where the density jumps, in currency."""

    def __repr__(self) -> str:
        return self.name


def own(value, owner):
    value = np.asarray(value, dtype=float)
    return mpf(float(value if value.ndim == 0 else value[owner]))


# --- F and f anew -------------------------------------------------------------------------------------------------


def between(whole: Truth, low, high) -> Truth:
    """What lies between two ends, made a law."""
    G, g = whole
    mass = G(high) - G(low)
    return lambda t: (G(t) - G(low)) / mass, lambda t: g(t) / mass


def blend(parts) -> Truth:
    """Σ w F with each law 0 below its support and 1 above: (weight, (F, f), low, high)."""
    total = sum(mpf(w) for w, *_ in parts)

    def F(t):
        return sum(w * (0 if t <= a else 1 if t >= b else law[0](t)) for w, law, a, b in parts) / total

    return F, lambda t: sum(w * law[1](t) for w, law, a, b in parts if a <= t < b) / total


def uniform(low, high):
    return lambda t: (t - low) / (high - low), lambda _: 1 / (high - low)


def power(k, low, high):
    return lambda t: ((t - low) / (high - low)) ** k, lambda t: k * ((t - low) / (high - low)) ** (k - 1) / (high - low)


def truncated_exponential(rate, low, high):
    mass = -mpmath.expm1(-rate * (high - low))
    return lambda t: -mpmath.expm1(-rate * (t - low)) / mass, lambda t: rate * mpmath.exp(-rate * (t - low)) / mass


def histogram(edges, masses):
    steps = [(mpf(float(a)), mpf(float(b))) for a, b in itertools.pairwise(edges)]
    return blend([(mpf(float(m)), uniform(a, b), a, b) for (a, b), m in zip(steps, masses, strict=True)])


def family(name, *given):
    """A law of `law_oracles`, truncated to its ends, which are its last two parameters or, for the triangular law, its first and last."""
    G, S, g = FAMILIES[name](*given)
    low, high = (given[0], given[-1]) if name == "triangular" else given[-2:]

    def mass(a, b):
        return S(a) - S(b) if S(b) < G(a) else G(b) - G(a)

    return lambda t: mass(low, t) / mass(low, high), lambda t: g(t) / mass(low, high)


def copula(marginal: Truth, rho, z):
    """∂₁ of the Gaussian copula at ε, r = 2 sin(πρ/6)."""
    r = 2 * mpmath.sin(mpmath.pi * mpf(rho) / 6)
    s = mpmath.sqrt(1 - r * r)

    def x(t):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * marginal[0](t) - 1)

    def f(t):
        return mpmath.npdf((x(t) - r * z) / s) / s / mpmath.npdf(x(t)) * marginal[1](t)

    return lambda t: mpmath.ncdf((x(t) - r * z) / s), f


def differentiated(F) -> Truth:
    return F, lambda t: mpmath.diff(F, t)


SIMPLE = {
    "uniform": uniform, "power": power, "truncated-exponential": truncated_exponential, "piecewise-uniform": histogram,
}  # fmt: skip


# --- the instances ------------------------------------------------------------------------------------------------


def made(name, given) -> smq.Valuation:
    module, cls, _ = LAWS[name]
    return getattr(importlib.import_module(module), cls)(**given)


def named(label, name, given, **more) -> Instance:
    """A law by name from its parameters."""
    truth = SIMPLE.get(name) or (lambda *values: family(name, *values))
    return Instance(
        label, made(name, given), given["low"], given["high"],
        lambda owner: truth(*(own(value, owner) for value in given.values())), **more,
    )  # fmt: skip


def steps(label, values, law, owners=None) -> Instance:
    """A law of atoms: (value, mass) pairs for each owner."""
    rows = [values] if owners is None else owners
    heaped = [
        [(v, Fraction(sum(m for w, m in row if w <= v)) / sum(m for _, m in row)) for v, _ in row] for row in rows
    ]

    def truth(owner):
        return (lambda t: max((F for v, F in heaped[owner] if v <= t), default=Fraction(0))), None

    low, high = ([pick(v for v, _ in row) for row in rows] for pick in (min, max))
    atoms = tuple(tuple(v for v, _ in row) for row in rows)
    return Instance(label, law, low if owners else low[0], high if owners else high[0], truth, atoms=atoms)


class Parabola(smq.Valuation):
    """A third party's law, F = (θ/top)², with nothing but what must be given."""

    name = "parabola"
    parameters = ("top",)
    low = 0.0

    def __init__(self, top=1.0):
        self.top = self.high = np.asarray(top, dtype=float) if np.ndim(top) else float(top)

    def cdf(self, t):
        return np.clip(np.asarray(t) / self.high, 0.0, 1.0) ** 2

    def pdf(self, t):
        return np.where((np.asarray(t) >= 0) & (np.asarray(t) <= self.high), 2.0 * np.asarray(t) / self.high**2, 0.0)

    def _with(self, **parameters):
        return Parabola(**parameters)


def parabola(top):
    return lambda t: (t / top) ** 2, lambda t: 2 * t / top**2


def e1(c):
    return differentiated(lambda t: ((1 - c * t) ** mpf(-0.5) - 1) / ((1 - c) ** mpf(-0.5) - 1))


def smooth_step(t):
    return t * t * (3 - 2 * t)


E1 = "((1 - c*theta)**(-1/2) - 1)/((1 - c)**(-1/2) - 1)"
SCORES = np.array([0.02, 0.3, 0.5, 0.97])
VALUES = np.random.default_rng(23).beta(2, 3, 400)
PAST = np.random.default_rng(24).random((2, 900))
NORMALS = (1, 2, mpf(1), mpf("0.25")), (1, 2, mpf(2), mpf("0.125"))

HETEROGENEOUS = {
    "uniform": {}, "power": {"k": [0.5, 1.0, 2.0, 3.75]}, "truncated-exponential": {"rate": [0.5, 3.0, 40.0, 0.125]},
    "triangular": {"mode": [0.0, 1.0, 1.25, 3.0]}, "beta": {"a": [0.5, 1, 2, 9], "b": [1, 4, 3, 2]},
    "kumaraswamy": {"a": [0.5, 1, 2, 5], "b": [1, 1, 3, 1.5]},
    "gamma": {"shape": [0.5, 1, 2, 9], "scale": [1, 2, 0.5, 1]}, "weibull": {"shape": [0.5, 1, 2, 4], "scale": [1, 2, 0.5, 5]},
    "log-normal": {"mu": [0, 1, 0, 1], "sigma": [1, 2, 0.5, 1]}, "normal": {"mean": [0, 1, 3, 4], "sd": [1, 2, 0.5, 1]},
    "logistic": {"mean": [0, 1, 3, 4], "scale": [1, 2, 0.5, 1]}, "pareto": {"a": [1, 0.5, 3, 2], "low": LOW + 1, "high": HIGH + 1},
}  # fmt: skip
"""One law an owner, of every family with numbers for parameters; ends too are one an owner."""


def in_order(name, given):
    """Give parameters in the order of the registry, with ends one an owner where none are given."""
    return {key: np.asarray(given.get(key, {"low": LOW, "high": HIGH}.get(key)), dtype=float) for key in LAWS[name][2]}


def instances():
    """Give all of them."""
    for name, (_, _, example) in LAWS.items():
        if name == "discrete":
            pairs = list(zip(example["values"], map(Fraction, example["masses"]), strict=True))
            yield steps(name, pairs, made(name, example))
        elif name == "point-mass":
            yield steps(name, [(example["value"], 1)], made(name, example))
        elif name == "piecewise-uniform":
            edges, masses = example["edges"], example["masses"]
            yield Instance(
                name,
                made(name, example),
                edges[0],
                edges[-1],
                lambda _, e=edges, m=masses: histogram(e, m),
                kinks=tuple(edges),
            )
        else:
            yield named(name, name, example, kinks=(0.5,) if name == "triangular" else ())
    for name, given in HETEROGENEOUS.items():
        kinks = (1.0, 1.25, 3.0) if name == "triangular" else ()
        yield named(f"{name} by owner", name, in_order(name, given), kinks=kinks)
    yield steps("point-mass by owner", None, smq.PointMass([0.0, 1.5]), [[(0.0, 1)], [(1.5, 1)]])
    yield named("irregular beta", "beta", {"a": 2.0, "b": 0.5, "low": 0.0, "high": 1.0})
    yield named("irregular kumaraswamy", "kumaraswamy", {"a": 2.0, "b": 0.5, "low": 1.0, "high": 2.0})
    yield named("far tail of a normal", "normal", {"mean": 0.0, "sd": 1.0, "low": 8.0, "high": 9.0})
    yield Instance(
        "irregular histogram",
        smq.PiecewiseUniform([0, 0.9, 1], [1, 1]),
        0,
        1,
        lambda _: histogram([0, 0.9, 1], [1, 1]),
        kinks=(0.9,),
    )
    yield Instance(
        "histogram with empty ends and a gap", smq.PiecewiseUniform([0, 1, 2, 3, 4, 5], [0, 2, 0, 1, 0]), 1, 4,
        lambda _: histogram([1, 2, 3, 4], [2, 0, 1]), kinks=(1, 2, 3, 4),
    )  # fmt: skip
    edges, masses = ([0, 0.9, 1], [0, 1, 2]), ([1, 1], [3, 1])
    yield Instance(
        "histograms by owner", smq.ByOwner([smq.PiecewiseUniform(e, m) for e, m in zip(edges, masses, strict=True)]), 0, np.array([1.0, 2.0]),
        lambda i: histogram(edges[i], masses[i]), kinks=(0.9, 1.0),
    )  # fmt: skip
    yield from formulas()
    yield from combinators()
    yield from estimates()
    yield from conditionals()


def formulas():
    """Laws typed in."""
    yield Instance(
        "from_cdf", smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1), 0, 1, lambda _: differentiated(smooth_step)
    )
    yield Instance(
        "from_cdf in another unit", smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1).rescale(3.0), 0, 3,
        lambda _: differentiated(lambda t: smooth_step(t / 3)),
    )  # fmt: skip
    yield Instance("E1, regular", smq.from_cdf(E1, 0, 1, c=0.85), 0, 1, lambda _: e1(mpf(0.85)))
    yield Instance("E1, irregular", smq.from_cdf(E1, 0, 1, c=0.99), 0, 1, lambda _: e1(mpf(0.99)))
    a = [0.3, 1.0, 2.5]
    yield Instance(
        "from_cdf by owner", smq.from_cdf("theta**a", 0, 1, a=a), 0, 1, lambda i: power(mpf(a[i]), mpf(0), mpf(1))
    )
    yield Instance(
        "from_cdf with ends by owner", smq.from_cdf("((theta - low)/(high - low))**k", LOW, HIGH, k=1.75), LOW, HIGH,
        lambda i: power(mpf(1.75), own(LOW, i), own(HIGH, i)),
    )  # fmt: skip
    wave = smq.from_pdf("1 + 0.9*cos(6*pi*theta)", 0, 1)
    pi = mpmath.pi
    yield Instance(
        "from_pdf, irregular", wave, 0, 1,
        lambda _: (lambda t: t + mpf("0.9") * mpmath.sin(6 * pi * t) / (6 * pi), lambda t: 1 + mpf("0.9") * mpmath.cos(6 * pi * t)),
    )  # fmt: skip
    yield Instance(
        "from_pdf with its constant", smq.from_pdf("theta*exp(-r*theta)", 1, 3, r=2.0), 1, 3,
        lambda _: between(differentiated(lambda t: -(2 * t + 1) * mpmath.exp(-2 * t) / 4), mpf(1), mpf(3)),
    )  # fmt: skip


def combinators():
    """Laws made of laws."""
    beta = {"a": 2.0, "b": 3.0, "low": 0.0, "high": 1.0}
    whole = [mpf(x) for x in beta.values()]
    yield Instance(
        "truncated",
        smq.Truncated(smq.Beta(2, 3), 0.25, 0.75),
        0.25,
        0.75,
        lambda _: between(family("beta", *whole), mpf(0.25), mpf(0.75)),
    )
    tops = [0.5, 0.75, 2.0]  # the last lies beyond the law's own end
    yield Instance(
        "truncated by owner", smq.Truncated(smq.Beta(2, 3), 0.125, tops), 0.125, np.minimum(tops, 1.0),
        lambda i: between(family("beta", *whole), mpf(0.125), min(mpf(tops[i]), mpf(1))),
    )  # fmt: skip
    yield Instance(
        "truncated formula",
        smq.Truncated(smq.from_cdf(E1, 0, 1, c=0.99), 0.25, 2),
        0.25,
        1,
        lambda _: between(e1(mpf(0.99)), mpf(0.25), mpf(1)),
    )
    yield Instance(
        "truncated histogram", smq.Truncated(smq.PiecewiseUniform([0, 1, 2], [3, 1]), 0.5, 1.5), 0.5, 1.5,
        lambda _: histogram([0.5, 1, 1.5], [1.5, 0.5]), kinks=(1.0,),
    )  # fmt: skip
    halves = (
        (mpf(1) / 2, uniform(mpf(0), mpf(1)), mpf(0), mpf(1)),
        (mpf(1) / 2, uniform(mpf(0), mpf(4)), mpf(0), mpf(4)),
    )
    yield Instance(
        "mixture",
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(0, 4)], [1, 1]),
        0,
        4,
        lambda _: blend(halves),
        kinks=(1.0,),
    )
    normals = [{"mean": 1.0, "sd": 0.25, "low": 0.0, "high": 3.0}, {"mean": 2.0, "sd": 0.125, "low": 0.0, "high": 3.0}]
    yield Instance(
        "mixture, irregular", smq.Mixture([made("normal", given) for given in normals], [0.75, 0.25]), 0, 3,
        lambda _: blend([
            (mpf(w), family("normal", *(mpf(x) for x in given.values())), mpf(0), mpf(3)) for w, given in zip((0.75, 0.25), normals, strict=True)
        ]),
    )  # fmt: skip
    tops = [1.0, 2.0, 4.0]
    yield Instance(
        "mixture by owner", smq.Mixture([smq.Uniform(0, tops), smq.Power(2.0, 0.5, 3)], [1, 3]), 0, [3, 3, 4],
        lambda i: blend([(mpf(1), uniform(mpf(0), mpf(tops[i])), mpf(0), mpf(tops[i])), (mpf(3), power(mpf(2), mpf(0.5), mpf(3)), mpf(0.5), mpf(3))]),
        kinks=(0.5, 1.0, 2.0, 3.0),
    )  # fmt: skip
    gap = [(mpf(1), uniform(mpf(0), mpf(1)), mpf(0), mpf(1)), (mpf(1), uniform(mpf(2), mpf(3)), mpf(2), mpf(3))]
    yield Instance(
        "mixture with a gap",
        smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [1, 1]),
        0,
        3,
        lambda _: blend(gap),
        kinks=(1.0, 2.0),
    )
    yield Instance("a third party's law", Parabola(), 0, 1, lambda _: parabola(mpf(1)))
    yield Instance("a third party's law by owner", Parabola([1.0, 3.0]), 0, [1, 3], lambda i: parabola(mpf([1, 3][i])))
    yield Instance("rescaled", Rescaled(Parabola(), 2.5), 0, 2.5, lambda _: parabola(mpf(2.5)))
    mixed = [
        (smq.Uniform(0, 1), 0, 1, lambda: uniform(mpf(0), mpf(1))), (smq.Power(0.5, 1, 3), 1, 3, lambda: power(mpf(0.5), mpf(1), mpf(3))),
        (smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1), 0, 1, lambda: differentiated(smooth_step)),
        (smq.TruncatedExponential(3.0), 0, 1, lambda: truncated_exponential(mpf(3), mpf(0), mpf(1))),
        (smq.Beta(2, 0.5), 0, 1, lambda: family("beta", mpf(2), mpf(0.5), mpf(0), mpf(1))),
        (smq.Truncated(smq.Gamma(2, 1, 0, 5), 1, 4), 1, 4, lambda: family("gamma", mpf(2), mpf(1), mpf(1), mpf(4))),
        (smq.Uniform(2, 5), 2, 5, lambda: uniform(mpf(2), mpf(5))),
    ]  # fmt: skip
    laws, lows, highs, truths = zip(*mixed, strict=True)
    yield Instance("by owner", smq.ByOwner(laws), lows, highs, lambda i: truths[i]())


def estimates():
    """Laws from scipy and from data."""
    yield Instance(
        "from_scipy, frozen",
        smq.from_scipy(scipy.stats.norm(0, 1), 8, 9),
        8,
        9,
        lambda _: family("normal", mpf(0), mpf(1), mpf(8), mpf(9)),
    )
    yield Instance(
        "from_scipy, the narrower support",
        smq.from_scipy(scipy.stats.beta(2, 3, loc=0.5, scale=2), 1, 4),
        1,
        2.5,
        lambda _: between(family("beta", mpf(2), mpf(3), mpf(0.5), mpf(2.5)), mpf(1), mpf(2.5)),
    )
    yield Instance(
        "from_scipy, new", smq.from_scipy(scipy.stats.Normal(mu=1, sigma=0.5), 0, 3), 0, 3,
        lambda _: family("normal", mpf(1), mpf(0.5), mpf(0), mpf(3)),
    )  # fmt: skip
    yield Instance(
        "from_scipy, histogram", smq.from_scipy(scipy.stats.rv_histogram((np.array([3, 1]), np.array([0.0, 1, 2])))), 0, 2,
        lambda _: histogram([0, 1, 2], [3, 1]), kinks=(1.0,),
    )  # fmt: skip
    yield Instance(  # the pieces part at 2.5, half way between the values nearest to the middle one
        "from_samples",
        smq.from_samples([1.0, 2.0, 2.0, 3.0, 4.0], low=0, high=5, pieces=2),
        0,
        5,
        lambda _: histogram([0, 2.5, 5], [3, 2]),
        kinks=(2.5,),
    )
    edges = np.quantile(PAST[1], np.linspace(0, 1, 21))
    near = np.argsort(PAST[0])[:100], np.argsort(PAST[0])[-100:]
    masses = [np.histogram(PAST[1][rows], edges)[0] + np.histogram(PAST[1], edges)[0] / 900 for rows in near]
    law = EmpiricalConditional.fit(*PAST, neighbours=100).given([0.0, 1.0])
    yield Instance(
        "empirical law given ε", law, edges[0], edges[-1], lambda i: histogram(edges, masses[i]), kinks=tuple(edges)
    )


def conditionals():
    """The law of θ given ε under a Gaussian copula."""
    unit = smq.Uniform(0, 1)

    def score(u):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * mpf(u) - 1)

    for rho in (-0.2, -0.9, 0.5):
        law = smq.GaussianCopula(valuation=unit, requirement=unit, correlation=rho).given(SCORES)
        yield Instance(
            f"Gaussian copula, ρ = {rho}",
            law,
            0,
            1,
            lambda i, rho=rho: copula(uniform(mpf(0), mpf(1)), rho, score(SCORES[i])),
        )
    law = smq.GaussianCopula(valuation=smq.Power(2.0, 1, 3), requirement=smq.Uniform(0, 2), correlation=-0.5).given(0.5)
    z = float(law.score)  # the law is that of this double
    assert abs(z - score(0.25)) <= 2.0**-53
    yield Instance(
        "Gaussian copula, other margins", law, 1, 3, lambda _: copula(power(mpf(2), mpf(1), mpf(3)), -0.5, mpf(z))
    )
    for rho, values in ((-1, 1 - SCORES), (1, SCORES)):
        law = smq.GaussianCopula(valuation=unit, requirement=unit, correlation=rho).given(SCORES)
        exact = np.asarray(law.low).tolist()
        np.testing.assert_allclose(exact, values, rtol=0, atol=2.0**-53)
        yield steps(f"Gaussian copula, ρ = {rho}", None, law, [[(value, 1)] for value in exact])


def made_with(name, **changes):
    return made(name, {**LAWS[name][2], **changes})


def variants():
    """More numbers for the families and more formulas, all regular: the contract asks less of them."""
    rng = np.random.default_rng(7)
    low = rng.uniform(0, 3, 5)
    high = low + rng.uniform(0.25, 4, 5)
    for name, changes in {
        "uniform": {},
        "power": {"k": [0.5, 1.0, 2.0, 3.7, 8.0]},
        "truncated-exponential": {},
    }.items():
        yield made_with(name, low=0.75, high=2.5)
        yield made_with(name, low=low, high=high, **changes)
        yield made_with(name, high=high)
    yield from REGULAR
    yield smq.TruncatedExponential(rate=[1e-8, 0.5, 3.0, 40.0, 600.0], low=0.5, high=1.5)
    yield smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1)
    yield smq.from_cdf("6*theta**2 - 8*theta**3 + 3*theta**4", 0, 1)
    yield smq.from_cdf("1 - (1 - theta**2)**3", 0, 1)
    yield smq.from_cdf("theta**a", 0, 1, a=[0.3, 1.0, 2.5])
    yield smq.from_cdf(E1, 0, 1, c=0.85)
    yield smq.from_cdf("1 - cos(pi*theta/2)", 0, 1)
    yield smq.from_cdf("(exp(theta) - 1 - theta)/(exp(1) - 2)", 0, 1)
    yield smq.from_cdf("erf(theta - 1)/erf(2)", 1, 3)
    yield smq.from_cdf("((theta - low)/(high - low))**k", low, high, k=1.7)
    yield smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1, unit=[3.0, 1e-6])
    yield smq.from_cdf("(1 - exp(-r*theta))/(1 - exp(-r))", 0, 1, r=[1e-8, 2.0, 40.0])
    yield smq.ByOwner([
        smq.Uniform(0, 1), smq.Power(2), smq.from_cdf("theta**2*(3 - 2*theta)", 0, 1), smq.Power(0.5, 1, 3),
        smq.TruncatedExponential(3.0),
    ])  # fmt: skip


INSTANCES = list(instances())
VARIANTS = [Instance(repr(law)[:60], law, law.low, law.high, None) for law in variants()]
