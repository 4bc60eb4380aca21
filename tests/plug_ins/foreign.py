"""Plug-ins by subclass: laws of third parties, right and wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

import smqopt as smq
from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn
from plug_ins.truth import Truth

__all__ = ["third_party"]


class Foreign(smq.Valuation):
    """A law whose methods are given one by one."""

    name = "foreign"

    def __init__(self, low: Any, high: Any, **methods: Callable[..., Any]) -> None:
        self.low, self.high = low, high
        for name, method in methods.items():
            setattr(self, name, method)

    def cdf(self, t):
        raise NotImplementedError

    def pdf(self, t):
        raise NotImplementedError


class ForeignColumns(Foreign):
    """One with a parameter an owner."""

    name = "foreign-columns"
    parameters = ("low", "high", "k")

    def __init__(self, low: Any, high: Any, k: Any) -> None:
        self.low, self.high, self.k = low, high, k

    def cdf(self, t):
        return np.clip((np.asarray(t) - self.low) / (self.high - self.low), 0, 1) ** self.k

    def pdf(self, t):
        x = (np.asarray(t) - self.low) / (self.high - self.low)
        inside = (x >= 0) & (x <= 1)
        return np.where(inside, self.k * np.clip(x, 0, 1) ** (self.k - 1) / (self.high - self.low), 0.0)


Shape = tuple[str, Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]


def _shape(rng: Generator) -> Shape:
    """Give F and f on [0, 1]."""
    k, c = round(float(rng.uniform(1.0, 4)), 3), round(float(rng.uniform(-0.9, 0.9)), 3)
    m = int(rng.integers(1, 4))
    w = 2 * np.pi * m
    choices: list[Shape] = [
        (f"x**{k}", lambda x: x**k, lambda x: k * x ** (k - 1)),
        ("3x² − 2x³", lambda x: x**2 * (3 - 2 * x), lambda x: 6 * x * (1 - x)),
        (f"expm1({k}x)", lambda x: np.expm1(k * x) / np.expm1(k), lambda x: k * np.exp(k * x) / np.expm1(k)),
        (f"log1p({k}x)", lambda x: np.log1p(k * x) / np.log1p(k), lambda x: k / (1 + k * x) / np.log1p(k)),
        (f"x + {c} sin({w:.4f}x)/{w:.4f}", lambda x: x + c * np.sin(w * x) / w, lambda x: 1 + c * np.cos(w * x)),
        ("sin", lambda x: np.sin(np.pi * x / 2), lambda x: np.pi / 2 * np.cos(np.pi * x / 2)),
        (f"1 − (1−x)**{k}", lambda x: -np.expm1(k * np.log1p(-np.minimum(x, 1 - 2.0**-53))) if k > 1 else x, lambda x: k * (1 - x) ** (k - 1)),
        ("two slopes", lambda x: np.where(x < 0.5, x / 2, 1.5 * x - 0.5), lambda x: np.where(x < 0.5, 0.5, 1.5)),
        ("with a gap", lambda x: np.interp(x, [0, 0.25, 0.75, 1], [0, 0.5, 0.5, 1]), lambda x: np.where((x < 0.25) | (x >= 0.75), 2.0, 0.0)),
    ]  # fmt: skip
    return choices[rng.integers(len(choices))]


def _methods(low: float, high: float, shape: Shape) -> tuple[Callable[..., Any], Callable[..., Any]]:
    _, F, f = shape
    width = high - low

    def cdf(t):
        return F(np.clip((np.asarray(t, dtype=float) - low) / width, 0, 1))

    def pdf(t):
        x = (np.asarray(t, dtype=float) - low) / width
        return np.where((x >= 0) & (x <= 1), f(np.clip(x, 0, 1)) / width, 0.0)

    return cdf, pdf


def _plug_in(expected: str, text: str, make: Callable[[], Any], **more: Any) -> PlugIn:
    wrap = more.pop("wrap", None)
    return PlugIn(text, expected, (lambda: wrap(make())) if wrap else make, **more)


def third_party(rng: Generator) -> PlugIn:
    """Subclasses of `smq.Valuation`."""
    low = float(rng.choice([0.0, 0.0, 0.5, 2.0]))
    high = low + float(rng.choice([0.25, 1.0, 3.0]))
    shape = _shape(rng)
    cdf, pdf = _methods(low, high, shape)
    text = f"Foreign({low}, {high}, F = {shape[0]})"
    kinks = tuple(low + share * (high - low) for share in (0.25, 0.5, 0.75))
    truth = Truth(low, high, cdf, pdf, kinks)
    kind = rng.random()
    if kind < 0.3:
        return _plug_in(GOOD, text, lambda: Foreign(low, high, cdf=cdf, pdf=pdf), truths=[truth])
    if kind < 0.4:
        n = int(rng.integers(3, 8))
        k, ends = rng.uniform(1, 4, n), (rng.uniform(0, 1, n), rng.uniform(1.5, 3, n))
        columns = [
            Truth(a, b, lambda t, a=a, b=b, p=p: ((t - a) / (b - a)) ** p, None)
            for a, b, p in zip(*(e.tolist() for e in ends), k.tolist(), strict=True)
        ]
        return _plug_in(
            GOOD,
            f"ForeignColumns({ends[0].tolist()}, {ends[1].tolist()}, {k.tolist()})",
            lambda: ForeignColumns(*ends, k),
            truths=columns,
        )
    if kind < 0.5:
        return _edge(rng, low, high, cdf, pdf, text, truth)
    name, methods, words, ends = _faults(rng, low, high, cdf, pdf)
    return _plug_in(BROKEN, f"{text} with {name}", lambda: Foreign(*ends, **methods), words=words)


def _edge(rng: Generator, low: float, high: float, cdf: Any, pdf: Any, text: str, truth: Truth) -> PlugIn:
    width = high - low

    def slowly(t):
        time.sleep(0.001)
        return cdf(t)

    def wavy(t):
        # a density off by next to nothing
        return pdf(t) * (1 + 1e-12)

    def endless(t):
        # the density is not finite at low, which a law may be
        return np.where(np.asarray(t) == low, np.inf, pdf(t))

    k = int(rng.integers(6))
    name, law = [
        ("slow", lambda: Foreign(low, high, cdf=slowly, pdf=pdf)),
        ("a density off by 1e-12", lambda: Foreign(low, high, cdf=cdf, pdf=wavy)),
        ("an infinite density at low", lambda: Foreign(low, high, cdf=cdf, pdf=endless)),
        ("single precision", lambda: Foreign(low, high, cdf=lambda t: cdf(t).astype(np.float32), pdf=pdf)),
        ("numpy ends", lambda: Foreign(np.float64(low), np.array(high), cdf=cdf, pdf=pdf)),
        ("a support with nothing at its end", lambda: Foreign(low, high + width, cdf=cdf, pdf=pdf)),
    ][k]
    if k == 2:
        truth = Truth(low, high, cdf, lambda t: np.where(t > low + 1e-6 * width, pdf(t), np.nan), truth.kinks)
    if k == 5:
        truth = Truth(low, high + width, cdf, pdf, (high, *truth.kinks))
    return _plug_in(BORDERLINE, f"{text}, {name}", law, truths=[truth])


def _faults(
    rng: Generator, low: float, high: float, cdf: Any, pdf: Any
) -> tuple[str, dict[str, Any], tuple[str, ...], tuple[Any, Any]]:
    width = high - low
    at = low + float(rng.uniform(0.2, 0.8)) * width
    factor = float(rng.choice([0.5, 2.0, 1.001, 0.9]))

    def inside(t):
        return np.clip((np.asarray(t, dtype=float) - low) / width, 0, 1)

    def above(t):
        return np.asarray(t) > at

    def flat(t):
        return np.where((np.asarray(t) >= low) & (np.asarray(t) <= high), 1 / width, 0.0)

    def scalar(t):
        return math.exp(t)

    def branching(t):
        return 0.0 if t < low else 1.0 if t > high else (t - low) / width

    def raising(t):
        raise ValueError("the price service is down")

    def raising_late(t):
        if np.size(t) > 2:
            raise ZeroDivisionError("division by zero")
        return inside(t)

    def half_missing(t):
        raise NotImplementedError

    good = {"cdf": inside, "pdf": flat}
    ends: tuple[Any, Any] = (low, high)
    faults: list[tuple[str, dict[str, Any], tuple[str, ...], tuple[Any, Any]]] = [
        (f"a density times {factor}", {"cdf": cdf, "pdf": lambda t: factor * pdf(t)}, ("f must",), ends),
        ("a density that is not the slope", {"cdf": inside, "pdf": lambda t: 2 * inside(t) * flat(t)}, ("f must",), ends),
        ("a density of 1 everywhere", {**good, "pdf": lambda t: np.ones(np.shape(t)) / width}, ("f must be 0 outside",), ends),
        ("a negative density", {**good, "pdf": lambda t: -flat(t)}, ("f must",), ends),
        ("a cdf that ends at less", {**good, "cdf": lambda t: 0.9 * inside(t)}, ("F must be 1",), ends),
        ("a cdf that begins above 0", {**good, "cdf": lambda t: 0.1 + 0.9 * inside(t)}, ("F must be 0",), ends),
        ("a cdf that falls", {**good, "cdf": lambda t: inside(t) + 0.3 * np.sin(4 * np.pi * inside(t))}, ("F must",), ends),
        ("a survival function", {**good, "cdf": lambda t: 1 - inside(t)}, ("F must",), ends),
        ("a cdf not clipped", {**good, "cdf": lambda t: (np.asarray(t, dtype=float) - low) / width}, ("F must",), ends),
        ("a cdf of NaN", {**good, "cdf": lambda t: np.full(np.shape(t), np.nan)}, ("F must",), ends),
        ("a cdf of NaN above a point", {**good, "cdf": lambda t: np.where(above(t) & (np.asarray(t) < high), np.nan, inside(t))}, ("F must",), ends),
        ("a density of NaN above a point", {**good, "pdf": lambda t: np.where(above(t) & (np.asarray(t) <= high), np.nan, flat(t))}, ("f must",), ends),
        ("an inconsistent ppf", {**good, "ppf": lambda q: low + width * np.asarray(q) ** 2}, ("F⁻¹",), ends),
        ("a ppf of levels", {**good, "ppf": lambda q: np.asarray(q) * (high + 1)}, ("F⁻¹",), ends),
        ("a ppf of NaN", {**good, "ppf": lambda q: np.full(np.shape(q), np.nan)}, ("F⁻¹",), ends),
        ("a scalar ppf", {**good, "ppf": lambda q: low + width * math.sqrt(q)}, ("ppf", "F⁻¹"), ends),
        ("a wrong virtual cost", {**good, "virtual_cost": lambda t: np.asarray(t) + 1.0}, ("virtual cost",), ends),
        ("a wrong inverse virtual cost", {**good, "inverse_virtual_cost": lambda v: np.clip(np.asarray(v, dtype=float), low, high)}, ("virtual cost",), ends),
        ("a wrong log cdf", {**good, "log_cdf": lambda t: np.zeros(np.shape(t))}, ("log",), ends),
        ("a wrong log survival", {**good, "log_survival": lambda t: np.zeros(np.shape(t))}, ("log",), ends),
        ("a wrong offer", {**good, "offer": lambda v: (np.full(np.shape(v), low), np.ones(np.shape(v)))}, ("offer",), ends),
        ("a scalar cdf", {**good, "cdf": scalar}, ("cdf",), ends),
        ("a branching cdf", {**good, "cdf": branching}, ("cdf",), ends),
        ("a scalar pdf", {**good, "pdf": scalar}, ("pdf",), ends),
        ("a cdf that raises", {**good, "cdf": raising}, ("cdf",), ends),
        ("a cdf that raises late", {**good, "cdf": raising_late}, ("raises ZeroDivisionError",), ends),
        ("a pdf that raises", {**good, "pdf": raising}, ("pdf",), ends),
        ("a pdf that is missing", {**good, "pdf": half_missing}, ("pdf",), ends),
        ("a cdf of one number", {**good, "cdf": lambda _: 0.5}, ("cdf",), ends),
        ("a cdf of None", {**good, "cdf": lambda _: None}, ("cdf",), ends),
        ("a cdf of text", {**good, "cdf": lambda t: np.array(["x"] * np.size(t))}, ("cdf",), ends),
        ("a cdf of complex numbers", {**good, "cdf": lambda t: inside(t) + 0j}, ("cdf",), ends),
        ("a cdf one too long", {**good, "cdf": lambda t: np.append(inside(t), 1.0)}, ("cdf",), ends),
        ("a cdf of ragged lists", {**good, "cdf": lambda _: [[0.0], [0.0, 1.0]]}, ("cdf",), ends),
        ("low below 0", good, ("low",), (-1.0, high)),
        ("low above high", good, ("low",), (high, low)),
        ("low = high", good, ("low",), (low, low)),
        ("NaN for an end", good, ("low",), (low, math.nan)),
        ("an infinite end", good, ("low",), (low, math.inf)),
        ("text for an end", good, ("low",), (low, "1")),
        ("None for an end", good, ("low",), (None, high)),
        ("an undeclared column", good, ("low",), (np.zeros(3), high)),
        ("a late support", {"cdf": cdf, "pdf": pdf}, ("F must", "f must"), (low + 0.3 * width, high)),
        ("a narrow support", {"cdf": cdf, "pdf": pdf}, ("F must", "f must"), (low, high - 0.3 * width)),
    ]  # fmt: skip
    return faults[rng.integers(len(faults))]
