"""Laws written out anew, from scipy and elementary functions: what an accepted plug-in is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.stats as st
from numpy.typing import NDArray

__all__ = ["Truth", "atoms", "graded_integral", "histogram", "mixed", "named_truth", "scipy_truth", "truncated"]

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
PARENTS = ("truncated-exponential", "gamma", "weibull", "log-normal", "normal", "logistic", "pareto")
"""Laws whose truncation is the same law between other ends."""
HALVINGS = 60
"""Panels of an integral, each half as wide as the last, towards its low end."""


@dataclass(frozen=True)
class Truth:
    """F and f of one owner."""

    low: float
    high: float
    cdf: Function
    pdf: Function | None = None
    """None for atoms."""
    kinks: tuple[float, ...] = ()
    """Points at which F has a jump or f may have one."""
    slack: float = 1e-11
    """How far F may be off, in probability, and f, relative to it: what this truth itself is good for."""

    def points(self, count: int) -> Floats:
        """Give points of the support: even ones, others close to the low end, and the kinks."""
        share = np.concatenate([np.linspace(0.0, 1.0, count), np.geomspace(1e-9, 0.5, count // 2)])
        inside = [kink for kink in self.kinks if self.low <= kink <= self.high]
        with np.errstate(over="ignore"):
            points = np.concatenate([self.low + share * (self.high - self.low), inside])
        return np.unique(np.clip(points, self.low, self.high))


def scipy_truth(whole: Any, low: float, high: float, slack: float = 1e-11) -> Truth:
    """Give a law of scipy between two ends, from the tail in which it lies."""
    a, b = whole.support()
    low, high = max(float(low), float(a)), min(float(high), float(b))
    new = hasattr(whole, "logccdf")
    log_cdf, log_survival = (whole.logcdf, whole.logccdf) if new else (whole.logcdf, whole.logsf)
    with np.errstate(all="ignore"):
        upper = float(whole.cdf(low)) > 0.25
        if upper:
            top = float(log_survival(low))
            total = -np.expm1(float(log_survival(high)) - top)
        else:
            total = float(whole.cdf(high) - whole.cdf(low))
            lower_scale = float(log_cdf(high)) if total < 1e-200 else 0.0
            if total < 1e-200:
                total = -np.expm1(float(log_cdf(low)) - lower_scale)

    # a narrow window is a small difference
    slack = max(slack, 1e-14 * (1.0 + abs(top if upper else lower_scale)) / total)

    def cdf(t: Floats) -> Floats:
        with np.errstate(all="ignore"):
            if upper:
                return -np.expm1(log_survival(t) - top) / total
            if lower_scale:
                return (np.exp(log_cdf(t) - lower_scale) - np.exp(float(log_cdf(low)) - lower_scale)) / total
            return (whole.cdf(t) - whole.cdf(low)) / total

    def pdf(t: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.exp(whole.logpdf(t) - (top if upper else lower_scale)) / total

    return Truth(low, high, cdf, pdf, slack=slack)


def truncated(truth: Truth, low: float, high: float) -> Truth:
    """Give the law between narrower ends; for windows that keep some of the mass."""
    low, high = max(low, truth.low), min(high, truth.high)
    kept = np.array([low, high])
    at_low, at_high = truth.cdf(kept)
    mass = at_high - at_low
    pdf = truth.pdf
    return replace(
        truth,
        low=low,
        high=high,
        cdf=lambda t: (truth.cdf(t) - at_low) / mass,
        pdf=None if pdf is None else lambda t: pdf(t) / mass,
        slack=truth.slack * max(1.0, 1e-4 / mass) + 1e-15 / mass,
    )


def mixed(truths: Sequence[Truth], weights: Sequence[float]) -> Truth:
    """Give a mixture; at the ends of its members the density may jump."""
    shares = np.asarray(weights, dtype=float) / np.sum(weights)
    low, high = min(one.low for one in truths), max(one.high for one in truths)

    def cdf(t: Floats) -> Floats:
        return sum(share * _clipped(one, t) for share, one in zip(shares, truths, strict=True))

    def pdf(t: Floats) -> Floats:
        inside = [
            np.where((t >= one.low) & (t <= one.high), one.pdf(np.clip(t, one.low, one.high)), 0.0) for one in truths
        ]
        return sum(share * f for share, f in zip(shares, inside, strict=True))

    kinks = {kink for one in truths for kink in (one.low, one.high, *one.kinks)}
    return Truth(low, high, cdf, pdf, tuple(sorted(kinks)), max(one.slack for one in truths))


def _clipped(truth: Truth, t: Floats) -> Floats:
    F = truth.cdf(np.clip(t, truth.low, truth.high))
    return np.where(t < truth.low, 0.0, np.where(t >= truth.high, 1.0, F))


def histogram(edges: Sequence[float], masses: Sequence[float]) -> Truth:
    """Give the law of a histogram, from its first piece with mass to its last."""
    filled = np.flatnonzero(np.asarray(masses) > 0)
    e = np.asarray(edges, dtype=float)[filled[0] : filled[-1] + 2]
    p = np.asarray(masses, dtype=float)[filled[0] : filled[-1] + 1]
    p = (p / p.max()) / np.sum(p / p.max())
    heaped = np.concatenate([[0.0], np.cumsum(p)])

    def pdf(t: Floats) -> Floats:
        k = np.clip(np.searchsorted(e, t, side="right") - 1, 0, p.size - 1)
        with np.errstate(over="ignore"):
            return p[k] / np.diff(e)[k]

    def cdf(t: Floats) -> Floats:
        k = np.clip(np.searchsorted(e, t, side="right") - 1, 0, p.size - 1)
        return heaped[k] + p[k] * ((t - e[k]) / np.diff(e)[k])

    return Truth(float(e[0]), float(e[-1]), cdf, pdf, tuple(e))


def atoms(values: Sequence[float], masses: Sequence[float]) -> Truth:
    """Give the law of a price list."""
    v, p = np.asarray(values, dtype=float), np.asarray(masses, dtype=float)
    heaped = np.concatenate([[0.0], np.cumsum(p / p.max()) / np.sum(p / p.max())])
    return Truth(float(v[0]), float(v[-1]), lambda t: heaped[np.searchsorted(v, t, side="right")], None, tuple(v))


def graded_integral(f: Function, low: float, t: Floats) -> Floats:
    """Give the integral of f from low to each t, on panels that shrink towards low."""
    ends = np.concatenate([[0.0], 0.5 ** np.arange(HALVINGS, -1.0, -1.0)])
    ends = np.unique(np.concatenate([ends, np.linspace(0.5, 1.0, 9), np.linspace(0.25, 0.5, 5)]))
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    share = (middle[:, None] + half[:, None] * NODES).ravel()
    weight = (half[:, None] * WEIGHTS).ravel()
    width = np.asarray(t - low, dtype=float)
    return np.where(width > 0, width * (f(low + np.where(width > 0, width, 1.0)[..., None] * share) @ weight), 0.0)


def named_truth(table: dict[str, Any]) -> list[Truth]:
    """Give the truths about a law by name, from its data; one an owner, or one for all."""
    name = table["law"]
    if name == "by-owner":
        found: dict[int, Truth] = {}
        for part in table["parts"]:
            inside = named_truth(part["valuation"])
            inside = inside * len(part["owners"]) if len(inside) == 1 else inside
            found.update(zip(part["owners"], inside, strict=True))
        return [found[owner] for owner in sorted(found)]
    if name == "mixture":
        columns = [named_truth(part) for part in table["laws"]]
        count = max(map(len, columns))
        rows = zip(*(column * count if len(column) == 1 else column for column in columns), strict=True)
        return [mixed(row, table["weights"]) for row in rows]
    if name == "truncated" and table["valuation"]["law"] in PARENTS:  # the same law between other ends, also far out
        inside = table["valuation"]
        ends = {
            "low": np.maximum(inside["low"], table["low"]).tolist(),
            "high": np.minimum(inside["high"], table["high"]).tolist(),
        }
        return named_truth({**inside, **ends})
    if name == "truncated":
        inside = named_truth(table["valuation"])
        count = max(len(inside), np.size(table["low"]), np.size(table["high"]))
        low, high = (np.broadcast_to(table[end], count).tolist() for end in ("low", "high"))
        inside = inside * count if len(inside) == 1 else inside
        return [truncated(one, *ends) for one, *ends in zip(inside, low, high, strict=True)]
    if name in ("piecewise-uniform", "from-samples"):
        return [histogram(table["edges"], table["masses"])]
    if name == "discrete":
        return [atoms(table["values"], table["masses"])]
    given = {key: value for key, value in table.items() if key != "law"}
    count = max(np.size(value) for value in given.values())
    columns = {key: np.broadcast_to(np.asarray(value, dtype=float), count).tolist() for key, value in given.items()}
    return [_named(name, {key: column[k] for key, column in columns.items()}) for k in range(count)]


def _named(name: str, p: dict[str, float]) -> Truth:
    if name == "point-mass":
        return atoms([p["value"]], [1.0])
    low, high = p["low"], p["high"]
    width = high - low
    whole = {
        "uniform": lambda: st.uniform(low, width),
        "power": lambda: st.beta(p["k"], 1.0, low, width),
        "truncated-exponential": lambda: st.expon(low, 1.0 / p["rate"]) if p["rate"] > 0 else st.uniform(low, width),
        "triangular": lambda: st.triang((p["mode"] - low) / width, low, width),
        "beta": lambda: st.beta(p["a"], p["b"], low, width),
        "gamma": lambda: st.gamma(p["shape"], scale=p["scale"]),
        "weibull": lambda: st.weibull_min(p["shape"], scale=p["scale"]),
        "log-normal": lambda: st.norm(p["mu"], p["sigma"]),
        "normal": lambda: st.norm(p["mean"], p["sd"]),
        "logistic": lambda: st.logistic(p["mean"], p["scale"]),
        "pareto": lambda: st.pareto(p["a"], scale=low),
        "kumaraswamy": lambda: None,
    }[name]()
    if name == "kumaraswamy":
        return _kumaraswamy(p["a"], p["b"], low, high)
    if name == "log-normal":
        return _exponential_of(whole, low, high)
    if name == "triangular":
        return replace(scipy_truth(whole, low, high), kinks=(p["mode"],))
    return scipy_truth(whole, low, high)


def _kumaraswamy(a: float, b: float, low: float, high: float) -> Truth:
    width = high - low

    def cdf(t: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return -np.expm1(b * np.log1p(-(((t - low) / width) ** a)))

    def pdf(t: Floats) -> Floats:
        x = (t - low) / width
        with np.errstate(divide="ignore"):
            return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1) / width

    return Truth(low, high, cdf, pdf)


def _exponential_of(whole: Any, low: float, high: float) -> Truth:
    """Give the law of exp(X) for X of a law of scipy."""
    with np.errstate(divide="ignore"):
        inner = scipy_truth(whole, float(np.log(low)), float(np.log(high)))
    pdf = inner.pdf
    assert pdf is not None

    def cdf(t: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return inner.cdf(np.log(t))

    def density(t: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.where(t > 0, pdf(np.log(t)) / t, 0.0)

    return Truth(low, high, cdf, density, slack=inner.slack)
