"""Plug-ins from scipy: frozen laws, histograms, objects of the new infrastructure, and what must be refused."""

# ruff: noqa: ARG002 - scipy calls the functions of a distribution with all its parameters

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.stats as st
from numpy.random import Generator

import smqopt as smq
from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn
from plug_ins.truth import Truth, histogram, scipy_truth, truncated

__all__ = ["scipy_laws"]

_POSITIVE: dict[str, tuple[tuple[float, float], ...]] = {
    "norm": (), "expon": (), "logistic": (), "gumbel_r": (), "gumbel_l": (), "laplace": (), "rayleigh": (), "maxwell": (),
    "halfnorm": (), "halflogistic": (), "uniform": (), "cauchy": (), "halfcauchy": (), "semicircular": (), "arcsine": (),
    "cosine": (), "hypsecant": (), "anglit": (), "moyal": (), "gamma": ((0.3, 6),), "chi2": ((0.6, 9),), "weibull_min": ((0.5, 4),),
    "lognorm": ((0.2, 1.5),), "pareto": ((0.5, 5),), "lomax": ((0.5, 5),), "fisk": ((0.7, 5),), "invweibull": ((0.7, 5),),
    "powerlaw": ((0.4, 4),), "t": ((1, 9),), "invgamma": ((0.8, 5),), "genextreme": ((-0.5, 0.5),), "triang": ((0.1, 0.9),),
    "beta": ((0.5, 5), (0.5, 5)), "burr12": ((0.8, 4), (0.8, 4)), "gompertz": ((0.2, 3),), "genpareto": ((-0.4, 0.6),),
    "truncexpon": ((1, 6),), "dweibull": ((0.8, 3),), "loglaplace": ((1.2, 4),), "exponweib": ((0.6, 3), (0.6, 3)),
    "kappa3": ((0.7, 4),), "bradford": ((0.3, 5),), "dgamma": ((1.1, 3),), "genlogistic": ((0.5, 3),), "invgauss": ((0.2, 2),),
    "wald": (), "alpha": ((1.5, 4),), "betaprime": ((1, 4), (1, 4)), "exponpow": ((0.8, 3),), "erlang": ((2, 2),),
}  # fmt: skip
"""Laws whose cdf, survival function and density scipy knows by formulas, and the ranges of their shapes."""
_HARD: dict[str, tuple[tuple[float, float], ...]] = {
    "skewnorm": ((-3, 3),), "rice": ((0.3, 3),), "exponnorm": ((0.3, 3),), "norminvgauss": ((1, 2), (-0.5, 0.5)), "vonmises_line": ((0.5, 4),),
    "nakagami": ((0.6, 3),), "johnsonsu": ((-1, 1), (0.7, 2)), "loggamma": ((0.5, 3),), "ncx2": ((1, 5), (0.5, 3)), "f": ((2, 9), (3, 9)),
    "levy": (), "kstwobign": (), "gausshyper": ((1, 2), (2, 3), (1, 2), (0.1, 0.5)), "kappa4": ((-0.3, 0.3), (0.1, 0.5)), "gengamma": ((0.7, 3), (0.7, 3)),
    "recipinvgauss": ((0.5, 2),), "powernorm": ((0.5, 3),), "burr": ((0.8, 3), (0.8, 3)), "mielke": ((1, 4), (1, 4)), "trapezoid": ((0.2, 0.4), (0.5, 0.8)),
    "crystalball": ((1, 2), (2, 4)), "argus": ((0.5, 2),), "jf_skew_t": ((1, 4), (1, 4)), "rel_breitwigner": ((1, 3),), "tukeylambda": ((0.1, 0.9),),
}  # fmt: skip
"""Others, of whose functions some are found by quadrature or lose digits."""
_KINKED = frozenset({"laplace", "triang", "dweibull", "loglaplace", "dgamma", "trapezoid", "kappa3"})
_TAILED = ("norm", "expon", "logistic", "gumbel_r", "lognorm", "gamma", "pareto", "rayleigh", "weibull_min", "laplace")


def _frozen(rng: Generator, name: str, ranges: dict[str, tuple[tuple[float, float], ...]]) -> tuple[Any, str]:
    shapes = [round(float(rng.uniform(*ends)), 4) for ends in ranges[name]]
    loc, scale = (
        round(float(rng.choice([0.0, 0.0, rng.uniform(0, 3)])), 3),
        round(float(rng.choice([1.0, rng.uniform(0.2, 4)])), 3),
    )
    shown = f"scipy.stats.{name}({', '.join(map(repr, [*shapes, loc, scale]))})"
    return getattr(st, name)(*shapes, loc, scale), shown


def _plug_in(expected: str, whole: Any, shown: str, low: Any, high: Any, **more: Any) -> PlugIn:
    return PlugIn(f"from_scipy({shown}, {low!r}, {high!r})", expected, lambda: smq.from_scipy(whole, low, high), **more)


def _window(whole: Any, first: float, last: float) -> tuple[float, float]:
    """Give quantiles as ends, moved to where valuations are not negative."""
    with np.errstate(all="ignore"):
        low, high = float(whole.ppf(first)), float(whole.ppf(last))
    if low < 0 < high:
        low = 0.0
    elif high <= 0:
        low, high = 0.0, float(whole.isf(1e-3)) if float(whole.isf(1e-3)) > 0 else 1.0
    return low, high


def _good(rng: Generator) -> PlugIn:
    name = list(_POSITIVE)[rng.integers(len(_POSITIVE))]
    whole, shown = _frozen(rng, name, _POSITIVE)
    low, high = _window(whole, float(rng.choice([0.0, 0.01, 0.3])) or 1e-4, float(rng.choice([0.7, 0.99])))
    expected = GOOD if float(whole.cdf(high) - whole.cdf(low)) > 1e-3 else BORDERLINE
    return _plug_in(expected, whole, shown, low, high, truths=lambda _: [scipy_truth(whole, low, high, 1e-9)])


def _hard(rng: Generator) -> PlugIn:
    name = list(_HARD)[rng.integers(len(_HARD))]
    whole, shown = _frozen(rng, name, _HARD)
    low, high = _window(whole, 0.05, 0.9)
    return _plug_in(
        BORDERLINE, whole, shown, low, high, truths=lambda _: [scipy_truth(whole, low, high, 1e-7)], patience=10.0
    )


def _far_tail(rng: Generator) -> PlugIn:
    name = _TAILED[rng.integers(len(_TAILED))]
    whole, shown = _frozen(rng, name, _POSITIVE)
    level = 10.0 ** -rng.uniform(8, 290)
    low = float(whole.isf(level))
    if rng.random() < 0.4:  # where even the survival function is 0 in doubles
        low *= float(rng.uniform(2, 20))
    high = low + float(rng.choice([1e-3, 0.1, 1.0, 10.0])) * max(abs(low) * 0.1, 1e-3)
    return _plug_in(BORDERLINE, whole, shown, low, high, truths=lambda _: [scipy_truth(whole, low, high, 1e-7)])


def _histogram(rng: Generator) -> PlugIn:
    bins = int(rng.integers(2, 8))
    counts = rng.integers(0, 30, bins).astype(float)
    counts[rng.integers(bins)] += 1
    edges = np.cumsum(rng.uniform(0.2, 2, bins + 1)) - 0.2
    density = bool(rng.random() < 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns where it must guess what the heights are
        whole = st.rv_histogram((counts, edges), density=density)
    masses = counts * np.diff(edges) if density else counts
    truth = histogram(edges, masses)
    shown = f"rv_histogram(({counts.tolist()}, {edges.tolist()}), density={density})"
    if rng.random() < 0.5:
        return _plug_in(GOOD, whole, shown, None, None, truths=[truth])
    low = float(truth.low + 0.25 * (truth.high - truth.low) * rng.random())
    high = float(truth.high - 0.25 * (truth.high - truth.low) * rng.random())
    with np.errstate(all="ignore"):
        mass = float(truth.cdf(np.array(high)) - truth.cdf(np.array(low)))
    if mass <= 0:
        return _plug_in(BROKEN, whole, shown, low, high, words=("mass",))
    cut_edges = np.unique([low, high, *(e for e in edges if low < e < high)])
    return _plug_in(GOOD, whole, shown, low, high, truths=[histogram(cut_edges, np.diff(truth.cdf(cut_edges)))])


def _new(rng: Generator) -> PlugIn:
    a, b = round(float(rng.uniform(0.3, 2)), 3), round(float(rng.uniform(0.2, 2)), 3)
    choices: list[tuple[Callable[[], Any], str]] = [
        (lambda: st.Normal(mu=a, sigma=b), f"Normal(mu={a}, sigma={b})"),
        (lambda: st.Uniform(a=0.0, b=a + b), f"Uniform(a=0.0, b={a + b})"),
        (st.Logistic, "Logistic()"),
        (lambda: st.make_distribution(st.lognorm)(s=b), f"make_distribution(lognorm)(s={b})"),
        (lambda: st.make_distribution(st.gamma)(a=a), f"make_distribution(gamma)(a={a})"),
        (lambda: st.Normal(mu=a, sigma=b) + 0.5, f"Normal(mu={a}, sigma={b}) + 0.5"),
        (lambda: 2.0 * st.Normal(mu=a, sigma=b), f"2*Normal(mu={a}, sigma={b})"),
        (lambda: st.exp(st.Normal(mu=0.0, sigma=b)), f"exp(Normal(mu=0.0, sigma={b}))"),
        (lambda: st.make_distribution(Parabolic())(c=1.0), "make_distribution(Parabolic())(c=1.0)"),
        (lambda: st.Mixture([st.Normal(mu=0.5), st.Normal(mu=a, sigma=b)], weights=[0.5, 0.5]), f"Mixture of Normal() and Normal({a}, {b})"),
        (lambda: abs(st.Normal(mu=0.0, sigma=b)), f"abs(Normal(sigma={b}))"),
        (lambda: st.truncate(st.Normal(mu=a, sigma=b), lb=0.0, ub=3.0), f"truncate(Normal({a}, {b}), 0, 3)"),
    ]  # fmt: skip
    k = int(rng.integers(len(choices)))
    make, shown = choices[k]
    low, high = 0.1, 0.9 if k == 8 else round(float(rng.uniform(1, 3)), 3)

    def truths(_: Any) -> list[Truth]:
        whole = make()
        return [truncated(scipy_truth(whole, low, high, 1e-8), low, high)]

    expected = GOOD if k < 5 else BORDERLINE
    return PlugIn(f"from_scipy({shown}, {low}, {high})", expected, lambda: smq.from_scipy(make(), low, high), truths)


class Parabolic:
    """What `make_distribution` takes: F = x² on [0, 1], with a parameter that changes nothing."""

    __make_distribution_version__ = "1.16.0"
    parameters: Mapping[str, Any] = {"c": (-np.inf, np.inf)}
    support: Mapping[str, Any] = {"endpoints": (0, 1)}

    def pdf(self, x, c):
        return 2 * x

    def cdf(self, x, c):
        return x**2


class Doubled(Parabolic):
    """Its density integrates to 2."""

    def pdf(self, x, c):
        return 4 * x


class Falling(Parabolic):
    """Its cdf falls."""

    def cdf(self, x, c):
        return x + 0.4 * np.sin(9 * np.pi * x)


class Shifted(st.rv_continuous):
    """A family of broken laws on [0, 1]: one function is not what it should be."""

    fault = ""

    def _cdf(self, x):
        return {
            "falls": x + 0.3 * np.sin(4 * np.pi * x),
            "nan": np.where((x > 0.4) & (x < 0.6), np.nan, x),
            "beyond": 1.5 * x,
            "half": x / 2,
            "jump": np.where(x < 0.5, x / 2, (1 + x) / 2),
            "raises": x,
        }.get(self.fault, x)

    def _sf(self, x):
        return 1 - x**2 if self.fault == "survival" else 1 - self._cdf(x)

    def _pdf(self, x):
        if self.fault == "raises":
            raise ZeroDivisionError("no density today")
        return {
            "double": 2.0 + 0 * x,
            "negative": 2 - 4 * x,
            "slope": 2 * x,
            "nan density": np.where(x > 0.5, np.nan, 1.0),
            "dip": np.where(np.abs(x - 0.5) < 0.1, 0.5, 1.0),
        }.get(self.fault, 1.0 + 0 * x)


_FAULTS = {
    "falls": ("cdf", "F must"), "nan": ("cdf",), "beyond": ("cdf", "F must"), "half": ("F must", "cdf", "derivative"), "jump": ("F", "quantile"),
    "survival": ("survival",), "raises": ("density", "pdf"), "double": ("derivative",), "negative": ("f must", "derivative"), "slope": ("derivative",),
    "nan density": ("f must",), "dip": ("derivative",),
}  # fmt: skip


def _broken(rng: Generator) -> PlugIn:
    u = round(float(rng.uniform(0.2, 3)), 3)
    kind = rng.integers(4)
    if kind == 0:
        fault = list(_FAULTS)[rng.integers(len(_FAULTS))]
        whole = type("Shifted", (Shifted,), {"fault": fault})(a=0.0, b=1.0, name="shifted")
        return _plug_in(BROKEN, whole(), f"Shifted, {fault!r},", 0.0, 1.0, words=_FAULTS[fault])
    whole, shown, ends, words = _refused(rng, u)
    return _plug_in(BROKEN, whole, shown, *ends, words=words)


def _refused(rng: Generator, u: float) -> tuple[Any, str, tuple[Any, Any], tuple[str, ...]]:
    continuous = ("continuous",)
    choices: list[tuple[Any, str, tuple[Any, Any], tuple[str, ...]]] = [
        (st.poisson(u), f"poisson({u})", (0, 3), continuous),
        (st.poisson, "poisson", (0, 3), continuous),
        (st.binom(5, 0.5), "binom(5, 0.5)", (0, 3), continuous),
        (st.randint(0, 5), "randint(0, 5)", (0, 3), continuous),
        (st.gamma, "gamma", (0, 3), ("lacks parameters",)),
        (st.beta, "beta", (0, 1), ("lacks parameters",)),
        (st.lognorm, "lognorm", (0, 1), ("lacks parameters",)),
        (st.multivariate_normal([0, 0]), "multivariate_normal([0, 0])", (0, 1), continuous),
        (st.gaussian_kde([0.1, 0.5, u]), "gaussian_kde", (0, 1), continuous),
        (st.make_distribution(st.binom)(n=5, p=0.5), "make_distribution(binom)(n=5, p=0.5)", (0, 3), continuous),
        (st.Normal, "Normal", (0, 1), ("continuous", "scipy")),
        (st, "scipy.stats", (0, 1), continuous),
        (None, "None", (0, 1), continuous),
        ("norm", "'norm'", (0, 1), continuous),
        (3.0, "3.0", (0, 1), continuous),
        (np.array([0.1, 0.2]), "array([0.1, 0.2])", (0, 1), continuous),
        (smq.Uniform(0, 1), "smq.Uniform(0, 1)", (0, 1), continuous),
        (lambda x: x, "lambda x: x", (0, 1), continuous),
        (st.norm(0, [1, 2]), "norm(0, [1, 2])", (0, 1), ("scalar",)),
        (st.uniform(0, [1, 2]), "uniform(0, [1, 2])", (0, 1), ("scalar",)),
        (st.Normal(mu=[0, 1], sigma=1), "Normal(mu=[0, 1], sigma=1)", (0, 1), ("scalar",)),
        (st.norm(0, -u), f"norm(0, {-u})", (0, 1), ("parameter",)),
        (st.gamma(-u), f"gamma({-u})", (0, 1), ("parameter",)),
        (st.norm(0, 0.0), "norm(0, 0.0)", (0, 1), ("parameter",)),
        (st.norm(np.nan, 1.0), "norm(nan, 1)", (0, 1), ("parameter", "cdf", "from_scipy")),
        (st.Normal(mu=0.0, sigma=-u), f"Normal(sigma={-u})", (0, 1), ("parameter",)),
        (st.norm(0, 1), "norm(0, 1)", (None, 1), ("'low'",)),
        (st.norm(0, 1), "norm(0, 1)", (0, None), ("'high'",)),
        (st.norm(0, 1), "norm(0, 1)", (-u, 1), ("'low'",)),
        (st.norm(0, 1), "norm(0, 1)", (u, u), ("'high'",)),
        (st.norm(0, 1), "norm(0, 1)", (1, 0), ("'high'",)),
        (st.norm(0, 1), "norm(0, 1)", (0, np.inf), ("'high'",)),
        (st.norm(0, 1), "norm(0, 1)", (np.nan, 1), ("'low'",)),
        (st.norm(0, 1), "norm(0, 1)", ("a", 1), ("'low'",)),
        (st.norm(0, 1), "norm(0, 1)", (0, 10**400), ("'high'",)),
        (st.norm(0, 1), "norm(0, 1)", ([0, 0], 1), ("scalar", "number", "'low'")),
        (st.norm(0, 1), "norm(0, 1)", (0, [1, 2]), ("scalar", "number", "'high'")),
        (st.uniform(0, 1), "uniform(0, 1)", (1 + u, 3 + u), ("support",)),
        (st.beta(2, 3), "beta(2, 3)", (1, 1 + u), ("support",)),
        (st.expon(5), "expon(5)", (0, 4), ("support",)),
        (st.uniform(-2, 1), "uniform(-2, 1)", (None, None), ("'low'", "negative", "high")),
        (st.make_distribution(Doubled())(c=1.0), "make_distribution(Doubled())(c=1.0)", (0, 1), ("derivative",)),
        (st.make_distribution(Falling())(c=1.0), "make_distribution(Falling())(c=1.0)", (0, 1), ("cdf", "F must", "fall")),
        (st.rv_histogram(([0, 0], [0, 1, 2]), density=False) if rng is None else st.norm(1e308, 1), "norm(1e308, 1)", (0, 1), ("mass",)),
    ]  # fmt: skip
    return choices[rng.integers(len(choices))]


def scipy_laws(rng: Generator) -> PlugIn:
    """What `from_scipy` is given."""
    kinds = (_good, _hard, _far_tail, _histogram, _new, _broken)
    return kinds[rng.choice(6, p=[0.3, 0.1, 0.12, 0.1, 0.1, 0.28])](rng)
