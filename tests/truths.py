"""Laws written out anew in mpmath, by their parameters: named ones, texts, and what is composed of them."""

from __future__ import annotations

import functools
import re

import mpmath
import numpy as np
from forty_digits import Truth
from law_oracles import FAMILIES
from mpmath import mp, mpf

from smqopt.valuation import Regular

NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*(?:e[+-]?\d+)?)")


def truth_of(law):
    """Give the truth of a law that is common to all owners."""
    F, f, joints = _pair(law)
    low, high = _ends(law)
    inside = tuple(sorted({joint for joint in joints if low < joint < high}))
    return Truth(_kept(F), _kept(f), low, high, inside, law, isinstance(law.regularity(), Regular))


def _kept(function):
    """Keep values, which statements ask for again and again, by the precision in which they were made."""
    made = functools.lru_cache(maxsize=4096)(lambda t, _: mpmath.re(function(t)))
    return lambda t: made(t, mp.prec)


def _exactly(x):
    """Read a number as the decimal that it is printed as."""
    return mpf(repr(float(x)))


def _ends(law):
    return _exactly(law.low), _exactly(law.high)


def _uniform(low, high):
    return lambda t: (t - low) / (high - low), lambda _: 1 / (high - low)


def _power(k, low, high):
    return lambda t: ((t - low) / (high - low)) ** k, lambda t: k * ((t - low) / (high - low)) ** (k - 1) / (high - low)


def _truncated_exponential(rate, low, high):
    mass = -mpmath.expm1(-rate * (high - low))
    return lambda t: -mpmath.expm1(-rate * (t - low)) / mass, lambda t: rate * mpmath.exp(-rate * (t - low)) / mass


SIMPLE = {"uniform": _uniform, "power": _power, "truncated-exponential": _truncated_exponential}


def _family(name, *given):
    """A law of `law_oracles`, cut to its ends."""
    G, S, g = FAMILIES[name](*given)
    low, high = (given[0], given[-1]) if name == "triangular" else given[-2:]

    def mass(a, b):
        return S(a) - S(b) if S(b) < G(a) else G(b) - G(a)

    whole = functools.lru_cache(maxsize=8)(lambda _: mass(low, high))
    return lambda t: mass(low, t) / whole(mp.dps), lambda t: g(t) / whole(mp.dps)


def _pair(law):
    if law.name == "mixture":
        return _mixture(law)
    if law.name == "truncated":
        F, f, joints = _pair(law.law)
        low, high = _ends(law)

        @functools.lru_cache(maxsize=8)
        def scale(_):
            return F(low), F(high) - F(low)

        def below(t):
            """Step back from a cut at a joint, beyond which the density is another."""
            return t - (high - low) * mpf(10) ** (-mp.dps // 2) if t == high and high in joints else t

        return lambda t: (F(t) - scale(mp.dps)[0]) / scale(mp.dps)[1], lambda t: f(below(t)) / scale(mp.dps)[1], joints
    if law.name == "formula":
        return _of_text(law, *_ends(law))
    if law.name == "piecewise-uniform":
        return _histogram(*(list(map(_exactly, row)) for row in (law.edges, law.masses)))
    given = [_exactly(law.arguments[name]) for name in law.parameters]
    F, f = SIMPLE[law.name](*given) if law.name in SIMPLE else _family(law.name, *given)
    return F, f, (_exactly(law.arguments["mode"]),) if law.name == "triangular" else ()


def _mixture(law):
    weights = list(map(_exactly, law.weights))
    parts = [(w / sum(weights), *_pair(part), *_ends(part)) for w, part in zip(weights, law.laws, strict=True)]
    top = max(high for *_, high in parts)

    def F(t):
        return mpmath.fsum(w * (0 if t <= low else 1 if t >= high else own(t)) for w, own, _, _, low, high in parts)

    def f(t):
        return mpmath.fsum(w * own(t) for w, _, own, _, low, high in parts if low <= t < high or t == high == top)

    return F, f, tuple(end for *_, joints, low, high in parts for end in (*joints, low, high))


def _histogram(edges, masses):
    total, k = mpmath.fsum(masses), len(masses)

    def place(t):
        return max(0, min(k - 1, sum(edge <= t for edge in edges) - 1))

    def F(t):
        j = place(t)
        return (mpmath.fsum(masses[:j]) + masses[j] * (t - edges[j]) / (edges[j + 1] - edges[j])) / total

    return F, lambda t: masses[place(t)] / (edges[place(t) + 1] - edges[place(t)]) / total, tuple(edges)


TEXTS = {
    "u**a*(1 + c*(1 - u))": "a*u**(a - 1)*(1 + c*(1 - u)) - c*u**a",
    "1 - (1 - u**a)**(1 + c)": "(1 + c)*(1 - u**a)**c*a*u**(a - 1)",
    "(exp(a*u) - 1)/(exp(a) - 1)": "a*exp(a*u)/(exp(a) - 1)",
    "log(1 + a*u)/log(1 + a)": "a/(1 + a*u)/log(1 + a)",
    "erf(a*u)/erf(a)": "2*a/sqrt(pi)*exp(-(a*u)**2)/erf(a)",
    "u**a/(2 - u**a)": "2*a*u**(a - 1)/(2 - u**a)**2",
    "sin(pi*u/2)": "pi/2*cos(pi*u/2)",
    "tanh(a*u)/tanh(a)": "a*(1 - tanh(a*u)**2)/tanh(a)",
    "u**a": "a*u**(a - 1)",
    "u**2*(3 - 2*u)": "6*u*(1 - u)",
    "sqrt(1 + 3*u) - 1": "3/(2*sqrt(1 + 3*u))",
}
"""Distribution functions in the share u of the support, and their slopes, by hand."""
SHARE, SHARE_ITSELF = re.compile(r"\bu\b"), re.compile(r"\btheta\b")


def text_of(share, low, width):
    """Write a distribution function in θ as one would type it."""
    return SHARE.sub(f"((theta - {low})/{width})", share)


def _of_text(law, low, high):
    """Read a text by Python itself, all numbers as decimals; its slope from the table."""
    found = re.search(r"\(\(theta - ([\d.]+)\)/([\d.]+)\)", law.text)
    start, width = found.groups() if found else ("0", "1")
    text = law.text if found else text_of(SHARE_ITSELF.sub("u", law.text), start, width)
    (slope,) = (density for share, density in TEXTS.items() if text_of(share, start, width) == text)
    names = {name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "erf")}
    names |= {name: _exactly(value) for name, value in law.counted.items() if name not in ("low", "high", "unit")}
    F, f = (
        compile(NUMBER.sub(r'mpf("\1")', text), "text", "eval")
        for text in (text, f"({text_of(slope, start, width)})/{width}")
    )

    def value(code, t):
        return eval(code, {**names, "pi": mp.pi + 0, "mpf": mpf, "theta": t})  # noqa: S307

    @functools.lru_cache(maxsize=8)
    def scale(_):
        return value(F, low), value(F, high) - value(F, low)

    return (
        lambda t: (value(F, t) - scale(mp.dps)[0]) / scale(mp.dps)[1],
        lambda t: value(f, t) / scale(mp.dps)[1],
        (),
    )


def of_owner(law, owner):
    """Take one owner's law, with numbers for parameters."""
    if law.size is None:
        return law
    if law.name == "by-owner":
        return next(part for part, owners in law.parts() if owner in np.atleast_1d(owners))
    if law.name == "mixture":
        return law.__class__([of_owner(part, owner) for part in law.laws], law.weights)
    return law.with_arguments(
        {name: float(np.broadcast_to(law.arguments[name], law.size)[owner]) for name in law.arguments}
    )
