"""Random laws and compositions, gentle and extreme, against mpmath: F, 1 − F, f, J, quantiles, their hulls' sellers.

The full run is `pytest -m exhaustive tests/valuation/test_law_fuzzer.py`: 20,000 laws.
"""

import math

import mpmath
import numpy as np
import pytest
from law_instances import power, truncated_exponential, uniform
from law_oracles import FAMILIES, Oracle
from mpmath import mpf

import smqopt as smq

AGREE = 1e-10
"""Relative, of F and 1 − F and f each: parameters of 1e4 magnify the roundings of a law's own arguments so far."""
SHARE_OF_A_SPACING = 2.0**-20
"""And this share of what F rises in one spacing of doubles: a few spacings from the end of a truncation, where its parent's
density is steep, F and S are sums over nodes that are doubles too."""
LEAST = 1e-290
"""Below, doubles lose digits."""
A_BLOCK = 50


class Truth:
    """F, 1 − F and f of a law in mpmath, with what sells at each atom."""

    def __init__(self, cdf, survival, pdf, low, high, atoms=()):
        self.cdf, self.survival, self.pdf, self.low, self.high, self.atoms = cdf, survival, pdf, low, high, atoms


def of_family(name, law):
    named = {key: mpf(float(value)) for key, value in law.arguments.items()}
    o = Oracle(*FAMILIES[name](*named.values()), named["low"], named["high"])
    return Truth(o.cdf, o.survival, o.pdf, o.low, o.high)


def of_simple(make, law):
    named = [mpf(float(value)) for value in law.arguments.values()]
    F, f = make(*named)
    return Truth(F, lambda t: 1 - F(t), f, mpf(float(law.low)), mpf(float(law.high)))


def simple(rng):
    """A law by name, with parameters over many orders of magnitude."""
    scale = 10.0 ** rng.uniform(-3, 3)
    low, width = float(rng.choice([0.0, scale * rng.random()])), scale * 10.0 ** rng.uniform(-2, 1)
    high, shape = low + width, lambda span=2.0: 10.0 ** rng.uniform(-span, span)
    match int(rng.integers(12)):
        case 0:
            law = smq.Uniform(low, high)
            return law, of_simple(uniform, law)
        case 1:
            law = smq.Power(shape(), low, high)
            return law, of_simple(power, law)
        case 2:
            law = smq.TruncatedExponential(shape(1.5) / width, low, high)
            return law, of_simple(truncated_exponential, law)
        case 3:
            law = smq.Beta(shape(1.5), shape(1.5), low, high)
        case 4:
            law = smq.Kumaraswamy(shape(1), shape(1), low, high)
        case 5:
            law = smq.Triangular(low, low + width * float(rng.choice([0, 1, rng.random()])), high)
        case 6:
            law = smq.Gamma(shape(), width * shape(1), low, high)
        case 7:
            law = smq.Weibull(shape(1), width * shape(0.5) + low, low, high)
        case 8:
            law = smq.Normal(low + width * rng.uniform(-3, 4), width * shape(1), low, high)
        case 9:
            law = smq.LogNormal(math.log(scale) + rng.uniform(-2, 2), shape(1), low, high)
        case 10:
            law = smq.Logistic(low + width * rng.uniform(-3, 4), width * shape(1), low, high)
        case _:
            low = low or scale
            law = smq.Pareto(shape(1), low, low + width)
    return law, of_family(law.name, law)


def truncated(rng):
    law, of = simple(rng)
    ends = law.ppf(np.sort(rng.random(2) * 0.9 + 0.05))
    a, b = float(ends[0]), float(ends[1])
    if not b - a > 1e-6 * float(law.width):
        return law, of
    x, y = mpf(a), mpf(b)
    mass = of.cdf(y) - of.cdf(x)
    truth = Truth(
        lambda t: (of.cdf(t) - of.cdf(x)) / mass, lambda t: (of.cdf(y) - of.cdf(t)) / mass, lambda t: of.pdf(t) / mass, x, y
    )  # fmt: skip
    return smq.Truncated(law, a, b), truth


def mixture(rng, depth=1):
    parts = [(mixture(rng, depth - 1) if depth and rng.random() < 0.3 else one(rng)) for _ in range(rng.integers(2, 4))]
    law = smq.Mixture([part for part, _ in parts], rng.uniform(0.1, 1, len(parts)))
    shares = [mpf(w) / sum(map(mpf, law.weights.tolist())) for w in law.weights.tolist()]
    truths = [truth for _, truth in parts]

    def add(name, below, above):
        def value(t):
            each = [(below if t < x.low else above if t >= x.high else getattr(x, name)(t)) for x in truths]
            return sum((w * v for w, v in zip(shares, each, strict=True)), mpf(0))

        return value

    low, high = min(x.low for x in truths), max(x.high for x in truths)
    atoms = tuple(a for x in truths for a in x.atoms)
    return law, Truth(add("cdf", mpf(0), mpf(1)), add("survival", mpf(1), mpf(0)), add("pdf", 0, 0), low, high, atoms)


def one(rng):
    if rng.random() < 0.2:
        at = float(rng.choice([0.0, 1.0, 10.0 ** rng.uniform(-3, 3)]))
        return smq.PointMass(at), Truth(lambda _: mpf(1), lambda _: mpf(0), lambda _: mpf(0), mpf(at), mpf(at), (at,))
    return simple(rng)


def any_law(rng):
    kind = rng.random()
    return simple(rng) if kind < 0.5 else truncated(rng) if kind < 0.7 else mixture(rng)


def close(found, right, slack=AGREE, room=0):
    return abs(mpf(float(found)) - right) <= slack * abs(right) + mpf(10) ** -300 + room


def faults(seed):
    """What is wrong with the law of a seed, in words."""
    rng = np.random.default_rng([15, seed])
    with mpmath.workdps(60):
        law, truth = any_law(rng)
    found = []
    levels = np.concatenate([rng.random(2), 10.0 ** rng.uniform(-12, -1, 1), 1 - 10.0 ** rng.uniform(-10, -1, 1)])
    thetas = law.ppf(levels)
    inside = thetas[(thetas > np.maximum(law.low, LEAST)) & (thetas < law.high)]
    with mpmath.workdps(60):
        for t in inside.tolist():
            x = mpf(t)
            F, f = truth.cdf(x), truth.pdf(x)
            S = 1 - F if F < 0.5 else truth.survival(x)
            sides = ((law.cdf(t), F), (np.exp(law.log_survival(t)), S))
            found += [
                f"{name} {float(a)!r} for {float(b)!r} at {t!r}"
                for name, (a, b) in zip("FS", sides, strict=True)
                if not close(a, b, room=SHARE_OF_A_SPACING * f * math.ulp(t))
            ]
            if t in truth.atoms:
                found += [] if law.is_atom(t) and float(law.virtual_cost(t)) == t else [f"an atom at {t!r}"]
                continue
            if not close(law.pdf(t), f):
                found.append(f"f {float(law.pdf(t))!r} for {float(f)!r} at {t!r}")
            if f > 1e-290 and F > 1e-290 and not close(law.virtual_cost(t), x + F / f):
                found.append(f"J {float(law.virtual_cost(t))!r} for {float(x + F / f)!r} at {t!r}")
        for u, t in zip(levels.tolist(), thetas.tolist(), strict=True):
            if 0 < t < LEAST:
                continue
            before, after = math.nextafter(t, -1), math.nextafter(t, math.inf)
            at = [truth.cdf(mpf(y)) if truth.low <= y < truth.high else mpf(y >= truth.high) for y in (before, after)]
            room = AGREE * min(u, 1 - u)
            if not at[0] - room <= u <= at[1] + room:
                found.append(f"quantile {t!r} of {u!r}: F is {float(at[0])!r} to {float(at[1])!r} beside it")
    reloaded = smq.valuation.valuation_from_dict(law.to_dict())
    found += [] if reloaded.to_dict() == law.to_dict() else ["a file that says something else"]
    return [f"seed {seed}, {law!r}: {fault}" for fault in found]


@pytest.mark.parametrize(
    "block",
    [0, *(pytest.param(k, marks=pytest.mark.slow if k < 3 else pytest.mark.exhaustive) for k in range(1, 400))],
)
def test_laws_against_mpmath(block):
    wrong = [fault for seed in range(A_BLOCK * block, A_BLOCK * (block + 1)) for fault in faults(seed)]
    assert not wrong, "\n".join(wrong)
