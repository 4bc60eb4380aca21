"""Plug-ins by tables of numbers: samples, price lists, histograms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.random import Generator

import smqopt as smq
from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn, called
from plug_ins.truth import Truth, atoms, histogram

__all__ = ["histograms", "price_lists", "samples"]

JUNK: tuple[Any, ...] = (
    None,
    "x",
    [],
    {},
    [[1.0, 2.0], [3.0, 4.0]],
    [1.0, "x"],
    [1.0, None],
    [1.0, [2.0]],
    [1j, 2.0],
    object(),
    [10**400, 1.0],
)
"""Things that are no column of numbers."""


# --- samples -------------------------------------------------------------------------------------------------------


def _told_by(values: np.ndarray, low: float | None, high: float | None) -> Any:
    """Give the truth about the law of samples, whose edges lie midway between neighbours and whose pieces are counted anew."""
    atoms_, n = np.unique(values), values.size

    def truths(law: Any) -> list[Truth]:
        edges = np.asarray(law.histogram.edges)
        middles = atoms_[:-1] + 0.5 * np.diff(atoms_)
        assert np.isin(edges[1:-1], middles).all(), "an edge does not lie midway between neighbours"
        spacing = (atoms_[-1] - atoms_[0]) / (n - 1)
        assert edges[0] == (max(atoms_[0] - spacing, 0.0) if low is None else low)
        assert edges[-1] == (atoms_[-1] + spacing if high is None else high)
        counts = [np.sum((values > a) & (values <= b)) for a, b in itertools.pairwise(edges)]
        counts[0] += np.sum(values == edges[0])
        assert sum(counts) == n
        return [histogram(edges, counts)]

    return truths


def samples(rng: Generator) -> PlugIn:  # noqa: PLR0912 - a list of cases
    """Columns of past valuations."""
    kind = rng.choice(["good", "ties", "few", "wide", "broken", "junk"], p=[0.25, 0.15, 0.1, 0.1, 0.3, 0.1])
    n = int(rng.integers(2, 400))
    values = [rng.lognormal(0, 1, n), rng.random(n), rng.exponential(3, n), rng.beta(0.3, 0.3, n)][rng.integers(4)]
    if kind == "good":
        ends = (0.0, float(values.max()) * 1.25) if rng.random() < 0.5 else (None, None)
        pieces = {"pieces": int(rng.integers(1, 40))} if rng.random() < 0.5 else {}
        given = [values, values.tolist(), values.astype(np.float32)][rng.integers(3)]
        exact = np.asarray(given, dtype=float)
        return called(GOOD, smq.from_samples, given, *ends, **pieces, truths=_told_by(exact, *ends))
    if kind == "ties":
        whole = rng.integers(0, 6, n + 20)
        return called(GOOD, smq.from_samples, whole, truths=_told_by(whole.astype(float), None, None))
    if kind == "few":
        few = rng.random(int(rng.integers(2, 4)))
        return called(GOOD, smq.from_samples, few, truths=_told_by(few, None, None))
    if kind == "wide":
        extreme = np.array(
            [[5e-324, 1.0], [1.0, 1.0 + 2.0**-52], [0.0, 1e-310], [1e308, 1.5e308], [0.0, 1e300, 1e-300], [1e-9, 2e-9, 1e9]][rng.integers(6)]
        )  # fmt: skip
        return called(BORDERLINE, smq.from_samples, extreme, truths=_told_by(extreme, None, None))
    if kind == "junk":
        return called(BROKEN, smq.from_samples, JUNK[rng.integers(len(JUNK))], words=("'values'",))
    row = int(rng.integers(n))
    word = f"row {row + 1}"
    spoiled: Any = values.copy()
    fault = rng.integers(11)
    ends, more, words = (None, None), {}, (word,)
    if fault < 4:
        spoiled[row] = [np.nan, np.inf, -np.inf, -0.5][fault]
    elif fault == 4:
        spoiled, words = np.full(n, 0.75), ("two different",)
    elif fault == 5:
        spoiled = [*values[:row].tolist(), "price", *values[row:].tolist()]
    elif fault == 6:
        ends, words = (float(values.max()) + 1.0, None), ("below low",)
    elif fault == 7:
        ends, words = (0.0, 0.5 * float(values.max())), ("above high",)
    elif fault == 8:
        more, words = {"pieces": [0, -3, 2.5, "4", True][rng.integers(5)]}, ("'pieces'",)
    elif fault == 9:
        ends, words = ([None, float("nan"), float("nan")][1:][rng.integers(2)], 1e9), ("'low'",)
    else:
        spoiled, words = values[:1], ("two different",)
    return called(BROKEN, smq.from_samples, spoiled, *ends, **more, words=words)


# --- price lists ---------------------------------------------------------------------------------------------------


def price_lists(rng: Generator) -> PlugIn:
    """Atoms."""
    m = int(rng.integers(1, 9))
    values = np.cumsum(rng.integers(1, 9, m)) / 4.0 - float(rng.choice([0.0, 0.25]))
    masses: Any = rng.integers(1, 30, m).astype(float) if rng.random() < 0.5 else rng.random(m) + 0.01
    kind = rng.random()
    if kind < 0.5:
        values = np.maximum(values, 0.0)
        return called(GOOD, smq.Discrete, values, masses, truths=[atoms(values, masses)])
    if kind < 0.65:
        factor = float(rng.choice([1e-300, 1e-12, 1e12, 1e290]))
        heavy = masses * 10.0 ** rng.uniform(-15, 15, m)
        return called(BORDERLINE, smq.Discrete, values * factor, heavy, truths=[atoms(values * factor, heavy)])
    k, fault = int(rng.integers(m)), rng.integers(9)
    words: tuple[str, ...] = (f"entry {k + 1}",)
    bad: Any = values.copy()
    if fault < 3:
        bad[k] = [np.nan, np.inf, -1.0][fault]
    elif fault == 3:
        masses[k], words = 0.0, ("masses",)
    elif fault == 4:
        masses[k] = [np.nan, -0.5, np.inf][rng.integers(3)]
    elif fault == 5:
        bad, masses, words = np.append(values, values[-1]), np.append(masses, 1.0), ("exceed", "rise")
    elif fault == 6:
        masses, words = np.append(masses, 1.0), ("masses",)
    elif fault == 7:
        bad, words = JUNK[rng.integers(len(JUNK))], ("'values'", "'masses'")
    else:
        masses, words = JUNK[rng.integers(len(JUNK))], ("'masses'",)
    return called(BROKEN, smq.Discrete, bad, masses, words=words)


# --- histograms ----------------------------------------------------------------------------------------------------


def histograms(rng: Generator) -> PlugIn:
    """Edges and masses."""
    m = int(rng.integers(1, 9))
    edges = np.cumsum(rng.uniform(0.1, 2, m + 1)) - float(rng.choice([0.0, 0.1]))
    masses: Any = rng.integers(0, 20, m).astype(float) if rng.random() < 0.6 else rng.random(m)
    masses[rng.integers(m)] += 1.0
    edges = np.maximum(edges, 0.0)
    kind = rng.random()
    if kind < 0.5:
        return called(GOOD, smq.PiecewiseUniform, edges, masses, truths=[histogram(edges, masses)])
    if kind < 0.65:
        factor, heavy = float(rng.choice([1e-300, 1e-12, 1e12, 1e290])), masses * 10.0 ** rng.uniform(-15, 15, m)
        truths = [histogram(edges * factor, heavy)]
        return called(BORDERLINE, smq.PiecewiseUniform, edges * factor, heavy, truths=truths)
    k, fault = int(rng.integers(m)), rng.integers(9)
    words: tuple[str, ...] = (f"entry {k + 1}",)
    bad: Any = edges.copy()
    if fault < 3:
        bad[k] = [np.nan, np.inf, -1.0][fault]
    elif fault == 3:
        masses, words = np.zeros(m), ("must not all be 0",)
    elif fault == 4:
        masses[k] = [np.nan, -0.5, np.inf][rng.integers(3)]
    elif fault == 5:
        bad[k + 1], words = bad[k], ("must rise",)
    elif fault == 6:
        masses, words = np.append(masses, 1.0), ("edges",)
    elif fault == 7:
        bad, words = JUNK[rng.integers(len(JUNK))], ("'edges'",)
    else:
        masses, words = JUNK[rng.integers(len(JUNK))], ("'masses'",)
    return called(BROKEN, smq.PiecewiseUniform, bad, masses, words=words)
