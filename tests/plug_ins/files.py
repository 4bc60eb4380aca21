"""Plug-ins by data: tables of laws as model files hold them, with keys changed, dropped, added or spoiled."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from plug_ins.case import BORDERLINE, BROKEN, GOOD, PlugIn
from plug_ins.named import named_table
from plug_ins.truth import Truth, named_truth
from smqopt.model_files import read_model
from smqopt.valuation import valuation_from_dict

__all__ = ["model_files", "tables"]

SPOILED: tuple[Any, ...] = (
    None, "x", "", [], {}, float("nan"), float("inf"), -1.0, 0.0, 10**400, True, [1.0, 2.0], [[1.0]], [None], {"law": "uniform"}, 1e308, 5e-324, -0.0,
    1e-300, "1.0", [True, False], [1.0, "x"], 3,
)  # fmt: skip


_UNIFORM = {"law": "uniform", "low": 0, "high": 1}
_NO_LAWS: tuple[Any, ...] = (
    None,
    5,
    "uniform",
    [],
    [_UNIFORM],
    {},
    {"law": {}},
    {"cdf": 5, "low": 0, "high": 1},
    {"cdf": "theta"},
    {"cdf": "theta", **_UNIFORM},
    {"law": "scipy"},
    {"law": "scipy", "distribution": "norm", "args": "x"},
    {"law": "scipy", "distribution": "nothing", "low": 0, "high": 1},
    {"law": "scipy", "distribution": "poisson", "args": [1.0]},
    {"law": "scipy", "distribution": "norm", "args": [1, 2, 3, 4], "low": 0, "high": 1},
    {"law": "scipy", "distribution": "__doc__"},
    {"law": "scipy", "distribution": "norm", "args": [0, -1], "low": 0, "high": 1},
    {"law": "rescaled"},
    {"law": "rescaled", "factor": -1.0, "valuation": _UNIFORM},
    {"law": "rescaled", "factor": 2, "valuation": 3},
    {"law": "gaussian-copula"},
    {"law": "gaussian-copula", "valuation": 5, "correlation": 0.5, "score": 0.0},
    {"law": "gaussian-copula", "valuation": _UNIFORM, "correlation": 0.5, "score": 10**400},
    {"law": "by-owner"},
    {"law": "by-owner", "parts": []},
    {"law": "by-owner", "parts": [5]},
    {"law": "by-owner", "parts": [{"owners": [1], "valuation": _UNIFORM}]},
    {"law": "by-owner", "parts": [{"owners": [10**30], "valuation": _UNIFORM}]},
)
"""Tables that are no laws."""


def _table(rng: Generator) -> dict[str, Any]:
    """Give the table of a law, of a combination, or of a formula."""
    kind = rng.random()
    if kind < 0.55:
        return named_table(rng, density=False)
    if kind < 0.7:
        weights = rng.uniform(0.1, 2, 2).tolist()
        return {"law": "mixture", "laws": [named_table(rng), named_table(rng)], "weights": weights}
    if kind < 0.85:
        inside = named_table(rng, tabular=False)
        low, high = float(np.min(inside["low"])), float(np.max(inside["high"]))
        return {
            "law": "truncated",
            "valuation": inside,
            "low": low + 0.1 * (high - low),
            "high": high - 0.1 * (high - low),
        }
    parts = [{"owners": [k], "valuation": named_table(rng, density=False)} for k in range(int(rng.integers(3, 6)))]
    return {"law": "by-owner", "parts": parts}


def _places(table: Any) -> list[tuple[Any, Any]]:
    """List every key of every table inside a table, with the table or list that holds it."""
    if isinstance(table, dict):
        return [pair for key in table for pair in [(table, key), *_places(table[key])]]
    if isinstance(table, list):
        return [pair for k in range(len(table)) for pair in [(table, k), *_places(table[k])]]
    return []


def _mutated(rng: Generator, table: dict[str, Any]) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """Spoil a copy of a table in one place; say what to expect of it, and which word the refusal must say."""
    changed = copy.deepcopy(table)
    holder, key = (places := _places(changed))[rng.integers(len(places))]
    kind = rng.integers(5)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
        return changed, BORDERLINE, ()
    if kind == 1:
        changed["colour"] = 1.0
        return changed, BROKEN, ("'colour'",)
    if kind == 2 and isinstance(holder, dict):
        holder[key + "x"] = holder.pop(key)
        return changed, BROKEN, (key,)
    if kind == 3:
        changed["law"] = [changed["law"] + "s", changed["law"].upper(), 5, None, ["uniform"], "", "no such law"][
            rng.integers(7)
        ]
        return changed, BROKEN, ("law",)
    holder[key] = copy.deepcopy(SPOILED[rng.integers(len(SPOILED))])
    return changed, BORDERLINE, ()


def _told(law: Any) -> list[Truth]:
    """What the law itself says it is, worked out by other means."""
    return named_truth(law.to_dict())


def tables(rng: Generator) -> PlugIn:
    """Tables for `valuation_from_dict`."""
    table = _table(rng)
    if rng.random() < 0.3:
        return _read(table, GOOD, ())
    if rng.random() < 0.15:
        return _read(
            _NO_LAWS[rng.integers(len(_NO_LAWS))],
            BROKEN,
            ("valuation", "law", "scipy", "rescaled", "copula", "owner", "cdf"),
        )
    return _read(*_mutated(rng, table))


def _read(table: Any, expected: str, words: tuple[str, ...]) -> PlugIn:
    return PlugIn(f"valuation_from_dict({_shown(table)})", expected, lambda: valuation_from_dict(table), _told, words)


def model_files(rng: Generator) -> PlugIn:
    """Model files whose valuation is such a table."""
    table = _table(rng)
    if rng.random() < 0.35:
        expected, words = GOOD, ()
    else:
        while True:
            changed, expected, words = _mutated(rng, table)
            written = _toml(changed)
            if written is not None:
                table = changed
                break
    body = f"budget = 1.0\nvaluation = {_toml(table)}\n[owners]\nepsilon = [0.5, 0.7, 1.0]\n"

    def make() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.toml"
            path.write_text(body, encoding="utf-8")
            return read_model(path).valuation

    return PlugIn(f"read_model of\n{body}", expected, make, _told, words)


def _toml(value: Any) -> str | None:
    """Write a value in TOML on one line; None where TOML has no such value."""
    if isinstance(value, dict):
        parts = [(json.dumps(key), _toml(inside)) for key, inside in value.items()]
        return None if any(b is None for _, b in parts) else "{" + ", ".join(f"{a} = {b}" for a, b in parts) + "}"
    if isinstance(value, list):
        items = [_toml(inside) for inside in value]
        return None if any(item is None for item in items) else "[" + ", ".join(map(str, items)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 2**63 else None
    return repr(value) if isinstance(value, float) else None


def _shown(table: Any) -> str:
    text = repr(table)
    return text if len(text) < 1_500 else text[:1_500] + "..."
