"""Sizes of numbers in a model file: their squares must stay doubles."""

from __future__ import annotations

from typing import Any

from smqopt.errors import InputError
from smqopt.model_files.toml._file import TomlFile
from smqopt.model_files.toml._lines import KeyPath

_LARGEST = 1e150
_SMALLEST = 1e-150
_OF_RATES = ("constraint", "valuation", "objective")
"""Tables whose numbers are divided by."""
_PRIVATE = (("owners", "reports"), ("owners", "data"))
"""Read on their own, so that no value is shown."""


def refuse_odd_sizes(file: TomlFile) -> None:
    """Refuse numbers beyond 1e150, and rates below 1e-150 other than 0.

    Raises
    ------
    InputError
        At the first of them.
    """
    for key, value in file.content.items():
        if key != "budget":  # as much money as one likes
            _look(file, (key,), value, _SMALLEST if key in _OF_RATES else 0.0)


def _look(file: TomlFile, keys: KeyPath, value: Any, smallest: float) -> None:
    if keys in _PRIVATE:
        return
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            _look(file, (*keys, key), entry, smallest)
    elif isinstance(value, int | float) and (_LARGEST < abs(value) < float("inf") or 0 < abs(value) < smallest):
        name = ".".join(str(key) for key in keys if isinstance(key, str))
        row = f", row {keys[-1] + 1}" if isinstance(keys[-1], int) else ""
        rule = (
            f"must be 0, or from {_SMALLEST:g} to {_LARGEST:g} in size"
            if smallest
            else f"must be at most {_LARGEST:g} in size"
        )
        raise InputError(
            f"{file.place(keys)}: key {name!r}{row}",
            rule,
            value=_shown(value),
            remedy="use other units",
        )


def _shown(value: float) -> object:
    return float(value) if isinstance(value, float) else f"a whole number of {len(str(abs(value)))} digits"
