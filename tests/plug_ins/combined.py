"""Plug-ins made of laws: mixtures, truncations, laws by owner, and laws given the announced requirement."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st
from numpy.random import Generator

import smqopt as smq
from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn, called
from plug_ins.named import named_table
from plug_ins.truth import Truth, atoms, named_truth, truncated
from smqopt.valuation import valuation_from_dict

__all__ = ["by_owner", "copulas", "mixtures", "truncations"]

NO_LAWS: tuple[Any, ...] = (None, 0.5, "uniform", {"law": "uniform"}, smq.Uniform, [smq.Uniform(0, 1)], len)


def _pick(rng: Generator, choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


# --- mixtures ------------------------------------------------------------------------------------------------------


def mixtures(rng: Generator) -> PlugIn:  # noqa: PLR0912 - a list of cases
    """Mixtures of one to four laws, with gaps, nested, or wrong."""
    owners = int(rng.integers(3, 7)) if rng.random() < 0.25 else None
    count = int(rng.integers(1, 5))
    tables: list[dict[str, Any]] = [
        named_table(rng, owners if rng.random() < 0.6 else None, tabular=owners is None) for _ in range(count)
    ]
    weights = rng.uniform(0.05, 3, count)
    kind = rng.random()
    if kind < 0.15:  # a gap between two members
        low = float(rng.uniform(2, 4))
        tables = [
            {"law": "uniform", "low": 0.0, "high": float(rng.uniform(0.2, 1.9))},
            {**_uniform(low, low + 1), "low": low},
        ]
        weights = rng.uniform(0.05, 3, 2)
    if kind < 0.3:  # one within another
        inside = {"law": "mixture", "laws": tables, "weights": weights.tolist()}
        tables, weights = [inside, named_table(rng, tabular=owners is None)], rng.uniform(0.1, 2, 2)
    if kind < 0.6:
        whole = {"law": "mixture", "laws": tables, "weights": weights.tolist()}
        laws = [valuation_from_dict(table) for table in tables]
        return called(GOOD, smq.Mixture, laws, weights, truths=lambda _: named_truth(whole), patience=4.0)
    if kind < 0.7:
        weights = 10.0 ** rng.uniform(-300, 200, len(tables))
        whole = {"law": "mixture", "laws": tables, "weights": weights.tolist()}
        laws = [valuation_from_dict(table) for table in tables]
        return called(BORDERLINE, smq.Mixture, laws, weights, truths=lambda _: named_truth(whole), patience=4.0)
    laws = [valuation_from_dict(table) for table in tables]
    k, fault = int(rng.integers(len(laws))), rng.integers(9)
    spoiled: Any = weights.copy()
    given: Any = list(laws)
    words: tuple[str, ...] = ("weights",)
    if fault == 0:
        spoiled[k], words = _pick(rng, [0.0, -1.0, np.nan, np.inf]), (f"entry {k + 1}",)
    elif fault == 1:
        spoiled = np.append(weights, 1.0)
    elif fault == 2:
        spoiled = _pick(
            rng,
            [None, "half", {}, [None] * len(laws), [[0.5]], [1j] * len(laws), ["1"] * len(laws), [10**400] * len(laws)],
        )
    elif fault == 3:
        given[k], words = _pick(rng, NO_LAWS), (f"law {k + 1}",)
    elif fault == 4:
        given[k], words = smq.Discrete([1, 2], [1, 1]), (f"law {k + 1}",)
    elif fault == 5:
        given[k], words = smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)]), (f"law {k + 1}",)
    elif fault == 6:
        given, spoiled, words = [], [], ("'laws'",)
    elif fault == 7:
        given = [*laws, smq.Uniform(0, [1.0, 2.0]), smq.Uniform(0, [1.0, 2.0, 3.0])]
        spoiled, words = np.ones(len(given)), ("law ",)
    else:
        given, words = _pick(rng, [None, 5, smq.Uniform(0, 1)]), ("'laws'",)
    return called(BROKEN, smq.Mixture, given, spoiled, words=words)


def _uniform(low: float, high: float) -> dict[str, Any]:
    return {"law": "uniform", "low": low, "high": high}


# --- truncations ---------------------------------------------------------------------------------------------------


def truncations(rng: Generator) -> PlugIn:
    """Laws cut once or twice, inside the support or outside."""
    owners = int(rng.integers(3, 7)) if rng.random() < 0.25 else None
    table = named_table(rng, owners, density=rng.random() < 0.9)
    law = valuation_from_dict(table)
    low, width = np.asarray(law.low), np.asarray(law.high) - np.asarray(law.low)
    kind = rng.random()
    if kind < 0.55:
        first, last = np.sort(rng.uniform(-0.2, 1.2, 2))
        last = max(last, first + 0.2, 0.3)
        first = min(first, 0.7)
        ends = [np.maximum(low + first * width, 0.0).tolist(), (low + last * width).tolist()]
        whole = {"law": "truncated", "valuation": table, "low": ends[0], "high": ends[1]}
        if kind < 0.15 and table["law"] != "discrete":
            inner = [(np.asarray(ends[0]) + 0.05 * width).tolist(), (np.asarray(ends[1]) - 0.05 * width).tolist()]
            twice = {"law": "truncated", "valuation": whole, "low": inner[0], "high": inner[1]}
            nested = smq.Truncated(law, *ends)
            return called(GOOD, smq.Truncated, nested, *inner, truths=lambda _: _cut(twice))
        expected = GOOD if table["law"] != "discrete" else BORDERLINE
        return called(expected, smq.Truncated, law, *ends, truths=lambda _: _cut(whole))
    if kind < 0.7:  # windows that keep next to nothing
        share, wide = float(rng.random()), 10.0 ** rng.uniform(-15, -4)
        ends = [(low + share * width).tolist(), (low + (share + wide) * width).tolist()]
        whole = {"law": "truncated", "valuation": table, "low": ends[0], "high": ends[1]}
        return called(BORDERLINE, smq.Truncated, law, *ends, truths=lambda _: _cut(whole))
    top, bottom = float(np.max(law.high)), float(np.min(law.low))
    size = law.size
    faults: list[tuple[Any, Any, Any, tuple[str, ...]]] = [
        (law, top + 1, top + 2, ("high", "support", "atom")),
        (law, top, top + 1, ("high", "support")) if table["law"] != "discrete" else (law, top + 1, top + 2, ("atom",)),
        (law, top, bottom, ("high", "atom", "support"))
        if top > bottom
        else (law, top + 1, top, ("high", "atom", "support")),
        (law, float("nan"), 1.0, ("'low'",)),
        (law, 0.0, float("inf"), ("'high'",)),
        (law, None, 1.0, ("'low'",)),
        (law, 0.0, "1", ("'high'",)),
        (law, 0.0, 10**400, ("'high'",)),
        (law, [[0.0]], 1.0, ("'low'",)),
        (law, [0.0] * ((size or 2) + 1), [1.0] * ((size or 2) + 2), ("'high'", "'low'")),
        (_pick(rng, NO_LAWS), 0.0, 1.0, ("'law'",)),
        (smq.ByOwner([smq.Uniform(0, 1), smq.Power(2)]), 0.0, 1.0, ("'law'",)),
        (smq.PiecewiseUniform([0, 1, 2, 3], [1, 0, 1]), 1.2, 1.8, ("mass",)),
        (smq.Mixture([smq.Uniform(0, 1), smq.Uniform(2, 3)], [1, 1]), 1.2, 1.8, ("mass",)),
        (smq.Discrete([1, 2, 3], [1, 1, 1]), [1.0, 1.0], [2.0, 3.0], ("'low'", "'high'", "scalar", "number")),
    ]
    given, a, b, words = _pick(rng, faults)
    return called(BROKEN, smq.Truncated, given, a, b, words=words)


def _cut(whole: dict[str, Any]) -> list[Truth]:
    """Give the truths about a truncation; a price list keeps its atoms."""
    inside = whole["valuation"]
    if inside["law"] == "discrete":
        v, p = np.asarray(inside["values"]), np.asarray(inside["masses"])
        kept = (v >= whole["low"]) & (v <= whole["high"])
        return named_truth({**inside, "values": v[kept].tolist(), "masses": p[kept].tolist()})
    if inside["law"] == "truncated":
        before = _cut(inside)
        count = max(len(before), np.size(whole["low"]), np.size(whole["high"]))
        before = before * count if len(before) == 1 else before
        ends = (np.broadcast_to(whole[end], count).tolist() for end in ("low", "high"))
        return [truncated(one, a, b) for one, a, b in zip(before, *ends, strict=True)]
    return named_truth(whole)


# --- laws by owner -------------------------------------------------------------------------------------------------


def by_owner(rng: Generator) -> PlugIn:
    """A law for each owner, of any families."""
    n = int(rng.integers(3, 9))
    tables = [named_table(rng, density=rng.random() < 0.8) for _ in range(n)]
    if rng.random() < 0.4:
        tables = [tables[rng.integers(3)] for _ in range(n)]
    laws: Any = [valuation_from_dict(table) for table in tables]
    if rng.random() < 0.65:
        return called(GOOD, smq.ByOwner, laws, truths=lambda _: [named_truth(table)[0] for table in tables])
    k = int(rng.integers(n))
    words: tuple[str, ...] = (f"owner {k + 1}",)
    fault = rng.integers(5)
    if fault == 0:
        laws[k] = _pick(rng, NO_LAWS)
    elif fault == 1:
        laws[k] = smq.Uniform(0, [1.0, 2.0])
    elif fault == 2:
        laws[k] = smq.ByOwner([smq.Uniform(0, 1)] * 2)
    elif fault == 3:
        laws, words = [], ("'laws'",)
    else:
        laws, words = _pick(rng, [None, 3, smq.Uniform(0, 1)]), ("'laws'",)
    return called(BROKEN, smq.ByOwner, laws, words=words)


# --- laws given the requirement ------------------------------------------------------------------------------------


def _given(valuation: Any, requirement: Any, correlation: Any, epsilon: Any) -> Any:
    return smq.GaussianCopula(valuation=valuation, requirement=requirement, correlation=correlation).given(epsilon)


def copulas(rng: Generator) -> PlugIn:
    """Laws of θ given ε."""
    inside, outside = named_table(rng), named_table(rng, tabular=False)
    F, G = valuation_from_dict(inside), valuation_from_dict(outside)
    n = int(rng.integers(3, 9))
    levels = rng.uniform(0.02, 0.98, n)
    epsilon = np.clip(np.asarray(G.ppf(levels)), G.low, G.high)
    rho = round(float(rng.uniform(-0.97, 0.97)), 3)
    shown = f"GaussianCopula({F!r}, {G!r}, RHO).given({epsilon.tolist()})"
    kind = rng.random()
    if kind < 0.65:
        truths = lambda _: _conditional(named_truth(inside)[0], named_truth(outside)[0], rho, epsilon)  # noqa: E731
        return called(
            GOOD, _given, F, G, rho, epsilon, truths=truths, shown=shown.replace("RHO", repr(rho)), patience=4.0
        )
    if kind < 0.75:
        edge = float(_pick(rng, [0.0, 1.0, -1.0, 1 - 2.0**-30, -1 + 2.0**-30, 1e-300, 1e-9, 0.999]))
        spread = [*epsilon[:-2], G.low, G.high]

        def truths(law: Any) -> list[Truth]:
            F_, G_ = named_truth(inside)[0], named_truth(outside)[0]
            if abs(edge) < 1:
                return _conditional(F_, G_, edge, np.array(spread))
            return _points(law, F_, G_, edge, np.array(spread))

        return called(
            BORDERLINE, _given, F, G, edge, spread, truths=truths, shown=shown.replace("RHO", repr(edge)), patience=4.0
        )
    k = int(rng.integers(n))
    spoiled: Any = epsilon.copy()
    arguments: list[Any] = [F, G, rho, spoiled]
    fault = rng.integers(6)
    if fault == 0:
        spoiled[k], words = _pick(rng, [np.nan, np.inf, -1.0, float(np.max(G.high)) + 1.0]), (f"owner {k + 1}",)
    elif fault == 1:
        arguments[2], words = _pick(rng, [1.5, -2.0, np.nan, None, "x", True, [0.5], 1j, np.inf]), ("correlation",)
    elif fault == 2:
        arguments[0], words = _pick(rng, NO_LAWS), ("'valuation'",)
    elif fault == 3:
        arguments[1], words = _pick(rng, NO_LAWS), ("'requirement'",)
    elif fault == 4:
        arguments[3], words = _pick(rng, [[], [[0.5]], None, "x", {}, [1j], [10**400]]), ("'epsilon'",)
    else:
        arguments[0], words = smq.Uniform(0, np.ones(n + 1)), ("'epsilon'",)
    return called(BROKEN, _given, *arguments, words=words)


def _conditional(F: Truth, G: Truth, rho: float, epsilon: np.ndarray) -> list[Truth]:
    r = 2 * np.sin(np.pi * rho / 6)
    z = np.clip(st.norm.ppf(G.cdf(epsilon)), -8.2, 8.2)
    if abs(rho) in (0.0, 1e-300):
        return [F]
    s = np.sqrt(1 - r**2)

    def of(score: float) -> Truth:
        def cdf(t: np.ndarray) -> np.ndarray:
            return st.norm.cdf((st.norm.ppf(np.clip(F.cdf(t), 0.0, 1.0)) - r * score) / s)

        return Truth(F.low, F.high, cdf, None, F.kinks, 1e-9)

    return [of(float(score)) for score in z]


def _points(law: Any, F: Truth, G: Truth, rho: float, epsilon: np.ndarray) -> list[Truth]:
    """Give point masses where the law has them, once they are found to be right to rounding: F(θ) = G(ε), or 1 − G(ε)."""
    levels = G.cdf(epsilon) if rho > 0 else 1 - G.cdf(epsilon)
    found = np.broadcast_to(law.low, epsilon.shape).tolist()
    for theta, level in zip(found, np.clip(levels, 2.0**-53, 1 - 2.0**-53).tolist(), strict=True):
        right = _quantile(F, level)
        off = abs(float(F.cdf(np.array([theta]))[0]) - level)
        assert off <= 1e-12 or abs(theta - right) <= 1e-9 * (F.high - F.low), (theta, right)
    return [atoms([theta], [1.0]) for theta in found]


def _quantile(F: Truth, level: float) -> float:
    """Find the least θ with F(θ) ≥ level by halving."""
    low, high = F.low, F.high
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if float(F.cdf(np.array([middle]))[0]) >= level else (middle, high)
    return high
