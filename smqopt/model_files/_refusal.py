"""Errors of model files: file, line, key, rule, value and remedy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from smqopt.errors import PRIVATE, InputError, nearest
from smqopt.model_files.schema._model_table import ModelTable
from smqopt.model_files.schema._table import RULE
from smqopt.model_files.toml._file import TomlFile, WrittenFloat
from smqopt.model_files.toml._lines import KeyPath
from smqopt.model_files.toml._place import full_name, place_of

_LONGEST_SHOWN = 60
_PRIVATE = (("owners", "reports"), ("owners", "data"))
_NO_QUOTES = "write it without quotes, as 1000.0"
_RULES: Mapping[str, tuple[str, str]] = {
    "missing": ("is missing", "add it to the file"),
    "float_type": ("must be a number", _NO_QUOTES),
    "int_type": ("must be a whole number", "write it without quotes, as 7"),
    "bool_type": ("must be true or false", "write it without quotes"),
    "finite_number": ("must be a finite number", "correct it, or drop the row"),
    "string_type": ("must be text", 'write it in quotes, as "name"'),
    "list_type": ("must be an array", "write it in brackets, as [0.1, 0.2]"),
    "too_short": ("must not be empty", "give one value an owner"),
    "greater_than_equal": ("must be ≥ {ge:g}", "drop the sign"),
    "greater_than": ("must be > {gt:g}", "give a larger number"),
    "less_than": ("must lie in (0, 1)", "use, say, 0.95"),
}
"""Kind of an error → the rule, and the remedy."""
_TABLES = ("model_type", "model_attributes_type", "dict_type")


def read_tables(file: TomlFile) -> ModelTable:
    """Read a file's tables.

    Raises
    ------
    InputError
        If a key is unknown, missing or bad; no private value is shown.
    """
    try:
        return ModelTable.model_validate(file.content)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    raise _refusal(file, found[0])


def _refusal(file: TomlFile, error: ErrorDetails) -> InputError:
    keys, value = _walk(file.content, error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    if kind in ("union_tag_invalid", "literal_error"):
        if kind == "union_tag_invalid":
            keys, value = (*keys, "kind"), value["kind"]
        if not isinstance(value, str):
            rule, remedy = _RULES["string_type"]
        else:
            known = context.get("expected_tags", context.get("expected", ""))
            rule, remedy = "is not known", nearest(value, known.replace(" or ", ", ").replace("'", "").split(", "))
    elif kind == "union_tag_not_found" and isinstance(value, Mapping):
        keys, value, (rule, remedy) = (*keys, "kind"), None, _RULES["missing"]
    elif kind in (*_TABLES, "union_tag_not_found"):
        name = full_name(tuple(key for key in keys if isinstance(key, str)))
        rule, remedy = "must be a table", f"write {f'[[{name}]]' if isinstance(keys[-1], int) else f'[{name}]'}"
    elif kind == RULE:
        rule, remedy = error["msg"], context["remedy"]
        if context["keys"]:
            keys, value = (*keys, *context["keys"]), None
    else:
        rule, remedy = _RULES[kind]
        rule = rule.format(**context)
        if kind == "greater_than_equal" and isinstance(value, int):
            rule = f"must be a whole number ≥ {context['ge']}"
        if kind == "float_type" and isinstance(value, int) and not isinstance(value, bool):
            rule, remedy = _RULES["finite_number"]  # a whole number beyond the doubles
    private = keys[:2] in _PRIVATE and isinstance(keys[-1], int)
    return InputError(place_of(file, keys), rule, value=PRIVATE if private else _shown(value), remedy=remedy)


def _walk(content: Any, path: tuple[str | int, ...]) -> tuple[KeyPath, Any]:
    """Follow an error's path; its steps beside keys name the kind of table."""
    keys: KeyPath = ()
    for step in path:
        try:
            content = content[step]
        except (KeyError, TypeError):
            if str(step).startswith("<") or (isinstance(content, Mapping) and content.get("kind") == step):
                continue
            content = None  # the key that is missing, or part of a key
        keys = (*keys, step)
    return keys, content


def _shown(value: object) -> object:
    if isinstance(value, WrittenFloat) and len(value.text) <= _LONGEST_SHOWN:
        return float(value) if math.isfinite(value) or "inf" in value.text or "nan" in value.text else value.text
    if value is None or (isinstance(value, (str, int, float)) and len(repr(value)) <= _LONGEST_SHOWN):
        return value
    return type(value).__name__
