"""Random laws by name, as data: what combinators are given, and what files say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

__all__ = ["NAMES", "named_table"]

NAMES = (
    "uniform", "power", "truncated-exponential", "triangular", "beta", "kumaraswamy", "gamma", "weibull", "log-normal", "normal", "logistic",
    "pareto", "piecewise-uniform", "discrete", "from-samples",
)  # fmt: skip


def named_table(
    rng: Generator, owners: int | None = None, *, density: bool = True, tabular: bool = True
) -> dict[str, Any]:
    """Give the table of a law with gentle parameters.

    Parameters
    ----------
    owners
        Draw columns of parameters for so many owners.
    density, tabular
        Whether the law must have a density; whether it may be one of the tables, which are common to all owners.
    """
    names = [name for name in NAMES if name != "discrete" or not density]
    if not tabular or owners is not None:
        names = names[:12]
    name = names[rng.integers(len(names))]
    if name in ("piecewise-uniform", "from-samples"):
        m = int(rng.integers(1, 6))
        table: dict[str, Any] = {
            "edges": (np.cumsum(rng.integers(1, 5, m + 1)) / 4 - 0.25).tolist(),
            "masses": rng.integers(1, 20, m).tolist(),
        }
        return {"law": name, **table, **({"n": 200, "smoothing_error": 0.01} if name == "from-samples" else {})}
    if name == "discrete":
        m = int(rng.integers(1, 6))
        return {
            "law": name,
            "values": (np.cumsum(rng.integers(1, 5, m)) / 2).tolist(),
            "masses": rng.integers(1, 9, m).tolist(),
        }

    def column(low: float, high: float) -> Any:
        if owners is not None and rng.random() < 0.6:
            return rng.uniform(low, high, owners).tolist()
        return float(rng.uniform(low, high))

    low: Any = column(0.1, 1.5) if name == "pareto" or rng.random() < 0.5 else 0.0
    high = (np.asarray(low) + np.asarray(column(0.5, 3.0))).tolist()
    more = {
        "uniform": dict,
        "power": lambda: {"k": column(0.5, 4)},
        "truncated-exponential": lambda: {"rate": column(0.1, 6)},
        "triangular": lambda: {
            "mode": (np.asarray(low) + float(rng.uniform(0.05, 0.95)) * (np.asarray(high) - np.asarray(low))).tolist()
        },
        "beta": lambda: {"a": column(0.6, 4), "b": column(0.6, 4)},
        "kumaraswamy": lambda: {"a": column(0.6, 4), "b": column(0.6, 4)},
        "gamma": lambda: {"shape": column(0.6, 4), "scale": column(0.3, 2)},
        "weibull": lambda: {"shape": column(0.6, 4), "scale": column(0.3, 2)},
        "log-normal": lambda: {"mu": column(-0.5, 0.7), "sigma": column(0.3, 1.2)},
        "normal": lambda: {"mean": column(-0.5, 2), "sd": column(0.3, 1.5)},
        "logistic": lambda: {"mean": column(-0.5, 2), "scale": column(0.2, 1)},
        "pareto": lambda: {"a": column(0.5, 4)},
    }[name]()
    if owners is not None and not any(isinstance(value, list) for value in (low, high, *more.values())):
        high = (np.asarray(high) + rng.uniform(0.0, 1.0, owners)).tolist()
    return {"law": name, **more, "low": low, "high": high}
